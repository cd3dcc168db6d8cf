//! All that the checks look at: one plain value, so that each check is a pure function of it.

use crate::facts::Fact;
use crate::facts::driver::Driver;
use crate::facts::global_link::Moved;
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
use cudaup_core::version::Version;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod bare;
mod traces;

pub use traces::{Build, Builds, Entry, ExtensionCache, KernelCache, Place, RootVariable, SearchList};

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
    /// The search lists among the variables, with what their entries lead to.
    pub lists: Vec<SearchList>,
    /// The variables that name a toolkit's root, with what they lead to.
    pub roots: Vec<RootVariable>,
    /// What builds left behind.
    pub builds: Builds,
    /// File systems that matter here, with their free space.
    pub places: Vec<Place>,
}

impl Machine {
    /// What was chosen: by the rules, or where nobody asks for a toolkit by what typing nvcc runs.
    pub fn choice(&self) -> Option<&Choice> {
        self.toolkits.chosen.as_ref().ok()?.as_ref()
    }

    /// The root of the toolkit that serves here, links resolved, and its release.
    pub fn toolkit(&self) -> Option<(&Path, Version)> {
        let choice = self.choice()?;
        let root = self.toolkits.root.as_deref().unwrap_or(&choice.toolkit.root);
        Some((root, choice.toolkit.identity.version))
    }

    /// A search list by its name.
    pub fn list(&self, name: &str) -> Option<&SearchList> {
        self.lists.iter().find(|list| list.name == name)
    }
}

/// The toolkits of the machine.
#[derive(Clone, Debug)]
pub struct Toolkits {
    /// What the rules choose here; `None` where nobody asks and the machine has none. Where nobody asks for one the shell is left
    /// as it is, so it is the toolkit of the first nvcc on PATH, if there is one.
    pub chosen: Result<Option<Choice>, Refusal>,
    /// All that were found, broken ones too.
    pub found: Vec<Found>,
    /// The programs `nvcc` on PATH that are no shim, in order, each with its toolkit's root and identity where that can be told.
    pub nvcc: Vec<Nvcc>,
    /// The root of the one chosen, links resolved.
    pub root: Option<PathBuf>,
    /// What the tree of the one chosen holds.
    pub inside: Option<Inside>,
    /// How this shell follows cudaup.
    pub follows: Follows,
    /// The machine's link, where it was changed by another hand since `use --global`.
    pub moved: Option<Moved>,
}

/// What a toolkit's tree holds, as far as programs that are compiled with it need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Whether it has an nvcc.
    pub nvcc: bool,
    /// Whether that is a program; a script may know other places for the rest.
    pub program: bool,
    /// Whether `cuda_runtime.h` is there.
    pub header: bool,
    /// Whether a runtime library to link with is there.
    pub runtime: bool,
    /// Whether its files lie among the system's own, or conda's, where they are found in other ways.
    pub mixed: bool,
    /// What its `crt/math_functions.h` knows of newer C libraries; `None` where it was not read.
    pub math: Option<Math>,
}

/// What a toolkit's headers know of functions that newer C libraries declare themselves. Source: the headers of 11.8, 12.4,
/// 13.0 and 13.5, and reports of what glibc 2.41 and 2.42 break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Math {
    /// `cospi` and `sinpi` of glibc 2.41 (`__NV_IEC_60559_FUNCS_EXCEPTION_SPECIFIER`).
    pub knows_cospi: bool,
    /// `rsqrt` of glibc 2.42 (`_NV_RSQRT_SPECIFIER`).
    pub knows_rsqrt: bool,
}

/// How this shell follows cudaup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Follows {
    /// Whether a hook runs in it.
    pub hook: bool,
    /// Whether the shims are on PATH.
    pub shims: bool,
    /// Whether a shim stands before every other nvcc of PATH.
    pub shim_first: bool,
    /// Whether the home holds a toolkit that they would serve.
    pub useful: bool,
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
    /// The machine that it is for, where that is another one.
    pub other_machine: Option<&'static str>,
}

/// The compiler that the toolkit in use hands C++ to.
#[derive(Clone, Debug, Default)]
pub struct HostCompiler {
    /// What the toolkit's own host_config.h accepts; `None` without a toolkit or without that file.
    pub limits: Option<Limits>,
    /// The compiler that its nvcc takes as things stand; `None` where there is none.
    pub taken: Option<Compiler>,
    /// What makes it take this one: `gcc on PATH`, `NVCC_CCBIN`, `host_compiler of .cuda-version`.
    pub by: String,
    /// What that names where nothing of that name can be run: `/opt/g++-12`.
    pub missing: Option<String>,
    /// A program that does not say its version in a form that is known; its path.
    pub silent: Option<PathBuf>,
    /// The `g++` that links what `gcc` compiled, where nothing names one compiler for both.
    pub links: Option<Compiler>,
    /// Variables that name another compiler and that this nvcc does not read.
    pub unread: Vec<Unread>,
    /// Whether nothing tells which one is taken: nobody has tried whether nvcc 12.5 to 12.9 read NVCC_CCBIN, and Debian's
    /// wrapper chooses by itself.
    pub unsure: bool,
    /// Another one of the machine that fits, where the one taken does not.
    pub fitting: Option<Compiler>,
}

/// A variable that names a compiler and that nvcc does not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The variable.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Whether CMake reads it.
    pub by_cmake: bool,
    /// The compiler that it names.
    pub compiler: Option<Compiler>,
}
