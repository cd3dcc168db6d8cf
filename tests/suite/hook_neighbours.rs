//! The hook beside programs that bring toolkits or draw prompts of their own, under a clock set back, and at the ceiling.

use crate::sandbox::{Sandbox, said};
use crate::shell_driver::Do::*;
use crate::shell_driver::*;
use crate::terminal::Terminal;
use std::path::Path;

/// What brings another toolkit, and takes it back: in each, lines for a shell.
struct Other {
    load: String,
    unload: String,
    nvcc: String,
    /// It keeps the CUDA_HOME that it found.
    keeps: bool,
}

/// Loaded before and inside a pinned directory, and unloaded after and inside. Inside, it is the newer wish, until the
/// directory changes.
fn comes_and_goes(at: &Sandbox, shell: Shell, start: &[Do], other: &Other) {
    let (load, unload) = (other.load.as_str(), other.unload.as_str());
    let steps = || -> Vec<Do> {
        vec![
            // Loaded once, some of what a neighbour keeps for itself stays for good.
            Line(load),
            Line(unload),
            Prompt,
            Environment,
            // Before.
            Line(load),
            Prompt,
            Nvcc,
            Cd("q"),
            Prompt,
            Nvcc,
            Cd("none"),
            Prompt,
            Nvcc,
            Line(unload),
            Prompt,
            Nvcc,
            Environment,
            // Inside.
            Cd("q"),
            Prompt,
            Nvcc,
            Line(load),
            Prompt,
            Nvcc,
            Prompt,
            Cd("p"),
            Prompt,
            Nvcc,
            Cd("none"),
            Prompt,
            Nvcc,
            Line(unload),
            Prompt,
            Environment,
            // Inside, and taken back there.
            Cd("q"),
            Prompt,
            Line(load),
            Prompt,
            Nvcc,
            Line(unload),
            Prompt,
            Cd("p"),
            Prompt,
            Nvcc,
            Cd("none"),
            Prompt,
            Environment,
        ]
    };
    let mut all: Vec<String> = vec![script(shell, start)];
    all.push(script(shell, &after_init(steps())));
    let [program, option] = shell.bare();
    let said = said(command(at, program).args([option, "-c", &all.concat()]).output().unwrap());
    let out = lines(&said.out);
    let parts: Vec<&[String]> = out.split(String::is_empty).collect();
    let (new, old, theirs, none) =
        (nvcc(at, "12.4.1"), nvcc(at, "11.8.0"), other.nvcc.clone(), "no nvcc".to_owned());
    let before = parts[0];
    let wanted: [&[&String]; 3] =
        [&[&theirs, &new, &theirs, &none], &[&new, &theirs, &old, &theirs], &[&theirs, &old]];
    for (round, (part, wanted)) in parts[1..].iter().zip(wanted).enumerate() {
        let (nvccs, after) = part.split_at(wanted.len());
        assert_eq!(nvccs.iter().collect::<Vec<_>>(), wanted, "{shell:?} {round}: {}", said.err);
        // What it saw when it came, it puts back, although that was of a directory that was left since.
        let kept = |l: &&String| !(round > 0 && other.keeps && l.starts_with("CUDA_HOME="));
        let after: Vec<_> = after.iter().filter(kept).collect();
        assert_eq!(after, before.iter().collect::<Vec<_>>(), "{shell:?} {round}: {}", said.err);
    }
    assert_eq!(parts.len(), 5, "{shell:?}: {out:?}");
}

/// As conda's functions do it: a prefix in front of PATH, and a package's own lines that set CUDA_HOME and keep the old one.
#[test]
fn a_conda_environment_with_a_toolkit_comes_and_goes() {
    let at = machine();
    let prefix = at.toolkit("envs/gpu", "12.2.2").display().to_string();
    at.write(
        "home/conda.sh",
        "on() { export CONDA_PREFIX=$1 CONDA_BACKUP_PATH=$PATH PATH=$1/bin:$PATH
        [ -z \"${CUDA_HOME+x}\" ] || export CONDA_BACKUP_CUDA_HOME=$CUDA_HOME; export CUDA_HOME=$1; }
        off() { p=:$PATH; d=:$CONDA_PREFIX/bin; case $p in *\"$d\":*) p=${p%%\"$d\":*}:${p#*\"$d\":} ;; esac
        PATH=${p#:}; unset CUDA_HOME CONDA_PREFIX CONDA_BACKUP_PATH p d
        [ -z \"${CONDA_BACKUP_CUDA_HOME+x}\" ] || export CUDA_HOME=$CONDA_BACKUP_CUDA_HOME; unset CONDA_BACKUP_CUDA_HOME; }\n",
    );
    at.write(
        "home/conda.fish",
        "function on; set -gx CONDA_PREFIX $argv[1]; set -gx PATH $argv[1]/bin $PATH
        set -q CUDA_HOME; and set -gx CONDA_BACKUP_CUDA_HOME $CUDA_HOME; set -gx CUDA_HOME $argv[1]; end
        function off; set -l i (contains -i -- $CONDA_PREFIX/bin $PATH); and set -e PATH[$i]; set -e CUDA_HOME; set -e CONDA_PREFIX
        set -q CONDA_BACKUP_CUDA_HOME; and set -gx CUDA_HOME $CONDA_BACKUP_CUDA_HOME; set -e CONDA_BACKUP_CUDA_HOME; end\n",
    );
    for shell in shells().into_iter().filter(|s| *s != Shell::Tcsh) {
        let source = if shell == Shell::Fish { "source ~/conda.fish" } else { ". ~/conda.sh" };
        let other = Other {
            load: format!("on \"{prefix}\""),
            unload: "off".to_owned(),
            nvcc: format!("{prefix}/bin/nvcc"),
            keeps: true,
        };
        comes_and_goes(&at, shell, &[Line(source)], &other);
    }
}

#[test]
fn a_module_with_a_toolkit_comes_and_goes() {
    let init = Path::new("/usr/share/modules/init");
    if !init.is_dir() {
        eprintln!("skipped: environment-modules is not installed");
        return;
    }
    // Its own commands take no odd path whole.
    let apps = Sandbox::new();
    let root = apps.toolkit("apps/cuda-12.2", "12.2.2").display().to_string();
    apps.write(
        "modules/cuda/12.2",
        format!(
            "#%Module1.0\nsetenv CUDA_HOME {root}\nprepend-path PATH {root}/bin\nprepend-path LD_LIBRARY_PATH {root}/lib64\n"
        ),
    );
    let at = machine();
    let path = apps.path("modules").display().to_string();
    for shell in shells() {
        let source = format!("source {}", init.join(shell.name()).display());
        let used = format!("module use {path}");
        let other = Other {
            load: "module load cuda/12.2".to_owned(),
            unload: "module unload cuda/12.2".to_owned(),
            nvcc: format!("{root}/bin/nvcc"),
            keeps: false,
        };
        comes_and_goes(&at, shell, &[Line(&source), Line(&used)], &other);
    }
}

/// Prompts drawn as starship and oh-my-zsh draw them: a function that takes the place of what was there and calls it, a
/// trap, a prompt that is expanded. Before cudaup's line and after it.
#[test]
fn programs_that_draw_the_prompt_go_on() {
    let bash = "_ret() { return \"${1:-0}\"; }
draw() { s=$? p=(\"${PIPESTATUS[@]}\"); _ret $s; [ -z \"$THEIRS\" ] || eval \"$THEIRS\"; PS1=\"<$s ${CUDA_HOME##*/}>\"; ready=1; }
timer() { [ -z \"${ready-}\" ] || { ready=; started=$SECONDS; }; }
trap 'timer \"$_\"' DEBUG
THEIRS=${PROMPT_COMMAND-}; PROMPT_COMMAND=draw\n";
    let zsh = "setopt prompt_subst auto_cd
draw() { drawn=$? }
info() { print -rn -- ${CUDA_HOME##*/} }
autoload -Uz add-zsh-hook; add-zsh-hook precmd draw
PROMPT='<$drawn $(info)>'; RPROMPT='%(?..%?)'\n";
    let fish = "function fish_prompt; set -l s $status; set -l r (string split / -- $CUDA_HOME)[-1]; echo -n \"<$s $r>\"; end\n";
    let tcsh = "alias precmd 'set s = $status ; if ($?CUDA_HOME) set prompt = \"<$s $CUDA_HOME:t>\"'\n";
    for (shell, theirs, file) in [
        (Shell::Bash, bash, "home/.bashrc"),
        (Shell::Zsh, zsh, "home/.zshrc"),
        (Shell::Fish, fish, "home/.config/fish/config.fish"),
        (Shell::Tcsh, tcsh, "home/.tcshrc"),
    ] {
        if !has(shell.name()) {
            continue;
        }
        let init = shell.init() + "\n";
        for start in [format!("{theirs}{init}"), format!("{init}{theirs}")] {
            // tcsh has one place for all: who comes last has to keep what was there.
            if shell == Shell::Tcsh && start.ends_with(theirs) {
                continue;
            }
            let at = machine();
            at.write(file, &start);
            let Some(mut terminal) = Terminal::open(&at, "TMUX", &format!("exec {}", shell.name()), "home/p")
            else {
                return;
            };
            assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), nvcc(&at, "11.8.0"), "{shell:?}");
            terminal.enter("cd ~/q");
            assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), nvcc(&at, "12.4.1"), "{shell:?}: {start}");
            terminal.enter("sh -c 'exit 7'");
            terminal.ask("true");
            let screen = terminal.screen();
            assert!(screen.contains("<7 12.4.1>"), "{shell:?}: {start}\n{screen}");
            assert!(screen.contains("11.8.0>"), "{shell:?}: {start}\n{screen}");
            assert!(!screen.contains("cudaup:") && !screen.contains("rror"), "{shell:?}: {start}\n{screen}");
        }
    }
}

/// starship itself, which takes over PROMPT_COMMAND and the DEBUG trap. Before cudaup's line and after it.
#[test]
fn starship_goes_on() {
    let Some(program) = std::env::var_os("CUDAUP_TEST_STARSHIP").filter(|p| Path::new(p).is_file()) else {
        eprintln!("skipped: tests/run fetched no starship");
        return;
    };
    let program = program.to_str().unwrap().to_owned();
    for (shell, theirs, file) in [
        (Shell::Bash, "eval \"$(STARSHIP init bash)\"\n", "home/.bashrc"),
        (Shell::Zsh, "eval \"$(STARSHIP init zsh)\"\n", "home/.zshrc"),
        (Shell::Fish, "STARSHIP init fish | source\n", "home/.config/fish/config.fish"),
        (Shell::Tcsh, "eval `STARSHIP init tcsh`\n", "home/.tcshrc"),
    ] {
        if !has(shell.name()) {
            continue;
        }
        let (theirs, init) = (theirs.replace("STARSHIP", &program), shell.init() + "\n");
        for start in [format!("{theirs}{init}"), format!("{init}{theirs}")] {
            let at = machine();
            at.write(file, &start);
            at.write(
                "home/.config/starship.toml",
                "format = '<$status${env_var.CUDA_HOME}>'\nadd_newline = false\n[status]\ndisabled = false\nformat = '$status '\n[env_var.CUDA_HOME]\nformat = '$env_value'\n",
            );
            let Some(mut terminal) = Terminal::open(&at, "TMUX", &format!("exec {}", shell.name()), "home/p")
            else {
                return;
            };
            assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), nvcc(&at, "11.8.0"), "{shell:?}");
            terminal.enter("cd ~/q");
            assert_eq!(terminal.ask("sh -c 'command -v nvcc'"), nvcc(&at, "12.4.1"), "{shell:?}: {start}");
            terminal.enter("sh -c 'exit 7'");
            terminal.ask("true");
            let screen = terminal.screen();
            let drawn = format!("<7 {}>", at.home().join("toolkits/12.4.1").display());
            assert!(screen.contains(&drawn), "{shell:?}: {start}\n{screen}");
            assert!(!screen.contains("cudaup:"), "{shell:?}: {start}\n{screen}");
        }
    }
}

/// The clock goes back by an hour while a shell stands in a project. tcsh looks at times.
#[test]
fn a_clock_that_is_set_back_changes_nothing() {
    let Some(library) = ["x86_64", "aarch64"]
        .map(|m| format!("/usr/lib/{m}-linux-gnu/faketime/libfaketime.so.1"))
        .into_iter()
        .find(|p| Path::new(p).exists())
    else {
        eprintln!("skipped: faketime is not installed");
        return;
    };
    let at = machine();
    let clock = at.write("clock", "+0\n");
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    for shell in shells() {
        let [program, option] = shell.bare();
        let mut tried = command(&at, program);
        let tried = said(tried.env("LD_PRELOAD", &library).args([option, "-c", "exit 0"]).output().unwrap());
        if (tried.code, tried.err.as_str()) != (Some(0), "") {
            eprintln!("skipped: this {shell:?} cannot load faketime's library");
            continue;
        }
        let steps = [
            Cd("q"),
            Prompt,
            Nvcc,
            Line("echo -3600 >\"$FAKETIME_TIMESTAMP_FILE\""),
            Prompt,
            Nvcc,
            Line("echo 11.8 >.cuda-version"),
            Prompt,
            Nvcc,
            Line("echo +3600 >\"$FAKETIME_TIMESTAMP_FILE\""),
            Line("echo 12.4 >.cuda-version"),
            Prompt,
            Prompt,
            Nvcc,
        ];
        std::fs::write(&clock, "+0\n").unwrap();
        let mut command = command(&at, program);
        command
            .env("LD_PRELOAD", &library)
            .env("FAKETIME_TIMESTAMP_FILE", &clock)
            .env("FAKETIME_NO_CACHE", "1");
        let said = said(command.args([option, "-c", &script(shell, &after_init(steps))]).output().unwrap());
        let wanted = [&new, &new, &old, &new].map(String::clone);
        assert_eq!((lines(&said.out), said.err.as_str()), (wanted.to_vec(), ""), "{shell:?}");
    }
}

/// Above a ceiling may be a directory that waits for a network at each name in it: nothing there is looked at.
#[test]
fn nothing_is_looked_for_above_the_ceiling() {
    if !has("strace") {
        return;
    }
    let at = machine();
    let trace = at.path("trace");
    for shell in shells() {
        let [program, option] = shell.bare();
        let steps = [Cd("q/sub"), Prompt, Prompt, Cd("none/deep"), Prompt, Prompt, Line("cudaup list")];
        let mut strace = command(&at, "strace");
        strace.env("CUDAUP_CEILING", at.user());
        strace.args(["-f", "-e", "trace=%file", "-s", "300", "-o"]).arg(&trace);
        let script = script(shell, &after_init(steps));
        let said = said(strace.args([program, option, "-c", &script]).output().unwrap());
        let seen = std::fs::read_to_string(&trace).unwrap();
        let looked = |dir: &str| seen.contains(&format!("/home/{dir}/.cuda-version\""));
        assert!(looked("q/sub") && looked("none/deep") && looked("none"), "{shell:?}: {}", said.err);
        let above =
            |l: &&str| l.contains(".cuda-version\"") && !l.contains("/home/q/") && !l.contains("/home/none/");
        assert_eq!(seen.lines().find(above), None, "{shell:?}");
    }
}

/// A parent that cannot be looked into any more, as a mount that died: no pin of what lies above it, and no waiting.
#[test]
fn a_parent_that_died_ends_the_walk() {
    let at = machine();
    at.write("home/.cuda-version", "11.8\n");
    std::fs::create_dir_all(at.path("home/m/in")).unwrap();
    // A file system in user space whose program is gone: each look below it fails at once, with an error.
    let die = at.script(
        "home/die",
        "mount -i -t fuse -o fd=5,rootmode=40000,user_id=0,group_id=0 none \"$HOME/m\" 5<>/dev/fuse",
    );
    let tried = command(&at, "unshare").arg("--mount").arg(die).output();
    if !tried.is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: nothing can be mounted here");
        return;
    }
    let old = nvcc(&at, "11.8.0");
    for shell in shells().into_iter().filter(|s| tells_directories(&at, *s)) {
        let [program, option] = shell.bare();
        let steps = [Cd("m/in"), Prompt, Nvcc, Line("~/die"), Prompt, Prompt, Show("CUDA_HOME"), Cd("none")];
        let steps = after_init(steps).into_iter().chain([Prompt, Nvcc]).collect::<Vec<_>>();
        let mut unshare = command(&at, "timeout");
        unshare.args(["60", "unshare", "--mount", program, option, "-c", &script(shell, &steps)]);
        let said = said(unshare.output().unwrap());
        assert_eq!(lines(&said.out), [&old, "CUDA_HOME unset", &old], "{shell:?}: {}", said.err);
        assert!(!said.err.contains("error"), "{shell:?}: {}", said.err);
    }
}
