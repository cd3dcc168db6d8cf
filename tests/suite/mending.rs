//! What uninstalls and installs leave that were killed or failed half way: gone, or mended, with the next one.

use crate::sandbox::{Sandbox, said};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Stdio;

/// The shims that there are, sorted.
fn shims(at: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(at.home().join("shims")).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A home with two toolkits; only 12.4.1, the default, has cuobjdump.
fn two() -> Sandbox {
    let at = Sandbox::new();
    at.managed("11.8.0");
    let root = at.managed("12.4.1");
    symlink("nvcc", root.join("bin/cuobjdump")).unwrap();
    at.write("home/.cudaup/default", "# mine\n12.4\n");
    assert_eq!(at.cudaup("p", &["rehash"]).code, Some(0));
    assert_eq!(shims(&at), ["cuobjdump", "nvcc", "ptxas"]);
    at
}

#[test]
fn each_version_is_done_with_before_the_next_is_waited_for() {
    let at = two();
    let lock = at.write("home/.cudaup/staging/installing-11.8.0.lock", "pid 1 on elsewhere");
    let lock = fs::File::open(lock).unwrap();
    lock.lock().unwrap();
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    command.args(["uninstall", "--force", "12.4.1", "11.8.0"]).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut waits = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut waits).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(waits.contains("waiting for toolkit 11.8.0"), "{waits}");
    assert_eq!(shims(&at), ["nvcc", "ptxas"]);
    assert_eq!(fs::read_to_string(at.home().join("default")).unwrap(), "# mine\n");
    let left = fs::read_dir(at.home().join("staging")).unwrap().flatten().map(|e| e.file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["installing-11.8.0.lock"]);
}

#[test]
fn a_default_that_something_else_meets_stays() {
    let at = two();
    at.toolkit("usr/local/cuda-12.4", "12.4.0");
    let done = at.cudaup("p", &["uninstall", "--force", "12.4.1"]);
    assert!(done.code == Some(0) && !done.out.contains("no default"), "{}{}", done.out, done.err);
    assert_eq!(fs::read_to_string(at.home().join("default")).unwrap(), "# mine\n12.4\n");
}

#[test]
fn a_default_comes_back_where_its_toolkit_could_not_go() {
    let at = two();
    // A name that no rename onto it replaces.
    fs::remove_dir_all(at.home().join("staging")).unwrap_or_default();
    let elsewhere = at.path("elsewhere");
    symlink(&elsewhere, at.home().join("staging")).unwrap();
    let refused = at.cudaup("p", &["uninstall", "--force", "12.4.1"]);
    assert_eq!(refused.code, Some(1), "{}", refused.out);
    assert!(at.home().join("toolkits/12.4.1/bin/nvcc").exists());
    assert_eq!(fs::read_to_string(at.home().join("default")).unwrap(), "# mine\n12.4\n");
}

#[test]
fn what_a_killed_one_left_goes_with_the_next_uninstall() {
    let at = two();
    // As a kill leaves it between the renaming and the shims.
    fs::create_dir_all(at.home().join("staging")).unwrap();
    fs::rename(at.home().join("toolkits/12.4.1"), at.home().join("staging/removed-12.4.1-4711")).unwrap();
    at.managed("12.1.1");
    at.write("home/.cudaup/toolkits/.removed-12.6.3-4711/x", "1234567");
    at.write("home/.cudaup/toolkits/.cudaup-12.9.1/x", "1234567");
    assert_eq!(at.cudaup("p", &["uninstall", "12.4.1"]).code, Some(3));
    assert_eq!(shims(&at), ["nvcc", "ptxas"]);
    let size = at.cudaup("p", &["cache", "--json"]).out;
    let size: serde_json::Value = serde_json::from_str(&size).unwrap();
    let unfinished = size["kinds"].as_array().unwrap().iter().find(|k| k["kind"] == "unfinished installs");
    assert_eq!(unfinished.unwrap()["files"], 3, "{size}");
    assert_eq!(at.cudaup("p", &["uninstall", "12.1.1"]).code, Some(0));
    let names = |folder: &str| {
        let mut names: Vec<PathBuf> =
            fs::read_dir(at.home().join(folder)).unwrap().flatten().map(|e| e.file_name().into()).collect();
        names.sort();
        names
    };
    assert_eq!((names("toolkits"), names("staging")), (vec!["11.8.0".into()], vec![]));
    at.write("home/.cudaup/toolkits/.removed-12.6.3-4711/x", "1234567");
    let clean = at.cudaup("p", &["cache", "clean"]);
    assert!(clean.out.contains(" freed: unfinished installs"), "{}{}", clean.out, clean.err);
    assert_eq!(names("toolkits"), [PathBuf::from("11.8.0")]);
}

#[test]
fn shims_that_cannot_be_renewed_hide_nothing() {
    let at = two();
    fs::remove_dir_all(at.home().join("shims")).unwrap();
    at.write("home/.cudaup/shims", "a file");
    let said = at.cudaup("p", &["uninstall", "--force", "12.4.1", "11.8.0"]);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""));
    for line in ["removed 12.4.1, ", "removed 11.8.0, ", "error: could not create ", "cudaup rehash"] {
        assert!(said.err.contains(line), "{line}: {}", said.err);
    }
    assert_eq!(fs::read_dir(at.home().join("toolkits")).unwrap().count(), 0);
    // What stands in the way of the removal itself is what is told.
    at.managed("12.4.1");
    let other = at.managed("12.6.3");
    fs::write(other.join("receipt.json"), "{").unwrap();
    let said = at.cudaup("p", &["uninstall", "12.4.1", "12.6.3"]);
    let error = said.err.lines().find(|line| line.starts_with("error: ")).unwrap();
    assert!(error.contains("12.6.3/receipt.json"), "{}", said.err);
    assert!(
        said.err.contains("removed 12.4.1, ") && said.err.contains("warning: could not create "),
        "{}",
        said.err
    );
}

#[test]
fn trees_on_another_disk_are_taken_away_there() {
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else {
        eprintln!("skipped: no second file system at /dev/shm");
        return;
    };
    let at = Sandbox::new();
    let root = at.managed("12.4.1");
    at.managed("11.8.0");
    let moved = at.command("/bin/cp", "p").arg("-a").arg(root.parent().unwrap()).arg(other.path()).output();
    assert_eq!(said(moved.unwrap()).code, Some(0));
    fs::remove_dir_all(root.parent().unwrap()).unwrap();
    symlink(other.path().join("toolkits"), at.home().join("toolkits")).unwrap();
    at.write("home/.cudaup/toolkits/.removed-12.6.3-4711/x", "1234567");
    let done = at.cudaup("p", &["uninstall", "12.4.1"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let left: Vec<_> =
        fs::read_dir(at.home().join("toolkits")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["11.8.0"]);
}
