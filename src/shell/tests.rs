//! Quoting and rendering, tried on the real shells: what is written must reach each of them as itself.

use super::*;
use cudaup_core::environment::Change;
use proptest::prelude::*;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};

/// Values that have broken quoting somewhere, in place of a generator that finds them seldom.
const HARD: [&[u8]; 20] = [
    b"",
    b" ",
    b"plain",
    b"it's",
    b"'",
    b"''",
    b"'''",
    b"\\",
    b"\\'",
    b"a\\\\'b\\",
    b"$(touch pwned)",
    b"`id`",
    b"${HOME}$HOME",
    b"a\nb\n",
    b"\n",
    b"!!x!",
    b"~/x *?[a]{b,c}",
    b"-n",
    b"\xff\xfe not utf-8 \xc3",
    b"\x01\x1b\x7f\t\r",
];

fn shells() -> Vec<(&'static Dialect, Vec<&'static str>)> {
    let rows: [(&str, &[&str]); 8] = [
        ("bash", &["bash", "--norc", "--noprofile"]),
        ("zsh", &["zsh", "-f"]),
        ("zsh", &["zsh", "-f", "-o", "rcquotes", "-o", "shwordsplit", "-o", "ksharrays"]),
        ("fish", &["fish", "--no-config"]),
        ("sh", &["dash"]),
        ("sh", &["ksh93"]),
        ("sh", &["mksh"]),
        ("sh", &["busybox", "sh"]),
    ];
    rows.into_iter()
        .filter(|(_, how)| {
            let there = run(how, "C.UTF-8", b"").is_some();
            if !there {
                eprintln!("skipped: {} is not installed", how[0]);
            }
            there
        })
        .map(|(name, how)| (dialect(name).unwrap(), how.to_vec()))
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "the shells that are written for are what is tested")]
fn run(how: &[&str], locale: &str, script: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new(how[0]);
    command
        .args(&how[1..])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", locale)
        .env("HOME", "/nonexistent");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    child.stdin.take().unwrap().write_all(script).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{how:?} in {locale}");
    Some(output.stdout)
}

/// The environment that a child of a shell sees after the text, as `env -0` prints it.
fn environment(how: &[&str], locale: &str, text: &[u8]) -> Vec<u8> {
    run(how, locale, &[text, b"/usr/bin/env -0\n"].concat()).unwrap()
}

fn value(environment: &[u8], name: &str) -> Option<Vec<u8>> {
    let start = format!("{name}=");
    environment.split(|b| *b == 0).find_map(|e| e.strip_prefix(start.as_bytes())).map(<[u8]>::to_vec)
}

#[test]
fn hard_values_arrive_as_themselves() {
    for (dialect, how) in shells() {
        for locale in ["C.UTF-8", "C"] {
            let changes: Vec<Change> = HARD
                .iter()
                .enumerate()
                .map(|(i, v)| (format!("V{i}"), Some(OsString::from_vec(v.to_vec()))))
                .chain([("GONE".to_owned(), None)])
                .collect();
            let before = dialect.render(&[("GONE".into(), Some("x".into()))]);
            let seen = environment(&how, locale, &[before, dialect.render(&changes)].concat());
            for (i, hard) in HARD.iter().enumerate() {
                assert_eq!(value(&seen, &format!("V{i}")).as_deref(), Some(*hard), "{how:?} in {locale}");
            }
            assert_eq!(value(&seen, "GONE"), None, "{how:?} in {locale}");
        }
    }
}

#[test]
fn lists_keep_their_empty_elements() {
    for (dialect, how) in shells() {
        for list in ["/a::/b", ":/a", "/a:", ":", "/a b:/c"] {
            let text = dialect.render(&[("LD_LIBRARY_PATH".into(), Some(list.into()))]);
            let seen = environment(&how, "C.UTF-8", &text);
            assert_eq!(value(&seen, "LD_LIBRARY_PATH").as_deref(), Some(list.as_bytes()), "{how:?}");
        }
    }
}

#[test]
fn what_is_kept_is_not_exported() {
    for (dialect, how) in shells() {
        let text = dialect.keep("_cudaup_x", b"it's here");
        let seen =
            run(&how, "C.UTF-8", &[text, b"/usr/bin/env -0; echo \"<$_cudaup_x>\"\n".to_vec()].concat())
                .unwrap();
        assert_eq!(value(&seen, "_cudaup_x"), None, "{how:?}");
        assert!(seen.ends_with(b"<it's here>\n"), "{how:?}");
    }
}

#[test]
fn names_of_shells() {
    assert_eq!(dialect("/usr/bin/zsh").unwrap().name(), "zsh");
    assert_eq!(dialect("dash").unwrap().name(), "sh");
    let failure = dialect("nu\n").err().unwrap();
    assert_eq!(failure.exit, Exit::Usage);
    assert_eq!(failure.message, "\"nu\\n\" is none of the shells known here: bash, zsh, fish, sh");
    assert_eq!(
        following("sh").err().unwrap().message,
        "\"sh\" is none of the shells known here: bash, zsh, fish"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn any_bytes_arrive_as_themselves(values in proptest::collection::vec(proptest::collection::vec(1..=255u8, 0..40), 16)) {
        for (dialect, how) in shells() {
            let name = |i: usize| format!("V{i}");
            let changes: Vec<Change> =
                values.iter().enumerate().map(|(i, v)| (name(i), Some(OsString::from_vec(v.clone())))).collect();
            for text in [dialect.render(&changes), dialect.render_own(&changes)] {
                let seen = environment(&how, "C.UTF-8", &text);
                for (i, wanted) in values.iter().enumerate() {
                    let got = value(&seen, &name(i));
                    prop_assert_eq!(got.as_ref(), Some(wanted), "{:?}", how);
                }
            }
        }
    }
}
