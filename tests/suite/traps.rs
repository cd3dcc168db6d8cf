//! What stands in people's environments and leads a build to another toolkit or another compiler than the chosen one.

use crate::nobody::is_root;
use crate::sandbox::{Sandbox, said};
use crate::shell_driver::Do::{Cd, Line, Nvcc, Prompt, Set, Show};
use crate::shell_driver::{Shell, after_init, lines, machine, nvcc, shells, try_run};
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::process::Command;

/// The environment of a program that exec starts in `p`.
fn inside(at: &Sandbox, set: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> + use<> {
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    command.args(["exec", "--", "/usr/bin/env"]).envs(set.iter().copied());
    let told = said(command.output().unwrap());
    assert_eq!(told.code, Some(0), "{}", told.err);
    move |name| told.out.lines().find_map(|l| Some(l.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

#[test]
fn headers_of_another_toolkit_leave_the_lists_of_each_language() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\ncpath = off\n");
    let set = [
        ("C_INCLUDE_PATH", "/mine:/usr/local/cuda-11.8/include:"),
        ("CPLUS_INCLUDE_PATH", "/usr/local/cuda/include"),
    ];
    let value = inside(&at, &set);
    assert_eq!(value("C_INCLUDE_PATH").as_deref(), Some("/mine:"));
    assert_eq!(value("CPLUS_INCLUDE_PATH"), None);
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    command.args(["env", "--explain"]).envs(set);
    let told = said(command.output().unwrap()).out;
    assert!(told.contains("- /usr/local/cuda/include  another toolkit's"), "{told}");
    assert!(!at.cudaup("p", &["env", "--explain"]).out.contains("C_INCLUDE_PATH"), "nothing to tell");
}

#[test]
fn the_compiler_of_the_pin_goes_before_condas() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.managed("13.0.2");
    let conda = [("NVCC_PREPEND_FLAGS", " -ccbin=/opt/conda/bin/x86_64-conda-linux-gnu-c++ -O1")];
    at.write("p/.cuda-version", "12.4\nhost_compiler = g++-12\n");
    assert_eq!(inside(&at, &conda)("NVCC_PREPEND_FLAGS").as_deref(), Some("-ccbin g++-12 -O1"));
    at.write("p/.cuda-version", "13.0\nhost_compiler = g++-12\n");
    let newer = inside(&at, &conda);
    assert_eq!(newer("NVCC_PREPEND_FLAGS").as_deref(), Some("-O1"));
    assert_eq!(newer("NVCC_CCBIN").as_deref(), Some("g++-12"));
    at.write("p/.cuda-version", "13.0\n");
    assert_eq!(inside(&at, &conda)("NVCC_PREPEND_FLAGS").as_deref(), Some(conda[0].1), "nobody asks");
}

#[test]
fn a_compiler_by_its_path_is_answered_with_its_name() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\nhost_compiler = /usr/bin/g++-11\n");
    let told = at.cudaup("p", &["current"]);
    assert_eq!(told.code, Some(3));
    assert!(told.err.contains("try: write `host_compiler = g++-11` in line 2"), "{}", told.err);
}

#[test]
fn a_pin_of_another_user_is_followed_and_said_once() {
    if !is_root() {
        eprintln!("skipped: only root can give a file to another user");
        return;
    }
    let at = machine();
    let pin = at.path("home/p/.cuda-version");
    chown(&pin, Some(12_345), None).unwrap();
    let line = "is a file of user 12345, neither yours nor root's";
    assert!(at.cudaup("home/p", &["current"]).err.contains(line));
    for shell in shells() {
        let places = ["p", "none", "p", "q", "p"].map(|place| [Cd(place), Prompt]);
        let told = try_run(&at, shell, &after_init(places.into_iter().flatten().chain([Show("CUDA_HOME")])));
        assert_eq!(told.err.matches(line).count(), 1, "{shell:?}: {}", told.err);
        assert!(told.out.contains("toolkits/11.8.0>"), "{shell:?}: {}", told.out);
    }
    assert!(at.cudaup("home/p", &["exec", "--", "nvcc"]).err.is_empty());
    chown(&pin, Some(0), None).unwrap();
    assert!(!at.cudaup("home/p", &["current"]).err.contains("is a file of user"));
}

/// A real virtual environment in `v`, and where its packages go; `None` where this machine's Python makes none.
fn environment(at: &Sandbox) -> Option<PathBuf> {
    let made =
        Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(at.path("home/v")).output().ok();
    let packages = made.filter(|made| made.status.success()).and_then(|_| {
        let pythons = std::fs::read_dir(at.path("home/v/lib")).ok()?.flatten();
        pythons.map(|e| e.path().join("site-packages")).find(|p| p.is_dir())
    });
    if packages.is_none() {
        eprintln!("skipped: python3 -m venv makes nothing here");
    }
    packages
}

/// How the real activate script of `v` is read.
fn activate(shell: Shell) -> &'static str {
    match shell {
        Shell::Fish => "source ~/v/bin/activate.fish",
        Shell::Tcsh => "set prompt = '% ' ; source ~/v/bin/activate.csh",
        _ => ". ~/v/bin/activate",
    }
}

const OWN_LIBRARIES: &str = "has CUDA libraries of its own";

#[test]
fn libraries_of_an_active_python_are_said_once_in_each_shell() {
    let at = machine();
    let Some(packages) = environment(&at) else { return };
    std::fs::create_dir_all(packages.join("nvidia/cu13/lib")).unwrap();
    at.write("home/q/.cuda-version", "12.4\nld_library_path = off\n");
    for shell in shells() {
        let there = |place| [Cd(place), Prompt];
        let before = [Line(activate(shell)), Prompt]
            .into_iter()
            .chain(["q", "none", "p", "none", "p"].into_iter().flat_map(there));
        let before: Vec<_> = before.chain([Show("CUDA_HOME"), Show("VIRTUAL_ENV")]).collect();
        let inside = [
            Cd("p"),
            Prompt,
            Line(activate(shell)),
            Prompt,
            Prompt,
            Line("deactivate"),
            Prompt,
            Line(activate(shell)),
            Prompt,
        ];
        let inside: Vec<_> = inside.into_iter().chain([Show("CUDA_HOME"), Show("VIRTUAL_ENV")]).collect();
        for steps in [before, inside] {
            let told = try_run(&at, shell, &after_init(steps));
            let line = told.err.lines().filter(|l| l.contains(OWN_LIBRARIES)).collect::<Vec<_>>();
            assert_eq!((line.len(), told.err.lines().count()), (1, 1), "{shell:?}: {}", told.err);
            let pin = at.path("home/p/.cuda-version");
            assert!(
                line[0].ends_with(&format!("`ld_library_path = off` to {}", pin.display())),
                "{}",
                line[0]
            );
            assert!(line[0].contains("site-packages/nvidia/cu13/lib)"), "{}", line[0]);
            assert!(
                told.out.contains("toolkits/11.8.0>") && told.out.contains("home/v>"),
                "{shell:?}: {}",
                told.out
            );
        }
        let quiet = [Line(activate(shell)), Cd("q"), Prompt, Show("CUDA_HOME")];
        let told = try_run(&at, shell, &after_init(quiet));
        assert_eq!(told.err, "", "{shell:?}: nothing is put before them");
    }
}

#[test]
fn libraries_of_a_python_are_said_by_use_and_current() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    let packages = "v/lib/python3.12/site-packages";
    let with = |name: &str, place: &str, arguments: &[&str]| {
        let mut command = at.command(at.home().join("bin/cudaup"), "p");
        let told = said(command.env(name, at.path(place)).args(arguments).output().unwrap());
        told.out + &told.err
    };
    let says = |arguments: &[&str]| with("CONDA_PREFIX", "v", arguments).matches(OWN_LIBRARIES).count();
    at.write(&format!("{packages}/nvidia/__init__.py"), "");
    at.write(&format!("{packages}/torch/lib/libtorch_cpu.so"), "");
    assert_eq!(says(&["use", "12.4"]), 0);
    at.write(&format!("{packages}/torch/lib/libcudart-d0da41ae.so.11.0"), "");
    assert_eq!((says(&["use", "12.4"]), says(&["current"])), (1, 1));
    assert_eq!(with("VIRTUAL_ENV", "v", &["current"]).matches(OWN_LIBRARIES).count(), 1);
    assert_eq!(with("VIRTUAL_ENV", "elsewhere", &["current"]).matches(OWN_LIBRARIES).count(), 0);
    at.write(&format!("{packages}/torch/version.py"), "__version__ = '2.9.0+cu130'\ncuda = '13.0'\n");
    let newer = with("CONDA_PREFIX", "v", &["use", "12.4"]);
    assert!(newer.contains("torch 2.9.0+cu130") && !newer.contains(OWN_LIBRARIES), "{newer}");
    at.write("p/.cuda-version", "12.4\nld_library_path = off\n");
    assert_eq!((says(&["use", "12.4"]), says(&["current"])), (0, 0));
    assert!(!with("CONDA_PREFIX", "v", &["use", "12.4"]).contains("torch"));
}

/// It was in PATH from the start, and taken out when the project was entered; then the user puts it in front, by hand or by a line
/// that another manager runs at each prompt.
#[test]
fn a_toolkit_that_was_taken_out_and_comes_again_is_the_newer_wish() {
    let at = machine();
    let other = at.toolkit("apps/cuda-12.2", "12.2.2");
    let bin = other.join("bin").display().to_string();
    let before = format!("{bin}:/usr/bin:/bin");
    let again = format!("{bin}:{}/bin:/usr/bin:/bin", at.home().join("toolkits/11.8.0").display());
    for shell in shells() {
        let entered = [Set("PATH", &before)].into_iter().chain(after_init([Cd("p"), Prompt, Prompt, Nvcc]));
        let steps =
            entered.chain([Set("PATH", &again), Prompt, Nvcc, Show("CUDA_HOME"), Cd("q"), Prompt, Nvcc]);
        let told = try_run(&at, shell, &steps.collect::<Vec<_>>());
        let wanted = [
            nvcc(&at, "11.8.0"),
            other.join("bin/nvcc").display().to_string(),
            "CUDA_HOME unset".to_owned(),
            nvcc(&at, "12.4.1"),
        ];
        assert_eq!(lines(&told.out), wanted, "{shell:?}: {}", told.err);
        assert_eq!(told.err.matches("is left in charge").count(), 1, "{shell:?}: {}", told.err);
    }
}

#[test]
fn empty_elements_and_stubs_of_ones_own_stay() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\n");
    let root = at.home().join("toolkits/12.4.1").display().to_string();
    let set = [
        ("LD_LIBRARY_PATH", "/usr/local/cuda/compat:/usr/local/cuda-11.8/lib64:/my/stubs::/usr/lib/wsl/lib"),
        ("LIBRARY_PATH", ":/usr/local/cuda-11.8/lib64/stubs:/my/stubs:"),
        ("CPATH", ":/usr/local/cuda-11.8/include"),
        ("CUDA_HOME", "/apps/nv:/usr/local/cuda"),
        ("PATH", "/apps/nv/bin:/usr/bin:/bin:"),
    ];
    let value = inside(&at, &set);
    let wanted = [
        (
            "LD_LIBRARY_PATH",
            format!(
                "{root}/lib64:{root}/extras/CUPTI/lib64:/usr/local/cuda/compat:/my/stubs::/usr/lib/wsl/lib"
            ),
        ),
        ("LIBRARY_PATH", format!("{root}/lib64::/my/stubs::{root}/lib64/stubs")),
        ("CPATH", format!("{root}/include:")),
        ("CUDA_HOME", root.clone()),
        ("PATH", format!("{root}/bin:/usr/bin:/bin:")),
    ];
    for (name, wanted) in wanted {
        assert_eq!(value(name), Some(wanted), "{name}");
    }
}
