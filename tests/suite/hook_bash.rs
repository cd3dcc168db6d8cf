//! The hook in bash: beside whatever else is in PROMPT_COMMAND, and under the options that users set.

use crate::sandbox::{Said, Sandbox, said};
use crate::shell_driver::*;
use std::io::Write;
use std::process::Stdio;

/// An interactive bash that is fed lines, with a prompt after each. What it says on stderr holds the prompts.
fn interactive(at: &Sandbox, lines: &str) -> Said {
    let mut bash = command(at, "bash");
    bash.args(["--norc", "-i"])
        .env("PS1", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = bash.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    said(child.wait_with_output().unwrap())
}

/// What an interactive bash complains of that has no terminal, and its echo of what it is fed.
fn complaints(said: &Said, fed: &str) -> String {
    let usual = ["bash: cannot set terminal process group", "bash: no job control", "exit"];
    let typed: Vec<&str> = fed.lines().map(str::trim).collect();
    let odd = |l: &&str| {
        let l = l.trim();
        !l.is_empty() && !typed.contains(&l) && !usual.iter().any(|u| l.starts_with(u))
    };
    said.err.lines().filter(odd).collect()
}

/// Whether bash runs all elements of PROMPT_COMMAND, as it does from 5.1 on.
fn runs_arrays(at: &Sandbox) -> bool {
    let version = "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501))";
    let new = command(at, "bash").args(["-c", version]).status().unwrap().success();
    if !new {
        eprintln!("skipped: this bash knows no array of prompt commands");
    }
    new
}

const INIT: &str = "eval \"$(\"$CUDAUP\" init bash)\"";

#[test]
fn what_stands_in_prompt_command_goes_on_and_sees_the_status() {
    let at = machine();
    let new = nvcc(&at, "12.4.1");
    for before in [
        "unset PROMPT_COMMAND",
        "PROMPT_COMMAND=",
        "PROMPT_COMMAND='echo old $?'",
        "PROMPT_COMMAND='echo old $?;'",
        "PROMPT_COMMAND='echo old $? ; '",
        "PROMPT_COMMAND='echo old $? # comment'",
        "PROMPT_COMMAND=$'echo old $?\\n'",
        "export PROMPT_COMMAND='echo old $?'",
        "PROMPT_COMMAND=('echo old $?' 'echo two $? ${PIPESTATUS[*]}')",
    ] {
        if before.contains("two") && !runs_arrays(&at) {
            continue;
        }
        let fed = format!("{before}\n{INIT}\ncd ~/q\n(exit 7)\ncommand -v nvcc\nfalse | true\n");
        let said = interactive(&at, &fed);
        assert_eq!(complaints(&said, &fed), "", "{before}");
        let out = lines(&said.out);
        assert!(out.contains(&new), "{before}: {out:?}");
        if before.contains("old") {
            assert!(out.contains(&"old 7".to_owned()), "{before}: {out:?}");
        }
        if before.contains("two") {
            assert!(
                out.contains(&"two 7 7".to_owned()) && out.ends_with(&["two 0 1 0".to_owned()]),
                "{before}: {out:?}"
            );
        }
    }
}

#[test]
fn a_text_stays_a_text_and_is_entered_once() {
    let at = machine();
    let fed = format!(
        "PROMPT_COMMAND='true;'\n{INIT}\n{INIT}\necho \"$PROMPT_COMMAND\"; echo \"${{#PROMPT_COMMAND[@]}}\"\n"
    );
    let said = interactive(&at, &fed);
    if !runs_arrays(&at) {
        // Which cannot tell either whether a child will inherit the text.
        assert_eq!(lines(&said.out), [r#""${_cudaup_at_prompt-eval}" "(exit $?)";true;"#, "1"]);
        return;
    }
    assert_eq!(lines(&said.out), [r#""${_cudaup_at_prompt-:}";true;"#, "1"]);
    let fed =
        format!("PROMPT_COMMAND=(true false)\n{INIT}\n{INIT}\nprintf '%s\\n' \"${{PROMPT_COMMAND[@]}}\"\n");
    assert_eq!(lines(&interactive(&at, &fed).out), [r#""${_cudaup_at_prompt-:}""#, "true", "false"]);
}

#[test]
fn a_child_that_inherits_the_entry_says_nothing() {
    let at = machine();
    let child =
        "bash --norc -i <<<'cd ~/q' 2>&1 | grep -c 'not found'; set -u; eval \"$PROMPT_COMMAND\"; echo $?";
    let fed = format!("export PROMPT_COMMAND=true\n{INIT}\n{child}\n");
    assert_eq!(lines(&interactive(&at, &fed).out), ["0", "0"]);
    // And what stands behind it there sees the status of the command before.
    let child = "bash --norc -c '(exit 7); eval \"$PROMPT_COMMAND\"'";
    let fed = format!("export PROMPT_COMMAND='echo was $?'\n{INIT}\n{child}\n");
    assert!(lines(&interactive(&at, &fed).out).contains(&"was 7".to_owned()));
}

#[test]
fn a_read_only_prompt_command_is_said_and_harms_nothing() {
    let at = machine();
    let fed = format!(
        "readonly PROMPT_COMMAND='true'\n{INIT}\ncd ~/q\ncudaup -q list >/dev/null; command -v nvcc\n"
    );
    let said = interactive(&at, &fed);
    assert!(complaints(&said, &fed).starts_with("cudaup: PROMPT_COMMAND is read-only here"), "{}", said.err);
    assert_eq!(lines(&said.out), [nvcc(&at, "12.4.1")]);
}

#[test]
fn strict_shells_live_on() {
    let at = machine();
    let script = "
        set -euo pipefail
        eval \"$(\"$CUDAUP\" init bash)\"
        eval \"$PROMPT_COMMAND\"
        cd ~/q; eval \"$PROMPT_COMMAND\"; command -v nvcc
        [ -e nothing ] && echo there
        eval \"$PROMPT_COMMAND\"
        cd ~/none; eval \"$PROMPT_COMMAND\"
        unset PWD PATH; eval \"$PROMPT_COMMAND\"
        echo alive
    ";
    let said = said(command(&at, "bash").args(["--norc", "-c", script]).output().unwrap());
    assert_eq!((lines(&said.out), said.err.as_str()), (vec![nvcc(&at, "12.4.1"), "alive".to_owned()], ""));
}

#[test]
fn options_of_the_user_change_nothing() {
    let at = machine();
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    for setting in [
        "IFS=_:/-;",
        "IFS=;",
        "set -f;",
        "set -o noclobber;",
        "set -o posix;",
        "set -k;",
        "shopt -s nullglob failglob dotglob extglob;",
        "shopt -s nocasematch nocaseglob;",
        "alias cudaup=echo command='command '; shopt -s expand_aliases;",
        "exec 3</dev/null 4</dev/null;",
        "shopt -s compat31;",
    ] {
        for place in ["", INIT] {
            // Before the hook is loaded, and after.
            let script = format!(
                "{}\n{setting}\n{}\nfor d in p p q Q q/sub; do cd ~/\"$d\"; for c in \"${{PROMPT_COMMAND[@]}}\"; do builtin eval \"$c\"; done; type -P nvcc; done",
                place,
                if place.is_empty() { "builtin eval \"$(\"$CUDAUP\" init bash)\"" } else { "" },
            );
            at.write("home/Q/.cuda-version", "11.8\n");
            let said = said(command(&at, "bash").args(["--norc", "-c", &script]).output().unwrap());
            assert_eq!(
                (lines(&said.out), said.err.as_str()),
                (vec![old.clone(), old.clone(), new.clone(), old.clone(), new.clone()], ""),
                "{setting} {place}"
            );
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_makes_no_noise_of_the_shell() {
    let at = machine();
    // root may read anything.
    let nobody = "exec setpriv --reuid 65534 --regid 65534 --clear-groups bash --norc -c \"$0\"";
    let script = "
        eval \"$(\"$CUDAUP\" init bash)\"; cd \"$D\"; eval \"$PROMPT_COMMAND\"; type -P nvcc
        chmod 0 .cuda-version; eval \"$PROMPT_COMMAND\"; eval \"$PROMPT_COMMAND\"; echo \"${CUDA_HOME-unset}\"
        chmod 600 .cuda-version; eval \"$PROMPT_COMMAND\"; type -P nvcc
    ";
    let directory = at.path("theirs");
    at.write("theirs/.cuda-version", "12.4\n");
    at.write("home/.cudaup/default", "11.8\n");
    let mut bash = command(&at, "bash");
    bash.env("D", &directory).args(["-c", nobody, script]);
    if !open_to_all(&at, &directory) {
        return;
    }
    let said = said(bash.output().unwrap());
    let new = nvcc(&at, "12.4.1");
    assert_eq!(lines(&said.out), [new.as_str(), "unset", &new], "{}", said.err);
    assert!(!said.err.contains("Permission denied"), "{}", said.err);
    assert_eq!(said.err.matches("theirs/.cuda-version").count(), 1, "{}", said.err);
}

/// Lets the user nobody into the machine, and gives one directory to it. Only root can.
pub fn open_to_all(at: &Sandbox, directory: &std::path::Path) -> bool {
    use std::os::unix::fs::{PermissionsExt, chown};
    let given = [directory.to_path_buf(), directory.join(".cuda-version")]
        .iter()
        .all(|p| chown(p, Some(65534), Some(65534)).is_ok());
    if !given || !has("setpriv") {
        eprintln!("skipped: files cannot be given to another user here");
        return false;
    }
    std::fs::set_permissions(at.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    // The built program may lie where nobody else can look.
    let program = at.home().join("bin/cudaup");
    let built = std::fs::canonicalize(&program).unwrap();
    std::fs::remove_file(&program).unwrap();
    crate::sandbox::copy(&built, &program);
    true
}

/// The long look takes twice as long as the short test: a shell that starts in a project is not to stay on it.
#[test]
fn a_shell_that_starts_in_a_project_takes_the_short_test_at_its_prompts() {
    let at = machine();
    nvcc(&at, "12.4.1");
    let watch =
        "eval \"$(declare -f _cudaup_look | sed '1s/.*/_long ()/')\"\n_cudaup_look() { echo long; _long; }\n";
    at.write("home/.cudaup/default", "11.8\n");
    at.write("home/watch", watch);
    let fed = format!("cd ~/q\n{INIT}\n:\n. ~/watch\necho calm\n:\nPATH=$PATH:/x\n:\necho end\n");
    let said = interactive(&at, &fed);
    assert_eq!(complaints(&said, &fed), "");
    assert_eq!(lines(&said.out), ["calm", "long", "end"]);
}

/// The program says with the hook what it saw: the first prompt asks only where that is no longer so, or where bash cannot be
/// sure to read the same.
#[test]
fn the_first_prompt_asks_only_if_something_changed_since_the_start() {
    let at = machine();
    let [old, new] = ["11.8.0", "12.4.1"].map(|version| nvcc(&at, version));
    at.write("home/.cudaup/default", "11.8\n");
    let watch = "eval \"$(declare -f _cudaup_ask | sed '1s/.*/_asks ()/')\"\n_cudaup_ask() { echo asked; _asks \"$@\"; }\n";
    at.write("home/watch", watch);
    let pinned = |pin: &str, between: &str| {
        at.write("home/q/.cuda-version", pin);
        let fed = format!("cd ~/q\n{INIT}; . ~/watch; {between}\ncommand -v nvcc\n");
        let said = interactive(&at, &fed);
        assert_eq!(complaints(&said, &fed), "", "{pin:?} {between}");
        lines(&said.out)
    };
    assert_eq!(pinned("12.4\n", ":"), [new.as_str()]);
    assert_eq!(pinned("12.4", "cd ~; cd ~/q"), [new.as_str()]);
    assert_eq!(pinned("12.4\n", "echo 11.8 >~/q/.cuda-version"), ["asked", old.as_str()]);
    assert_eq!(pinned("12.4\n", "cd ~"), ["asked", old.as_str()]);
    assert_eq!(pinned("12.4\n", "PATH=/usr/bin:/bin"), ["asked", new.as_str()]);
    assert_eq!(pinned("12.4\n", "export CUDAUP_VERSION=11.8"), ["asked", old.as_str()]);
    assert_eq!(pinned("12.4 # für alle\n", ":"), [new.as_str()]);
    assert_eq!(pinned(&format!("12.4\n{}", "# long\n".repeat(700)), ":"), ["asked", new.as_str()]);
}

#[test]
fn what_the_hook_remembers_under_set_a_is_not_exported_for_good() {
    let at = machine();
    nvcc(&at, "12.4.1");
    let fed = format!("{INIT}\nset -a\nX=1\ncd ~/q\n:\nset +a\ncd ~/none\nenv | grep -E '^(_cu|X=)'\n");
    let said = interactive(&at, &fed);
    assert_eq!(complaints(&said, &fed), "");
    assert_eq!(lines(&said.out), ["X=1"]);
}

#[test]
fn a_version_below_letters_beyond_ascii_is_read() {
    let at = machine();
    at.write("home/q/.cuda-version", "# für alle\n12.4\n");
    let script = format!(
        "{INIT}\ncd ~/q; _cudaup_hook; nvcc; printf '# für alle\\n11.8\\n' >.cuda-version; _cudaup_hook; nvcc"
    );
    let said = said(command(&at, "bash").args(["--norc", "-c", &script]).output().unwrap());
    let wanted = [nvcc(&at, "12.4.1"), nvcc(&at, "11.8.0")];
    assert_eq!((lines(&said.out), said.err.as_str()), (wanted.to_vec(), ""));
}
