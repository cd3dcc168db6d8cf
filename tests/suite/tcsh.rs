//! The hook in tcsh: beside the aliases and under the settings of its user, with values that csh is known to trip over.

use crate::hook_bash::open_to_all;
use crate::sandbox::{Said, Sandbox, said, variables};
use crate::shell_driver::Do::{self, *};
use crate::shell_driver::*;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

const INIT: &str = "alias cu_init '$CUDAUP:q init tcsh' ; eval \"`cu_init`\"";

/// Makes the hook believe that every answer is of tomorrow: no file is then so new that it is asked again for that alone.
const AGED: &str = "alias _cudaup_run 'echo 99999999999 ; setenv _CUDAUP_TOLD $_cudaup_told:q ; $_cudaup_asked_of:q hook tcsh $_cudaup_how:q'; @ _cudaup_then = 99999999999";

/// Waits until a change is one of a later second, by the clock that files have.
const NEXT_SECOND: &str =
    "sh -c 'touch ~/a ~/b; while [ \"$(stat -c %Z ~/a)\" = \"$(stat -c %Z ~/b)\" ]; do touch ~/b; done'";

fn tcsh(at: &Sandbox, script: &str) -> Said {
    said(command(at, "tcsh").args(["-f", "-c", script]).output().unwrap())
}

#[test]
fn aliases_of_the_user_go_on_and_see_the_status() {
    if !has("tcsh") {
        return;
    }
    let at = machine();
    let odd = "echo \"old  $status\" ; (echo 'it''s' | cat) ; echo $?0";
    for before in [
        "true".to_owned(),
        format!("alias precmd '{}'; alias cwdcmd 'echo moved'", odd.replace('\'', "'\\''")),
    ] {
        let aliased = before != "true";
        let script = format!("{before}\n{INIT}\n{INIT}\nsh -c 'exit 7'\nprecmd\ncd ~/q\nnvcc\nalias precmd");
        let said = tcsh(&at, &script);
        let mut wanted = vec![nvcc(&at, "12.4.1"), "_cudaup_hook ; ".to_owned()];
        if aliased {
            wanted = [vec!["old  7".into(), "its".into(), "0".into(), "moved".into()], wanted].concat();
            wanted[5].push_str(odd);
        }
        assert_eq!((lines(&said.out), said.err.as_str()), (wanted, ""), "{script}");
    }
}

#[test]
fn settings_of_the_user_change_nothing() {
    if !has("tcsh") {
        return;
    }
    let at = machine();
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    for setting in [
        "set noglob",
        "set nonomatch",
        "set noclobber",
        "set backslash_quote",
        "set histchars = ,^",
        "set histchars = ''",
        "set echo_style = none",
        "unset csubstnonl",
        "set symlinks = chase",
        "set anyerror",
        "set implicitcd autolist correct = all",
        "alias cd 'chdir \\!*'; alias ls 'ls -F'; alias env false; alias echo true; alias source false",
        "onintr -",
        "unsetenv PWD",
        "set path = (/usr/bin /bin)",
    ] {
        for script in [format!("{setting}\n{INIT}"), format!("{INIT}\n{setting}")] {
            let script = format!(
                "{script}\ncd $HOME:q/p; precmd; nvcc\ncd $HOME:q/q/sub; precmd; nvcc\ncd $HOME:q/none; printenv CUDA_HOME"
            );
            let said = tcsh(&at, &script);
            let wanted = vec![old.clone(), new.clone()];
            assert_eq!((lines(&said.out), said.err.as_str()), (wanted, ""), "{script}");
        }
    }
}

/// What is inherited is given back byte for byte, and inside it is what `exec` makes of it.
#[test]
fn values_are_data() {
    if !has("tcsh") {
        return;
    }
    let at = machine();
    let odd: [&[u8]; 8] = [
        b"/my dir:/it's:/a\\b:/x\\",
        b"/ev!l:!!:!$:^a^b^",
        b"/$HOME:/`touch ran`:/$(touch ran):\"/q\"",
        b"/line\nend:\n:/more\n",
        b"/\xff\xfe:/\xc3\xa9\xc3",
        b"/*:/[a]:/{b,c}:~:~root:?",
        b"-n:#x:;:&|<>()",
        b"::/a::",
    ];
    let nul = |output: std::process::Output| {
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        variables(&output.stdout)
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.escape_ascii(), value.escape_ascii()))
            .filter(|v| {
                !["_=", "SHLVL=", "OLDPWD=", "PWD=", "CUDAUP_VERSION="].iter().any(|n| v.starts_with(n))
            })
            .collect::<Vec<_>>()
    };
    for value in odd {
        let set = |command: &mut Command| {
            for name in ["LD_LIBRARY_PATH", "CPATH", "CUDA_ROOT", "CUDA_HOME", "NVCC_PREPEND_FLAGS"] {
                command.env(name, OsStr::from_bytes(value));
            }
            let path = [b"/usr/bin:/bin:", value].concat();
            command.env("PATH", OsStr::from_bytes(&path));
        };
        let run = |script: &str| {
            let mut command = command(&at, "tcsh");
            set(&mut command);
            nul(command.args(["-f", "-c", script]).output().unwrap())
        };
        // The shims' place at the end of PATH is what an active hook changes of it.
        let before = run(&format!("{INIT}\n/usr/bin/env -0"));
        let after =
            run(&format!("{INIT}\ncd ~/p; precmd; cd ~/q; precmd; cd ~/none; precmd\n/usr/bin/env -0"));
        assert_eq!(before, after, "{}", String::from_utf8_lossy(value));
        let inside = run(&format!("{INIT}\ncd ~/p; cd ~/q\n/usr/bin/env -0"));
        // The environment that the hook starts from: with the shims where an active hook has them, and tcsh's own variables.
        let script = format!("{INIT}\ncd ~/q; setenv PWD $cwd:q; $CUDAUP:q exec -- /usr/bin/env -0");
        assert_eq!(inside, run(&script), "{}", String::from_utf8_lossy(value));
        assert!(inside.iter().any(|v| v.starts_with("CUDA_HOME=") && v.ends_with("12.4.1")));
        assert!(!at.path("home/none/ran").exists() && !at.path("home/q/ran").exists());
    }
}

#[test]
fn what_the_program_says_goes_into_pipes_and_files() {
    if !has("tcsh") {
        return;
    }
    let at = machine();
    let script = format!(
        "{INIT}\ncudaup list | wc -l\ncudaup -q use 12.4 > ~/said ; nvcc\ncudaup exec 11.8 -- sh -c 'echo \"$1  $2\"' x 'a  b' '$c'\ncudaup which nvcc | cat\ncudaup --version > ~/version && cat ~/version | sed 's/ .*//'"
    );
    let said = tcsh(&at, &script);
    let new = nvcc(&at, "12.4.1");
    assert_eq!(
        (lines(&said.out), said.err.as_str()),
        (["3", &new, "a  b  $c", &new, "cudaup"].map(str::to_owned).to_vec(), "")
    );
}

/// What stands for the words of an alias begins with the character of history, which a user may choose.
#[test]
fn the_program_is_called_under_any_setting_of_history() {
    if !has("tcsh") {
        return;
    }
    let at = machine();
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    for setting in ["unset histchars", "set histchars = ,^", "set histchars = '@'"] {
        let script = format!(
            "{setting}\n{INIT}\ncudaup -q use 12.4 ; nvcc\ncudaup -q use --shell 11.8 ; nvcc\ncudaup exec 12.4 -- sh -c 'echo \"$1\"' x 'a  b'"
        );
        let said = tcsh(&at, &script);
        let wanted = [new.as_str(), &old, "a  b"].map(str::to_owned).to_vec();
        assert_eq!((lines(&said.out), said.err.as_str()), (wanted, ""), "{setting}");
        fs::remove_file(at.path("home/none/.cuda-version")).unwrap();
    }
    let off = format!(
        "set histchars = ''\n{INIT}\ncudaup -q use 12.4 --no-install 'x y' ; cudaup -q use 12.4\nprecmd; nvcc"
    );
    let said = tcsh(&at, &off);
    assert_eq!(lines(&said.out), [new], "{}", said.err);
    assert!(said.err.contains("`x y` is too much"), "{}", said.err);
}

/// One process for a change, and it is the program itself.
#[test]
fn one_process_is_started_for_a_change() {
    if !has("tcsh") || !has("strace") {
        return;
    }
    let at = machine();
    let started = |changes: &str| {
        let trace = at.path("trace");
        let mut strace = command(&at, "strace");
        strace.args(["-f", "-e", "trace=execve,clone,clone3,fork,vfork", "-o"]).arg(&trace);
        let script = format!("{INIT}\n{AGED}\ncd ~/p; precmd; precmd\n{changes}");
        let output = strace.args(["tcsh", "-f", "-c", &script]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(&trace).unwrap();
        ["clone(", "fork(", "execve("].map(|call| text.matches(call).count())
    };
    let [clones, forks, programs] = started("");
    assert_eq!(started("cd ~/p; precmd; cd ~/p; precmd"), [clones, forks, programs]);
    assert_eq!(started("cd ~/q; precmd; precmd"), [clones + 1, forks, programs + 1]);
    assert_eq!(started("cd ~/q/sub; precmd; cd ~/none; precmd"), [clones + 2, forks, programs + 2]);
    assert_eq!(started("setenv CUDAUP_VERSION 12.4; precmd; precmd"), [clones + 1, forks, programs + 1]);
}

/// A version file of another user's that only they can read: said once, and nothing is left of what was entered.
#[test]
fn a_file_that_cannot_be_read_is_said_once() {
    let at = machine();
    let directory = at.path("theirs");
    at.write("theirs/.cuda-version", "12.4\n");
    if !has("tcsh") || !open_to_all(&at, &directory) {
        return;
    }
    let script = format!(
        "{INIT}\ncd $D:q; precmd; nvcc\nchmod 0 .cuda-version; precmd; precmd; printenv CUDA_HOME\nchmod 600 .cuda-version; precmd; nvcc"
    );
    let mut setpriv = command(&at, "setpriv");
    setpriv.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "tcsh", "-f", "-c", &script]);
    let said = said(setpriv.env("D", &directory).output().unwrap());
    let new = nvcc(&at, "12.4.1");
    assert_eq!(lines(&said.out), [new.clone(), new], "{}", said.err);
    assert_eq!(said.err.matches("theirs/.cuda-version").count(), 1, "{}", said.err);
    assert!(!said.err.contains("Permission denied"), "{}", said.err);
}

/// ~/.cshrc is every csh's, and none but tcsh can follow.
#[test]
fn another_csh_finds_the_shims_in_the_same_start_file() {
    let at = machine();
    at.write("home/.cshrc", "set mine\n");
    assert_eq!(at.cudaup("home/none", &["rehash"]).code, Some(0));
    assert_eq!(at.cudaup("home/none", &["init", "tcsh", "--write"]).code, Some(0));
    for program in ["bsd-csh", "tcsh"] {
        if !has(program) {
            continue;
        }
        let script = "cd ~/q; nvcc; echo $?mine $PATH";
        let said = said(command(&at, program).args(["-c", script]).output().unwrap());
        let home = at.home().display().to_string();
        let path = format!("1 {home}/shims:{home}/bin:/usr/bin:/bin");
        assert_eq!((lines(&said.out), said.err.as_str()), (vec![nvcc(&at, "12.4.1"), path], ""), "{program}");
    }
}

/// Where no file is so new that it is asked again for that alone, all that decides has to be seen by itself.
#[test]
fn what_decides_is_seen_without_a_second_question() {
    if !has("tcsh") {
        return;
    }
    let at = machine();
    at.write("home/r/.cuda-version", "13.0\n");
    let module = at.toolkit("apps/cuda-12.2", "12.2.2");
    let path = format!("{}/bin:/usr/bin:/bin", module.display());
    let made = at.managed("13.0.2");
    fs::rename(&made, at.path("home/parked")).unwrap();
    let steps: Vec<Do> = vec![
        Init,
        Line(AGED),
        Cd("q"),
        Prompt,
        Set("PATH", &path),
        Prompt,
        Nvcc,
        Cd("q/sub"),
        Prompt,
        Nvcc,
        Line("echo 11.8 >../.cuda-version; echo 11.8.0 >../.cuda-version"),
        Prompt,
        Nvcc,
        Line("echo 12.4 >.cuda-version"),
        Prompt,
        Nvcc,
        Cd("r"),
        Prompt,
        Show("CUDA_HOME"),
        Line(NEXT_SECOND),
        Line("mv ~/parked ~/.cudaup/toolkits/13.0.2"),
        Prompt,
        Nvcc,
        Line("mv ~/.cudaup/toolkits/13.0.2 ~/parked"),
        Prompt,
        Show("CUDA_HOME"),
    ];
    let said = try_run(&at, Shell::Tcsh, &steps);
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    let none = "CUDA_HOME unset";
    let theirs = module.join("bin/nvcc").display().to_string();
    assert_eq!(
        lines(&said.out),
        [&theirs, &new, &old, &new, none, &nvcc(&at, "13.0.2"), none],
        "{}",
        said.err
    );
}

/// A link to a version file, led elsewhere: the two files are alike in size, and one is as old as the other.
#[test]
fn a_link_that_is_led_elsewhere_is_seen() {
    if !has("tcsh") {
        return;
    }
    let at = machine();
    let script = format!(
        "{INIT}\n{AGED}\nmkdir ~/l; cd ~/l; echo 11.8 >a; echo 12.4 >b; ln -s a .cuda-version; precmd; nvcc
        {NEXT_SECOND}
        ln -sfn b .cuda-version; precmd; nvcc"
    );
    let said = tcsh(&at, &script);
    assert_eq!((lines(&said.out), said.err.as_str()), (vec![nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1")], ""));
}

/// The names of the folders where add-ons come stand in the hook, which cannot list them.
#[test]
fn the_hook_knows_all_libraries() {
    let hook = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/shell/cudaup.tcsh")).unwrap();
    for library in cudaup_core::addon::LIBRARIES {
        assert!(hook.contains(&format!(" addons/{}", library.name)), "{}", library.name);
    }
}
