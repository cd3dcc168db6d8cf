//! The GPUs of the machine.

use crate::compat::arch::Capability;

/// One GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// Its number, as nvidia-smi counts.
    pub index: u32,
    /// Its name without `NVIDIA `; empty where only its place on the bus is known.
    pub name: String,
    /// Its compute capability, as asked for or by its name or PCI number in the tables.
    pub capability: Option<Capability>,
    /// Its place on the bus, such as `0000:00:06.0`.
    pub bus: Option<String>,
    /// Its memory in bytes.
    pub memory: Option<u64>,
    /// How much of that is taken, in bytes.
    pub used: Option<u64>,
    /// How busy it is, in percent.
    pub busy: Option<u32>,
    /// Whether it is cut into MIG instances.
    pub mig: bool,
    /// What runs on it.
    pub processes: Vec<Process>,
}

/// A process on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its program, as nvidia-smi names it.
    pub name: String,
    /// The GPU memory that it holds, in bytes.
    pub memory: Option<u64>,
}
