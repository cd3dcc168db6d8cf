//! Modes: what can be run can be run by everybody, and everything can be read by everybody, whatever the umask.
//!
//! Wheels let only the owner run the programs in them, and an archive's modes can be lost on the way.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::failure::Failure;

/// The directories whose files are programs.
const PROGRAMS: [&str; 3] = ["bin", "nvvm/bin", "compute-sanitizer"];

/// Settles the modes of a whole tree.
pub fn settle(tree: &Path) -> Result<(), Failure> {
    let programs = PROGRAMS.map(|directory| tree.join(directory));
    directory(tree, &programs)
}

fn directory(path: &Path, programs: &[std::path::PathBuf]) -> Result<(), Failure> {
    let failed = |error: &std::io::Error| Failure::io("list", path, error);
    let found = fs::symlink_metadata(path).map_err(|error| failed(&error))?;
    set(path, &found, found.mode() | 0o755)?;
    for entry in fs::read_dir(path).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        let found = entry.metadata().map_err(|error| failed(&error))?;
        if found.is_dir() {
            directory(&entry.path(), programs)?;
        } else if found.is_file() {
            let path = entry.path();
            let runs = found.mode() & 0o111 != 0
                || (programs.iter().any(|p| path.starts_with(p)) && is_program(&path));
            set(&path, &found, if runs { 0o755 } else { 0o644 })?;
        }
    }
    Ok(())
}

fn set(path: &Path, found: &Metadata, mode: u32) -> Result<(), Failure> {
    if found.mode() & 0o7777 == mode & 0o7777 {
        return Ok(());
    }
    let permissions = fs::Permissions::from_mode(mode & 0o7777);
    fs::set_permissions(path, permissions).map_err(|error| Failure::io("change the mode of", path, &error))
}

/// An ELF file or a script.
fn is_program(path: &Path) -> bool {
    let mut start = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read(&mut start));
    read.is_ok() && (start == *b"\x7fELF" || start.starts_with(b"#!"))
}
