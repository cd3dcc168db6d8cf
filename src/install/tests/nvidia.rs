//! Installs from a server that is laid out like NVIDIA's, with real archives of next to no bytes.

use super::*;
use crate::source::nvidia::fake::{FakeDist, TREE, component, path};
use crate::source::plan::Platform;
use crate::source::select::AUTO;
use liblzma::write::XzEncoder;
use serde_json::{Map, Value};

type Files<'a> = &'a [(&'a str, &'a str)];

const NVCC: Files<'_> = &[("bin/nvcc", "#!/bin/sh\n"), ("include/crt/host_config.h", "")];
const CUDART: Files<'_> = &[
    ("include/cuda.h", ""),
    ("lib/libcudart.so.12", "x"),
    ("pkg-config/cudart-12.4.pc", "cudaroot=/usr/local/cuda-12.4\nlibdir=${cudaroot}/lib\nName: cudart\n"),
];
const CCCL: Files<'_> = &[("include/nv/target", ""), ("lib/cmake/cccl/cccl-config.cmake", "")];

/// An archive as NVIDIA packs it: one directory of its name, and an entry for each directory.
fn archive(top: &str, files: Files<'_>) -> Vec<u8> {
    let mut tar = tar::Builder::new(XzEncoder::new(Vec::new(), 0));
    let mut entry = |kind, mode, name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, format!("{top}/{name}"), bytes).unwrap();
    };
    for (name, bytes) in files {
        for (at, _) in name.match_indices('/') {
            entry(tar::EntryType::Directory, 0o755, &name[..=at], b"");
        }
        entry(tar::EntryType::Regular, 0o755, name, bytes.as_bytes());
    }
    entry(tar::EntryType::Regular, 0o644, "LICENSE", b"text");
    tar.into_inner().unwrap().finish().unwrap()
}

/// Puts 12.4.1 there and gives its manifest. The archive of nvcc is announced as `announced`, and is `nvcc`.
fn publish(dist: &mut FakeDist, announced: Files<'_>, nvcc: Files<'_>) -> String {
    let mut manifest = Map::new();
    manifest.insert("release_date".into(), "2024-04-03".into());
    for (name, files, there) in
        [("cuda_nvcc", announced, nvcc), ("cuda_cudart", CUDART, CUDART), ("cuda_cccl", CCCL, CCCL)]
    {
        let mut described = component(name, "12.4.1", "CUDA Toolkit", &["linux-x86_64", "linux-sbsa"]);
        for platform in ["linux-x86_64", "linux-sbsa"] {
            let place = described[platform]["relative_path"].as_str().unwrap().to_owned();
            let top = format!("{name}-{platform}-12.4.1-archive");
            let said = archive(&top, files);
            described[platform]["sha256"] = crate::disk::digest::sha256(&said).into();
            described[platform]["size"] = said.len().to_string().into();
            dist.server.file(&format!("{TREE}{place}"), &archive(&top, there));
        }
        manifest.insert(name.into(), described);
    }
    let text = Value::Object(manifest).to_string();
    dist.publish("12.4.1", &text);
    text
}

fn machine(dist: &FakeDist) -> Machine {
    let mut machine = Machine::new(FakeIndex::usual());
    for (name, value) in &mut machine.host.vars {
        if name == "CUDAUP_DIST_SERVER" {
            *value = dist.url().into();
        }
    }
    machine
}

fn order() -> Order {
    Order { source: AUTO, ..super::order("12.4") }
}

#[test]
fn archives_become_a_toolkit_in_one_root() {
    let mut dist = FakeDist::new();
    publish(&mut dist, NVCC, NVCC);
    let machine = machine(&dist);
    let done = machine.installed(&order());
    assert_eq!((done.receipt.source.as_str(), done.receipt.version.as_str()), ("nvidia", "12.4.1"));
    let links = ["include", "lib", "lib64"].map(|name| done.root.join(name));
    assert!(links.iter().all(|link| link.is_symlink()), "a directory of an archive is in their way");
    for there in [
        "bin/nvcc",
        "include/crt/host_config.h",
        "include/cuda.h",
        "include/nv/target",
        "lib64/libcudart.so",
        "lib64/cmake/cccl/cccl-config.cmake",
        "share/licenses/cuda_cccl/LICENSE",
        "version.json",
    ] {
        assert!(done.root.join(there).exists(), "{there}");
    }
    let pc = fs::read_to_string(done.root.join("lib64/pkgconfig/cudart.pc")).unwrap();
    assert!(pc.starts_with("cudaroot=${pcfiledir}/../..\nlibdir=${pcfiledir}/..\n"), "{pc}");
    assert!(!done.root.join("pkg-config").exists());
}

#[test]
fn an_archive_that_is_listed_and_not_there_is_said() {
    let mut dist = FakeDist::new();
    publish(&mut dist, NVCC, NVCC);
    let nvcc =
        format!("{TREE}cuda_nvcc/{0}/cuda_nvcc-{0}-12.4.1-archive.tar.xz", Platform::here().unwrap().name());
    dist.server.next(&nvcc, &[Fault::Status(404, "")]);
    let machine = machine(&dist);
    let failure = machine.run(&order()).unwrap_err();
    assert_eq!(failure.exit, Exit::Network);
    assert!(failure.message.ends_with("it is listed, but not there yet (mirrors lag)"), "{failure}");
    assert!(names(&machine.home.toolkits()).is_empty());
    assert_eq!(machine.installed(&order()).receipt.version, "12.4.1");
}

#[test]
fn wrong_bytes_are_believed_only_with_a_manifest_that_says_so() {
    let mut dist = FakeDist::new();
    let remade: Files<'_> = &[("bin/nvcc", "#!/bin/sh\n# remade\n")];
    publish(&mut dist, NVCC, remade);
    let machine = machine(&dist);
    let failure = machine.run(&order()).unwrap_err();
    assert_eq!(failure.exit, Exit::BadBytes);
    assert_eq!(dist.server.count(&path("12.4.1")), 2, "the manifest was asked for once more");
    assert!(names(&machine.home.toolkits()).is_empty());

    // Now it changes between the plan and the files, as when NVIDIA remade 12.2.0.
    let old = publish(&mut dist, NVCC, remade);
    let old = dist.server.file(&format!("{TREE}old.json"), old.as_bytes());
    publish(&mut dist, remade, remade);
    dist.server.next(&path("12.4.1"), &[Fault::Redirect(old)]);
    assert_eq!(fs::read_to_string(machine.installed(&order()).root.join("bin/nvcc")).unwrap(), remade[0].1);
}
