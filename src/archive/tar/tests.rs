//! Tar archives that no honest packer makes, built byte by byte, and what is left on the disk after each.

use super::*;
use crate::archive::format::Format;
use crate::archive::guard::Refusal;
use crate::failure::Exit;
use proptest::prelude::*;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

/// An entry; `size` is a lie in place of the data's length.
#[derive(Clone, Default)]
pub struct Made {
    name: Vec<u8>,
    link: Vec<u8>,
    data: Vec<u8>,
    mode: u32,
    kind: u8,
    size: Option<u64>,
}

pub fn file(name: &str, data: &[u8]) -> Made {
    Made { name: name.into(), data: data.into(), mode: 0o644, kind: b'0', ..Made::default() }
}

pub fn other(kind: u8, name: &str, link: &str) -> Made {
    Made { link: link.into(), kind, mode: 0o777, ..file(name, b"") }
}

/// One record of an extended header, with its own length at its start.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let length = (1..10_000).find(|n| n.to_string().len() + rest.len() == *n).unwrap();
    format!("{length}{rest}")
}

fn pax(records: &[(&str, &str)]) -> Made {
    let text: String = records.iter().map(|(key, value)| record(key, value)).collect();
    Made { kind: b'x', ..file("PaxHeaders/x", text.as_bytes()) }
}

fn header(made: &Made) -> [u8; 512] {
    let mut block = [0; 512];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &made.name[..made.name.len().min(100)]);
    put(100, format!("{:07o}\0", made.mode).as_bytes());
    put(108, b"0000000\x000000000\0");
    let size = made.size.unwrap_or(made.data.len() as u64);
    if size < 1 << 33 {
        put(124, format!("{size:011o}\0").as_bytes());
    } else {
        put(124, &[0x80, 0, 0, 0]);
        put(128, &size.to_be_bytes());
    }
    put(136, b"00000000000\0        ");
    put(156, &[made.kind]);
    put(157, &made.link[..made.link.len().min(100)]);
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// The entries without an end.
pub fn open_ended(entries: &[Made]) -> Vec<u8> {
    let mut out = Vec::new();
    for made in entries {
        out.extend(header(made));
        out.extend(&made.data);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out
}

pub fn archive(entries: &[Made]) -> Vec<u8> {
    let mut out = open_ended(entries);
    out.resize(out.len() + 1024, 0);
    out
}

/// Unpacks into `dir/tree` as an install does.
pub fn unpack(dir: &Path, name: &str, bytes: &[u8], limit: Option<u64>) -> Result<Contents, Error> {
    let place = |name: &str| Some(name.to_owned());
    unpack_placed(dir, name, bytes, limit, &place)
}

fn unpack_placed(
    dir: &Path,
    name: &str,
    bytes: &[u8],
    limit: Option<u64>,
    place: &dyn Fn(&str) -> Option<String>,
) -> Result<Contents, Error> {
    fs::write(dir.join(name), bytes).unwrap();
    let _ = fs::create_dir(dir.join("tree"));
    let whole = |why| Error::Archive { archive: name.to_owned(), why };
    let file = File::open(dir.join(name)).unwrap();
    let stream = Stream::open(file, Format::of(name).unwrap(), 2, 128 << 20).map_err(whole)?;
    let merge = Merge::new(&dir.join("tree"));
    let tar = Tar::new(stream, name, limit, place);
    let contents = tar.unpack(0, &merge, &mut Copying { buffer: &mut [0; 1000], seen: &|_| true })?;
    merge.finish().map_err(Error::Disk)?;
    Ok(contents)
}

fn error(bytes: &[u8]) -> String {
    unpack(TempDir::new().unwrap().path(), "a.tar", bytes, None).unwrap_err().to_string()
}

pub fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Refused, with the last entry named, and nothing of it written, here or elsewhere.
fn refused(entries: &[Made]) -> Refusal {
    let dir = TempDir::new().unwrap();
    let error = unpack(dir.path(), "a.tar", &archive(entries), None).unwrap_err();
    assert_eq!(names(dir.path()), ["a.tar", "tree"]);
    match error {
        Error::Entry { archive, entry, why } => {
            assert_eq!(archive, "a.tar");
            assert_eq!(entry, guard::printable(&entries.last().unwrap().name));
            why
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_directories_modes_and_links_arrive() {
    let dir = TempDir::new().unwrap();
    let big: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let long = format!("{}/{}", "d".repeat(120), "f".repeat(200));
    let deep = "to/".repeat(60) + "x";
    let entries = [
        other(b'5', "./", ""),
        Made { mode: 0o700, ..other(b'5', "./bin/", "") },
        Made { mode: 0o744, ..file("./bin/nvcc", &big) },
        Made { mode: 0o444, ..file("include/cuda.h", b"#define") },
        Made { kind: 0, mode: 0o200, ..file("empty", b"") },
        Made { mode: 0o2755, ..other(b'5', "nvvm", "") },
        other(b'2', "lib64", "lib"),
        other(b'2', "lib/x", "../include/cuda.h"),
        other(b'1', "bin/second", "bin/nvcc"),
        Made { kind: b'L', ..file("././@LongLink", format!("{long}\0").as_bytes()) },
        file("short", b"long by GNU"),
        Made { kind: b'K', ..file("././@LongLink", format!("{deep}\0").as_bytes()) },
        other(b'2', "deep", "short"),
        pax(&[("mtime", "1.5"), ("path", &format!("{long}.pax")), ("comment", "a\nb"), ("size", "3")]),
        file("short", b"pax"),
        Made { kind: b'g', ..pax(&[("comment", "0123456789abcdef")]) },
        file("last", b"x"),
    ];
    let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let done = unpack(dir.path(), "a.tar", &archive(&entries), None);
    rustix::process::umask(umask);
    let contents = done.unwrap();
    let tree = dir.path().join("tree");
    assert!(fs::read(tree.join("bin/nvcc")).unwrap() == big);
    assert_eq!(fs::read(tree.join("lib/x")).unwrap(), b"#define");
    assert_eq!(fs::read_link(tree.join("lib64")).unwrap(), Path::new("lib"));
    assert_eq!(fs::read_link(tree.join("deep")).unwrap(), Path::new(&deep));
    assert_eq!(fs::read(tree.join(&long)).unwrap(), b"long by GNU");
    assert_eq!(fs::read(tree.join(format!("{long}.pax"))).unwrap(), b"pax");
    let found = |path: &str| fs::metadata(tree.join(path)).unwrap();
    let mode = |path: &str| found(path).permissions().mode() & 0o7777;
    assert_eq!([mode("bin/nvcc"), mode("include/cuda.h"), mode("empty")], [0o755, 0o644, 0o644]);
    assert_eq!([mode("bin"), mode("nvvm")], [0o755, 0o755]);
    assert_eq!(found("bin/second").ino(), found("bin/nvcc").ino());
    assert_eq!(contents.files.len(), 10);
    assert_eq!(contents.bytes, big.len() as u64 + 7 + 11 + 3 + 1);
    assert_eq!(names(&tree).iter().filter(|name| name.starts_with('.')).count(), 0);
}

/// A directory goes where what is in it goes, and the archive's own top directory nowhere.
#[test]
fn directories_are_placed_like_what_is_in_them() {
    let dir = TempDir::new().unwrap();
    let entries = [other(b'5', "top/", ""), other(b'5', "top/include", ""), file("top/include/cuda.h", b"#")];
    let place = |name: &str| {
        let rest = name.strip_prefix("top/")?;
        Some(
            rest.strip_prefix("include/").map_or_else(|| rest.to_owned(), |h| format!("targets/include/{h}")),
        )
    };
    unpack_placed(dir.path(), "a.tar", &archive(&entries), None, &place).unwrap();
    assert_eq!(names(&dir.path().join("tree")), ["targets"]);
    assert_eq!(names(&dir.path().join("tree/targets/include")), ["cuda.h"]);
}

#[test]
fn hostile_entries_are_named() {
    let good = file("bin/nvcc", b"x");
    let last = |bad: Made| refused(&[good.clone(), bad]);
    assert_eq!(last(file("/etc/cron.d/x", b"x")), Refusal::Absolute);
    assert_eq!(last(file("../../x", b"x")), Refusal::Climbs);
    assert_eq!(last(file("bin/../../x", b"x")), Refusal::Climbs);
    assert_eq!(last(file("", b"x")), Refusal::Empty);
    assert_eq!(last(file("..\\x", b"x")), Refusal::Backslash);
    assert_eq!(last(file("a\nb", b"x")), Refusal::Control);
    assert_eq!(last(Made { name: vec![b'a', 0xff], ..file("", b"x") }), Refusal::NotText);
    for (kind, what) in [(b'3', "device"), (b'4', "device"), (b'6', "FIFO")] {
        assert_eq!(last(other(kind, "special", "")), Refusal::Special(what));
    }
    for kind in *b"DMNVA!~\xff" {
        assert_eq!(last(other(kind, "odd", "")), Refusal::Special("file of an unknown kind"));
    }
    for mode in [0o4755, 0o2755, 0o6644, 0o107_777] {
        assert_eq!(last(Made { mode, ..file("su", b"x") }), Refusal::SetId);
    }
    assert_eq!(last(other(b'S', "holes", "")), Refusal::Sparse);
    assert_eq!(last(file("BIN/nvcc", b"x")), Refusal::Lookalike("bin".into()));
    assert_eq!(last(file("bin/NVCC", b"x")), Refusal::Lookalike("bin/nvcc".into()));
    assert_eq!(last(file("bin/./nvcc", b"y")), Refusal::Twice);
    assert_eq!(last(file("bin/nvcc/x", b"y")), Refusal::BelowFile("bin/nvcc".into()));
    assert_eq!(last(other(b'2', "bin", "lib")), Refusal::Twice);
    assert_eq!(refused(&[file("\u{e9}", b"x"), file("e\u{301}", b"x")]), Refusal::Lookalike("\u{e9}".into()));
    for name in ["receipt.json", "receipt.json/x"] {
        assert_eq!(last(file(name, b"x")), Refusal::Taken("receipt.json"));
    }
    assert_eq!(last(other(b'2', "version.json", "bin/nvcc")), Refusal::Taken("version.json"));
    // Readers differ over whether bytes follow.
    for kind in *b"125" {
        let with_bytes = Made { kind, link: b"bin/nvcc".into(), ..file("second", b"bytes") };
        assert_eq!(last(with_bytes), Refusal::Method);
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let behind = Refusal::BehindLink("lib".into());
    assert_eq!(refused(&[other(b'2', "lib", "other"), file("lib/x", b"x")]), behind);
    assert_eq!(refused(&[other(b'2', "lib", "other"), other(b'5', "lib/x", "")]), behind);
    assert_eq!(refused(&[file("a", b"x"), other(b'2', "lib", "b"), other(b'1', "lib/x", "a")]), behind);
    assert_eq!(refused(&[other(b'2', "x", "b"), file("x", b"x")]), Refusal::Twice);
    for to in ["/etc", "..", "../tree2", "a/../.."] {
        assert_eq!(refused(&[other(b'2', "out", to)]), Refusal::LinkLeaves(to.into()));
    }
    assert_eq!(refused(&[other(b'2', "out", "")]), Refusal::LinkTarget);
    assert_eq!(
        refused(&[pax(&[("linkpath", "/etc")]), other(b'2', "out", "in")]),
        Refusal::LinkLeaves("/etc".into())
    );
    let dir = TempDir::new().unwrap();
    let (tree, outside) = (dir.path().join("tree"), dir.path().join("outside"));
    fs::create_dir(&tree).unwrap();
    fs::create_dir(&outside).unwrap();
    symlink(&outside, tree.join("bin")).unwrap();
    symlink(outside.join("made"), tree.join("file")).unwrap();
    for made in
        [file("bin/nvcc", b"x"), file("file", b"x"), other(b'5', "bin/deep", ""), other(b'5', "bin", "")]
    {
        let error = unpack(dir.path(), "a.tar", &archive(&[made]), None).unwrap_err();
        assert!(matches!(error, Error::Disk(_)), "{error}");
        assert_eq!(names(&outside), [""; 0]);
    }
}

#[test]
fn hard_links_lead_only_to_what_came_before_from_the_same_archive() {
    let good = file("bin/nvcc", b"x");
    let last = |to: &str| refused(&[good.clone(), other(b'2', "link", "bin"), other(b'1', "second", to)]);
    for to in ["/etc/passwd", "../outside", "absent", "second", "bin", "link", "", "bin/nvcc/../../../x"] {
        assert_eq!(last(to), Refusal::HardLink(guard::printable(to.as_bytes())));
    }
    let later = [other(b'1', "second", "late"), file("late", b"x")];
    let dir = TempDir::new().unwrap();
    assert!(unpack(dir.path(), "a.tar", &archive(&later), None).is_err());
    // What is left out is not there to be named.
    let entries = [file("left/out", b"x"), other(b'1', "second", "left/out")];
    let place = |name: &str| (!name.starts_with("left")).then(|| name.to_owned());
    let error = unpack_placed(dir.path(), "a.tar", &archive(&entries), None, &place).unwrap_err();
    assert!(
        error.to_string().contains("`second` is a hard link to `left/out`, which is not among"),
        "{error}"
    );
}

#[test]
fn extensions_have_an_end_and_say_one_size() {
    let long = "x".repeat(5000);
    assert_eq!(
        refused(&[pax(&[("path", &long)]), Made { name: long.clone().into(), ..file("", b"x") }]),
        Refusal::TooLong
    );
    let endless = Made { size: Some(1 << 40), kind: b'L', ..file("@LongLink", b"") };
    assert_eq!(refused(std::slice::from_ref(&endless)), Refusal::TooLong);
    assert_eq!(refused(&[Made { kind: b'x', ..endless }]), Refusal::TooLong);
    for size in ["4", "-1", "1e9", "", "18446744073709551616"] {
        assert_eq!(refused(&[pax(&[("size", size)]), file("a", b"x")]), Refusal::Length(1));
    }
    for key in ["GNU.sparse.major", "GNU.sparse.map", "GNU.sparse.size"] {
        assert_eq!(refused(&[pax(&[(key, "1")]), file("a", b"x")]), Refusal::Sparse);
    }
    for key in ["path", "linkpath", "size"] {
        assert_eq!(refused(&[file("a", b"x"), Made { kind: b'g', ..pax(&[(key, "1")]) }]), Refusal::Method);
    }
    for text in ["no record", "5 a=b\n", "99 a=b\n", "0 a=b\n", "6 a=bX", "7 ab\nxx", "-6 a=b\n"] {
        let made = Made { kind: b'x', ..file("x", text.as_bytes()) };
        assert_eq!(
            error(&archive(&[made, file("a", b"x")])),
            "a.tar cannot be unpacked: an extended header is damaged",
            "{text}"
        );
    }
    // An extension without an entry is an archive that was cut off.
    assert!(error(&open_ended(&[file("a", b"x"), pax(&[("path", "b")])])).contains("cut off"));
}

#[test]
fn what_comes_out_is_bounded() {
    let limited = |limit| {
        let dir = TempDir::new().unwrap();
        let bytes = archive(&[file("left/out", &[0; 5000]), file("a", &[0; 600]), file("b", &[0; 600])]);
        let place = |name: &str| (!name.starts_with("left")).then(|| name.to_owned());
        unpack_placed(dir.path(), "a.tar", &bytes, Some(limit), &place).map_err(Error::into_failure)
    };
    assert_eq!(limited(1200).unwrap().bytes, 1200);
    let failure = limited(1199).unwrap_err();
    assert_eq!(failure.exit, Exit::BadBytes);
    assert_eq!(failure.message, "a.tar cannot be unpacked: it holds more than its source says");
    for size in [1000, 1 << 40, u64::MAX, u64::MAX - 511] {
        let giant = Made { size: Some(size), ..file("giant", b"x") };
        let dir = TempDir::new().unwrap();
        let error = unpack(dir.path(), "a.tar", &open_ended(std::slice::from_ref(&giant)), None).unwrap_err();
        assert!(error.to_string().contains("`giant`: it is cut off"), "{size}: {error}");
        let left_out = |_: &str| None;
        let error = unpack_placed(dir.path(), "a.tar", &open_ended(&[giant]), None, &left_out).unwrap_err();
        assert!(error.to_string().contains("it "), "{size}: {error}");
    }
    let many: Vec<_> = (0..70_000).map(|n| pax(&[("path", &format!("{n:0200}/{n:0100}"))])).collect();
    let many: Vec<_> = many.into_iter().flat_map(|extension| [extension, file("a", b"")]).collect();
    let dir = TempDir::new().unwrap();
    let error = unpack_placed(dir.path(), "a.tar", &archive(&many), None, &|_| None).unwrap_err();
    assert!(error.to_string().contains("its names are longer than 16777216 bytes"), "{error}");
}

#[test]
fn broken_archives_are_named() {
    let bytes = archive(&[file("a", &[7; 2000]), file("b", b"x")]);
    for length in [0, 1, 5] {
        assert_eq!(error(&bytes[..length]), "a.tar cannot be unpacked: it is cut off");
    }
    for length in [6, 511, 512, 1000, 2559, 2560, 3072, 3583, 3584] {
        assert!(error(&bytes[..length]).contains("it is cut off"), "{length}");
    }
    let behind = [&bytes, &b"garbage"[..]].concat();
    assert_eq!(error(&behind), "a.tar cannot be unpacked: something stands behind its end");
    let mut second = bytes.clone();
    second[2560] ^= 1;
    assert_eq!(error(&second), "a.tar cannot be unpacked: a header is damaged");
    assert_eq!(error(&[b'x'; 2000]), "a.tar cannot be unpacked: it is no tar archive");
    assert_eq!(error(&[0; 2000]), "a.tar cannot be unpacked: there is nothing in it");
    assert_eq!(error(&archive(&[pax(&[("path", "b")])])), "a.tar cannot be unpacked: there is nothing in it");
    let mut size = header(&file("a", b""));
    size[124..135].copy_from_slice(b"99999999999");
    size[148..156].fill(b' ');
    let sum: u32 = size.iter().map(|b| u32::from(*b)).sum();
    size[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    assert_eq!(error(&size), "a.tar cannot be unpacked: a header is damaged");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever bytes of an archive are changed, nothing appears outside the tree and nothing panics.
    #[test]
    fn a_changed_archive_does_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12), sums in any::<bool>()) {
        let entries = [file("bin/nvcc", &[3; 600]), other(b'2', "lib64", "lib"), pax(&[("path", "lib/long")]), file("x", b"elf"), other(b'1', "y", "bin/nvcc")];
        let mut bytes = archive(&entries);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if sums {
            // With right check sums the changes are not noticed at once.
            for block in bytes.chunks_exact_mut(512).filter(|block| block[257..262] == *b"ustar") {
                block[148..156].fill(b' ');
                let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
                block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
            }
        }
        let dir = TempDir::new().unwrap();
        let _ = unpack(dir.path(), "a.tar", &bytes, None);
        prop_assert_eq!(names(dir.path()), ["a.tar", "tree"]);
    }
}
