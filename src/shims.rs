//! The shims directory: one name for each of NVIDIA's tools that some toolkit has, all the same small program.

use crate::disk::atomic;
use crate::disk::lock::Lock;
use crate::failure::Failure;
use crate::host::Host;
use cudaup_core::discovery::{self, Search};
use cudaup_core::disk::{Disk, Entry};
use cudaup_core::environment::Vars;
use cudaup_core::home::Home;
use cudaup_core::inventory::{self, MACHINE};
use cudaup_core::tools::part_of;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The program behind every shim.
pub const PROGRAM: &str = "cudaup-shim";

/// Makes the shims that the toolkits at hand call for, and takes away others. Returns the names, sorted. Each shim is put
/// in place by a rename, so that at no moment one is missing or half written.
pub fn renew(home: &Home, host: &Host, disk: &dyn Disk) -> Result<Vec<String>, Failure> {
    let directory = home.shims();
    if wanted(home, disk).is_empty() && !directory.exists() {
        return Ok(Vec::new());
    }
    let program = program(home, host)?;
    fs::create_dir_all(&directory).map_err(|e| Failure::io("create", &directory, &e))?;
    let _lock =
        Lock::acquire(&home.path().join("shims.lock"), "the shims", Duration::from_secs(30), &|_| {})?;
    // Programs for this machine are about to lie in the home, which so becomes one for this machine.
    if !home.machine_file().exists() {
        atomic::write(&home.machine_file(), format!("{MACHINE}\n").as_bytes())?;
    }
    // Looked at under the lock: what another process adds meanwhile is seen by whoever comes later.
    let wanted = wanted(home, disk);
    for name in &wanted {
        put(&program, &directory.join(name))?;
    }
    for (name, kind) in disk.names(&directory).unwrap_or_default() {
        // What is no shim of ours is somebody else's, whatever it does here.
        let shim = kind == Entry::File && name.to_str().is_some_and(|n| part_of(n).is_some());
        if shim && !name.to_str().is_some_and(|n| wanted.contains(n)) {
            let stale = directory.join(name);
            fs::remove_file(&stale).map_err(|e| Failure::io("remove", &stale, &e))?;
        }
    }
    Ok(wanted.into_iter().collect())
}

fn wanted(home: &Home, disk: &dyn Disk) -> BTreeSet<String> {
    let mut roots: Vec<PathBuf> = inventory::in_home(home, disk).into_iter().map(|t| t.root).collect();
    roots.extend(inventory::usable(inventory::links(home, disk)).into_iter().map(|t| t.root));
    roots.extend(
        inventory::usable(discovery::machine(Search { home, roots: &[], vars: &Vars::default() }, disk))
            .into_iter()
            .map(|t| t.root),
    );
    let names = roots.iter().filter_map(|root| disk.names(&root.join("bin"))).flatten();
    names
        .filter(|(_, kind)| *kind != Entry::Directory)
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| part_of(name).is_some())
        .collect()
}

/// The small program: in the home, else beside this one.
fn program(home: &Home, host: &Host) -> Result<PathBuf, Failure> {
    let beside = host.program.as_ref().and_then(|p| p.parent()).map(|p| p.join(PROGRAM));
    [Some(home.bin().join(PROGRAM)), beside].into_iter().flatten().find(|p| p.is_file()).ok_or_else(|| {
        Failure::failed(format!(
            "the program behind the shims is missing: {}",
            home.bin().join(PROGRAM).display()
        ))
        .hint("run install.sh again; it puts cudaup and cudaup-shim into place")
    })
}

/// A hard link, or a copy where the program lies on another file system.
fn put(program: &Path, shim: &Path) -> Result<(), Failure> {
    let fresh = shim.with_extension("new");
    let failed = |e: std::io::Error| Failure::io("create", shim, &e);
    match fs::remove_file(&fresh) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(failed(e)),
        _ => {}
    }
    if fs::hard_link(program, &fresh).is_err() {
        fs::copy(program, &fresh).map_err(failed)?;
    }
    fs::rename(&fresh, shim).map_err(failed)?;
    // Renaming a hard link onto another link of the same file does nothing and leaves both.
    match fs::remove_file(&fresh) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(failed(e)),
        _ => Ok(()),
    }
}
