//! The hook beside what else people do in a shell: virtual environments, directory stacks, a home that is not theirs to write.

use crate::hook_bash::open_to_all;
use crate::sandbox::said;
use crate::shell_driver::Do::*;
use crate::shell_driver::*;
use std::process::Command;

/// Activated before, inside and after a pinned directory, and taken back in each: nothing of either stays.
#[test]
fn a_virtual_environment_comes_and_goes_around_a_pinned_directory() {
    let at = machine();
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(at.path("home/ve")).status();
    if !made.is_ok_and(|s| s.success()) {
        eprintln!("skipped: python3 makes no virtual environment here");
        return;
    }
    let new = nvcc(&at, "12.4.1");
    for shell in shells() {
        let activate = match shell {
            Shell::Fish => "source ~/ve/bin/activate.fish",
            Shell::Tcsh => "set prompt = x; source ~/ve/bin/activate.csh",
            _ => ". ~/ve/bin/activate",
        };
        let inside = |back: &'static str| {
            [Line(activate), Cd("q"), Prompt, Nvcc, Cd(back), Prompt, Line("deactivate"), Prompt, Nvcc]
        };
        // Without it PS1 stays exported.
        let steps = [Set("VIRTUAL_ENV_DISABLE_PROMPT", "1"), Prompt, Environment]
            .into_iter()
            .chain(inside("none"))
            .chain([Environment])
            .chain(inside("q/sub"))
            .chain([Line(activate), Prompt, Nvcc, Cd("none"), Prompt, Line("deactivate"), Prompt])
            .chain([Environment]);
        let said = run(&at, shell, &after_init(steps));
        let parts: Vec<&[String]> = said.split(String::is_empty).collect();
        let none = "no nvcc".to_owned();
        assert_eq!(parts[1][..2], [new.clone(), none], "{shell:?}");
        assert_eq!(parts[1][2..], *parts[0], "{shell:?}");
        assert_eq!(parts[2][..3], [new.clone(), new.clone(), new.clone()], "{shell:?}");
        assert_eq!(parts[2][3..], *parts[0], "{shell:?}");
    }
}

#[test]
fn directory_stacks_and_search_paths_are_followed() {
    let at = machine();
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    for shell in shells() {
        let search = if shell == Shell::Tcsh { "set cdpath = ( ~ )" } else { "CDPATH=~" };
        let search = if shell == Shell::Fish { "set -g CDPATH . ~" } else { search };
        let steps = [
            Line("pushd ~/p >/dev/null"),
            Prompt,
            Nvcc,
            Line("pushd ~/q/sub >/dev/null"),
            Prompt,
            Nvcc,
            Line("popd >/dev/null"),
            Prompt,
            Nvcc,
            Line(search),
            Line("cd q >/dev/null"),
            Prompt,
            Nvcc,
        ];
        let wanted = [&old, &new, &old, &new].map(String::clone);
        assert_eq!(run(&at, shell, &after_init(steps)), wanted, "{shell:?}");
    }
}

/// The home is another user's, as a home that is mounted for reading is.
#[test]
fn a_home_that_cannot_be_written_serves() {
    let at = machine();
    let directory = at.path("theirs");
    at.write("theirs/.cuda-version", "12.4\n");
    if !open_to_all(&at, &directory) {
        return;
    }
    for shell in shells() {
        let [program, option] = shell.bare();
        let mut command = command(&at, "setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", program, option, "-c"]);
        let steps = [Init, Cd("p"), Prompt, Nvcc, Cd("../theirs"), Prompt, Nvcc, Cd("none"), Prompt, Nvcc];
        let said = said(command.arg(script(shell, &steps)).output().unwrap());
        let wanted = [nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"), "no nvcc".to_owned()];
        assert_eq!(lines(&said.out), wanted, "{shell:?}: {}", said.err);
        assert!(!said.err.contains("cudaup"), "{shell:?}: {}", said.err);
    }
}
