//! Where the parts of a toolkit tree lie: NVIDIA's installers, archives, wheels and conda each lay them out differently.

use crate::disk::Disk;
use std::path::{Path, PathBuf};

/// The directories of one toolkit that environment variables name. What the tree does not have is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Programs.
    pub bin: PathBuf,
    /// Libraries.
    pub lib: Option<PathBuf>,
    /// The profiling library, where it has a directory of its own.
    pub cupti: Option<PathBuf>,
    /// Link-time stand-ins for the driver's libraries.
    pub stubs: Option<PathBuf>,
    /// Headers.
    pub include: Option<PathBuf>,
    /// Files of pkg-config.
    pub pkgconfig: Option<PathBuf>,
}

/// Where libraries lie, most usual first.
pub const LIB: [&str; 4] = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];
const INCLUDE: [&str; 3] = ["include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"];
const PKGCONFIG: [&str; 3] = ["pkgconfig", "pkg-config", "lib64/pkgconfig"];

/// Looks at a tree.
pub fn layout(root: &Path, disk: &dyn Disk) -> Layout {
    let first = |names: &[&str]| names.iter().map(|n| root.join(n)).find(|p| disk.is_dir(p));
    let lib = first(&LIB);
    Layout {
        bin: root.join("bin"),
        stubs: lib.as_ref().map(|l| l.join("stubs")).filter(|p| disk.is_dir(p)),
        cupti: first(&["extras/CUPTI/lib64"]),
        include: first(&INCLUDE),
        pkgconfig: first(&PKGCONFIG),
        lib,
    }
}
