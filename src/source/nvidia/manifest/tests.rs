//! Manifests as they are, as they may become, and as nobody should write them.

use super::*;
use serde_json::json;
use std::path::PathBuf;

const HASH: &str = "B8051464463EB02E6CF4F44AAE3CBB2D3A3C7D0ED3A8A8F4A4A1A5F4A1B2C3D4";

fn leaf(path: &str, size: impl Into<Value>) -> Value {
    let size: Value = size.into();
    json!({ "relative_path": path, "sha256": HASH, "md5": "00", "size": size })
}

fn read(value: &Value) -> Manifest {
    Manifest::read(&value.to_string()).unwrap()
}

/// The manifests that NVIDIA made, where they are at hand.
pub fn real(under: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/manifests").join(under);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: NVIDIA's own manifests, which are not at {}", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "json"));
    files.sort();
    let read = |f: PathBuf| {
        (f.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&f).unwrap())
    };
    files.into_iter().map(read).collect()
}

#[test]
fn a_size_is_a_number_or_a_text_and_a_label_may_be_absent() {
    let manifest = read(&json!({
        "release_date": "2021-09-07",
        "cuda_nvcc": {
            "name": "NVCC", "license": "CUDA Toolkit", "version": "11.4.120",
            "linux-x86_64": leaf("a/x-archive.tar.xz", "76"),
            "linux-sbsa": leaf("b/x-archive.tar.xz", 77),
        },
    }));
    assert_eq!((manifest.label.as_deref(), manifest.date.as_deref()), (None, Some("2021-09-07")));
    let nvcc = manifest.component("cuda_nvcc").unwrap();
    assert_eq!((nvcc.licence.as_str(), nvcc.version.as_str()), ("CUDA Toolkit", "11.4.120"));
    let size = |p: &str| nvcc.platform(p).and_then(|a| a.of(None)).map(|a| a.size);
    assert_eq!((size("linux-x86_64"), size("linux-sbsa"), size("linux-aarch64")), (Some(76), Some(77), None));
    let sha256 = &nvcc.platform("linux-sbsa").unwrap().of(None).unwrap().sha256;
    assert_eq!(*sha256, HASH.to_ascii_lowercase());
}

#[test]
fn what_nobody_knows_yet_breaks_nothing() {
    let manifest = read(&json!({
        "release_date": "2030-01-01", "schema": 3, "notes": ["a"], "extra": { "by": { "platform": "x" } },
        "cuda_new": {
            "version": 14, "linux-riscv64": leaf("r.tar.xz", 1), "tags": { "a": "b" },
            "linux-x86_64": { "relative_path": "x.tar.xz", "sha256": "abc", "size": 1 },
            "linux-sbsa": { "relative_path": "x.tar.xz", "sha256": HASH, "size": "many" },
        },
    }));
    let names: Vec<&str> = manifest.components.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["cuda_new"]);
    assert_eq!(manifest.components[0].version, "14");
    assert_eq!(manifest.platforms(), ["linux-riscv64"], "archives that cannot be checked are not there");
}

#[test]
fn variants_and_the_archive_beside_them() {
    let manifest = read(&json!({ "cudnn": {
        "license": "cudnn", "version": "9.27.0.42", "cuda_variant": ["12", "13"],
        "linux-x86_64": {
            "cuda13": leaf("x/cudnn-linux-x86_64-9.27.0.42_cuda13-archive.tar.xz", 2),
            "cuda12": leaf("x/cudnn-linux-x86_64-9.27.0.42_cuda12-archive.tar.xz", 1),
        },
        "windows-arm64": {
            "cuda13": leaf("w/cudnn-windows-arm64-9.27.0.42_cuda13-archive.zip", 3),
            "relative_path": "w/cudnn-windows-arm64-9.27.0.42_cuda13.4-archive.zip",
            "sha256": HASH, "md5": "0", "size": "4",
        },
        "linux-sbsa": leaf("s/cudnn-linux-sbsa-8.9.7.29_cuda12-archive.tar.xz", 5),
        "linux-ppc64le": leaf("p/libcutensor-linux-ppc64le-2.0-archive.tar.xz", 6),
    }}));
    let cudnn = manifest.component("cudnn").unwrap();
    assert_eq!(cudnn.variants, ["12", "13"]);
    let size = |p: &str, v: Option<&str>| cudnn.platform(p).unwrap().of(v).map(|a| a.size);
    assert_eq!(size("linux-x86_64", Some("cuda12")), Some(1));
    assert_eq!(size("linux-x86_64", None), None);
    assert_eq!(
        size("windows-arm64", Some("cuda13")),
        Some(3),
        "the variant goes before the archive beside it"
    );
    assert_eq!(size("windows-arm64", Some("cuda12")), None, "never one for another CUDA");
    assert_eq!(size("windows-arm64", None), Some(4));
    assert_eq!(size("linux-sbsa", Some("cuda12")), Some(5));
    assert_eq!(size("linux-sbsa", Some("cuda11")), None, "its name says cuda12");
    assert_eq!(size("linux-ppc64le", Some("cuda11")), Some(6), "its name says nothing");
}

#[test]
fn stubs_and_other_texts_are_told_apart() {
    let stub = json!({ "fabricmanager": { "470.57.02": { "linux-x86_64": "f/f-470.57.02.tar.gz" } } });
    assert_eq!(Manifest::read(&stub.to_string()), Err(NoManifest::Stub));
    for text in ["", "<html>", "[]", "{}", "{\"a\": 1}", "\u{feff}{}", "{\"a\": {\"b\": 1}}"] {
        assert!(matches!(Manifest::read(text), Err(NoManifest::Unreadable(_))), "{text}");
    }
}

#[test]
fn paths_are_joined_as_addresses_are() {
    let at = |path: &str| {
        let manifest = "https://host.example/compute/cuda/redist/redistrib_13.4.1.json?sig=1";
        address(manifest, manifest, path)
    };
    let good = |path: &str| at(path).map(|(url, file)| format!("{url} {file}")).unwrap();
    assert_eq!(
        good("cuda_nvcc/linux-x86_64/n-archive.tar.xz"),
        "https://host.example/compute/cuda/redist/cuda_nvcc/linux-x86_64/n-archive.tar.xz n-archive.tar.xz"
    );
    assert_eq!(
        good("../../../pool/linux/0a-1/n.tar.xz"),
        "https://host.example/pool/linux/0a-1/n.tar.xz n.tar.xz"
    );
    assert_eq!(good("../../../../../../n.tar.xz"), "https://host.example/n.tar.xz n.tar.xz");
    assert_eq!(good("/pool/n.tar.xz"), "https://host.example/pool/n.tar.xz n.tar.xz");
    assert_eq!(good("https://host.example/n.tar.xz"), "https://host.example/n.tar.xz n.tar.xz");
    for odd in [
        "",
        "nvcc/",
        "..",
        "http://host.example/n.tar.xz",
        "https://host.example:8443/n.tar.xz",
        "https://other.example/n.tar.xz",
        "//other.example/n.tar.xz",
        "\\\\other.example/n.tar.xz",
        "https://me@host.example/n.tar.xz",
        "file:///etc/passwd",
        "data:,n.tar.xz",
        "a/%2e%2e%2fn",
        "a/.hidden",
        "a/n tar",
        "a/n.tar.xz\n",
        " n.tar.xz",
    ] {
        assert!(at(odd).is_err(), "{odd:?} became {:?}", at(odd));
    }
}

#[test]
fn a_password_goes_to_its_own_server_only() {
    let asked = "https://me:secret@host.example/r/redistrib_1.json";
    let url = |answered: &str| address(asked, answered, "a/n.tar.xz").unwrap().0;
    assert_eq!(url("https://host.example/r/redistrib_1.json"), "https://me:secret@host.example/r/a/n.tar.xz");
    assert_eq!(url("https://other.example/r/redistrib_1.json"), "https://other.example/r/a/n.tar.xz");
}

#[test]
fn every_manifest_that_nvidia_made_is_read() {
    for (file, text) in real("") {
        let manifest = Manifest::read(&text).unwrap_or_else(|why| panic!("{file}: {why:?}"));
        assert!(manifest.date.is_some(), "{file}");
        let nvcc = manifest.component("cuda_nvcc").unwrap();
        for platform in ["linux-x86_64", "linux-sbsa"] {
            assert!(nvcc.platform(platform).unwrap().of(None).unwrap().size > 1_000_000, "{file}");
        }
        let leaves = manifest.components.iter().flat_map(|c| &c.platforms);
        assert_eq!(leaves.count(), text.matches("\"relative_path\"").count(), "{file}: none is lost");
    }
    for (file, text) in real("cudnn") {
        let manifest = Manifest::read(&text).unwrap_or_else(|why| panic!("{file}: {why:?}"));
        let x86 = manifest.component("cudnn").unwrap().platform("linux-x86_64").unwrap();
        let archive = x86.of(Some("cuda12")).unwrap_or_else(|| panic!("{file} has no cuda12"));
        assert_eq!(archive.variant(), Some("cuda12"), "{file}");
        assert_eq!(x86.of(None), None, "{file}");
    }
    for (file, text) in real("other") {
        match file.strip_prefix("stub_") {
            Some(_) => assert_eq!(Manifest::read(&text), Err(NoManifest::Stub), "{file}"),
            None => assert!(Manifest::read(&text).unwrap().component("cccl").is_some(), "{file}"),
        }
    }
}
