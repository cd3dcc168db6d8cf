//! The source from end to end, on a mirror of made-up packages and on the real one.

use super::fake::{BULLSEYE, FakeMirror, TRIXIE};
use super::*;
use crate::host::Host;
use crate::net::fault_server::Answer;
use crate::source::reach::reach;
use std::fs;
use std::path::Path;

/// A machine in a directory of its own.
fn host(root: &Path, vars: &[(&str, &str)]) -> Host {
    Host {
        vars: vars.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect(),
        home: Some(root.join("home")),
        sysroot: Some(root.join("sys")),
        ..Host::bare()
    }
}

fn on<R>(host: &Host, request: &str, wish: &Wish, platform: Platform, ask: impl Fn(&Query<'_>) -> R) -> R {
    let reach = reach(host, host.home.as_deref().unwrap()).unwrap();
    ask(&Query { host, reach: &reach, request: Version::parse(request), wish, platform })
}

fn planned(url: &str, request: &str, wish: &Wish) -> Result<Plan, Miss> {
    let root = tempfile::tempdir().unwrap();
    let host = host(root.path(), &[("CUDAUP_DEBIAN_MIRROR", url)]);
    on(&host, request, wish, Platform::LinuxX86_64, plan)
}

fn minimal(url: &str, request: &str) -> Result<Plan, Miss> {
    planned(url, request, &Wish::of(Profile::Minimal))
}

fn names(plan: &Plan) -> Vec<String> {
    let mut names: Vec<String> =
        plan.parts.iter().map(|p| p.file.split('_').next().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_request_becomes_packages_and_builds() {
    let mirror = FakeMirror::new(&[("trixie", TRIXIE), ("bullseye", BULLSEYE)]);
    let plan = minimal(&mirror.url(), "12").unwrap();
    assert_eq!((plan.version, plan.source), (Version::exact(12, 4, 1), "debian"));
    let closure = [
        "libcu++-dev",
        "libcub-dev",
        "libcudart12",
        "libnvvm4",
        "libthrust-dev",
        "nvidia-cuda-dev",
        "nvidia-cuda-toolkit",
    ];
    assert_eq!(names(&plan), closure);
    assert_eq!(plan.component("cuda_nvcc"), Some("12.4.131"));
    assert_eq!(plan.component("cuda_cudart"), Some("12.4.127"));
    let nvcc = plan.parts.iter().find(|p| p.file.starts_with("nvidia-cuda-toolkit_")).unwrap();
    assert_eq!(nvcc.url, format!("{}/pool/x/nvidia-cuda-toolkit_1_amd64.deb", mirror.url()));
    assert_eq!((nvcc.sha256.len(), nvcc.unpacked), (64, Some(8 << 10)));
    assert!(nvcc.size > 0);
    assert!(plan.missing.is_empty() && plan.passed.is_empty());
    assert_eq!(plan.notes[0], "Debian's signature was not checked: gpgv is not installed");
    assert_eq!(mirror.server.count("/debian/dists/bullseye/InRelease"), 0);

    let old = minimal(&mirror.url(), "11.2.2").unwrap();
    let builds = (old.component("cuda_nvcc"), old.component("cuda_cudart"));
    assert_eq!(builds, (Some("11.2.152"), Some("11.2.152")));
}

#[test]
fn components_are_named_as_nvidia_names_them() {
    let mirror = FakeMirror::new(&[("trixie", TRIXIE)]);
    let cublas = planned(&mirror.url(), "12.4", &Wish::read(None, &["cublas"]).unwrap()).unwrap();
    assert_eq!(names(&cublas), ["libcublas12", "libcublaslt12", "nvidia-cuda-dev"]);
    assert!(cublas.parts.iter().all(|p| p.name == "libcublas"), "{:?}", cublas.parts);
    assert_eq!(mirror.server.count("/debian/dists/trixie/main/binary-amd64/Packages.xz"), 0);
    let dump = planned(&mirror.url(), "12.4", &Wish::read(None, &["cuobjdump"]).unwrap()).unwrap();
    assert_eq!(
        (names(&dump), dump.parts[0].name.as_str()),
        (vec!["nvidia-cuda-toolkit".to_owned()], "cuda_cuobjdump")
    );
    let default = planned(&mirror.url(), "12.4", &Wish::of(Profile::Default)).unwrap();
    assert!(default.component("libcufft").is_some());
    for absent in ["cuda_gdb", "libcurand"] {
        assert!(default.missing.contains(&absent.to_owned()), "{:?}", default.missing);
    }
    assert!(!default.missing.contains(&"cuda_cuobjdump".to_owned()));
    let gdb = planned(&mirror.url(), "12.4", &Wish::read(None, &["cuda_gdb"]).unwrap()).unwrap_err();
    assert_eq!((gdb.words.as_str(), gdb.failure.exit), ("has no cuda_gdb", Exit::NoVersion));
}

#[test]
fn what_debian_does_not_carry_is_said_without_a_question() {
    let root = tempfile::tempdir().unwrap();
    let host = host(root.path(), &[]);
    let ask = |request, platform| {
        on(&host, request, &Wish::of(Profile::Minimal), platform, plan).unwrap_err().words
    };
    assert_eq!(ask("12.6", Platform::LinuxX86_64), "has 11.2, 11.8 and 12.4 only");
    assert_eq!(ask("11.2", Platform::LinuxSbsa), "has 11.8 and 12.4 only");
    assert_eq!(ask("12.4", Platform::LinuxX86_64), "no mirror set");
    assert_eq!(
        on(&host, "", &Wish::of(Profile::Full), Platform::LinuxX86_64, offers).unwrap_err().words,
        "no mirror set"
    );
    let mirror = FakeMirror::new(&[("trixie", TRIXIE)]);
    let update = minimal(&mirror.url(), "12.4.0").unwrap_err();
    assert_eq!((update.words.as_str(), update.failure.exit), ("has 12.4.1 only", Exit::NoVersion));
}

#[test]
fn apts_mirrors_are_asked_until_one_has_the_suite() {
    let mirror = FakeMirror::new(&[("trixie", TRIXIE)]);
    let stranger = FakeMirror::new(&[]);
    stranger.suite("trixie", TRIXIE, "Somebody", "trixie");
    let root = tempfile::tempdir().unwrap();
    let list = root.path().join("sys/etc/apt/sources.list");
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    let line = |url: String| format!("deb {url} bookworm main\n");
    let nowhere = "http://nowhere.invalid/debian".to_owned();
    fs::write(&list, [line(nowhere), line(stranger.url()), line(mirror.url())].concat()).unwrap();
    let host = host(root.path(), &[]);
    let ask = || on(&host, "12.4", &Wish::of(Profile::Minimal), Platform::LinuxSbsa, plan);
    let plan = ask().unwrap();
    assert!(plan.parts.iter().all(|p| p.url.starts_with(&mirror.url()) && p.file.ends_with("_arm64.deb")));

    let liar = FakeMirror::new(&[]);
    liar.suite("trixie", TRIXIE, "Debian", "bookworm");
    fs::write(&list, [line(liar.url()), line(mirror.url())].concat()).unwrap();
    let notes = ask().unwrap().notes;
    assert!(
        notes.iter().any(|note| note.starts_with("passed over: ") && note.contains("bookworm")),
        "{notes:?}"
    );
    fs::write(&list, [line(stranger.url()), line(liar.url())].concat()).unwrap();
    assert_eq!(ask().unwrap_err().failure.exit, Exit::BadBytes);

    fs::write(&list, line(stranger.url())).unwrap();
    let miss = ask().unwrap_err();
    assert_eq!(miss.words, "no mirror of Debian");
    assert!(miss.failure.tries[0].contains("sources.list"), "{:?}", miss.failure.tries);
}

#[test]
fn bad_answers_have_their_words_and_exit_codes() {
    let mirror = FakeMirror::new(&[("trixie", TRIXIE)]);
    let list = "/debian/dists/trixie/non-free/binary-amd64/Packages.xz";
    let answer = |path: &str, answer: Answer| {
        mirror.server.next(path, &[answer.clone(), answer.clone(), answer.clone(), answer.clone(), answer]);
        let miss = minimal(&mirror.url(), "12.4").unwrap_err();
        mirror.server.next(path, &[]);
        (miss.words, miss.failure.exit)
    };
    let said = |words: &str, exit| (words.to_owned(), exit);
    assert_eq!(answer(list, Answer::Wrong), said("bad list of packages", Exit::BadBytes));
    assert_eq!(answer(list, Answer::Short(40)), said("bad list of packages", Exit::BadBytes));
    assert_eq!(answer(list, Answer::Status(404, "")), said("answers 404", Exit::Network));
    let release = "/debian/dists/trixie/InRelease";
    assert_eq!(answer(release, Answer::Status(404, "")), said("the mirror has no trixie", Exit::NoVersion));
    assert_eq!(answer(release, Answer::Html("")), said("answers with a web page", Exit::Network));
    assert_eq!(minimal("http://nowhere.invalid/debian", "12.4").unwrap_err().words, "name not found");
    mirror.suite("trixie", TRIXIE, "Debian", "bookworm");
    assert_eq!(minimal(&mirror.url(), "12.4").unwrap_err().failure.exit, Exit::BadBytes);
}

#[test]
fn offers_have_versions_and_sizes() {
    let mirror = FakeMirror::new(&[("trixie", TRIXIE), ("bullseye", BULLSEYE)]);
    let root = tempfile::tempdir().unwrap();
    let host = host(root.path(), &[("CUDAUP_DEBIAN_MIRROR", &mirror.url())]);
    let wish = Wish::of(Profile::Minimal);
    let all = on(&host, "", &wish, Platform::LinuxX86_64, offers).unwrap();
    let versions: Vec<Version> = all.iter().map(|o| o.version).collect();
    assert_eq!(versions, [Version::exact(12, 4, 1), Version::exact(11, 2, 2)]);
    let (minimal, default) = (all[0].minimal.unwrap(), all[0].default.unwrap());
    assert!(minimal > 1000 && default > minimal, "{minimal} {default}");
    let arm = on(&host, "", &wish, Platform::LinuxSbsa, offers).unwrap();
    assert_eq!(arm.len(), 1);
}

#[test]
fn the_mirror_of_this_machines_apt_has_what_it_is_said_to_have() {
    let root = tempfile::tempdir().unwrap();
    let machine = Host { sysroot: None, ..host(root.path(), &[("PATH", "/usr/bin:/bin")]) };
    let wish = Wish::of(Profile::Minimal);
    let all = match on(&machine, "", &wish, Platform::LinuxX86_64, offers) {
        Err(miss) if miss.failure.exit == Exit::Network || miss.words == "no mirror set" => {
            eprintln!("skipped: Debian's real packages: {}", miss.failure);
            return;
        }
        other => other.unwrap(),
    };
    let versions: Vec<Version> = all.iter().map(|o| o.version).collect();
    assert_eq!(versions, [Version::exact(12, 4, 1), Version::exact(11, 8, 0), Version::exact(11, 2, 2)]);
    assert!(all.iter().all(|o| o.minimal.is_some_and(|bytes| bytes > 500_000_000)), "{all:?}");
    let arm = on(&machine, "12.4", &Wish::of(Profile::Default), Platform::LinuxSbsa, plan).unwrap();
    assert_eq!(arm.component("cuda_nvcc"), Some("12.4.131"));
    assert!(arm.parts.iter().any(|p| p.file.ends_with("_arm64.deb")));
    let absent = ["cuda_gdb", "libcufile"];
    assert!(arm.missing.iter().all(|name| absent.contains(&name.as_str())), "{:?}", arm.missing);
}
