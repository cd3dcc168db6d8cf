//! The machine's own link: `use --global` and its way back, plain and through the real update-alternatives, as root and as
//! somebody else.

use crate::nobody::{as_nobody, is_root, reachable_program};
use crate::sandbox::{Said, Sandbox};
use crate::shell_driver::has;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

pub const LINK: &str = "usr/local/cuda";

/// A machine with 11.8.0 and 12.4.1 of its own.
pub fn machine() -> Sandbox {
    let at = Sandbox::new();
    at.toolkit("usr/local/cuda-11.8", "11.8.0");
    at.toolkit("usr/local/cuda-12.4", "12.4.1");
    // Below a real one's root there is nothing that is closed to others.
    fs::set_permissions(at.path(""), Permissions::from_mode(0o755)).unwrap();
    at
}

pub fn global(at: &Sandbox, arguments: &[&str]) -> Said {
    at.cudaup("project", &[&["use", "--global"], arguments].concat())
}

pub fn done(at: &Sandbox, arguments: &[&str]) -> String {
    let said = global(at, arguments);
    assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.err);
    said.out
}

pub fn text(at: &Sandbox, link: &str) -> Option<String> {
    fs::read_link(at.path(link)).ok().map(|text| text.to_str().unwrap().to_owned())
}

/// What is in /usr/local, links with their texts.
pub fn local(at: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(at.path("usr/local")).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| match fs::read_link(entry.path()) {
            Ok(text) => format!("{} -> {}", entry.file_name().to_str().unwrap(), text.display()),
            Err(_) => entry.file_name().into_string().unwrap(),
        })
        .collect();
    names.sort();
    names
}

#[test]
fn the_link_is_repointed_and_goes_back_step_by_step() {
    let at = machine();
    let before = local(&at);
    let out = done(&at, &["12.4"]);
    assert!(out.starts_with("/usr/local/cuda -> cuda-12.4: CUDA 12.4.1 (it was not there)\n"), "{out}");
    for line in ["for all users of this machine", "here cudaup takes it, too", "back: "] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert_eq!(text(&at, LINK).unwrap(), "cuda-12.4");
    let again = done(&at, &["12.4.1"]);
    assert!(
        again.starts_with("nothing to do: /usr/local/cuda is cuda-12.4 already: CUDA 12.4.1\n"),
        "{again}"
    );
    let out = done(&at, &["11.8"]);
    assert!(
        out.starts_with("/usr/local/cuda -> cuda-11.8: CUDA 11.8.0 (was cuda-12.4: CUDA 12.4.1)\n"),
        "{out}"
    );
    assert!(at.cudaup("project", &["which", "--root"]).out.ends_with("usr/local/cuda-11.8\n"));
    let out = done(&at, &["--undo"]);
    assert!(
        out.starts_with("/usr/local/cuda -> again cuda-12.4: CUDA 12.4.1 (was cuda-11.8: CUDA 11.8.0)\n"),
        "{out}"
    );
    let out = done(&at, &["--undo"]);
    assert!(out.starts_with("/usr/local/cuda again not there (was cuda-12.4: CUDA 12.4.1)\n"), "{out}");
    assert_eq!(local(&at), before);
    let none = global(&at, &["--undo"]);
    assert_eq!(none.code, Some(1));
    assert!(none.err.contains("there is nothing to put back"), "{}", none.err);
}

#[test]
fn the_former_text_comes_back_to_the_letter() {
    let at = machine();
    symlink("cuda-11.8", at.path("usr/local/cuda-11")).unwrap();
    for former in ["./cuda-11.8/", "/usr/local/cuda-11.8", "cuda-11", "/gone", "../local//cuda-11.8"] {
        symlink(former, at.path(LINK)).unwrap();
        done(&at, &["12.4"]);
        assert_eq!(text(&at, LINK).unwrap(), "cuda-12.4", "{former}");
        done(&at, &["--undo"]);
        assert_eq!(text(&at, LINK).unwrap(), former);
        fs::remove_file(at.path(LINK)).unwrap();
    }
}

#[test]
fn a_dry_run_says_all_and_does_nothing() {
    let at = machine();
    symlink("cuda-11.8", at.path(LINK)).unwrap();
    let before = local(&at);
    let out = done(&at, &["12.4", "--dry-run"]);
    assert!(out.contains("would make /usr/local/cuda a link to cuda-12.4, by a rename\n"), "{out}");
    assert_eq!(local(&at), before);
    done(&at, &["12.4"]);
    let before = local(&at);
    let out = done(&at, &["--undo", "--dry-run"]);
    assert!(out.contains("would make /usr/local/cuda a link to cuda-11.8"), "{out}");
    assert_eq!(local(&at), before);
    let json: serde_json::Value = serde_json::from_str(&done(&at, &["11.8", "--dry-run", "--json"])).unwrap();
    assert_eq!((&json["changed"], &json["after"]["text"]), (&false.into(), &"cuda-11.8".into()));
}

#[test]
fn what_is_not_cudaups_to_change_stays() {
    let at = machine();
    let refused = |words: &str| {
        let before = local(&at);
        let said = global(&at, &["12.4"]);
        assert_eq!(said.code, Some(1), "{}", said.out);
        assert!(said.err.contains(words), "{}", said.err);
        assert_eq!(local(&at), before);
    };
    at.toolkit(LINK, "12.6.3");
    refused("/usr/local/cuda is a directory with CUDA 12.6.3 in it and no link: it is left alone");
    fs::remove_dir_all(at.path(LINK)).unwrap();
    at.write(LINK, "");
    refused("/usr/local/cuda is no link");
    fs::remove_file(at.path(LINK)).unwrap();
    at.write("data/photos/cat.jpg", "");
    symlink("/data/photos", at.path(LINK)).unwrap();
    refused("leads to /data/photos, which is no CUDA toolkit, and is left alone");
    fs::remove_file(at.path(LINK)).unwrap();
    // What the packages of a driver leave is named like a toolkit and holds next to nothing.
    at.write("usr/local/cuda-12.9/compat/libcuda.so.1", "");
    symlink("cuda-12.9", at.path(LINK)).unwrap();
    assert!(done(&at, &["12.4"]).contains("(was cuda-12.9)"));
}

#[test]
fn what_somebody_changed_since_is_not_put_back() {
    let at = machine();
    symlink("cuda-12.4", at.path(LINK)).unwrap();
    at.toolkit("usr/local/cuda-13.0", "13.0.2");
    done(&at, &["13.0"]);
    fs::remove_file(at.path(LINK)).unwrap();
    symlink("cuda-11.8", at.path(LINK)).unwrap();
    let said = global(&at, &["--undo"]);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("was changed since"), "{}", said.err);
    for part in ["it is cuda-11.8", "had made it cuda-13.0", "before it was cuda-12.4"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert_eq!(text(&at, LINK).unwrap(), "cuda-11.8");
    // A new change begins a new way back.
    done(&at, &["12.4"]);
    done(&at, &["--undo"]);
    assert_eq!(text(&at, LINK).unwrap(), "cuda-11.8");
    assert_eq!(global(&at, &["--undo"]).code, Some(1));
}

#[test]
fn a_kill_between_memory_and_link_leaves_nothing_to_trip_over() {
    let at = machine();
    symlink("cuda-11.8", at.path(LINK)).unwrap();
    done(&at, &["12.4"]);
    fs::remove_file(at.path(LINK)).unwrap();
    symlink("cuda-11.8", at.path(LINK)).unwrap();
    symlink("half", at.path("usr/local/.cudaup-cuda.new")).unwrap();
    assert!(done(&at, &["--undo"]).starts_with("nothing to do: "));
    done(&at, &["12.4"]);
    assert_eq!(text(&at, LINK).unwrap(), "cuda-12.4");
    done(&at, &["--undo"]);
    assert_eq!(local(&at), ["cuda -> cuda-11.8", "cuda-11.8", "cuda-12.4"]);
}

#[test]
fn a_way_back_to_nothing_is_said() {
    let at = machine();
    symlink("cuda-11.8", at.path(LINK)).unwrap();
    done(&at, &["12.4"]);
    fs::remove_dir_all(at.path("usr/local/cuda-11.8")).unwrap();
    let said = global(&at, &["--undo"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("warning: /usr/local/cuda leads nowhere"), "{}", said.err);
    assert!(!said.out.contains("takes it, too"), "{}", said.out);
}

#[test]
fn an_image_whose_folder_leads_out_of_it_is_left_alone() {
    let at = machine();
    let outside = tempfile::tempdir().unwrap();
    fs::rename(at.path("usr/local"), at.path("local")).unwrap();
    symlink(outside.path(), at.path("usr/local")).unwrap();
    at.managed("13.0.2");
    let said = global(&at, &["13.0"]);
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(said.err.contains("leads out of CUDAUP_SYSROOT"), "{}", said.err);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn at_no_moment_is_the_link_missing() {
    let at = machine();
    symlink("cuda-11.8", at.path(LINK)).unwrap();
    // The watcher ends also where this thread does so by a panic.
    let (alive, over) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let (over, mut looks, mut gaps) = (over, 0_u64, 0_u64);
            while over.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                gaps += u64::from(!at.path(LINK).join("bin/nvcc").exists());
                looks += 1;
            }
            (looks, gaps)
        });
        let alive = alive;
        for version in ["12.4", "11.8"].repeat(20) {
            done(&at, &[version]);
        }
        drop(alive);
        let (looks, gaps) = watch.join().unwrap();
        assert!(looks > 1000, "{looks}");
        assert_eq!(gaps, 0, "of {looks}");
    });
}

#[test]
fn many_at_once_leave_one_of_their_links_and_a_way_back() {
    let at = machine();
    symlink("/gone", at.path(LINK)).unwrap();
    let run = |version: &str| {
        let mut command = at.command(at.home().join("bin/cudaup"), "project");
        command.args(["use", "--global", version]).stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let mut all: Vec<_> = ["11.8", "12.4"].repeat(8).into_iter().map(run).collect();
    let codes: Vec<_> = all.iter_mut().map(|child| child.wait().unwrap().code().unwrap()).collect();
    // One that finds another's change behind its back says so and does nothing.
    assert!(codes.contains(&0) && codes.iter().all(|code| *code < 2), "{codes:?}");
    while text(&at, LINK).unwrap() != "/gone" {
        done(&at, &["--undo"]);
    }
    assert_eq!(local(&at), ["cuda -> /gone", "cuda-11.8", "cuda-12.4"]);
}

#[test]
fn links_by_major_stay_and_are_named_where_they_differ() {
    let at = machine();
    at.toolkit("usr/local/cuda-12.6", "12.6.3");
    symlink("cuda-12.6", at.path("usr/local/cuda-12")).unwrap();
    symlink("cuda-12", at.path(LINK)).unwrap();
    let out = done(&at, &["12.4"]);
    assert!(out.contains("/usr/local/cuda-12 stays with CUDA 12.6.3, /usr/local/cuda-12.6\n"), "{out}");
    assert!(!done(&at, &["11.8"]).contains("stays with"));
    assert!(!done(&at, &["12.6"]).contains("stays with"));
    assert_eq!(text(&at, "usr/local/cuda-12").unwrap(), "cuda-12.6");
    done(&at, &["--undo"]);
    done(&at, &["--undo"]);
    done(&at, &["--undo"]);
    assert_eq!(text(&at, LINK).unwrap(), "cuda-12");
}

#[test]
fn who_wins_here_is_said() {
    let at = machine();
    at.write("project/.cuda-version", "11.8\n");
    let out = done(&at, &["12.4"]);
    assert!(out.contains("/project/.cuda-version asks for 11.8 and still decides\n"), "{out}");
    fs::remove_file(at.path("project/.cuda-version")).unwrap();
    at.write("home/.cudaup/default", "11\n");
    let out = done(&at, &["12.4"]);
    assert!(out.contains("here ~/.cudaup/default asks for 11 and still decides\n"), "{out}");
}

#[test]
fn a_toolkit_that_others_cannot_reach_is_warned_of_and_gives_way() {
    let at = machine();
    at.managed("13.0.2");
    fs::set_permissions(at.user(), Permissions::from_mode(0o700)).unwrap();
    let said = global(&at, &["13.0"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.err.contains("warning: other users cannot reach /home/.cudaup/toolkits/13.0.2: /home is closed to them (mode 700)"), "{}", said.err);
    assert!(said.err.contains(" install --system 13.0.2\n"), "{}", said.err);
    assert_eq!(text(&at, LINK).unwrap(), "/home/.cudaup/toolkits/13.0.2");
    at.managed("12.4.1");
    let said = global(&at, &["12.4"]);
    assert!(said.err.contains("cuda-12.4 is taken, since other users cannot reach"), "{}", said.err);
    assert_eq!(text(&at, LINK).unwrap(), "cuda-12.4");
    fs::set_permissions(at.user(), Permissions::from_mode(0o755)).unwrap();
    let said = global(&at, &["12.4"]);
    assert!(!said.err.contains("warning"), "{}", said.err);
    assert_eq!(text(&at, LINK).unwrap(), "/home/.cudaup/toolkits/12.4.1");
}

#[test]
fn a_version_that_is_missing_is_named_with_the_way_to_it() {
    let at = machine();
    let said = global(&at, &["13.0"]);
    assert_eq!(said.code, Some(3));
    assert!(said.err.contains("/cudaup install --system 13.0\n"), "{}", said.err);
}

#[test]
fn names_that_the_loader_loses_are_said() {
    let at = machine();
    if !has("cc") || !is_root() {
        eprintln!("skipped: needs cc, and root for ldconfig -r");
        return;
    }
    let library = |file: &str, soname: &str| {
        let path = at.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-nostdlib", "-x", "c", "/dev/null", "-o"]).arg(&path);
        assert!(cc.arg(format!("-Wl,-soname,{soname}")).status().unwrap().success());
    };
    for name in ["libcublas.so.11", "libcudart.so.11.0", "libboth.so.1", "libpinned.so.1"] {
        library(&format!("usr/local/cuda-11.8/lib64/{name}"), name);
    }
    library("usr/local/cuda-12.4/lib64/libboth.so.1", "libboth.so.1");
    library("usr/lib/pinned/libpinned.so.1", "libpinned.so.1");
    symlink("cuda-11.8", at.path(LINK)).unwrap();
    at.write("etc/ld.so.conf", "/usr/local/cuda/lib64\n/usr/lib/pinned\n");
    let made = Command::new("/sbin/ldconfig").arg("-r").arg(at.path("")).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let before = fs::read(at.path("etc/ld.so.cache")).unwrap();
    let out = done(&at, &["12.4"]);
    assert!(
        out.contains("the loader finds no longer: libcublas.so.11, libcudart.so.11.0\nthen: sudo ldconfig\n"),
        "{out}"
    );
    assert_eq!(
        fs::read(at.path("etc/ld.so.cache")).unwrap(),
        before,
        "ldconfig is the administrator's to run"
    );
    let out = done(&at, &["--undo"]);
    assert!(!out.contains("no longer") && out.contains("then: sudo ldconfig\n"), "{out}");
}

#[test]
fn without_rights_the_exact_command_is_said_and_nothing_changed() {
    let at = machine();
    reachable_program(&at);
    symlink("cuda-11.8", at.path(LINK)).unwrap();
    fs::set_permissions(at.path("usr/local"), Permissions::from_mode(0o555)).unwrap();
    let before = local(&at);
    let Some(said) = as_nobody(&at, &["use", "--global", "12.4"]) else { return };
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(
        said.err.contains(
            "/usr/local/cuda was not changed: /usr/local is not yours to write\ntry: sudo env CUDAUP_HOME="
        ),
        "{}",
        said.err
    );
    assert_eq!(local(&at), before);
    // The command, as root would get it from sudo.
    let line = said.err.lines().find_map(|line| line.strip_prefix("try: sudo ")).unwrap();
    fs::set_permissions(at.path("usr/local"), Permissions::from_mode(0o755)).unwrap();
    let ran = Command::new("sh")
        .args(["-c", line])
        .env_clear()
        .env("HOME", "/root")
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{line}: {ran:?}");
    assert_eq!(text(&at, LINK).unwrap(), "cuda-12.4");
    fs::set_permissions(at.path("usr/local"), Permissions::from_mode(0o555)).unwrap();
    let again = as_nobody(&at, &["use", "--global", "12.4"]).unwrap();
    assert_eq!(again.code, Some(0), "there is nothing to do: {}", again.err);
    let undo = as_nobody(&at, &["use", "--global", "--undo"]).unwrap();
    assert_eq!(undo.code, Some(1));
    assert!(undo.err.contains(" use --global --undo\n"), "{}", undo.err);
    let dry = as_nobody(&at, &["use", "--global", "11.8", "--dry-run"]).unwrap();
    assert_eq!(dry.code, Some(0), "{}", dry.err);
    assert!(dry.out.contains("you may not do that; who may: sudo env "), "{}", dry.out);
    fs::set_permissions(at.path("usr/local"), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_options_of_the_machines_link_are_for_it_alone() {
    let at = machine();
    for arguments in [
        &["use", "--undo"][..],
        &["use", "12.4", "--dry-run"],
        &["use", "--global"],
        &["use", "--global", "--shell", "12.4"],
        &["use", "--global", "--undo", "12.4"],
    ] {
        assert_eq!(at.cudaup("project", arguments).code, Some(2), "{arguments:?}");
    }
}
