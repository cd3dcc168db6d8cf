//! CUDA libraries that programs find before or beside those that a framework brings.

use super::cudnn::{self, Installed};
use super::llama_cpp;
use super::python::Python;
use crate::host::Host;
use cudaup_core::addon::Number;
use cudaup_core::disk::Disk;
use std::path::{Path, PathBuf};

/// What the names of CUDA's libraries begin with, and the wheel of NVIDIA's that brings it, without `nvidia-` and `-cu12`.
/// Longer names come before those that they begin with.
const NAMES: [(&str, &str); 12] = [
    ("libcudart", "cuda-runtime"),
    ("libcublasLt", "cublas"),
    ("libcublas", "cublas"),
    ("libcudnn", "cudnn"),
    ("libnccl", "nccl"),
    ("libnvrtc", "cuda-nvrtc"),
    ("libnvJitLink", "nvjitlink"),
    ("libcufft", "cufft"),
    ("libcurand", "curand"),
    ("libcusparseLt", "cusparselt"),
    ("libcusparse", "cusparse"),
    ("libcusolver", "cusolver"),
];

/// The libraries of the machine, as far as frameworks care for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Libraries {
    /// Copies of cuDNN and NCCL.
    pub installed: Vec<Installed>,
    /// The directories of LD_LIBRARY_PATH that hold some of CUDA's, in order.
    pub ahead: Vec<Folder>,
    /// Build directories of llama.cpp in the project that were configured without CUDA.
    pub llama_cpp: Vec<PathBuf>,
    /// Those in the `lib` of a conda environment.
    pub beside: Option<Folder>,
}

/// A directory with some of CUDA's libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// The directory, as LD_LIBRARY_PATH has it.
    pub path: PathBuf,
    /// The libraries.
    pub libraries: Vec<Library>,
}

/// A library in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// What programs ask for: `libcudnn.so.9`.
    pub soname: String,
    /// Its version in full, by the name of the file behind it.
    pub version: Option<Number>,
    /// The wheel of NVIDIA's that brings the same, without `nvidia-` and `-cu12`: `cudnn`.
    pub wheel: &'static str,
}

/// Looks into LD_LIBRARY_PATH, at the copies of cuDNN and NCCL, and beside a Python of conda's. `roots`: the toolkits.
pub fn look(host: &Host, disk: &dyn Disk, roots: &[PathBuf], python: Option<&Python>) -> Libraries {
    let conda = python.map(|p| p.root.as_path()).filter(|root| disk.is_dir(&root.join("conda-meta")));
    let packages_in = python.map(|p| p.packages_in.as_slice()).unwrap_or_default();
    let path =
        host.var("LD_LIBRARY_PATH").map(|p| std::env::split_paths(p).collect::<Vec<_>>()).unwrap_or_default();
    let here = |path: PathBuf| match &host.cwd {
        Some(cwd) if path.as_os_str().is_empty() => cwd.clone(),
        _ => path,
    };
    Libraries {
        installed: cudnn::look(disk, std::env::consts::ARCH, roots, conda, packages_in),
        ahead: path.into_iter().filter_map(|directory| folder(disk, &here(directory))).collect(),
        llama_cpp: host.cwd.as_deref().map(llama_cpp::without_cuda).unwrap_or_default(),
        beside: conda.and_then(|root| folder(disk, &root.join("lib"))),
    }
}

fn folder(disk: &dyn Disk, path: &Path) -> Option<Folder> {
    let names = disk.names(path)?;
    let mut libraries: Vec<Library> = names
        .iter()
        .filter_map(|(name, _)| {
            let soname = name.to_str()?;
            let wheel = wheel(soname)?;
            let real = disk.real(&path.join(name))?;
            let version = real.file_name()?.to_str()?.split_once(".so.").and_then(|(_, n)| Number::parse(n));
            let version = version.filter(|n| n.at(2).is_some());
            Some(Library { soname: soname.to_owned(), version, wheel })
        })
        .collect();
    libraries.sort_by(|a, b| a.soname.cmp(&b.soname));
    (!libraries.is_empty()).then(|| Folder { path: path.to_path_buf(), libraries })
}

/// The wheel for a name that programs ask for; `None` for other names and other libraries.
fn wheel(soname: &str) -> Option<&'static str> {
    let (stem, number) = soname.split_once(".so.")?;
    let short = number.split('.').count() <= 2 && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let own = |name: &str| stem == name || (name == "libcudnn" && stem.starts_with("libcudnn_"));
    NAMES.iter().find(|(name, _)| short && own(name)).map(|(_, wheel)| *wheel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cudaup_core::home::Home;
    use cudaup_shim::RealDisk;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_lies_in_the_directories_of_the_variable() {
        let dir = tempfile::TempDir::new().unwrap();
        let lib = dir.path().join("cuda/lib64");
        fs::create_dir_all(&lib).unwrap();
        fs::create_dir_all(dir.path().join("empty")).unwrap();
        for name in ["libcublas.so.12.1.3.1", "libfoo.so.1", "libcudnn_ops.so.8", "libcudart.so.11.8.89"] {
            fs::write(lib.join(name), "").unwrap();
        }
        for (name, target) in [
            ("libcublas.so.12", "libcublas.so.12.1.3.1"),
            ("libcublas.so", "libcublas.so.12"),
            ("libcudart.so.11.0", "libcudart.so.11.8.89"),
            ("libnccl.so.2", "libnccl.so.2"),
        ] {
            symlink(target, lib.join(name)).unwrap();
        }
        let path = format!("{}:/nowhere:{}", dir.path().join("empty").display(), lib.display());
        let host = Host { vars: vec![("LD_LIBRARY_PATH".into(), path.into())], ..Host::bare() };
        let disk = RealDisk::new(Some(dir.path().join("root")), &Home::new("/nowhere"));
        let found = look(&host, &disk, &[], None);
        assert_eq!((found.ahead.len(), &found.ahead[0].path, found.beside), (1, &lib, None));
        let of = |soname: &str, version: Option<&str>, wheel| Library {
            soname: soname.into(),
            version: version.and_then(Number::parse),
            wheel,
        };
        let expected = [
            of("libcublas.so.12", Some("12.1.3.1"), "cublas"),
            of("libcudart.so.11.0", Some("11.8.89"), "cuda-runtime"),
            of("libcudnn_ops.so.8", None, "cudnn"),
        ];
        assert_eq!(found.ahead[0].libraries, expected);
    }
}
