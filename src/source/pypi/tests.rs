//! The source from end to end, on an index of made-up wheels and on the real one.

use super::fake::{self, CLOSURE, FakeIndex, Form};
use super::*;
use crate::net::fault_server::Answer;
use crate::net::{Client, NetSettings, Patience};
use crate::settings::{Indexes, PYPI, Place};
use crate::source::profile::Profile;
use std::time::Duration;

fn client() -> Client {
    let patience = Patience { first_wait: Duration::from_millis(1), ..Patience::default() };
    Client::new(&NetSettings { patience, ..NetSettings::default() }).unwrap()
}

fn indexes(urls: &[String]) -> Indexes {
    let place = |url: &String| Place { url: url.clone(), origin: "PIP_INDEX_URL".into() };
    Indexes { places: urls.iter().map(place).collect(), certificates: Vec::new(), notes: Vec::new() }
}

fn failure(no: No) -> Failure {
    match no {
        No::Lacks(miss) => miss.failure,
        No::Failed(failure) => failure,
    }
}

fn plan_on(urls: &[String], request: &str, wish: &Wish) -> Result<Plan, Failure> {
    let client = client();
    let indexes = indexes(urls);
    let index = Index { client: &client, indexes: &indexes };
    planned(index, Version::parse(request), wish, Platform::LinuxSbsa).map_err(failure)
}

fn minimal(index: &FakeIndex, request: &str) -> Result<Plan, Failure> {
    plan_on(&[index.url()], request, &Wish::of(Profile::Minimal))
}

#[test]
fn a_request_becomes_exact_wheels() {
    let index = FakeIndex::usual();
    let plan = minimal(&index, "13.0").unwrap();
    assert_eq!(plan.version, Version::exact(13, 0, 3));
    assert_eq!(plan.parts.len(), CLOSURE.len());
    let nvcc = plan.parts.iter().find(|p| p.name == "cuda_nvcc").unwrap();
    assert_eq!(nvcc.version, "13.0.88");
    assert!(nvcc.file.ends_with("aarch64.whl"), "{}", nvcc.file);
    assert!(nvcc.url.starts_with(&index.server.url("/files/")) && nvcc.sha256.len() == 64 && nvcc.size > 0);
    assert_eq!(nvcc.placement.place("nvidia/cu13/bin/nvcc").as_deref(), Some("bin/nvcc"));
    assert!(plan.missing.is_empty(), "{:?}", plan.missing);
    assert!(plan.unpacked() > plan.size());
    assert_eq!(index.server.count("/simple/nvidia-cublas/"), 0, "what is not wanted is not asked for");
}

#[test]
fn releases_are_offered_with_what_they_are_to_load() {
    let index = FakeIndex::usual();
    let offers = || {
        let (client, indexes) = (client(), indexes(&[index.url()]));
        let at = Index { client: &client, indexes: &indexes };
        let files = toolkit_files(at).unwrap();
        let releases: Vec<_> =
            choose::offers(&files).into_iter().filter(|o| o.version >= FIRST_WHOLE).collect();
        sizes::offers(at, &releases, Platform::LinuxSbsa)
    };
    let plan = minimal(&index, "13.0").unwrap();
    let got = offers();
    assert_eq!(got.len(), 1, "{got:?}");
    assert_eq!((got[0].version, got[0].minimal), (Version::exact(13, 0, 3), Some(plan.size())));
    assert!(got[0].default > got[0].minimal);
    index.server.next("/simple/nvidia-nvvm/", &[Answer::Status(401, "")]);
    assert_eq!(offers()[0].minimal, None, "a part of the sum would mislead");
}

#[test]
fn what_pypi_does_not_have_is_named_or_refused() {
    let index = FakeIndex::usual();
    let default = plan_on(&[index.url()], "13.0.3", &Wish::of(Profile::Default)).unwrap();
    assert!(default.component("libcublas").is_some());
    assert!(
        default.missing.contains(&"cuda_gdb".to_owned()) && default.missing.contains(&"libcufft".to_owned())
    );
    let gdb = Wish::read(None, &["cuda_gdb"]).unwrap();
    let refused = plan_on(&[index.url()], "13.0.3", &gdb).unwrap_err();
    assert!(refused.message.contains("cuda_gdb") && refused.exit == Exit::NoVersion, "{refused}");
    assert_eq!(minimal(&index, "12.4").unwrap_err().exit, Exit::NoVersion);
}

#[test]
fn the_older_page_gives_the_same_plan() {
    let index = FakeIndex::usual();
    let json = minimal(&index, "13").unwrap();
    index.publish(Form::Html);
    assert_eq!(minimal(&index, "13").unwrap(), json);
}

#[test]
fn a_further_index_serves_what_the_first_does_not_have() {
    let mut first = FakeIndex::new();
    first.toolkit("13.0.3.0", CLOSURE);
    first.publish(Form::Json);
    let second = FakeIndex::usual();
    let plan = plan_on(&[first.url(), second.url()], "13", &Wish::of(Profile::Minimal)).unwrap();
    assert_eq!(plan.parts.len(), CLOSURE.len());
    assert_eq!(second.server.count("/simple/cuda-toolkit/"), 0);
}

#[test]
fn an_index_without_the_project_is_told_apart_from_none() {
    let index = FakeIndex::new();
    let failure = minimal(&index, "13").unwrap_err();
    assert!(failure.message.contains("has no project cuda-toolkit"), "{failure}");
    assert!(failure.tries.iter().any(|t| t.contains("PIP_INDEX_URL")), "{:?}", failure.tries);
    let nowhere = ["http://127.0.0.1:1/simple".to_owned()];
    assert_eq!(plan_on(&nowhere, "13", &Wish::of(Profile::Minimal)).unwrap_err().exit, Exit::Network);
}

#[test]
fn a_login_page_is_no_index() {
    let index = FakeIndex::usual();
    index.server.next("/simple/cuda-toolkit/", &[Answer::Html("Content-Type: text/html\r\n")]);
    let failure = minimal(&index, "13").unwrap_err();
    assert_eq!(failure.exit, Exit::Network);
    assert!(failure.message.contains("login page"), "{failure}");
}

#[test]
fn a_wheel_without_a_hash_is_refused() {
    let mut index = FakeIndex::usual();
    let page = "<title>Links for x</title><a href='/f/nvidia_nvvm-13.0.88-py3-none-any.whl'>x</a>";
    index.server.file("/simple/nvidia-nvvm/", page.as_bytes());
    let failure = minimal(&index, "13").unwrap_err();
    assert!(failure.exit == Exit::BadBytes && failure.message.contains("nvidia_nvvm"), "{failure}");
    index.toolkit("13.0.4", &[("nvidia-cuda-nvcc", "13.0.88")]);
    index.publish(Form::Json);
    let failure = minimal(&index, "13.0.4").unwrap_err();
    assert!(failure.message.contains("cuda_crt, libnvvm"), "{failure}");
}

#[test]
fn changed_metadata_is_refused() {
    let index = FakeIndex::usual();
    let other = fake::wheel(&[("x.dist-info/METADATA", b"Name: x\n", 0o644)]);
    index.server.file("/files/cuda_toolkit-13.0.3.0-py2.py3-none-any.whl", &other);
    assert_eq!(minimal(&index, "13.0.3").unwrap_err().exit, Exit::BadBytes);
}

#[test]
fn the_real_index_has_a_whole_13_0_3() {
    let client = Client::new(&NetSettings {
        patience: Patience { tries: 1, ..Patience::default() },
        ..NetSettings::default()
    })
    .unwrap();
    let indexes = indexes(&[PYPI.to_owned()]);
    let index = Index { client: &client, indexes: &indexes };
    let plan = match planned(
        index,
        Some(Version::release(13, 0)),
        &Wish::of(Profile::Default),
        Platform::LinuxX86_64,
    )
    .map_err(failure)
    {
        Err(failure) if failure.exit == Exit::Network => {
            eprintln!("skipped: the index cannot be reached: {failure}");
            return;
        }
        other => other.unwrap(),
    };
    assert!(plan.version >= Version::exact(13, 0, 3));
    assert!(plan.component("cuda_nvcc").is_some_and(|v| v.starts_with("13.0.")));
    assert!(
        plan.size() > 1_000_000_000 && plan.missing.contains(&"cuda_gdb".to_owned()),
        "{:?}",
        plan.missing
    );
}
