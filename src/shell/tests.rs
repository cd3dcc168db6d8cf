//! Quoting and rendering, tried on the real shells: what is written must reach each of them as itself.

use super::*;
use cudaup_core::environment::{Change, Vars};
use proptest::prelude::*;
use std::ffi::{OsStr, OsString};
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
    let rows: [(&str, &[&str]); 9] = [
        ("bash", &["bash", "--norc", "--noprofile"]),
        ("zsh", &["zsh", "-f"]),
        ("zsh", &["zsh", "-f", "-o", "rcquotes", "-o", "shwordsplit", "-o", "ksharrays"]),
        ("fish", &["fish", "--no-config"]),
        ("tcsh", &["tcsh", "-f"]),
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
            let before = dialect.set("GONE", OsStr::new("x"));
            let seen = environment(&how, locale, &[before, dialect.render(&changes).unwrap()].concat());
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
            let text = dialect.set("LD_LIBRARY_PATH", OsStr::new(list));
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
    let failure = dialect("oil\n").err().unwrap();
    assert_eq!(failure.exit, Exit::Usage);
    assert_eq!(
        failure.message,
        "`oil\\n` is none of the shells known here: bash, zsh, fish, tcsh, sh, nushell, powershell, elvish, xonsh"
    );
    assert_eq!(
        following("sh").err().unwrap().message,
        "`sh` is none of the shells known here: bash, zsh, fish, tcsh"
    );
}

#[test]
fn a_misspelled_shell_is_recognised() {
    let message = following("bsh").err().unwrap().message;
    assert!(message.ends_with("; did you mean bash?"), "{message}");
}

/// How a value is written for the shells that are not started here, and what cannot be.
#[test]
fn texts_for_shells_without_a_hook() {
    let set = |shell: &str, name: &str, value: &[u8]| {
        let text = dialect(shell).unwrap().render(&[(name.into(), Some(OsString::from_vec(value.to_vec())))]);
        text.map(|t| String::from_utf8(t).unwrap()).map_err(|e| e.what)
    };
    let gone = |shell: &str| String::from_utf8(dialect(shell).unwrap().unset("A")).unwrap();
    let odd = "it\u{2019}s 'a' $x \"b\"\n".as_bytes();
    assert_eq!(set("pwsh", "A", odd).unwrap(), "$env:A = 'it\u{2019}\u{2019}s ''a'' $x \"b\"\n'\n");
    assert_eq!(gone("powershell"), "Remove-Item -ErrorAction Ignore -LiteralPath Env:A\n");
    assert_eq!(set("nu", "A", odd).unwrap(), "$env.A = \"it\u{2019}s 'a' $x \\\"b\\\"\\u{a}\"\n");
    assert_eq!(set("nu", "PATH", b"/a b::/c").unwrap(), "$env.PATH = [\"/a b\", \"\", \"/c\"]\n");
    assert_eq!((gone("nu"), gone("elvish")), ("hide-env -i A\n".into(), "unset-env A\n".into()));
    assert_eq!(set("elvish", "A", b"\xff\"\\ \n").unwrap(), "set-env A \"\\xff\\\"\\\\ \\x0a\"\n");
    assert_eq!(set("xonsh", "A", b"\xff'\\ \n").unwrap(), "$A = '\\udcff\\'\\\\ \\u000a'\n");
    assert_eq!(gone("xonsh"), "${...}.pop('A', None)\n");
    for shell in ["nu", "pwsh"] {
        assert_eq!(set(shell, "A", b"\xff"), Err("bytes that are no Unicode"));
    }
    for list in ["~/a:/b", "/a:~", "/a/$HOME", "/a:/${X}"] {
        assert_eq!(set("xonsh", "LD_LIBRARY_PATH", list.as_bytes()), Err("a ~ or $ that is replaced there"));
        set("xonsh", "CUDACXX", list.as_bytes()).unwrap();
    }
    set("xonsh", "PATH", b"/a~/$(b)/$:/$").unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn any_bytes_arrive_as_themselves(values in proptest::collection::vec(proptest::collection::vec(1..=255u8, 0..40), 16)) {
        for (dialect, how) in shells() {
            let name = |i: usize| format!("V{i}");
            let changes: Vec<Change> =
                values.iter().enumerate().map(|(i, v)| (name(i), Some(OsString::from_vec(v.clone())))).collect();
            for text in [dialect.render(&changes).unwrap(), dialect.render_own(&changes, &Vars::default())] {
                let seen = environment(&how, "C.UTF-8", &text);
                for (i, wanted) in values.iter().enumerate() {
                    let got = value(&seen, &name(i));
                    prop_assert_eq!(got.as_ref(), Some(wanted), "{:?}", how);
                }
            }
        }
    }
}
