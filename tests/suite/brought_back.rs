//! What another hand takes away inside a project, and what it brings back later of what it saw there: after leaving, the
//! environment is as it was, but for what was changed on purpose.

use crate::sandbox::Sandbox;
use crate::shell_driver::Do::*;
use crate::shell_driver::*;
use std::os::unix::fs::symlink;
use std::path::Path;

/// PATH, without the system's own directories and the shims.
const TOOLKITS: &str =
    "sh -c 'echo \"$PATH\" | tr : \"\\n\" | grep -E \"/(cuda|CUDA|data|toolkits)/\" | tr \"\\n\" : ; echo'";

#[test]
fn a_module_that_is_taken_back_inside_stays_away() {
    let init = Path::new("/usr/share/modules/init");
    if !init.is_dir() {
        eprintln!("skipped: environment-modules is not installed");
        return;
    }
    // Its own commands take no odd path whole. The roots are known by CUDA_HOME alone.
    let apps = Sandbox::new();
    let [old, new] = ["12.2", "12.3"].map(|version| {
        let root = apps.toolkit(&format!("apps/CUDA/{version}"), &format!("{version}.0")).display().to_string();
        let lines = format!(
            "#%Module1.0\nsetenv CUDA_HOME {root}\nprepend-path PATH {root}/bin\nprepend-path LD_LIBRARY_PATH {root}/lib64\n"
        );
        apps.write(&format!("modules/CUDA/{version}"), lines);
        root
    });
    let at = machine();
    let (source, used) = (init.display().to_string(), apps.path("modules").display().to_string());
    let (q, p) = (at.home().join("toolkits/12.4.1/bin"), at.home().join("toolkits/11.8.0/bin"));
    let (q, p) = (format!("{}:", q.display()), format!("{}:", p.display()));
    for shell in shells() {
        let source = format!("source {source}/{}", shell.name());
        let used = format!("module use {used}");
        let start = || {
            vec![
                Line(&source),
                Line(&used),
                Init,
                Line("module load CUDA/12.2"),
                Prompt,
                Cd("q"),
                Prompt,
                Line(TOOLKITS),
            ]
        };
        let end = || vec![Prompt, Line(TOOLKITS), Show("LD_LIBRARY_PATH"), Show("CUDA_HOME")];
        let switched: Vec<Do> = [start(), vec![Line("module switch CUDA/12.2 CUDA/12.3")]]
            .into_iter()
            .flatten()
            .chain([Prompt, Line(TOOLKITS), Cd("p"), Prompt, Line(TOOLKITS), Cd("none")])
            .chain(end())
            .collect();
        let new_bin = format!("{new}/bin:");
        let after = [new_bin.clone(), format!("LD_LIBRARY_PATH=<{new}/lib64>"), format!("CUDA_HOME=<{new}>")];
        let wanted = [[q.clone(), new_bin, p.clone()], after].concat();
        assert_eq!(lines(&try_run(&at, shell, &switched).out), wanted, "{shell:?}: switch");
        // Unloaded, and as if somebody unset the variable by hand: the entries of that one are there again outside.
        for (line, bin, library) in [
            ("module unload CUDA/12.2", String::new(), None),
            ("", format!("{old}/bin:"), Some(format!("LD_LIBRARY_PATH=<{old}/lib64>"))),
        ] {
            let by_hand = if line.is_empty() { Unset("CUDA_HOME") } else { Line(line) };
            let steps: Vec<Do> = start()
                .into_iter()
                .chain([by_hand, Prompt, Line(TOOLKITS), Cd("none")])
                .chain(end())
                .collect();
            let out = lines(&try_run(&at, shell, &steps).out);
            assert_eq!(out[..3], [q.clone(), q.clone(), bin], "{shell:?}: {line}");
            // Whether an empty list is unset or empty is the module program's.
            let none = ["LD_LIBRARY_PATH unset", "LD_LIBRARY_PATH=<>"].contains(&out[3].as_str());
            assert!(library.map_or(none, |library| out[3] == library), "{shell:?}: {line}: {out:?}");
            assert_eq!(out[4], "CUDA_HOME unset", "{shell:?}: {line}");
        }
    }
}

/// `deactivate` of a virtual environment puts back the PATH that it saw inside a project of a linked toolkit; at the prompt of
/// another place, or in the line that goes there.
#[test]
fn an_old_path_of_another_project_is_undone() {
    let at = machine();
    let tree = at.toolkit("data/tree", "12.5.1");
    symlink(&tree, at.home().join("toolkits/mine")).unwrap();
    at.write("home/l/.cuda-version", "mine\n");
    let foreign = at.toolkit("apps/cuda", "12.2.2").join("bin").display().to_string();
    for shell in shells() {
        let (keep, back) = match shell {
            Shell::Fish => ("set OLD $PATH; set -gx PATH /ve/bin $PATH", "set -gx PATH $OLD"),
            Shell::Tcsh => ("set OLD = $PATH:q; setenv PATH /ve/bin:$PATH:q", "setenv PATH $OLD:q"),
            _ => ("OLD=$PATH; PATH=/ve/bin:$PATH", "PATH=$OLD"),
        };
        for inside in ["l", "p"] {
            for then in ["none", "q"] {
                let path = format!("{foreign}:/usr/bin:/bin");
                let steps = after_init([
                    Set("PATH", &path),
                    Prompt,
                    Line(TOOLKITS),
                    Cd(inside),
                    Prompt,
                    Line(keep),
                    Set("VIRTUAL_ENV", "/ve"),
                    Prompt,
                    Cd(then),
                    Prompt,
                    Line(back),
                    Unset("VIRTUAL_ENV"),
                    Prompt,
                    Line(TOOLKITS),
                    Cd("none"),
                    Prompt,
                    Line(TOOLKITS),
                    Show("CUDA_HOME"),
                ]);
                let outside = format!("{foreign}:");
                let new = format!("{}:", at.home().join("toolkits/12.4.1/bin").display());
                let there = if then == "q" { &new } else { &outside };
                let wanted = [&outside, there, &outside, "CUDA_HOME unset"];
                let said = try_run(&at, shell, &steps);
                assert_eq!(lines(&said.out), wanted, "{shell:?}: {inside} {then}: {}", said.err);
                assert_eq!(said.err, "", "{shell:?}: {inside} {then}");
            }
        }
    }
}

/// As conda's functions do it, where a package's own lines keep CUDA_HOME: what they bring back is ours of a place that was left.
#[test]
fn a_root_that_conda_kept_inside_is_not_brought_outside() {
    let at = machine();
    let prefix = at.toolkit("apps/gpu", "12.2.2").display().to_string();
    let backup = at.home().join("toolkits/12.4.1").display().to_string();
    for shell in shells() {
        for between in [vec![Prompt], vec![Prompt, Cd("p"), Prompt], vec![Prompt, Cd("none"), Prompt]] {
            let start = vec![Cd("q"), Prompt, Set("CUDA_HOME", &prefix)];
            // Some leave in the same line.
            let end = vec![Set("CUDA_HOME", &backup), Cd("none"), Prompt, Show("CUDA_HOME"), Nvcc];
            let steps = after_init(start.into_iter().chain(between).chain(end));
            let out = lines(&try_run(&at, shell, &steps).out);
            assert_eq!(out, ["CUDA_HOME unset", "no nvcc"], "{shell:?}");
        }
    }
}

#[test]
fn flags_that_were_added_inside_stay_without_the_compiler() {
    let at = machine();
    at.script("home/bin/g++-99", "exit 0");
    at.write("home/f/.cuda-version", "12.4\nhost_compiler = g++-99\n");
    let path = format!("{}:/usr/bin:/bin", at.path("home/bin").display());
    let [alone, own] = ["-O3", "-lineinfo -O3"].map(|flags| format!("NVCC_PREPEND_FLAGS=<{flags}>"));
    for shell in shells() {
        let more = match shell {
            Shell::Fish => "set -gx NVCC_PREPEND_FLAGS \"$NVCC_PREPEND_FLAGS -O3\"",
            Shell::Tcsh => "setenv NVCC_PREPEND_FLAGS \"$NVCC_PREPEND_FLAGS -O3\"",
            _ => "export NVCC_PREPEND_FLAGS=\"$NVCC_PREPEND_FLAGS -O3\"",
        };
        for (before, wanted) in
            [(Unset("NVCC_PREPEND_FLAGS"), &alone), (Set("NVCC_PREPEND_FLAGS", "-lineinfo"), &own)]
        {
            let before = if wanted == &alone { Line("") } else { before };
            let steps = [Set("PATH", &path), before, Cd("f"), Prompt, Line(more), Prompt, Cd("none"), Prompt];
            let out = run(&at, shell, &after_init(steps.into_iter().chain([Show("NVCC_PREPEND_FLAGS")])));
            assert_eq!(out, [wanted.as_str()], "{shell:?}");
        }
    }
}

#[test]
fn a_host_compiler_that_is_not_there_is_said_once() {
    let at = machine();
    at.write("home/f/.cuda-version", "12.4\nhost_compiler = g++-77\n");
    for shell in shells() {
        let steps = [Cd("f"), Prompt, Prompt, Cd("none"), Prompt, Cd("f"), Prompt, Nvcc];
        let said = try_run(&at, shell, &after_init(steps));
        assert_eq!(lines(&said.out), [nvcc(&at, "12.4.1")], "{shell:?}");
        let wanted = "cudaup: warning: host_compiler = g++-77: there is no such compiler on PATH, and nvcc fails without it\ntry: cudaup current\n";
        assert_eq!(said.err, wanted, "{shell:?}");
    }
}
