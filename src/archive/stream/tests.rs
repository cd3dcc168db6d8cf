//! What a tar archive can be packed and wrapped in, well and badly made, and the bounds of what comes out.

use super::*;
use crate::archive::Error;
use crate::archive::tar::tests::{Made, archive, file, names, unpack};
use flate2::Compression;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use std::fs;
use std::io::Write;
use std::process::Command;
use tempfile::TempDir;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packer = XzEncoder::new(Vec::new(), 0);
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn tree() -> Vec<u8> {
    let noise: Vec<u8> = (0_u32..20_000).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    archive(&[file("./bin/nvcc", &noise), file("./LICENSE", b"text")])
}

fn member(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("{name:<16}1700000000  0     0     100644  {:<10}`\n", bytes.len()).into_bytes();
    out.extend(bytes);
    out.resize(out.len().next_multiple_of(2), b'\n');
    out
}

fn deb(name: &str, data: &[u8]) -> Vec<u8> {
    [
        b"!<arch>\n".to_vec(),
        member("debian-binary", b"2.0\n"),
        member("control.tar.xz", &xz(&archive(&[file("./md5sums", b"odd")]))),
        member(name, data),
    ]
    .concat()
}

/// A script in the shape of makeself, new (`skip="713"`) or old (`head -n 532`).
fn script(new: bool, payload: &[u8], size: usize) -> Vec<u8> {
    let lines = if new { 12 } else { 11 };
    let skip = if new { format!("skip=\"{lines}\"\n") } else { String::new() };
    let number = if new { "\"$skip\"".to_owned() } else { lines.to_string() };
    let head = format!(
        "#!/bin/sh\n# This script was generated using Makeself 2.4.5\nCRCsum=\"1\"\nMD5=\"0\"\nscript=\"./cuda-installer\"\n\
         targetdir=\"pkg\"\nfilesizes=\"{size}\"\nkeep=\"n\"\n{skip}touch \"$0.was-run\"\n\
         offset=`head -n {number} \"$0\" | wc -c | tr -d \" \"`\nexit 0\n"
    );
    assert_eq!(head.lines().count(), lines);
    [head.as_bytes(), payload].concat()
}

fn good(name: &str, bytes: &[u8]) {
    let dir = TempDir::new().unwrap();
    let contents = unpack(dir.path(), name, bytes, None).unwrap();
    assert_eq!(contents.files.into_iter().collect::<Vec<_>>(), ["LICENSE", "bin/nvcc"], "{name}");
    assert_eq!(names(&dir.path().join("tree")), ["LICENSE", "bin"]);
    assert_eq!(names(dir.path()).len(), 2, "{name}");
}

fn bad(name: &str, bytes: &[u8]) -> String {
    let dir = TempDir::new().unwrap();
    let error = unpack(dir.path(), name, bytes, None).unwrap_err();
    assert!(matches!(error, Error::Archive { .. }), "{error}");
    error.to_string().strip_prefix(&format!("{name} cannot be unpacked: ")).unwrap().to_owned()
}

#[test]
fn each_packing_and_wrapping_is_unpacked_whatever_its_name_says() {
    let tar = tree();
    for packed in [tar.clone(), gzip(&tar), xz(&tar), [gzip(&tar[..5000]), gzip(&tar[5000..])].concat()] {
        for name in ["a.tar", "a.tar.gz", "a.tgz", "a.tar.xz", "a.txz"] {
            good(name, &packed);
        }
        good("a.deb", &deb("data.tar.xz", &packed));
        good("a.deb", &deb("data.tar/", &packed));
        for new in [true, false] {
            good("a.run", &script(new, &packed, packed.len()));
            good("a.run", &script(new, &[&packed, &b"a signature"[..]].concat(), packed.len()));
        }
    }
}

#[test]
fn other_packings_are_named() {
    for (start, method) in [
        (&b"\x28\xb5\x2f\xfd"[..], "zstd"),
        (b"BZh9", "bzip2"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"LZIP", "lzip"),
    ] {
        let bytes = [start, &[0; 100]].concat();
        let words = format!("it is packed with {method}, which cudaup does not unpack");
        assert_eq!(bad("a.tar.xz", &bytes), words);
        assert_eq!(bad("a.deb", &deb("data.tar.zst", &bytes)), words);
        assert_eq!(bad("a.run", &script(true, &bytes, bytes.len())), words);
    }
}

#[test]
fn damaged_wrappings_are_refused() {
    let tar = gzip(&tree());
    let whole = deb("data.tar.gz", &tar);
    for length in [9, 60, 100, whole.len() - tar.len() - 30, whole.len() - tar.len() + 3] {
        assert!(bad("a.deb", &whole[..length]).contains("cut off"), "{length}");
    }
    assert_eq!(bad("a.deb", b"!<arch>\n"), "it is cut off, or no Debian package");
    assert_eq!(bad("a.deb", &tar), "it is no Debian package");
    let many: Vec<u8> = (0..20).flat_map(|n| member(&format!("_{n}"), b"x")).collect();
    assert_eq!(bad("a.deb", &[b"!<arch>\n".to_vec(), many].concat()), "it is a Debian package without files");
    let mut size = whole.clone();
    size[8 + 48..8 + 58].copy_from_slice(b"-1        ");
    assert_eq!(bad("a.deb", &size), "it is damaged: a member has no length");
    for new in [true, false] {
        assert_eq!(bad("a.run", &script(new, &tar, tar.len() + 1)), "it is cut off");
        assert_eq!(bad("a.run", &script(new, &tar, usize::MAX)), "it is cut off");
    }
    let unknown = "it is no script of makeself, or one of a kind that is not known";
    assert_eq!(bad("a.run", &tar), unknown);
    assert_eq!(bad("a.run", b"#!/bin/sh\necho no\n"), unknown);
    for skip in ["skip=\"99\"", "skip=\"0\"", "skip=\"-1\""] {
        assert_eq!(
            bad("a.run", format!("#!/bin/sh\n{skip}\nfilesizes=\"1\"\n").as_bytes()),
            unknown,
            "{skip}"
        );
    }
}

#[test]
fn cut_and_changed_streams_are_refused() {
    let tar = tree();
    for packed in [gzip(&tar), xz(&tar)] {
        for length in [6, 20, packed.len() / 2, packed.len() - 9, packed.len() - 1] {
            let dir = TempDir::new().unwrap();
            unpack(dir.path(), "a.tar.xz", &packed[..length], None).unwrap_err();
        }
        for at in [15, packed.len() / 2, packed.len() - 30, packed.len() - 6] {
            let mut changed = packed.clone();
            changed[at] ^= 0x10;
            let dir = TempDir::new().unwrap();
            unpack(dir.path(), "a.tar.xz", &changed, None).unwrap_err();
        }
        bad("a.tar.xz", &[&packed, &b"garbage behind the end"[..]].concat());
    }
}

#[test]
fn bombs_come_to_an_end() {
    let zeros = vec![0; 120 << 20];
    let bomb = archive(&[file("zeros", &zeros)]);
    let packed = xz(&bomb);
    assert!(bad("a.tar.xz", &packed).starts_with("it would unpack to 125830656 bytes, and "));
    let dir = TempDir::new().unwrap();
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&bomb).unwrap();
    let packed = packer.finish().unwrap();
    let most = guard::most(packed.len() as u64);
    let error = unpack(dir.path(), "a.tar.gz", &packed, None).unwrap_err();
    assert!(error.to_string().contains(&format!("{most} is the most that it can honestly hold")), "{error}");
    assert!(fs::metadata(dir.path().join("tree/zeros")).unwrap().len() <= most);
    assert!(unpack(dir.path(), "a.tar.xz", &xz(&archive(&[file("b", &zeros[..60 << 20])])), None).is_ok());
}

#[test]
fn a_script_that_makeself_made_is_read() {
    let dir = TempDir::new().unwrap();
    let builds = dir.path().join("pkg/builds/cuda_nvcc/bin");
    fs::create_dir_all(&builds).unwrap();
    fs::write(builds.join("nvcc"), "x").unwrap();
    for packing in ["--gzip", "--xz", "--nocomp"] {
        #[expect(clippy::disallowed_methods, reason = "makeself is a program")]
        let made = Command::new("makeself")
            .args([packing, "--quiet", "--nox11", "pkg", "a.run", "a test", "./absent"])
            .current_dir(&dir)
            .output();
        match made {
            Ok(made) => assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr)),
            Err(_) => return eprintln!("skipped: a script that makeself made (no makeself)"),
        }
        let bytes = fs::read(dir.path().join("a.run")).unwrap();
        let out = TempDir::new().unwrap();
        let contents = unpack(out.path(), "a.run", &bytes, None).unwrap();
        assert_eq!(
            contents.files.into_iter().collect::<Vec<_>>(),
            ["builds/cuda_nvcc/bin/nvcc"],
            "{packing}"
        );
    }
}

#[test]
fn names_need_no_packing_to_be_odd() {
    assert_eq!(bad("a.tar", &[]), "it is cut off");
    let made: [Made; 0] = [];
    assert_eq!(bad("a.tar", &archive(&made)), "there is nothing in it");
}
