//! Where the parts of a toolkit tree lie: NVIDIA's installers, archives, wheels, conda, the HPC SDK and Debian each lay them
//! out differently.

use crate::disk::Disk;
use crate::list::components;
use crate::tools::part_of;
use crate::version::Version;
use std::path::{Path, PathBuf};

/// The directories of one toolkit that environment variables name. What the tree does not have is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Programs.
    pub bin: PathBuf,
    /// Whether its files lie among the system's own, where they are found without a list naming them.
    pub spread: bool,
    /// Libraries, the runtime's first.
    pub lib: Vec<PathBuf>,
    /// The profiling library, where it has a directory of its own.
    pub cupti: Option<PathBuf>,
    /// Link-time stand-ins for the driver's libraries.
    pub stubs: Option<PathBuf>,
    /// Headers, the runtime's first.
    pub include: Vec<PathBuf>,
    /// Files of pkg-config.
    pub pkgconfig: Option<PathBuf>,
}

/// Where libraries lie, most usual first.
pub const LIB: [&str; 5] =
    ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "targets/aarch64-linux/lib"];

/// Where headers lie, most usual first.
pub const INCLUDE: [&str; 4] = [
    "include",
    "targets/x86_64-linux/include",
    "targets/sbsa-linux/include",
    "targets/aarch64-linux/include",
];

const PKGCONFIG: [&str; 3] = ["pkgconfig", "pkg-config", "lib64/pkgconfig"];

/// What lies below `targets` for this machine: a tree may hold others for building on this one.
const TARGETS: &[&str] =
    if cfg!(target_arch = "aarch64") { &["sbsa-linux", "aarch64-linux"] } else { &["x86_64-linux"] };

/// Looks at a tree.
pub fn layout(root: &Path, disk: &dyn Disk) -> Layout {
    if is_spread(root, disk) {
        return spread(root);
    }
    let first = |names: &[&str]| {
        let here = names.iter().filter(|n| is_for_this_machine(n));
        here.map(|n| root.join(n)).find(|p| disk.is_dir(p))
    };
    let lib = first(&LIB);
    if lib.as_ref().is_none_or(|lib| !lib.ends_with("lib64")) && is_conda(root, disk) {
        return conda(root, disk);
    }
    let mut layout = Layout {
        bin: root.join("bin"),
        spread: false,
        stubs: lib.as_ref().map(|l| l.join("stubs")).filter(|p| disk.is_dir(p)),
        cupti: first(&["extras/CUPTI/lib64"]),
        include: first(&INCLUDE).into_iter().collect(),
        pkgconfig: first(&PKGCONFIG),
        lib: lib.into_iter().collect(),
    };
    if let Some(math) = math_libraries(root) {
        layout.lib.extend(Some(math.join("lib64")).filter(|p| disk.is_dir(p)));
        layout.include.extend(Some(math.join("include")).filter(|p| disk.is_dir(p)));
    }
    layout
}

/// Whether a toolkit's files lie among the system's own, as Debian's package has it. Its root is what the variables name:
/// programs look for `bin/nvcc` and `include/cuda.h` below it.
pub fn is_spread(root: &Path, disk: &dyn Disk) -> bool {
    root == disk.system(SPREAD_ROOT)
}

/// The root of a toolkit whose files lie among the system's own.
pub const SPREAD_ROOT: &str = "/usr";

/// Whether a directory is an environment of conda, in which a toolkit is mixed with other programs and libraries.
pub fn is_conda(root: &Path, disk: &dyn Disk) -> bool {
    disk.is_dir(&root.join("conda-meta"))
}

/// A tool of the toolkit at a root: its path, whether or not it is there. Where other programs lie among them only
/// NVIDIA's own count.
pub fn tool(root: &Path, name: &str, disk: &dyn Disk) -> Option<PathBuf> {
    let mixed = || is_spread(root, disk) || is_conda(root, disk);
    let is_one = !name.contains('/') && (part_of(name).is_some() || !mixed());
    is_one.then(|| root.join("bin").join(name))
}

fn is_for_this_machine(name: &str) -> bool {
    let Some(below) = name.strip_prefix("targets/") else { return true };
    TARGETS.iter().any(|target| below.starts_with(target))
}

/// Debian's package: compiler and linker find everything where the system has it, and the system's own directories do not
/// belong before all others.
fn spread(root: &Path) -> Layout {
    Layout {
        bin: root.join("bin"),
        spread: true,
        lib: Vec::new(),
        cupti: None,
        stubs: None,
        include: Vec::new(),
        pkgconfig: None,
    }
}

/// Of an environment of conda only what holds nothing but the toolkit: its `lib` would bring its own libssl and libstdc++ to
/// every program.
fn conda(root: &Path, disk: &dyn Disk) -> Layout {
    let mut targets = TARGETS.iter().map(|target| root.join("targets").join(target));
    let target = targets.find(|t| disk.is_dir(t)).unwrap_or_else(|| root.join("targets"));
    let there = |name: &str| Some(target.join(name)).filter(|p| disk.is_dir(p));
    Layout {
        bin: root.join("bin"),
        spread: false,
        lib: there("lib").into_iter().collect(),
        cupti: None,
        stubs: there("lib/stubs"),
        include: there("include").into_iter().collect(),
        pkgconfig: None,
    }
}

/// Whether a root is a toolkit of NVIDIA's HPC SDK (`hpc_sdk/Linux_x86_64/24.3/cuda/12.3`), or the math libraries that go
/// with one, or with the newest (`24.3/math_libs`).
pub fn is_hpc_sdk(root: &[&[u8]]) -> bool {
    matches!(root, [.., sdk, _, _, kind] if *sdk == b"hpc_sdk" && *kind == b"math_libs")
        || is_of_hpc_sdk(root)
}

/// The HPC SDK keeps cuBLAS and the other math libraries beside its toolkits: `24.3/cuda/12.3`, `24.3/math_libs/12.3`.
fn math_libraries(root: &Path) -> Option<PathBuf> {
    let parts = components(root.as_os_str())?;
    if !is_of_hpc_sdk(&parts) {
        return None;
    }
    let sdk = root.parent()?.parent()?;
    Some(sdk.join("math_libs").join(root.file_name()?))
}

fn is_of_hpc_sdk(root: &[&[u8]]) -> bool {
    let [.., sdk, _, _, kind, release] = root else { return false };
    let release = std::str::from_utf8(release).ok().and_then(Version::parse);
    *sdk == b"hpc_sdk" && [b"cuda".as_slice(), b"math_libs"].contains(kind) && release.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn toolkits_of_the_hpc_sdk_are_known_by_their_place() {
        let is = |path: &str| is_hpc_sdk(&components(OsStr::new(path)).unwrap());
        assert!(is("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/12.3"));
        assert!(is("/apps/nvhpc/hpc_sdk/Linux_aarch64/23.11/math_libs/12.3"));
        assert!(is("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/math_libs"), "as its module names them");
        assert!(!is("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/compilers/12.3"));
        assert!(!is("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/compilers"));
        assert!(!is("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda"));
        assert!(!is("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/bin"));
        assert_eq!(
            math_libraries(Path::new("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/12.3")),
            Some("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/math_libs/12.3".into())
        );
    }
}
