//! What variables, builds and disks hold of CUDA, read once so that the checks need no disk.

use crate::compat::arch::Architecture;
use crate::facts::build_directory::With;
use std::ffi::OsString;
use std::path::PathBuf;

/// A variable that is a search list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchList {
    /// Its name: PATH, LD_LIBRARY_PATH, CPATH, LIBRARY_PATH.
    pub name: &'static str,
    /// Its entries, in order, empty ones too.
    pub entries: Vec<Entry>,
}

/// An entry of a search list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What stands there.
    pub text: OsString,
    /// Whether there is such a directory.
    pub exists: bool,
    /// The root of the toolkit that it lies in, links resolved.
    pub root: Option<PathBuf>,
    /// The release of that toolkit, for people.
    pub release: Option<String>,
    /// The versions of the driver's libraries in it, where it is a toolkit's `stubs` or `compat` directory: a file
    /// `libcuda.so.580.95.05` says 580.95.05, a `libcuda.so.1` that is no link says 1.
    pub driver: Vec<String>,
}

/// A variable that names a toolkit's root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootVariable {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: OsString,
    /// Whether there is such a directory.
    pub exists: bool,
    /// The toolkit's root, links resolved, where the value is one.
    pub root: Option<PathBuf>,
    /// The toolkit's root, where the value is a directory in one.
    pub above: Option<PathBuf>,
    /// The release of that toolkit, for people.
    pub release: Option<String>,
    /// Lines of start files that set it, `file:line`; only looked for where something is wrong with the value.
    pub set_in: Vec<String>,
}

/// What builds left behind, and what they are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Builds {
    /// Build directories of CMake with CUDA in their caches.
    pub cmake: Vec<Build>,
    /// Copies of CCCL (Thrust, CUB, libcu++) that the project brings.
    pub cccl: Vec<PathBuf>,
    /// Extensions that torch compiled at run time.
    pub extensions: Vec<ExtensionCache>,
    /// The driver's cache of compiled PTX.
    pub kernels: Option<KernelCache>,
    /// The architectures that variables ask for: the variable, and each that could be read.
    pub asked: Vec<(&'static str, Vec<Architecture>)>,
    /// Sizes of caches that may be emptied, in bytes, with the command that does so; only counted where a disk is nearly full.
    pub sizes: Vec<(PathBuf, u64, &'static str)>,
}

/// A build directory of CMake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// Where it is.
    pub path: PathBuf,
    /// The directory of its project.
    pub source: Option<PathBuf>,
    /// What it was configured with.
    pub with: Vec<With>,
}

/// An extension that torch compiled at run time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtensionCache {
    /// Its directory.
    pub path: PathBuf,
    /// The nvcc that it was compiled with.
    pub nvcc: PathBuf,
    /// Whether that is still there.
    pub exists: bool,
    /// The root of that nvcc's toolkit, links resolved.
    pub root: Option<PathBuf>,
}

/// The driver's cache of PTX that it compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelCache {
    /// Its directory.
    pub path: PathBuf,
    /// Whether this user can write it.
    pub writable: bool,
}

/// A place on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it is to the user: `home`, `temporary files`, `cudaup`.
    pub what: &'static str,
    /// Its path.
    pub path: PathBuf,
    /// The bytes free for this user.
    pub free: u64,
    /// All its bytes.
    pub size: u64,
}

/// With less room than this, an install or a build is likely to end for want of it.
const LITTLE: u64 = 2_000_000_000;
/// The same for temporary files: nvcc writes some MB of them.
const LITTLE_TEMPORARY: u64 = 256_000_000;

impl Place {
    /// Whether so little room is left that builds and installs may end for want of it.
    pub fn is_nearly_full(&self) -> bool {
        let little = if self.what == "temporary files" { LITTLE_TEMPORARY } else { LITTLE };
        // A small one that is empty was made so.
        self.free < little && self.free < self.size / 4
    }
}
