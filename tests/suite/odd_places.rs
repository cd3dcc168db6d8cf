//! Projects in places with odd names, and a very long PATH, by each way into a toolkit.

use crate::sandbox::{Sandbox, said};
use crate::shell_driver::{Shell, command, shells};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A home whose own name does things where it is not taken as data, with shims, and 12.4.1 installed.
fn machine() -> Sandbox {
    let at = Sandbox::named("odd $(touch hit) `touch hit`;*?[a]{b,c}~!x \\q 'q \"");
    at.managed("12.4.1");
    assert_eq!(at.cudaup("home", &["rehash"]).code, Some(0));
    at
}

/// Goes to `$PLACE`, and then prints the path of the nvcc that runs: with the hook, and with the text of `env`.
fn scripts(shell: Shell) -> [String; 2] {
    let (go, prompt, evaluate) = match shell {
        Shell::Bash => (
            "cd -- \"$PLACE\"",
            "for c in \"${PROMPT_COMMAND[@]}\"; do eval \"$c\"; done",
            "eval \"$(\"$CUDAUP\" env)\"",
        ),
        Shell::Zsh => {
            ("cd -- \"$PLACE\"", "for f in $precmd_functions; do $f; done", "eval \"$(\"$CUDAUP\" env)\"")
        }
        Shell::Fish => ("cd -- $PLACE", "emit fish_prompt", "$CUDAUP env | source"),
        Shell::Tcsh => ("cd $PLACE:q", "precmd", "alias told '$CUDAUP:q env' ; eval \"`told`\""),
    };
    [format!("{}\n{go}\n{prompt}\n{prompt}\nnvcc", shell.init()), format!("{go}\n{evaluate}\nnvcc")]
}

fn every_way(at: &Sandbox, place: &Path, path: Option<&str>) {
    let nvcc = at.home().join("toolkits/12.4.1/bin/nvcc");
    let wanted = format!("{} \n", nvcc.display());
    let check = |what: &str, mut command: std::process::Command| {
        command.env("PLACE", place).env("PWD", place).envs(path.map(|path| ("PATH", path)));
        let ran = command.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert_eq!((out.trim_end(), err.as_ref()), (wanted.trim_end(), ""), "{what} in {place:?}");
    };
    for shell in shells() {
        let [program, option] = shell.bare();
        for script in scripts(shell) {
            let mut ran = command(at, program);
            ran.args([option, "-c", &script]);
            check(&script, ran);
        }
    }
    let mut exec = at.command(at.home().join("bin/cudaup"), "home");
    exec.args(["exec", "--", "nvcc"]).current_dir(place);
    check("exec", exec);
    let mut shim = at.command(at.home().join("shims/nvcc"), "home");
    shim.current_dir(place);
    check("shim", shim);
}

#[test]
fn names_are_data_in_every_way_in() {
    let at = machine();
    for name in
        [b"p$(touch hit)\\".as_slice(), b"-p", b" two\nlines\n", b"p\x80\xffz", b"p'\"`touch hit`;touch hit&"]
    {
        let place = at.user().join(OsStr::from_bytes(name));
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join(".cuda-version"), "12.4\n").unwrap();
        every_way(&at, &place, None);
        assert!(!place.join("hit").exists() && !at.path("home/none/hit").exists(), "something of it ran");
    }
}

#[test]
fn a_path_of_two_thousand_entries_is_followed() {
    let at = machine();
    at.write("home/p/.cuda-version", "12.4\n");
    let many: String = (0..2000).map(|i| format!(":/opt/some/directory/{i}/bin")).collect();
    every_way(&at, &at.path("home/p"), Some(&format!("/usr/bin:/bin{many}")));
}

#[test]
fn the_home_is_no_project_by_whatever_name() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    symlink(at.user(), at.path("linked")).unwrap();
    let told = at.cudaup("linked", &["use", "12.4"]);
    assert!(told.out.contains("your default") && told.err.contains("is no project"), "{told:?}");
    assert!(!at.path("home/.cuda-version").exists());
}

#[test]
fn a_home_that_is_odd_or_not_there_is_told_by_whoever_writes() {
    let at = Sandbox::new();
    at.write("p/file", "");
    let run = |home: &str, arguments: &[&str]| {
        let mut command = at.command(at.home().join("bin/cudaup"), "p");
        said(command.env("CUDAUP_HOME", home).args(arguments).output().unwrap())
    };
    for reads in [&["list"][..], &["cache"], &["cache", "clean"], &["rehash"]] {
        for home in ["none/at/all", "file/below"] {
            let done = run(home, reads);
            let quiet = done.err.is_empty() || (reads == ["rehash"] && done.err.starts_with("note: "));
            assert!(done.code == Some(0) && quiet, "{home} {reads:?}: {}", done.err);
        }
        for (home, words) in [
            ("file", format!("error: {} is no directory, so there", at.path("p/file").display())),
            (
                "~/x",
                "a `~` that no shell has put a directory for\ntry: export CUDAUP_HOME=\"$HOME/x\"".into(),
            ),
        ] {
            let refused = run(home, reads);
            assert!(refused.code == Some(1) && refused.err.contains(&words), "{home}: {}", refused.err);
        }
    }
    assert!(!at.path("p/none").exists());
    let written = run("none/at/all", &["use", "--default", "12.4", "--no-install"]);
    let place = at.path("p/none/at/all");
    let note = format!("for this one: export CUDAUP_HOME={}\n", place.display());
    assert!(written.code == Some(0) && written.err.contains(&note), "{}", written.err);
    assert!(place.join("default").is_file());
}
