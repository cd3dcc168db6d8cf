//! What stands in for the hook in shells of POSIX: the lines for one user, and the file for all users of a machine.

use crate::sandbox::{Sandbox, copy, said};
use crate::shell_driver::*;
use std::fs;
use std::path::PathBuf;

/// Shells of POSIX, and how each is started as one.
const SHELLS: [&[&str]; 7] = [
    &["dash"],
    &["ksh93"],
    &["mksh"],
    &["busybox", "sh"],
    &["bash", "--posix"],
    &["zsh", "--emulate", "sh"],
    &["zsh", "-f"],
];

fn posix() -> impl Iterator<Item = &'static [&'static str]> {
    // busybox and mksh know no --version; started at all they are there.
    SHELLS.into_iter().filter(|how| has(how[0]))
}

fn file(at: &Sandbox) -> PathBuf {
    let said = at.cudaup("home/none", &["init", "--profile", "--system"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    at.write("profile.d/cudaup.sh", said.out)
}

fn run(at: &Sandbox, how: &[&str], script: &str, set: &[(&str, &str)]) -> Vec<String> {
    let mut shell = command(at, how[0]);
    shell.args(&how[1..]).arg("-c").arg(script).env("F", file(at));
    for (name, value) in set {
        shell.env(name, value);
    }
    let said = said(shell.output().unwrap());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{how:?}: {script}");
    lines(&said.out)
}

#[test]
fn the_file_for_all_users_puts_their_own_shims_first() {
    let at = machine();
    assert_eq!(at.cudaup("home/none", &["rehash"]).code, Some(0));
    let home = at.home().display().to_string();
    let script = "set -eu; . \"$F\"; . \"$F\"; cd ~/p; nvcc; cd ~/q; nvcc; echo \"$PATH\"; unset PATH; . \"$F\"; echo \"$PATH\"; echo \"${_cudaup_home-none}\"";
    let (ours, wanted) = (format!("{home}/shims:{home}/bin"), [nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1")]);
    let wanted = [wanted.to_vec(), vec![format!("{ours}:/usr/bin:/bin"), ours, "none".into()]].concat();
    for how in posix() {
        assert_eq!(run(&at, how, script, &[]), wanted, "{how:?}");
    }
}

#[test]
fn who_has_no_home_of_cudaup_keeps_the_path() {
    let at = machine();
    fs::create_dir_all(at.path("home/other/.cudaup")).unwrap();
    fs::create_dir_all(at.path("home/a:b/shims")).unwrap();
    let script = "set -eu; . \"$F\"; echo \"$PATH\"";
    let other = at.path("home/other").display().to_string();
    let colon = at.path("home/a:b").display().to_string();
    let none = [
        &[("HOME", other.as_str())][..],
        &[("HOME", "")],
        &[("CUDAUP_HOME", "none/deep")],
        &[("CUDAUP_HOME", colon.as_str())],
    ];
    for how in posix() {
        for set in none {
            assert_eq!(run(&at, how, script, set), ["/usr/bin:/bin"], "{how:?} {set:?}");
        }
        let unset = "unset HOME; set -eu; . \"$F\"; echo \"$PATH\"";
        assert_eq!(run(&at, how, unset, &[]), ["/usr/bin:/bin"], "{how:?}");
    }
}

/// A cudaup home for all, which the machine's default lists, with a toolkit and its shims.
fn shared(at: &Sandbox) -> String {
    let home = at.path("opt/cu daup");
    fs::create_dir_all(home.join("bin")).unwrap();
    for program in ["cudaup", "cudaup-shim"] {
        copy(
            &fs::canonicalize(at.home().join("bin").join(program)).unwrap(),
            &home.join("bin").join(program),
        );
    }
    at.toolkit("opt/cu daup/toolkits/13.0.2", "13.0.2");
    let mut rehash = at.command(home.join("bin/cudaup"), "home/none");
    assert!(rehash.arg("rehash").env("CUDAUP_HOME", &home).output().unwrap().status.success());
    home.display().to_string()
}

const LISTED: &str = " # roots = /opt/no\n13.0\n\troots = relative, /opt/none,/opt/cu daup/ ,/opt/a:b # ours\r\nroots=/opt/cu daup";

#[test]
fn who_has_no_home_of_cudaup_gets_the_machines_shims() {
    let at = machine();
    let home = shared(&at);
    at.write("etc/cudaup/default", LISTED.replace("relative, ", ""));
    let other = at.path("home/other").display().to_string();
    fs::create_dir_all(&other).unwrap();
    let script = "set -eu; . \"$F\"; . \"$F\"; nvcc; echo \"$PATH\"; set | grep -c '^_cudaup' || :";
    let nvcc = format!("{home}/toolkits/13.0.2/bin/nvcc");
    for how in posix() {
        let out = run(&at, how, script, &[("HOME", &other)]);
        assert_eq!(
            out,
            [nvcc.clone(), format!("{home}/shims:{home}/bin:/usr/bin:/bin"), "0".into()],
            "{how:?}"
        );
    }
}

#[test]
fn the_users_own_shims_go_before_the_machines() {
    let at = machine();
    assert_eq!(at.cudaup("home/none", &["rehash"]).code, Some(0));
    let (shared, own) = (shared(&at), at.home().display().to_string());
    at.write("etc/cudaup/default", LISTED);
    let script = "set -eu; . \"$F\"; . \"$F\"; echo \"$PATH\"; PATH=/usr/bin:$1; . \"$F\"; echo \"$PATH\"";
    let script = script.replace("$1", &format!("'{}'/shims", own.replace('\'', "'\\''")));
    for how in posix() {
        let both = format!("{own}/shims:{own}/bin:{shared}/shims:{shared}/bin:/usr/bin:/bin");
        // The place at the end is a hook's.
        assert_eq!(run(&at, how, &script, &[]), [both, format!("/usr/bin:{own}/shims")], "{how:?}");
    }
    fs::write(
        at.path("etc/cudaup/default"),
        "roots\nroots = $(touch x),`touch x`,*\nrootsx = /opt/cu daup\n",
    )
    .unwrap();
    for how in posix() {
        let out = run(&at, how, "set -eu; . \"$F\"; echo \"$PATH\"; ls", &[]);
        assert_eq!(out[0], format!("{own}/shims:{own}/bin:/usr/bin:/bin"), "{how:?}");
        assert!(!out.contains(&"x".to_owned()), "{how:?}");
    }
}

/// Where the hook runs, it has the shims at the end of PATH: the file leaves them there.
#[test]
fn a_hook_that_is_active_is_left_alone() {
    let at = machine();
    assert_eq!(at.cudaup("home/none", &["rehash"]).code, Some(0));
    let script = "eval \"$(\"$CUDAUP\" init bash)\"; cd ~/q; eval \"$PROMPT_COMMAND\"; a=$PATH; sh -c '. \"$F\"; [ \"$PATH\" = \"$0\" ] && command -v nvcc' \"$a\"";
    let mut bash = command(&at, "bash");
    bash.args(["--norc", "-c", script]).env("F", file(&at));
    assert_eq!(lines(&said(bash.output().unwrap()).out), [nvcc(&at, "12.4.1")]);
}

#[test]
fn lines_for_one_user_serve_any_posix_shell() {
    let at = machine();
    assert_eq!(at.cudaup("home/none", &["rehash"]).code, Some(0));
    let home = at.home().display().to_string();
    let script = "set -eu; eval \"$(\"$CUDAUP\" init --profile)\"; eval \"$(\"$CUDAUP\" init --profile)\"; cd ~/p; nvcc; unset PATH; eval \"$(\"$CUDAUP\" init --profile)\"; echo \"$PATH\"";
    for how in posix() {
        let out = run(&at, how, script, &[]);
        assert_eq!(out, [nvcc(&at, "11.8.0"), format!("{home}/shims:{home}/bin")], "{how:?}");
    }
}
