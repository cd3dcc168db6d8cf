//! What the machine is: its kernel and distribution, WSL2, Jetson, containers, Secure Boot.

use super::Fact;

/// What the machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// As `uname -m` calls it.
    pub machine: String,
    /// The kernel's release, such as `6.8.0-45-generic`.
    pub kernel: Fact<String>,
    /// The distribution, as /etc/os-release names it for people.
    pub distribution: Fact<String>,
    /// `ID` and `VERSION_ID` of /etc/os-release: `ubuntu`, `24.04`.
    pub release: Option<(String, String)>,
    /// The C library's version.
    pub glibc: Fact<(u32, u32)>,
    /// Whether it is WSL2: Linux beside Windows, whose driver it uses.
    pub wsl: bool,
    /// The model, on NVIDIA's Jetson boards.
    pub jetson: Option<String>,
    /// The container that this runs in: `docker`, `podman`, `kubernetes`, `apptainer`, `container` where its kind is not known.
    pub container: Option<String>,
    /// The CUDA release of the NVIDIA image that the container was made from (`CUDA_VERSION`, seen with `NV_CUDA_...`).
    pub image: Option<String>,
    /// Whether the firmware starts signed kernels and modules only.
    pub secure_boot: Fact<bool>,
}
