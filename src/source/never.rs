//! What is never installed, whatever is asked for: the driver, which would hide the machine's own, and what belongs to it.

/// Components by name: the driver and the programs of the machine that come with it, sources of kernel modules, and what is
/// for Windows. Source: the components of NVIDIA's manifests from 11.4.2 to 13.4.2.
pub const NAMES: &[&str] = &[
    "collectx_bringup",
    "driver_assistant",
    "fabricmanager",
    "imex",
    "libnvidia_nscq",
    "libnvsdm",
    "mft",
    "mft_autocomplete",
    "mft_oem",
    "nsight_nvtx",
    "nsight_vse",
    "nvidia_driver",
    "nvidia_fs",
    "nvlsm",
    "visual_studio_integration",
];

/// Licences under which nothing of a toolkit stands: they catch what comes to be listed one day. The names are needed
/// beside them, since `nvidia_fs` stands under the toolkit's licence.
pub const LICENCES: &[&str] = &["NVIDIA Driver", "NVIDIA Proprietary"];

/// Whether a component is never installed. `licence` is empty where it is not known.
pub fn denied(name: &str, licence: &str) -> bool {
    NAMES.contains(&name) || LICENCES.contains(&licence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::component::{COMPONENTS, named};

    #[test]
    fn nothing_denied_has_a_name_that_can_be_asked_for() {
        for name in NAMES {
            assert!(denied(name, "") && denied(name, "CUDA Toolkit"), "{name}");
            assert_eq!(named(name), None, "{name}");
        }
        assert!(COMPONENTS.iter().all(|c| !denied(c.name, "CUDA Toolkit")));
        assert!(denied("a driver of tomorrow", "NVIDIA Driver"));
        assert!(!denied("nsight_compute", "NVIDIA SLA") && !denied("cccl", "CCCL EULA"));
    }
}
