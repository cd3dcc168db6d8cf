//! Where a toolkit is put together: a directory of its own under a lock, gone after a failure, and swept of what dead
//! installs left.

use super::lock::Lock;
use super::{atomic, tree};
use crate::failure::Failure;
use cudaup_core::addon;
use cudaup_core::home::Home;
use cudaup_core::version::Version;
use std::fs::{self, Permissions};
use std::io;
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
        sweep(staging);
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

fn is_exact(version: &str) -> bool {
    version.matches('.').count() == 2 && Version::parse(version).is_some_and(|v| v.to_string() == version)
}

/// A tree that nobody needs, unless whoever holds its lock is still at it.
#[derive(Debug)]
pub struct Left {
    /// Where it lies.
    pub path: PathBuf,
    /// The lock of whoever works on it; `None` where nobody can.
    pub lock: Option<PathBuf>,
}

impl Left {
    /// Removes it where nobody holds it. Whatever resists is left for the next time.
    fn sweep(&self) {
        let held = self.lock.as_ref().map(|lock| Lock::try_acquire(lock));
        if !matches!(held, Some(None)) {
            let _ = tree::remove(&self.path);
        }
    }
}

/// What lies in a staging folder of trees that were put together, or uninstalled.
fn left(staging: &Path) -> io::Result<Vec<Left>> {
    let of = |name: String| {
        let lock = match leftover(&name)? {
            Leftover::Tree => Some(staging.join(format!("{name}{LOCK}"))),
            Leftover::Grave => None,
            Leftover::Lock => return None,
        };
        Some(Left { path: staging.join(name), lock })
    };
    Ok(names(staging)?.into_iter().filter_map(of).collect())
}

/// The same for a home: where its trees are on another disk than its staging folder, they are copied and removed beside
/// their places, too.
pub fn left_in(home: &Home) -> io::Result<Vec<Left>> {
    let staging = home.staging();
    let mut all = left(&staging)?;
    for (folder, library) in folders(home)? {
        for name in names(&folder)? {
            match beside(&name, library.as_deref()) {
                Some((Beside::Grave, _)) => all.push(Left { path: folder.join(&name), lock: None }),
                // Without the one that was to take its place it is the toolkit itself.
                Some((Beside::Former(place), _)) if !folder.join(&place).exists() => {}
                Some((_, lock)) => {
                    let lock = Some(lock_for(&staging, &lock));
                    all.push(Left { path: folder.join(&name), lock });
                }
                None => {}
            }
        }
    }
    Ok(all)
}

/// Removes what dead processes left of cudaup's own making in a staging folder, and nothing else.
pub fn sweep(staging: &Path) {
    for name in names(staging).unwrap_or_default().iter().filter(|name| is_lock(name)) {
        // Taking and dropping a lock removes the file of one that nobody holds.
        drop(Lock::try_acquire(&staging.join(name)));
    }
    left(staging).unwrap_or_default().iter().for_each(Left::sweep);
}

/// The same in a home, and beside the places of its trees. What gave up its place for one that never came gets it back.
pub fn sweep_home(home: &Home) {
    sweep(&home.staging());
    for (folder, library) in folders(home).unwrap_or_default() {
        for name in names(&folder).unwrap_or_default() {
            if let Some((Beside::Former(place), lock)) = beside(&name, library.as_deref())
                && let Some(_dead) = Lock::try_acquire(&lock_for(&home.staging(), &lock))
                && !folder.join(&place).exists()
            {
                let _ = fs::rename(folder.join(&name), folder.join(&place));
            }
        }
    }
    left_in(home).unwrap_or_default().iter().for_each(Left::sweep);
}

/// What lies beside the place of a tree, by its name.
enum Beside {
    /// A copy on its way.
    Copy,
    /// What has given up this place.
    Former(String),
    /// What was uninstalled.
    Grave,
}

/// With the name that its lock goes by.
fn beside(name: &str, library: Option<&str>) -> Option<(Beside, String)> {
    let locked = |place: &str| {
        let lock = library.map_or_else(|| place.to_owned(), |library| format!("{library}-{place}"));
        is_ours(&lock).then_some(lock)
    };
    if let Some(grave) = name.strip_prefix('.').filter(|name| leftover(name) == Some(Leftover::Grave)) {
        return Some((Beside::Grave, grave.to_owned()));
    }
    let place = name.strip_prefix(atomic::PREFIX)?;
    match place.strip_suffix(atomic::FORMER) {
        Some(place) => locked(place).map(|lock| (Beside::Former(place.to_owned()), lock)),
        None => locked(place).map(|lock| (Beside::Copy, lock)),
    }
}

/// The folders of a home that trees have their places in, those of add-ons with the library's name.
fn folders(home: &Home) -> io::Result<Vec<(PathBuf, Option<String>)>> {
    let libraries = names(&home.addons())?.into_iter().filter(|name| addon::library(name).is_some());
    let addons = libraries.map(|name| (home.addons().join(&name), Some(name)));
    Ok([(home.toolkits(), None)].into_iter().chain(addons).collect())
}

/// The names in a folder, none where there is none.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    match tree::names(folder) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        names => names,
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
    fn what_lies_beside_the_places_of_trees_is_swept_too() {
        let dir = TempDir::new().unwrap();
        let home = Home::new(dir.path());
        let make = |name: &str| fs::create_dir_all(dir.path().join(name).join("old")).unwrap();
        let gone = [
            "toolkits/.removed-11.8.0-4711",
            "toolkits/.cudaup-12.4.1",
            "toolkits/.cudaup-13.0.2.old",
            "addons/cudnn/.removed-cudnn-9.8.0.87-cuda12-4711",
            "addons/cudnn/.cudaup-9.8.0.87-cuda12",
            "staging/removed-12.1.0-4711",
        ];
        let stay = [
            "toolkits/13.0.2",
            "toolkits/.cudaup-12.6.3",
            "toolkits/.removed-mine-1",
            "toolkits/.cudaup-photos",
            "addons/cudnn/.cudaup-12.4.1",
            "addons/photos/.cudaup-12.4.1",
        ];
        let living = open(&dir, "12.6.3").unwrap();
        gone.iter().chain(&stay).for_each(|name| make(name));
        make("toolkits/.cudaup-12.5.0.old");
        let left = left_in(&home).unwrap();
        let free =
            |left: &&Left| !left.path.ends_with(".cudaup-12.6.3") && !left.path.starts_with(living.tree());
        assert_eq!(left.iter().filter(free).count(), gone.len(), "{left:?}");
        sweep_home(&home);
        for name in gone {
            assert!(!dir.path().join(name).exists(), "{name}");
        }
        for name in stay.iter().chain(&["toolkits/12.5.0"]) {
            assert!(dir.path().join(name).join("old").exists(), "{name}");
        }
        drop(living);
        sweep_home(&home);
        assert!(!dir.path().join("toolkits/.cudaup-12.6.3").exists());
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
