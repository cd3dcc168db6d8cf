//! Where a toolkit is put together: a directory of its own under a lock, gone after a failure, and swept of what dead
//! installs left.

use super::lock::Lock;
use super::{atomic, tree};
use crate::failure::Failure;
use cudaup_core::addon;
use cudaup_core::version::Version;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Before the version, in the name of a directory that becomes a toolkit. The folder may be a link to a disk that holds
/// other things, a directory `13.0.2` among them: only names that nobody else gives are taken for cudaup's own.
const MARK: &str = "installing-";

/// Before the version and the process, in the name of a toolkit that is being uninstalled.
const GRAVE: &str = "removed-";

const LOCK: &str = ".lock";

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
        let lock = lock_for(staging, name);
        let what = if is_exact(name) { format!("toolkit {name}") } else { name.to_owned() };
        let lock = Lock::acquire(&lock, &what, wait, say)?;
        let tree = staging.join(format!("{MARK}{name}"));
        tree::remove(&tree)?;
        sweep(staging, &tree);
        fs::create_dir(&tree).map_err(|e| Failure::io("create", &tree, &e))?;
        // It becomes the toolkit's own directory, which is like those below it under any umask.
        fs::set_permissions(&tree, Permissions::from_mode(0o755))
            .map_err(|e| Failure::io("change the mode of", &tree, &e))?;
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

    /// Gives the finished tree the place of another one, which is removed.
    pub fn replace(self, target: &Path) -> Result<(), Failure> {
        atomic::exchange(&self.tree, target)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What cannot be removed now is swept by the next install.
        let _ = tree::remove(&self.tree);
    }
}

/// What an entry of the folder is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leftover {
    /// The lock of an install.
    Lock,
    /// A toolkit being put together; its lock says whether by a living process.
    Tree,
    /// A toolkit that was uninstalled.
    Grave,
}

fn leftover(name: &str) -> Option<Leftover> {
    if let Some(version) = name.strip_prefix(MARK) {
        let (version, what) = match version.strip_suffix(LOCK) {
            Some(version) => (version, Leftover::Lock),
            None => (version, Leftover::Tree),
        };
        return is_ours(version).then_some(what);
    }
    let (version, process) = name.strip_prefix(GRAVE)?.rsplit_once('-')?;
    let number = !process.is_empty() && process.bytes().all(|b| b.is_ascii_digit());
    (number && is_ours(version)).then_some(Leftover::Grave)
}

/// Whether a name is a toolkit's, `13.0.2`, or an add-on's, `cudnn-9.8.0.87-cuda12`.
fn is_ours(name: &str) -> bool {
    let is_addon = |(library, directory)| {
        addon::library(library).is_some() && addon::read_directory_name(directory).is_some()
    };
    is_exact(name) || name.split_once('-').is_some_and(is_addon)
}

/// The lock that whoever installs or removes `name` holds.
pub fn lock_for(staging: &Path, name: &str) -> PathBuf {
    staging.join(format!("{MARK}{name}{LOCK}"))
}

/// Whether a name in the folder is the lock of an install.
pub fn is_lock(name: &str) -> bool {
    leftover(name) == Some(Leftover::Lock)
}

/// Whether a name in the folder is a toolkit being put together, or one that was uninstalled.
pub fn is_leftover(name: &str) -> bool {
    matches!(leftover(name), Some(Leftover::Tree | Leftover::Grave))
}

/// The name of the lock that whoever puts a toolkit together in this directory of the folder holds.
pub fn lock_of(name: &str) -> Option<String> {
    (leftover(name)? == Leftover::Tree).then(|| format!("{name}{LOCK}"))
}

fn is_exact(version: &str) -> bool {
    version.matches('.').count() == 2 && Version::parse(version).is_some_and(|v| v.to_string() == version)
}

/// Removes what dead processes left of cudaup's own making, and nothing else. Whatever resists is left for the next time.
fn sweep(staging: &Path, ours: &Path) {
    let Ok(entries) = fs::read_dir(staging) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        match leftover(name) {
            // Taking and dropping a lock removes the file of one that nobody holds.
            Some(Leftover::Lock) => drop(Lock::try_acquire(&path)),
            Some(Leftover::Tree) if path != ours => {
                if let Some(_dead) = Lock::try_acquire(&staging.join(format!("{name}{LOCK}"))) {
                    let _ = tree::remove(&path);
                }
            }
            Some(Leftover::Grave) => drop(tree::remove(&path)),
            Some(Leftover::Tree) | None => {}
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
        for leftover in [
            "installing-13.0.2/old",
            "installing-12.4.1/old",
            "removed-11.8.0-4711/old",
            "installing-cudnn-9.8.0.87-cuda12/old",
            "removed-nccl-2.21.5-cuda11-4711/old",
        ] {
            fs::create_dir_all(root.join(leftover)).unwrap();
        }
        fs::write(root.join("installing-12.4.1.lock"), "pid 1 on elsewhere").unwrap();
        fs::write(root.join("installing-11.2.0.lock"), "pid 1 on elsewhere").unwrap();
        fs::write(root.join("installing-nccl-2.21.5-cuda11.lock"), "pid 1 on elsewhere").unwrap();
        let living = open(&dir, "13.5.0").unwrap();
        fs::write(living.tree().join("half"), "").unwrap();
        assert_eq!(entries(&dir), ["installing-13.5.0", "installing-13.5.0.lock"]);
        fs::create_dir_all(root.join("installing-12.4.1/old")).unwrap();
        let ours = open(&dir, "13.0.2").unwrap();
        assert_eq!(fs::read_dir(ours.tree()).unwrap().count(), 0);
        assert!(living.tree().join("half").exists());
        let both =
            ["installing-13.0.2", "installing-13.0.2.lock", "installing-13.5.0", "installing-13.5.0.lock"];
        assert_eq!(entries(&dir), both);
        assert_eq!(open(&dir, "13.5.0").unwrap_err().exit, Exit::Busy);
        assert!(living.tree().join("half").exists());
    }
    #[test]
    fn what_cudaup_did_not_make_stays() {
        let dir = TempDir::new().unwrap();
        let root = dir.path().join("staging");
        let foreign = [
            "11.8.0",
            "13.0.2",
            "installing-13.0",
            "installing-13.0.2-mine",
            "installing-latest",
            "installing-cudnn-9.8.0",
            "installing-cudnn-9.8-cuda12.4",
            "installing-mine-9.8-cuda12",
            "photos",
            "removed-11.8-12",
            "removed-11.8.0",
            "removed-11.8.0-old",
        ];
        for name in foreign {
            fs::create_dir_all(root.join(name)).unwrap();
            fs::write(root.join(name).join("thesis"), "x").unwrap();
        }
        for name in ["apt.lock", "13.0.2.lock", "installing-x.lock"] {
            fs::write(root.join(name), "mine").unwrap();
        }
        drop(open(&dir, "13.0.2").unwrap());
        for name in foreign {
            assert!(root.join(name).join("thesis").exists(), "{name}");
        }
        for name in ["apt.lock", "13.0.2.lock", "installing-x.lock"] {
            assert_eq!(fs::read(root.join(name)).unwrap(), b"mine", "{name}");
        }
    }
}
