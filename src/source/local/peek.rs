//! A look into an archive: where in it the toolkit begins, which release it is, and for which machine. It is read no
//! further than that takes.

use crate::failure::{Exit, Failure, plain_io};
use cudaup_core::disk::{Disk, Entry, Unread};
use cudaup_core::identity::{Tree, identify};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// nvcc of 13.0 has 30 MB.
const MOST: u64 = 256 << 20;

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Seen {
    /// The directories in front of the toolkit's `bin`, as they stand in the names; empty where there are none.
    pub top: String,
    /// What it is.
    pub tree: Tree,
}

/// Looks into the members of a tar stream. `None`: no `bin/nvcc` at the root or one directory below it, or below the two of
/// NVIDIA's installer.
pub fn look(stream: impl Read, path: &Path, machine: &str) -> Result<Option<Seen>, Failure> {
    let broken = |e: &io::Error| {
        let shown = path.display();
        Failure::new(Exit::BadBytes, format!("{shown} cannot be read as an archive: {}", plain_io(e)))
    };
    let mut archive = tar::Archive::new(stream);
    let mut seen = Members::default();
    for entry in archive.entries().map_err(|e| broken(&e))? {
        let mut entry = entry.map_err(|e| broken(&e))?;
        let name = entry.path_bytes();
        let Ok(name) = crate::archive::guard::name(&name) else { continue };
        if seen.wants(&name) {
            let mut bytes = Vec::new();
            if telling(&name) && entry.header().entry_type().is_file() {
                entry.by_ref().take(MOST).read_to_end(&mut bytes).map_err(|e| broken(&e))?;
            }
            seen.add(name, bytes);
            if let Some(found) = seen.certain(machine) {
                return Ok(Some(found));
            }
        }
    }
    Ok(seen.judged(machine))
}

/// The members that tell something, by their names.
#[derive(Debug, Default)]
struct Members {
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Known once nvcc was met.
    top: Option<String>,
}

/// Files that are read; of libraries the name tells enough.
fn telling(name: &str) -> bool {
    let end = name.rsplit('/').next().unwrap_or_default();
    matches!(end, "nvcc" | "version.json" | "version.txt" | "cuda.h")
}

impl Members {
    fn wants(&self, name: &str) -> bool {
        let library = name.contains("/libcudart.so.") || name.contains("/libcublas.so.");
        let deep = name.matches('/').count();
        (telling(name) && deep <= 5 && !name.contains("/share/")) || library
    }

    fn add(&mut self, name: String, bytes: Vec<u8>) {
        let top = name.strip_suffix("bin/nvcc").filter(|top| {
            let depth = top.matches('/').count();
            depth <= 1 && (top.is_empty() || top.ends_with('/')) || (depth == 2 && top.starts_with("builds/"))
        });
        if let Some(top) = top {
            self.top.get_or_insert_with(|| top.to_owned());
        }
        self.files.insert(Path::new("/").join(name), bytes);
    }

    fn judged(&self, machine: &str) -> Option<Seen> {
        let top = self.top.clone()?;
        let tree = identify(&Path::new("/").join(&top), machine, self);
        Some(Seen { top, tree })
    }

    /// The answer, where nothing that comes later can change it.
    fn certain(&self, machine: &str) -> Option<Seen> {
        self.judged(machine).filter(|seen| match &seen.tree {
            Tree::Toolkit(identity) => identity.version.is_exact(),
            Tree::OtherMachine(_) => true,
            _ => false,
        })
    }
}

impl Disk for Members {
    fn read(&self, path: &Path, _limit: usize) -> Result<Vec<u8>, Unread> {
        self.files.get(path).cloned().ok_or(Unread::Absent)
    }

    fn head(&self, path: &Path, length: usize) -> Option<Vec<u8>> {
        self.files.get(path).map(|bytes| bytes.iter().copied().take(length).collect())
    }

    fn names(&self, directory: &Path) -> Option<Vec<(OsString, Entry)>> {
        let inside = self.files.keys().filter(|path| path.parent() == Some(directory));
        Some(inside.filter_map(|path| Some((path.file_name()?.to_owned(), Entry::File))).collect())
    }

    fn kind(&self, path: &Path) -> Option<Entry> {
        self.files.contains_key(path).then_some(Entry::File)
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_path_buf())
    }

    fn target(&self, _link: &Path) -> Option<PathBuf> {
        None
    }

    fn system(&self, path: &str) -> PathBuf {
        path.into()
    }
}
