//! The machine's own link where update-alternatives manages it: Debian's real one, on a scratch root.

use crate::global::{LINK, done, global, local, machine, text};
use crate::nobody::{as_nobody, is_root, reachable_program};
use crate::sandbox::Sandbox;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

/// The real update-alternatives on this machine's own root; `None` where it cannot work there.
fn alternatives(at: &Sandbox, arguments: &[&str]) -> Option<String> {
    let works = |c: &mut Command| c.output().is_ok_and(|o| o.status.success());
    if !works(Command::new("update-alternatives").args(["--root", "/", "--version"])) {
        eprintln!("skipped: no update-alternatives of Debian's that knows --root");
        return None;
    }
    for directory in ["etc/alternatives", "var/lib/dpkg/alternatives", "var/log"] {
        fs::create_dir_all(at.path(directory)).unwrap();
    }
    let mut command = Command::new("update-alternatives");
    let output = command.arg("--root").arg(at.path("")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// As NVIDIA's packages leave it: a group for `cuda`, one for `cuda-12`.
fn packages(at: &Sandbox) -> Option<()> {
    for (version, priority) in [("11.8", "118"), ("12.4", "124")] {
        let tree = format!("/usr/local/cuda-{version}");
        alternatives(at, &["--install", "/usr/local/cuda", "cuda", &tree, priority])?;
    }
    alternatives(at, &["--install", "/usr/local/cuda-12", "cuda-12", "/usr/local/cuda-12.4", "124"])?;
    Some(())
}

/// Everything that the alternatives system says and has of these groups.
fn record(at: &Sandbox) -> (String, Vec<Option<String>>, Vec<String>) {
    let query = |group| alternatives(at, &["--query", group]).unwrap();
    let links = ["etc/alternatives/cuda", "etc/alternatives/cuda-12"].map(|link| text(at, link)).to_vec();
    (query("cuda") + &query("cuda-12"), links, local(at))
}

#[test]
fn a_managed_link_is_set_through_its_program_and_back() {
    let at = machine();
    let Some(()) = packages(&at) else { return };
    let before = record(&at);
    let out = done(&at, &["11.8", "--dry-run"]);
    assert!(out.contains("would run: update-alternatives --set cuda /usr/local/cuda-11.8\n"), "{out}");
    assert_eq!(record(&at), before);
    let out = done(&at, &["11.8"]);
    let first = "/usr/local/cuda -> /usr/local/cuda-11.8, through update-alternatives (cuda, manual mode): CUDA 11.8.0 \
                 (was /usr/local/cuda-12.4, through update-alternatives (cuda, automatic mode): CUDA 12.4.1)\n";
    assert!(out.starts_with(first), "{out}");
    assert_eq!(text(&at, LINK).unwrap(), "/etc/alternatives/cuda", "the chain is whole");
    assert_eq!(text(&at, "etc/alternatives/cuda").unwrap(), "/usr/local/cuda-11.8");
    assert!(alternatives(&at, &["--query", "cuda"]).unwrap().contains("Status: manual"));
    assert_eq!(text(&at, "etc/alternatives/cuda-12").unwrap(), "/usr/local/cuda-12.4");
    assert!(done(&at, &["11.8"]).starts_with("nothing to do: "));
    // Another package comes and goes: the choice stays.
    at.toolkit("usr/local/cuda-13.0", "13.0.2");
    alternatives(&at, &["--install", "/usr/local/cuda", "cuda", "/usr/local/cuda-13.0", "130"]);
    assert_eq!(text(&at, "etc/alternatives/cuda").unwrap(), "/usr/local/cuda-11.8");
    alternatives(&at, &["--remove", "cuda", "/usr/local/cuda-13.0"]);
    fs::remove_dir_all(at.path("usr/local/cuda-13.0")).unwrap();
    done(&at, &["--undo"]);
    assert_eq!(record(&at), before);
    // A wish of the administrator's comes back as one.
    alternatives(&at, &["--set", "cuda", "/usr/local/cuda-11.8"]);
    let before = record(&at);
    done(&at, &["12.4"]);
    done(&at, &["--undo"]);
    assert_eq!(record(&at), before);
    // A link of the other group's, by hand: to set that group would move cuda-12, too.
    fs::remove_file(at.path(LINK)).unwrap();
    symlink("/etc/alternatives/cuda-12", at.path(LINK)).unwrap();
    let out = done(&at, &["11.8"]);
    assert_eq!(text(&at, LINK).unwrap(), "cuda-11.8");
    assert!(out.contains("update-alternatives has a group for /usr/local/cuda"), "{out}");
    assert_eq!(text(&at, "etc/alternatives/cuda-12").unwrap(), "/usr/local/cuda-12.4");
}

#[test]
fn a_tree_that_is_not_registered_is_registered_and_forgotten_again() {
    let at = machine();
    let Some(()) = packages(&at) else { return };
    at.managed("13.0.2");
    let before = record(&at);
    let out = done(&at, &["13.0"]);
    let tree = "/home/.cudaup/toolkits/13.0.2";
    assert_eq!(text(&at, "etc/alternatives/cuda").unwrap(), tree, "{out}");
    let query = alternatives(&at, &["--query", "cuda"]).unwrap();
    assert!(query.contains(&format!("Alternative: {tree}\nPriority: 1\n")), "{query}");
    assert!(
        query.contains("Best: /usr/local/cuda-12.4\n"),
        "the packages' own go first by themselves: {query}"
    );
    done(&at, &["--undo"]);
    assert_eq!(record(&at), before);
}

#[test]
fn links_that_go_along_are_kept_for_a_tree_that_is_made_known() {
    let at = machine();
    at.managed("13.0.2");
    let tree = "/usr/local/cuda-12.4";
    fs::create_dir_all(at.path("usr/bin")).unwrap();
    let nvcc = format!("{tree}/bin/nvcc");
    let along = ["--slave", "/usr/bin/nvcc", "nvcc", &nvcc];
    let install = [&["--install", "/usr/local/cuda", "cuda", tree, "124"][..], &along].concat();
    let Some(_) = alternatives(&at, &install) else { return };
    done(&at, &["13.0"]);
    assert_eq!(text(&at, "usr/bin/nvcc").unwrap(), "/etc/alternatives/nvcc");
    assert_eq!(text(&at, "etc/alternatives/nvcc").unwrap(), "/home/.cudaup/toolkits/13.0.2/bin/nvcc");
    done(&at, &["--undo"]);
    assert_eq!(text(&at, "etc/alternatives/nvcc").unwrap(), nvcc);
}

#[test]
fn a_managed_link_that_led_nowhere_leads_there_again() {
    let at = machine();
    let Some(()) = packages(&at) else { return };
    let alternative = at.path("etc/alternatives/cuda");
    for gone in ["/usr/local/cuda-12.2", "/usr/local/cuda-12"] {
        // As in an image whose toolkit was taken out by hand: nothing of the kind is registered.
        fs::remove_file(&alternative).unwrap();
        symlink(gone, &alternative).unwrap();
        done(&at, &["11.8"]);
        assert_eq!(text(&at, "etc/alternatives/cuda").unwrap(), "/usr/local/cuda-11.8");
        done(&at, &["--undo"]);
        assert_eq!(text(&at, "etc/alternatives/cuda").unwrap(), gone);
    }
}

#[test]
fn a_chain_without_a_group_is_not_broken() {
    let at = machine();
    at.write("etc/alternatives/README", "");
    symlink("/usr/local/cuda-11.8", at.path("etc/alternatives/cuda")).unwrap();
    symlink("/etc/alternatives/cuda", at.path(LINK)).unwrap();
    let said = global(&at, &["12.4"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.err.contains("&& sudo update-alternatives --set cuda /usr/local/cuda-12.4\n"),
        "{}",
        said.err
    );
    assert_eq!(text(&at, LINK).unwrap(), "/etc/alternatives/cuda");
    assert_eq!(text(&at, "etc/alternatives/cuda").unwrap(), "/usr/local/cuda-11.8");
}

#[test]
fn without_rights_a_managed_link_is_left_to_root() {
    let at = machine();
    reachable_program(&at);
    let Some(()) = packages(&at) else { return };
    let before = record(&at);
    if !is_root() {
        eprintln!("skipped: whoever made the scratch root may write it");
        return;
    }
    let Some(said) = as_nobody(&at, &["use", "--global", "11.8"]) else { return };
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(said.err.contains("is not yours to write\ntry: sudo env "), "{}", said.err);
    assert_eq!(record(&at), before);
}

#[test]
fn those_who_come_at_once_wait_for_each_other() {
    let at = machine();
    let program = at.home().join("bin/cudaup");
    let start = |release: &str| {
        let mut command = at.command(&program, "project");
        command.args(["use", "--global", release]).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..12).map(|n| start(["11.8", "12.4"][n % 2])).collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    // Whatever the order was, each undo takes one step back, to where nothing was.
    let steps = std::iter::from_fn(|| (text(&at, LINK).is_some()).then(|| done(&at, &["--undo"])));
    assert!(steps.count() <= 12);
    assert_eq!(local(&at), ["cuda-11.8", "cuda-12.4"]);
}

#[test]
fn an_undo_says_what_is_so() {
    let at = machine();
    let refused = |words: &str| {
        let none = global(&at, &["--undo"]);
        assert_eq!(none.code, Some(1), "{}", none.out);
        assert!(none.err.contains(words) && none.err.contains("\ntry: "), "{}", none.err);
    };
    let none =
        "error: no change of /usr/local/cuda by cudaup is left to take back: there is nothing to put back\n";
    refused(none);
    done(&at, &["12.4"]);
    done(&at, &["--undo"]);
    refused(none);
    done(&at, &["12.4"]);
    fs::remove_file(at.path(LINK)).unwrap();
    symlink("/elsewhere", at.path(LINK)).unwrap();
    refused("it is /elsewhere, cudaup had made it cuda-12.4, before it was nothing");
}
