//! Choosing an archive, against servers with made-up releases, and over NVIDIA's own manifests.

use super::*;
use crate::addon::origin;
use crate::net::fault_server::{Answer, FaultServer};
use crate::net::{Client, NetSettings};
use crate::settings::{Indexes, Place};
use crate::source::pypi::fake::{FakeIndex, Form, wheel};
use cudaup_core::addon::library;
use serde_json::{Value, json};
use std::path::Path;

const TREE: &str = "/compute/cudnn/redist/";

struct World {
    reach: Reach,
}

impl World {
    fn new(dist: &str, index: &str) -> Self {
        let place = |url: &str| Place { url: url.to_owned(), origin: "a test".to_owned() };
        let indexes = Indexes { places: vec![place(index)], certificates: vec![], notes: vec![] };
        let client = Client::new(&NetSettings::default()).unwrap();
        Self { reach: Reach { client, indexes, dist: place(dist), keep: false } }
    }

    fn plan(&self, version: &str, cuda: u32, source: &str) -> Result<AddonPlan, Failure> {
        self.of("cudnn", version, cuda, Platform::LinuxX86_64, source)
    }

    fn of(
        &self,
        name: &str,
        version: &str,
        cuda: u32,
        platform: Platform,
        source: &str,
    ) -> Result<AddonPlan, Failure> {
        let library = library(name).unwrap();
        let version = Number::parse(version);
        let origin = origin(library).unwrap();
        let wanted =
            Wanted { reach: &self.reach, library, origin, version: version.as_ref(), cuda, platform };
        plan(&wanted, source)
    }
}

/// A manifest of cuDNN with an archive for each of these CUDA majors; none: one archive for all.
fn manifest(version: &str, majors: &[&str]) -> String {
    let leaf = |variant: &str| {
        let file = format!("cudnn-linux-x86_64-{version}{variant}-archive.tar.xz");
        json!({ "relative_path": format!("cudnn/linux-x86_64/{file}"), "sha256": "ab".repeat(32), "size": "1000" })
    };
    let variants: serde_json::Map<String, Value> =
        majors.iter().map(|m| (format!("cuda{m}"), leaf(&format!("_cuda{m}")))).collect();
    let linux = if majors.is_empty() { leaf("_cuda12") } else { Value::Object(variants) };
    json!({
        "release_date": "2024-03-15",
        "cudnn": { "name": "NVIDIA CUDA Deep Neural Network library", "license": "cudnn", "version": version,
                   "cuda_variant": majors, "linux-x86_64": linux },
    })
    .to_string()
}

/// A tree of cuDNN in which 9.13.0 is listed and not there.
fn tree() -> FaultServer {
    let server = FaultServer::start();
    let releases: [(&str, &str, &[&str]); 5] = [
        ("8.9.7", "8.9.7.29", &["11", "12"]),
        ("8.9.7.29", "8.9.7.29", &[]),
        ("9.1.1", "9.1.1.17", &["11", "12"]),
        ("9.12.0", "9.12.0.46", &["12", "13"]),
        ("9.14.0", "9.14.0.64", &["12", "13"]),
    ];
    let mut page = String::from("<a href='redistrib_9.13.0.json'>redistrib_9.13.0.json</a>\n");
    for (label, version, majors) in releases {
        server.file(&format!("{TREE}redistrib_{label}.json"), manifest(version, majors).as_bytes());
        page.push_str(&format!("<a href='redistrib_{label}.json'>redistrib_{label}.json</a> 9KB\n"));
    }
    server.file(TREE, page.as_bytes());
    server
}

#[test]
fn the_newest_that_fits_the_request_and_the_cuda_major() {
    let server = tree();
    let at = World::new(&server.url(""), "http://127.0.0.1:1/simple");
    for (version, cuda, file) in [
        ("", 12, "cudnn-linux-x86_64-9.14.0.64_cuda12-archive.tar.xz"),
        ("", 11, "cudnn-linux-x86_64-9.1.1.17_cuda11-archive.tar.xz"),
        ("8.9", 11, "cudnn-linux-x86_64-8.9.7.29_cuda11-archive.tar.xz"),
        ("8.9.7.29", 12, "cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz"),
        ("9.12", 13, "cudnn-linux-x86_64-9.12.0.46_cuda13-archive.tar.xz"),
    ] {
        let plan = at.plan(version, cuda, "nvidia").unwrap();
        assert_eq!((plan.part.file.as_str(), plan.cuda), (file, cuda), "{version}");
        assert_eq!(plan.part.url, server.url(&format!("{TREE}cudnn/linux-x86_64/{file}")));
        assert_eq!(plan.part.size, 1000);
    }
    assert_eq!(
        server.count(&format!("{TREE}redistrib_8.9.7.29.json")),
        0,
        "the one with three numbers serves"
    );
    let lagging = at.plan("9.13", 12, "nvidia").unwrap_err();
    assert_eq!((lagging.exit, lagging.tries.len()), (Exit::NoVersion, 1));
    let no = at.plan("9.14", 11, "nvidia").unwrap_err();
    assert_eq!(no.message, "nvidia has no cudnn 9.14 for CUDA 11; its newest for CUDA 11 is 9.1.1.17");
    assert_eq!(no.tries, ["cudaup add cudnn@9.1 --cuda 11"]);
    let other = at.of("cudnn", "", 12, Platform::LinuxSbsa, "nvidia").unwrap_err();
    assert_eq!(other.message, "nvidia has no cudnn for CUDA 12");
    assert_eq!(at.of("nccl", "", 12, Platform::LinuxX86_64, "nvidia").unwrap_err().exit, Exit::NoVersion);
}

#[test]
fn the_releases_that_cannot_have_it_are_not_asked_for() {
    let server = tree();
    let at = World::new(&server.url(""), "http://127.0.0.1:1/simple");
    at.plan("", 11, "nvidia").unwrap();
    assert_eq!(server.count(&format!("{TREE}redistrib_9.14.0.json")), 0);
    assert_eq!(server.count(&format!("{TREE}redistrib_9.1.1.json")), 1);
}

#[test]
fn where_nvidia_does_not_serve_the_index_does() {
    let mut index = FakeIndex::new();
    let bytes = wheel(&[("nvidia/nccl/include/nccl.h", b"", 0o644)]);
    for file in [
        "nvidia_nccl_cu12-2.21.5-py3-none-manylinux2014_x86_64.whl",
        "nvidia_nccl_cu12-2.27.3-py3-none-manylinux2014_x86_64.whl",
        "nvidia_nccl_cu12-2.27.3.post1-py3-none-manylinux2014_x86_64.whl",
        "nvidia_nccl_cu12-2.28.0rc1-py3-none-manylinux2014_x86_64.whl",
        "nvidia_nccl_cu12-2.29.0-py3-none-manylinux2014_aarch64.whl",
        "nvidia-nccl-cu12-0.0.1.tar.gz",
    ] {
        index.add("nvidia-nccl-cu12", file, &bytes);
    }
    index.publish(Form::Json);
    let server = tree();
    let at = World::new(&server.url(""), &index.url());
    let plan = at.of("nccl", "", 12, Platform::LinuxX86_64, "auto").unwrap();
    assert_eq!((plan.version.to_string().as_str(), plan.part.version.as_str()), ("2.27.3", "2.27.3.post1"));
    assert_eq!(
        (plan.source, plan.passed.as_slice()),
        ("pypi", &["nvidia (has none for CUDA 12)".to_owned()][..])
    );
    let arm = at.of("nccl", "", 12, Platform::LinuxSbsa, "auto").unwrap();
    assert_eq!(arm.version.to_string(), "2.29.0");
    let none = at.of("nccl", "3", 12, Platform::LinuxX86_64, "auto").unwrap_err();
    assert_eq!(
        none.message,
        "no source has nccl 3 for CUDA 12 here: nvidia (has none for CUDA 12), pypi (its newest for CUDA 12 is 2.27.3)"
    );
    assert!(
        at.of("nccl", "", 11, Platform::LinuxX86_64, "pypi").unwrap_err().message.ends_with("for CUDA 11")
    );
}

#[test]
fn a_server_that_lies_is_said_and_not_believed() {
    let server = tree();
    let at = World::new(&server.url(""), "http://127.0.0.1:1/simple");
    server.next(TREE, &[Answer::Html("Content-Type: text/html\r\n")]);
    assert_eq!(at.plan("", 12, "nvidia").unwrap_err().exit, Exit::Network);
    let odd = manifest("9.14.0.64", &["12"]).replace("cudnn/linux-x86_64/", "http://evil.example/");
    server.file(&format!("{TREE}redistrib_9.14.0.json"), odd.as_bytes());
    let failure = at.plan("", 12, "nvidia").unwrap_err();
    assert_eq!(failure.exit, Exit::BadBytes);
    assert!(failure.message.contains("which is on another server"), "{failure}");
    server.file(&format!("{TREE}redistrib_9.14.0.json"), b"{}");
    assert!(at.plan("", 12, "nvidia").unwrap_err().message.contains("it is no manifest"));
}

#[test]
fn nvidias_own_manifests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/manifests/cudnn");
    if !folder.is_dir() {
        eprintln!("skipped: no manifests at {}", folder.display());
        return;
    }
    let server = FaultServer::start();
    let mut page = String::new();
    for label in ["8.9.7", "9.1.1", "9.14.0", "9.27.0"] {
        let name = format!("redistrib_{label}.json");
        server.file(&format!("{TREE}{name}"), &std::fs::read(folder.join(&name)).unwrap());
        page.push_str(&name);
    }
    server.file(TREE, page.as_bytes());
    let at = World::new(&server.url(""), "http://127.0.0.1:1/simple");
    for (version, cuda, platform, found) in [
        ("", 11, Platform::LinuxX86_64, Some("9.1.1.17")),
        ("", 12, Platform::LinuxX86_64, Some("9.27.0.42")),
        ("", 13, Platform::LinuxSbsa, Some("9.27.0.42")),
        ("", 12, Platform::LinuxAarch64, Some("9.14.0.64")),
        ("8.9.7", 12, Platform::LinuxSbsa, Some("8.9.7.29")),
        ("9.14", 11, Platform::LinuxX86_64, None),
        ("8.9", 13, Platform::LinuxX86_64, None),
    ] {
        let plan = at.of("cudnn", version, cuda, platform, "nvidia").ok();
        assert_eq!(plan.as_ref().map(|p| p.version.to_string()).as_deref(), found, "{version} {cuda}");
        let named = plan.is_none_or(|p| p.part.file.contains(&format!("_cuda{cuda}-")));
        assert!(named, "{version} for {cuda}");
    }
}

#[test]
fn files_keep_their_place_and_the_wanted_cuda_is_lifted() {
    let place = archive_placement(12, 1);
    for (member, to) in [
        ("cudnn-x-archive/include/cudnn.h", Some("include/cudnn.h")),
        ("cudnn-x-archive/lib/libcudnn.so.9", Some("lib/libcudnn.so.9")),
        ("cudnn-x-archive/LICENSE", Some("LICENSE")),
        ("cuda/lib64/libcudnn.so.8", Some("lib/libcudnn.so.8")),
        ("cuda/include/cudnn.h", Some("include/cudnn.h")),
        ("libcutensor-x/lib/12/libcutensor.so.2", Some("lib/libcutensor.so.2")),
        ("libcutensor-x/lib/11/libcutensor.so.2", None),
        ("libcutensor-x/lib/10.2/libcutensor.so.1", None),
        ("x/lib/cmake/nvshmem/x.cmake", Some("lib/cmake/nvshmem/x.cmake")),
    ] {
        assert_eq!(place.place(member).as_deref(), to, "{member}");
    }
    let place = wheel_placement(library("cutensor").unwrap(), 13, "rec.dist-info");
    for (member, to) in [
        ("cutensor/include/cutensor.h", Some("include/cutensor.h")),
        ("nvidia/cu13/lib/libcusparseLt.so.0", Some("lib/libcusparseLt.so.0")),
        ("cutensor/lib/__init__.py", None),
        ("cutensor/__init__.py", None),
        ("rec.dist-info/licenses/License.txt", Some("License.txt")),
        ("rec.dist-info/License.txt", Some("License.txt")),
        ("rec.dist-info/RECORD", None),
        ("nvidia/__init__.py", None),
    ] {
        assert_eq!(place.place(member).as_deref(), to, "{member}");
    }
}

#[test]
fn what_is_given_is_read_from_its_name_and_from_what_was_said() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz", "mine.tgz", "cudnn-8.9.7.tar.xz"] {
        std::fs::write(dir.path().join(name), "x").unwrap();
    }
    let said = |from: &str, name: &str, version: &str, cuda: Option<u32>, here: Option<u32>| {
        let version = Number::parse(version);
        given(&Given {
            from,
            cwd: dir.path(),
            library: library(name),
            version: version.as_ref(),
            cuda,
            here,
            platform: Platform::LinuxX86_64,
        })
        .map(|plan| format!("{} {} {}", plan.library.name, plan.version, plan.cuda))
        .map_err(|failure| failure.message)
    };
    let full = "cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz";
    assert_eq!(said(full, "", "", None, Some(11)).as_deref(), Ok("cudnn 8.9.7.29 12"));
    assert_eq!(said("mine.tgz", "cudnn", "8.2.1", Some(11), None).as_deref(), Ok("cudnn 8.2.1 11"));
    assert_eq!(said("cudnn-8.9.7.tar.xz", "", "", None, Some(11)).as_deref(), Ok("cudnn 8.9.7 11"));
    let full_url = format!("https://host.example/{full}?token=x");
    assert_eq!(said(&full_url, "", "", None, None).as_deref(), Ok("cudnn 8.9.7.29 12"));
    for (from, name, version, cuda, why) in [
        (full, "cudnn", "8.9.6", None, "is 8.9.7.29 by its name, and 8.9.6 was asked for"),
        (full, "nccl", "", None, "is cudnn by its name"),
        (full, "", "", Some(11), "is for CUDA 12 by its name, and CUDA 11 was asked for"),
        ("mine.tgz", "", "", None, "named like none of the libraries"),
        ("mine.tgz", "cudnn", "", None, "does not say its version"),
        ("mine.tgz", "cudnn", "8.2.1", None, "for which CUDA it is, and no toolkit applies here"),
        ("absent.tgz", "cudnn", "8.2.1", Some(11), "could not read"),
    ] {
        let message = said(from, name, version, cuda, None).unwrap_err();
        assert!(message.contains(why), "{from}: {message}");
    }
}
