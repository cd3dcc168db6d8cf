//! What add-ons are to those who make them: their trees at NVIDIA, their projects on PyPI, the names of their archives, and
//! what tells their version in the files themselves.

pub mod file_name;
pub mod header;
pub mod receipt;

use cudaup_core::addon::Library;
use std::path::Path;

/// Where a library is to be had, and how it is recognized.
#[derive(Debug, PartialEq, Eq)]
pub struct Origin {
    /// The library's name.
    pub name: &'static str,
    /// Its folder below `compute` on NVIDIA's server.
    pub tree: &'static str,
    /// Its component in NVIDIA's manifests, which is also what the names of its archives begin with.
    pub component: &'static str,
    /// Its project on PyPI, without the `-cu12` at the end.
    pub project: &'static str,
    /// The files that may hold its version, the newer place first.
    pub headers: &'static [&'static str],
    /// The names of those numbers in them that can be relied on.
    pub macros: &'static [&'static str],
    /// How many tenths of its packed size it takes on disk, rounded up: as a wheel and as an archive of NVIDIA's.
    pub swells: (u64, u64),
}

/// One row for each library of core's table.
const ORIGINS: [Origin; 5] = [
    Origin {
        name: "cudnn",
        tree: "cudnn",
        component: "cudnn",
        project: "nvidia-cudnn",
        headers: &["cudnn_version.h", "cudnn.h"],
        macros: &["CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"],
        swells: (19, 25),
    },
    Origin {
        name: "nccl",
        tree: "nccl",
        component: "nccl",
        project: "nvidia-nccl",
        headers: &["nccl.h"],
        macros: &["NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH"],
        swells: (16, 30),
    },
    Origin {
        name: "cutensor",
        tree: "cutensor",
        component: "libcutensor",
        project: "cutensor",
        headers: &["cutensor.h", "cutensor/types.h"],
        // Releases have come out with the third number of the one before.
        macros: &["CUTENSOR_MAJOR", "CUTENSOR_MINOR"],
        swells: (20, 30),
    },
    Origin {
        name: "cusparselt",
        tree: "cusparselt",
        component: "libcusparse_lt",
        project: "nvidia-cusparselt",
        headers: &["cusparseLt.h"],
        macros: &["CUSPARSELT_VER_MAJOR", "CUSPARSELT_VER_MINOR", "CUSPARSELT_VER_PATCH"],
        swells: (20, 30),
    },
    Origin {
        name: "nvshmem",
        tree: "nvshmem",
        component: "libnvshmem",
        project: "nvidia-nvshmem",
        headers: &["non_abi/nvshmem_version.h"],
        macros: &[
            "NVSHMEM_VENDOR_MAJOR_VERSION",
            "NVSHMEM_VENDOR_MINOR_VERSION",
            "NVSHMEM_VENDOR_PATCH_VERSION",
        ],
        swells: (20, 40),
    },
];

/// The row of a library.
pub fn origin(library: &Library) -> Option<&'static Origin> {
    ORIGINS.iter().find(|o| o.name == library.name)
}

impl Origin {
    /// The bytes on disk that an archive of so many bytes becomes, for what is said and checked before it is loaded.
    pub fn unpacked(&self, file: &str, packed: u64) -> u64 {
        let is_wheel = Path::new(file).extension().is_some_and(|e| e == "whl");
        let tenths = if is_wheel { self.swells.0 } else { self.swells.1 };
        packed.saturating_mul(tenths) / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cudaup_core::addon::LIBRARIES;

    #[test]
    fn every_library_has_its_row() {
        for (library, row) in LIBRARIES.iter().zip(&ORIGINS) {
            assert_eq!(origin(library), Some(row));
        }
    }
}
