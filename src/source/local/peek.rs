//! A look into an archive: where in it the toolkit begins, which release it is, and for which machine. It is read no
//! further than that takes.

use crate::archive::Error;
use crate::archive::guard::{Refusal, printable};
use crate::archive::stream::Stream;
use crate::archive::tar::{Member, Tar};
use crate::failure::{Exit, Failure, plain_io};
use cudaup_core::disk::{Disk, Entry, Unread};
use cudaup_core::identity::{Tree, identify};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The most that is kept of all that tells something, with the names. nvcc of 13.0 has 30 MB.
const MOST: u64 = 64 << 20;

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
pub fn look(stream: Stream, path: &Path, machine: &str) -> Result<Option<Seen>, Failure> {
    let shown = path.display().to_string();
    let mut seen = Members::default();
    let found = Tar::new(stream, &shown, None, &|_| None).walk(|member| {
        if !seen.wants(&member.name) {
            return Ok(ControlFlow::Continue(()));
        }
        seen.keep(member, &shown)?;
        Ok(seen.certain(machine).map_or(ControlFlow::Continue(()), ControlFlow::Break))
    });
    match found {
        Ok(Some(found)) => Ok(Some(found)),
        Ok(None) => Ok(seen.judged(machine)),
        Err(Error::Archive { why, .. }) => {
            Err(Failure::new(Exit::BadBytes, format!("{shown} cannot be read as an archive: {why}")))
        }
        Err(other) => Err(other.into_failure()),
    }
}

/// The members that tell something, by their names.
#[derive(Debug, Default)]
struct Members {
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Known once nvcc was met.
    top: Option<String>,
    /// The bytes of all that is kept.
    kept: u64,
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

    /// Keeps a member, and its bytes where they are read.
    fn keep(&mut self, member: Member<'_>, archive: &str) -> Result<(), Error> {
        let Member { name, is_file, size, bytes } = member;
        let read = if telling(&name) && is_file { size } else { 0 };
        self.kept = self.kept.saturating_add(read).saturating_add(name.len() as u64);
        if self.kept > MOST {
            let (archive, entry) = (archive.to_owned(), printable(name.as_bytes()));
            return Err(Error::Entry { archive, entry, why: Refusal::TooLarge(size) });
        }
        let mut contents = Vec::new();
        if read > 0 {
            let why = |e| format!("its entry {name}: {}", plain_io(&e));
            bytes
                .read_to_end(&mut contents)
                .map_err(|e| Error::Archive { archive: archive.to_owned(), why: why(e) })?;
        }
        self.add(name, contents);
        Ok(())
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
