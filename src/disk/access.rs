//! Whether this process may write somewhere, asked before anything is begun.

use crate::failure::Failure;
use crate::host::Host;
use rustix::fs::{Access as Mode, AtFlags, CWD, accessat};
use rustix::io::Errno;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
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

/// Refuses a directory of the machine that a link of a mounted image leads out of it: an absolute one would lead to this
/// machine's own.
pub fn inside(host: &Host, directory: &str) -> Result<(), Failure> {
    let folder = host.system(directory);
    let Some(root) = &host.sysroot else { return Ok(()) };
    let Ok(real) = fs::canonicalize(&folder) else { return Ok(()) };
    if fs::canonicalize(root).is_ok_and(|root| real.starts_with(root)) {
        return Ok(());
    }
    let place = shell_words::quote(&folder.to_string_lossy()).into_owned();
    Err(Failure::failed(format!("{} leads out of CUDAUP_SYSROOT and is left alone", folder.display()))
        .hint(format!("ls -ld {place}   (a relative link stays in there)")))
}

/// Makes a directory of the machine, which all may enter, under any umask.
pub fn make(directory: &Path) -> Result<(), Failure> {
    if directory.is_dir() {
        return Ok(());
    }
    let failed = |e: &std::io::Error| Failure::io("create", directory, e);
    if let Some(above) = directory.parent() {
        make(above)?;
    }
    match fs::create_dir(directory) {
        Ok(()) => fs::set_permissions(directory, Permissions::from_mode(0o755)).map_err(|e| failed(&e)),
        // By another process meanwhile.
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        Err(e) => Err(failed(&e)),
    }
}

/// Whether a directory, or a file in it that is there, is closed to this process, so that nothing can be told of it.
pub fn hidden(path: &Path) -> bool {
    let mode = if path.is_dir() { Mode::READ_OK | Mode::EXEC_OK } else { Mode::READ_OK };
    matches!(accessat(CWD, path, mode, AtFlags::EACCESS), Err(Errno::ACCESS | Errno::PERM))
}
