//! The variables that name toolkits, and what they lead to.

use super::Scene;
use crate::doctor::machine::{Entry, RootVariable, SearchList};
use cudaup_core::disk::{self, Disk};
use cudaup_core::foreign::ROOT_VARIABLES;
use cudaup_core::identity::{Tree, identify};
use cudaup_core::inventory::MACHINE;
use cudaup_core::layout::is_conda;
use cudaup_core::list::split;
use cudaup_shim::RealDisk;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The lists by which programs, headers and libraries are found.
const LISTS: [&str; 4] = ["PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH"];

/// Directories of a toolkit lie at most so deep: `targets/x86_64-linux/lib/stubs`.
const DEPTH: usize = 5;

/// A list with more entries than this is read to here.
const ENTRIES: usize = 256;

/// Start files of shells that people write variables into.
const START_FILES: [&str; 7] =
    [".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile", ".config/fish/config.fish"];

/// More of a start file is not read.
const MOST_OF_FILE: usize = 1 << 20;

/// The lists that are set.
pub fn lists(scene: &Scene) -> Vec<SearchList> {
    let list = |name: &&'static str| {
        let entries = split(scene.vars.get(name)?).into_iter().take(ENTRIES);
        let entries = entries.map(|text| entry(&text, scene.disk)).collect();
        Some(SearchList { name, entries })
    };
    LISTS.iter().filter_map(list).collect()
}

fn entry(text: &OsStr, disk: &RealDisk) -> Entry {
    let path = Path::new(text);
    let real = disk.real(path).filter(|_| !text.is_empty());
    let root = real.as_deref().and_then(|real| toolkit_above(real, disk));
    let named = path.file_name().is_some_and(|name| name == "stubs" || name == "compat")
        // Arm servers have `compat_orin` and the like beside it.
        || path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with("compat_"))
        || path.ends_with("stubs/lib64");
    Entry {
        text: text.to_os_string(),
        exists: real.as_deref().is_some_and(Path::is_dir),
        release: root.as_deref().and_then(|root| release(root, disk)),
        root,
        driver: real.filter(|_| named).map(|real| drivers(&real, disk)).unwrap_or_default(),
    }
}

/// The toolkit that a directory lies in: the nearest directory above with an nvcc. The system's own directories are none, and an
/// environment of conda is more than a toolkit.
fn toolkit_above(directory: &Path, disk: &RealDisk) -> Option<PathBuf> {
    let whole_systems = ["/", "/usr", "/usr/local", "/opt"].map(|path| disk.system(path));
    let is_root = |root: &&Path| {
        root.parent().is_some()
            && !whole_systems.iter().any(|system| system == root)
            && disk.is_file(&root.join("bin/nvcc"))
            && !is_conda(root, disk)
    };
    directory.ancestors().take(DEPTH).find(is_root).map(Path::to_path_buf)
}

fn release(root: &Path, disk: &RealDisk) -> Option<String> {
    match identify(root, MACHINE, disk) {
        Tree::Toolkit(identity) => Some(identity.to_string()),
        _ => None,
    }
}

/// The versions in the names of the driver's library.
fn drivers(directory: &Path, disk: &RealDisk) -> Vec<String> {
    let names = disk.names(directory).unwrap_or_default().into_iter();
    let is_plain = |kind: disk::Entry| kind == disk::Entry::File;
    let mut versions: Vec<String> = names
        .filter_map(|(name, kind)| {
            let version = name.to_str()?.strip_prefix("libcuda.so.")?.to_owned();
            // `libcuda.so.1` is a link to the library itself, where it is none somebody copied a stub there.
            (version != "1" || is_plain(kind)).then_some(version)
        })
        .collect();
    versions.sort();
    versions
}

/// The variables that name a root.
pub fn roots(scene: &Scene) -> Vec<RootVariable> {
    let names = ROOT_VARIABLES.iter().filter_map(|name| Some((*name, scene.vars.get(name)?)));
    names.filter(|(_, value)| !value.is_empty()).map(|(name, value)| root(name, value, scene)).collect()
}

fn root(name: &'static str, value: &OsStr, scene: &Scene) -> RootVariable {
    let disk = scene.disk;
    let real = disk.real(Path::new(value));
    let has_nvcc = |root: &PathBuf| disk.is_file(&root.join("bin/nvcc"));
    let root = real.clone().filter(has_nvcc);
    let above = real.as_deref().filter(|_| root.is_none()).and_then(|real| toolkit_above(real, disk));
    let exists = real.as_deref().is_some_and(|real| disk.is_dir(real));
    let set_in = if root.is_some() { Vec::new() } else { set_in(name, scene) };
    let release = root.as_ref().or(above.as_ref()).and_then(|root| release(root, disk));
    RootVariable { name, value: value.to_os_string(), exists, root, above, release, set_in }
}

/// The lines of the user's start files that set a variable.
fn set_in(name: &str, scene: &Scene) -> Vec<String> {
    let Some(home) = &scene.host.user_home else { return Vec::new() };
    let mut lines = Vec::new();
    for file in START_FILES.map(|file| home.join(file)) {
        let Ok(bytes) = scene.disk.read(&file, MOST_OF_FILE) else { continue };
        for (at, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            if sets(line, name) {
                lines.push(format!("{}:{}", file.display(), at + 1));
            }
        }
    }
    lines
}

/// Whether a line of a start file sets a variable: `export CUDA_HOME=...`, `set -gx CUDA_HOME ...`.
fn sets(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let of_sh = line.strip_prefix("export ").unwrap_or(line).trim_start().strip_prefix(name);
    let of_fish = || {
        let mut words = line.split_whitespace();
        words.next() == Some("set") && words.find(|word| !word.starts_with('-')) == Some(name)
    };
    of_sh.is_some_and(|rest| rest.starts_with('=')) || of_fish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cudaup_core::home::Home;
    use std::fs;

    #[test]
    fn lines_that_set_a_variable() {
        for line in ["export CUDA_HOME=/x:$CUDA_HOME", "  CUDA_HOME=/x", "set -gx CUDA_HOME /x"] {
            assert!(sets(line, "CUDA_HOME"), "{line}");
        }
        for line in
            ["# export CUDA_HOME=/x", "export CUDA_HOME_OLD=/x", "echo CUDA_HOME", "set -gx PATH CUDA_HOME"]
        {
            assert!(!sets(line, "CUDA_HOME"), "{line}");
        }
    }

    #[test]
    fn entries_lead_to_their_toolkit() {
        let dir = tempfile::TempDir::new().unwrap();
        let root = dir.path().join("cuda-12.4");
        fs::create_dir_all(root.join("targets/x86_64-linux/lib/stubs")).unwrap();
        fs::create_dir_all(root.join("compat")).unwrap();
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::write(root.join("bin/nvcc"), "").unwrap();
        fs::write(root.join("version.json"), r#"{"cuda":{"version":"12.4.1"}}"#).unwrap();
        fs::write(root.join("compat/libcuda.so.550.54.15"), "").unwrap();
        std::os::unix::fs::symlink("libcuda.so.550.54.15", root.join("compat/libcuda.so.1")).unwrap();
        std::os::unix::fs::symlink("targets/x86_64-linux/lib", root.join("lib64")).unwrap();
        let disk = RealDisk::new(None, &Home::new(dir.path().join("home")));
        let of = |name: &str| entry(root.join(name).as_os_str(), &disk);
        let real = Some(fs::canonicalize(&root).unwrap());
        for name in ["lib64", "lib64/stubs", "bin", "compat", ""] {
            assert_eq!(of(name).root, real, "{name}");
        }
        assert_eq!(of("lib64").release.as_deref(), Some("12.4.1"));
        assert_eq!(of("compat").driver, ["550.54.15"]);
        assert_eq!((of("nothing").exists, of("nothing").root), (false, None));
        assert_eq!(entry(OsStr::new(""), &disk), Entry::default());
        assert_eq!(entry(OsStr::new("/usr/bin"), &disk).root, None);
    }
}
