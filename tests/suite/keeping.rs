//! list, link, unlink and uninstall, and the shims that follow them: what is shown, kept and taken away.

use crate::sandbox::Sandbox;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::process::Stdio;

#[test]
fn one_toolkit_with_three_names_is_listed_once() {
    let at = Sandbox::new();
    at.toolkit("usr/local/cuda-12.6", "12.6.3");
    at.toolkit("usr/local/cuda-13.0", "13.0.2");
    symlink("cuda-12.6", at.path("usr/local/cuda-12")).unwrap();
    symlink("/usr/local/cuda-13.0", at.path("usr/local/cuda-13")).unwrap();
    symlink("cuda-13", at.path("usr/local/cuda")).unwrap();
    at.write("usr/local/cuda-9.9/README", "not a toolkit");
    let list: serde_json::Value = serde_json::from_str(&at.cudaup("p", &["list", "--json"]).out).unwrap();
    let rows = list["toolkits"].as_array().unwrap();
    let versions: Vec<_> = rows.iter().map(|r| r["version"].as_str().unwrap()).collect();
    assert_eq!(versions, ["13.0.2", "12.6.3"]);
    let aliases = rows[0]["aliases"].as_array().unwrap();
    assert_eq!(aliases.len(), 2, "{aliases:?}");
    assert_eq!(rows[0]["chosen"], "in use here");
}

#[test]
fn links_by_odd_names_change_nothing() {
    let at = Sandbox::new();
    let target = at.toolkit("opt/x", "12.4.1");
    at.managed("13.0.2");
    for name in ["", ".", "..", "/", "a/b", "../x", "x\ny", " ", "12.4", "latest", "cu124"] {
        let linked = at.cudaup("p", &["link", name, target.to_str().unwrap()]);
        assert_eq!(linked.code, Some(2), "{name:?}: {}", linked.err);
        let removed = at.cudaup("p", &["uninstall", name]);
        assert!(matches!(removed.code, Some(1..=3)), "{name:?}: {}", removed.err);
    }
    assert!(target.join("bin/nvcc").exists());
    assert_eq!(fs::read_dir(at.home().join("toolkits")).unwrap().count(), 1);
}

#[test]
fn a_link_is_made_followed_and_forgotten_and_its_target_left_alone() {
    let at = Sandbox::new();
    let target = at.toolkit("opt/my cuda", "12.4.1");
    let before = snapshot(&target);
    let linked = at.cudaup("opt", &["link", "mine", "my cuda"]);
    assert_eq!(linked.code, Some(0), "{}", linked.err);
    assert!(linked.out.contains("CUDA 12.4.1"), "{}", linked.out);
    assert!(at.home().join("shims/nvcc").exists(), "the shims are there without a rehash");
    assert_eq!(at.cudaup("p", &["use", "mine"]).code, Some(0));
    assert_eq!(at.cudaup("p", &["which", "nvcc"]).out, format!("{}\n", target.join("bin/nvcc").display()));
    assert_eq!(at.cudaup("p", &["unlink", "mine"]).code, Some(0));
    assert_eq!(at.cudaup("p", &["which", "nvcc"]).code, Some(3));
    assert!(!at.home().join("shims/nvcc").exists(), "the shims go with the last toolkit");
    assert_eq!(snapshot(&target), before);
}

#[test]
fn a_link_whose_target_is_gone_is_said_and_can_be_forgotten() {
    let at = Sandbox::new();
    let target = at.toolkit("opt/x", "12.4.1");
    at.cudaup("p", &["link", "mine", target.to_str().unwrap()]);
    at.cudaup("p", &["use", "mine"]);
    fs::remove_dir_all(&target).unwrap();
    let which = at.cudaup("p", &["which", "nvcc"]);
    assert_eq!(which.code, Some(3));
    assert!(which.err.contains("the directory of the linked toolkit mine was removed"), "{}", which.err);
    assert!(at.cudaup("p", &["list"]).out.contains("missing: the directory is gone"));
    assert_eq!(at.cudaup("p", &["uninstall", "mine"]).code, Some(0));
    assert!(!at.cudaup("p", &["list"]).out.contains("mine"));
}

#[test]
fn a_tree_whose_nvcc_refuses_is_not_linked_and_is_listed_as_broken() {
    let at = Sandbox::new();
    at.script(
        "usr/local/cuda-10.2/bin/nvcc",
        "echo 'nvcc-Error-CUDA version 10.2 was not installed with this HPC SDK:'; exit 1",
    );
    let linked = at.cudaup("p", &["link", "old", at.path("usr/local/cuda-10.2").to_str().unwrap()]);
    assert_eq!(linked.code, Some(1));
    assert!(linked.err.contains("nvcc-Error-CUDA version 10.2 was not installed"), "{}", linked.err);
    assert!(at.cudaup("p", &["list"]).out.contains("broken: its nvcc says: nvcc-Error-CUDA"));
}

#[test]
fn uninstall_takes_what_cudaup_installed_and_nothing_else() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.managed("12.4.0");
    at.managed("13.0.2");
    at.write("home/.cudaup/default", "13.0\n");
    at.toolkit("home/.cudaup/toolkits/12.9.1", "12.9.1");
    let system = at.toolkit("usr/local/cuda-11.8", "11.8.0");
    let refused = |arguments: &[&str], words: &str| {
        let said = at.cudaup("p", arguments);
        assert_ne!(said.code, Some(0), "{arguments:?}");
        assert!(said.err.contains(words), "{arguments:?}: {}", said.err);
    };
    refused(&["uninstall", "12.4"], "fits several toolkits: 12.4.1, 12.4.0");
    refused(&["uninstall", "13.0"], "is your default");
    refused(&["uninstall", "11.8"], "was not installed by cudaup and is left alone");
    refused(&["uninstall", "12.9.1"], "was not put there by cudaup and is left alone");
    refused(&["uninstall", "12.8"], "is not installed");
    assert!(system.join("bin/nvcc").exists());
    let removed = at.cudaup("p", &["uninstall", "12.4.1", "12.4.0"]);
    assert_eq!(removed.code, Some(0), "{}", removed.err);
    assert!(
        removed.out.starts_with("removed 12.4.1, ") && removed.out.contains(" freed\n"),
        "{}",
        removed.out
    );
    assert_eq!(at.cudaup("p", &["uninstall", "--force", "13.0"]).code, Some(0));
    let left: Vec<_> =
        fs::read_dir(at.home().join("toolkits")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["12.9.1"]);
    assert_eq!(fs::read_dir(at.home().join("staging")).unwrap().count(), 0);
}

#[test]
fn uninstall_says_who_still_asks_and_what_add_ons_are_left() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.managed("13.0.2");
    at.write("home/.cudaup/default", "13.0\n");
    at.addon("cudnn/9.8.0.87-cuda12");
    at.addon("nccl/2.21.5-cuda12");
    at.addon("nccl/2.27.3-cuda13");
    at.write("home/p/.cuda-version", "12.4\n");
    let removed = at.cudaup("home/p", &["uninstall", "12.4.1"]);
    let lines: Vec<&str> = removed.out.lines().skip(1).collect();
    let asks = "~/p/.cuda-version asks for 12.4: nvcc fails here until that is installed again or it asks for another";
    let addons = "its add-ons stay; to remove them: cudaup remove cudnn@9.8.0.87-cuda12 nccl@2.21.5-cuda12";
    assert_eq!((removed.code, lines), (Some(0), vec![asks, addons]), "{}", removed.err);
    // One that serves in its place is no loss.
    at.managed("12.4.1");
    at.managed("12.4.0");
    let removed = at.cudaup("home/p", &["uninstall", "12.4.1"]);
    assert_eq!((removed.code, removed.out.lines().count()), (Some(0), 1), "{}", removed.out);
}

#[test]
fn an_empty_machine_lists_nothing_and_says_what_to_type() {
    let at = Sandbox::new();
    let list = at.cudaup("p", &["list"]);
    let text = "no toolkit is installed, linked or found here\ntry: cudaup install latest\n";
    assert_eq!((list.code, list.out.as_str()), (Some(0), text));
}

#[test]
fn of_several_add_ons_each_has_its_line() {
    let at = Sandbox::new();
    at.addon("cudnn/9.8.0.87-cuda12");
    at.addon("cudnn/9.8.0.87-cuda13");
    let said = at.cudaup("p", &["remove", "cudnn"]);
    let mut lines: Vec<&str> = said.err.lines().skip(1).collect();
    lines.sort_unstable();
    let wanted = ["     cudaup remove cudnn@9.8.0.87-cuda12", "try: cudaup remove cudnn@9.8.0.87-cuda13"];
    assert_eq!((said.code, lines), (Some(2), wanted.to_vec()), "{}", said.err);
}

#[test]
fn what_is_no_shim_stays_where_the_shims_are() {
    let at = Sandbox::new();
    let target = at.toolkit("opt/x", "12.4.1");
    fs::create_dir_all(at.path("mybin/nvprof")).unwrap();
    at.write("mybin/tool", "mine");
    symlink(at.path("mybin"), at.home().join("shims")).unwrap();
    assert_eq!(at.cudaup("p", &["link", "mine", target.to_str().unwrap()]).code, Some(0));
    assert_eq!(at.cudaup("p", &["unlink", "mine"]).code, Some(0));
    let mut left: Vec<_> = fs::read_dir(at.path("mybin")).unwrap().flatten().map(|e| e.file_name()).collect();
    left.sort();
    assert_eq!(left, ["nvprof", "tool"]);
}

#[test]
fn shims_of_many_changes_at_once_are_all_there() {
    let at = Sandbox::new();
    let target = at.toolkit("opt/x", "12.4.1");
    at.script("opt/x/bin/nvdisasm", "");
    let run = |arguments: &[&str]| {
        let mut command = at.command(at.home().join("bin/cudaup"), "p");
        command.args(arguments).stdout(Stdio::null()).spawn().unwrap()
    };
    at.managed("13.0.2");
    for _ in 0..15 {
        let target = target.to_str().unwrap();
        let mut all = vec![
            run(&["link", "b", target]),
            run(&["rehash"]),
            run(&["link", "c", target]),
            run(&["rehash"]),
        ];
        for child in &mut all {
            assert!(child.wait().unwrap().success());
        }
        assert!(at.home().join("shims/nvdisasm").exists());
        assert!(
            run(&["unlink", "b"]).wait().unwrap().success()
                && run(&["unlink", "c"]).wait().unwrap().success()
        );
        assert!(!at.home().join("shims/nvdisasm").exists());
    }
}

#[test]
fn two_names_of_one_toolkit_remove_it_once() {
    let at = Sandbox::new();
    at.managed("13.0.2");
    at.cudaup("p", &["rehash"]);
    let removed = at.cudaup("p", &["uninstall", "13.0.2", "13.0"]);
    assert_eq!(removed.code, Some(0), "{}", removed.err);
    assert_eq!(removed.out.lines().count(), 1, "{}", removed.out);
    assert!(!at.home().join("shims/nvcc").exists());
}

#[test]
fn a_default_goes_with_its_last_toolkit() {
    let at = Sandbox::new();
    at.managed("13.0.2");
    at.write("home/.cudaup/default", "13.0\nld_library_path = off\n");
    let removed = at.cudaup("p", &["uninstall", "--force", "13.0"]);
    assert!(removed.out.contains("you have no default now"), "{}", removed.out);
    assert_eq!(fs::read_to_string(at.home().join("default")).unwrap(), "ld_library_path = off\n");
}

#[test]
fn what_lies_in_a_toolkits_place_without_a_true_receipt_is_said() {
    let at = Sandbox::new();
    let root = at.managed("13.0.2");
    let receipt = root.join("receipt.json");
    let install =
        |arguments: &[&str]| at.cudaup("p", &[&["--offline", "install", "13.0"], arguments].concat());
    assert!(install(&[]).out.starts_with("13.0.2 is installed (minimal profile"));
    let shapeless = r#"{"cudaup": "0.1.0", "version": "13.0.2", "parts": 3}"#;
    for (text, words) in [
        ("{\"version\": 13", "is not a receipt"),
        ("{}", "it does not say which cudaup wrote it"),
        (shapeless, "expected a sequence"),
    ] {
        fs::write(&receipt, text).unwrap();
        let grown = install(&["--components", "cublas"]);
        assert!(grown.code == Some(1) && grown.err.contains(words), "{text}: {grown:?}");
        assert!(grown.err.contains("try: mv "), "{grown:?}");
        let present = install(&[]);
        assert!(present.code == Some(0) && present.out.contains(words), "{text}: {present:?}");
        let listed = at.cudaup("p", &["list"]);
        assert!(listed.out.contains("its receipt.json cannot be read"), "{text}: {listed:?}");
        let removed = at.cudaup("p", &["uninstall", "--force", "13.0.2"]);
        assert!(removed.code == Some(1) && removed.err.contains(words), "{text}: {removed:?}");
    }
    fs::remove_file(&receipt).unwrap();
    let present = install(&[]);
    assert!(present.code == Some(0) && present.out.contains("cudaup did not install it"), "{present:?}");
}

/// Both have seen that it is there, and only one can remove it.
#[test]
fn of_two_that_remove_the_default_one_does() {
    let at = Sandbox::new();
    at.managed("13.0.2");
    at.write("home/.cudaup/default", "13.0\n");
    let lock = fs::File::create(at.write("home/.cudaup/staging/installing-13.0.2.lock", "")).unwrap();
    lock.lock().unwrap();
    let mut both: Vec<_> = (0..2)
        .map(|_| {
            let mut command = at.command(at.home().join("bin/cudaup"), "p");
            command.args(["uninstall", "--force", "13.0.2"]).stderr(Stdio::piped()).stdout(Stdio::null());
            let mut child = command.spawn().unwrap();
            let err = BufReader::new(child.stderr.take().unwrap());
            (child, err)
        })
        .collect();
    for (_, err) in &mut both {
        let mut waits = String::new();
        err.read_line(&mut waits).unwrap();
        assert!(waits.starts_with("waiting for toolkit 13.0.2"), "{waits}");
    }
    drop(lock);
    let mut ended: Vec<(Option<i32>, String)> = both
        .into_iter()
        .map(|(mut child, mut err)| {
            let mut rest = String::new();
            err.read_to_string(&mut rest).unwrap();
            (child.wait().unwrap().code(), rest)
        })
        .collect();
    ended.sort();
    assert_eq!((ended[0].0, ended[1].0), (Some(0), Some(3)), "{ended:?}");
    assert!(ended[1].1.starts_with("error: CUDA 13.0.2 is not installed\n"), "{ended:?}");
    assert!(!at.home().join("default").exists());
}

/// Deleting a toolkit takes long.
#[test]
fn a_killed_uninstall_has_taken_the_default_along() {
    let at = Sandbox::new();
    at.managed("13.0.2");
    at.cudaup("p", &["rehash"]);
    at.write("home/.cudaup/default", "13.0\n");
    // It stands before the shims here, and so before it deletes anything.
    let lock = fs::File::create(at.home().join("shims.lock")).unwrap();
    lock.lock().unwrap();
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    let mut child = command.args(["uninstall", "--force", "13.0.2"]).spawn().unwrap();
    while at.home().join("toolkits/13.0.2").exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended and left the toolkit");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!at.home().join("default").exists());
    drop(lock);
    let left: Vec<_> = fs::read_dir(at.home().join("staging")).unwrap().flatten().collect();
    assert!(left.iter().any(|e| e.file_name().to_string_lossy().starts_with("removed-13.0.2-")), "{left:?}");
    let current = at.cudaup("p", &["current"]);
    assert!(!current.err.contains("13.0"), "{current:?}");
    assert_eq!(at.cudaup("p", &["cache", "clean"]).code, Some(0));
    assert_eq!(fs::read_dir(at.home().join("staging")).unwrap().count(), 0);
}

fn snapshot(directory: &std::path::Path) -> Vec<(std::path::PathBuf, u64, std::time::SystemTime)> {
    let mut all = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            let found = entry.metadata().unwrap();
            all.push((entry.path(), found.len(), found.modified().unwrap()));
            if found.is_dir() {
                left.push(entry.path());
            }
        }
    }
    all.sort();
    all
}
