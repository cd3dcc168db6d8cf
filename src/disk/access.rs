//! Whether this process may write somewhere, asked before anything is begun.

use rustix::fs::{Access as Mode, AtFlags, CWD, accessat};
use rustix::io::Errno;
use std::path::Path;

/// Whether a directory can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It can, as far as can be told.
    Allowed,
    /// It is not this user's to write.
    Denied,
    /// It is on a file system that nobody writes.
    ReadOnly,
}

/// Asks for a directory. One that is not there is for whoever needs it to make.
pub fn to(directory: &Path) -> Access {
    match accessat(CWD, directory, Mode::WRITE_OK | Mode::EXEC_OK, AtFlags::EACCESS) {
        Err(Errno::ACCESS | Errno::PERM) => Access::Denied,
        Err(Errno::ROFS) => Access::ReadOnly,
        Ok(()) | Err(_) => Access::Allowed,
    }
}
