//! Add-ons: libraries that have versions of their own and are paired with a toolkit by its CUDA major.

use crate::disk::{Disk, Entry};
use crate::home::Home;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

/// One library that cudaup knows as an add-on.
#[derive(Debug, PartialEq, Eq)]
pub struct Library {
    /// Its name as a pin, a command line and a directory have it.
    pub name: &'static str,
    /// Its name as NVIDIA writes it.
    pub shown: &'static str,
    /// The header that programs include.
    pub header: &'static str,
    /// The variables by which builds are told where it is.
    pub variables: &'static [&'static str],
}

/// The add-ons. Of the many variables that builds look at only those are set that several well-known ones read: `_ROOT`
/// and `_HOME` as CMake and makefiles have them, and `CUDNN_PATH`, `CUTENSOR_PATH`, `CUSPARSELT_PATH` and `NVSHMEM_DIR` of
/// Python packages that are built from source.
pub const LIBRARIES: [Library; 5] = [
    Library {
        name: "cudnn",
        shown: "cuDNN",
        header: "cudnn.h",
        variables: &["CUDNN_HOME", "CUDNN_PATH", "CUDNN_ROOT"],
    },
    Library { name: "nccl", shown: "NCCL", header: "nccl.h", variables: &["NCCL_HOME", "NCCL_ROOT"] },
    Library {
        name: "cutensor",
        shown: "cuTENSOR",
        header: "cutensor.h",
        variables: &["CUTENSOR_ROOT", "CUTENSOR_PATH"],
    },
    Library {
        name: "cusparselt",
        shown: "cuSPARSELt",
        header: "cusparseLt.h",
        variables: &["CUSPARSELT_ROOT", "CUSPARSELT_PATH"],
    },
    Library {
        name: "nvshmem",
        shown: "NVSHMEM",
        header: "nvshmem.h",
        variables: &["NVSHMEM_HOME", "NVSHMEM_DIR"],
    },
];

/// The library of that name.
pub fn library(name: &str) -> Option<&'static Library> {
    LIBRARIES.iter().find(|l| l.name == name)
}

/// The variables of all libraries.
pub fn variables() -> impl Iterator<Item = &'static str> {
    LIBRARIES.iter().flat_map(|l| l.variables.iter().copied())
}

/// The version of a library, of any length: cuDNN has four numbers, NCCL three. A missing number is unknown, not zero.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(Vec<u32>);

impl Number {
    /// Reads one to five plain decimal numbers with dots between them.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let plain = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
            let padded = text.len() > 1 && text.starts_with('0');
            if plain && !padded { text.parse().ok() } else { None }
        };
        let numbers: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
        (numbers.len() <= 5).then_some(Self(numbers))
    }

    /// Whether a library of version `found` is one that this request means: the same numbers in front.
    pub fn accepts(&self, found: &Self) -> bool {
        found.0.starts_with(&self.0)
    }

    /// The number at a place.
    pub fn at(&self, index: usize) -> Option<u32> {
        self.0.get(index).copied()
    }

    /// The first numbers, as many as asked for.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        Self(self.0.iter().copied().take(count).collect())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, number) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{number}")?;
        }
        Ok(())
    }
}

/// An add-on that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addon {
    /// Which library it is.
    pub library: &'static Library,
    /// Its version.
    pub version: Number,
    /// The CUDA major that it is built for.
    pub cuda: u32,
    /// Its tree, with `include` and `lib`.
    pub root: PathBuf,
}

impl fmt::Display for Addon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} for CUDA {}", self.library.name, self.version, self.cuda)
    }
}

/// The name of an add-on's directory.
pub fn directory_name(version: &Number, cuda: u32) -> String {
    format!("{version}-cuda{cuda}")
}

/// What a directory's name says: the version and the CUDA major. Only the one spelling that cudaup writes.
pub fn read_directory_name(name: &str) -> Option<(Number, u32)> {
    let (version, cuda) = name.rsplit_once("-cuda")?;
    let (version, cuda) = (Number::parse(version)?, cuda.parse().ok()?);
    (directory_name(&version, cuda) == name).then_some((version, cuda))
}

/// The newest add-on that fits a request and a CUDA major: those of the home before those of the listed roots, since what
/// a user installs goes before what is shared. One look at the names in each place; a directory that exists is whole.
pub fn find(
    home: &Home,
    roots: &[PathBuf],
    library: &'static Library,
    wanted: Option<&Number>,
    cuda: u32,
    disk: &dyn Disk,
) -> Option<Addon> {
    let newest = |place: PathBuf| {
        in_place(&place, library, disk)
            .into_iter()
            .filter(|a| a.cuda == cuda && wanted.is_none_or(|w| w.accepts(&a.version)))
            .max_by(|a, b| a.version.cmp(&b.version))
    };
    places(home, roots, disk).into_iter().find_map(newest)
}

/// All add-ons of the home and of the listed roots, by library, the newest first.
pub fn all(home: &Home, roots: &[PathBuf], disk: &dyn Disk) -> Vec<Addon> {
    let places = places(home, roots, disk);
    let mut found = Vec::new();
    for library in &LIBRARIES {
        for place in &places {
            let mut there = in_place(place, library, disk);
            there.sort_by(|a, b| (&b.version, b.cuda).cmp(&(&a.version, a.cuda)));
            found.append(&mut there);
        }
    }
    found
}

fn places(home: &Home, roots: &[PathBuf], disk: &dyn Disk) -> Vec<PathBuf> {
    let shared = roots.iter().map(|r| disk.system(&r.to_string_lossy()).join("addons"));
    std::iter::once(home.addons()).chain(shared).collect()
}

fn in_place(place: &Path, library: &'static Library, disk: &dyn Disk) -> Vec<Addon> {
    let folder = place.join(library.name);
    let names = disk.names(&folder).unwrap_or_default();
    let directories = names.into_iter().filter(|(_, kind)| *kind == Entry::Directory);
    directories
        .filter_map(|(name, _)| {
            let (version, cuda) = read_directory_name(OsStr::to_str(&name)?)?;
            Some(Addon { library, version, cuda, root: folder.join(&name) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        let mut all = ["9.10.2.21", "9.8.0.87", "8.9.7.29", "9.8", "9.8.0"].map(n);
        all.sort();
        let text: Vec<String> = all.iter().map(Number::to_string).collect();
        assert_eq!(text, ["8.9.7.29", "9.8", "9.8.0", "9.8.0.87", "9.10.2.21"]);
        for text in ["", "9.", ".8", "9.08", "v9", "9.8-1", "1.2.3.4.5.6", "9999999999"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_request_accepts_what_it_leaves_open() {
        assert!(n("9").accepts(&n("9.8.0.87")) && n("9.8.0.87").accepts(&n("9.8.0.87")));
        assert!(
            !n("9.8").accepts(&n("9.80.0")) && !n("9.8.0").accepts(&n("9.8")) && !n("8").accepts(&n("9.8"))
        );
    }

    #[test]
    fn names_of_directories_have_one_spelling() {
        assert_eq!(read_directory_name("9.8.0.87-cuda12"), Some((n("9.8.0.87"), 12)));
        for name in ["9.8.0", "9.8.0-cuda", "9.8.0-cuda012", "9.8.0-cuda12.4", "-cuda12", "9.8.0-cuda12.lock"]
        {
            assert_eq!(read_directory_name(name), None, "{name}");
        }
    }
}
