//! use, current and which: what they choose, write and say.

use crate::sandbox::{Sandbox, said};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_pin_with_windows_line_ends_is_followed_and_keeps_them() {
    let at = Sandbox::new();
    let nvcc = at.toolkit("usr/local/cuda-11.8", "11.8.0").join("bin/nvcc");
    at.toolkit("usr/local/cuda-12.4", "12.4.1");
    for text in ["11.8\r\n", "11.8\r\n\r\n", "\u{feff}11.8"] {
        at.write("p/.cuda-version", text);
        let which = at.cudaup("p", &["which", "nvcc"]);
        assert_eq!((which.out.as_str(), which.code), (format!("{}\n", nvcc.display()).as_str(), Some(0)));
        assert!(!which.err.contains('\r'));
    }
    at.write("p/.cuda-version", "# ours\r\n11.8\r\n\r\ncpath = off\r\n");
    let used = at.cudaup("p", &["use", "12.4"]);
    assert!(used.out.starts_with("12.4 -> 12.4.1, written to "), "{}", used.out);
    assert_eq!(fs::read(at.path("p/.cuda-version")).unwrap(), b"# ours\r\n12.4\r\n\r\ncpath = off\r\n");
}

#[test]
fn a_directory_is_asked_for_by_its_version_or_by_a_name() {
    let at = Sandbox::new();
    let [system, mine, other] =
        ["usr/local/cuda-11.8", "home/mine", "home/ot her"].map(|place| at.toolkit(place, "11.8.0"));
    assert_eq!(at.cudaup("p", &["link", "lab", mine.to_str().unwrap()]).code, Some(0));
    let next = |directory: &str, line: &[&str]| {
        let said = at.cudaup(directory, line);
        assert!(
            said.code == Some(2) && said.err.contains(" is a directory; a toolkit is asked for by "),
            "{said:?}"
        );
        said.err.split_once("\ntry: ").unwrap().1.trim_end().to_owned()
    };
    assert_eq!(next("p", &["use", mine.to_str().unwrap()]), "cudaup use lab");
    assert_eq!(next("home/mine", &["exec", ".", "--", "make"]), "cudaup exec lab -- make");
    // The linked one is the first of the two 11.8: what the version means is not this directory.
    let link = format!("cudaup link NAME {}   (any name)\n     cudaup use NAME", system.display());
    assert_eq!(next("p", &["use", system.to_str().unwrap()]), link);
    assert_eq!(at.cudaup("p", &["unlink", "lab"]).code, Some(0));
    assert_eq!(next("p", &["use", system.to_str().unwrap()]), "cudaup use 11.8.0");
    let link = format!("cudaup link NAME '{}'   (any name)\n     cudaup use NAME", other.display());
    assert_eq!(next("home", &["use", "ot her/"]), link);
}

#[test]
fn misspelled_tools_and_keys_are_recognised() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\nhost_compilr = g++-11\nshiny = 1\n");
    let which = at.cudaup("p", &["which", "nvc"]);
    assert_eq!(which.code, Some(1));
    assert!(which.err.contains("; did you mean nvcc?\ntry: cudaup which nvcc\n"), "{}", which.err);
    // What the toolkit does not have is not what was meant.
    let gdb = at.cudaup("p", &["which", "cuda_gdb"]);
    assert!(gdb.code == Some(1) && !gdb.err.contains("did you mean"), "{}", gdb.err);
    let current = at.cudaup("p", &["current"]);
    assert!(
        current.err.contains(
            "p/.cuda-version:2: host_compilr is no key of a version file; did you mean host_compiler?\n"
        ) && current.err.contains("p/.cuda-version:3: shiny is no key of a version file\n"),
        "{}",
        current.err
    );
}

#[test]
fn what_is_typed_otherwise_is_read_and_said_and_a_pin_refuses_it() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    let used = at.cudaup("p", &["use", "cu124"]);
    assert_eq!((used.code, used.err.lines().next()), (Some(0), Some("cu124 is read as 12.4")));
    assert_eq!(fs::read_to_string(at.path("p/.cuda-version")).unwrap(), "12.4\n");
    at.write("p/.cuda-version", "cu124\n");
    let current = at.cudaup("p", &["current"]);
    assert_eq!(current.code, Some(3));
    assert!(
        current.err.contains("p/.cuda-version:1: `cu124` is no CUDA version; did you mean 12.4?"),
        "{}",
        current.err
    );
    let bad = at.cudaup("p", &["use", "121"]);
    assert_eq!(bad.code, Some(2));
    assert!(bad.err.contains("did you mean 12.1?"), "{}", bad.err);
}

#[test]
fn a_missing_version_is_not_written_down_without_being_asked_for() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    let used = at.cudaup("p", &["use", "13.0"]);
    assert_eq!(used.code, Some(3));
    assert!(
        used.err.contains("CUDA 13.0 is not installed") && used.err.contains("try: cudaup install 13.0"),
        "{}",
        used.err
    );
    assert!(!at.path("p/.cuda-version").exists());
    let pinned = at.cudaup("p", &["use", "13.0", "--no-install"]);
    assert_eq!(pinned.code, Some(0), "{}", pinned.err);
    assert!(pinned.out.contains("next: cudaup install 13.0"), "{}", pinned.out);
    assert_eq!(fs::read_to_string(at.path("p/.cuda-version")).unwrap(), "13.0\n");
}

#[test]
fn use_keeps_comments_and_keys_and_writes_latest_as_a_version() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.managed("13.0.2");
    at.write("p/.cuda-version", "# ours\n12.4   # since May\ncpath = off\n");
    assert_eq!(at.cudaup("p", &["use", "latest"]).code, Some(0));
    assert_eq!(
        fs::read_to_string(at.path("p/.cuda-version")).unwrap(),
        "# ours\n13.0.2   # since May\ncpath = off\n"
    );
}

#[test]
fn use_in_the_home_directory_sets_the_default_unless_told_otherwise() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    let used = at.cudaup("home", &["use", "12.4"]);
    assert!(used.err.contains("is no project: this sets your default"), "{}", used.err);
    assert_eq!(fs::read_to_string(at.home().join("default")).unwrap(), "12.4\n");
    assert!(!at.path("home/.cuda-version").exists());
    assert_eq!(at.cudaup("home", &["use", "--pin", "12.4"]).code, Some(0));
    assert!(at.path("home/.cuda-version").exists());
}

#[test]
fn use_names_what_outranks_it_and_what_it_hides() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.managed("13.0.2");
    at.write("p/.cuda-version", "12.4\n");
    let below = at.cudaup("p/sub", &["use", "13.0"]);
    assert!(below.out.contains("p/.cuda-version (12.4) no longer holds here"), "{}", below.out);
    let default = at.cudaup("p", &["use", "--default", "13.0"]);
    assert!(default.out.contains("p/.cuda-version (12.4) holds all the same"), "{}", default.out);
    let outranked = at
        .command(at.home().join("bin/cudaup"), "p")
        .env("CUDAUP_VERSION", "13.0")
        .args(["use", "12.4"])
        .output()
        .unwrap();
    assert!(said(outranked).out.contains("CUDAUP_VERSION=13.0 outranks it in this shell"));
}

#[test]
fn newer_libraries_of_the_active_python_are_named_once() {
    let at = Sandbox::new();
    at.managed("12.1.1");
    at.write(
        "p/.venv/lib/python3.11/site-packages/torch/version.py",
        "__version__ = '2.5.1+cu124'\ncuda: Optional[str] = '12.4'\n",
    );
    let used = at.cudaup("p", &["use", "12.1"]);
    assert!(
        used.out.contains("torch 2.5.1+cu124 in ") && used.out.contains("`ld_library_path = off`"),
        "{}",
        used.out
    );
    at.managed("13.0.2");
    assert!(!at.cudaup("p", &["use", "13.0"]).out.contains("torch"));
}

#[test]
fn odd_pins_are_named_and_nothing_of_them_runs() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("home/.cudaup/default", "12.4\n");
    let current = |directory: &str| at.cudaup(directory, &["current"]);
    at.write("evil/.cuda-version", "$(touch x)`touch y`\n");
    at.write("large/.cuda-version", vec![b'1'; 10_000_000]);
    at.write("binary/.cuda-version", [0x7f, b'E', b'L', b'F', 0xff, 0xfe, 0]);
    at.write("utf16/.cuda-version", b"\xff\xfe1\x001\x00.\x008\x00");
    fs::create_dir_all(at.path("directory/.cuda-version")).unwrap();
    fs::create_dir_all(at.path("fifo")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at.path("fifo/.cuda-version"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    for (directory, words) in [
        ("evil", "is no CUDA version"),
        ("large", "larger than 64 KiB"),
        ("binary", "not UTF-8 text"),
        ("utf16", "UTF-16"),
        ("directory", "it is a directory"),
        ("fifo", "it is a FIFO"),
    ] {
        let said = current(directory);
        assert_eq!(said.code, Some(3), "{directory}: {}", said.err);
        let first = said.err.lines().next().unwrap();
        let file = at.path(directory).join(".cuda-version");
        assert!(first.contains(words) && first.contains(file.to_str().unwrap()), "{directory}: {first}");
    }
    // What is no file is not written over: the advice is what `use` itself says.
    fs::create_dir_all(at.path("dangling dir")).unwrap();
    std::os::unix::fs::symlink("nothing", at.path("dangling dir/.cuda-version")).unwrap();
    for (directory, verb) in [("directory", "mv "), ("fifo", "mv "), ("dangling dir", "rm '")] {
        let said = current(directory);
        let next = said.err.split_once("\ntry: ").map_or("", |(_, next)| next);
        assert!(next.starts_with(verb) && next.contains(".cuda-version"), "{directory}: {}", said.err);
        let mut shell = at.command("/bin/sh", directory);
        assert!(shell.args(["-c", next]).status().unwrap().success(), "{next}");
        let err = current(directory).err;
        assert!(!err.contains("could not read"), "{directory}: {err}");
    }
    assert!(!at.path("evil/x").exists() && !at.path("evil/y").exists());
}

#[test]
fn a_home_that_cannot_be_written_serves_readers_and_refuses_writers_at_once() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\n");
    fs::set_permissions(at.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(at.home(), fs::Permissions::from_mode(0o555)).unwrap();
    let as_other = |arguments: &[&str]| {
        // Nothing is read-only for root, who is therefore another user here.
        let mut command = if rustix::process::geteuid().is_root() {
            let mut command = at.command("/usr/bin/setpriv", "p");
            command
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(at.home().join("bin/cudaup"));
            command
        } else {
            at.command(at.home().join("bin/cudaup"), "p")
        };
        said(command.args(arguments).output().unwrap())
    };
    for arguments in
        [&["which", "nvcc"][..], &["list"], &["env", "--shell", "bash"], &["current"], &["hook", "bash"]]
    {
        let read = as_other(arguments);
        assert_eq!(read.code, Some(0), "{arguments:?}: {}", read.err);
    }
    let default = as_other(&["use", "--default", "12.4"]);
    assert_eq!(default.code, Some(1), "{default:?}");
    assert!(
        default.err.contains("could not write") && default.err.contains("permission denied"),
        "{}",
        default.err
    );
    fs::set_permissions(at.home(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_directory_that_is_gone_is_not_made_again() {
    let at = Sandbox::new();
    at.managed("13.0.2");
    let script = "mkdir -p gone && cd gone && rmdir ../gone && exec \"$0\" use 13.0";
    let mut command = at.command("/bin/sh", "p");
    let used = said(command.args(["-c", script]).arg(at.home().join("bin/cudaup")).output().unwrap());
    assert_eq!(used.code, Some(1), "{used:?}");
    assert!(used.err.contains("this directory no longer exists"), "{}", used.err);
    assert!(!at.path("p/gone").exists());
}

#[test]
fn names_of_directories_do_not_steer_the_terminal() {
    let at = Sandbox::new();
    at.write("d\u{1b}]0;pwn\u{7}/.cuda-version", "9.9\n");
    let current = at.cudaup("d\u{1b}]0;pwn\u{7}", &["current"]);
    assert_eq!(current.code, Some(3));
    assert!(current.err.contains("d\\u{1b}]0;pwn\\u{7}/.cuda-version:1"), "{}", current.err);
}

#[test]
fn errors_of_usage_are_json_too() {
    let at = Sandbox::new();
    for arguments in
        [&["use", "--json"][..], &["bogus", "--json"], &["config", "--json"], &["list", "12.x", "--json"]]
    {
        let said = at.cudaup("p", arguments);
        let json: serde_json::Value =
            serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {said:?}"));
        assert_eq!((said.code, json["error"]["code"].as_i64()), (Some(2), Some(2)), "{arguments:?}");
    }
}

#[test]
fn list_names_the_default_beside_what_is_pinned() {
    let at = Sandbox::new();
    at.managed("11.8.0");
    at.managed("12.4.1");
    at.write("home/.cudaup/default", "12.4\n");
    at.write("p/.cuda-version", "11.8\n");
    let listed = at.cudaup("p", &["list"]).out;
    let line = |version: &str| listed.lines().find(|l| l.contains(version)).unwrap_or_default().to_owned();
    assert!(line("11.8.0").starts_with("* ") && line("11.8.0").ends_with("pinned here"), "{listed}");
    assert!(line("12.4.1").starts_with("  ") && line("12.4.1").ends_with("your default"), "{listed}");
    assert_eq!(at.cudaup("none", &["list"]).out.matches("your default").count(), 1);
    let nothing = at.cudaup("p", &["list", "13"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (Some(3), ""));
    assert!(nothing.err.starts_with("error: no 13 is here\n"), "{}", nothing.err);
}

#[test]
fn quiet_leaves_out_what_was_done_and_not_what_was_asked() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    let used = at.cudaup("p", &["use", "-q", "12.4"]);
    assert_eq!((used.code, used.out.as_str(), used.err.as_str()), (Some(0), "", ""));
    assert!(at.cudaup("p", &["-q", "list"]).out.contains("12.4.1"));
    assert!(at.cudaup("p", &["-q", "use", "12.4", "--json"]).out.contains("\"request\": \"12.4\""));
}
