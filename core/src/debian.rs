//! Debian's and Ubuntu's own package of the toolkit, which spreads it over the system: a wrapper as `/usr/bin/nvcc`, the
//! compiler below `/usr/lib/nvidia-cuda-toolkit`, headers and libraries among all others. `/usr/lib/cuda` only looks like a
//! root: its directories for programs and libraries are empty.

use crate::disk::Disk;
use crate::fitness::{Broken, broken_nvcc, has_headers};
use crate::identity::{Files, Tree, examine};
use crate::inventory::{Found, Kind, MACHINE};
use crate::layout::SPREAD_ROOT;
use crate::origin::Origin;

/// Where the package keeps the compiler.
pub const INSIDE: &str = "/usr/lib/nvidia-cuda-toolkit";

/// What looks like a root, for programs that want a libdevice below one.
pub const LOOKS_LIKE_A_ROOT: &str = "/usr/lib/cuda";

/// Where Debian has libraries, and other systems have theirs.
const LIB: [&str; 4] = ["lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib64", "lib"];

/// Where Debian has headers, and packages for Fedora and its kin.
const HEADERS: [&str; 2] = ["include", "include/cuda"];

/// The toolkit among the system's own files; `None` where there is none.
pub fn find(disk: &dyn Disk) -> Option<Found> {
    let root = disk.system(SPREAD_ROOT);
    let wrapper = root.join("bin/nvcc");
    let inside = disk.system(INSIDE).join("bin/nvcc");
    let of_debian = disk.is_file(&inside);
    // An nvcc that is a link leads to a tree that is found by its own place.
    let in_place = disk
        .real(&wrapper)
        .is_some_and(|real| Some(real) == disk.real(&root.join("bin")).map(|b| b.join("nvcc")));
    if !of_debian && !in_place {
        return None;
    }
    let program = if of_debian { inside } else { wrapper.clone() };
    let files = Files {
        about: None,
        nvcc: program,
        lib: LIB.iter().map(|place| root.join(place)).collect(),
        headers: HEADERS.iter().map(|place| root.join(place).join("cuda.h")).collect(),
    };
    let tree = examine(&files, MACHINE, disk);
    let broken = broken_nvcc(&wrapper, disk);
    let headers = || HEADERS.iter().any(|place| has_headers(&root.join(place), disk));
    let broken = broken.or_else(|| (!headers()).then_some(Broken::NoHeaders));
    let origin = if of_debian { Origin::Debian } else { Origin::Usr };
    (tree != Tree::NotAToolkit).then(|| Found {
        root,
        aliases: Vec::new(),
        kind: Kind::System,
        origin,
        tree: Some(tree),
        broken,
    })
}
