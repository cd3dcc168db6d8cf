//! The installer's file on a server of its own.

use super::*;
use crate::host::Host;
use crate::net::fault_server::{Answer, FaultServer};
use crate::net::{Client, NetSettings};
use crate::settings::{Indexes, Place};
use crate::source::profile::{Profile, Wish};
use crate::source::reach::Reach;

const PATH: &str = "/compute/cuda/12.4.1/local_installers/cuda_12.4.1_550.54.15_linux.run";

fn asked(root: &str, request: &str, offline: bool) -> Result<Plan, Miss> {
    let place = Place { url: root.to_owned(), origin: "test".into() };
    let indexes = Indexes { places: vec![place.clone()], certificates: Vec::new(), notes: Vec::new() };
    let client = Client::new(&NetSettings { offline, ..NetSettings::default() }).unwrap();
    let host = Host { offline, ..Host::bare() };
    plan(&Query {
        host: &host,
        reach: &Reach { client, indexes, dist: place, keep: false },
        request: Version::parse(request),
        wish: &Wish::of(Profile::Minimal),
        platform: Platform::LinuxX86_64,
    })
}

#[test]
fn a_request_becomes_one_file_with_its_hash() {
    let server = FaultServer::start();
    server.file(PATH, &[7; 6000]);
    for request in ["12.4", "12.4.1"] {
        let plan = asked(&server.url(""), request, false).unwrap();
        let part = &plan.parts[0];
        assert_eq!((plan.version, plan.source), (Version::exact(12, 4, 1), "runfile"));
        assert_eq!((part.url.as_str(), part.size, plan.size()), (server.url(PATH).as_str(), 6000, 6000));
        assert_eq!(part.sha256, "367d2299b3a4588ab487a6d27276ca5d9ead6e394904f18bccb9e12433b9c4fb");
        assert_eq!(part.placement.place("builds/cuda_nvcc/bin/nvcc").as_deref(), Some("bin/nvcc"));
    }
}

#[test]
fn what_cannot_be_had_is_said_in_a_few_words() {
    let server = FaultServer::start();
    let root = server.url("");
    assert_eq!(asked(&root, "12.4.1", false).unwrap_err().words, "does not have it");
    server.file(PATH, b"x");
    server.next(PATH, &[Answer::Status(403, "")]);
    assert_eq!(asked(&root, "12.4.1", false).unwrap_err().words, "answers 403");
    assert_eq!(asked(&root, "12.4.1", true).unwrap_err().words, "offline");
    for unknown in ["13.4.1", "10.2", "12.8.2", "99"] {
        let miss = asked(&root, unknown, false).unwrap_err();
        assert_eq!(
            (miss.words.as_str(), miss.failure.exit),
            ("does not know it", Exit::NoVersion),
            "{unknown}"
        );
    }
    assert_eq!(asked("http://no.such.host.invalid", "12.4.1", false).unwrap_err().words, "name not found");
}

#[test]
fn files_are_known_by_their_names() {
    let of = |name: &str| known(name).map(|(runfile, platform)| (runfile.version, platform));
    let x86 = Platform::LinuxX86_64;
    assert_eq!(of("cuda_12.1.0_530.30.02_linux.run"), Some((Version::exact(12, 1, 0), x86)));
    assert_eq!(of("cuda_10.2.89_440.33.01_linux.run"), Some((Version::exact(10, 2, 0), x86)));
    let arm = of("cuda_12.4.1_550.54.15_linux_sbsa.run");
    assert_eq!(arm, Some((Version::exact(12, 4, 1), Platform::LinuxSbsa)));
    assert_eq!(of("cuda_12.4.1_550.54.15_linux (1).run"), None);
    assert_eq!(of("cuda_10.0.130_410.48_linux"), None, "it is no archive of makeself");
}
