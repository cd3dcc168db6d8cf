//! By what hand a toolkit came to where it was found: in words for a person, in one word for a program.

use crate::disk::Disk;
use crate::list::components;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

/// Where a toolkit was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the home.
    Home,
    /// Below `/usr/local`, where NVIDIA's installers and packages put it.
    Local,
    /// Below `/opt`.
    Opt,
    /// Debian's or Ubuntu's own package.
    Debian,
    /// An nvcc among the system's own programs, of no package that is known here.
    Usr,
    /// NVIDIA's HPC SDK of a release, such as 24.3.
    HpcSdk(String),
    /// Below a root that a default file lists.
    Root,
    /// In another home of cudaup, which a default file lists.
    OtherHome,
    /// Brought into this environment by a module, such as cuda/12.1.
    Module(String),
    /// The active environment of conda.
    Conda,
    /// Built by Spack, and named by a variable.
    Spack,
    /// In the store of Nix, and named by a variable.
    Nix,
    /// Named by a variable.
    Variable(&'static str),
}

impl Origin {
    /// One word for JSON.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Local => "usr-local",
            Self::Opt => "opt",
            Self::Debian => "debian",
            Self::Usr => "usr",
            Self::HpcSdk(_) => "hpc-sdk",
            Self::Root => "root",
            Self::OtherHome => "cudaup-home",
            Self::Module(_) => "module",
            Self::Conda => "conda",
            Self::Spack => "spack",
            Self::Nix => "nix",
            Self::Variable(_) => "variable",
        }
    }

    /// Where a tree comes from that a variable names: its path tells of the stores that have a form of their own.
    pub fn of_variable(name: &'static str, root: &Path) -> Self {
        let parts = components(root.as_os_str()).unwrap_or_default();
        match () {
            () if is_nix(&parts) => Self::Nix,
            () if is_spack(&parts) => Self::Spack,
            () => Self::Variable(name),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home | Self::Local | Self::Opt | Self::Root => Ok(()),
            Self::Debian => f.write_str("Debian's package"),
            Self::Usr => f.write_str("an nvcc in /usr/bin"),
            Self::HpcSdk(release) => write!(f, "HPC SDK {release}"),
            Self::OtherHome => f.write_str("another cudaup home"),
            Self::Module(module) => write!(f, "environment module {module}"),
            Self::Conda => f.write_str("the active conda environment"),
            Self::Spack => f.write_str("Spack"),
            Self::Nix => f.write_str("Nix store"),
            Self::Variable(name) => write!(f, "named by {name}"),
        }
    }
}

/// Whose hand put a tree below `/usr/local` or `/opt`, as what lies beside it tells.
pub fn installer(root: &Path, disk: &dyn Disk) -> Option<&'static str> {
    let registered = |file: &str| {
        let text = disk.read(&disk.system(file), 64 * 1024).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.lines()
            .any(|line| line.starts_with('/') && disk.real(&disk.system(line)).as_deref() == Some(root))
    };
    // `cuda-nvcc-12-6.list` is dpkg's list of the files that a package brought to cuda-12.6.
    let release = root.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_prefix("cuda-"));
    let packaged = |release: &str| {
        let end = format!("-{}.list", release.replace('.', "-"));
        let lists = disk.names(&disk.system("/var/lib/dpkg/info")).unwrap_or_default();
        let names = lists.iter().filter_map(|(name, _)| name.to_str());
        names.into_iter().any(|name| name.starts_with("cuda-") && name.ends_with(&end))
    };
    match () {
        () if disk.is_file(&root.join("receipt.json")) => Some("installed by cudaup"),
        () if disk.is_file(&root.join("bin/cuda-uninstaller")) => Some("NVIDIA's installer"),
        () if release.is_some_and(packaged) => Some("NVIDIA's package"),
        () if ["/var/lib/dpkg/alternatives/cuda", "/var/lib/alternatives/cuda"]
            .into_iter()
            .any(registered) =>
        {
            Some("update-alternatives")
        }
        () if disk.is_file(&disk.system("/etc/arch-release")) && root == disk.system("/opt/cuda") => {
            Some("Arch's package")
        }
        () => None,
    }
}

/// `/nix/store/HASH-cuda_nvcc-12.4.131` and its like.
pub fn is_nix(root: &[&[u8]]) -> bool {
    let [nix, store, name] = root else { return false };
    let name = std::str::from_utf8(name).ok().and_then(|n| n.split_once('-')).map(|(_, name)| name);
    *nix == b"nix" && *store == b"store" && name.is_some_and(is_nix_package)
}

fn is_nix_package(name: &str) -> bool {
    ["cudatoolkit-", "cuda-merged-", "cuda-native-redist-", "cuda_"].iter().any(|p| name.starts_with(p))
        || name.strip_prefix("cuda").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `cuda-12.1.1-4kjh3x7`: a name of Spack's, with the hash at its end. One without a digit may be a word, as in
/// `cuda-12.1-samples`, unless it lies below a platform: `linux-zen2`, or `linux-zen2/gcc-12.2.0`.
pub fn is_spack(root: &[&[u8]]) -> bool {
    let name = root.last().and_then(|name| std::str::from_utf8(name).ok());
    let Some((version, hash)) = name.and_then(|n| n.strip_prefix("cuda-")).and_then(|n| n.split_once('-'))
    else {
        return false;
    };
    let below_platform = || root.iter().rev().skip(1).take(2).any(|part| part.starts_with(b"linux-"));
    crate::version::Version::parse(version).is_some()
        && (hash.bytes().any(|b| b.is_ascii_digit()) || below_platform())
        && matches!(hash.len(), 7 | 32)
        && hash.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// The module among the loaded ones (`gcc/9.3.0:cuda/10.1`) that brings CUDA.
pub fn loaded_module(loaded: &OsStr) -> Option<String> {
    let loaded = loaded.to_str()?;
    let brings = |module: &&str| {
        let name = module.rsplit_once('/').map_or(*module, |(name, _)| name).to_ascii_lowercase();
        name.split('/').any(|part| part.starts_with("cuda") || part.starts_with("nvhpc"))
    };
    loaded.split(':').rfind(brings).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_that_brings_cuda() {
        let of = |loaded: &str| loaded_module(OsStr::new(loaded));
        assert_eq!(of("gcc/9.3.0:cuda/10.1").as_deref(), Some("cuda/10.1"));
        assert_eq!(of("GCCcore/12.2.0:CUDA/12.1.1:UCX-CUDA/1.13.1").as_deref(), Some("CUDA/12.1.1"));
        assert_eq!(of("nvhpc/24.3:openmpi/5").as_deref(), Some("nvhpc/24.3"));
        assert_eq!(of("compilers/cuda/11.8"), Some("compilers/cuda/11.8".into()));
        assert_eq!(of("gcc/9.3.0:openmpi/4"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn stores_are_known_by_their_paths() {
        let of = |path: &str| Origin::of_variable("CUDA_HOME", Path::new(path)).key();
        let hash = "q4v4mkqx0k9ds5pjs8cx4gkwwm0rmjrz";
        assert_eq!(of(&format!("/nix/store/{hash}-cudatoolkit-12.4.1")), "nix");
        assert_eq!(of(&format!("/nix/store/{hash}-cuda12.8-cuda_nvcc-12.8.93")), "nix");
        assert_eq!(of(&format!("/nix/store/{hash}-cuda-samples-12")), "variable");
        assert_eq!(of("/opt/spack/linux-debian12-zen2/gcc-12.2.0/cuda-12.1.1-4kjh3x7"), "spack");
        assert_eq!(of(&format!("/sw/spack/cuda-11.8.0-{hash}")), "spack");
        assert_eq!(of("/sw/linux-zen4/cuda-12.1.1-abcdefg"), "spack");
        assert_eq!(of("/sw/linux-rhel9-zen4/gcc-13/cuda-12.1.1-abcdefg"), "spack");
        assert_eq!(of("/home/u/cuda-12.1-samples"), "variable", "a word of as many letters");
        assert_eq!(of("/sw/cuda-11.8.0-old"), "variable");
        assert_eq!(of("/sw/cuda-11.8.0"), "variable");
        let all = components(OsStr::new("/nix/store/x-cudatoolkit-12/bin")).unwrap();
        assert!(!is_nix(&all), "what lies below is no root");
    }
}
