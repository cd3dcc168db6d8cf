//! Changes that are easily missed: same toolkit and other settings, directories that move, an old PATH that comes back.

use crate::sandbox::{Sandbox, program, said};
use crate::shell_driver::Do::*;
use crate::shell_driver::*;
use std::fs;

const QUIET: [Do<'static>; 3] = [Prompt, Prompt, Prompt];

fn steps<'a>(parts: impl IntoIterator<Item = Vec<Do<'a>>>) -> Vec<Do<'a>> {
    after_init(parts.into_iter().flatten())
}

/// A machine with a default, which makes the short tests of a prompt apply.
fn usual() -> Sandbox {
    let at = machine();
    at.managed("12.6.3");
    at.write("home/.cudaup/default", "12.6.3\n");
    at
}

#[test]
fn settings_that_differ_are_seen_although_the_toolkit_is_the_same() {
    let at = usual();
    at.write("home/a/.cuda-version", "12.4.1\n");
    at.write("home/b/.cuda-version", "12.4.1\ncpath = off\n");
    for shell in shells() {
        let quiet = || QUIET.into_iter().collect::<Vec<_>>();
        let said = run(
            &at,
            shell,
            &steps([
                vec![Cd("a")],
                quiet(),
                vec![Cd("b"), Cd("a"), Prompt, Show("CPATH"), Cd("b")],
                quiet(),
                vec![Show("CPATH"), Line("echo 12.4.1 >.cuda-version"), Prompt, Show("CPATH")],
                vec![Line("printf '12.4.1\\ncpath = off\\n' >.cuda-version"), Prompt, Show("CPATH")],
            ]),
        );
        let on = format!("CPATH=<{}>", at.home().join("toolkits/12.4.1/include").display());
        assert_eq!(said, [&on, "CPATH unset", &on, "CPATH unset"], "{shell:?}");
    }
}

#[test]
fn a_directory_that_moved_is_left_where_the_next_one_has_no_version() {
    for shell in shells() {
        let at = usual();
        if !tells_directories(&at, shell) {
            continue;
        }
        fs::remove_file(at.path("home/.cudaup/default")).unwrap();
        at.write("home/m/.cuda-version", "11.8.0\n");
        let said = run(
            &at,
            shell,
            &steps([
                vec![Cd("m"), Prompt, Nvcc, Line("mv ../m ../m2"), Prompt, Nvcc],
                vec![Line("sh -c 'echo 12.6.3 >.cuda-version'"), Prompt, Nvcc, Cd("none"), Prompt, Nvcc],
                vec![Cd("m2"), Prompt, Line("rm -r ../m2"), Prompt, Cd("none"), Prompt, Nvcc],
            ]),
        );
        let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.6.3"));
        assert_eq!(said, [&old, &old, &new, "no nvcc", "no nvcc"], "{shell:?}");
    }
}

/// A venv's `deactivate` puts an old PATH back, in which another toolkit stands.
#[test]
fn a_refusal_outlives_an_old_path() {
    let at = usual();
    at.write("home/c/.cuda-version", "9.9\n");
    let restore = "OLD=$PATH; export PATH=\"/ve/bin:$PATH\"";
    for shell in shells() {
        let (keep, back) = match shell {
            Shell::Fish => ("set OLD $PATH; set -gx PATH /ve/bin $PATH", "set -gx PATH $OLD"),
            Shell::Tcsh => ("set OLD = $PATH:q; setenv PATH /ve/bin:$PATH:q", "setenv PATH $OLD:q"),
            _ => (restore, "PATH=$OLD"),
        };
        let said = try_run(
            &at,
            shell,
            &steps([vec![
                Cd("q"),
                Prompt,
                Line(keep),
                Prompt,
                Cd("c"),
                Prompt,
                Line(back),
                Prompt,
                Line("sh -c 'echo \"${PATH%%:*}\"'"),
            ]]),
        );
        assert_eq!(lines(&said.out), [at.home().join("shims").to_str().unwrap()], "{shell:?}: {}", said.err);
    }
}

#[test]
fn what_came_from_another_hand_ends_with_the_directory() {
    let at = usual();
    let module = at.toolkit("apps/cuda-12.2", "12.2.2");
    let path = format!("{}/bin:/usr/bin:/bin", module.display());
    for shell in shells() {
        let said = try_run(
            &at,
            shell,
            &steps([vec![Cd("q"), Prompt, Set("PATH", &path), Prompt, Nvcc, Cd("q/sub"), Prompt, Nvcc]]),
        );
        let theirs = module.join("bin/nvcc").display().to_string();
        assert_eq!(lines(&said.out), [theirs, nvcc(&at, "12.4.1")], "{shell:?}: {}", said.err);
    }
}

/// `module load`, `module swap`, `module unload`; then an environment that has an nvcc and no name of CUDA's, and `deactivate`.
#[test]
fn what_came_from_another_hand_ends_when_it_goes_again() {
    let at = usual();
    let [module, other] = ["12.1", "12.2"].map(|v| at.toolkit(&format!("apps/cuda-{v}"), &format!("{v}.1")));
    let env = at.path("env/bin");
    at.script("env/bin/nvcc", "echo \"$0\"");
    for shell in shells() {
        let prepend = |dir: &str| match shell {
            Shell::Fish => format!("set -gx PATH \"{dir}\" $PATH"),
            Shell::Tcsh => format!("setenv PATH \"{dir}\":$PATH:q"),
            _ => format!("PATH=\"{dir}:$PATH\""),
        };
        let [load, swap] = [&module, &other].map(|root| format!("{}/bin:/usr/bin:/bin", root.display()));
        let (activate, more) = (prepend(&env.display().to_string()), prepend("/opt/more"));
        let steps = vec![
            vec![Cd("q"), Prompt, Prompt, Set("PATH", &load), Prompt, Nvcc],
            vec![
                Set("PATH", &swap),
                Prompt,
                Nvcc,
                Prompt,
                Set("PATH", "/usr/bin:/bin"),
                Prompt,
                Nvcc,
                Prompt,
            ],
            vec![Line(&activate), Prompt, Nvcc, Line(&more), Prompt, Prompt, Nvcc],
            vec![Set("PATH", "/opt/more:/usr/bin:/bin"), Prompt, Prompt, Nvcc, Cd("none"), Prompt, Nvcc],
        ];
        let said = try_run(&at, shell, &self::steps(steps));
        let of = |bin: &std::path::Path| bin.join("nvcc").display().to_string();
        let (ours, default) = (nvcc(&at, "12.4.1"), nvcc(&at, "12.6.3"));
        let theirs = [of(&module.join("bin")), of(&other.join("bin")), of(&env)];
        let wanted = [&theirs[0], &theirs[1], &ours, &theirs[2], &theirs[2], &ours, &default];
        assert_eq!(lines(&said.out), wanted.map(String::clone), "{shell:?}: {}", said.err);
        assert_eq!(said.err.lines().count(), 2, "{shell:?}: {}", said.err);
    }
}

#[test]
fn defaults_that_come_and_go_are_seen() {
    for shell in shells() {
        let at = usual();
        let machine = at.path("etc/cudaup/default");
        at.write("etc/cudaup/default", "11.8\ncpath = off\n");
        let (rm, mv) = (format!("rm '{}'", machine.display()), "mkdir ~/.cudaup/default");
        // A path of the sandbox has a quote in it.
        let rm = rm.replace("it's", "it'\\''s");
        let said = try_run(
            &at,
            shell,
            &steps([
                vec![Cd("q"), Prompt, Prompt, Show("CPATH"), Line(&rm), Prompt, Show("CPATH")],
                vec![Line("rm ~/.cudaup/default"), Cd("none"), Prompt, Show("CUDA_HOME"), Line(mv), Prompt],
            ]),
        );
        let on = format!("CPATH=<{}>", at.home().join("toolkits/12.4.1/include").display());
        assert_eq!(lines(&said.out), ["CPATH unset", &on, "CUDA_HOME unset"], "{shell:?}: {}", said.err);
        assert!(said.err.contains("default: it is a directory"), "{shell:?}: {}", said.err);
    }
}

#[test]
fn a_fifo_beside_cudaup_version_does_not_block() {
    let at = usual();
    fs::create_dir_all(at.path("home/fifo")).unwrap();
    assert!(program_runs("mkfifo", &at.path("home/fifo/.cuda-version")));
    for shell in shells() {
        let [name, option] = shell.bare();
        let steps = [Set("CUDAUP_VERSION", "12.4.1"), Cd("fifo"), Init, Prompt, Prompt, Nvcc];
        let mut command = command(&at, "timeout");
        command.args(["20", name, option, "-c", &script(shell, &steps)]);
        let said = said(command.output().unwrap());
        assert_eq!(lines(&said.out), [nvcc(&at, "12.4.1")], "{shell:?}: {}", said.err);
    }
}

fn program_runs(name: &str, argument: &std::path::Path) -> bool {
    std::process::Command::new(name).arg(argument).status().unwrap().success()
}

/// The program may be away for the moment of an upgrade.
#[test]
fn an_answer_that_failed_is_asked_for_again() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Tcsh].into_iter().filter(|s| has(s.name())) {
        let at = usual();
        let shim = at.home().join("bin/cudaup-shim");
        fs::create_dir(at.home().join("bin/real")).unwrap();
        fs::rename(&shim, at.home().join("bin/real/cudaup-shim")).unwrap();
        program(
            &shim,
            "#!/bin/sh\n[ -e \"$HOME/broken\" ] && exit 3\nexec \"${0%/*}/real/cudaup-shim\" \"$@\"\n",
        );
        let said = run(
            &at,
            shell,
            &steps([
                vec![Cd("q"), Prompt, Nvcc, Line("touch ~/broken; echo 11.8 >.cuda-version"), Prompt, Nvcc],
                vec![Line("rm ~/broken"), Prompt, Nvcc],
            ]),
        );
        let (before, after) = (nvcc(&at, "12.4.1"), nvcc(&at, "11.8.0"));
        assert_eq!(said, [before.clone(), before, after], "{shell:?}");
        at.write("home/q/.cuda-version", "12.4\n");
    }
}

/// A start file may have old lines below cudaup's: they are no wish of this moment, and hold where no version applies.
#[test]
fn what_stands_below_in_a_start_file_does_not_outrank_the_pin() {
    let at = machine();
    let module = at.toolkit("apps/cuda-12.2", "12.2.2");
    let wish = at.toolkit("apps/cuda-12.1", "12.1.1");
    let (home, path) = (module.display().to_string(), format!("{}/bin:/usr/bin:/bin", module.display()));
    let newer = format!("{}/bin:/usr/bin:/bin", wish.display());
    for shell in shells() {
        let [program, option] = shell.bare();
        let lines_below = [Init, Set("CUDA_HOME", &home), Set("PATH", &path)];
        let later = [
            Prompt,
            Nvcc,
            Cd("none"),
            Prompt,
            Nvcc,
            Cd("p"),
            Prompt,
            Nvcc,
            Set("PATH", &newer),
            Prompt,
            Nvcc,
        ];
        let steps: Vec<_> = lines_below.into_iter().chain(later).collect();
        let mut command = command(&at, program);
        command.current_dir(at.path("home/p")).env_remove("PWD").args([option, "-c", &script(shell, &steps)]);
        let said = said(command.output().unwrap());
        let of = |root: &std::path::Path| root.join("bin/nvcc").display().to_string();
        let (ours, theirs) = (nvcc(&at, "11.8.0"), of(&module));
        assert_eq!(
            lines(&said.out),
            [&ours, &theirs, &ours, &of(&wish)].map(String::from),
            "{shell:?}: {}",
            said.err
        );
        assert_eq!(said.err.matches("is left in charge").count(), 1, "{shell:?}: {}", said.err);
    }
}

/// A start file may go on for long after cudaup's lines, and another terminal install or remove in the meantime.
#[test]
fn what_comes_and_goes_between_the_start_and_the_first_prompt_is_seen() {
    let at = machine();
    at.write("home/r/.cuda-version", "13.0\n");
    let made = at.managed("13.0.2");
    let goes = "mv ~/.cudaup/toolkits/13.0.2 ~/parked";
    let comes = "mv ~/parked ~/.cudaup/toolkits/13.0.2";
    for shell in shells() {
        let steps = [
            Cd("r"),
            Init,
            Line(goes),
            Prompt,
            Show("CUDA_HOME"),
            Init,
            Line(comes),
            Prompt,
            Show("CUDA_HOME"),
        ];
        let said = try_run(&at, shell, &steps);
        let there = format!("CUDA_HOME=<{}>", made.display());
        assert_eq!(lines(&said.out), ["CUDA_HOME unset", &there], "{shell:?}: {}", said.err);
    }
}

/// One command line may change the directory, or what decides in it, and ask at once: no prompt is between.
#[test]
fn what_cudaup_says_of_the_shell_holds_for_this_moment() {
    let at = usual();
    for shell in shells() {
        at.write("home/q/.cuda-version", "12.4\n");
        let steps = [
            Prompt,
            Line("cd ~/q && cudaup current --check"),
            Line("echo 11.8 >.cuda-version && cudaup current --check"),
            Line("cd ~/p && cudaup which nvcc"),
        ];
        let said = run(&at, shell, &after_init(steps));
        let [first, second, third] = said.as_slice() else { panic!("{shell:?}: {said:?}") };
        for (line, version) in [(first, "12.4.1"), (second, "11.8.0")] {
            assert!(line.starts_with(version) && line.ends_with("active in this shell"), "{shell:?}: {line}");
            assert!(!line.contains("not active"), "{shell:?}: {line}");
        }
        assert_eq!(*third, nvcc(&at, "11.8.0"), "{shell:?}");
    }
}

/// A start file may set a variable without exporting it: no program sees that, and leaving brings it back as it was.
#[test]
fn what_the_shell_has_for_itself_alone_outlives_a_project() {
    let at = machine();
    at.write("home/c/.cuda-version", "9.9\n");
    let child = "sh -c 'echo ${CUDA_HOME-none} ${LD_LIBRARY_PATH-none}'";
    for shell in shells() {
        let (set, again) = match shell {
            Shell::Fish => (["set -g CUDA_HOME '/x $y'", "set -g LD_LIBRARY_PATH /a /b"], "set -e CPATH"),
            Shell::Tcsh => (["set CUDA_HOME = '/x $y'", "set LD_LIBRARY_PATH = /a:/b"], "unsetenv CPATH"),
            _ => (["CUDA_HOME='/x $y'", "LD_LIBRARY_PATH=/a:/b"], "unset CPATH"),
        };
        let cpath = match shell {
            Shell::Fish => "set -g CPATH /i",
            Shell::Tcsh => "set CPATH = /i",
            _ => "CPATH=/i",
        };
        let show = || [Show("CUDA_HOME"), Show("LD_LIBRARY_PATH"), Line(child)];
        let round =
            |to: &'static str| [Cd(to), Prompt, Line(child), Cd("none"), Prompt].into_iter().chain(show());
        let start = [Line(set[0]), Line(set[1]), Cd("q"), Init, Line(child), Cd("none"), Prompt];
        let steps: Vec<_> = start.into_iter().chain(show()).chain(round("p")).chain(round("c")).collect();
        let said = try_run(&at, shell, &steps);
        let ours = |version: &str| {
            let root = at.home().join("toolkits").join(version).display().to_string();
            format!("{root} {root}/lib64:{root}/extras/CUPTI/lib64")
        };
        let back = ["CUDA_HOME=</x $y>", "LD_LIBRARY_PATH=</a:/b>", "none none"].map(str::to_owned);
        let wanted: Vec<String> = [ours("12.4.1"), ours("11.8.0"), "none none".to_owned()]
            .into_iter()
            .flat_map(|inside| std::iter::once(inside).chain(back.clone()))
            .collect();
        assert_eq!(lines(&said.out), wanted, "{shell:?}: {}", said.err);
        // What was thrown away inside does not come back with the next project.
        let thrown = [
            Line(cpath),
            Cd("q"),
            Init,
            Line(again),
            Cd("none"),
            Prompt,
            Cd("q"),
            Prompt,
            Cd("none"),
            Prompt,
        ];
        let said = run(&at, shell, &thrown.into_iter().chain([Show("CPATH")]).collect::<Vec<_>>());
        let kept = if shell == Shell::Tcsh { "CPATH=</i>" } else { "CPATH unset" };
        assert_eq!(said, [kept], "{shell:?}");
    }
}
