//! The tree that archives are unpacked into: its directories are made once, its files only where nothing is.

use crate::failure::{Exit, Failure};
use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A tree that only this process fills.
#[derive(Debug)]
pub struct Target {
    root: PathBuf,
    made: Mutex<HashSet<String>>,
}

impl Target {
    /// A tree at a directory that exists.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), made: Mutex::default() }
    }

    /// Makes a directory and those above it, 0755 whatever the umask is.
    pub fn directory(&self, path: &str) -> Result<(), Failure> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if path.is_empty() || made.contains(path) {
            return Ok(());
        }
        let above = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        for step in above.chain([path]) {
            if !made.contains(step) {
                self.make(step)?;
                made.insert(step.to_owned());
            }
        }
        Ok(())
    }

    fn make(&self, path: &str) -> Result<(), Failure> {
        let full = self.root.join(path);
        match fs::create_dir(&full) {
            Ok(()) => {
                fs::set_permissions(&full, Permissions::from_mode(0o755)).map_err(|e| not_made(&full, &e))
            }
            // Not followed: a link that stands in a directory's place is never written through.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                let is_directory = fs::symlink_metadata(&full).is_ok_and(|found| found.is_dir());
                if is_directory { Ok(()) } else { Err(not_made(&full, &e)) }
            }
            Err(e) => Err(not_made(&full, &e)),
        }
    }

    /// Makes the directory that a path stands in, and returns the path in full.
    pub fn prepare(&self, path: &str) -> Result<PathBuf, Failure> {
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.directory(folder)?;
        }
        Ok(self.root.join(path))
    }

    /// A link. Only after all files: then none of them can have been written through it.
    pub fn link(&self, path: &str, to: &str) -> Result<(), Failure> {
        let full = self.prepare(path)?;
        symlink(to, &full).map_err(|e| not_made(&full, &e))
    }

    /// Where the tree is.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// A new file, 0755 or 0644 whatever the umask is.
pub fn create(full: &Path, executable: bool) -> Result<File, Failure> {
    let mode = if executable { 0o755 } else { 0o644 };
    let opened = File::options().write(true).create_new(true).mode(mode).open(full);
    let file = opened.map_err(|e| not_made(full, &e))?;
    file.set_permissions(Permissions::from_mode(mode)).map_err(|e| not_made(full, &e))?;
    Ok(file)
}

/// Another name for a file that is there, or a copy where the file system has no second names.
pub fn second(first: &Path, full: &Path) -> Result<(), Failure> {
    match fs::hard_link(first, full) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(not_made(full, &e)),
        Err(_) => {
            let failed = |e: &io::Error| not_made(full, e);
            let mut from = File::open(first).map_err(|e| failed(&e))?;
            let runs = from.metadata().map_err(|e| failed(&e))?.permissions().mode() & 0o111 != 0;
            io::copy(&mut from, &mut create(full, runs)?).map(drop).map_err(|e| failed(&e))
        }
    }
}

/// A name that fits by itself can be too long below the tree: then it is the archive's fault.
fn not_made(full: &Path, error: &io::Error) -> Failure {
    let failure = Failure::io("create", full, error);
    match error.kind() {
        io::ErrorKind::InvalidFilename => Failure { exit: Exit::BadBytes, ..failure },
        _ => failure,
    }
}
