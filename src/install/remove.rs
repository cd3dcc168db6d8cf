//! Taking a toolkit or an add-on away again: only what cudaup put there, and only below its own place.

use crate::addon::receipt::Receipt as AddonReceipt;
use crate::disk::lock::Lock;
use crate::disk::{record, staging, tree};
use crate::failure::{Exit, Failure};
use crate::install::apply::Site;
use crate::install::place::Place;
use crate::toolkit::receipt::Receipt;
use crate::ui::talk::Talk;
use cudaup_core::addon::{self, Addon};
use cudaup_core::disk::{Disk, Entry};
use cudaup_core::home::Home;
use cudaup_core::request::is_link_name;
use cudaup_core::version::Version;
use serde::de::DeserializeOwned;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long another process that works on the same version is waited for.
const PATIENCE: Duration = Duration::from_secs(600);

/// A tree that has lost its place and is still to be deleted. Whoever is stopped before that leaves it to the next install.
#[derive(Debug)]
pub struct Buried {
    tree: PathBuf,
    bytes: u64,
}

impl Buried {
    /// The bytes that it frees.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Deletes it. Returns the bytes freed.
    pub fn delete(self) -> Result<u64, Failure> {
        tree::remove(&self.tree)?;
        Ok(self.bytes)
    }
}

/// Takes a managed toolkit out of its place. `last` is done right before, when nothing else stands in the way.
pub fn toolkit(
    home: &Home,
    version: Version,
    disk: &dyn Disk,
    talk: &Talk,
    last: &dyn Fn() -> Result<(), Failure>,
) -> Result<Buried, Failure> {
    let name = version.to_string();
    let absent =
        || Failure::new(Exit::NoVersion, format!("CUDA {name} is not installed")).hint("cudaup list");
    let grave = Grave { name: &name, what: &format!("toolkit {name}"), last };
    tree_of_ours::<Receipt>(&home.staging(), &home.toolkits(), &name, &grave, disk, talk)?.ok_or_else(absent)
}

/// Removes a toolkit of this version that is for all users. Returns the bytes freed.
pub fn system(site: &Site<'_>, version: Version, root: &Path) -> Result<u64, Failure> {
    let name = version.to_string();
    let absent = || Failure::new(Exit::NoVersion, format!("{} is gone", root.display())).hint("cudaup list");
    let (folder, directory) = (Place::System.folder(site), root.file_name().unwrap_or_default());
    let grave = Grave { name: &name, what: &format!("toolkit {name}"), last: &|| Ok(()) };
    let staging = Place::System.staging(site);
    tree_of_ours::<Receipt>(&staging, &folder, &directory.to_string_lossy(), &grave, site.disk, site.talk)?
        .ok_or_else(absent)?
        .delete()
}

/// Removes an add-on of the home. Returns the bytes freed.
pub fn addon(home: &Home, addon: &Addon, disk: &dyn Disk, talk: &Talk) -> Result<u64, Failure> {
    let directory = addon::directory_name(&addon.version, addon.cuda);
    let name = format!("{}-{directory}", addon.library.name);
    let absent = || Failure::new(Exit::NoVersion, format!("{addon} is not installed")).hint("cudaup list");
    let folder = home.addons().join(addon.library.name);
    let grave = Grave { name: &name, what: &name, last: &|| Ok(()) };
    tree_of_ours::<AddonReceipt>(&home.staging(), &folder, &directory, &grave, disk, talk)?
        .ok_or_else(absent)?
        .delete()
}

/// What a tree is called while it goes.
struct Grave<'a> {
    /// In names of files.
    name: &'a str,
    /// For a person.
    what: &'a str,
    /// What comes right before.
    last: &'a dyn Fn() -> Result<(), Failure>,
}

/// Takes a directory that has a receipt out of sight by one rename; `None` where there is no such directory.
fn tree_of_ours<R: DeserializeOwned>(
    staging: &Path,
    folder: &Path,
    directory: &str,
    grave: &Grave<'_>,
    disk: &dyn Disk,
    talk: &Talk,
) -> Result<Option<Buried>, Failure> {
    let name = grave.name;
    let lock = staging::lock_for(staging, name);
    let _lock = Lock::acquire(&lock, grave.what, PATIENCE, &|line: &str| talk.say(line))?;
    let root = folder.join(directory);
    let names = disk.names(folder).unwrap_or_default();
    if !names.iter().any(|(n, kind)| n == directory && *kind == Entry::Directory) {
        return Ok(None);
    }
    if record::read::<R>(&root)?.is_none() {
        return Err(Failure::failed(format!(
            "{} was not put there by cudaup and is left alone",
            root.display()
        ))
        .hint(format!("mv {0} {0}.old", shell_words::quote(&root.to_string_lossy()))));
    }
    let bytes = tree::size(&root)?;
    fs::create_dir_all(staging).map_err(|e| Failure::io("create", staging, &e))?;
    (grave.last)()?;
    let grave = staging.join(format!("removed-{name}-{}", std::process::id()));
    let grave = match fs::rename(&root, &grave) {
        Ok(()) => grave,
        // The trees lie on a disk of their own: out of sight there.
        Err(e) if e.kind() == std::io::ErrorKind::CrossesDevices => {
            let beside = folder.join(format!(".removed-{name}-{}", std::process::id()));
            fs::rename(&root, &beside).map_err(|e| Failure::io("remove", &root, &e))?;
            beside
        }
        Err(e) => return Err(Failure::io("remove", &root, &e)),
    };
    Ok(Some(Buried { tree: grave, bytes }))
}

/// Removes a link and nothing else. Returns what it pointed to; `None` where there is no such link.
pub fn unlink(home: &Home, name: &str, disk: &dyn Disk) -> Result<Option<PathBuf>, Failure> {
    if !is_link(home, name, disk) {
        return Ok(None);
    }
    let link = home.toolkit(name);
    let target = fs::read_link(&link).map_err(|e| Failure::io("read", &link, &e))?;
    fs::remove_file(&link).map_err(|e| Failure::io("remove", &link, &e))?;
    Ok(Some(target))
}

/// Whether the home holds a link of that name.
pub fn is_link(home: &Home, name: &str, disk: &dyn Disk) -> bool {
    let names = disk.names(&home.toolkits()).unwrap_or_default();
    is_link_name(name) && names.iter().any(|(n, kind)| n == name && *kind == Entry::Link)
}
