//! The NVIDIA driver: the kernel module, the libraries beside it, and what nvidia-smi says of them.

mod smi;
mod version;

pub use smi::ask;
pub use version::version;

use super::Fact;
use crate::elf::cache;
use crate::host::Host;
use cudaup_core::version::Version;
use std::fs;
use std::path::{Path, PathBuf};

/// The NVIDIA driver as it presents itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// The kernel module that is loaded.
    pub module: Fact<Module>,
    /// The version of the machine's own libcuda.so.1, by the name of the file behind it; LD_LIBRARY_PATH is not asked.
    pub library: Fact<String>,
    /// What nvidia-smi said.
    pub smi: Smi,
    /// Whether the free driver `nouveau` is loaded.
    pub nouveau: bool,
    /// NVIDIA's module for the running kernel, where a file of it lies under /lib/modules.
    pub built: Fact<PathBuf>,
    /// The kernels that DKMS has built NVIDIA's module for, each with the module's version.
    pub dkms: Vec<(String, String)>,
    /// The device files that are there, such as `nvidia0`, `nvidiactl`, `nvidia-uvm`, `dxg`.
    pub devices: Vec<String>,
    /// NVIDIA's GPUs on the PCI bus, whether or not a driver runs them.
    pub on_bus: Vec<OnBus>,
}

/// A GPU on the PCI bus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnBus {
    /// Its place, such as `0000:00:06.0`.
    pub place: String,
    /// NVIDIA's number of the device, such as 0x2335.
    pub device: u16,
    /// The kernel driver that holds it: `nvidia`, `nouveau`, `vfio-pci`.
    pub held_by: Option<String>,
}

/// A loaded kernel module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its version; `None` where its file names none (Jetson, a file cut short).
    pub version: Option<String>,
    /// Whether it is the open one; `None` where that is not known.
    pub open: Option<bool>,
}

/// What nvidia-smi said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Smi {
    /// There is no such program.
    #[default]
    Absent,
    /// It answered.
    Said {
        /// The program's own version; on WSL2 it belongs to Linux, while `driver` is that of Windows.
        program: Option<String>,
        /// The driver's version.
        driver: Option<String>,
        /// The newest CUDA release that the driver runs in full.
        cuda: Option<Version>,
        /// A line that speaks of CUDA and was not understood.
        odd: Option<String>,
    },
    /// It ran and told of a failure; its words.
    Failed(String),
    /// It gave no answer within the time limit, of so many seconds.
    Silent(u64),
}

const PROC: &str = "/proc/driver/nvidia/version";
const MODULE: &str = "/sys/module/nvidia";

/// Where libcuda.so.1 lies when the loader's cache does not say.
const LIBRARIES: [&str; 7] = [
    "/usr/lib/wsl/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
];

/// How deep a module lies below its kernel's directory in /lib/modules: `updates/dkms`, `kernel/drivers/video`, `kernel/nvidia-580-open`.
const DEPTH: usize = 3;

/// Reads what the kernel and the file system say, and takes what nvidia-smi said.
pub fn look(host: &Host, smi: Smi) -> Driver {
    let kernel = fs::read_to_string(host.system("/proc/sys/kernel/osrelease")).unwrap_or_default();
    Driver {
        module: module(host),
        library: library(host),
        smi,
        nouveau: host.system("/sys/module/nouveau").is_dir(),
        built: built(host, kernel.trim()),
        dkms: dkms(host),
        devices: devices(host),
        on_bus: on_bus(host),
    }
}

impl Driver {
    /// The driver's version. nvidia-smi knows that of Windows on WSL2; elsewhere the module itself is asked first.
    pub fn version(&self) -> Option<&str> {
        let module = self.module.known().and_then(|m| m.version.as_deref());
        let said = match &self.smi {
            Smi::Said { driver, .. } => driver.as_deref(),
            _ => None,
        };
        module.or(said).or(self.library.known().map(String::as_str))
    }

    /// The newest CUDA release that nvidia-smi says the driver runs in full.
    pub fn said_cuda(&self) -> Option<Version> {
        match &self.smi {
            Smi::Said { cuda, .. } => *cuda,
            _ => None,
        }
    }

    /// Whether anything shows that a driver is at work.
    pub fn is_there(&self) -> bool {
        self.module.known().is_some() || matches!(self.smi, Smi::Said { .. })
    }
}

fn module(host: &Host) -> Fact<Module> {
    let proc = fs::read(host.system(PROC)).ok();
    let loaded = host.system(MODULE).is_dir();
    if proc.is_none() && !loaded {
        return Fact::Absent;
    }
    let open = proc.as_deref().map(|bytes| String::from_utf8_lossy(bytes).contains("Open Kernel Module"));
    let open = open.filter(|open| *open || version(host).is_some());
    let source = if loaded { MODULE } else { PROC };
    Fact::Known(Module { version: version(host), open }, source.to_owned())
}

/// The file behind libcuda.so.1 carries the version in its name; WSL2's and Jetson's do not.
fn library(host: &Host) -> Fact<String> {
    let cached = fs::read(host.system("/etc/ld.so.cache"))
        .ok()
        .and_then(|bytes| cache::read(&bytes))
        .unwrap_or_default();
    let of_cache = cached.into_iter().filter(|l| l.soname == "libcuda.so.1").map(|l| l.file);
    let in_place = LIBRARIES.iter().map(|place| Path::new(place).join("libcuda.so.1"));
    let found =
        of_cache.chain(in_place).map(|file| host.system(&file.to_string_lossy())).find(|file| file.exists());
    let Some(file) = found else { return Fact::Absent };
    let real = fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
    let name = real.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match name.strip_prefix("libcuda.so.").filter(|v| version::is_version(v) && !v.starts_with("1.")) {
        Some(version) => Fact::Known(version.to_owned(), real.display().to_string()),
        None => Fact::Unknown(format!("{} names no version", file.display())),
    }
}

fn built(host: &Host, kernel: &str) -> Fact<PathBuf> {
    if kernel.is_empty() || kernel.contains('/') {
        return Fact::Unknown("the running kernel is not known".to_owned());
    }
    let modules = host.system(&format!("/lib/modules/{kernel}"));
    if !modules.is_dir() {
        return Fact::Unknown(format!("/lib/modules/{kernel} is not here"));
    }
    match find_module(&modules, DEPTH) {
        Some(file) => Fact::Known(file.clone(), file.display().to_string()),
        None => Fact::Absent,
    }
}

fn find_module(directory: &Path, depth: usize) -> Option<PathBuf> {
    let mut below = Vec::new();
    for entry in fs::read_dir(directory).ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("nvidia.ko") {
            return Some(entry.path());
        }
        if depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below.push(entry.path());
        }
    }
    below.sort();
    below.iter().find_map(|directory| find_module(directory, depth - 1))
}

/// `/var/lib/dkms/nvidia/<version>/<kernel>`, where the kernel's directory holds what was built.
fn dkms(host: &Host) -> Vec<(String, String)> {
    let root = host.system("/var/lib/dkms");
    let of_nvidia = names(&root).into_iter().filter(|name| name.starts_with("nvidia"));
    let mut built: Vec<(String, String)> = of_nvidia
        .flat_map(|module| {
            let root = root.join(module);
            names(&root).into_iter().map(move |version| (root.join(&version), version))
        })
        .filter(|(_, version)| version::is_version(version))
        .flat_map(|(place, version)| names(&place).into_iter().map(move |kernel| (kernel, version.clone())))
        .filter(|(kernel, _)| !matches!(kernel.as_str(), "source" | "build"))
        .collect();
    built.sort();
    built
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn devices(host: &Host) -> Vec<String> {
    let ours = |name: &String| name.starts_with("nvidia") || matches!(name.as_str(), "dxg" | "nvmap");
    names(&host.system("/dev")).into_iter().filter(ours).collect()
}

/// NVIDIA's devices of the classes "VGA" and "3D controller"; NVSwitches and sound are others.
fn on_bus(host: &Host) -> Vec<OnBus> {
    let root = host.system("/sys/bus/pci/devices");
    let number = |place: &str, file: &str| {
        let text = fs::read_to_string(root.join(place).join(file)).ok()?;
        u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
    };
    let is_gpu = |place: &String| {
        number(place, "vendor") == Some(0x10de)
            && matches!(number(place, "class"), Some(0x0003_0000 | 0x0003_0200))
    };
    names(&root)
        .into_iter()
        .filter(is_gpu)
        .map(|place| {
            let driver = fs::read_link(root.join(&place).join("driver")).ok();
            OnBus {
                device: number(&place, "device").and_then(|n| u16::try_from(n).ok()).unwrap_or(0),
                held_by: driver.and_then(|d| Some(d.file_name()?.to_string_lossy().into_owned())),
                place,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
