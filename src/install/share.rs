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
    let directories = vec![
        home.path().to_path_buf(),
        home.toolkits(),
        home.shims(),
        home.staging(),
        home.cache(),
        home.cache().join("downloads"),
    ];
    let libraries = fs::read_dir(home.addons()).into_iter().flatten().flatten().map(|entry| entry.path());
    let directories = directories.into_iter().chain([home.addons()]).chain(libraries);
    let files = [home.default_file(), home.path().join(crate::install::look::MACHINE_FILE)];
    for path in directories.chain(files.clone()) {
        let Ok(found) = fs::symlink_metadata(&path).map(|found| found.permissions().mode() & 0o7777) else {
            continue;
        };
        let wanted = if files.contains(&path) { found | 0o044 } else { found | 0o055 };
        if wanted != found {
            // The toolkit is in place; who cannot read it says so.
            let _ = fs::set_permissions(path, Permissions::from_mode(wanted));
        }
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
