//! The tree that archives are unpacked into: its directories are made once, its files only where nothing is.

use super::guard::Kind;
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

    /// A new file, 0755 or 0644 whatever the umask is.
    pub fn file(&self, path: &str, kind: &Kind) -> Result<File, Failure> {
        let executable = matches!(kind, Kind::File { executable: true });
        let mode = if executable { 0o755 } else { 0o644 };
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.directory(folder)?;
        }
        let full = self.root.join(path);
        let opened = File::options().write(true).create_new(true).mode(mode).open(&full);
        let file = opened.map_err(|e| not_made(&full, &e))?;
        file.set_permissions(Permissions::from_mode(mode)).map_err(|e| not_made(&full, &e))?;
        Ok(file)
    }

    /// A link. Only after all files: then none of them can have been written through it.
    pub fn link(&self, path: &str, to: &str) -> Result<(), Failure> {
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.directory(folder)?;
        }
        let full = self.root.join(path);
        symlink(to, &full).map_err(|e| not_made(&full, &e))
    }

    /// Where a path of the tree is.
    pub fn full(&self, path: &str) -> PathBuf {
        self.root.join(path)
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
