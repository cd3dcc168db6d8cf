//! The client against real sockets: every way in which a server can be bad, and how many requests it took.

mod documents;

use super::fault_server::{Answer, FaultServer};
use super::{Client, Error, NetSettings, Pace, Patience, Wanted};
use crate::failure::Exit;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

struct Bench {
    server: FaultServer,
    client: Client,
    dir: TempDir,
    data: Vec<u8>,
}

impl Bench {
    fn new() -> Self {
        let data: Vec<u8> =
            (0..300_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        let server = FaultServer::start();
        server.file("/f.whl", &data);
        Self { server, client: Client::new(&quick()).unwrap(), dir: TempDir::new().unwrap(), data }
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            url: self.server.url("/f.whl"),
            size: Some(self.data.len() as u64),
            sha256: Some(hash(&self.data)),
        }
    }

    fn target(&self) -> PathBuf {
        self.dir.path().join("f.whl")
    }

    fn fetch(&self, wanted: &Wanted) -> Result<(), Error> {
        self.client.fetch(wanted, &self.target(), &|_| ControlFlow::Continue(()))
    }

    /// The file is there, whole, and nothing else.
    fn arrived(&self) {
        assert!(std::fs::read(self.target()).unwrap() == self.data, "other bytes arrived");
        assert_eq!(self.left(), ["f.whl"]);
    }

    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn ranges(&self) -> Vec<Option<String>> {
        self.server.seen("/f.whl").into_iter().map(|s| s.range).collect()
    }

    fn part(&self, bytes: &[u8], origin: Option<&str>) {
        std::fs::write(self.dir.path().join("f.whl.part"), bytes).unwrap();
        if let Some(validator) = origin {
            let text = serde_json::json!({ "url": self.server.url("/f.whl"), "validator": validator });
            std::fs::write(self.dir.path().join("f.whl.part.json"), text.to_string()).unwrap();
        }
    }
}

fn quick() -> NetSettings {
    let patience = Patience {
        tries: 3,
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(2),
        longest_asked: Duration::from_secs(1),
        progress: 1 << 10,
    };
    NetSettings { patience, stall_timeout: Duration::from_millis(300), ..NetSettings::default() }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[test]
fn a_file_arrives_whole_in_one_request() {
    let b = Bench::new();
    let reached = RefCell::new(Vec::new());
    let watch = |n| {
        reached.borrow_mut().push(n);
        ControlFlow::Continue(())
    };
    b.client.fetch(&b.wanted(), &b.target(), &watch).unwrap();
    b.arrived();
    assert_eq!(b.server.count("/f.whl"), 1);
    assert!(reached.borrow().is_sorted());
    assert_eq!(reached.borrow().last(), Some(&(b.data.len() as u64)));
    let agent = b.server.seen("/f.whl")[0].agent.clone().unwrap();
    assert_eq!(agent, format!("cudaup/{}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_whole_file_is_not_loaded_again_and_a_spoilt_one_is() {
    let b = Bench::new();
    std::fs::write(b.target(), &b.data).unwrap();
    b.fetch(&b.wanted()).unwrap();
    assert_eq!(b.server.count("/f.whl"), 0);
    let mut spoilt = b.data.clone();
    spoilt[7] ^= 1;
    std::fs::write(b.target(), &spoilt).unwrap();
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert_eq!(b.server.count("/f.whl"), 1);
}

#[test]
fn cuts_and_resets_resume_where_they_stopped() {
    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Cut(500_000), Answer::Reset(400_000), Answer::Drop]);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    let ranges = b.ranges();
    assert_eq!(ranges[0], None);
    assert_eq!(ranges[1].as_deref(), Some("bytes=500000-"));
    // A reset may throw away what the kernel still held; what counts is that nothing started over.
    assert!(ranges[2..].iter().all(Option::is_some), "{ranges:?}");
    assert_eq!(b.server.seen("/f.whl")[1].if_range.as_deref(), Some("\"v1\""));
}

#[test]
fn a_server_without_ranges_starts_over() {
    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Cut(500_000), Answer::NoRange]);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert_eq!(b.server.count("/f.whl"), 2);
}

#[test]
fn a_changed_file_starts_over() {
    let b = Bench::new();
    b.part(&[0; 5000], Some("\"v0\""));
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    let seen = b.server.seen("/f.whl");
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].if_range.as_deref(), Some("\"v0\""));
}

#[test]
fn a_part_of_an_earlier_run_is_gone_on_with() {
    let b = Bench::new();
    b.part(&b.data[..700_001], Some("\"v1\""));
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert_eq!(b.ranges(), [Some("bytes=700001-".to_owned())]);
}

#[test]
fn without_an_etag_the_hash_decides_and_without_a_hash_too_it_starts_over() {
    let b = Bench::new();
    b.server.etag(None);
    b.part(&b.data[..1000], None);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert_eq!(b.ranges(), [Some("bytes=1000-".to_owned())]);

    let b = Bench::new();
    b.part(&[9; 1000], None);
    b.fetch(&Wanted { sha256: None, size: None, ..b.wanted() }).unwrap();
    b.arrived();
    assert_eq!(b.ranges(), [None]);
}

#[test]
fn a_part_that_is_whole_already_needs_no_request() {
    let b = Bench::new();
    b.part(&b.data, Some("\"v1\""));
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert_eq!(b.server.count("/f.whl"), 0);
}

#[test]
fn a_whole_part_of_unknown_length_ends_at_416() {
    let b = Bench::new();
    b.part(&b.data, Some("\"v1\""));
    b.fetch(&Wanted { size: None, ..b.wanted() }).unwrap();
    b.arrived();
    assert_eq!(b.server.count("/f.whl"), 1);
}

#[test]
fn a_part_longer_than_the_file_starts_over_without_a_loop() {
    let b = Bench::new();
    let mut long = b.data.clone();
    long.extend_from_slice(b"more");
    b.part(&long, Some("\"v1\""));
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert_eq!(b.ranges(), [None]);

    let b = Bench::new();
    b.part(&long, Some("\"v1\""));
    b.fetch(&Wanted { size: None, ..b.wanted() }).unwrap();
    b.arrived();
    assert_eq!(b.server.count("/f.whl"), 2);
}

#[test]
fn answer_416_without_end_is_a_failure_and_not_a_loop() {
    let b = Bench::new();
    b.part(&b.data[..100], Some("\"v1\""));
    b.server.next("/f.whl", &[Answer::Status(416, ""), Answer::Status(416, "")]);
    assert!(matches!(b.fetch(&b.wanted()), Err(Error::Status { code: 416, .. })));
    assert_eq!(b.server.count("/f.whl"), 2);
}

#[test]
fn a_range_that_was_not_asked_for_starts_over() {
    for answer in [Answer::ShiftedRange, Answer::WrongRange] {
        let b = Bench::new();
        b.server.next("/f.whl", &[Answer::Cut(5000), answer]);
        b.fetch(&b.wanted()).unwrap();
        b.arrived();
        assert_eq!(b.ranges(), [None, Some("bytes=5000-".to_owned()), None]);
    }
}

#[test]
fn wrong_bytes_are_tried_once_more_and_then_named() {
    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Wrong]);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();

    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Wrong, Answer::Wrong]);
    let failure = b.fetch(&b.wanted()).unwrap_err().into_failure();
    assert_eq!(failure.exit, Exit::BadBytes);
    let wrong: Vec<u8> = b.data.iter().map(|byte| byte ^ 1).collect();
    for word in [b.server.url("/f.whl"), hash(&b.data), hash(&wrong)] {
        assert!(failure.message.contains(&word), "{}", failure.message);
    }
    assert_eq!(b.server.count("/f.whl"), 2);
    assert_eq!(b.left(), [""; 0]);
}

#[test]
fn a_short_file_is_named_with_both_lengths() {
    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Short(1000), Answer::Short(1000)]);
    let error = b.fetch(&b.wanted()).unwrap_err();
    assert!(matches!(error, Error::Size { wanted: 1_200_000, got: 1000, .. }), "{error:?}");
    assert_eq!(b.left(), [""; 0]);
}

#[test]
fn a_length_that_is_a_lie_does_no_harm() {
    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Length(500)]);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();

    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Length(-500)]);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
}

#[test]
fn busy_servers_are_asked_again_and_others_are_not() {
    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Status(503, ""), Answer::Status(429, "Retry-After: 0\r\n")]);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert_eq!(b.server.count("/f.whl"), 3);

    for (answer, requests) in [
        (Answer::Status(404, ""), 1),
        (Answer::Status(429, "Retry-After: 3600\r\n"), 1),
        (Answer::Status(502, ""), 3),
    ] {
        let b = Bench::new();
        b.server.next("/f.whl", &vec![answer.clone(); 9]);
        assert!(matches!(b.fetch(&b.wanted()), Err(Error::Status { .. })), "{answer:?}");
        assert_eq!(b.server.count("/f.whl"), requests, "{answer:?}");
        assert_eq!(b.left(), [""; 0]);
    }
}

#[test]
fn silence_ends_and_what_came_before_it_is_kept() {
    let b = Bench::new();
    b.server.next("/f.whl", &vec![Answer::Stall(0); 9]);
    assert!(matches!(b.fetch(&b.wanted()), Err(Error::Stalled { .. })));
    assert_eq!(b.server.count("/f.whl"), 3);

    let b = Bench::new();
    b.server.next("/f.whl", &[Answer::Stall(64_000)]);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert_eq!(b.ranges(), [None, Some("bytes=64000-".to_owned())]);
}

#[test]
fn a_login_page_is_named() {
    for kind in
        ["Content-Type: text/html; charset=utf-8\r\n", "Content-Type: application/octet-stream\r\n", ""]
    {
        let b = Bench::new();
        b.server.next("/f.whl", &[Answer::Html(kind)]);
        assert!(matches!(b.fetch(&b.wanted()), Err(Error::Html { .. })), "{kind}");
    }
}

#[test]
fn packed_files_are_refused_and_packed_documents_unpacked() {
    let mut b = Bench::new();
    // Packing takes the server longer than the others of these tests are waited for, on a machine under load.
    b.client = Client::new(&NetSettings { stall_timeout: Duration::from_secs(60), ..quick() }).unwrap();
    b.server.next("/f.whl", &[Answer::Gzip]);
    assert!(matches!(b.fetch(&b.wanted()), Err(Error::Encoding { .. })));
    b.server.next("/f.whl", &[Answer::Gzip]);
    let document = b.client.get(&b.server.url("/f.whl"), None, 2_000_000).unwrap();
    assert!(document.body == b.data);
    b.server.next("/f.whl", &[Answer::Gzip]);
    let bomb = b.client.get(&b.server.url("/f.whl"), None, 1_199_999);
    assert!(matches!(bomb, Err(Error::TooLarge { .. })), "{bomb:?}");
}

#[test]
fn the_watcher_can_stop_it_and_the_part_stays() {
    let b = Bench::new();
    let stop = |n| if n > 100_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let stopped = b.client.fetch(&b.wanted(), &b.target(), &stop);
    assert!(matches!(stopped, Err(Error::Stopped { .. })));
    assert_eq!(b.left(), ["f.whl.part", "f.whl.part.json"]);
    b.fetch(&b.wanted()).unwrap();
    b.arrived();
    assert!(b.ranges()[1].is_some());
}

#[test]
fn no_password_is_written_beside_a_part() {
    let b = Bench::new();
    let mut wanted = b.wanted();
    wanted.url = wanted.url.replace("http://", "http://me:secret@") + "?key=secret";
    b.server.file("/f.whl?key=secret", &b.data);
    b.server.next("/f.whl?key=secret", &vec![Answer::Cut(1000); 3]);
    assert!(matches!(b.fetch(&wanted), Err(Error::Cut { .. })));
    let origin = std::fs::read_to_string(b.dir.path().join("f.whl.part.json")).unwrap();
    assert!(!origin.contains("secret") && origin.contains("v1"), "{origin}");
    // And it is still known as a part of the same file.
    b.fetch(&wanted).unwrap();
    b.arrived();
    let last = b.server.seen("/f.whl?key=secret").pop().unwrap();
    assert!(last.range.is_some() && last.if_range.as_deref() == Some("\"v1\""), "{last:?}");
}

#[test]
fn a_trickle_is_not_waited_for() {
    let mut b = Bench::new();
    let pace = Pace { bytes: 100_000, within: Duration::from_millis(50) };
    b.client = Client::new(&NetSettings { pace, ..quick() }).unwrap();
    b.server.next("/f.whl", &[Answer::Trickle, Answer::Trickle]);
    let document = b.client.get(&b.server.url("/f.whl"), None, u64::MAX).unwrap_err();
    assert!(matches!(document, Error::Slow { .. }), "{document:?}");
    let wanted = Wanted { size: Some(1 << 30), ..b.wanted() };
    let file = b.fetch(&wanted).unwrap_err();
    assert!(matches!(file, Error::Slow { got: 1.., .. }), "{file:?}");
    assert!(file.to_string().contains("/f.whl: too slow, "), "{file}");
    assert_eq!(file.into_failure().exit, Exit::Network);
    // Once each: the next try would take as long. What came is kept.
    assert_eq!(b.server.count("/f.whl"), 2);
    assert!(b.left().contains(&"f.whl.part".to_owned()));
}
