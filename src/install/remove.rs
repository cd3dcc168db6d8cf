//! Taking a toolkit away again: only what cudaup put there, and only below its own place.

use crate::disk::lock::Lock;
use crate::disk::tree;
use crate::failure::{Exit, Failure};
use crate::toolkit::receipt::Receipt;
use crate::ui::talk::Talk;
use cudaup_core::disk::{Disk, Entry};
use cudaup_core::home::Home;
use cudaup_core::request::is_link_name;
use cudaup_core::version::Version;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// How long another process that works on the same version is waited for.
const PATIENCE: Duration = Duration::from_secs(600);

/// Removes a managed toolkit: out of sight by one rename, then deleted. Returns the bytes freed.
pub fn toolkit(home: &Home, version: Version, disk: &dyn Disk, talk: &Talk) -> Result<u64, Failure> {
    let name = version.to_string();
    let _lock = Lock::acquire(
        &home.path().join("locks").join(&name),
        &format!("toolkit {name}"),
        PATIENCE,
        &|line: &str| talk.say(line),
    )?;
    let root = home.toolkit(&name);
    let names = disk.names(&home.toolkits()).unwrap_or_default();
    if !names.iter().any(|(n, kind)| n == name.as_str() && *kind == Entry::Directory) {
        return Err(
            Failure::new(Exit::NoVersion, format!("CUDA {name} is not installed")).hint("cudaup list")
        );
    }
    if Receipt::read(&root)?.is_none() {
        return Err(Failure::failed(format!(
            "{} was not put there by cudaup and is left alone",
            root.display()
        )));
    }
    let bytes = tree::size(&root)?;
    let staging = home.staging();
    fs::create_dir_all(&staging).map_err(|e| Failure::io("create", &staging, &e))?;
    let grave = staging.join(format!("removed-{name}-{}", std::process::id()));
    let grave = match fs::rename(&root, &grave) {
        Ok(()) => grave,
        // The toolkits lie on a disk of their own: out of sight there.
        Err(e) if e.kind() == std::io::ErrorKind::CrossesDevices => {
            let beside = home.toolkits().join(format!(".removed-{name}-{}", std::process::id()));
            fs::rename(&root, &beside).map_err(|e| Failure::io("remove", &root, &e))?;
            beside
        }
        Err(e) => return Err(Failure::io("remove", &root, &e)),
    };
    tree::remove(&grave)?;
    Ok(bytes)
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
