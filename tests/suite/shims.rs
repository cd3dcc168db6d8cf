//! Shims where something unusual stands around them: wrappers that call them, no HOME.

use crate::sandbox::{Sandbox, said};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// ccache, under the name nvcc, looks for the next nvcc on PATH that is not ccache.
#[test]
fn a_wrapper_that_calls_the_shim_again_is_not_called_again() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.cudaup("p", &["rehash"]);
    let shims = at.home().join("shims");
    at.script("wrapped/nvcc", &format!("exec '{}/nvcc' again", shims.display()));
    at.script("real/nvcc", "echo real $1");
    let path = |directories: &[&Path]| {
        let all = directories.iter().map(|d| d.display().to_string()).collect::<Vec<_>>().join(":");
        move |command: &mut Command| {
            command.env("PATH", format!("{all}:/bin"));
        }
    };
    let (wrapped, real) = (at.path("wrapped"), at.path("real"));
    assert_eq!(at.shim("nvcc", "p", path(&[&shims, &wrapped, &real])).out, "real again\n");
    // A start file that was read twice.
    let other = at.path("other");
    at.script("other/nvcc", &format!("exec '{}/nvcc' again", shims.display()));
    for around in [[&wrapped, &wrapped, &real], [&wrapped, &real, &wrapped]] {
        let around: Vec<&Path> = std::iter::once(&shims).chain(around).map(PathBuf::as_path).collect();
        assert_eq!(at.shim("nvcc", "p", path(&around)).out, "real again\n", "{around:?}");
    }
    let two = [shims.as_path(), &wrapped, &other, &wrapped, &real];
    assert_eq!(at.shim("nvcc", "p", path(&two)).out, "real again\n");
    let front = [wrapped.as_path(), &shims, &wrapped, &real];
    assert_eq!(at.shim("nvcc", "p", path(&front)).out, "real\n", "it stands behind the shims already");
    let nowhere = at.shim("nvcc", "p", path(&[&shims, &wrapped]));
    assert!(nowhere.code == Some(127) && nowhere.err.contains("no other nvcc is on PATH"), "{nowhere:?}");
    // The same where a toolkit is chosen that lacks the tool.
    fs::remove_file(at.home().join("toolkits/12.4.1/bin/ptxas")).unwrap();
    at.write("q/.cuda-version", "12.4\n");
    at.script("wrapped/ptxas", &format!("exec '{}/ptxas'", shims.display()));
    fs::hard_link(shims.join("nvcc"), shims.join("ptxas"))
        .or_else(|_| fs::metadata(shims.join("ptxas")).map(drop))
        .unwrap();
    let lacking = at.shim("ptxas", "q", path(&[&shims, &wrapped]));
    assert!(lacking.code == Some(127) && lacking.err.contains("has no ptxas"), "{lacking:?}");
}

/// Tools that start programs are started in them again.
#[test]
fn a_program_that_a_shim_went_on_to_can_call_its_own_name() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.cudaup("p", &["rehash"]);
    let shims = at.home().join("shims");
    fs::copy(at.home().join("bin/cudaup-shim"), shims.join("nsys")).unwrap();
    at.script(
        "real/nsys",
        "echo nsys $1; [ \"$1\" != profile ] || exec sh -c 'nsys profiled && nsys export'",
    );
    let path = format!("{}:{}:/bin", shims.display(), at.path("real").display());
    let said = at.shim("nsys", "p", |command| {
        command.env("PATH", &path).arg("profile");
    });
    assert_eq!(said.out, "nsys profile\nnsys profiled\nnsys export\n", "{}", said.err);
}

/// It runs again and again until the shim goes past it: seldom enough that nobody waits.
#[test]
fn a_wrapper_that_calls_its_own_name_twice_comes_to_the_right_program_soon() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.cudaup("p", &["rehash"]);
    let runs = at.write("runs", "");
    at.script("wrapped/nvcc", &format!("echo >>'{}'; nvcc -M && exec nvcc -c", runs.display()));
    at.script("real/nvcc", "echo real $1");
    let all = ["home/.cudaup/shims", "wrapped", "real"].map(|name| at.path(name).display().to_string());
    let path = format!("{}:/bin", all.join(":"));
    let said = at.shim("nvcc", "p", |command| {
        command.env("PATH", &path);
    });
    assert!(said.code == Some(0) && said.out.ends_with("real -M\nreal -c\n"), "{said:?}");
    assert_eq!(fs::read(&runs).unwrap().len(), 15);
}

/// A service has no HOME.
#[test]
fn without_a_home_the_programs_serve_the_one_that_they_lie_in() {
    let at = Sandbox::new();
    let root = at.managed("12.4.1");
    at.cudaup("p", &["rehash"]);
    at.write("q/.cuda-version", "12.4\n");
    let without = |program: PathBuf, arguments: &[&str]| {
        let mut command = at.command(program, "q");
        said(command.env_remove("HOME").args(arguments).output().unwrap())
    };
    let nvcc = without(at.home().join("shims/nvcc"), &["x"]);
    assert_eq!(nvcc.out, format!("{} x\n", root.join("bin/nvcc").display()), "{}", nvcc.err);
    let own = at.home().join("bin/own");
    crate::sandbox::copy(Path::new(env!("CARGO_BIN_EXE_cudaup")), &own);
    let which = without(own, &["which", "nvcc"]);
    assert_eq!(which.out, format!("{}\n", root.join("bin/nvcc").display()), "{}", which.err);
}
