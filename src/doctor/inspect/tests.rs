//! Verdicts, and things that are of no kind.

use super::*;
use crate::facts::loader::Loader;
use cudaup_core::architecture::Capability;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;

fn code(names: &str, ptx: Option<(u32, u32)>) -> Code {
    let architectures: BTreeSet<Architecture> = names.split(' ').filter_map(Architecture::parse).collect();
    let of_ptx = architectures.iter().filter(|a| a.ptx).filter_map(|a| Some((*a, ptx?)));
    Code { oldest_ptx: of_ptx.collect(), architectures, ptx, ..Code::default() }
}

fn on(names: &str, ptx: Option<(u32, u32)>, gpu: &str, driver: &str) -> Verdict {
    let gpu = Gpu { capability: Capability::parse(gpu), ..Gpu::default() };
    judge(&code(names, ptx), &gpu, Version::parse(driver))
}

#[test]
fn verdicts() {
    assert_eq!(on("sm_80 sm_90", None, "9.0", "13.0"), Verdict::Runs);
    assert_eq!(on("sm_80", None, "8.6", "13.0"), Verdict::Runs);
    assert_eq!(on("sm_80", None, "9.0", "13.0"), Verdict::NoImage);
    assert_eq!(on("sm_80 compute_80", Some((8, 4)), "9.0", "13.0"), Verdict::AfterCompiling);
    assert_eq!(on("compute_75", Some((9, 0)), "9.0", "12.4"), Verdict::PtxTooNew);
    let mut both = code("compute_75", Some((7, 8)));
    both.add(code("compute_80", Some((9, 5))));
    let gpu = Gpu { capability: Capability::parse("9.0"), ..Gpu::default() };
    assert_eq!(judge(&both, &gpu, Version::parse("12.4")), Verdict::AfterCompiling, "the older PTX serves");
    assert_eq!(on("", None, "9.0", "13.0"), Verdict::NotKnown);
    assert_eq!(on("sm_90", None, "", "13.0"), Verdict::NotKnown);
}

#[test]
fn releases_and_drivers() {
    let needs = |name: &str| vec![Needed { name: name.into(), found: None }];
    let of = |needed: Vec<Needed>, ptx| {
        release(&Subject { needed, code: code("compute_75", ptx), ..Subject::default() })
    };
    assert_eq!(of(needs("libcudart.so.12"), Some((8, 4))), Version::parse("12.4"));
    assert_eq!(of(needs("libcudart.so.11.0"), None), Version::parse("11"));
    assert_eq!(of(Vec::new(), Some((9, 0))), Version::parse("13.0"));
    assert_eq!(of(Vec::new(), None), None);
    assert_eq!(oldest_driver(Version::parse("12.4").unwrap()), Some(525));
    assert_eq!(oldest_driver(Version::parse("13").unwrap()), Some(580));
}

#[test]
fn what_is_of_no_kind_is_said() {
    let root = tempfile::tempdir().unwrap();
    let said = |name: &str, content: &[u8]| {
        let path = root.path().join(name);
        fs::write(&path, content).unwrap();
        look(&path, &Loader::default()).unwrap_err().message
    };
    assert!(said("text", b"hello\n").ends_with("is no program, library, object, wheel or GPU code"));
    assert!(said("empty", b"").contains("is no program"));
    assert!(said("cut.so", b"\x7fELF\x02\x01").starts_with("could not read"));
    assert!(said("x.whl", b"PK\x03\x04 and nothing more").starts_with("could not read"));
    assert!(
        look(&root.path().join("nosuch"), &Loader::default()).unwrap_err().message.contains("no such file")
    );
    std::os::unix::fs::symlink("loop", root.path().join("loop")).unwrap();
    assert!(look(&root.path().join("loop"), &Loader::default()).is_err());
    let program = look(std::path::Path::new("/proc/self/exe"), &Loader::default()).unwrap();
    assert_eq!((program.kind, program.code.pieces), ("program", 0));
    let directory = look(root.path(), &Loader::default()).unwrap();
    assert_eq!((directory.kind, directory.files.len()), ("directory", 0));
    assert!(directory.unread.iter().any(|line| line.contains("cut.so")), "{:?}", directory.unread);
}

#[test]
fn a_wheel_is_read_without_unpacking() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x-1.0-py3-none-any.whl");
    let mut wheel = zip::ZipWriter::new(fs::File::create(&path).unwrap());
    let packed =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    let mut container = 0xba55_ed50_u32.to_le_bytes().to_vec();
    container.extend_from_slice(&[1, 0, 16, 0]);
    container.extend_from_slice(&80_u64.to_le_bytes());
    let mut entry = vec![0; 80];
    entry[0] = 2;
    entry[2..4].copy_from_slice(&0x101_u16.to_le_bytes());
    entry[4] = 64;
    entry[8] = 16;
    entry[28] = 90;
    container.extend_from_slice(&entry);
    for (name, content) in [
        ("x/lib.so", [vec![0; 4096], container.clone()].concat()),
        ("x/data.bin", container),
        ("x-1.0.dist-info/METADATA", b"Name: x\nRequires-Dist: nvidia-cublas-cu12==12.4.5.8; sys_platform == 'linux'\nRequires-Dist: numpy\n\nRequires-Dist: torch\n".to_vec()),
    ] {
        wheel.start_file(name, packed).unwrap();
        wheel.write_all(&content).unwrap();
    }
    wheel.finish().unwrap();
    let found = look(&path, &Loader::default()).unwrap();
    assert_eq!((found.kind, list(&found.code).as_str()), ("wheel", "sm_90"));
    assert_eq!(found.files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["x/lib.so"]);
    assert_eq!(found.requires, ["nvidia-cublas-cu12==12.4.5.8"]);
}
