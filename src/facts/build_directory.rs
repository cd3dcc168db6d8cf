//! Build directories that CMake configured with a CUDA toolkit. Their caches keep that toolkit, whichever applies later.

use crate::disk::text;
use cudaup_core::disk::Disk;
use cudaup_core::identity::{Tree, identify};
use cudaup_core::inventory::MACHINE;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The file in which CMake remembers what it found.
pub const CACHE: &str = "CMakeCache.txt";

/// So many directories of a project are looked into.
const DIRECTORIES: usize = 64;

/// So many names of a project are read: one that holds more is a heap of data.
const NAMES: usize = 4096;

/// Entries that hold a file or a directory of a toolkit: of the language, of `find_package(CUDAToolkit)`, and of the older
/// `find_package(CUDA)`. The compiler comes first, since it is what a person asks about.
const ENTRIES: [&str; 8] = [
    "CMAKE_CUDA_COMPILER",
    "CUDAToolkit_NVCC_EXECUTABLE",
    "CUDA_NVCC_EXECUTABLE",
    "CUDAToolkit_BIN_DIR",
    "CUDA_TOOLKIT_ROOT_DIR",
    "CUDA_CUDART",
    "CUDA_cudart_LIBRARY",
    "CUDA_CUDART_LIBRARY",
];

/// A build directory with CUDA in its cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildDirectory {
    /// Where it is.
    pub path: PathBuf,
    /// What its cache holds.
    pub cached: Cached,
}

/// What a cache holds of CUDA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// The directory of the project, with its CMakeLists.txt.
    pub source: Option<PathBuf>,
    /// Files and directories of a toolkit, the compiler first.
    pub paths: Vec<PathBuf>,
}

/// What a build directory was configured with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum With {
    /// The toolkit in this directory, links resolved, and its release where that is known.
    Toolkit(PathBuf, Option<String>),
    /// The shim of nvcc alone: whatever applies when it runs.
    Shim,
    /// A toolkit whose compiler no longer exists.
    Gone(PathBuf),
}

impl Cached {
    /// The toolkits that a cache holds, each once; `shims` is cudaup's directory of shims.
    pub fn with(&self, shims: &Path, disk: &dyn Disk) -> Vec<With> {
        let shims = real(shims);
        let mut with = Vec::new();
        for path in &self.paths {
            let place = path.parent().map(real);
            let root = path.ancestors().find(|root| root.join("bin/nvcc").is_file());
            let one = match root {
                _ if place.as_ref() == Some(&shims) => With::Shim,
                Some(root) => {
                    let release = match identify(root, MACHINE, disk) {
                        Tree::Toolkit(identity) => Some(identity.to_string()),
                        _ => None,
                    };
                    With::Toolkit(real(root), release)
                }
                None if path.ends_with("bin/nvcc") && !path.exists() => With::Gone(path.clone()),
                // A library of a Python package, or the like: no toolkit of its own.
                None => continue,
            };
            if !with.contains(&one) {
                with.push(one);
            }
        }
        with
    }
}

/// A path without any link in it, where it exists.
pub fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The build directories of a project: the directory itself and those directly in it.
pub fn of_project(directory: &Path) -> Vec<BuildDirectory> {
    let mut below: Vec<OsString> = fs::read_dir(directory)
        .map(|names| names.take(NAMES).flatten().map(|e| e.file_name()).collect())
        .unwrap_or_default();
    // Where there are more than are looked into, those that are called so come first.
    let is_called_so = |name: &OsString| name.to_string_lossy().to_ascii_lowercase().contains("build");
    below.sort_by_key(|name| (!is_called_so(name), name.clone()));
    let below: Vec<PathBuf> = below.into_iter().map(|name| directory.join(name)).collect();
    // A link to one of them is no other one, and is named only where what it leads to lies elsewhere.
    let (links, own): (Vec<PathBuf>, Vec<PathBuf>) =
        below.into_iter().filter(|path| path.is_dir()).take(DIRECTORIES).partition(|path| path.is_symlink());
    let mut seen = Vec::new();
    let mut is_new = |path: &PathBuf| {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let new = !seen.contains(&real);
        seen.push(real);
        new
    };
    let all = std::iter::once(directory.to_path_buf()).chain(own).chain(links);
    all.filter(|path| is_new(path)).filter_map(configured).collect()
}

/// One build directory; `None` where nothing there was configured with CUDA.
pub fn configured(path: PathBuf) -> Option<BuildDirectory> {
    let cached = cached(&text::read(&path.join(CACHE)).ok()?);
    (!cached.paths.is_empty()).then_some(BuildDirectory { path, cached })
}

/// Reads a CMakeCache.txt: lines of `NAME:TYPE=VALUE`.
pub fn cached(text: &str) -> Cached {
    let value = |wanted: &str| {
        text.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            let (name, _) = name.split_once(':')?;
            // CMake has no quotes around values; what it did not find ends with -NOTFOUND and is no absolute path.
            (name == wanted && value.starts_with('/')).then(|| PathBuf::from(value))
        })
    };
    Cached {
        source: value("CMAKE_HOME_DIRECTORY"),
        paths: ENTRIES.iter().filter_map(|name| value(name)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{CACHE, cached, of_project};
    use std::fs;
    use std::path::PathBuf;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    /// CMake 3.25 wrote this for `find_package(CUDAToolkit)`, but for the roots' names.
    const FOUND: &str = "\
# This is the CMakeCache file.
# You can edit this file to change values found and used by cmake.
//The directory containing a library of this target.
CMAKE_HOME_DIRECTORY:INTERNAL=/home/u/p
//Path to a file.
CUDAToolkit_BIN_DIR:PATH=/opt/cuda-12.4/bin
CUDAToolkit_CUPTI_INCLUDE_DIR:PATH=CUDAToolkit_CUPTI_INCLUDE_DIR-NOTFOUND
CUDAToolkit_NVCC_EXECUTABLE:FILEPATH=/opt/cuda-12.4/bin/nvcc
CUDAToolkit_rt_LIBRARY:FILEPATH=/usr/lib/x86_64-linux-gnu/librt.a
CUDA_CUDART:FILEPATH=/opt/cuda-12.4/lib/libcudart.so
CUDA_OpenCL_LIBRARY:FILEPATH=CUDA_OpenCL_LIBRARY-NOTFOUND
CUDA_cudart_LIBRARY:FILEPATH=/opt/cuda-12.4/lib/libcudart.so
//ADVANCED property for variable: CUDAToolkit_NVCC_EXECUTABLE
CUDAToolkit_NVCC_EXECUTABLE-ADVANCED:INTERNAL=1
";

    /// The same with `enable_language(CUDA)`.
    const LANGUAGE: &str = "\
//CUDA compiler
CMAKE_CUDA_COMPILER:FILEPATH=/home/u/.cudaup/shims/nvcc

//Flags used by the CUDA compiler during all build types.
CMAKE_CUDA_FLAGS:STRING=-I/usr/include=x
//ADVANCED property for variable: CMAKE_CUDA_COMPILER
CMAKE_CUDA_COMPILER-ADVANCED:INTERNAL=1
CMAKE_CUDA_COMPILER_LAUNCHER:STRING=/usr/bin/ccache
CMAKE_HOME_DIRECTORY:INTERNAL=/home/u/my project
";

    #[test]
    fn what_find_package_found() {
        let found = cached(FOUND);
        assert_eq!(found.source, Some("/home/u/p".into()));
        let (nvcc, library) = ("/opt/cuda-12.4/bin/nvcc", "/opt/cuda-12.4/lib/libcudart.so");
        assert_eq!(found.paths, paths(&[nvcc, "/opt/cuda-12.4/bin", library, library]));
    }

    #[test]
    fn the_compiler_of_the_language_and_not_its_launcher_or_flags() {
        let found = cached(LANGUAGE);
        assert_eq!(found.source, Some("/home/u/my project".into()));
        assert_eq!(found.paths, paths(&["/home/u/.cudaup/shims/nvcc"]));
    }

    #[test]
    fn the_older_find_package() {
        let text = "CUDA_TOOLKIT_ROOT_DIR:PATH=/usr/local/cuda\nCUDA_NVCC_EXECUTABLE:FILEPATH=/usr/local/cuda/bin/nvcc\n";
        assert_eq!(cached(text).paths, paths(&["/usr/local/cuda/bin/nvcc", "/usr/local/cuda"]));
    }

    #[test]
    fn a_cache_without_cuda_and_one_that_found_none() {
        assert_eq!(cached("CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\n").paths, paths(&[]));
        let none = "CMAKE_CUDA_COMPILER:FILEPATH=CMAKE_CUDA_COMPILER-NOTFOUND\nCUDA_CUDART:FILEPATH=\n";
        assert_eq!(cached(none).paths, paths(&[]));
        assert_eq!(cached("no=line of:it\n\n=\n:=/x\n").paths, paths(&[]));
    }

    #[test]
    fn a_link_and_what_it_leads_to_are_one() {
        let project = tempfile::TempDir::new().unwrap();
        let elsewhere = tempfile::TempDir::new().unwrap();
        for directory in [project.path().join("z-build"), elsewhere.path().to_path_buf()] {
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(CACHE), FOUND).unwrap();
        }
        let link = |to: &std::path::Path, name: &str| {
            std::os::unix::fs::symlink(to, project.path().join(name)).unwrap();
        };
        link("z-build".as_ref(), "build");
        link(project.path(), "build-self");
        link(elsewhere.path(), "build-1");
        link(elsewhere.path(), "build-2");
        let names: Vec<PathBuf> = of_project(project.path())
            .into_iter()
            .map(|found| found.path.strip_prefix(project.path()).unwrap().to_path_buf())
            .collect();
        assert_eq!(names, paths(&["z-build", "build-1"]));
    }

    #[test]
    fn the_project_itself_and_what_is_directly_in_it() {
        let project = tempfile::TempDir::new().unwrap();
        let write = |place: &str, text: &str| {
            let directory = project.path().join(place);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(CACHE), text).unwrap();
        };
        for number in 0..100 {
            fs::create_dir(project.path().join(format!("a{number}"))).unwrap();
        }
        write("", FOUND);
        write("my-build", LANGUAGE);
        write("build", FOUND);
        write("deep/build", FOUND);
        write("build-cpu", "CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\n");
        // The hundred others leave no room for it.
        write("z", FOUND);
        let names: Vec<PathBuf> = of_project(project.path())
            .into_iter()
            .map(|found| found.path.strip_prefix(project.path()).unwrap().to_path_buf())
            .collect();
        assert_eq!(names, paths(&["", "build", "my-build"]));
        assert_eq!(of_project(&project.path().join("none")), []);
    }
}
