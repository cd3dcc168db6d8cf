//! What builds left behind, what variables tell them, and how much room there is.

use super::Scene;
use crate::compat::arch::{Architecture, Capability};
use crate::disk::access::{Access, to};
use crate::disk::{space, text};
use crate::doctor::machine::{Build, Builds, ExtensionCache, KernelCache, Place};
use crate::facts::build_directory::{of_project, real};
use cudaup_core::disk::Disk;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// So many extensions of torch are looked at.
const EXTENSIONS: usize = 64;

/// Where projects keep what they bring of others.
const VENDORED: [&str; 10] = [
    "",
    "third_party",
    "3rdparty",
    "thirdparty",
    "external",
    "extern",
    "deps",
    "vendor",
    "submodules",
    "lib",
];

/// The variables that name architectures for builds: torch's, CMake's, and one that pip builds hand on to CMake.
const ARCHITECTURES: [&str; 3] = ["TORCH_CUDA_ARCH_LIST", "CUDAARCHS", "CMAKE_CUDA_ARCHITECTURES"];

/// Caches that can be emptied, below the user's home, and what does so.
const CACHES: [(&str, &str); 8] = [
    (".cache/pip", "pip cache purge"),
    (".cache/uv", "uv cache clean"),
    (".conda/pkgs", "conda clean --all"),
    ("miniconda3/pkgs", "conda clean --all"),
    ("anaconda3/pkgs", "conda clean --all"),
    ("miniforge3/pkgs", "conda clean --all"),
    (".cache/torch_extensions", "rm -r ~/.cache/torch_extensions"),
    (".nv/ComputeCache", "rm -r ~/.nv/ComputeCache"),
];

/// Counting caches takes at most so long.
const COUNTING: Duration = Duration::from_secs(2);

/// What builds left behind here.
pub fn look(scene: &Scene, places: &[Place]) -> Builds {
    let project = scene.host.cwd.as_deref();
    let nearly_full = places.iter().any(Place::is_nearly_full);
    Builds {
        cmake: project.map(|project| cmake(scene, project)).unwrap_or_default(),
        cccl: project.map(vendored).unwrap_or_default(),
        extensions: extensions(scene),
        kernels: kernels(scene),
        asked: asked(scene),
        sizes: if nearly_full { sizes(scene) } else { Vec::new() },
    }
}

fn cmake(scene: &Scene, project: &Path) -> Vec<Build> {
    let build = |build: crate::facts::build_directory::BuildDirectory| Build {
        with: build.cached.with(&scene.home.shims(), scene.disk),
        path: build.path,
        source: build.cached.source,
    };
    of_project(project).into_iter().map(build).collect()
}

/// Copies of CCCL: known by the header that each of its parts has.
fn vendored(project: &Path) -> Vec<PathBuf> {
    let names = ["cccl", "thrust", "cub", "libcudacxx"];
    let is_one = |path: &PathBuf| {
        [
            "thrust/version.h",
            "cub/version.cuh",
            "cub/cub/version.cuh",
            "thrust/thrust/version.h",
            "include/cuda/version",
        ]
        .iter()
        .any(|header| path.join(header).is_file())
    };
    let below = |folder: &&str| names.map(|name| project.join(folder).join(name));
    VENDORED.iter().flat_map(below).filter(is_one).collect()
}

/// The extensions that torch compiled at run time; its build files name the nvcc.
fn extensions(scene: &Scene) -> Vec<ExtensionCache> {
    let named = scene.host.var("TORCH_EXTENSIONS_DIR").map(PathBuf::from);
    let usual = scene.host.user_home.as_ref().map(|home| home.join(".cache/torch_extensions"));
    let Some(folder) = named.or(usual) else { return Vec::new() };
    let below = |folder: &Path| -> Vec<PathBuf> {
        let names = fs::read_dir(folder).into_iter().flatten().take(EXTENSIONS).flatten();
        let mut all: Vec<PathBuf> = names.map(|entry| entry.path()).collect();
        all.sort();
        all
    };
    // `py311_cu124/NAME`, or the name alone below a folder of the user's.
    let first = below(&folder);
    let second: Vec<PathBuf> = first.iter().flat_map(|path| below(path)).collect();
    let extension = |path: PathBuf| {
        let text = text::read(&path.join("build.ninja")).ok()?;
        let nvcc = text.lines().find_map(|line| line.strip_prefix("nvcc =")).map(str::trim)?;
        // ninja writes a blank in a path as `$ `.
        let nvcc = PathBuf::from(nvcc.replace("$ ", " "));
        let root = nvcc.ancestors().nth(2).map(real);
        Some(ExtensionCache { path, exists: nvcc.is_file(), nvcc, root })
    };
    first.into_iter().chain(second).take(EXTENSIONS).filter_map(extension).collect()
}

/// The driver's cache of compiled PTX: `CUDA_CACHE_PATH`, else `~/.nv/ComputeCache`.
fn kernels(scene: &Scene) -> Option<KernelCache> {
    if scene.host.text("CUDA_CACHE_DISABLE") == Some("1") {
        return None;
    }
    let named = scene.host.var("CUDA_CACHE_PATH").map(PathBuf::from);
    let path = named.or_else(|| Some(scene.host.user_home.as_ref()?.join(".nv/ComputeCache")))?;
    let writable = to(&path) == Access::Allowed;
    path.is_dir().then_some(KernelCache { path, writable })
}

/// What variables ask for.
fn asked(scene: &Scene) -> Vec<(&'static str, Vec<Architecture>)> {
    let of = |name: &&'static str| Some((*name, architectures(scene.host.text(name)?)));
    ARCHITECTURES.iter().filter_map(of).filter(|(_, all)| !all.is_empty()).collect()
}

/// The architectures in `8.0;8.6+PTX 9.0a` and in `80;86-real;90a`. Words such as `native` and `Hopper` name none.
fn architectures(text: &str) -> Vec<Architecture> {
    let mut all = Vec::new();
    for word in text.split([';', ',', ' ']).filter(|word| !word.is_empty()) {
        let (word, also_ptx) = match word.strip_suffix("+PTX") {
            Some(word) => (word, true),
            None => (word, false),
        };
        let word = word.strip_suffix("-real").unwrap_or(word);
        let (word, ptx) = match word.strip_suffix("-virtual") {
            Some(word) => (word, true),
            None => (word, false),
        };
        let plain = word.trim_end_matches(['a', 'f']);
        let variant = word.get(plain.len()..).and_then(|rest| rest.chars().next());
        let capability = if plain.contains('.') {
            Capability::parse(plain)
        } else {
            let number = plain.parse::<u32>().ok().filter(|number| (10..1000).contains(number));
            number.map(|number| Capability { major: number / 10, minor: number % 10 })
        };
        let Some(capability) = capability else { continue };
        all.push(Architecture { capability, variant, ptx });
        if also_ptx {
            all.push(Architecture { capability, variant, ptx: true });
        }
    }
    all
}

/// The file systems that matter here.
pub fn places(scene: &Scene) -> Vec<Place> {
    let temporary = scene.host.var("TMPDIR").map_or_else(|| scene.disk.system("/tmp"), PathBuf::from);
    let named = [
        ("home", scene.host.user_home.clone()),
        ("cudaup", Some(scene.home.path().to_path_buf())),
        ("temporary files", Some(temporary)),
    ];
    let mut seen = Vec::new();
    let mut places = Vec::new();
    for (what, path) in named.into_iter().filter_map(|(what, path)| Some((what, path?))) {
        let (Ok(device), Ok(room)) = (space::device(&path), space::room(&path)) else { continue };
        // Nobody writes there, so that it is as good as empty.
        if seen.contains(&device) || room.read_only {
            continue;
        }
        seen.push(device);
        places.push(Place { what, path, free: room.free, size: room.size });
    }
    places
}

/// The sizes of the caches that are there, the largest first.
fn sizes(scene: &Scene) -> Vec<(PathBuf, u64, &'static str)> {
    let until = Instant::now() + COUNTING;
    let home = scene.host.user_home.as_ref();
    let mut paths: Vec<(PathBuf, &'static str)> =
        CACHES.iter().filter_map(|(place, command)| Some((home?.join(place), *command))).collect();
    paths.push((scene.home.cache(), "cudaup cache clean"));
    let mut sizes: Vec<(PathBuf, u64, &'static str)> = paths
        .into_iter()
        .map(|(path, command)| {
            let mut bytes = 0;
            count(&path, until, &mut bytes);
            (path, bytes, command)
        })
        .filter(|(_, bytes, _)| *bytes > 0)
        .collect();
    sizes.sort_by_key(|(_, bytes, _)| std::cmp::Reverse(*bytes));
    sizes
}

/// Adds up the files below a path until the time is over; what was counted by then is less than there is.
fn count(path: &Path, until: Instant, bytes: &mut u64) {
    if Instant::now() > until {
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // Of the entry itself: a link is not followed.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => count(&entry.path(), until, bytes),
            Ok(kind) if kind.is_file() => *bytes += entry.metadata().map_or(0, |found| found.len()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_of_variables() {
        let read =
            |text: &str| architectures(text).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(read("8.0;8.6+PTX"), "sm_80 sm_86 compute_86");
        assert_eq!(read("7.5 9.0a"), "sm_75 sm_90a");
        assert_eq!(read("80;86-real;90-virtual;120a-real"), "sm_80 sm_86 compute_90 sm_120a");
        assert_eq!(read("native"), "");
        assert_eq!(read("Hopper;all-major;8;;99999"), "");
    }

    #[test]
    fn copies_of_cccl_are_known_by_their_headers() {
        let dir = tempfile::TempDir::new().unwrap();
        for header in ["third_party/cccl/thrust/thrust/version.h", "cub/cub/version.cuh"] {
            let path = dir.path().join(header);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::create_dir_all(dir.path().join("external/thrust")).unwrap();
        let found = vendored(dir.path());
        assert_eq!(found, [dir.path().join("cub"), dir.path().join("third_party/cccl")]);
    }
}
