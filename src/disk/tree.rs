//! Whole trees: removed without following a link, and measured.

use crate::failure::Failure;
use std::collections::HashSet;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// The names in a directory, sorted. One that is no text is left out.
pub fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

/// Removes a file, a link or a directory with all that is in it; nothing there is fine. Links are removed, never
/// followed; directories that nothing may be written into are made writable.
pub fn remove(path: &Path) -> Result<(), Failure> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => remove_directory(path),
        Ok(_) => fs::remove_file(path),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Failure::io("remove", path, &e)),
        _ => Ok(()),
    }
}

fn remove_directory(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(path)?;
            fs::remove_dir_all(path)
        }
        done => done,
    }
}

fn make_writable(folder: &Path) -> io::Result<()> {
    let mode = fs::symlink_metadata(folder)?.permissions().mode();
    if mode & 0o700 != 0o700 {
        fs::set_permissions(folder, Permissions::from_mode(mode & 0o7777 | 0o700))?;
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // The type of the entry itself: a link to a directory is none.
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

/// The bytes of all files below a path, each inode once.
pub fn size(path: &Path) -> Result<u64, Failure> {
    let mut seen = HashSet::new();
    count(path, &mut seen).map_err(|e| Failure::io("read", path, &e))
}

fn count(path: &Path, seen: &mut HashSet<(u64, u64)>) -> io::Result<u64> {
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() {
        return fs::read_dir(path)?.try_fold(0, |sum, entry| Ok(sum + count(&entry?.path(), seen)?));
    }
    let again = found.nlink() > 1 && !seen.insert((found.dev(), found.ino()));
    Ok(if found.is_file() && !again { found.len() } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    #[test]
    fn links_are_removed_and_not_followed() {
        let dir = TempDir::new().unwrap();
        let (tree, other) = (dir.path().join("tree"), dir.path().join("other"));
        fs::create_dir_all(tree.join("locked/deep")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("keep"), "x").unwrap();
        fs::write(tree.join("locked/deep/f"), "x").unwrap();
        symlink(&other, tree.join("locked/link")).unwrap();
        fs::set_permissions(&other, Permissions::from_mode(0o555)).unwrap();
        for folder in ["locked/deep", "locked"] {
            fs::set_permissions(tree.join(folder), Permissions::from_mode(0o555)).unwrap();
        }
        make_writable(&tree).unwrap();
        assert_eq!(fs::metadata(&other).unwrap().permissions().mode() & 0o777, 0o555);
        remove(&tree).unwrap();
        assert!(!tree.exists());
        assert!(other.join("keep").exists());
        symlink(&other, &tree).unwrap();
        remove(&tree).unwrap();
        assert!(fs::symlink_metadata(&tree).is_err() && other.join("keep").exists());
        fs::set_permissions(&other, Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn nothing_there_is_fine() {
        let dir = TempDir::new().unwrap();
        remove(&dir.path().join("none/at/all")).unwrap();
    }

    #[test]
    fn hard_links_count_once_and_links_not_at_all() {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("d")).unwrap();
        fs::write(dir.path().join("d/a"), [0; 1000]).unwrap();
        fs::hard_link(dir.path().join("d/a"), dir.path().join("b")).unwrap();
        fs::write(dir.path().join("c"), [0; 10]).unwrap();
        symlink("/usr", dir.path().join("l")).unwrap();
        assert_eq!(size(dir.path()).unwrap(), 1010);
        assert!(size(&dir.path().join("none")).is_err());
    }
}
