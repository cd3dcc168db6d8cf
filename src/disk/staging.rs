//! Where a toolkit is put together: a directory of its own under a lock, gone after a failure, and swept of what dead
//! installs left.

use super::lock::Lock;
use super::{atomic, tree};
use crate::failure::Failure;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LOCK: &str = "lock";

/// An empty directory that becomes a toolkit, or vanishes.
#[derive(Debug)]
pub struct Staging {
    tree: PathBuf,
    _lock: Lock,
}

impl Staging {
    /// Takes the lock of `name` below the folder `staging`, removes what dead installs left there, and makes an empty
    /// directory. Waits for another install of the same name and says so through `say`.
    pub fn open(staging: &Path, name: &str, wait: Duration, say: &dyn Fn(&str)) -> Result<Self, Failure> {
        let lock =
            Lock::acquire(&staging.join(format!("{name}.{LOCK}")), &format!("toolkit {name}"), wait, say)?;
        let tree = staging.join(name);
        tree::remove(&tree)?;
        sweep(staging, &tree);
        fs::create_dir(&tree).map_err(|e| Failure::io("create", &tree, &e))?;
        Ok(Self { tree, _lock: lock })
    }

    /// The directory.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// Gives the finished tree its place.
    pub fn commit(self, target: &Path) -> Result<(), Failure> {
        atomic::rename_into_place(&self.tree, target)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next install.
        let _ = tree::remove(&self.tree);
    }
}

/// Removes every entry that no living process has locked. Whatever resists is left for the next time.
fn sweep(staging: &Path, ours: &Path) {
    let Ok(entries) = fs::read_dir(staging) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.extension() == Some(OsStr::new(LOCK)) {
            // Taking and dropping a lock removes the file of one that nobody holds.
            drop(Lock::try_acquire(&path));
        } else if path != ours {
            let mut lock = path.clone().into_os_string();
            lock.push(".");
            lock.push(LOCK);
            if let Some(_dead) = Lock::try_acquire(Path::new(&lock)) {
                let _ = tree::remove(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;
    use tempfile::TempDir;

    fn open(dir: &TempDir, name: &str) -> Result<Staging, Failure> {
        Staging::open(&dir.path().join("staging"), name, Duration::ZERO, &|_| {})
    }

    fn entries(dir: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(dir.path().join("staging")).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_finished_tree_moves_and_nothing_stays() {
        let dir = TempDir::new().unwrap();
        let staging = open(&dir, "13.0.2").unwrap();
        fs::write(staging.tree().join("version.json"), "{}").unwrap();
        staging.commit(&dir.path().join("13.0.2")).unwrap();
        assert!(dir.path().join("13.0.2/version.json").exists());
        assert_eq!(entries(&dir), [""; 0]);
    }

    #[test]
    fn a_failed_install_leaves_nothing() {
        let dir = TempDir::new().unwrap();
        let staging = open(&dir, "13.0.2").unwrap();
        fs::create_dir(staging.tree().join("bin")).unwrap();
        drop(staging);
        assert_eq!(entries(&dir), [""; 0]);
    }

    #[test]
    fn leftovers_of_the_dead_go_and_the_work_of_the_living_stays() {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("staging");
        for leftover in ["13.0.2/old", "12.4.1/old", "removed-11.8"] {
            fs::create_dir_all(root.join(leftover)).unwrap();
        }
        fs::write(root.join("12.4.1.lock"), "pid 1 on elsewhere").unwrap();
        fs::write(root.join("11.2.0.lock"), "pid 1 on elsewhere").unwrap();
        let living = open(&dir, "13.5.0").unwrap();
        fs::write(living.tree().join("half"), "").unwrap();
        assert_eq!(entries(&dir), ["13.5.0", "13.5.0.lock"]);
        fs::create_dir_all(root.join("12.4.1/old")).unwrap();
        let ours = open(&dir, "13.0.2").unwrap();
        assert_eq!(fs::read_dir(ours.tree()).unwrap().count(), 0);
        assert!(living.tree().join("half").exists());
        assert_eq!(entries(&dir), ["13.0.2", "13.0.2.lock", "13.5.0", "13.5.0.lock"]);
        assert_eq!(open(&dir, "13.5.0").unwrap_err().exit, Exit::Busy);
        assert!(living.tree().join("half").exists());
    }
}
