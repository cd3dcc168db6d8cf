//! What is found in directories, folders and archives made for the purpose.

use super::*;
use crate::host::Host;
use crate::net::{Client, NetSettings};
use crate::settings::{Indexes, Place};
use crate::source::plan::Platform;
use crate::source::reach::Reach;
use cudaup_core::home::Home;
use cudaup_shim::RealDisk;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use std::io::Write;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

struct Machine {
    root: TempDir,
    host: Host,
    reach: Reach,
}

impl Machine {
    fn new() -> Self {
        let place = Place { url: "http://127.0.0.1:1".into(), origin: "test".into() };
        let indexes = Indexes { places: vec![place.clone()], certificates: Vec::new(), notes: Vec::new() };
        // No connection may be made for what is on this machine.
        let settings = NetSettings { offline: true, ..NetSettings::default() };
        let client = Client::new(&settings).unwrap();
        Self {
            root: TempDir::new().unwrap(),
            host: Host { offline: true, ..Host::bare() },
            reach: Reach { client, indexes, dist: place, keep: false },
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    fn plan(&self, name: &str, asked: &str, wish: &Wish) -> Result<Plan, Failure> {
        let disk = RealDisk::new(None, &Home::new("/nowhere"));
        let query = Query {
            host: &self.host,
            reach: &self.reach,
            request: Version::parse(asked),
            wish,
            platform: Platform::LinuxX86_64,
        };
        plan(&query, &self.path(name), &disk)
    }

    fn usual(&self, name: &str, asked: &str) -> Result<Plan, Failure> {
        self.plan(name, asked, &Wish::of(Profile::Default))
    }
}

/// The beginning of a program for a machine, with the text that nvcc has in it.
fn nvcc(machine: u8) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0".to_vec();
    bytes.extend([machine, 0]);
    bytes.extend(b"\0\0Cuda compilation tools, release 12.4, V12.4.131\0");
    bytes
}

const X86_64: u8 = 0x3e;
const AARCH64: u8 = 0xb7;

/// A tree, by name and contents.
fn tree() -> Vec<(String, Vec<u8>)> {
    let files: [(&str, &[u8]); 4] = [
        ("bin/nvcc", &nvcc(X86_64)),
        ("nvvm/bin/cicc", b"cicc"),
        ("targets/x86_64-linux/include/cuda.h", b"#define CUDA_VERSION 12040\n"),
        ("targets/x86_64-linux/lib/libcudart.so.12.4.127", b"cudart"),
    ];
    files.map(|(name, bytes)| (name.to_owned(), bytes.to_vec())).to_vec()
}

fn packed(files: &[(String, Vec<u8>)], top: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o755);
        tar.append_data(&mut header, format!("{top}{name}"), bytes.as_slice()).unwrap();
    }
    tar.into_inner().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_directory_is_taken_as_it_is_but_for_receipts_and_links_that_lead_away() {
    let machine = Machine::new();
    for (name, bytes) in tree() {
        machine.write(&format!("cuda/{name}"), &bytes);
    }
    machine.write("cuda/receipt.json", b"{}");
    symlink("targets/x86_64-linux/include", machine.path("cuda/include")).unwrap();
    symlink("/opt/nvidia/nsight-compute/2024.1.1", machine.path("cuda/nsight-compute-2024.1.1")).unwrap();
    symlink("cuda", machine.path("link")).unwrap();
    let plan = machine.usual("link", "12.4").unwrap();
    assert_eq!((plan.version, plan.source, plan.size()), (Version::exact(12, 4, 1), "local", 0));
    let part = &plan.parts[0];
    assert_eq!(part.local.as_deref(), Some(machine.path("cuda").as_path()));
    assert_eq!(part.placement.place("receipt.json"), None);
    assert_eq!(part.placement.place("nsight-compute-2024.1.1"), None);
    assert_eq!(part.placement.place("include").as_deref(), Some("include"));
    assert_eq!(part.placement.place("bin/nvcc").as_deref(), Some("bin/nvcc"));
    assert!(plan.notes[0].ends_with(": nsight-compute-2024.1.1"), "{:?}", plan.notes);
    assert_eq!(part.public_url(), machine.path("cuda").to_str().unwrap());
}

#[test]
fn what_was_asked_for_has_to_agree() {
    let machine = Machine::new();
    for (name, bytes) in tree() {
        machine.write(&format!("cuda/{name}"), &bytes);
    }
    for asked in ["", "12", "12.4", "12.4.1"] {
        assert_eq!(machine.usual("cuda", asked).unwrap().version, Version::exact(12, 4, 1), "{asked}");
    }
    let refused = machine.usual("cuda", "12.4.0").unwrap_err();
    assert_eq!(refused.exit, Exit::NoVersion);
    assert!(refused.message.ends_with("/cuda holds CUDA 12.4.1, and 12.4.0 was asked for"), "{refused}");
    // 13.0.88 is the nvcc of three updates.
    let later = String::from_utf8_lossy(&nvcc(X86_64)).replace("12.4, V12.4.131", "13.0, V13.0.88");
    machine.write("later/bin/nvcc", later.as_bytes());
    let refused = machine.usual("later", "13.0").unwrap_err();
    assert_eq!(refused.exit, Exit::Usage);
    assert!(refused.message.ends_with("it is CUDA 13.0.1 or 13.0.2 or 13.0.3"), "{refused}");
    assert_eq!(machine.usual("later", "13.0.2").unwrap().version, Version::exact(13, 0, 2));
}

#[test]
fn what_is_no_toolkit_for_this_machine_is_refused() {
    let machine = Machine::new();
    machine.write("arm/bin/nvcc", &nvcc(AARCH64));
    let refused = machine.usual("arm", "").unwrap_err();
    assert!(
        refused.message.ends_with("holds a toolkit for aarch64, and one for x86_64 is wanted"),
        "{refused}"
    );
    for (folder, inside, why) in [
        ("conda", "conda-meta/history", "it is a conda environment"),
        ("usr", "bin/sh", "it is a system's own directory"),
    ] {
        machine.write(&format!("{folder}/bin/nvcc"), &nvcc(X86_64));
        machine.write(&format!("{folder}/{inside}"), b"");
        let refused = machine.usual(folder, "").unwrap_err();
        assert!(refused.exit == Exit::Usage && refused.message.contains(why), "{refused}");
    }
    machine.write("photos/cat.jpg", b"");
    machine.write("cuda.zip", b"PK");
    machine.write("cuda_nvcc-linux-x86_64-12.4.131-archive.tar.xz", b"");
    for (path, why) in [
        ("photos", "neither bin/nvcc nor"),
        ("cuda.zip", "no ending of an archive"),
        ("cuda_nvcc-linux-x86_64-12.4.131-archive.tar.xz", "it is one part (cuda_nvcc)"),
    ] {
        let refused = machine.usual(path, "").unwrap_err();
        assert!(refused.exit == Exit::Usage && refused.message.contains(why), "{refused}");
    }
    assert!(machine.usual("absent", "").unwrap_err().message.contains("no such file"));
}

#[test]
fn archives_of_every_kind_are_looked_into() {
    let machine = Machine::new();
    let plain = packed(&tree(), "");
    let below = packed(&tree(), "cuda-12.4/");
    let dotted = packed(&tree(), "./cuda-12.4/");
    for (name, bytes, strip) in [
        ("a.tar", plain.clone(), 0),
        ("b.tar.xz", xz(&below), 1),
        ("c.tar.gz", gz(&below), 1),
        ("d.tgz", gz(&plain), 0),
        ("e.txz", xz(&dotted), 1),
    ] {
        machine.write(name, &bytes);
        let plan = machine.usual(name, "12").unwrap();
        assert_eq!(
            (plan.version, plan.parts[0].placement.strip),
            (Version::exact(12, 4, 1), strip),
            "{name}"
        );
        assert_eq!(plan.parts[0].size, bytes.len() as u64);
    }
    let arm = vec![("bin/nvcc".to_owned(), nvcc(AARCH64))];
    machine.write("arm.tar.xz", &xz(&packed(&arm, "x/")));
    assert!(machine.usual("arm.tar.xz", "").unwrap_err().message.contains("for aarch64"));
    machine.write("none.tar", &packed(&[("readme".to_owned(), b"x".to_vec())], ""));
    assert!(machine.usual("none.tar", "").unwrap_err().message.contains("no bin/nvcc"));
}

#[test]
fn a_broken_archive_is_bad_bytes_and_a_whole_one_is_read_only_as_far_as_needed() {
    let machine = Machine::new();
    let mut files = tree();
    files.push(("doc/large".to_owned(), vec![7; 3_000_000]));
    let whole = packed(&files, "");
    // What follows the compiler is not needed to tell the release.
    machine.write("cut.tar", &whole[..whole.len() - 2_000_000]);
    assert_eq!(machine.usual("cut.tar", "").unwrap().version, Version::exact(12, 4, 1));
    files.rotate_right(1);
    machine.write("cut.tar.xz", &xz(&packed(&files, ""))[..200]);
    assert_eq!(machine.usual("cut.tar.xz", "").unwrap_err().exit, Exit::BadBytes);
}

const CLOSURE: [(&str, &str); 3] =
    [("cuda_nvcc", "12.4.131"), ("cuda_cudart", "12.4.127"), ("cuda_cccl", "12.4.127")];

#[test]
fn looking_keeps_no_more_than_an_honest_archive_has() {
    let machine = Machine::new();
    let head = |name: &str, kind: u8, size: u64| {
        let mut header = tar::Header::new_gnu();
        header.set_path(name).unwrap();
        header.set_entry_type(tar::EntryType::new(kind));
        header.set_mode(0o755);
        header.set_size(size);
        header.set_cksum();
        header.as_bytes().to_vec()
    };
    // Only what the headers say: none of these is read so far that its bytes were missed.
    let refused = |parts: &[Vec<u8>]| {
        machine.write("cuda.tar", &parts.concat());
        machine.usual("cuda.tar", "").unwrap_err()
    };
    let large = refused(&[head("a/x/nvcc", b'0', 65 << 20)]);
    assert_eq!(large.exit, Exit::BadBytes, "{large}");
    assert!(large.message.contains("cuda.tar is not unpacked: its entry `a/x/nvcc` has "), "{large}");
    let half = [head("a/x/nvcc", b'0', 33 << 20), vec![0; 33 << 20]].concat();
    let together = refused(&[half, head("a/y/nvcc", b'0', 33 << 20)]);
    assert!(together.message.contains("its entry `a/y/nvcc` has "), "{together}");
    for kind in [b'L', b'K', b'x', b'g'] {
        let long = refused(&[head("long", kind, 1 << 30)]);
        assert_eq!(long.exit, Exit::BadBytes, "{long}");
        assert!(long.message.contains("its entry `long` has a name that is too long"), "{long}");
    }
}

fn archives(machine: &Machine, folder: &str) {
    for (name, version) in CLOSURE {
        machine.write(&format!("{folder}/{name}-linux-x86_64-{version}-archive.tar.xz"), b"packed");
        machine.write(&format!("{folder}/{name}-linux-sbsa-{version}-archive.tar.xz"), b"other");
    }
    machine.write(&format!("{folder}/nvidia_driver-linux-x86_64-550.54.15-archive.tar.xz"), b"driver");
    machine.write(&format!("{folder}/nsight_compute-linux-x86_64-2024.1.1.4-archive.tar.xz"), b"ncu");
}

fn parts(plan: &Plan) -> Vec<&str> {
    plan.parts.iter().map(|p| p.name.as_str()).collect()
}

#[test]
fn a_folder_of_archives_is_one_toolkit() {
    let machine = Machine::new();
    archives(&machine, "f");
    let plan = machine.usual("f", "12").unwrap();
    assert_eq!(plan.version, Version::exact(12, 4, 1));
    assert_eq!(parts(&plan), ["cuda_cccl", "cuda_cudart", "cuda_nvcc", "nsight_compute"]);
    assert!(plan.missing.is_empty() && plan.notes[0].contains("hashes are not checked"), "{plan:?}");
    let nvcc = &plan.parts[2];
    assert_eq!((nvcc.version.as_str(), nvcc.size), ("12.4.131", 6));
    assert_eq!(nvcc.placement.place("top/bin/nvcc").as_deref(), Some("bin/nvcc"));
    let minimal = machine.plan("f", "12.4.1", &Wish::of(Profile::Minimal)).unwrap();
    assert_eq!(parts(&minimal), ["cuda_cccl", "cuda_cudart", "cuda_nvcc"]);
    let refused = machine.plan("f", "", &Wish::read(None, &["cublas"]).unwrap()).unwrap_err();
    assert!(refused.message.contains("no archive of libcublas for linux-x86_64"), "{refused}");
    machine.write("f/cuda_nvcc-linux-x86_64-12.4.99-archive.tar.xz", b"older");
    assert!(machine.usual("f", "").unwrap_err().message.contains("cuda_nvcc in two versions"));
    assert_eq!(machine.usual("f", "11.8").unwrap_err().exit, Exit::Usage);
}

#[test]
fn a_manifest_beside_the_archives_gives_hashes_and_the_release() {
    let machine = Machine::new();
    archives(&machine, "m/compute/cuda/redist/flat");
    let leaf = |name: &str, version: &str, platform: &str| {
        let path = format!("flat/{name}-{platform}-{version}-archive.tar.xz");
        serde_json::json!({ "relative_path": path, "sha256": "ab".repeat(32), "md5": "", "size": "6" })
    };
    let mut manifest = serde_json::json!({ "release_date": "2024-04-03" });
    for (name, version) in CLOSURE {
        manifest[name] = serde_json::json!({ "name": name, "license": "CUDA Toolkit", "version": version,
            "linux-x86_64": leaf(name, version, "linux-x86_64"), "linux-sbsa": leaf(name, version, "linux-sbsa") });
    }
    manifest["nvidia_driver"] = serde_json::json!({ "name": "driver", "license": "NVIDIA Driver",
        "version": "550.54.15", "linux-x86_64": leaf("nvidia_driver", "550.54.15", "linux-x86_64") });
    let text = manifest.to_string();
    machine.write("m/compute/cuda/redist/redistrib_12.4.1.json", text.as_bytes());
    machine.write(
        "m/compute/cuda/redist/redistrib_11.4.1.json",
        br#"{"fabricmanager": {"470": {"linux": "x"}}}"#,
    );
    let plan = machine.usual("m", "").unwrap();
    assert_eq!(plan.version, Version::exact(12, 4, 1));
    assert_eq!(parts(&plan), ["cuda_cccl", "cuda_cudart", "cuda_nvcc"]);
    assert!(plan.parts.iter().all(|p| p.sha256 == "ab".repeat(32) && p.size == 6 && p.local.is_some()));
    assert!(plan.notes.is_empty() && plan.missing.contains(&"libcublas".to_owned()), "{plan:?}");
    let refused = machine.usual("m", "11.8").unwrap_err();
    assert!(refused.exit == Exit::NoVersion && refused.message.contains("holds CUDA 12.4.1"), "{refused}");
    // The same, with the archives just beside it.
    archives(&machine, "f");
    machine.write("f/redistrib_12.4.1.json", text.as_bytes());
    let plan = machine.usual("f", "12.4").unwrap();
    assert_eq!((plan.parts.len(), plan.missing.len(), plan.notes.len()), (3, 0, 0));
}

#[test]
fn what_is_typed_is_a_path_or_an_address() {
    let read = |typed: &str| Origin::read(typed.as_ref(), Some(Path::new("/work dir")));
    assert_eq!(read("x.tar.xz"), Origin::Path("/work dir/x.tar.xz".into()));
    assert_eq!(read("/x"), Origin::Path("/x".into()));
    assert_eq!(read("file:///x"), Origin::Path("/x".into()));
    assert_eq!(read("HTTPS://h/x.tgz"), Origin::Url("HTTPS://h/x.tgz".into()));
}
