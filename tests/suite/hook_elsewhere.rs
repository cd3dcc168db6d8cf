//! Where a shell's environment goes: into subshells, scripts, other shells by exec, another user's, one behind sshd.

use crate::hook_bash::open_to_all;
use crate::nobody::is_root;
use crate::sandbox::{Said, Sandbox, copy, said};
use crate::shell_driver::Do::*;
use crate::shell_driver::*;
use crate::terminal::Terminal;
use std::fs;

#[test]
fn what_a_subshell_enters_stays_in_it() {
    let at = machine();
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    for shell in shells() {
        let (look, inside) = match shell {
            Shell::Bash => ("_cudaup_hook; ", "x=$(cd ~/p; _cudaup_hook; nvcc); echo \"$x\""),
            Shell::Zsh => ("", "x=$(cd ~/p; nvcc); echo $x"),
            Shell::Tcsh => ("", "set x = \"`cd ~/p; nvcc`\"; echo $x:q"),
            // fish has none.
            Shell::Fish => continue,
        };
        let round = format!("(cd ~/p; {look}nvcc); nvcc");
        let piped = format!("(cd ~/p; {look}nvcc) | cat; nvcc");
        let steps = [Cd("q"), Prompt, Line(&round), Line(&piped), Line(inside), Prompt, Nvcc, Environment];
        let said = run(&at, shell, &after_init(steps));
        assert_eq!(said[..6], [&old, &new, &old, &new, &old, &new].map(String::clone), "{shell:?}");
        let state = said.iter().filter(|l| l.starts_with("CUDA_HOME=")).collect::<Vec<_>>();
        assert!(state.len() == 1 && state[0].ends_with("12.4.1"), "{shell:?}: {state:?}");
    }
}

/// A script has no hook: it has what its shell exported, where that had entered a toolkit, else the shims, which follow.
#[test]
fn a_script_that_changes_directory_keeps_what_was_exported_and_follows_by_shims() {
    let at = machine();
    assert_eq!(at.cudaup("home/none", &["rehash"]).code, Some(0));
    let script = at.script("home/walk", "cd ~/p; nvcc; cd ~/q/sub; nvcc");
    let exec = at.script("home/exec", "cd ~/p; \"$CUDAUP\" exec -- nvcc; cd ~/q; \"$CUDAUP\" exec -- nvcc");
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    let first = format!("{}:/usr/bin:/bin", at.home().join("shims").display());
    let without_hook = said(command(&at, script.to_str().unwrap()).env("PATH", &first).output().unwrap());
    assert_eq!(lines(&without_hook.out), [old.clone(), new.clone()], "{}", without_hook.err);
    assert!(exec.exists());
    for shell in shells() {
        let steps = [Prompt, Line("~/walk"), Cd("q"), Prompt, Line("~/walk"), Line("~/exec"), Cd("none")];
        let steps =
            [Set("PATH", &first)].into_iter().chain(after_init(steps)).chain([Prompt, Line("~/walk")]);
        let said = run(&at, shell, &steps.collect::<Vec<_>>());
        let wanted = [&old, &new, &new, &new, &old, &new, &old, &new].map(String::clone);
        assert_eq!(said, wanted, "{shell:?}");
    }
}

/// One terminal, one process: each shell takes over what the one before had entered, and leaves it whole.
#[test]
fn a_shell_that_takes_the_place_of_another_takes_over_its_toolkit() {
    let at = machine();
    let all = shells();
    for shell in &all {
        assert_eq!(at.cudaup("home/none", &["init", shell.name(), "--write"]).code, Some(0));
    }
    let Some(mut terminal) = Terminal::open(&at, "TMUX", "exec bash", "home/none") else {
        return;
    };
    let cuda = "env | grep -E '^(CUDA|LD_LIB|LIBRARY|CPATH|PKG_)' | grep -vE '^CUDAUP(_SYSROOT)?='";
    let before = (terminal.ask("printenv PATH"), terminal.ask(cuda));
    assert_eq!(before.1, "", "{}", before.0);
    for shell in all.iter().chain([&Shell::Bash]) {
        terminal.enter("cd ~/q");
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), nvcc(&at, "12.4.1"), "before {shell:?}");
        terminal.enter(&format!("exec {}", shell.name()));
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), nvcc(&at, "12.4.1"), "{shell:?}");
        terminal.enter("cd ~/p");
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), nvcc(&at, "11.8.0"), "{shell:?}");
        terminal.enter("cd ~/none");
        assert_eq!((terminal.ask("printenv PATH"), terminal.ask(cuda)), before, "{shell:?}");
    }
}

/// Runs a script in a view of the machine in which accounts are these lines of /etc/passwd: real ones for su and sshd.
fn with_accounts(at: &Sandbox, accounts: &str, script: &str) -> Option<Said> {
    if !is_root() || !has("unshare") {
        eprintln!("skipped: only root may have accounts of its own");
        return None;
    }
    at.write("passwd", accounts);
    let view =
        "mount --bind \"$0/passwd\" /etc/passwd && mount -t tmpfs none /run && mkdir /run/sshd || exit 99\n";
    let mut unshare = command(at, "unshare");
    unshare.args(["--mount", "sh", "-c", &format!("{view}{script}")]).arg(at.path(""));
    let said = said(unshare.output().unwrap());
    if said.code == Some(99) {
        eprintln!("skipped: nothing can be mounted here: {}", said.err);
        return None;
    }
    Some(said)
}

/// `su - user` starts with nothing of ours; `su user` inherits all, and the other user's own hook puts it right.
#[test]
fn another_user_gets_their_own() {
    let at = machine();
    let theirs = at.path("theirs");
    at.write("theirs/.cuda-version", "11.8\n");
    at.write("theirs/none/empty", "");
    if !open_to_all(&at, &theirs) || !has("su") {
        return;
    }
    fs::create_dir_all(theirs.join(".cudaup/bin")).unwrap();
    for name in ["cudaup", "cudaup-shim"] {
        copy(&at.home().join("bin").join(name), &theirs.join(".cudaup/bin").join(name));
    }
    fs::rename(at.home().join("toolkits/11.8.0"), at.path("11.8.0")).unwrap();
    fs::create_dir_all(theirs.join(".cudaup/toolkits")).unwrap();
    fs::rename(at.path("11.8.0"), theirs.join(".cudaup/toolkits/11.8.0")).unwrap();
    let mine = "eval \"$(\"$CUDAUP\" init bash)\"; cd ~/q; _cudaup_hook; command -v nvcc";
    let prompt = "for c in \"${PROMPT_COMMAND[@]}\"; do eval \"$c\"; done";
    let accounts = format!(
        "root:*:0:0::{}:/bin/bash\nother:*:65534:65534::{}:/bin/bash\n",
        at.user().display(),
        theirs.display()
    );
    at.write("theirs/.bashrc", "eval \"$(~/.cudaup/bin/cudaup init bash)\"\n");
    at.write("theirs/.bash_profile", ". ~/.bashrc\n");
    let told = format!("{prompt}; command -v nvcc; cd ~/none; export CUDAUP_CEILING=~/none; {prompt}; env");
    at.write("theirs/told", told);
    at.write(
        "mine",
        format!("{mine}\nsu - other -c '. ~/.bash_profile; . ~/told'\necho =\nsu other -c '. ~/.bashrc; cd; . ~/told'\n"),
    );
    let Some(said) = with_accounts(&at, &accounts, "exec bash --norc \"$0/mine\"") else {
        return;
    };
    let out = lines(&said.out);
    assert_eq!(out[0], nvcc(&at, "12.4.1"), "{}", said.err);
    let parts: Vec<&[String]> = out[1..].split(|l| l == "=").collect();
    let (login, kept) = (parts[0], parts[1]);
    let own = theirs.join(".cudaup/toolkits/11.8.0/bin/nvcc").display().to_string();
    assert_eq!((&login[0], &kept[0]), (&own, &own), "{}", said.err);
    for left in [login, kept] {
        let ours = |l: &&String| l.starts_with("CUDA") && !l.starts_with("CUDAUP") || l.contains("12.4.1");
        assert_eq!(left[1..].iter().filter(ours).count(), 0, "{left:?}");
    }
}

/// What sshd starts without a terminal reads the start files as the account's shell does, and has the shims.
#[test]
fn a_command_over_ssh_finds_the_shims() {
    if !has("ssh") || !std::path::Path::new("/usr/sbin/sshd").exists() {
        eprintln!("skipped: OpenSSH's client or server is not installed");
        return;
    }
    let at = machine();
    assert_eq!(at.cudaup("home/none", &["rehash"]).code, Some(0));
    let config = "HostKey /run/key\nAuthorizedKeysFile /run/key.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nSetEnv LANG=C.UTF-8\n";
    at.write("sshd", config);
    // Each connection is a server of its own at the other end of a pipe: no port is needed.
    let script = "ssh-keygen -q -t ed25519 -N '' -f /run/key && cp \"$0/sshd\" /run/sshd.conf
ssh -F /dev/null -i /run/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
-o 'ProxyCommand=/usr/sbin/sshd -i -f /run/sshd.conf' root@host 'cd ~/q && nvcc; cd ~/p && nvcc'";
    for shell in shells() {
        if shell == Shell::Bash && !reads_bashrc_for_sshd(&at) {
            continue;
        }
        assert_eq!(at.cudaup("home/none", &["init", shell.name(), "--write"]).code, Some(0));
        let program = format!("/bin/{}", shell.name());
        let accounts = format!(
            "root:*:0:0::{}:{program}\nsshd:*:100:65534::/run/sshd:/usr/sbin/nologin\n",
            at.user().display()
        );
        let Some(said) = with_accounts(&at, &accounts, script) else {
            return;
        };
        let wanted = [nvcc(&at, "12.4.1"), nvcc(&at, "11.8.0")];
        assert_eq!(lines(&said.out), wanted, "{shell:?}: {}", said.err);
    }
}

/// Whether bash is built to read ~/.bashrc where sshd starts it, as Debian's is.
fn reads_bashrc_for_sshd(at: &Sandbox) -> bool {
    at.write("home/.bashrc", "x=read\n");
    let mut bash = command(at, "bash");
    bash.env("SSH_CLIENT", "::1 1 22").env("SHLVL", "0").args(["-c", "echo ${x-}"]);
    let read = said(bash.output().unwrap()).out == "read\n";
    fs::remove_file(at.user().join(".bashrc")).unwrap();
    if !read {
        eprintln!("skipped: this bash reads nothing where sshd starts it");
    }
    read
}
