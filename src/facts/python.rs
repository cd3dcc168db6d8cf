//! The Python environment in use and the CUDA packages in it, read from files; no Python is started.

use crate::compat::arch::Architecture;
use cudaup_core::version::Version;
use std::path::PathBuf;

/// A Python environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Python {
    /// Its directory.
    pub root: PathBuf,
    /// What names it: `VIRTUAL_ENV`, `CONDA_PREFIX`, `.venv here`, `the python3 on PATH`.
    pub how: String,
    /// Its Python's release.
    pub version: Option<(u32, u32)>,
    /// Its directories of packages.
    pub packages_in: Vec<PathBuf>,
    /// The packages in it that have to do with CUDA.
    pub packages: Vec<Package>,
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

impl Python {
    /// A package by its normalized name.
    pub fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}
