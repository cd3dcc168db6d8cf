//! The source as a whole, against servers that are good and bad; and its choice in every manifest that NVIDIA made.

use super::fake::{FakeDist, NEW, OLD, TREE, component, manifest, path};
use super::manifest::Manifest;
use super::*;
use crate::host::Host;
use crate::net::fault_server::Answer;
use crate::net::{Client, NetSettings};
use crate::settings::{Indexes, Place};
use crate::source::never;
use crate::source::plan::Platform;
use crate::source::reach::Reach;
use crate::source::select;
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

/// The world with a home that is there, and settings that name a server.
struct World {
    home: TempDir,
    host: Host,
    reach: Reach,
}

impl World {
    fn new(url: &str) -> Self {
        let home = TempDir::new().unwrap();
        let host = Host {
            home: Some(home.path().to_path_buf()),
            sysroot: Some(home.path().join("sys")),
            ..Host::bare()
        };
        let place = |url: &str| Place { url: url.to_owned(), origin: "a test".to_owned() };
        let indexes =
            Indexes { places: vec![place("http://127.0.0.1:1/simple")], certificates: vec![], notes: vec![] };
        let client = Client::new(&NetSettings::default()).unwrap();
        Self { home, host, reach: Reach { client, indexes, dist: place(url), keep: false } }
    }

    fn offline(&mut self) {
        self.reach.client = Client::new(&NetSettings { offline: true, ..NetSettings::default() }).unwrap();
    }

    fn query<'a>(&'a self, request: &str, wish: &'a Wish, platform: Platform) -> Query<'a> {
        let request = Version::parse(request);
        Query { host: &self.host, reach: &self.reach, request, wish, platform }
    }

    fn plan(&self, request: &str) -> Result<Plan, Miss> {
        plan(&self.query(request, &MINIMAL, Platform::LinuxX86_64))
    }
}

const MINIMAL: Wish = Wish::of(Profile::Minimal);

fn names(plan: &Plan) -> Vec<&str> {
    plan.parts.iter().map(|p| p.name.as_str()).collect()
}

#[test]
fn the_newest_release_that_fits_is_planned_from_its_manifest() {
    let mut dist = FakeDist::new();
    dist.list("11.4.1", 300);
    for version in ["12.4.0", "12.4.1", "12.10.0"] {
        dist.release(version, OLD);
    }
    dist.release("13.4.0", NEW);
    dist.release("13.4.1", NEW);
    let at = World::new(&dist.url());
    let version = |request: &str| at.plan(request).map(|p| p.version.to_string()).map_err(|m| m.words);
    assert_eq!(version("12.4").as_deref(), Ok("12.4.1"));
    assert_eq!(version("12").as_deref(), Ok("12.10.0"));
    assert_eq!(version("").as_deref(), Ok("13.4.1"), "without a request the newest");
    assert_eq!(version("13.4.0").as_deref(), Ok("13.4.0"), "a preview, asked for exactly");
    assert_eq!(version("11.4.1"), Err("has none before 11.4.2".into()));
    assert_eq!(version("11.3"), Err("has none before 11.4.2".into()));
    assert_eq!(version("11.8"), Err("does not have it".into()));

    let old = at.plan("12.4.1").unwrap();
    assert_eq!(names(&old), ["cuda_nvcc", "cuda_cudart", "cuda_cccl"]);
    let nvcc = &old.parts[0];
    assert_eq!(nvcc.file, "cuda_nvcc-linux-x86_64-12.4.131-archive.tar.xz");
    assert_eq!(
        nvcc.url,
        dist.server.url(&format!("/compute/cuda/redist/cuda_nvcc/linux-x86_64/{}", nvcc.file))
    );
    assert!(nvcc.sha256.len() == 64 && nvcc.size > 0 && old.missing.is_empty() && old.notes.is_empty());
    assert_eq!(nvcc.placement.place("top/bin/nvcc").as_deref(), Some("bin/nvcc"));

    let new = at.plan("13.4.1").unwrap();
    assert_eq!(names(&new), ["libnvvm", "cuda_nvcc", "cuda_crt", "cuda_cudart", "cuda_cccl", "cuda_culibos"]);
    let sbsa = plan(&at.query("13.4", &MINIMAL, Platform::LinuxSbsa)).unwrap();
    assert!(sbsa.parts.iter().all(|p| p.url.contains("/linux-sbsa/")));
}

#[test]
fn something_else_in_the_place_of_the_list_is_said() {
    let mut dist = FakeDist::new();
    dist.release("12.4.0", OLD);
    let at = World::new(&dist.url());
    let said = |bytes: &[u8], answers: &[Answer]| {
        dist.server.file(TREE, bytes);
        dist.server.next(TREE, answers);
        let plan = at.plan("12.4").unwrap();
        assert_eq!(plan.version, Version::exact(12, 4, 0));
        plan.notes
    };
    let note = |why: &str| {
        let list = dist.server.url(TREE);
        format!(
            "the list of releases at {list} could not be read ({why}): only releases known to this cudaup are tried"
        )
    };
    assert_eq!(said(b"<html>log in</html>", &[]), [note("it names no release")]);
    assert_eq!(said(b"\x1f\x8b\x00garbage", &[]), [note("it names no release")]);
    assert_eq!(said(b"", &[Answer::Status(403, "")]), [note("status 403")]);
    assert!(said(b"", &[Answer::Status(404, "")]).is_empty(), "a mirror need not have a list");
}

#[test]
fn profiles_names_and_what_is_never_installed() {
    let mut parts = OLD.to_vec();
    parts.extend([("libcublas", "12.4.5"), ("nsight_systems", "2024.1"), ("cuda_new_thing", "1.0")]);
    let mut dist = FakeDist::new();
    dist.release("12.4.1", &parts);
    let at = World::new(&dist.url());
    let with = |profile, components: &[&str]| {
        let wish = Wish::read(profile, components).unwrap();
        plan(&at.query("12.4", &wish, Platform::LinuxX86_64))
    };
    let full = with(Some(Profile::Full), &[]).unwrap();
    assert_eq!(names(&full), ["cuda_nvcc", "cuda_cudart", "cuda_cccl", "libcublas", "cuda_new_thing"]);
    assert!(
        full.missing.contains(&"libcufft".to_owned()) && !full.missing.contains(&"nvidia_driver".to_owned())
    );
    let place = |plan: &Plan| {
        let cublas = plan.parts.iter().find(|p| p.name == "libcublas").unwrap();
        cublas.placement.place("top/lib/libcublas_static.a")
    };
    assert!(place(&full).is_some());
    assert_eq!(place(&with(Some(Profile::Default), &[]).unwrap()), None);
    assert!(place(&with(Some(Profile::Default), &["cublas"]).unwrap()).is_some(), "it was named");
    assert_eq!(names(&with(None, &["nsys"]).unwrap()), ["nsight_systems"]);
    let miss = with(None, &["cufft"]).unwrap_err();
    assert_eq!((miss.words.as_str(), miss.failure.exit), ("has no libcufft, libnvjitlink", Exit::NoVersion));
}

#[test]
fn a_machine_that_a_release_is_not_for() {
    let mut dist = FakeDist::new();
    dist.release("12.3.2", OLD);
    dist.release("12.4.1", OLD);
    let tegra = manifest("2023-08-29", OLD, &["linux-aarch64", "linux-sbsa", "linux-x86_64"]);
    dist.publish("12.2.2", &Value::Object(tegra).to_string());
    let at = World::new(&dist.url());
    let on = |request: &str| plan(&at.query(request, &MINIMAL, Platform::LinuxAarch64));
    let miss = on("12.3").unwrap_err();
    assert_eq!(miss.words, "has none for linux-aarch64");
    assert_eq!(
        miss.failure.message,
        "CUDA 12.3.2 is not published for linux-aarch64; it has linux-sbsa, linux-x86_64"
    );
    assert_eq!(on("12").unwrap().version, Version::exact(12, 2, 2), "the newest that there is for it");
}

#[test]
fn what_is_listed_and_not_there_yet_is_said() {
    let mut dist = FakeDist::new();
    dist.release("12.4.0", OLD);
    dist.list("12.4.1", 58_000);
    let at = World::new(&dist.url());
    let plan = at.plan("12.4").unwrap();
    assert_eq!(plan.version, Version::exact(12, 4, 0));
    assert_eq!(
        plan.notes,
        [format!(
            "{} lists 12.4.1, but has no redistrib_12.4.1.json yet (status 404; mirrors lag)",
            dist.url().trim_end_matches('/')
        )]
    );
    let miss = at.plan("12.4.1").unwrap_err();
    assert_eq!(miss.words, "lists it, but does not have it yet");
    assert_eq!(miss.failure.exit, Exit::Network);
    let unknown = at.plan("12.4.9").unwrap_err();
    assert!(unknown.failure.message.starts_with("there is no CUDA 12.4.9"), "{:?}", unknown.failure);
}

#[test]
fn a_server_without_a_list_is_asked_for_what_is_known() {
    let mut dist = FakeDist::new();
    dist.release("12.4.0", OLD);
    let gone = Answer::Status(404, "");
    dist.server.next(TREE, &[gone.clone(), gone.clone(), gone]);
    let at = World::new(&dist.url());
    assert_eq!(at.plan("12.4").unwrap().version, Version::exact(12, 4, 0));
    assert_eq!(dist.server.count(&path("12.4.1")), 1);
    // What no name was found for may be there all the same: nobody has said what is.
    let miss = at.plan("12.5").unwrap_err();
    assert_eq!((miss.words.as_str(), miss.failure.exit), ("lists no releases", Exit::Network));
    let offers = offers(&at.query("", &MINIMAL, Platform::LinuxX86_64)).unwrap();
    assert_eq!(offers.iter().map(|o| o.version).collect::<Vec<_>>(), [Version::exact(12, 4, 0)]);
}

#[test]
fn what_was_hurt_on_its_way_is_asked_for_once_more() {
    let mut dist = FakeDist::new();
    dist.release("12.4.0", OLD);
    dist.release("12.4.1", OLD);
    dist.server.next(TREE, &[Answer::Short(60)]);
    dist.server.next(&path("12.4.1"), &[Answer::Short(20)]);
    let at = World::new(&dist.url());
    assert_eq!(at.plan("12.4").unwrap().version, Version::exact(12, 4, 1));
    assert_eq!((dist.server.count(TREE), dist.server.count(&path("12.4.1"))), (2, 2));
    // A list that never ends is no list.
    dist.server.next(TREE, &[Answer::Short(60), Answer::Short(60)]);
    let miss = at.plan("12").unwrap_err();
    assert_eq!(miss.failure.exit, Exit::Network);
    assert!(miss.failure.message.contains("the page has no end"), "{}", miss.failure.message);
}

#[test]
fn a_manifest_that_changed_is_said_and_without_a_network_the_last_one_serves() {
    let mut dist = FakeDist::new();
    dist.release("12.4.1", OLD);
    let mut at = World::new(&dist.url());
    assert!(at.plan("12.4").unwrap().notes.is_empty());
    assert!(at.plan("12.4").unwrap().notes.is_empty(), "the same again");
    let other = manifest(
        "2024-05-01",
        &[("cuda_cccl", "2"), ("cuda_cudart", "2"), ("cuda_nvcc", "2")],
        &["linux-x86_64"],
    );
    dist.publish("12.4.1", &Value::Object(other).to_string());
    let changed = at.plan("12.4").unwrap();
    assert_eq!(changed.notes, ["the manifest of 12.4.1 is another one than was seen here before"]);
    assert_eq!(changed.component("cuda_nvcc"), Some("2"));
    at.offline();
    assert_eq!(at.plan("12").unwrap().component("cuda_nvcc"), Some("2"));
    let elsewhere = World { home: TempDir::new().unwrap(), ..at };
    let host = Host { home: Some(elsewhere.home.path().into()), ..elsewhere.host.clone() };
    let elsewhere = World { host, ..elsewhere };
    assert_eq!(elsewhere.plan("12").unwrap_err().words, "offline");
}

#[test]
fn odd_manifests_and_answers_are_named() {
    let mut dist = FakeDist::new();
    dist.publish("12.0.0", r#"{ "fabricmanager": { "470.57.02": { "linux-x86_64": "f.tar.gz" } } }"#);
    dist.publish("12.1.0", "{}");
    dist.publish("12.2.0", "<!DOCTYPE html><html>log in</html>");
    let mut outside = manifest("2023-10-19", OLD, &["linux-x86_64"]);
    let mut nvcc = component("cuda_nvcc", "1", "CUDA Toolkit", &["linux-x86_64"]);
    nvcc["linux-x86_64"]["relative_path"] = "https://other.example/n.tar.xz".into();
    outside.insert("cuda_nvcc".into(), nvcc);
    dist.publish("12.3.0", &Value::Object(outside).to_string());
    let at = World::new(&dist.url());
    for (request, words, exit) in [
        ("12.0.0", "has only parts of the driver", Exit::NoVersion),
        ("12.1.0", "its manifest cannot be read", Exit::BadBytes),
        ("12.2.0", "answers with a web page", Exit::Network),
        ("12.3.0", "its manifest cannot be used", Exit::BadBytes),
    ] {
        let miss = at.plan(request).unwrap_err();
        assert_eq!((miss.words.as_str(), miss.failure.exit), (words, exit), "{request}: {}", miss.failure);
    }
    dist.server.next(&path("12.1.0"), &[Answer::Status(401, "")]);
    assert_eq!(at.plan("12.1.0").unwrap_err().words, "answers 401");
}

#[test]
fn a_host_that_is_not_there_is_asked_once_and_not_waited_for() {
    let refused = World::new("http://127.0.0.1:1").plan("12.4").unwrap_err();
    assert_eq!((refused.words.as_str(), refused.failure.exit), ("connection refused", Exit::Network));
    assert_eq!(refused.failure.tries, ["the server http://127.0.0.1:1 is set by a test"]);
    let nameless = World::new("http://no-such-host.invalid").plan("12.4").unwrap_err();
    assert_eq!(nameless.words, "name not found");
}

#[test]
fn releases_are_offered_with_their_dates_and_sizes() {
    let mut dist = FakeDist::new();
    let mut parts = OLD.to_vec();
    parts.push(("libcublas", "12.4.5"));
    dist.release("12.4.1", &parts);
    dist.release("12.3.0", &[("cuda_cccl", "1")]);
    dist.release("13.4.0", NEW);
    dist.list("12.5.0", 50_000);
    let at = World::new(&dist.url());
    let offers = || offers(&at.query("13", &MINIMAL, Platform::LinuxX86_64)).unwrap();
    let first = offers();
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!((first[0].version, first[0].date.as_deref()), (Version::exact(12, 4, 1), Some("2024-04-03")));
    assert!(first[0].minimal.unwrap() > 0 && first[0].default > first[0].minimal);
    assert_eq!(offers(), first);
    assert_eq!(dist.server.count(&path("12.4.1")), 1, "what was seen is not asked for again");
}

#[test]
fn nothing_denied_is_chosen_from_any_manifest_that_nvidia_made() {
    let everything: Vec<&str> = crate::source::component::COMPONENTS.iter().map(|c| c.name).collect();
    let real = manifest::tests::real;
    for (file, text) in real("").into_iter().chain(real("other")) {
        let Ok(manifest) = Manifest::read(&text) else { continue };
        let label = file.trim_end_matches(".json").rsplit('_').next().unwrap();
        let version = Version::parse(label).unwrap();
        let url = format!("https://host.example/compute/cuda/redist/redistrib_{version}.json");
        let found =
            Found { manifest, asked: url.clone(), answered: url, changed: false, sha256: String::new() };
        for platform in Platform::ALL {
            let choose = |wish: &Wish| choose::choose(&found, version, wish, platform);
            let exists = found.manifest.platforms().contains(&platform.name());
            let minimal = choose(&MINIMAL);
            assert_eq!(minimal.is_ok(), exists, "{file} {platform:?}");
            let Ok(minimal) = minimal else { continue };
            let has = |name: &str| minimal.parts.iter().any(|p| p.name == name);
            assert_eq!(has("cuda_crt") && has("libnvvm"), version.major >= 13, "{file}");
            assert!(has("cuda_cccl") && minimal.missing.is_empty(), "{file}: {:?}", minimal.missing);
            let full = choose(&Wish::of(Profile::Full)).unwrap();
            let default = choose(&Wish::of(Profile::Default)).unwrap();
            assert!(full.parts.len() >= default.parts.len() && default.parts.len() > minimal.parts.len());
            // By name, too: all that can be named and that the release has.
            let there =
                |n: &&str| found.manifest.component(n).is_some_and(|c| c.platform(platform.name()).is_some());
            let named: Vec<&str> = everything.iter().copied().filter(there).collect();
            let wish = Wish::read(Some(Profile::Full), &named).unwrap();
            let all = choose(&wish).unwrap();
            assert!(all.parts.len() > full.parts.len(), "{file}: what is had by name only");
            for part in full.parts.iter().chain(&all.parts) {
                let original = if part.url.contains("/cccl/") { "cccl" } else { &part.name };
                let component = found.manifest.component(original).unwrap();
                assert!(!never::denied(&component.name, &component.licence), "{file}: {}", part.name);
                assert!(part.url.contains(platform.name()), "{file}: {}", part.url);
                let ending = Path::new(&part.file).extension();
                assert!(ending.is_some_and(|e| e == "xz"), "{}", part.file);
            }
            for absent in ["nvidia_driver", "nsight_compute", "cuda_documentation", "cuda_compat"] {
                assert!(!full.parts.iter().any(|p| p.name == absent), "{file}: {absent}");
            }
        }
    }
}

#[test]
fn the_first_source_that_serves_is_taken_and_the_others_are_said() {
    let mut dist = FakeDist::new();
    dist.release("12.4.1", OLD);
    let index = crate::source::pypi::fake::FakeIndex::usual();
    let mut at = World::new(&dist.url());
    at.reach.indexes.places[0].url = index.url();
    let auto = |at: &World, request: &str, wish: &Wish| {
        select::plan(&at.query(request, wish, Platform::LinuxX86_64), select::AUTO)
    };
    let plan = auto(&at, "12.4", &MINIMAL).unwrap();
    assert_eq!((plan.source, plan.passed.as_slice()), ("nvidia", [].as_slice()));
    let plan = auto(&at, "13.0", &MINIMAL).unwrap();
    assert_eq!(
        (plan.source, plan.passed.as_slice()),
        ("pypi", ["nvidia (does not have it)".to_owned()].as_slice())
    );
    // A component that was named is worth another source; the rest of a profile is not.
    let default = auto(&at, "12.4", &Wish::of(Profile::Default)).unwrap();
    assert!(default.source == "nvidia" && default.missing.contains(&"libcublas".to_owned()));
    dist.release("13.0.3", NEW);
    let named = auto(&at, "13.0", &Wish::read(None, &["cublas"]).unwrap()).unwrap();
    assert_eq!((named.source, named.passed), ("pypi", vec!["nvidia (has no libcublas)".to_owned()]));
    let nowhere = auto(&at, "12.7", &MINIMAL).unwrap_err();
    assert_eq!(nowhere.exit, Exit::NoVersion);
    assert!(nowhere.message.starts_with("there is no CUDA 12.7 (12.6.3 was followed by 12.8.0"), "{nowhere}");
    let both = auto(&at, "12.5", &MINIMAL).unwrap_err();
    let why = "no source has 12.5 here: nvidia (does not have it), pypi (has no nvcc for 12.x), ";
    assert!(both.message.starts_with(why), "{both}");
    at.reach.dist.url = "http://127.0.0.1:1".into();
    let plan = auto(&at, "13.0", &MINIMAL).unwrap();
    assert_eq!(plan.passed, ["nvidia (connection refused)"]);
    let both = auto(&at, "12.4", &MINIMAL).unwrap_err();
    assert_eq!(both.exit, Exit::Network);
    assert!(select::plan(&at.query("12.4", &MINIMAL, Platform::LinuxX86_64), NAME).is_err());
}
