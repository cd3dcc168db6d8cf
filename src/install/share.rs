//! A home that root makes outside its own home directory is for everybody: an administrator's strict umask would lock all
//! others out of it.

use crate::host::Host;
use cudaup_core::home::Home;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Lets everybody read what cudaup itself makes in a home for all. Toolkits are readable as they are made.
pub fn open_to_all(host: &Host, home: &Home) {
    let root = rustix::process::geteuid().is_root();
    if !is_for_all(root, host.user_home.as_ref(), home) {
        return;
    }
    let entries =
        |directory: PathBuf| fs::read_dir(directory).into_iter().flatten().flatten().map(|e| e.path());
    let own = [home.path().to_path_buf(), home.toolkits(), home.shims(), home.staging(), home.addons()];
    let files = [home.default_file(), home.path().join(crate::install::look::MACHINE_FILE)];
    own.into_iter().chain(files).chain(entries(home.addons())).for_each(open);
    let mut below = vec![home.cache()];
    while let Some(path) = below.pop() {
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
            below.extend(entries(path.clone()));
        }
        open(path);
    }
}

/// What was done is done: where this is refused, whoever cannot read it says so.
fn open(path: PathBuf) {
    let Ok(found) = fs::symlink_metadata(&path) else { return };
    let mode = found.permissions().mode() & 0o7777;
    let wanted = if found.is_dir() { mode | 0o055 } else { mode | 0o044 };
    if wanted != mode && !found.is_symlink() {
        let _ = fs::set_permissions(path, Permissions::from_mode(wanted));
    }
}

fn is_for_all(root: bool, user_home: Option<&PathBuf>, home: &Home) -> bool {
    root && user_home.is_some_and(|own| !home.path().starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_makes_homes_for_all_and_not_in_its_own() {
        let own = PathBuf::from("/root");
        let at = |path: &str, root: bool| is_for_all(root, Some(&own), &Home::new(path));
        assert!(at("/opt/cudaup", true) && at("/rooted/cudaup", true));
        assert!(!at("/root/.cudaup", true) && !at("/opt/cudaup", false));
        assert!(!is_for_all(true, None, &Home::new("/opt/cudaup")));
    }
}
