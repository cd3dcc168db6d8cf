//! Parts that are not wheels: tar archives in their wrappings, files and directories of this machine, and what happens to
//! them on bad networks and in each other's way.

use super::*;
use liblzma::write::XzEncoder;
use std::os::unix::fs::PermissionsExt;

/// A tar.xz of files below `top`: name, contents.
fn tar_xz(top: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(XzEncoder::new(Vec::new(), 1));
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(if name.starts_with("bin/") { 0o555 } else { 0o444 });
        tar.append_data(&mut header, format!("{top}/{name}"), *bytes).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// Does not repeat itself, so that it is as long packed.
fn noise(length: usize) -> Vec<u8> {
    (0_u32..)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).rotate_left(n % 31).to_le_bytes())
        .take(length)
        .collect()
}

fn empty() -> Bench {
    let mut bench = Bench::new();
    bench.parts.clear();
    bench
}

/// Made once: they are the same for all tests.
static NVCC_BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| noise(1_500_000));
static NVCC_ARCHIVE: LazyLock<Vec<u8>> =
    LazyLock::new(|| tar_xz("x", &[("bin/nvcc", &NVCC_BYTES), ("LICENSE", b"text")]));

/// A small and a large archive.
fn two() -> Bench {
    let mut b = empty();
    b.archive("nvcc", "nvcc.tar.xz", &NVCC_ARCHIVE);
    b.archive("small", "small.tar.xz", &tar_xz("x", &[("include/small.h", b"small"), ("LICENSE", b"text")]));
    b
}

fn check_two(b: &Bench) {
    assert!(fs::read(b.tree().join("bin/nvcc")).unwrap() == *NVCC_BYTES);
    assert_eq!(fs::read(b.tree().join("include/small.h")).unwrap(), b"small");
    let mode = |path: &str| fs::metadata(b.tree().join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!([mode("bin/nvcc"), mode("LICENSE"), mode("bin")], [0o755, 0o644, 0o755]);
}

#[test]
fn tar_archives_arrive_once_and_share_a_tree() {
    let mut b = two();
    b.part("wheel", &archive(&[("x/lib/libcudart.so.13", 700_000, 0o644)]));
    let unpacked = b.run().unwrap();
    check_two(&b);
    assert_eq!(b.counts(), [1, 1, 1]);
    assert_eq!(unpacked[0].files, ["LICENSE", "bin/nvcc"]);
    assert_eq!(unpacked[1].files, ["LICENSE", "include/small.h"]);
    assert_eq!(unpacked[2].files, ["lib64/libcudart.so.13"]);
    assert_eq!(unpacked[0].bytes, 1_500_004);
    assert_eq!(fs::read_dir(b.tree()).unwrap().count(), 4);
}

#[test]
fn of_two_that_bring_one_path_the_first_in_the_plan_is_taken() {
    for (first, second) in
        [("a.tar.xz", "b.tar.xz"), ("a.whl", "b.tar.xz"), ("a.tar.xz", "b.whl"), ("a.whl", "b.whl")]
    {
        let mut b = empty();
        for (name, file) in [("first", first), ("second", second)] {
            let bytes = if file.ends_with("whl") {
                archive(&[(&format!("x/{name}"), 5, 0o644), ("x/LICENSE", name.len(), 0o644)])
            } else {
                tar_xz("x", &[(name, b"alone"), ("LICENSE", name.as_bytes())])
            };
            b.archive(name, file, &bytes);
        }
        let length = if first.ends_with("whl") { contents("x/LICENSE", 5) } else { b"first".to_vec() };
        // Whichever arrives first.
        for order in [[0, 1], [1, 0]] {
            b.server.next(&format!("/{}", b.parts[order[0]].file), &[]);
            let unpacked = b.run().unwrap();
            assert_eq!(fs::read(b.tree().join("LICENSE")).unwrap(), length, "{first} {second}");
            assert_eq!(unpacked[0].files, ["LICENSE", "first"]);
            assert_eq!(unpacked[1].files, ["second"]);
            assert_eq!(fs::read_dir(b.tree()).unwrap().count(), 3);
            b.parts
                .iter()
                .for_each(|p| fs::remove_file(b.dir.path().join("downloads").join(&p.file)).unwrap());
        }
    }
}

#[test]
fn cuts_and_resets_at_every_place_are_gone_on_with() {
    for file in ["/small.tar.xz", "/nvcc.tar.xz"] {
        let size = usize::try_from(two().parts[usize::from(file != "/nvcc.tar.xz")].size).unwrap();
        for at in [0, 1, size / 2, size - 1] {
            for fault in [Answer::Cut(at), Answer::Reset(at), Answer::Drop] {
                let b = two();
                b.server.next(file, std::slice::from_ref(&fault));
                b.run().unwrap();
                check_two(&b);
                assert_eq!(b.server.count(file), 2, "{file} {fault:?}");
                assert_eq!(b.counts().iter().sum::<usize>(), 3, "{file} {fault:?}");
            }
        }
    }
}

#[test]
fn what_is_wrong_is_loaded_once_more_and_then_given_up() {
    for file in ["/small.tar.xz", "/nvcc.tar.xz"] {
        let b = two();
        b.server.next(file, &[Answer::Wrong]);
        b.run().unwrap();
        check_two(&b);
        assert_eq!(b.server.count(file), 2);
        let b = two();
        b.server.next(file, &[Answer::Wrong, Answer::Wrong]);
        let failure = b.run().unwrap_err();
        assert_eq!(failure.exit, Exit::BadBytes);
        assert!(failure.message.contains(&format!("{file} does not have the sha256")), "{failure}");
        assert_eq!(b.server.count(file), 2);
        // What was whole is not loaded again.
        let other = if file == "/small.tar.xz" { "/nvcc.tar.xz" } else { "/small.tar.xz" };
        b.run().unwrap();
        check_two(&b);
        assert!(b.server.count(other) <= 2 && b.server.count(file) == 3);
    }
}

#[test]
fn hostile_and_damaged_archives_are_exit_5() {
    let good = tar_xz("x", &[("LICENSE", b"text")]);
    let evil = tar_xz("x", &[("EULA", b"text"), ("EULA/x", b"text")]);
    let cut = &good[..good.len() - 1];
    for (file, bytes, words) in [
        (
            "evil.tar.xz",
            &evil[..],
            "evil.tar.xz is not unpacked: its entry `x/EULA/x` lies below EULA, which is a file",
        ),
        (
            "cut.tar.xz",
            cut,
            "cut.tar.xz cannot be unpacked: it is cut off, or something stands behind its end",
        ),
        ("odd.tar.zst", &good, "odd.tar.zst cannot be unpacked: it is no kind of archive that cudaup knows"),
        ("odd.deb", &good, "odd.deb cannot be unpacked: it is no Debian package"),
        (
            "odd.run",
            &good,
            "odd.run cannot be unpacked: it is no script of makeself, or one of a kind that is not known",
        ),
    ] {
        let mut b = empty();
        b.archive("good", "good.tar.xz", &good);
        b.archive("bad", file, bytes);
        let failure = b.run().unwrap_err();
        assert_eq!((failure.exit, failure.message.as_str()), (Exit::BadBytes, words));
    }
}

#[test]
fn what_lies_on_this_machine_is_neither_loaded_nor_removed() {
    let mut b = two();
    let here = b.dir.path().join("here");
    fs::create_dir_all(here.join("x/lib")).unwrap();
    fs::write(here.join("x/lib/libhere.so"), "here").unwrap();
    fs::write(here.join("ignored"), "not placed").unwrap();
    let file = b.dir.path().join("of-the-user.tar.xz");
    fs::write(&file, tar_xz("x", &[("bin/ptxas", b"tool"), ("LICENSE", b"text")])).unwrap();
    let local = |path: &std::path::Path, name: &str, sha256: &str| Part {
        name: name.into(),
        local: Some(path.to_path_buf()),
        file: path.file_name().unwrap().to_str().unwrap().into(),
        sha256: sha256.into(),
        size: 0,
        url: String::new(),
        ..b.parts[0].clone()
    };
    let more = [local(&here, "directory", ""), local(&file, "file", "")];
    let wrong = local(&file, "file", &"0".repeat(64));
    b.parts.extend(more);
    let unpacked = b.run().unwrap();
    check_two(&b);
    assert_eq!(unpacked[2].files, ["lib64/libhere.so"]);
    assert_eq!(unpacked[3].files, ["LICENSE", "bin/ptxas"]);
    assert_eq!(fs::read(b.tree().join("bin/ptxas")).unwrap(), b"tool");
    forget(&b.parts, &b.dir.path().join("downloads"));
    assert!(file.exists() && here.join("x/lib/libhere.so").exists());
    assert_eq!(b.downloads(), [""; 0]);
    b.parts = vec![wrong];
    let failure = b.run().unwrap_err();
    assert_eq!(failure.exit, Exit::BadBytes);
    assert!(failure.message.contains("of-the-user.tar.xz does not have the sha256 0000"), "{failure}");
    fs::remove_file(&file).unwrap();
    assert_eq!(b.run().unwrap_err().exit, Exit::Failed);
}

#[test]
fn a_hash_that_is_not_known_is_not_checked() {
    let mut b = two();
    b.parts.iter_mut().for_each(|part| part.sha256.clear());
    b.run().unwrap();
    check_two(&b);
    assert_eq!(b.counts(), [1, 1]);
}
