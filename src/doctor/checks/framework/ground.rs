//! What several checks of frameworks go by: the driver's reach, the GPUs, the nvcc that builds extensions, and pip commands.

use crate::compat::arch::Capability;
use crate::compat::driver::reach;
use crate::compat::pep440::Pep440;
use crate::compat::torch::{Wanted, address, best};
use crate::doctor::machine::Machine;
use crate::facts::driver::Smi;
use crate::facts::gpu::Gpu;
use crate::facts::python::{Package, Python};
use cudaup_core::version::Version;
use std::path::Path;

/// The GPUs that are known; none where that could not be told.
pub fn gpus(machine: &Machine) -> &[Gpu] {
    machine.gpus.known().map(Vec::as_slice).unwrap_or_default()
}

/// A GPU for people: `RTX 5090 (sm_120)`.
pub fn title(gpu: &Gpu) -> String {
    let name = if gpu.name.is_empty() { format!("GPU {}", gpu.index) } else { gpu.name.clone() };
    match gpu.capability {
        Some(capability) => format!("{name} (sm_{})", capability.number()),
        None => name,
    }
}

/// The newest CUDA release that the driver runs in full, and who says so. Jetson's driver has numbers of its own, and on WSL2
/// only what nvidia-smi prints counts.
pub fn driver_cuda(machine: &Machine) -> Option<(Version, String)> {
    if let Smi::Said { cuda: Some(cuda), .. } = &machine.driver.smi {
        return Some((*cuda, format!("nvidia-smi: CUDA {cuda}, the newest that the driver runs in full")));
    }
    let compat = machine.loader.path.iter().any(|path| path.ends_with("compat"));
    if machine.platform.wsl || machine.platform.jetson.is_some() || compat {
        return None;
    }
    let driver = machine.driver.version()?;
    Some((reach(driver)?, format!("driver {driver}, made for CUDA {}", reach(driver)?)))
}

/// Whether a driver that was made for one CUDA release runs machine code of another: since 11 within the major.
pub fn runs(driver: Version, built: Version) -> bool {
    driver.major > built.major || (driver.major == built.major && (driver.major >= 11 || driver >= built))
}

/// What a wheel of torch has to fit here.
pub fn wanted(machine: &Machine) -> Wanted {
    let gpu = gpus(machine).iter().filter_map(|gpu| gpu.capability).min();
    Wanted { driver: driver_cuda(machine).map(|(cuda, _)| cuda), gpu }
}

/// Whether the table of torch's wheels holds here: it is that of Linux on x86_64.
pub fn is_x86(machine: &Machine) -> bool {
    matches!(machine.platform.machine.as_str(), "x86_64" | "") && machine.platform.jetson.is_none()
}

/// The command that installs a torch that works here, with the packages beside it that have to follow; advice where no such
/// wheel is known.
pub fn torch_here(machine: &Machine, python: &Python, torch: &Package) -> String {
    if machine.platform.jetson.is_some() {
        return "install the torch that NVIDIA builds for this JetPack: docs.nvidia.com/deeplearning/frameworks".into();
    }
    if !is_x86(machine) {
        return "choose a torch with CUDA for this machine: pytorch.org/get-started/locally".into();
    }
    let version = Pep440::parse(&torch.version);
    let minor = version.as_ref().map(Pep440::minor);
    let Some(wheel) = best(minor, wanted(machine)) else {
        return "no wheel of torch is known that this driver and these GPUs run; torch can be built from source".into();
    };
    let same = version.filter(|v| v.minor() == wheel.minor() && !v.unfinished);
    let torch = same.map_or_else(|| format!("torch=={}.*", wheel.torch), |v| format!("torch=={}", v.plain()));
    let beside = ["torchvision", "torchaudio"].iter().filter(|name| python.package(name).is_some());
    let beside: String = beside.map(|name| format!(" {name}")).collect();
    format!("{} install --force-reinstall \"{torch}\"{beside} --index-url {}", python.pip, wheel.address())
}

/// What removes packages without asking.
pub fn uninstall(python: &Python) -> String {
    // uv never asks.
    format!("{} uninstall{}", python.pip, if python.uses_uv() { "" } else { " -y" })
}

/// The address of the index that a torch of this build came from.
pub fn index(torch: &Package) -> Option<String> {
    let cuda = torch.build.cuda()?;
    Some(address(&format!("cu{}{}", cuda.major, cuda.minor?)))
}

/// The nvcc with which torch builds extensions: that of CUDA_HOME or CUDA_PATH, else the first on PATH, else
/// that of the toolkit that applies here. `None` where it cannot be
/// told which release it is.
pub fn nvcc(machine: &Machine) -> Option<(Version, String)> {
    let home = ["CUDA_HOME", "CUDA_PATH"]
        .iter()
        .find_map(|n| Some((*n, machine.vars.get(n).filter(|v| !v.is_empty())?)));
    if let Some((name, root)) = home {
        let path = Path::new(root).join("bin/nvcc");
        let of_path = || {
            machine
                .toolkits
                .nvcc
                .iter()
                .find(|n| n.path == path || n.root.as_deref() == Some(Path::new(root)))
        };
        let version =
            release(machine, Path::new(root)).or_else(|| Some(of_path()?.identity.as_ref()?.version))?;
        return Some((version, format!("{} ({name})", path.display())));
    }
    if let Some(first) = machine.toolkits.nvcc.first() {
        return Some((first.identity.as_ref()?.version, format!("{} (first on PATH)", first.path.display())));
    }
    let toolkit = &machine.toolkits.chosen.as_ref().ok()?.as_ref()?.toolkit;
    Some((toolkit.identity.version, toolkit.root.join("bin/nvcc").display().to_string()))
}

/// The release of a toolkit that was found, by any of its names.
fn release(machine: &Machine, root: &Path) -> Option<Version> {
    let found =
        machine.toolkits.found.iter().find(|f| f.root == root || f.aliases.iter().any(|a| a == root))?;
    match found.tree.as_ref()? {
        cudaup_core::identity::Tree::Toolkit(identity) => Some(identity.version),
        _ => None,
    }
}

/// The command that puts a toolkit of a release to use.
pub fn use_toolkit(machine: &Machine, wanted: Version) -> String {
    let has = machine.toolkits.found.iter().filter(|f| f.broken.is_none()).any(|f| {
        release(machine, &f.root).is_some_and(|v| v.major == wanted.major && v.minor == wanted.minor)
    });
    if has {
        format!("cudaup use {wanted}")
    } else {
        format!("cudaup install {wanted} && cudaup use {wanted}")
    }
}

/// Only major and minor.
pub const fn short(version: Version) -> Version {
    Version { update: None, ..version }
}

/// The oldest GPU that CUDA 13 compiles for. Source: nvcc 13.0 and newer, `--list-gpu-arch`.
pub const OLDEST_OF_13: Capability = Capability { major: 7, minor: 5 };
