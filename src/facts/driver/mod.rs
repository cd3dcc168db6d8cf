//! The NVIDIA driver: the kernel module, the libraries beside it, and what nvidia-smi says of them.

mod version;

pub use version::version;

use super::Fact;
use cudaup_core::version::Version;

/// The NVIDIA driver as it presents itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// The kernel module that is loaded.
    pub module: Fact<Module>,
    /// The version of libcuda.so.1 that the loader takes, by the name of the file behind it.
    pub library: Fact<String>,
    /// What nvidia-smi said.
    pub smi: Smi,
    /// Whether the free driver `nouveau` holds the GPU.
    pub nouveau: bool,
    /// Modules of NVIDIA that lie under /lib/modules for the running kernel: their version, where one can be read.
    pub built: Fact<String>,
    /// The kernels that DKMS has built NVIDIA's module for, with the module's version.
    pub dkms: Vec<(String, String)>,
    /// The device files that are there, such as `nvidia0`, `nvidiactl`, `nvidia-uvm`, `dxg`.
    pub devices: Vec<String>,
}

/// A loaded kernel module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its version; `None` where its file names none (Jetson).
    pub version: Option<String>,
    /// Whether it is the open one.
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
        /// A line that speaks of CUDA or of a driver and was not understood.
        odd: Option<String>,
    },
    /// It ran and told of a failure; its words.
    Failed(String),
    /// It gave no answer within the time limit, of so many seconds.
    Silent(u64),
}

impl Driver {
    /// The driver's version: that of the module, else what nvidia-smi said, else that of the library.
    pub fn version(&self) -> Option<&str> {
        let module = self.module.known().and_then(|m| m.version.as_deref());
        let smi = match &self.smi {
            Smi::Said { driver, .. } => driver.as_deref(),
            _ => None,
        };
        module.or(smi).or(self.library.known().map(String::as_str))
    }
}
