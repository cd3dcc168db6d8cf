//! What an install has to know of the machine before it decides anything.

use crate::disk::record::RECEIPT;
use crate::disk::{space, text};
use crate::facts::driver;
use crate::failure::{Failure, SAME};
use crate::host::Host;
use crate::source::plan::{Part, Platform};
use crate::toolkit::receipt::Receipt;
use crate::ui::view::size;
use cudaup_core::discovery::{self, Search};
use cudaup_core::disk::Disk;
use cudaup_core::environment::Vars;
use cudaup_core::fitness::{Broken, broken_managed};
use cudaup_core::home::Home;
use cudaup_core::inventory::{self, Kind, Toolkit};
use cudaup_core::version::Version;
use cudaup_shim::RealDisk;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file in a home that says for which machine its toolkits are.
pub const MACHINE_FILE: &str = "machine";

/// The facts.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The machine, where NVIDIA builds toolkits for it.
    pub platform: Option<Platform>,
    /// The machine that the home's toolkits are for, where it has any.
    pub recorded: Option<String>,
    /// The toolkit that fits the request already, the best one.
    pub present: Option<Toolkit>,
    /// What cudaup installed there, where it did.
    pub receipt: Option<Receipt>,
    /// The version of the loaded driver.
    pub driver: Option<String>,
    /// The user whose home root is about to write into.
    pub other_owner: Option<u32>,
}

/// Looks around. `request` is the version that is asked for; `None` asks for the newest that a source has.
pub fn look(host: &Host, home: &Home, roots: &[PathBuf], disk: &dyn Disk, request: Option<Version>) -> Facts {
    let present = request.and_then(|wanted| present(home, roots, disk, wanted));
    let managed = present.as_ref().filter(|t| t.kind == Kind::Managed);
    // A receipt that cannot be read says nothing; whoever changes the toolkit will say so.
    let receipt = managed.and_then(|t| Receipt::read(&t.root).ok().flatten());
    Facts {
        platform: Platform::here().map(|here| on_tegra(here, host)),
        recorded: text::read(&home.path().join(MACHINE_FILE)).ok().map(|t| t.trim().to_owned()),
        present,
        receipt,
        driver: driver::version(host),
        other_owner: other_owner(home.path()),
    }
}

/// NVIDIA's Tegra boards up to Orin have toolkits of their own; the device tree says what a board is.
fn on_tegra(here: Platform, host: &Host) -> Platform {
    let tree = fs::read(host.system("/proc/device-tree/compatible")).unwrap_or_default();
    let tree = String::from_utf8_lossy(&tree);
    let own = ["nvidia,tegra194", "nvidia,tegra234"].iter().any(|chip| tree.contains(chip));
    if own && here == Platform::LinuxSbsa { Platform::LinuxAarch64 } else { here }
}

/// The best toolkit that fits: managed, then linked, then the machine's own; of each kind the newest.
fn present(home: &Home, roots: &[PathBuf], disk: &dyn Disk, wanted: Version) -> Option<Toolkit> {
    // What only this shell brings, such as a module, is not there for the next one.
    let here = Search { home, roots, vars: &Vars::default() };
    let newest = |toolkits: Vec<Toolkit>| {
        let fitting = toolkits.into_iter().filter(|t| wanted.accepts(t.identity.version));
        fitting.max_by_key(|t| t.identity.version)
    };
    newest(inventory::managed(home, disk))
        .or_else(|| newest(inventory::usable(inventory::links(home, disk))))
        .or_else(|| newest(inventory::usable(discovery::machine(here, disk))))
}

/// Whether a directory among the managed toolkits is one that can serve.
pub fn is_toolkit(root: &Path) -> bool {
    broken_managed(root, &RealDisk::default()).is_none()
}

/// The failure of what has the place of a toolkit and cannot serve as one.
pub fn no_toolkit(root: &Path) -> Failure {
    let shown = root.display();
    let version = root.file_name().unwrap_or_default().to_string_lossy();
    match broken_managed(root, &RealDisk::default()) {
        Some(Broken::Closed) => {
            let place = shell_words::quote(&root.to_string_lossy()).into_owned();
            Failure::failed(format!("{shown} is there, but {}", Broken::Closed))
                .hint(format!("chmod u+rwx {place}"))
        }
        Some(broken) if root.join(RECEIPT).is_file() => {
            Failure::failed(format!("{shown} is there, but {broken}"))
                .hint(format!("cudaup uninstall --force {version} && {SAME}"))
        }
        _ => {
            let place = shell_words::quote(&root.to_string_lossy()).into_owned();
            Failure::failed(format!("{shown} is there, but it is no toolkit"))
                .hint(format!("mv {place} {place}.old"))
        }
    }
}

/// The failure of a toolkit that cannot be added to, since nothing tells what it has.
pub fn no_receipt(root: &Path) -> Failure {
    if let Err(failure) = Receipt::read(root) {
        return failure;
    }
    let place = shell_words::quote(&root.to_string_lossy()).into_owned();
    let message = format!("{} has no {RECEIPT} to tell which parts it has", root.display());
    Failure::failed(message).hint(format!("mv {place} {place}.old   (and the same command again)"))
}

/// The owner of the home, where root is about to leave files of its own in it.
pub fn other_owner(home: &Path) -> Option<u32> {
    let owner = home.ancestors().find_map(|p| fs::metadata(p).ok())?.uid();
    (rustix::process::geteuid().is_root() && owner != 0).then_some(owner)
}

/// The room that an install has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of the archives that are loaded already.
    pub loaded: u64,
    /// The file systems that are written to. Each directory of a home may be a link to another.
    pub stores: Vec<Store>,
}

impl Room {
    /// The least that can be written where the tree is put together, or has its place.
    pub fn free(&self) -> u64 {
        self.stores.iter().filter(|s| s.tree).map(|s| s.free).min().unwrap_or(0)
    }

    /// Behind what is to be loaded: how much of it is there, if any.
    pub fn loaded_already(&self) -> String {
        if self.loaded == 0 {
            String::new()
        } else {
            format!(" ({} of it loaded already)", size(self.loaded))
        }
    }
}

/// A file system, and what of an install it has to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// A directory on it.
    pub path: PathBuf,
    /// Bytes that can be written.
    pub free: u64,
    /// Whether archives are loaded to it.
    pub archives: bool,
    /// Whether the toolkit is put together, or has its place there.
    pub tree: bool,
}

/// Measures the room for these parts. `trees`: where they are put together, and have their place.
pub fn room(home: &Home, trees: &[PathBuf; 2], parts: &[Part]) -> Result<Room, Failure> {
    let downloads = downloads(home);
    let loaded =
        |part: &Part| fs::metadata(downloads.join(part.loaded_as())).map_or(0, |m| m.len().min(part.size));
    let loaded = parts.iter().filter(|part| part.local.is_none()).map(loaded).fold(0, u64::saturating_add);
    let mut stores: Vec<(u64, Store)> = Vec::new();
    let trees = trees.iter().map(|path| (path.clone(), false));
    for (path, archives) in trees.chain([(downloads, true)]) {
        let device = space::device(&path)?;
        if let Some((_, store)) = stores.iter_mut().find(|(d, _)| *d == device) {
            store.archives |= archives;
            store.tree |= !archives;
            continue;
        }
        let shown = if device == space::device(home.path())? { home.path().to_path_buf() } else { path };
        let store = Store { free: space::free(&shown)?, path: shown, archives, tree: !archives };
        stores.push((device, store));
    }
    Ok(Room { loaded, stores: stores.into_iter().map(|(_, store)| store).collect() })
}

/// Where archives are loaded to.
pub fn downloads(home: &Home) -> PathBuf {
    home.cache().join("downloads")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    #[test]
    fn boards_are_told_from_servers() {
        let root = TempDir::new().unwrap();
        let mut host = Host::read();
        host.sysroot = Some(root.path().to_path_buf());
        assert_eq!(on_tegra(Platform::LinuxSbsa, &host), Platform::LinuxSbsa);
        fs::create_dir_all(root.path().join("proc/device-tree")).unwrap();
        let write = |text: &str| fs::write(root.path().join("proc/device-tree/compatible"), text).unwrap();
        write("nvidia,p3737-0000+p3701-0000\0nvidia,tegra234\0");
        assert_eq!(on_tegra(Platform::LinuxSbsa, &host), Platform::LinuxAarch64);
        assert_eq!(on_tegra(Platform::LinuxX86_64, &host), Platform::LinuxX86_64);
        write("nvidia,p4071\0nvidia,tegra264\0");
        assert_eq!(on_tegra(Platform::LinuxSbsa, &host), Platform::LinuxSbsa);
    }

    #[test]
    fn room_is_measured_where_the_directories_really_are() {
        let Ok(other) = TempDir::new_in("/dev/shm") else {
            eprintln!("skipped: no second file system at /dev/shm");
            return;
        };
        let root = TempDir::new().unwrap();
        if space::device(root.path()).unwrap() == space::device(other.path()).unwrap() {
            eprintln!("skipped: /dev/shm is no second file system here");
            return;
        }
        let home = Home::new(root.path().join("home"));
        let stores = || {
            let stores = room(&home, &[home.staging(), home.toolkits()], &[]).unwrap().stores.into_iter();
            stores.map(|s| (s.path, s.archives, s.tree)).collect::<Vec<_>>()
        };
        assert_eq!(stores(), [(home.path().to_path_buf(), true, true)]);
        fs::create_dir(home.path()).unwrap();
        symlink(other.path(), home.toolkits()).unwrap();
        assert_eq!(stores(), [(home.path().to_path_buf(), true, true), (home.toolkits(), false, true)]);
        symlink(other.path(), home.staging()).unwrap();
        assert_eq!(stores(), [(home.staging(), false, true), (home.path().to_path_buf(), true, false)]);
    }
}
