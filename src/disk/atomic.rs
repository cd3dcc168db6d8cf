//! Changes that are there whole or not at all: a file by rename, a tree by rename.

use super::tree;
use crate::failure::{Failure, SAME, plain_io};
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How the name of a file on its way begins.
pub const PREFIX: &str = ".cudaup-";

/// How the name of a tree ends that has given up its place for another.
pub const FORMER: &str = ".old";

/// How many letters and digits follow.
const RANDOM: usize = 6;

/// Replaces the contents of a file. A link stays and its target is written; a mode that was there is kept.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let target = real_file(path).map_err(|e| Failure::io("write", path, &e))?;
    let mode = fs::metadata(&target).ok().map(|found| found.permissions());
    replace(&target, bytes, mode).map_err(|e| Failure::io("write", path, &e))
}

/// The same for a file that everybody may read, whatever the umask, from its first moment on.
pub fn write_for_all(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace(path, bytes, Some(Permissions::from_mode(0o644))).map_err(|e| Failure::io("write", path, &e))
}

fn replace(target: &Path, bytes: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    if target.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new()
        .prefix(PREFIX)
        .rand_bytes(RANDOM)
        // The umask takes from this what the user wants to be taken.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    // Without this a power cut after the rename can leave an empty file on some file systems.
    file.as_file().sync_data()?;
    file.persist(target).map_err(|e| e.error)?;
    Ok(())
}

/// The file that a path means: links are followed to their end, also where that end does not exist yet.
fn real_file(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// How long a file on its way may lie before its writer counts as dead: writing one takes no time.
const DEAD: Duration = Duration::from_secs(3600);

/// Removes what writers that were killed left in a folder.
pub fn sweep(folder: &Path) {
    sweep_older(folder, DEAD);
}

/// The same at once, where whoever writes there holds a lock that the caller has.
pub fn sweep_locked(folder: &Path) {
    sweep_older(folder, Duration::ZERO);
}

fn sweep_older(folder: &Path, than: Duration) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // Other names that begin so are those of files that stay.
        let random = |end: &str| end.len() == RANDOM && end.bytes().all(|b| b.is_ascii_alphanumeric());
        let ours = entry.file_name().to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(random);
        let old = |found: fs::Metadata| {
            found.is_file()
                && found.modified().ok().and_then(|m| m.elapsed().ok()).is_some_and(|age| age >= than)
        };
        if ours && entry.metadata().is_ok_and(old) {
            // What cannot be removed is left for the next time.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Gives a finished tree its place. Where another file system lies between, it is copied beside the place first.
pub fn rename_into_place(staged: &Path, target: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(target).is_ok() {
        return Err(Failure::failed(format!("{} is there already", target.display())).hint(SAME));
    }
    match fs::rename(staged, target) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::CrossesDevices => move_by_copy(staged, target),
        Err(e) => Err(Failure::io("create", target, &e)),
    }
}

/// Puts a finished tree in the place of another, in one step where the file system can do that. The other is where the
/// finished one was then.
pub fn exchange(staged: &Path, target: &Path) -> Result<(), Failure> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    if renameat_with(CWD, staged, CWD, target, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    if fs::symlink_metadata(target).is_err() {
        return rename_into_place(staged, target);
    }
    // Not everywhere, and never between two file systems: for a moment the place is empty then.
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let aside = target.with_file_name(format!("{PREFIX}{name}{FORMER}"));
    tree::remove(&aside)?;
    fs::rename(target, &aside).map_err(|e| Failure::io("rename", target, &e))?;
    let moved = rename_into_place(staged, target);
    if moved.is_err() {
        fs::rename(&aside, target).map_err(|e| Failure::io("put back", target, &e))?;
        return moved;
    }
    tree::remove(&aside)
}

fn move_by_copy(staged: &Path, target: &Path) -> Result<(), Failure> {
    let folder = target.parent().unwrap_or(Path::new("/"));
    // Whoever moves to a target holds its lock, so that what is there by this name is of a dead process.
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let copy = folder.join(format!("{PREFIX}{name}"));
    tree::remove(&copy)?;
    let moved = copy_tree(staged, &copy)
        .and_then(|()| fs::rename(&copy, target).map_err(|e| Failure::io("create", target, &e)));
    if moved.is_err() {
        tree::remove(&copy)?;
    }
    moved.and_then(|()| tree::remove(staged))
}

/// Copies a tree entry by entry: links as links, modes kept, anything that is no file, directory or link refused.
fn copy_tree(from: &Path, to: &Path) -> Result<(), Failure> {
    let read = |e: &io::Error| Failure::io("read", from, e);
    let found = fs::symlink_metadata(from).map_err(|e| read(&e))?;
    if found.is_symlink() {
        let link = fs::read_link(from).map_err(|e| read(&e))?;
        return symlink(link, to).map_err(|e| Failure::io("create", to, &e));
    }
    if found.is_file() {
        let options = fs_extra::file::CopyOptions::new().buffer_size(1 << 20);
        return fs_extra::file::copy(from, to, &options).map(drop).map_err(|e| {
            // The crate keeps the system's words inside and does not say them.
            let failed = |why: &str| {
                Failure::failed(format!("could not copy {} to {}: {why}", from.display(), to.display()))
            };
            match &e.kind {
                fs_extra::error::ErrorKind::Io(why) => failed(&plain_io(why)).out_of_room(why),
                _ => failed(&e.to_string()),
            }
        });
    }
    if !found.is_dir() {
        return Err(Failure::failed(format!("{} is no file, directory or link", from.display())));
    }
    fs::create_dir(to).map_err(|e| Failure::io("create", to, &e))?;
    for entry in fs::read_dir(from).map_err(|e| read(&e))? {
        let name = entry.map_err(|e| read(&e))?.file_name();
        copy_tree(&from.join(&name), &to.join(&name))?;
    }
    // Last, since a directory may be one that nothing can be written into.
    fs::set_permissions(to, found.permissions()).map_err(|e| Failure::io("create", to, &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn what_the_dead_left_goes_and_what_is_on_its_way_stays() {
        let folder = TempDir::new().unwrap();
        let old = std::time::SystemTime::now() - 2 * DEAD;
        let all = [
            (".cudaup-AbC123", true),
            (".cudaup-fresh1", false),
            (".cudaup-global.json", true),
            ("default", true),
        ];
        for (name, age) in all {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            if age {
                file.set_modified(old).unwrap();
            }
        }
        sweep(folder.path());
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".cudaup-fresh1", ".cudaup-global.json", "default"]);
        sweep_locked(folder.path());
        assert!(!folder.path().join(".cudaup-fresh1").exists());
        assert!(folder.path().join(".cudaup-global.json").exists());
    }

    #[test]
    fn a_file_is_replaced_and_its_mode_kept() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("default");
        write(&file, b"12.4\n").unwrap();
        assert_eq!(mode(&file) & 0o600, 0o600);
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        write(&file, b"13.0\n").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"13.0\n");
        assert_eq!(mode(&file), 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_a_link() {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("dotfiles")).unwrap();
        let (real, link) = (dir.path().join("dotfiles/bashrc"), dir.path().join(".bashrc"));
        fs::write(&real, "old").unwrap();
        symlink("dotfiles/bashrc", &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
        let dangling = dir.path().join(".zshrc");
        symlink("dotfiles/zshrc", &dangling).unwrap();
        write(&dangling, b"z").unwrap();
        assert_eq!(fs::read(dir.path().join("dotfiles/zshrc")).unwrap(), b"z");
        symlink("loop", dir.path().join("loop")).unwrap();
        assert!(write(&dir.path().join("loop"), b"x").is_err());
    }

    #[test]
    fn what_cannot_be_written_is_named_and_leaves_nothing() {
        let dir = TempDir::new().unwrap();
        let failure = write(&dir.path().join("none/default"), b"x").unwrap_err();
        assert!(failure.message.contains("none/default: no such file or directory"), "{failure}");
        fs::create_dir(dir.path().join("d")).unwrap();
        assert!(write(&dir.path().join("d"), b"x").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    fn sample(root: &Path) {
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::write(root.join("bin/nvcc"), "#!").unwrap();
        fs::set_permissions(root.join("bin/nvcc"), Permissions::from_mode(0o755)).unwrap();
        symlink("bin", root.join("link")).unwrap();
        symlink("/nowhere", root.join("dangling")).unwrap();
        fs::set_permissions(root.join("bin"), Permissions::from_mode(0o555)).unwrap();
    }

    #[test]
    fn a_tree_takes_its_place_once() {
        let dir = TempDir::new().unwrap();
        let (staged, target) = (dir.path().join("staged"), dir.path().join("13.0.2"));
        sample(&staged);
        rename_into_place(&staged, &target).unwrap();
        assert!(target.join("bin/nvcc").is_file() && !staged.exists());
        fs::create_dir(&staged).unwrap();
        let failure = rename_into_place(&staged, &target).unwrap_err();
        assert!(failure.message.ends_with("13.0.2 is there already"), "{failure}");
        tree::remove(&target).unwrap();
    }

    #[test]
    fn a_copy_across_file_systems_is_the_same_tree() {
        let dir = TempDir::new().unwrap();
        let (staged, target) = (dir.path().join("staged"), dir.path().join("13.0.2"));
        sample(&staged);
        move_by_copy(&staged, &target).unwrap();
        assert_eq!(mode(&target.join("bin/nvcc")), 0o755);
        assert_eq!(mode(&target.join("bin")), 0o555);
        assert_eq!(fs::read_link(target.join("link")).unwrap(), Path::new("bin"));
        assert_eq!(fs::read_link(target.join("dangling")).unwrap(), Path::new("/nowhere"));
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            1,
            "the staged tree or a leftover is still there"
        );
        tree::remove(&target).unwrap();
    }

    #[test]
    fn another_file_system_is_noticed() {
        let Ok(other) = TempDir::new_in("/dev/shm") else {
            eprintln!("skipped: no second file system at /dev/shm");
            return;
        };
        let dir = TempDir::new().unwrap();
        let (staged, target) = (other.path().join("staged"), dir.path().join("13.0.2"));
        sample(&staged);
        rename_into_place(&staged, &target).unwrap();
        assert!(target.join("bin/nvcc").is_file() && !staged.exists());
        tree::remove(&target).unwrap();
    }
}
