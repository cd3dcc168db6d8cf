//! How much room there is.

use crate::failure::{Failure, plain_io};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The nearest directory that exists.
fn existing(path: &Path) -> &Path {
    path.ancestors().find(|p| p.exists()).unwrap_or(Path::new("/"))
}

/// The file system where `path` is, or will be once it is created: two paths with the same number share their room.
pub fn device(path: &Path) -> Result<u64, Failure> {
    let there = existing(path);
    std::fs::metadata(there).map(|found| found.dev()).map_err(|e| Failure::io("read", there, &e))
}

/// The room of a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// What this user can still write.
    pub free: u64,
    /// All that it holds.
    pub size: u64,
    /// Whether nobody writes there.
    pub read_only: bool,
}

/// Bytes that this user can still write where `path` is, or will be once it is created.
pub fn free(path: &Path) -> Result<u64, Failure> {
    room(path).map(|room| room.free)
}

/// The room where `path` is, or will be once it is created.
pub fn room(path: &Path) -> Result<Room, Failure> {
    let there = existing(path);
    let found = rustix::fs::statvfs(there).map_err(|e| {
        Failure::failed(format!(
            "could not ask for the free space of {}: {}",
            there.display(),
            plain_io(&e.into())
        ))
    })?;
    Ok(Room {
        free: found.f_bavail.saturating_mul(found.f_frsize),
        size: found.f_blocks.saturating_mul(found.f_frsize),
        read_only: found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
    })
}

#[cfg(test)]
mod tests {
    use super::{free, room};
    use std::path::Path;

    #[test]
    fn the_nearest_directory_that_exists_is_asked() {
        let dir = tempfile::TempDir::new().unwrap();
        assert!(free(&dir.path().join("a/b/c")).unwrap() > 0);
        assert!(free(Path::new("/proc/none")).is_ok());
        let room = room(dir.path()).unwrap();
        assert!(room.size >= room.free && !room.read_only, "{room:?}");
    }
}
