//! Documents, file ends, redirects, and servers that cannot be reached.

use super::Bench;
use crate::failure::Exit;
use crate::net::fault_server::{Answer, FaultServer};
use crate::net::{Client, Error, NetSettings};
use std::io::{Read, Write};
use tempfile::TempDir;

#[test]
fn documents_are_limited_and_retried() {
    let b = Bench::new();
    let url = b.server.file("/simple/", b"{}");
    b.server.next("/simple/", &[Answer::Status(503, ""), Answer::Cut(1)]);
    let document = b.client.get(&url, Some("application/json"), 100).unwrap();
    assert_eq!((document.body.as_slice(), document.url.as_str()), (b"{}".as_slice(), url.as_str()));
    assert_eq!(b.server.count("/simple/"), 3);
    let limited = b.client.get(&b.server.url("/f.whl"), None, 1000);
    assert!(matches!(limited, Err(Error::TooLarge { limit: 1000, .. })));
    let absent = b.client.get(&b.server.url("/none"), None, 1000);
    assert!(matches!(absent, Err(Error::Status { code: 404, .. })));
}

#[test]
fn the_end_of_a_file_comes_with_its_place() {
    let b = Bench::new();
    let url = b.server.url("/f.whl");
    for answer in [Answer::Well, Answer::NoRange] {
        b.server.next("/f.whl", &[answer]);
        let tail = b.client.get_tail(&url, 1000).unwrap();
        assert_eq!((tail.offset, tail.total), (1_199_000, 1_200_000));
        assert!(tail.bytes == b.data[1_199_000..]);
    }
    let whole = b.client.get_tail(&url, 9_000_000).unwrap();
    assert_eq!((whole.offset, whole.total, whole.bytes.len()), (0, 1_200_000, 1_200_000));
}

#[test]
fn a_length_is_told_with_ranges_and_without() {
    let b = Bench::new();
    let url = b.server.url("/f.whl");
    b.server.next("/f.whl", &[Answer::Well, Answer::NoRange]);
    assert_eq!(b.client.length(&url).unwrap(), Some(1_200_000));
    assert_eq!(b.client.length(&url).unwrap(), Some(1_200_000));
    b.server.next("/f.whl", &vec![Answer::Html("Content-Type: text/html\r\n"); 9]);
    assert!(matches!(b.client.length(&url), Err(Error::Html { .. })));
    assert!(matches!(b.client.length(&b.server.url("/none")), Err(Error::Status { code: 404, .. })));
}

#[test]
fn redirects_are_followed_but_not_in_circles() {
    let b = Bench::new();
    b.server.file("/d", b"text");
    b.server.next("/a", &[Answer::Redirect("/b".into())]);
    b.server.next("/b", &[Answer::Redirect(b.server.url("/d"))]);
    let document = b.client.get(&b.server.url("/a"), None, 100).unwrap();
    assert_eq!(document.url, b.server.url("/d"));

    b.server.next("/a", &vec![Answer::Redirect("/b".into()); 20]);
    b.server.next("/b", &vec![Answer::Redirect("/a".into()); 20]);
    let circle = b.client.get(&b.server.url("/a"), None, 100).unwrap_err();
    assert!(circle.to_string().contains("redirected in a circle, back to "), "{circle}");
    assert_eq!(b.server.count("/a"), 2);

    for n in 0..30 {
        b.server.next(&format!("/{n}"), &[Answer::Redirect(format!("/{}", n + 1))]);
    }
    let endless = b.client.get(&b.server.url("/0"), None, 100).unwrap_err();
    assert!(endless.to_string().contains("redirected 10 times"), "{endless}");
}

#[test]
fn what_cannot_be_reached_fails_at_once() {
    let client = Client::new(&NetSettings::default()).unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = client.get(&format!("http://{closed}/x"), None, 100).unwrap_err();
    assert!(matches!(refused, Error::Connect { .. }), "{refused:?}");
    assert!(refused.to_string().contains("connection refused"), "{refused}");
    let nowhere = client.get("http://no-such-host.invalid/x", None, 100).unwrap_err();
    assert!(matches!(nowhere, Error::Resolve { .. }), "{nowhere:?}");
    let plain = FaultServer::start();
    let not_tls = client.get(&speaks_plainly().replace("http:", "https:"), None, 100).unwrap_err();
    assert!(matches!(not_tls, Error::Tls { .. }), "{not_tls:?}");
    for text in ["", "x", "ftp://h/x", "file:///etc/passwd", "http://"] {
        assert!(matches!(client.get(text, None, 100), Err(Error::Address { .. })), "{text}");
    }
    let offline = Client::new(&NetSettings { offline: true, ..NetSettings::default() }).unwrap();
    assert!(matches!(offline.get(&plain.url("/x"), None, 100), Err(Error::Offline { .. })));
    assert_eq!(plain.count("/x"), 0);
}

/// The address of a server that answers whatever it hears in plain HTTP, once.
fn speaks_plainly() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 64]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    address
}

#[test]
fn a_proxy_that_is_set_is_named_without_its_password() {
    let bare = crate::net::proxies(|name| (name == "ALL_PROXY").then_some("me:secret@host:8080")).unwrap();
    assert_eq!(bare, ["ALL_PROXY=http://host:8080/"]);
    let set = |name: &str| (name == "https_proxy").then_some("http://me:secret@127.0.0.1:1");
    let proxies = crate::net::proxies(set).unwrap();
    assert_eq!(proxies, ["https_proxy=http://127.0.0.1:1/"]);
    let client = Client::new(&NetSettings { proxies, ..NetSettings::default() }).unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = client.get(&format!("http://{closed}/x"), None, 100).unwrap_err().to_string();
    assert!(refused.ends_with("connection refused (set here: https_proxy=http://127.0.0.1:1/)"), "{refused}");
}

#[test]
fn a_proxy_that_is_none_is_refused_and_not_passed_over() {
    for (value, shown) in [
        ("ht tp://me:secret@broken", "ht tp://broken"),
        ("socks9://me:secret@host:1", "socks9://host:1"),
        ("http://me:secret@ho st:1", "http://ho st:1"),
        ("me:secret@host:port", "host:port"),
        ("http://", "http://"),
    ] {
        let failure = crate::net::proxies(|name| (name == "HTTPS_PROXY").then_some(value)).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert_eq!(failure.message, format!("HTTPS_PROXY names {shown}, which is no address of a proxy"));
    }
    for value in ["", "host:3128", "socks5h://host:1080", "https://me:p%40ss@host"] {
        assert!(crate::net::proxies(|name| (name == "all_proxy").then_some(value)).is_ok(), "{value}");
    }
}

#[test]
fn bundles_without_certificates_are_named() {
    let dir = TempDir::new().unwrap();
    let empty = dir.path().join("ca.pem");
    std::fs::write(&empty, "not a certificate").unwrap();
    let ca_files = vec![empty.clone()];
    let failure = Client::new(&NetSettings { ca_files, ..NetSettings::default() }).unwrap_err();
    assert_eq!(failure.message, format!("{} holds no certificate in PEM form", empty.display()));
}
