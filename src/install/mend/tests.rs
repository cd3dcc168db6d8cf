//! Mending of trees as the sources give them.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

const T: &str = "targets/x86_64-linux";

/// A tree as the wheels of 13.x give it, with umask 077 and the wheels' own modes.
fn wheel_tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    let files: [(&str, &[u8], u32); 14] = [
        ("bin/nvcc", b"\x7fELF\x02", 0o744),
        ("bin/nvcc.profile", b"TOP = $(_HERE_)/..\n", 0o600),
        ("bin/crt/link.stub", b"", 0o600),
        ("nvvm/bin/cicc", b"\x7fELF\x02", 0o600),
        ("nvvm/libdevice/libdevice.10.bc", b"BC", 0o600),
        ("compute-sanitizer/compute-sanitizer", b"#!/bin/sh\necho sanitizer\n", 0o600),
        ("compute-sanitizer/readme", b"text", 0o600),
        (&format!("{T}/include/cuda.h"), b"#define cuA cuA_v2\nCUresult cuA(int);\n", 0o600),
        (&format!("{T}/include/nvml.h"), b"nvmlReturn_t DECLDIR nvmlInit_v2(void);\n", 0o600),
        (&format!("{T}/include/nvvm.h"), b"", 0o600),
        (&format!("{T}/include/cupti.h"), b"", 0o600),
        (&format!("{T}/lib/libcudart.so.13"), b"runtime", 0o600),
        (&format!("{T}/lib/libnvvm.so.4"), b"compiler", 0o755),
        (&format!("{T}/lib/libnvrtc.alt.so.13"), b"", 0o600),
    ];
    for (place, bytes, mode) in files {
        let path = tree.path().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(tree.path().join("bin"), fs::Permissions::from_mode(0o700)).unwrap();
    tree
}

fn facts(components: &[(String, String)]) -> MendFacts<'_> {
    MendFacts { version: Version::exact(13, 0, 2), target: "x86_64-linux", components }
}

fn components() -> [(String, String); 1] {
    [("cuda_nvcc".to_owned(), "13.0.88".to_owned())]
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn files_that_name_nvidias_own_place_get_the_trees() {
    let tree = wheel_tree();
    let folder = tree.path().join(T).join("lib/pkgconfig");
    fs::create_dir_all(&folder).unwrap();
    let theirs = "cudaroot=/usr/local/cuda-13.0\nlibdir=${cudaroot}/targets/x86_64-linux/lib\n\
                  includedir=${cudaroot}/targets/x86_64-linux/include\n\nName: x\nLibs: -L${libdir} -lx\n";
    fs::write(folder.join("x-13.0.pc"), theirs).unwrap();
    fs::write(folder.join("y-13.0.pc"), "prefix=/opt/y\nName: y\n").unwrap();
    let made = mend(tree.path(), &facts(&components())).unwrap();
    assert_eq!(
        fs::read_to_string(folder.join("x.pc")).unwrap(),
        "cudaroot=${pcfiledir}/../..\nlibdir=${pcfiledir}/..\nincludedir=${pcfiledir}/../../include\n\nName: x\n\
         Libs: -L${libdir} -lx\n"
    );
    assert_eq!(fs::read_to_string(folder.join("y.pc")).unwrap(), "prefix=/opt/y\nName: y\n");
    assert!(made.contains(&format!("{T}/lib/pkgconfig/x-13.0.pc")), "{made:?}");
    assert_eq!(mend(tree.path(), &facts(&components())).unwrap(), Vec::<String>::new());
}

#[test]
fn a_tree_of_wheels_gets_everything_that_nvidias_tree_has() {
    let tree = wheel_tree();
    let made = mend(tree.path(), &facts(&components())).unwrap();
    let lib = |rest: &str| format!("{T}/lib/{rest}");
    let mut wanted = vec![
        "bin/compute-sanitizer".to_owned(),
        "extras/CUPTI/include".to_owned(),
        "extras/CUPTI/lib64".to_owned(),
        "include".to_owned(),
        "lib".to_owned(),
        "lib64".to_owned(),
        "nvvm/include/nvvm.h".to_owned(),
        "nvvm/lib64/libnvvm.so".to_owned(),
        "nvvm/lib64/libnvvm.so.4".to_owned(),
        lib("libcudart.so"),
        lib("libnvvm.so"),
        lib("pkgconfig/cuda-13.0.pc"),
        lib("pkgconfig/cuda.pc"),
        lib("pkgconfig/cudart-13.0.pc"),
        lib("pkgconfig/cudart.pc"),
        lib("pkgconfig/nvidia-ml-13.0.pc"),
        lib("pkgconfig/nvidia-ml.pc"),
        lib("stubs/libcuda.so"),
        lib("stubs/libnvidia-ml.so"),
        "version.json".to_owned(),
    ];
    wanted.sort();
    assert_eq!(made, wanted);
    assert_eq!(fs::read(tree.path().join("lib64/libcudart.so")).unwrap(), b"runtime");
    assert_eq!(fs::read(tree.path().join("nvvm/lib64/libnvvm.so")).unwrap(), b"compiler");
    let stub = crate::elf::header::open(&tree.path().join("lib/stubs/libcuda.so")).unwrap();
    assert_eq!(stub.soname.as_deref(), Some("libcuda.so.1"));
    let stub =
        crate::elf::header::open(&tree.path().join("extras/CUPTI/lib64/stubs/libnvidia-ml.so")).unwrap();
    assert_eq!(stub.soname.as_deref(), Some("libnvidia-ml.so.1"));
}

#[test]
fn a_second_run_makes_nothing_and_a_new_part_only_its_own() {
    let tree = wheel_tree();
    let mut components = components().to_vec();
    assert!(!mend(tree.path(), &facts(&components)).unwrap().is_empty());
    assert_eq!(mend(tree.path(), &facts(&components)).unwrap(), Vec::<String>::new());
    fs::write(tree.path().join("lib64/libcublas.so.13"), "blas").unwrap();
    components.push(("libcublas".to_owned(), "13.1.0.3".to_owned()));
    let made = mend(tree.path(), &facts(&components)).unwrap();
    let lib = |rest: &str| format!("{T}/lib/{rest}");
    let own = [
        lib("libcublas.so"),
        lib("pkgconfig/cublas-13.0.pc"),
        lib("pkgconfig/cublas.pc"),
        "version.json".to_owned(),
    ];
    assert_eq!(made, own);
}

#[test]
fn every_link_still_leads_somewhere_when_the_tree_has_moved() {
    let tree = wheel_tree();
    let made = mend(tree.path(), &facts(&components())).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("a b");
    fs::rename(tree.path(), &moved).unwrap();
    fs::create_dir(tree.path()).unwrap();
    let links: Vec<_> = made.iter().map(|place| moved.join(place)).filter(|path| path.is_symlink()).collect();
    assert_eq!(links.len(), 14);
    for link in links {
        assert!(fs::read_link(&link).unwrap().is_relative(), "{}", link.display());
        assert!(link.exists(), "{}", link.display());
    }
}

#[test]
fn programs_can_be_run_and_everything_read_by_everybody() {
    let tree = wheel_tree();
    mend(tree.path(), &facts(&components())).unwrap();
    let at = |place: &str| mode(&tree.path().join(place));
    for program in
        ["bin", "bin/nvcc", "nvvm/bin/cicc", "bin/compute-sanitizer", "lib64/libnvvm.so.4", "targets"]
    {
        assert_eq!(at(program), 0o755, "{program}");
    }
    for file in [
        "bin/nvcc.profile",
        "bin/crt/link.stub",
        "compute-sanitizer/readme",
        "include/cuda.h",
        "version.json",
    ] {
        assert_eq!(at(file), 0o644, "{file}");
    }
    assert_eq!(at("lib64/stubs/libcuda.so"), 0o644);
}

#[test]
fn a_tree_for_arm_servers_gets_stubs_for_them() {
    let tree = tempfile::tempdir().unwrap();
    let include = tree.path().join("targets/sbsa-linux/include");
    fs::create_dir_all(&include).unwrap();
    fs::create_dir_all(tree.path().join("targets/sbsa-linux/lib")).unwrap();
    fs::write(include.join("cuda.h"), "CUresult cuInit(unsigned);").unwrap();
    let facts = MendFacts { version: Version::exact(13, 0, 2), target: "sbsa-linux", components: &[] };
    mend(tree.path(), &facts).unwrap();
    let stub = crate::elf::header::open(&tree.path().join("lib64/stubs/libcuda.so")).unwrap();
    assert_eq!(stub.machine, Some(Machine::Aarch64));
}

#[test]
fn what_nvidias_archives_brought_is_left_alone() {
    let tree = wheel_tree();
    let path = |place: &str| tree.path().join(place);
    fs::create_dir_all(path(&format!("{T}/lib/stubs"))).unwrap();
    fs::create_dir_all(path("nvvm/lib64")).unwrap();
    fs::write(path(&format!("{T}/lib/stubs/libcuda.so")), "nvidia's").unwrap();
    fs::remove_file(path(&format!("{T}/lib/libnvvm.so.4"))).unwrap();
    fs::write(path("nvvm/lib64/libnvvm.so.4.0.0"), "compiler").unwrap();
    symlink("libnvvm.so.4.0.0", path("nvvm/lib64/libnvvm.so.4")).unwrap();
    fs::write(path("version.json"), "nvidia's").unwrap();
    let made = mend(tree.path(), &facts(&[])).unwrap();
    assert_eq!(fs::read(path("lib64/stubs/libcuda.so")).unwrap(), b"nvidia's");
    assert_eq!(fs::read(path("version.json")).unwrap(), b"nvidia's");
    assert_eq!(fs::read_link(path("nvvm/lib64/libnvvm.so")).unwrap(), Path::new("libnvvm.so.4"));
    assert!(!made.contains(&"nvvm/lib64/libnvvm.so.4".to_owned()), "{made:?}");
}

#[test]
fn a_link_that_leads_nowhere_is_replaced() {
    let tree = wheel_tree();
    symlink("/usr/local/cuda-13.0/targets/x86_64-linux/lib", tree.path().join("lib64")).unwrap();
    let made = mend(tree.path(), &facts(&[])).unwrap();
    assert!(made.contains(&"lib64".to_owned()), "{made:?}");
    assert_eq!(fs::read_link(tree.path().join("lib64")).unwrap(), Path::new("targets/x86_64-linux/lib"));
}

#[test]
fn a_tree_of_libraries_only_gets_no_links_into_nothing() {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join(T).join("lib")).unwrap();
    fs::write(tree.path().join(T).join("lib/libcudart.so.12"), "").unwrap();
    let made = mend(tree.path(), &facts(&[])).unwrap();
    let lib = |rest: &str| format!("{T}/lib/{rest}");
    let files = ["libcudart.so", "pkgconfig/cudart-13.0.pc", "pkgconfig/cudart.pc"].map(lib);
    assert_eq!(made, [vec!["lib".to_owned(), "lib64".to_owned()], files.to_vec()].concat());
}

#[test]
fn a_directory_that_cannot_be_written_is_a_clear_failure() {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join(T).join("lib")).unwrap();
    fs::write(tree.path().join(T).join("lib/libcudart.so.12"), "").unwrap();
    fs::write(tree.path().join(T).join("lib/pkgconfig"), "a file in the way").unwrap();
    let failure = mend(tree.path(), &facts(&[])).unwrap_err();
    assert!(failure.message.starts_with("could not create "), "{failure}");
    assert!(failure.message.contains("lib/pkgconfig"), "{failure}");
}

#[test]
fn nothing_is_written_through_a_link_of_an_archive() {
    let tree = wheel_tree();
    symlink("bin/nvcc", tree.path().join("version.json")).unwrap();
    let stubs = tree.path().join(T).join("lib/stubs");
    fs::create_dir(&stubs).unwrap();
    symlink("../../../../bin/new", stubs.join("libcuda.so")).unwrap();
    let made = mend(tree.path(), &facts(&components())).unwrap();
    assert!(made.contains(&"version.json".to_owned()), "{made:?}");
    assert_eq!(fs::read(tree.path().join("bin/nvcc")).unwrap(), b"\x7fELF\x02");
    for place in [tree.path().join("version.json"), stubs.join("libcuda.so")] {
        assert!(fs::symlink_metadata(&place).unwrap().is_file(), "{}", place.display());
    }
    assert!(!tree.path().join("bin/new").exists());
}
