//! Where the hook must do nothing, or nothing bad: odd files, lost directories, many shells, a prompt like the one before.

use crate::sandbox::{Sandbox, said, variables};
use crate::shell_driver::Do::*;
use crate::shell_driver::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn odd_pins_neither_wait_nor_run_nor_repeat() {
    let at = machine();
    fs::create_dir_all(at.path("home/dir/.cuda-version")).unwrap();
    fs::create_dir_all(at.path("home/fifo")).unwrap();
    assert!(Command::new("mkfifo").arg(at.path("home/fifo/.cuda-version")).status().unwrap().success());
    at.write("home/big/.cuda-version", vec![b'1'; 10_000_000]);
    at.write("home/binary/.cuda-version", b"\x00\xff\xfe12.4\x00\n");
    at.write("home/shell/.cuda-version", "$(touch ran)`touch ran`\n");
    for shell in shells() {
        for name in ["dir", "fifo", "big", "binary", "shell"] {
            let said = try_run(
                &at,
                shell,
                &after_init([
                    Cd(name),
                    Prompt,
                    Prompt,
                    Show("CUDA_HOME"),
                    Line("cd ..; cd -"),
                    Prompt,
                    Line("ls"),
                    Cd("q"),
                    Prompt,
                    Nvcc,
                ]),
            );
            let file = format!("{name}/.cuda-version");
            assert!(said.err.contains(&file), "{shell:?} {name}: {}", said.err);
            assert!(said.err.lines().count() <= 2, "{shell:?} {name}: {}", said.err);
            assert!(
                said.out.starts_with("CUDA_HOME unset\n") && !said.out.contains("ran"),
                "{shell:?} {name}: {}",
                said.out
            );
            assert!(
                said.out.ends_with(&format!("{}\n", nvcc(&at, "12.4.1"))),
                "{shell:?} {name}: {}",
                said.out
            );
        }
    }
}

#[test]
fn a_deleted_directory_and_a_missing_program_say_nothing() {
    let at = machine();
    for shell in shells() {
        let gone = [
            Cd("q"),
            Line("mkdir -p gone/deep; cd gone/deep"),
            Prompt,
            Line("rm -r ~/q/gone"),
            Prompt,
            Show("CUDA_HOME"),
            Line("echo 11.8 >~/q/.cuda-version"),
            Prompt,
            Show("CUDA_HOME"),
            Line("echo 12.4 >~/q/.cuda-version"),
        ];
        let home =
            |version: &str| format!("CUDA_HOME=<{}>", at.home().join("toolkits").join(version).display());
        let said = run(&at, shell, &after_init(gone));
        assert_eq!(said, [home("12.4.1"), home("11.8.0")], "{shell:?}");

        let program = at.home().join("bin/cudaup");
        let parked = at.home().join("parked");
        let away = [
            Line("mv ~/.cudaup/bin ~/.cudaup/parked"),
            Cd("p"),
            Prompt,
            Prompt,
            Nvcc,
            Line("mv ~/.cudaup/parked ~/.cudaup/bin"),
            Prompt,
            Nvcc,
        ];
        let said = run(&at, shell, &after_init(away));
        assert_eq!(said, ["no nvcc", &nvcc(&at, "11.8.0")], "{shell:?}");
        assert!(program.exists() && !parked.exists());
    }
}

/// Counts what a shell starts while nothing changes, as the kernel sees it.
#[test]
fn nothing_is_started_while_nothing_changed() {
    if !has("strace") {
        return;
    }
    let at = machine();
    let default = at.write("home/.cudaup/default", "12.4\n");
    // tcsh, which sees only times, asks again while a file is as new as the answer.
    while fs::metadata(&default).unwrap().modified().unwrap().elapsed().unwrap() < Duration::from_secs(3) {
        std::thread::sleep(Duration::from_millis(20));
    }
    for shell in shells() {
        // fish 3.1 furnishes a home at its first start in it.
        started(&at, shell, "none", 1);
        for place in ["q", "q/sub", "none/deep/er"] {
            let started = |prompts: usize| started(&at, shell, place, prompts);
            assert_eq!(started(2), started(30), "{shell:?} in {place}");
        }
    }
}

fn started(at: &Sandbox, shell: Shell, place: &str, prompts: usize) -> usize {
    let trace = at.path("trace");
    let mut steps = vec![Init, Cd(place)];
    steps.extend((0..prompts).map(|_| Prompt));
    let [program, option] = shell.bare();
    let mut strace = command(at, "strace");
    strace.args(["-f", "-e", "trace=execve,clone,clone3,fork,vfork", "-o"]).arg(&trace);
    let output = strace.args([program, option, "-c", &script(shell, &steps)]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // fish has threads of its own that come and go.
    let starts = |l: &&str| l.contains('(') && !l.contains("resumed") && !l.contains("CLONE_THREAD");
    fs::read_to_string(&trace).unwrap().lines().filter(starts).count()
}

#[test]
fn nothing_of_the_hook_is_exported() {
    let at = machine();
    for shell in shells() {
        let [program, option] = shell.bare();
        let script = script(shell, &[Init, Cd("q"), Prompt, Line("env -0")]);
        let output = command(&at, program).args([option, "-c", &script]).output().unwrap();
        let names: Vec<_> =
            variables(&output.stdout).into_iter().map(|(n, _)| String::from_utf8(n).unwrap()).collect();
        let ours = |n: &&String| {
            n.to_lowercase().contains("cudaup") || n.contains("PROMPT_COMMAND") || n.contains("ENV")
        };
        assert_eq!(
            names.iter().filter(ours).collect::<Vec<_>>(),
            ["CUDAUP", "CUDAUP_STATE", "CUDAUP_SYSROOT"],
            "{shell:?}"
        );
    }
}

#[test]
fn fifty_shells_at_once_say_nothing() {
    let at = machine();
    // fish 3.1 itself complains of another one that makes them at the same time.
    for made in ["home/.config/fish", "home/.local/share/fish"] {
        fs::create_dir_all(at.path(made)).unwrap();
    }
    for shell in shells() {
        let script = script(shell, &[Init, Cd("q"), Prompt, Nvcc]);
        let [program, option] = shell.bare();
        let start = || {
            let mut command = command(&at, program);
            command.args([option, "-c", &script]).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let children: Vec<_> = (0..50).map(|_| start()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            // A lock that fish 3.1 takes for itself.
            let mut complaints = lines(&String::from_utf8_lossy(&output.stderr));
            complaints.retain(|l| !l.starts_with("<W> fish: Locking"));
            assert!(complaints.is_empty(), "{shell:?}: {complaints:?}");
            assert_eq!(lines(&String::from_utf8_lossy(&output.stdout)), [nvcc(&at, "12.4.1")], "{shell:?}");
        }
    }
}

/// The nearest name counts, wherever it leads: not the pin of the directory above.
#[test]
fn a_pin_that_leads_nowhere_is_no_pin_of_the_parent() {
    let at = machine();
    fs::create_dir_all(at.path("home/q/dangling")).unwrap();
    fs::create_dir_all(at.path("home/q/looping")).unwrap();
    symlink("nowhere", at.path("home/q/dangling/.cuda-version")).unwrap();
    symlink(".cuda-version", at.path("home/q/looping/.cuda-version")).unwrap();
    let new = nvcc(&at, "12.4.1");
    for shell in shells() {
        for name in ["dangling", "looping"] {
            let inside = format!("q/{name}");
            let steps =
                [Cd("q"), Prompt, Nvcc, Cd(&inside), Prompt, Show("CUDA_HOME"), Cd("q"), Prompt, Nvcc];
            let said = try_run(&at, shell, &after_init(steps));
            assert_eq!(lines(&said.out), [&new, "CUDA_HOME unset", &new], "{shell:?} {name}");
            assert!(said.err.contains(&format!("{name}/.cuda-version")), "{shell:?}: {}", said.err);
        }
        // It comes while the shell stands below the pin, also in a directory between.
        for place in ["q/sub/deep", "q/sub/deep/er"] {
            fs::create_dir_all(at.path(&format!("home/{place}"))).unwrap();
            for comes_after in [1, 4] {
                let link = "ln -s nowhere ~/q/sub/deep/.cuda-version";
                let comes = [Line(link), Prompt, Show("CUDA_HOME"), Prompt, Show("CUDA_HOME")];
                let goes = [Line("rm ~/q/sub/deep/.cuda-version"), Prompt, Nvcc];
                let steps = std::iter::once(Cd(place)).chain((0..comes_after).map(|_| Prompt)).chain([Nvcc]);
                let said = try_run(&at, shell, &after_init(steps.chain(comes).chain(goes)));
                let wanted = [new.as_str(), "CUDA_HOME unset", "CUDA_HOME unset", &new];
                assert_eq!(lines(&said.out), wanted, "{shell:?} {place}: {}", said.err);
            }
        }
    }
}

/// What people call their own functions and aliases; the hook takes the shell's.
#[test]
fn functions_and_aliases_of_the_user_are_not_the_hooks() {
    let at = machine();
    let names = ["[", "local", "export", "read", "mapfile", "source", "eval", "test", "cd", "unset", "echo"];
    let functions: String =
        names.iter().map(|n| format!("function {n} {{ builtin printf 'mine\\n'; return 1; }}\n")).collect();
    let aliases: String = names.iter().map(|n| format!("alias -- '{n}=builtin printf mine'\n")).collect();
    let wanted = [nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"), nvcc(&at, "11.8.0"), "unset".to_owned()];
    for shell in [Shell::Bash, Shell::Zsh].into_iter().filter(|s| has(s.name())) {
        let [program, option] = shell.bare();
        let (prompt, options, find) = match shell {
            Shell::Bash => (
                "for c in \"${PROMPT_COMMAND[@]}\"; do builtin eval \"$c\"; done",
                "shopt -s expand_aliases",
                "type -P nvcc",
            ),
            _ => ("for f in $precmd_functions; do $f; done", "true", "whence -p nvcc"),
        };
        let init = format!("builtin {}\n", shell.init());
        for theirs in [&functions, &aliases] {
            for start in [format!("{theirs}{init}"), format!("{init}{theirs}")] {
                let script = format!(
                    "{options}\n{start}
                    builtin cd ~/p; {prompt}; {prompt}; {find}
                    builtin cd ~/q/sub; {prompt}; {prompt}; {find}
                    builtin cd ~/none; cudaup --color never -q use --shell 11.8; {prompt}; {find}
                    builtin unset CUDAUP_VERSION; {prompt}; builtin echo ${{CUDA_HOME-unset}}"
                );
                let said = said(command(&at, program).args([option, "-c", &script]).output().unwrap());
                assert_eq!(
                    (lines(&said.out), said.err.as_str()),
                    (wanted.to_vec(), ""),
                    "{shell:?}: {script}"
                );
            }
        }
    }
    if has("fish") {
        let theirs = "function source; echo mine; end\nfunction cd; builtin cd $argv; end";
        let steps = [Line(theirs), Cd("q"), Prompt, Nvcc, Line("cudaup -q use --shell 11.8"), Nvcc];
        let said = try_run(&at, Shell::Fish, &after_init(steps));
        assert_eq!(lines(&said.out), [nvcc(&at, "12.4.1"), nvcc(&at, "11.8.0")], "{}", said.err);
        // What fish 3.1 loads for itself stumbles over such a `source`.
        assert!(!said.err.contains("cudaup"), "{}", said.err);
    }
}

/// As if from another terminal: by a program that this shell does not run as `cudaup`.
#[test]
fn what_another_terminal_installs_ends_a_refusal() {
    let at = machine();
    at.write("home/r/.cuda-version", "13.0\n");
    at.write("home/l/.cuda-version", "l122\n");
    let elsewhere = at.toolkit("apps/cuda-12.2", "12.2.2");
    symlink(&elsewhere, at.path("home/elsewhere")).unwrap();
    for default in [None, Some("12.4\n")] {
        for shell in shells() {
            let _ = fs::remove_file(at.home().join("default"));
            if let Some(text) = default {
                at.write("home/.cudaup/default", text);
            }
            let made = at.managed("13.0.2");
            fs::rename(&made, at.path("home/parked")).unwrap();
            let steps = [
                Cd("r"),
                Prompt,
                Prompt,
                Show("CUDA_HOME"),
                Line("mkdir ~/.cudaup/toolkits/9.9.9"),
                Prompt,
                Show("CUDA_HOME"),
                Line("mv ~/parked ~/.cudaup/toolkits/13.0.2; rmdir ~/.cudaup/toolkits/9.9.9"),
                Prompt,
                Nvcc,
                Prompt,
                Nvcc,
                Cd("l"),
                Prompt,
                Prompt,
                Show("CUDA_HOME"),
                Line("ln -s nowhere ~/.cudaup/toolkits/l122"),
                Prompt,
                Show("CUDA_HOME"),
                Line("ln -sfn ~/elsewhere ~/.cudaup/toolkits/l122"),
                Prompt,
                Nvcc,
                Line("rm -r ~/.cudaup/toolkits/l122 ~/.cudaup/toolkits/13.0.2"),
            ];
            let said = try_run(&at, shell, &after_init(steps));
            let (new, linked) = (nvcc(&at, "13.0.2"), elsewhere.join("bin/nvcc").display().to_string());
            let none = "CUDA_HOME unset";
            assert_eq!(
                lines(&said.out),
                [none, none, &new, &new, none, none, &linked],
                "{shell:?}: {}",
                said.err
            );
            // Once for each list of what is installed.
            assert_eq!(said.err.matches("r/.cuda-version").count(), 2, "{shell:?}: {}", said.err);
        }
    }
}
