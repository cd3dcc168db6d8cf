//! Archives that no honest packer makes, built byte by byte, and what is left on the disk after each.

use super::copying::Copying;
use super::guard::Refusal;
use super::merge::Merge;
use super::tar::tests::names;
use super::zip::Zip;
use super::{Error, guard};
use crate::failure::Exit;
use proptest::prelude::*;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

/// An entry; what is `Some` is a lie in place of the truth.
#[derive(Clone, Default)]
struct Entry {
    name: Vec<u8>,
    data: Vec<u8>,
    mode: u32,
    stored: bool,
    size: Option<u32>,
    packed: Option<u32>,
    crc: Option<u32>,
    offset: Option<u32>,
    flags: u16,
    method: Option<u16>,
}

fn entry(name: &str, data: &[u8]) -> Entry {
    Entry { name: name.into(), data: data.into(), mode: 0o100_644, ..Entry::default() }
}

fn with_mode(name: &str, mode: u32) -> Entry {
    Entry { mode, ..entry(name, b"x") }
}

fn link(name: &str, to: &str) -> Entry {
    Entry { mode: 0o120_777, ..entry(name, to.as_bytes()) }
}

fn put(out: &mut Vec<u8>, numbers: &[(u32, usize)]) {
    for (number, width) in numbers {
        out.extend_from_slice(&number.to_le_bytes()[..*width]);
    }
}

fn short(length: usize) -> u32 {
    u32::try_from(length).unwrap()
}

fn archive(entries: &[Entry]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for e in entries {
        let mut bytes = e.data.clone();
        if !e.stored {
            bytes.clear();
            let mut packer =
                flate2::read::DeflateEncoder::new(e.data.as_slice(), flate2::Compression::best());
            packer.read_to_end(&mut bytes).unwrap();
        }
        let mut crc = flate2::Crc::new();
        crc.update(&e.data);
        let offset = e.offset.unwrap_or(short(out.len()));
        let method = e.method.unwrap_or(if e.stored { 0 } else { 8 });
        let numbers = [
            (20, 2),
            (e.flags.into(), 2),
            (method.into(), 2),
            (0, 4),
            (e.crc.unwrap_or_else(|| crc.sum()), 4),
            (e.packed.unwrap_or(short(bytes.len())), 4),
            (e.size.unwrap_or(short(e.data.len())), 4),
            (short(e.name.len()), 2),
            (0, 2),
        ];
        put(&mut out, &[(0x0403_4b50, 4)]);
        put(&mut out, &numbers);
        out.extend_from_slice(&e.name);
        out.extend_from_slice(&bytes);
        put(&mut directory, &[(0x0201_4b50, 4), (0x0314, 2)]);
        put(&mut directory, &numbers);
        put(&mut directory, &[(0, 2), (0, 2), (0, 2), (e.mode << 16, 4), (offset, 4)]);
        directory.extend_from_slice(&e.name);
    }
    let (start, count) = (short(out.len()), short(entries.len()));
    let length = short(directory.len());
    out.extend(directory);
    put(&mut out, &[(0x0605_4b50, 4), (0, 4), (count, 2), (count, 2), (length, 4), (start, 4), (0, 2)]);
    out
}

/// Unpacks into `dir/tree` as an install does: claims first, then files, links last.
fn unpack(dir: &Path, bytes: &[u8], limit: Option<u64>) -> Result<(), Error> {
    let file = dir.join("a.whl");
    fs::write(&file, bytes).unwrap();
    let _ = fs::create_dir(dir.join("tree"));
    let zip = Zip::open(File::open(&file).unwrap(), "a.whl", limit, &|name| Some(name.to_owned()))?;
    let merge = Merge::new(&dir.join("tree"));
    let members = zip.claim(0, &merge)?;
    zip.unpack(&members, &merge, &mut Copying { buffer: &mut [0; 1000], seen: &|_| true })?;
    assert_eq!(merge.finish().map_err(Error::Disk)?, []);
    Ok(())
}

/// Refused, with the entry named, before anything is written.
fn refused(entries: &[Entry]) -> Refusal {
    let dir = TempDir::new().unwrap();
    let error = unpack(dir.path(), &archive(entries), None).unwrap_err();
    assert_eq!(names(dir.path()), ["a.whl", "tree"]);
    assert_eq!(names(&dir.path().join("tree")), [""; 0], "{error}");
    match error {
        Error::Entry { archive, entry, why } => {
            assert_eq!(archive, "a.whl");
            let last = entries.last().unwrap();
            let plain = guard::name(&last.name).map_or(last.name.clone(), String::into_bytes);
            assert_eq!(entry, guard::printable(&plain));
            why
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_directories_modes_and_links_arrive() {
    let dir = TempDir::new().unwrap();
    let big: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let entries = [
        Entry { mode: 0o100_744, ..entry("bin/nvcc", &big) },
        Entry { stored: true, ..entry("include/cuda.h", b"#define") },
        Entry { mode: 0, ..entry("empty", b"") },
        Entry { mode: 0o040_755, ..entry("nvvm/", b"") },
        link("lib64", "lib"),
        link("lib/x", "../include/cuda.h"),
    ];
    let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let done = unpack(dir.path(), &archive(&entries), None);
    rustix::process::umask(umask);
    done.unwrap();
    let tree = dir.path().join("tree");
    assert!(fs::read(tree.join("bin/nvcc")).unwrap() == big);
    assert_eq!(fs::read(tree.join("lib/x")).unwrap(), b"#define");
    assert_eq!(fs::read_link(tree.join("lib64")).unwrap(), Path::new("lib"));
    let mode = |path: &str| fs::metadata(tree.join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!([mode("bin/nvcc"), mode("include/cuda.h"), mode("empty")], [0o755, 0o644, 0o644]);
    assert_eq!([mode("bin"), mode("nvvm")], [0o755, 0o755]);
}

#[test]
fn hostile_entries_are_named_and_nothing_is_written() {
    let good = entry("bin/nvcc", b"x");
    let last = |bad: Entry| refused(&[good.clone(), bad]);
    assert_eq!(last(entry("/etc/cron.d/x", b"x")), Refusal::Absolute);
    assert_eq!(last(entry("../../x", b"x")), Refusal::Climbs);
    assert_eq!(last(entry("bin/../../x", b"x")), Refusal::Climbs);
    assert_eq!(last(entry("", b"x")), Refusal::Empty);
    assert_eq!(last(entry("..\\x", b"x")), Refusal::Backslash);
    assert_eq!(last(entry("a\0b", b"x")), Refusal::Control);
    assert_eq!(last(with_mode("dev", 0o060_644)), Refusal::Special("device"));
    assert_eq!(last(with_mode("pipe", 0o010_644)), Refusal::Special("FIFO"));
    assert_eq!(last(with_mode("su", 0o104_755)), Refusal::SetId);
    assert_eq!(last(entry("BIN/nvcc", b"x")), Refusal::Lookalike("bin".into()));
    assert_eq!(last(entry("bin/NVCC", b"x")), Refusal::Lookalike("bin/nvcc".into()));
    assert_eq!(last(entry("bin/./nvcc", b"y")), Refusal::Twice);
    assert_eq!(last(entry("bin/nvcc/x", b"y")), Refusal::BelowFile("bin/nvcc".into()));
    assert_eq!(last(Entry { flags: 1, ..entry("secret", b"x") }), Refusal::Method);
    assert_eq!(last(Entry { method: Some(12), ..entry("bz", b"x") }), Refusal::Method);
    assert_eq!(refused(&[link("lib", "tmp"), entry("lib/x", b"x")]), Refusal::BehindLink("lib".into()));
    let forms = [entry("\u{e9}", b"x"), entry("e\u{301}", b"x")];
    assert_eq!(refused(&forms), Refusal::Lookalike("\u{e9}".into()));
    let mut raw = entry("", b"x");
    raw.name = vec![b'a', 0xff];
    raw.flags = 1 << 11;
    let dir = TempDir::new().unwrap();
    assert!(unpack(dir.path(), &archive(&[raw]), None).is_err());
    assert_eq!(names(&dir.path().join("tree")), [""; 0]);
}

#[test]
fn an_archive_of_nothing_is_broken() {
    let dir = TempDir::new().unwrap();
    let failure = unpack(dir.path(), &archive(&[]), None).unwrap_err().into_failure();
    assert_eq!(failure.exit, Exit::BadBytes);
    assert_eq!(failure.message, "a.whl cannot be unpacked: there is nothing in it");
}

#[test]
fn links_and_directories_in_the_place_of_what_is_written_later_are_refused() {
    for entries in [
        [entry("bin/nvcc", b"x"), link("receipt.json", "bin/nvcc")],
        [entry("bin/nvcc", b"x"), entry("receipt.json/x", b"x")],
    ] {
        assert_eq!(refused(&entries), Refusal::Taken("receipt.json"));
    }
    for last in [link("version.json", "bin/nvcc"), entry("version.json/x", b"x")] {
        assert_eq!(refused(&[entry("bin/nvcc", b"x"), last]), Refusal::Taken("version.json"));
    }
}

#[test]
fn links_that_leave_are_not_made() {
    for to in ["/etc", "..", "../tree2", "a/../..", ""] {
        let dir = TempDir::new().unwrap();
        let error = unpack(dir.path(), &archive(&[link("out", to)]), None).unwrap_err();
        assert!(
            matches!(error, Error::Entry { why: Refusal::LinkLeaves(_) | Refusal::LinkTarget, .. }),
            "{error}"
        );
        assert_eq!(names(&dir.path().join("tree")), [""; 0], "{to}");
    }
}

#[test]
fn a_link_that_stands_in_the_tree_is_not_followed() {
    let dir = TempDir::new().unwrap();
    let (tree, outside) = (dir.path().join("tree"), dir.path().join("outside"));
    fs::create_dir(&tree).unwrap();
    fs::create_dir(&outside).unwrap();
    symlink(&outside, tree.join("bin")).unwrap();
    symlink(outside.join("made"), tree.join("file")).unwrap();
    for name in ["bin/nvcc", "bin/deep/nvcc", "file"] {
        let error = unpack(dir.path(), &archive(&[entry(name, b"x")]), None).unwrap_err();
        assert!(matches!(error, Error::Disk(_)), "{name}: {error}");
        assert_eq!(names(&outside), [""; 0], "{name}");
    }
}

#[test]
fn what_comes_out_is_bounded_by_what_the_archive_says() {
    let zeros = vec![0; 5_000_000];
    for size in [0, 1, 999, 1000, 4_999_999, 5_000_001] {
        let dir = TempDir::new().unwrap();
        let bytes = archive(&[Entry { size: Some(size), ..entry("z", &zeros) }]);
        let error = unpack(dir.path(), &bytes, None).unwrap_err();
        assert!(error.to_string().contains("its entry `z`"), "{size}: {error}");
        let written = fs::metadata(dir.path().join("tree/z")).unwrap().len();
        assert!(written <= u64::from(size), "{written} bytes of {size}");
    }
}

#[test]
fn an_archive_that_promises_too_much_is_refused_before_anything_is_written() {
    let promises = |size, limit| {
        let dir = TempDir::new().unwrap();
        let error = unpack(dir.path(), &archive(&[Entry { size: Some(size), ..entry("z", b"x") }]), limit)
            .unwrap_err();
        assert_eq!(names(&dir.path().join("tree")), [""; 0]);
        error.into_failure()
    };
    let failure = promises(1 << 30, None);
    assert_eq!(failure.exit, Exit::BadBytes);
    assert!(
        failure.message.contains("a.whl cannot be unpacked: it would unpack to 1073741824 bytes"),
        "{failure}"
    );
    assert!(promises(1001, Some(1000)).message.contains("1000 is the most"));
    let dir = TempDir::new().unwrap();
    let overlapping =
        [entry("a", &[7; 999]), Entry { offset: Some(0), packed: Some(5000), ..entry("b", &[7; 999]) }];
    let error = unpack(dir.path(), &archive(&overlapping), None).unwrap_err();
    assert!(error.to_string().contains("overlap"), "{error}");
}

#[test]
fn a_directory_without_end_is_not_read_to_its_end() {
    let entries: Vec<_> = (0..65_000).map(|n| entry(&format!("{n:0300}"), b"")).collect();
    let dir = TempDir::new().unwrap();
    let error = unpack(dir.path(), &archive(&entries), None).unwrap_err();
    assert!(error.to_string().contains("directory is larger than 16777216 bytes"), "{error}");
}

#[test]
fn broken_archives_are_named() {
    let dir = TempDir::new().unwrap();
    let data: Vec<u8> = (0..9000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let bytes = archive(&[entry("a", &data)]);
    for length in [0, 1, 21, 22, 1000, bytes.len() - 1] {
        let error = unpack(dir.path(), &bytes[..length], None).unwrap_err();
        assert!(error.to_string().starts_with("a.whl cannot be unpacked: "), "{length}: {error}");
    }
    let twice = archive(&[entry("a", b"x"), entry("a", b"x")]);
    assert!(unpack(dir.path(), &twice, None).unwrap_err().to_string().contains("the same name twice"));
    let crc =
        unpack(dir.path(), &archive(&[Entry { crc: Some(1), ..entry("crc", &data) }]), None).unwrap_err();
    assert_eq!(crc.to_string(), "a.whl cannot be unpacked: its entry `crc`: invalid checksum");
    let mut garbled = bytes;
    garbled[100..200].fill(0xff);
    let dir = TempDir::new().unwrap();
    let failure = unpack(dir.path(), &garbled, None).unwrap_err().into_failure();
    assert_eq!(failure.exit, Exit::BadBytes);
    assert!(failure.message.contains("its entry `a`"), "{failure}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever bytes of an archive are changed, nothing appears outside the tree and nothing panics.
    #[test]
    fn a_changed_archive_does_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let entries = [entry("bin/nvcc", &[3; 2000]), link("lib64", "lib"), entry("lib/a/b.so", b"elf"), with_mode("p", 0o100_755)];
        let mut bytes = archive(&entries);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let dir = TempDir::new().unwrap();
        let _ = unpack(dir.path(), &bytes, None);
        prop_assert_eq!(names(dir.path()), ["a.whl", "tree"]);
    }
}
