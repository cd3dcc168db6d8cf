//! What the hook does in every shell: follow, notice, let go.

use crate::sandbox::said;
use crate::shell_driver::Do::*;
use crate::shell_driver::*;
use std::os::unix::fs::symlink;

#[test]
fn a_shell_follows_from_directory_to_directory_and_back() {
    let at = machine();
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    for shell in shells() {
        let said = run(
            &at,
            shell,
            &after_init([
                Nvcc,
                Cd("p"),
                Prompt,
                Nvcc,
                Cd("q/sub"),
                Prompt,
                Nvcc,
                Prompt,
                Cd("none"),
                Prompt,
                Nvcc,
                Show("CUDA_HOME"),
            ]),
        );
        assert_eq!(said, ["no nvcc", &old, &new, "no nvcc", "CUDA_HOME unset"], "{shell:?}");
    }
}

#[test]
fn leaving_gives_the_environment_back() {
    let at = machine();
    for shell in shells() {
        let around = [
            Set("LD_LIBRARY_PATH", "/mine::/usr/local/cuda-9.1/lib64"),
            Set("CUDA_HOME", "/usr/local/cuda-9.1"),
            Set("PATH", "/usr/local/cuda-9.1/bin:/my bin:/usr/bin:/bin"),
            Set("CPATH", ""),
            Init,
            Environment,
            Cd("q"),
            Prompt,
            Nvcc,
            Cd("p"),
            Prompt,
            Cd("none"),
            Prompt,
            Environment,
        ];
        let said = run(&at, shell, &around);
        let parts: Vec<&[String]> = said.split(String::is_empty).collect();
        assert_eq!(parts[1].first(), Some(&nvcc(&at, "12.4.1")), "{shell:?}");
        assert_eq!(parts[0], &parts[1][1..], "{shell:?}");
        assert!(parts[0].contains(&"CUDA_HOME=/usr/local/cuda-9.1".to_owned()), "{shell:?}: {parts:?}");
    }
}

#[test]
fn the_first_directory_is_entered_without_a_prompt() {
    let at = machine();
    for shell in shells() {
        let [program, option] = shell.bare();
        let script = script(shell, &[Init, Nvcc, Prompt, Nvcc]);
        let mut command = command(&at, program);
        command.current_dir(at.path("home/p")).env_remove("PWD").args([option, "-c", &script]);
        let said = said(command.output().unwrap());
        let old = nvcc(&at, "11.8.0");
        assert_eq!((lines(&said.out), said.err.as_str()), (vec![old.clone(), old], ""), "{shell:?}");
    }
}

/// One change after another in a shell that stays where it is; each has to be seen at the next prompt.
#[test]
fn what_decides_is_noticed() {
    let at = machine();
    at.managed("12.6.3");
    let (old, mid, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"), nvcc(&at, "12.6.3"));
    for shell in shells() {
        let said = run(
            &at,
            shell,
            &after_init([
                Cd("q/sub"),
                Prompt,
                Nvcc,
                Line("echo 11.8 >../.cuda-version"),
                Prompt,
                Nvcc,
                // Of the same length, within the same second, and with the times put back.
                Line(
                    "touch -r ../.cuda-version ../stamp; echo 12.4 >../.cuda-version; touch -r ../stamp ../.cuda-version",
                ),
                Prompt,
                Nvcc,
                Line("echo 12.6 >.cuda-version"),
                Prompt,
                Nvcc,
                Line("rm .cuda-version"),
                Prompt,
                Nvcc,
                Set("CUDAUP_VERSION", "11.8"),
                Prompt,
                Nvcc,
                Unset("CUDAUP_VERSION"),
                Prompt,
                Nvcc,
                Cd("none"),
                Prompt,
                Nvcc,
                Line("echo 12.6 >~/.cudaup/default"),
                Prompt,
                Nvcc,
                Line("echo 11.8 >~/.cudaup/default"),
                Prompt,
                Nvcc,
                Line("rm ~/.cudaup/default"),
                Prompt,
                Nvcc,
                Line("mkdir -p ~/../etc/cudaup; echo 12.6 >~/../etc/cudaup/default"),
                Prompt,
                Nvcc,
                Line("rm -r ~/../etc/cudaup"),
                Prompt,
                Nvcc,
            ]),
        );
        let wanted =
            [&mid, &old, &mid, &new, &mid, &old, &mid, "no nvcc", &new, &old, "no nvcc", &new, "no nvcc"];
        assert_eq!(said, wanted, "{shell:?}");
    }
}

#[test]
fn an_older_path_is_mended() {
    let at = machine();
    for shell in shells() {
        // What a virtual environment's `deactivate` does: it brings back the PATH of a while ago.
        let said = run(
            &at,
            shell,
            &after_init([
                Cd("p"),
                Prompt,
                Nvcc,
                Line("/bin/true"),
                Cd("q"),
                Prompt,
                Set("PATH", "/opt/venv/bin:/usr/bin:/bin"),
                Prompt,
                Nvcc,
                Show("CUDA_HOME"),
                Unset("CUDA_HOME"),
                Prompt,
                Show("CUDA_HOME"),
            ]),
        );
        let root = at.home().join("toolkits/12.4.1");
        let home = format!("CUDA_HOME=<{}>", root.display());
        let wanted = [nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"), home.clone(), home];
        assert_eq!(said, wanted, "{shell:?}");
    }
}

#[test]
fn a_toolkit_that_is_gone_is_noticed() {
    let at = machine();
    for shell in shells() {
        let gone = at.managed("13.0.2");
        at.write("home/r/.cuda-version", "13.0\n");
        let removes = format!("rm -r ~/.cudaup/toolkits/{}", gone.file_name().unwrap().to_str().unwrap());
        let said = try_run(
            &at,
            shell,
            &after_init([
                Cd("r"),
                Prompt,
                Nvcc,
                Line(&removes),
                Prompt,
                Show("CUDA_HOME"),
                Prompt,
                Show("CUDA_HOME"),
            ]),
        );
        assert_eq!(
            lines(&said.out),
            [&nvcc(&at, "13.0.2"), "CUDA_HOME unset", "CUDA_HOME unset"],
            "{shell:?}"
        );
        assert_eq!(
            said.err.matches("13.0").count(),
            said.err.matches("home/r/.cuda-version").count() + 1,
            "{}",
            said.err
        );
        assert!(said.err.contains("cudaup install 13.0"), "{shell:?}: {}", said.err);
    }
}

#[test]
fn the_newer_wish_of_another_hand_stays_until_the_pin_changes() {
    let at = machine();
    let module = at.toolkit("apps/cuda-12.2", "12.2.2");
    let path = format!("{}/bin:/usr/bin:/bin", module.display());
    for shell in shells() {
        let said = try_run(
            &at,
            shell,
            &after_init([
                Cd("p"),
                Prompt,
                Set("PATH", &path),
                Prompt,
                Nvcc,
                Prompt,
                Nvcc,
                Set("PATH", &path.replace("/usr/bin:/bin", "/bin:/usr/bin")),
                Prompt,
                Nvcc,
                Cd("q"),
                Prompt,
                Nvcc,
            ]),
        );
        let module = module.join("bin/nvcc").display().to_string();
        let wanted = [module.clone(), module.clone(), module, nvcc(&at, "12.4.1")];
        assert_eq!(lines(&said.out), wanted, "{shell:?}");
        assert_eq!(said.err.lines().count(), 1, "{shell:?}: {}", said.err);
    }
}

#[test]
fn the_walk_ends_at_the_ceiling_and_goes_up_through_links() {
    let at = machine();
    symlink(at.path("home/q/sub"), at.path("home/p/link")).unwrap();
    let ceiling = at.path("home/q").display().to_string();
    for shell in shells() {
        let linked = run(&at, shell, &after_init([Cd("p/link"), Prompt, Nvcc]));
        assert_eq!(linked, [nvcc(&at, "11.8.0")], "{shell:?}");
        let ended =
            run(&at, shell, &after_init([Set("CUDAUP_CEILING", &ceiling), Cd("q/sub"), Prompt, Nvcc]));
        assert_eq!(ended, ["no nvcc"], "{shell:?}");
    }
}

#[test]
fn use_takes_effect_in_the_same_prompt() {
    let at = machine();
    for shell in shells() {
        let said = try_run(
            &at,
            shell,
            &after_init([
                Cd("none"),
                Line("cudaup use 12.4 >/dev/null"),
                Nvcc,
                Line("cudaup use 11.8 >/dev/null"),
                Nvcc,
                Line("cudaup -q use --shell 12.4"),
                Nvcc,
                Line("cudaup use 11.8 --shell -q"),
                Nvcc,
                Show("CUDAUP_VERSION"),
                Unset("CUDAUP_VERSION"),
                Line("cudaup use --shell --help | head -1"),
                Line("rm .cuda-version; cudaup use --shell 99"),
                Line("echo after"),
                Prompt,
                Nvcc,
            ]),
        );
        let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
        let wanted = [&new, &old, &new, &old, "CUDAUP_VERSION=<11.8.0>"];
        let out = lines(&said.out);
        assert_eq!(&out[..5], wanted, "{shell:?}: {}", said.err);
        assert!(out[5].starts_with("Choose the toolkit"), "{shell:?}: {out:?}");
        assert_eq!(&out[6..], ["after", "no nvcc"], "{shell:?}: {}", said.err);
    }
}

#[test]
fn a_global_option_before_the_verb_is_not_the_verb() {
    let at = machine();
    for shell in shells() {
        for line in [
            "cudaup --color never use --shell 12.4",
            "cudaup use --color never 12.4 --shell",
            "cudaup --color=never -q use --shell 12.4",
            "cudaup -q --color always use 12.4 --shell",
        ] {
            let said =
                try_run(&at, shell, &after_init([Cd("none"), Line(line), Nvcc, Show("CUDAUP_VERSION")]));
            let wanted = [nvcc(&at, "12.4.1"), "CUDAUP_VERSION=<12.4.1>".to_owned()];
            assert_eq!(lines(&said.out), wanted, "{shell:?}: {line}: {}", said.err);
        }
    }
}

/// Which toolkits there are the hook sees no file of, so the function says so to it.
#[test]
fn a_command_that_changes_the_toolkits_is_followed_by_a_question() {
    let at = machine();
    at.write("home/.cudaup/default", "11.8\n");
    at.write("home/twelve/.cuda-version", "12\n");
    let elsewhere = at.toolkit("apps/cuda-12.2", "12.2.2");
    symlink(&elsewhere, at.path("home/elsewhere")).unwrap();
    for shell in shells() {
        let made = at.managed("12.6.3");
        std::fs::rename(&made, at.path("home/parked")).unwrap();
        let steps = [
            Cd("twelve"),
            Prompt,
            Prompt,
            Nvcc,
            Line("mv ~/parked ~/.cudaup/toolkits/12.6.3; cudaup -q link l122 ~/elsewhere >/dev/null"),
            Nvcc,
            Line("rm -r ~/.cudaup/toolkits/12.6.3 ~/.cudaup/toolkits/l122"),
        ];
        let said = run(&at, shell, &after_init(steps));
        assert_eq!(said, [nvcc(&at, "12.4.1"), nvcc(&at, "12.6.3")], "{shell:?}");
    }
}

#[test]
fn the_function_keeps_the_exit_code() {
    let at = machine();
    for shell in shells() {
        let status = if matches!(shell, Shell::Fish | Shell::Tcsh) { "echo $status" } else { "echo $?" };
        let said = try_run(
            &at,
            shell,
            &after_init([
                Line("cudaup -q use 99.9"),
                Line(status),
                Line("cudaup frobnicate"),
                Line(status),
                Line("cudaup use --shell 99.9"),
                Line(status),
                Line("cudaup list >/dev/null"),
                Line(status),
            ]),
        );
        assert_eq!(lines(&said.out), ["3", "2", "3", "0"], "{shell:?}: {}", said.err);
    }
}

#[test]
fn loading_it_twice_is_loading_it_once() {
    let at = machine();
    for shell in shells() {
        let said = run(
            &at,
            shell,
            &[Init, Cd("q"), Prompt, Init, Init, Environment, Prompt, Environment, Cd("none"), Prompt, Nvcc],
        );
        let parts: Vec<&[String]> = said.split(String::is_empty).collect();
        assert_eq!(parts[0], parts[1], "{shell:?}");
        assert_eq!(parts[2], ["no nvcc"], "{shell:?}");
    }
}
