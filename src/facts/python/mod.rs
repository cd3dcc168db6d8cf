//! The Python environment in use and the CUDA packages in it, read from files; no Python is started.

mod architectures;
mod built;
mod bundled;
mod distributions;
mod environment;
mod read;
#[cfg(test)]
mod tests;

use crate::compat::arch::Architecture;
use crate::host::Host;
use cudaup_core::version::Version;
use std::path::{Path, PathBuf};

/// A Python environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Python {
    /// Its directory.
    pub root: PathBuf,
    /// What names it: `VIRTUAL_ENV`, `CONDA_PREFIX`, `.venv here`, `the python3 on PATH`.
    pub how: String,
    /// Its Python's release.
    pub version: Option<(u32, u32)>,
    /// What installs packages into it, as typed here: `pip`, `uv pip` (uv's own environments have no
    /// pip), `.venv/bin/python -m pip`.
    pub pip: String,
    /// Its directories of packages, in the order in which Python looks.
    pub packages_in: Vec<PathBuf>,
    /// The packages in it that have to do with CUDA.
    pub packages: Vec<Package>,
    /// NVIDIA's libraries that packages brought, below `site-packages/nvidia`.
    pub bundled: Vec<Bundled>,
    /// How torch's own libraries find the others; `None` without torch.
    pub search: Option<Search>,
}

/// A package of a Python environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name as PyPI normalizes it: `torch`, `flash-attn`, `nvidia-cudnn-cu12`.
    pub name: String,
    /// Its version, as it says it: `2.5.1+cu124`.
    pub version: String,
    /// What it was built for.
    pub build: Build,
    /// The machine code and PTX inside, where it can be read without starting it.
    pub architectures: Vec<Architecture>,
    /// The file that says so.
    pub source: PathBuf,
    /// The packages of interest that it asks for; read for frameworks only.
    pub requires: Vec<Requirement>,
    /// The torch that its machine code was built for, and the file that says so.
    pub for_torch: Option<(String, PathBuf)>,
    /// The cuDNN that it was built for, by its first number or more: `9`.
    pub cudnn: Option<String>,
    /// The CUDA releases that it brings code for, where it has a file for each (bitsandbytes).
    pub variants: Vec<Version>,
}

/// What a package asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirement {
    /// The other package, by its normalized name.
    pub name: String,
    /// The versions that it takes: `==2.5.1`.
    pub versions: String,
    /// The extra that it belongs to: `and-cuda`.
    pub extra: Option<String>,
}

impl Requirement {
    /// The one version that it takes, where it takes just one.
    pub fn exact(&self) -> Option<&str> {
        self.versions.strip_prefix("==").filter(|v| !v.contains([',', '*'])).map(str::trim)
    }
}

/// What a package was built for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Build {
    /// A CUDA release.
    Cuda(Version),
    /// The CPU only.
    Cpu,
    /// AMD's ROCm.
    Rocm(String),
    /// That cannot be told from its files.
    #[default]
    Unknown,
}

impl Build {
    /// The CUDA release, where it is one.
    pub const fn cuda(&self) -> Option<Version> {
        match self {
            Self::Cuda(version) => Some(*version),
            _ => None,
        }
    }
}

/// A library of NVIDIA's that a package brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundled {
    /// What programs ask for: `libcudnn.so.9`.
    pub soname: String,
    /// Its file.
    pub file: PathBuf,
}

/// How a library finds those that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// Its own list comes before LD_LIBRARY_PATH (RPATH).
    OwnFirst,
    /// LD_LIBRARY_PATH comes before its own list (RUNPATH, or none).
    PathFirst,
}

impl Python {
    /// A package by its normalized name.
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// Whether uv installs into it.
    pub fn uses_uv(&self) -> bool {
        self.pip.ends_with("uv pip")
    }

    /// The first of several packages that is there.
    pub fn any(&self, names: &[&str]) -> Option<&Package> {
        names.iter().find_map(|name| self.package(name))
    }

    /// A library that a package brought, by the name that programs ask for.
    pub fn bundles(&self, soname: &str) -> Option<&Bundled> {
        self.bundled.iter().find(|library| library.soname == soname)
    }
}

/// The environment in use: the one that is activated, else the `.venv` of the project, else that of the python3 on PATH.
pub fn look(host: &Host) -> Option<Python> {
    environment::in_use(host).map(filled)
}

/// The environment in a directory, for `doctor .venv`, or of an interpreter, `.venv/bin/python`; `None` where it is none.
pub fn of(path: &Path) -> Option<Python> {
    let is_interpreter =
        path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("python")) && path.is_file();
    let root = if is_interpreter { path.parent()?.parent()? } else { path };
    environment::at(root).map(filled)
}

fn filled(mut python: Python) -> Python {
    python.packages = distributions::packages(&python.packages_in);
    python.bundled = bundled::libraries(&python.packages_in);
    python.search = python.package("torch").and_then(|_| bundled::search(&python.packages_in));
    python
}
