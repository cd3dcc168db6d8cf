//! All that the checks look at: one plain value, so that each check is a pure function of it.

use crate::facts::Fact;
use crate::facts::driver::Driver;
use crate::facts::gpu::Gpu;
use crate::facts::libraries::Libraries;
use crate::facts::loader::Loader;
use crate::facts::platform::Platform;
use crate::facts::python::Python;
use crate::toolkit::host_compiler::{Compiler, Limits};
use cudaup_core::environment::Vars;
use cudaup_core::identity::Identity;
use cudaup_core::inventory::Found;
use cudaup_core::refusal::Refusal;
use cudaup_core::resolve::Choice;
use std::path::PathBuf;

/// The machine and the project, as far as they are known.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The kernel and what lies around it.
    pub platform: Platform,
    /// The NVIDIA driver.
    pub driver: Driver,
    /// The GPUs that the driver or the bus shows.
    pub gpus: Fact<Vec<Gpu>>,
    /// The toolkits.
    pub toolkits: Toolkits,
    /// The compiler that nvcc hands C++ to.
    pub compiler: HostCompiler,
    /// The Python environment in use.
    pub python: Option<Python>,
    /// What the dynamic loader goes by.
    pub loader: Loader,
    /// cuDNN, NCCL and the CUDA libraries that come before a framework's own.
    pub libraries: Libraries,
    /// The environment.
    pub vars: Vars,
    /// The current directory.
    pub cwd: Option<PathBuf>,
    /// The user's home directory.
    pub user_home: Option<PathBuf>,
    /// File systems that matter here, with their free space.
    pub places: Vec<Place>,
}

/// The toolkits of the machine.
#[derive(Clone, Debug)]
pub struct Toolkits {
    /// What the rules choose here; `None` where nobody asks and the machine has none.
    pub chosen: Result<Option<Choice>, Refusal>,
    /// All that were found, broken ones too.
    pub found: Vec<Found>,
    /// The programs `nvcc` on PATH that are no shim, in order, each with its toolkit's root and identity where that can be told.
    pub nvcc: Vec<Nvcc>,
}

/// An nvcc on PATH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nvcc {
    /// Its path as PATH has it.
    pub path: PathBuf,
    /// The root of its toolkit, links resolved.
    pub root: Option<PathBuf>,
    /// Which release it is, by its tree's files, else by its own answer.
    pub identity: Option<Identity>,
}

/// The compiler that the toolkit in use hands C++ to.
#[derive(Clone, Debug, Default)]
pub struct HostCompiler {
    /// What the toolkit's own host_config.h accepts; `None` without a toolkit or without that file.
    pub limits: Option<Limits>,
    /// The compiler that its nvcc takes as things stand; `None` where there is none.
    pub taken: Option<Compiler>,
    /// What makes it take this one: `g++ on PATH`, `NVCC_CCBIN`, `host_compiler of .cuda-version`.
    pub by: String,
    /// Another one of the machine that fits, where the one taken does not.
    pub fitting: Option<Compiler>,
}

/// A place on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it is to the user: `home`, `temporary files`, `cudaup`.
    pub what: &'static str,
    /// Its path.
    pub path: PathBuf,
    /// The bytes free for this user.
    pub free: u64,
    /// All its bytes.
    pub size: u64,
}

#[cfg(test)]
impl Machine {
    /// A machine with nothing of CUDA, in which nothing is wrong.
    pub fn bare() -> Self {
        Self {
            platform: Platform::default(),
            driver: Driver::default(),
            gpus: Fact::Absent,
            toolkits: Toolkits { chosen: Ok(None), found: Vec::new(), nvcc: Vec::new() },
            compiler: HostCompiler::default(),
            python: None,
            loader: Loader::default(),
            libraries: Libraries::default(),
            vars: Vars::default(),
            cwd: Some(PathBuf::from("/home/u/p")),
            user_home: Some(PathBuf::from("/home/u")),
            places: Vec::new(),
        }
    }
}
