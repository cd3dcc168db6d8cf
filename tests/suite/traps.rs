//! What stands in people's environments and leads a build to another toolkit or another compiler than the chosen one.

use crate::nobody::is_root;
use crate::sandbox::{Sandbox, said};
use crate::shell_driver::Do::{Cd, Prompt, Show};
use crate::shell_driver::{after_init, machine, shells, try_run};
use std::os::unix::fs::chown;

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
