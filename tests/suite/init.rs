//! `cudaup init`: what it prints, what it writes into start files, and shells that start with those.

use crate::sandbox::{Sandbox, said};
use crate::shell_driver::Shell::{self, *};
use crate::shell_driver::*;
use crate::terminal::Terminal;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn init(at: &Sandbox, args: &[&str]) -> crate::sandbox::Said {
    at.cudaup("home/none", &[&["init"], args].concat())
}

fn write(at: &Sandbox, shell: Shell) -> String {
    let said = init(at, &[shell.name(), "--write"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{}", said.out);
    said.out
}

/// All files of a directory, with mode and content or link target.
fn files(at: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        if found.is_dir() {
            all.extend(files(&path));
            continue;
        }
        let content = if found.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            fs::read(&path).unwrap()
        };
        all.push((path.display().to_string(), found.permissions().mode(), content));
    }
    all.sort();
    all
}

#[test]
fn what_is_written_is_written_once_and_taken_out_whole() {
    let at = machine();
    for (name, text) in [
        (".bashrc", "# mine\ncase $- in *i*) ;; *) return ;; esac\nPS1='$ '"),
        (".bash_login", ". ~/.bashrc\r\n"),
        (".profile", "umask 022\n"),
        (".zshenv", ""),
        ("dotfiles/zshrc", "setopt no_beep\n"),
        (".config/fish/config.fish", "set -g x 1"),
        (".cshrc", "set prompt = '% '"),
    ] {
        at.write(&format!("home/{name}"), text);
    }
    symlink("dotfiles/zshrc", at.user().join(".zshrc")).unwrap();
    fs::set_permissions(at.user().join(".bashrc"), fs::Permissions::from_mode(0o600)).unwrap();
    let before = files(&at.user());
    for shell in [Bash, Zsh, Fish, Tcsh] {
        write(&at, shell);
    }
    let once = files(&at.user());
    let changed: Vec<_> =
        once.iter().filter(|f| !before.contains(f)).map(|f| f.0.rsplit_once("home/").unwrap().1).collect();
    assert_eq!(
        changed,
        [
            ".bash_login",
            ".bashrc",
            ".config/fish/conf.d/cudaup.fish",
            ".config/fish/config.fish",
            ".cshrc",
            ".zshenv",
            "dotfiles/zshrc"
        ]
    );
    for shell in [Bash, Zsh, Fish, Tcsh] {
        assert!(write(&at, shell).lines().all(|l| l.starts_with("as it was: ")));
    }
    assert_eq!(files(&at.user()), once);
    let said = init(&at, &["--remove"]);
    assert_eq!((said.code, said.out.lines().count()), (Some(0), 7), "{}", said.err);
    assert_eq!(files(&at.user()), before);
    assert_eq!(init(&at, &["--remove"]).out, "no start file has lines of cudaup\n");
}

#[test]
fn an_empty_home_is_empty_again() {
    let at = machine();
    let before = files(&at.user());
    for shell in [Bash, Zsh, Fish, Tcsh] {
        write(&at, shell);
    }
    assert_eq!(files(&at.user()).len(), before.len() + 7);
    assert_eq!(init(&at, &["--remove"]).code, Some(0));
    assert_eq!(files(&at.user()), before);
}

#[test]
fn a_file_that_may_not_be_written_stops_it_before_anything_is_written() {
    let at = machine();
    let profile = at.write("home/.profile", "mine\n");
    fs::set_permissions(&profile, fs::Permissions::from_mode(0o444)).unwrap();
    let before = files(&at.user());
    let said = init(&at, &["bash", "--write"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.err.starts_with("error: could not write ")
            && said.err.contains("/.profile: it is read-only (mode 444); nothing was changed"),
        "{}",
        said.err
    );
    assert!(said.err.contains("eval \"$("), "{}", said.err);
    assert_eq!(files(&at.user()), before);
}

#[test]
fn names_of_shells_and_where_there_is_none() {
    let at = machine();
    let unknown = init(&at, &["nu"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(2), ""));
    assert!(unknown.err.contains("bash, zsh, fish"), "{}", unknown.err);
    assert_eq!(init(&at, &["sh"]).code, Some(2));
    // Without a name, the shell that evaluates the text is looked for above the program.
    for shell in shells() {
        let [program, option] = shell.bare();
        let line = shell.init().replace(&format!("init {}", shell.name()), "init");
        let said = said(
            command(&at, program)
                .args([option, "-c", &format!("{line}\ncd ~/q; cudaup -q which nvcc")])
                .output()
                .unwrap(),
        );
        assert_eq!((said.out.trim_end(), said.err.as_str()), (&*nvcc(&at, "12.4.1"), ""), "{shell:?}");
    }
}

/// What shells see that read no hook: the shims, first; in a login shell, in what `ssh host command` starts, in any zsh.
#[test]
fn without_a_hook_the_shims_are_first() {
    for rc in [None, Some("case $- in *i*) ;; *) return ;; esac\n"), Some("export PATH=/opt/mine:$PATH\n")] {
        let at = machine();
        assert_eq!(at.cudaup("home/none", &["rehash"]).code, Some(0));
        if let Some(text) = rc {
            at.write("home/.bashrc", text);
        }
        // A default that the hook would enter, if it were loaded.
        at.write("home/.cudaup/default", "11.8\n");
        shims_serve(&at, rc.is_some_and(|text| text.contains("mine")));
    }
}

fn shims_serve(at: &Sandbox, behind: bool) {
    let mut ways = vec![("bash", vec!["-lc"]), ("sh", vec!["-lc"])];
    for shell in shells() {
        write(at, shell);
        ways.extend(match shell {
            Zsh => Some(("zsh", vec!["-c"])),
            Fish => Some(("fish", vec!["-c"])),
            Tcsh => Some(("tcsh", vec!["-c"])),
            Bash => None,
        });
    }
    let cd = "cd ~/q; nvcc";
    let first = at.home().join("shims").display().to_string();
    for (program, options) in ways {
        let said =
            said(command(at, program).args(&options).arg(format!("{cd}; echo \"$PATH\"")).output().unwrap());
        let out = lines(&said.out);
        assert_eq!(out.first(), Some(&nvcc(at, "12.4.1")), "{program} {options:?}: {}", said.err);
        assert!(out[1].starts_with(&first) && out[1].matches(&first).count() == 1, "{program}: {out:?}");
    }
    // What bash reads where sshd starts it without a terminal.
    let said = said(
        command(at, "bash").args(["-c", &format!(". ~/.bashrc; {cd}; echo \"$PATH\"")]).output().unwrap(),
    );
    let out = lines(&said.out);
    assert_eq!(out.first(), Some(&nvcc(at, "12.4.1")), "{}", said.err);
    let before = if behind { "/opt/mine:" } else { "" };
    assert!(out[1].starts_with(&format!("{before}{first}")), "{out:?}");
}

#[test]
fn another_home_is_remembered() {
    let at = machine();
    let other = at.path("other home");
    fs::rename(at.home(), &other).unwrap();
    let run = |args: &[&str]| {
        let mut command = command(&at, other.join("bin/cudaup").to_str().unwrap());
        said(command.env("CUDAUP_HOME", &other).args(args).output().unwrap())
    };
    assert_eq!(run(&["rehash"]).code, Some(0));
    assert_eq!(run(&["init", "bash", "--write"]).code, Some(0));
    let said =
        said(command(&at, "bash").args(["-lc", "cd ~/q; nvcc; echo \"$CUDAUP_HOME\""]).output().unwrap());
    let wanted = [other.join("toolkits/12.4.1/bin/nvcc"), other].map(|p| p.display().to_string());
    assert_eq!(lines(&said.out), wanted, "{}", said.err);
}

/// `bash -ic` and its like read the start files and never show a prompt.
#[test]
fn commands_without_a_prompt_see_their_directory() {
    let at = machine();
    // tcsh -ic says that it is none of those: it sets no prompt.
    for shell in shells().into_iter().filter(|s| *s != Tcsh) {
        write(&at, shell);
        let mut command = command(&at, shell.name());
        command.current_dir(at.path("home/q")).env_remove("PWD").args(["-i", "-c", "nvcc"]);
        assert_eq!(lines(&said(command.output().unwrap()).out), [nvcc(&at, "12.4.1")], "{shell:?}");
    }
}

/// A terminal as people use one: start files written by `init --write`, a first prompt, cd, an edit, a shell in a shell.
#[test]
fn a_terminal_follows_from_its_first_prompt_on() {
    let at = machine();
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    at.write("home/.zshrc", "precmd() { echo $? >>~/status }\n");
    at.write("home/.bashrc", "PROMPT_COMMAND='echo $? >>~/status;'\n");
    at.write("home/.tcshrc", "alias precmd 'echo $status >>~/status'\n");
    at.write("home/.config/fish/config.fish", "function fish_prompt; echo $status >>~/status; end\n");
    for shell in shells() {
        write(&at, shell);
        let Some(mut terminal) = Terminal::open(&at, "TMUX", &format!("exec {}", shell.name()), "home/p")
        else {
            return;
        };
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), old, "{shell:?}");
        terminal.enter("cd ~/q");
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), new, "{shell:?}");
        terminal.enter("cd ~/none");
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), "", "{shell:?}");
        terminal.enter("cudaup use 11.8");
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), old, "{shell:?}");
        terminal.enter("sh -c 'exit 7'");
        terminal.ask("true");
        let statuses = fs::read_to_string(at.user().join("status")).unwrap();
        assert!(statuses.lines().any(|l| l == "7"), "{shell:?}: {statuses}");
        terminal.enter(shell.name());
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), old, "{shell:?}");
        terminal.enter("cd ~/q");
        assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), new, "{shell:?}");
        drop(terminal);
        for file in ["status", "none/.cuda-version"] {
            fs::remove_file(at.user().join(file)).unwrap();
        }
        for answer in fs::read_dir(at.user()).unwrap() {
            let path = answer.unwrap().path();
            if path.file_name().unwrap().to_string_lossy().starts_with("answer") {
                fs::remove_file(path).unwrap();
            }
        }
    }
}

/// A terminal that was started in a project and opens elsewhere: what it inherited is put right before the first prompt.
#[test]
fn what_a_terminal_inherits_is_put_right() {
    for shell in shells() {
        let at = machine();
        write(&at, shell);
        let around = "eval \"$(\"$CUDAUP\" init bash)\"; cd ~/q; eval \"$PROMPT_COMMAND\"; [ -n \"$CUDA_HOME\" ] && TMUX";
        for (directory, wanted) in [("home/none", "unset"), ("home/p", "11.8.0"), ("home/q", "12.4.1")] {
            let Some(mut terminal) =
                Terminal::open(&at, around, &format!("exec {}", shell.name()), directory)
            else {
                return;
            };
            let home = terminal.ask("printenv CUDA_HOME");
            let home = if home.is_empty() { "unset" } else { home.rsplit('/').next().unwrap() };
            assert_eq!(home, wanted, "{shell:?} in {directory}: {}", terminal.screen());
            drop(terminal);
            fs::remove_file(at.user().join("answer1")).unwrap();
        }
    }
}
