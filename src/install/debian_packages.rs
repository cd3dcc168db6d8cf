//! Whole installs from a Debian mirror of made-up packages.

use super::*;
use crate::failure::Exit;
use crate::host::Host;
use crate::net::fault_server::Answer as Fault;
use crate::source::debian::fake::{FakeMirror, TRIXIE};
use crate::source::profile::{Profile, Wish};
use crate::ui::talk::Talk;
use cudaup_core::home::Home;
use cudaup_core::version::Version;
use cudaup_shim::RealDisk;
use std::fs;
use std::path::Path;

const QUIET: Talk = Talk { quiet: true, verbose: false, terminal: false };

const LIB: &str = "targets/x86_64-linux/lib";

/// Installs 12.4 in a home of its own.
fn install(root: &Path, mirror: &FakeMirror, profile: Profile) -> Result<Installed, Failure> {
    let home = root.join("home");
    let host = Host {
        vars: vec![("CUDAUP_DEBIAN_MIRROR".into(), mirror.url().into())],
        cwd: Some(root.to_owned()),
        user_home: Some(root.join("user")),
        home: Some(home.clone()),
        sysroot: Some(root.join("sys")),
        ..Host::bare()
    };
    let home = Home::new(home);
    let disk = RealDisk::new(host.sysroot.clone(), &home);
    let site = Site { host: &host, home: &home, disk: &disk, talk: &QUIET };
    let order = Order {
        wish: Wish::of(profile),
        verify: false,
        source: "debian",
        ..Order::usual(Version::release(12, 4))
    };
    run(&site, &[], &order).map(|answer| match answer {
        Answer::Installed(installed) => *installed,
        other => panic!("{other:?}"),
    })
}

fn is_for_x86_64() -> bool {
    let right = cfg!(target_arch = "x86_64");
    if !right {
        eprintln!("skipped: the tree is looked at as x86_64 has it");
    }
    right
}

/// All links below a directory that lead nowhere, or out of it.
fn lost(directory: &Path, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(lost(&entry.path(), root));
        } else if !entry.path().canonicalize().is_ok_and(|end| end.starts_with(root)) {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

#[test]
fn the_split_layout_becomes_nvidias() {
    if !is_for_x86_64() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let mirror = FakeMirror::new(&[("trixie", TRIXIE)]);
    let done = install(root.path(), &mirror, Profile::Minimal).unwrap();
    let tree = done.root.canonicalize().unwrap();
    let text = |path: &str| fs::read_to_string(tree.join(path)).unwrap();
    assert_eq!(done.receipt.source, "debian");
    assert!(text("bin/nvcc").contains("release 12.4") && text("bin/nvcc.profile").contains("$(_HERE_)/.."));
    for (path, holds) in [
        ("include/cuda.h", "12040"),
        ("include/thrust/version.h", "thrust"),
        ("nvvm/libdevice/libdevice.10.bc", "BC"),
        ("nvvm/lib64/libnvvm.so", "nvvm"),
        ("nvvm/include/nvvm.h", "nvvm"),
        ("lib64/libcudart.so", "cudart"),
        ("lib64/libcudart_static.a", "arch"),
        ("lib64/stubs/libcuda.so", "stub"),
        ("lib64/cmake/thrust/thrust-config.cmake", "thrust"),
        ("share/licenses/cuda_nvcc/libnvvm4", "licence"),
        ("version.json", "\"12.4.1\""),
    ] {
        assert!(text(path).contains(holds), "{path}");
    }
    for absent in
        ["bin/g++", "bin/compute-sanitizer", "compute-sanitizer", "include/cublas_v2.h", "etc", "usr"]
    {
        assert!(fs::symlink_metadata(tree.join(absent)).is_err(), "{absent}");
    }
    assert_eq!(lost(&tree, &tree), Vec::<String>::new());
    let listed = done.receipt.parts.iter().flat_map(|p| &p.files);
    assert!(listed.clone().count() > 12);
    listed.for_each(|file| assert!(fs::symlink_metadata(tree.join(file)).is_ok(), "{file}"));
}

#[test]
fn a_link_to_a_library_that_is_not_there_goes_and_is_not_in_the_receipt() {
    if !is_for_x86_64() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let mirror = FakeMirror::new(&[("trixie", TRIXIE)]);
    let done = install(root.path(), &mirror, Profile::Default).unwrap();
    let there = |name: &str| fs::symlink_metadata(done.root.join(LIB).join(name)).is_ok();
    assert!(there("libcublas.so") && there("libcublas.so.12.4.5.8") && !there("libcublas_static.a"));
    assert!(!there("libcufft.so"), "the made-up libcufft11 has no library");
    let files: Vec<&String> = done.receipt.parts.iter().flat_map(|p| &p.files).collect();
    assert!(files.iter().all(|file| !file.ends_with("libcufft.so")), "{files:?}");
    assert!(done.root.join("bin/compute-sanitizer").exists());
}

#[test]
fn a_package_other_than_the_list_says_installs_nothing() {
    let root = tempfile::tempdir().unwrap();
    let mirror = FakeMirror::new(&[("trixie", TRIXIE)]);
    let package = if cfg!(target_arch = "x86_64") { "libnvvm4_1_amd64.deb" } else { "libnvvm4_1_arm64.deb" };
    mirror.server.next(&format!("/debian/pool/x/{package}"), &[Fault::Wrong, Fault::Wrong]);
    let failure = install(root.path(), &mirror, Profile::Minimal).unwrap_err();
    assert_eq!(failure.exit, Exit::BadBytes);
    assert!(failure.message.contains("libnvvm4_1_"), "{failure}");
    assert!(!root.path().join("home/toolkits/12.4.1").exists());
}
