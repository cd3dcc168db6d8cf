//! The rules with names, links and modes that break each of them.

use super::*;

const ONE: Print = Print { size: 1, checksum: 1 };
const FILE: Kind = Kind::File { executable: false };

#[test]
fn names_are_relative_paths_or_refused() {
    for (raw, path) in [
        ("bin/nvcc", "bin/nvcc"),
        ("./bin//nvcc/", "bin/nvcc"),
        ("a..b/...", "a..b/..."),
        ("größe/ümlaut", "größe/ümlaut"),
    ] {
        assert_eq!(name(raw.as_bytes()).as_deref(), Ok(path));
    }
    for (raw, refusal) in [
        (&b""[..], Refusal::Empty),
        (b"./", Refusal::Empty),
        (b"/etc/passwd", Refusal::Absolute),
        (b"..", Refusal::Climbs),
        (b"a/../../b", Refusal::Climbs),
        (b"a/..", Refusal::Climbs),
        (b"a\0b", Refusal::Control),
        (b"a\nb", Refusal::Control),
        (b"a\x1b[2J", Refusal::Control),
        (b"..\\..\\b", Refusal::Backslash),
        (b"a\xff", Refusal::NotText),
    ] {
        assert_eq!(name(raw), Err(refusal), "{}", printable(raw));
    }
}

#[test]
fn names_have_an_end() {
    let most = ["a"; 255].join("/");
    assert_eq!(name(most.as_bytes()), Ok(most.clone()));
    assert_eq!(name(format!("{most}/a").as_bytes()), Err(Refusal::TooDeep));
    assert_eq!(name("a".repeat(255).as_bytes()), Ok("a".repeat(255)));
    assert_eq!(name("a".repeat(256).as_bytes()), Err(Refusal::TooLong));
    // Letters of two bytes: the system counts bytes.
    assert_eq!(name("é".repeat(128).as_bytes()), Err(Refusal::TooLong));
    assert_eq!(name(["a".repeat(200).as_str(); 21].join("/").as_bytes()), Err(Refusal::TooLong));
    assert_eq!(name(vec!["a"; 30_000].join("/").as_bytes()), Err(Refusal::TooLong));
}

#[test]
fn what_cudaup_writes_itself_is_not_an_archives() {
    for path in ["receipt.json", "Receipt.JSON", "receipt.json/x"] {
        for kind in [FILE, Kind::Link, Kind::Directory] {
            assert_eq!(place(path, &kind), Err(Refusal::Taken("receipt.json")), "{path} {kind:?}");
        }
    }
    for (path, kind) in [
        ("version.json", Kind::Link),
        ("version.json", Kind::Directory),
        ("version.json/x", FILE),
        ("VERSION.json/x/y", Kind::Link),
    ] {
        assert_eq!(place(path, &kind), Err(Refusal::Taken("version.json")), "{path} {kind:?}");
    }
    for (path, kind) in [("version.json", FILE), ("share/receipt.json", Kind::Link), ("receipt", FILE)] {
        assert_eq!(place(path, &kind), Ok(()), "{path}");
    }
}

#[test]
fn modes_become_kinds() {
    assert_eq!(kind(0), Ok(FILE));
    assert_eq!(kind(0o100_644), Ok(FILE));
    for mode in [0o100_755, 0o100_744, 0o100_001, 0o755] {
        assert_eq!(kind(mode), Ok(Kind::File { executable: true }), "{mode:o}");
    }
    assert_eq!(kind(0o042_755), Ok(Kind::Directory));
    assert_eq!(kind(0o120_777), Ok(Kind::Link));
    for mode in [0o104_755, 0o102_755, 0o106_644, 0o4755] {
        assert_eq!(kind(mode), Err(Refusal::SetId), "{mode:o}");
    }
    for mode in [0o020_666, 0o060_666, 0o010_644, 0o140_644, 0o150_644] {
        assert!(matches!(kind(mode), Err(Refusal::Special(_))), "{mode:o}");
    }
}

#[test]
fn links_stay_inside() {
    for (at, target) in
        [("lib64", "lib"), ("lib/a", "../lib/b"), ("a/b/c", "../../d"), ("a", "./b/c"), ("a/b", "..")]
    {
        assert_eq!(link(at, target.as_bytes()).as_deref(), Ok(target), "{at} -> {target}");
    }
    for (at, target) in [
        ("a", "/etc"),
        ("a", ".."),
        ("a", "../a"),
        ("a/b", "../../x"),
        ("a/b", "c/../../../tree/a"),
        ("a", "b/../../x"),
        // Harmless by its letters, yet `b/c` may be a link to `..`.
        ("a", "b/c/../.."),
    ] {
        assert_eq!(
            link(at, target.as_bytes()),
            Err(Refusal::LinkLeaves(target.to_owned())),
            "{at} -> {target}"
        );
    }
    for target in [&b""[..], b"a\0b", b"\xff", &[b'a'; 5000]] {
        assert_eq!(link("a", target), Err(Refusal::LinkTarget));
    }
}

#[test]
fn a_place_is_taken_once() {
    let mut claims = Claims::default();
    let file = |claims: &mut Claims, part, path, print| claims.claim(part, path, &FILE, print);
    assert_eq!(file(&mut claims, 0, "include/cuda.h", Some(ONE)), Ok(Claimed::New));
    assert_eq!(file(&mut claims, 0, "include/cuda.h", Some(ONE)), Ok(Claimed::Same));
    assert_eq!(file(&mut claims, 1, "include/cuda.h", Some(ONE)), Ok(Claimed::Same));
    let other = Some(Print { size: 1, checksum: 2 });
    assert_eq!(file(&mut claims, 0, "include/cuda.h", other), Err(Refusal::Twice));
    // Another part, or one that says nothing beforehand: it is to be compared.
    assert_eq!(file(&mut claims, 1, "include/cuda.h", other), Ok(Claimed::Rival));
    assert_eq!(file(&mut claims, 0, "include/cuda.h", None), Ok(Claimed::Rival));
    assert_eq!(claims.claim(1, "include/cuda.h", &Kind::Link, None), Ok(Claimed::Rival));
    assert_eq!(claims.owner("include/cuda.h"), Some(0));
    assert_eq!(claims.claim(0, "include", &Kind::Directory, None), Ok(Claimed::New));
    for part in [0, 1] {
        for print in [None, Some(ONE)] {
            assert_eq!(file(&mut claims, part, "include", print), Err(Refusal::Twice));
            assert_eq!(claims.claim(part, "include", &Kind::Link, print), Err(Refusal::Twice));
        }
        let below = Refusal::BelowFile("include/cuda.h".into());
        assert_eq!(file(&mut claims, part, "include/cuda.h/x", Some(ONE)), Err(below));
    }
}

#[test]
fn nothing_is_written_through_a_link() {
    let mut claims = Claims::default();
    assert_eq!(claims.claim(0, "lib64", &Kind::Link, Some(ONE)), Ok(Claimed::New));
    for part in [0, 1] {
        let behind = Err(Refusal::BehindLink("lib64".into()));
        assert_eq!(claims.claim(part, "lib64/x", &FILE, Some(ONE)), behind);
        assert_eq!(claims.claim(part, "lib64/a/b", &Kind::Directory, None), behind);
        assert_eq!(claims.claim(part, "lib64", &Kind::Directory, None), behind);
    }
    assert_eq!(claims.claim(0, "lib64", &Kind::Link, Some(ONE)), Err(Refusal::Twice));
    assert_eq!(claims.claim(0, "lib64", &FILE, Some(ONE)), Err(Refusal::Twice));
    assert_eq!(claims.claim(1, "lib64", &FILE, Some(ONE)), Ok(Claimed::Rival));
}

#[test]
fn names_that_some_file_systems_take_for_the_same_are_refused() {
    for (first, second) in [
        ("include/cuda.h", "include/CUDA.h"),
        ("Include/a", "include/b"),
        ("\u{e9}", "e\u{301}"),
        ("\u{c9}", "e\u{301}"),
        ("a/stra\u{df}e", "a/STRASSE"),
        ("\u{3c3}", "\u{3c2}"),
        ("\u{212b}", "\u{e5}"),
    ] {
        let mut claims = Claims::default();
        assert_eq!(claims.claim(0, first, &FILE, Some(ONE)), Ok(Claimed::New));
        for part in [0, 1] {
            let refused = claims.claim(part, second, &FILE, Some(ONE));
            assert!(matches!(refused, Err(Refusal::Lookalike(_))), "{first} and {second}: {refused:?}");
        }
    }
}
