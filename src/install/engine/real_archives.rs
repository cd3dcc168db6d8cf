//! Debian's real packages, unpacked by the engine and by Debian's own tool: the same files have to come out.
//!
//! They are those that the other tests of real content have fetched.

use super::{Job, run};
use crate::archive::format::Format;
use crate::host::Host;
use crate::net::{Client, NetSettings};
use crate::source::plan::{Part, Placement, Rule};
use crate::ui::talk::Talk;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Links with an absolute target are not an archive's to make; these two are.
const ABSOLUTE: [&str; 2] = ["usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile", "etc/alternatives/"];

fn part(package: &Path) -> Part {
    let rule = |from: &str, to: Option<&str>| Rule { from: from.into(), to: to.map(Into::into) };
    let mut rules: Vec<_> = ABSOLUTE.iter().map(|from| rule(from, None)).collect();
    rules.push(rule("", Some("")));
    let file = package.file_name().unwrap().to_str().unwrap().to_owned();
    Part {
        name: file.clone(),
        version: "1".into(),
        url: String::new(),
        local: Some(package.to_path_buf()),
        file,
        sha256: String::new(),
        size: 0,
        unpacked: None,
        placement: Placement { strip: 0, rules },
    }
}

/// All that is below a directory: what it is, whether it runs, and its bytes or target.
fn everything(root: &Path) -> BTreeMap<PathBuf, (bool, Vec<u8>)> {
    let (mut found, mut left) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_symlink() {
                let to = fs::read_link(path).unwrap();
                found.insert(name, (false, to.into_os_string().into_encoded_bytes()));
            } else {
                let runs = fs::metadata(&path).unwrap().permissions().mode() & 0o111 != 0;
                found.insert(name, (runs, fs::read(path).unwrap()));
            }
        }
    }
    found
}

/// The packages that are there; larger ones take minutes, and no other path.
fn packages(fits: &dyn Fn(&str, u64) -> bool) -> Vec<PathBuf> {
    let host = Host::read();
    let given = host.var("CUDAUP_TEST_CACHE").map(PathBuf::from);
    let cache =
        given.or_else(|| Some(host.user_home.as_ref()?.join(".cache/cudaup-test"))).unwrap_or_default();
    let mut packages = Vec::new();
    for suite in ["bullseye", "bookworm", "trixie"] {
        let entries = fs::read_dir(cache.join("debian").join(suite).join("debs")).into_iter().flatten();
        for entry in entries.map(Result::unwrap) {
            let (name, size) = (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len());
            if Format::of(&name) == Some(Format::Deb) && fits(&name, size) {
                packages.push(entry.path());
            }
        }
    }
    if packages.is_empty() {
        eprintln!("skipped: Debian's packages (none in {})", cache.display());
    }
    packages
}

fn unpack(part: Part, dir: &Path) -> PathBuf {
    let tree = dir.join("tree");
    fs::create_dir(&tree).unwrap();
    let job = Job { parts: &[part], downloads: &dir.join("downloads"), tree: &tree };
    let talk = Talk { quiet: true, verbose: false, terminal: false };
    let start = Instant::now();
    run(&job, &Client::new(&NetSettings::default()).unwrap(), &talk).unwrap();
    eprintln!("{} {:?}", job.parts[0].file, start.elapsed());
    tree
}

#[test]
fn what_comes_out_of_debians_packages_is_what_debian_unpacks() {
    for package in packages(&|_, size| size < 100_000_000) {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs");
        let tree = unpack(part(&package), dir.path());
        #[expect(clippy::disallowed_methods, reason = "Debian's own tool is what is compared with")]
        let unpacked = Command::new("dpkg-deb").arg("-x").arg(&package).arg(&theirs).status();
        if unpacked.is_err() {
            return eprintln!("skipped: Debian's packages (no dpkg-deb)");
        }
        let mut theirs = everything(&theirs);
        theirs.retain(|name, _| !ABSOLUTE.iter().any(|from| name.to_str().unwrap().starts_with(from)));
        assert!(everything(&tree) == theirs, "{}", package.display());
    }
}

#[test]
fn of_the_largest_package_only_what_is_wanted_is_unpacked() {
    for package in packages(&|name, _| name.starts_with("nvidia-cuda-dev_")) {
        let rule = |from: &str, to: &str| Rule { from: from.into(), to: Some(to.into()) };
        let lib = "usr/lib/x86_64-linux-gnu";
        let mut part = part(&package);
        part.placement.rules = vec![
            rule("usr/include/", "include/"),
            rule(&format!("{lib}/libcudart"), "lib/libcudart"),
            rule(&format!("{lib}/libcudadevrt"), "lib/libcudadevrt"),
            rule(&format!("{lib}/stubs/"), "lib/stubs/"),
        ];
        let dir = tempfile::tempdir().unwrap();
        let tree = unpack(part, dir.path());
        for file in ["include/cuda.h", "lib/libcudart_static.a", "lib/libcudadevrt.a", "lib/stubs/libcuda.so"]
        {
            assert!(fs::metadata(tree.join(file)).unwrap().len() > 1000, "{file}");
        }
        assert!(!tree.join("lib/libcublas_static.a").exists());
    }
}
