//! What a program, library, object, wheel or directory holds for GPUs, which CUDA libraries it needs, and whether this machine
//! runs it.

mod look;
#[cfg(test)]
mod tests;

pub use look::look;

use crate::compat::arch;
use crate::compat::driver as branches;
use crate::elf::fatbin::Code;
use crate::facts::gpu::Gpu;
use crate::facts::loader::By;
use cudaup_core::architecture::Architecture;
use cudaup_core::version::Version;
use std::path::PathBuf;

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Its path.
    pub path: PathBuf,
    /// What it is: `program`, `library`, `object`, `static library`, `GPU code`, `wheel`, `directory`.
    pub kind: &'static str,
    /// The code for GPUs in it, in all its files together.
    pub code: Code,
    /// The CUDA libraries that it asks for.
    pub needed: Vec<Needed>,
    /// The files in it that hold code for GPUs, where it is a directory or a wheel.
    pub files: Vec<(String, Code)>,
    /// The packages that a wheel asks for and that have to do with CUDA.
    pub requires: Vec<String>,
    /// What could not be read, and why.
    pub unread: Vec<String>,
}

/// A library that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Its name.
    pub name: String,
    /// The file that the loader would take now, and what leads it there.
    pub found: Option<(PathBuf, By)>,
}

/// Whether a GPU runs what was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds machine code for it.
    Runs,
    /// It holds PTX, which the driver compiles when it starts.
    AfterCompiling,
    /// It holds PTX that is newer than the driver, and no machine code for the GPU.
    PtxTooNew,
    /// Neither.
    NoImage,
    /// It holds no code for GPUs, or the GPU's compute capability is not known.
    NotKnown,
}

impl Verdict {
    /// For people and JSON.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::AfterCompiling => "runs after the driver has compiled its PTX",
            Self::PtxTooNew => {
                "does not run: its PTX is newer than the driver, and there is no machine code for this GPU"
            }
            Self::NoImage => "no kernel image: there is no code for this GPU",
            Self::NotKnown => "not known",
        }
    }
}

/// Judges the code for a GPU, under a driver that runs a release in full.
pub fn judge(code: &Code, gpu: &Gpu, driver: Option<Version>) -> Verdict {
    let Some(capability) = gpu.capability.filter(|_| !code.architectures.is_empty()) else {
        return Verdict::NotKnown;
    };
    let runs = |ptx: bool| code.architectures.iter().any(|a| a.ptx == ptx && a.runs_on(capability));
    if runs(false) {
        return Verdict::Runs;
    }
    if !runs(true) {
        return Verdict::NoImage;
    }
    // Of several pieces the one with the oldest PTX is the likeliest to be compiled.
    let usable = code.oldest_ptx.iter().filter(|(architecture, _)| architecture.runs_on(capability));
    let oldest = usable.map(|(_, version)| *version).min().and_then(arch::first_with_ptx);
    match oldest.zip(driver) {
        Some((oldest, driver)) if oldest > driver => Verdict::PtxTooNew,
        _ => Verdict::AfterCompiling,
    }
}

/// The CUDA release that the thing belongs to at least: by the runtime that it asks for, and by its PTX.
pub fn release(subject: &Subject) -> Option<Version> {
    let runtime = subject.needed.iter().find_map(|needed| {
        let number = needed.name.strip_prefix("libcudart.so.")?;
        Some(Version { major: number.split('.').next()?.parse().ok()?, minor: None, update: None })
    });
    let ptx = subject.code.ptx.and_then(arch::first_with_ptx);
    match (runtime, ptx) {
        (Some(runtime), Some(ptx)) if ptx.major == runtime.major => Some(ptx),
        (runtime, ptx) => runtime.or(ptx),
    }
}

/// The oldest branch of drivers that runs machine code of a release.
pub fn oldest_driver(release: Version) -> Option<u32> {
    branches::first_branch(Version { minor: release.minor.or(Some(0)), ..release })
}

/// The architectures as a short list: machine code, then PTX.
pub fn list(code: &Code) -> String {
    let (ptx, machine): (Vec<&Architecture>, Vec<_>) = code.architectures.iter().partition(|a| a.ptx);
    let names = machine.into_iter().chain(ptx).map(ToString::to_string);
    names.collect::<Vec<_>>().join(" ")
}
