//! Places where a toolkit was looked for and none can serve: each is listed with its reason in one line, is never chosen
//! where nobody names it, and holds nothing up.

use crate::sandbox::{Sandbox, said};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// `directory's name: what is wrong` of each toolkit that is listed, by the JSON's one word.
fn reasons(at: &Sandbox, set: &[(&str, &str)]) -> Vec<String> {
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    let listed = said(command.args(["list", "--json"]).envs(set.iter().copied()).output().unwrap());
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    let row = |r: &Value| {
        let root = r["root"].as_str().unwrap().rsplit('/').next().unwrap();
        format!("{root}: {}", r["broken"].as_str().unwrap_or("fine"))
    };
    listed["toolkits"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn odd_names_neither_break_the_table_nor_reach_a_list() {
    let at = Sandbox::new();
    for (name, version) in [("a b", "12.1.0"), ("co:lon", "13.0.2"), ("new\nline", "12.8.1")] {
        at.toolkit(&format!("srv/{name}"), version);
    }
    let odd = at.path("srv").join(OsStr::from_bytes(b"\xff\xfe"));
    fs::rename(at.toolkit("srv/x", "12.6.3"), &odd).unwrap();
    at.write("home/.cudaup/default", "roots = /srv\n");
    let listed = at.cudaup("p", &["list"]).out;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 4, "{listed}");
    let line = |part: &str| *lines.iter().find(|line| line.contains(part)).unwrap();
    for name in ["co:lon", "new\\nline"] {
        assert!(line(name).contains("broken: its path has `:` or a line end"), "{listed}");
    }
    assert!(
        line("a b").starts_with("  12.1.0") && lines.iter().any(|l| l.starts_with("* 12.6.3")),
        "{listed}"
    );
    // A path that is no text reaches the program as its bytes.
    for request in [&["exec"][..], &["exec", "12"], &["exec", "latest"]] {
        let mut command = at.command(at.home().join("bin/cudaup"), "p");
        let seen = command.args(request).args(["--", "printenv", "CUDA_HOME"]).output().unwrap();
        assert_eq!(seen.stdout, [odd.as_os_str().as_bytes(), b"\n"].concat(), "{request:?}");
    }
    let refused = at.cudaup("p", &["exec", "12.8", "--", "true"]);
    assert_eq!(refused.code, Some(3));
    assert!(refused.err.lines().next().unwrap().ends_with("name it)"), "{}", refused.err);
}

#[test]
fn links_are_followed_to_where_they_end() {
    let at = Sandbox::new();
    at.toolkit("usr/local/cuda-11.8", "11.8.0");
    fs::create_dir_all(at.path("etc/alternatives")).unwrap();
    for (link, target) in [
        ("usr/local/cuda", "/etc/alternatives/cuda"),
        ("etc/alternatives/cuda", "/usr/local/cuda-12.6"),
        ("usr/local/cuda-12.1", "../cuda-gone"),
        ("usr/local/cuda-12.2", "other"),
        ("usr/local/other", "cuda-12.2"),
        ("usr/local/cuda-12.3", "/usr/local/cuda-12.3"),
    ] {
        symlink(target, at.path(link)).unwrap();
    }
    at.write("usr/local/cuda-12.7", "a file");
    let all =
        ["cuda: dangling-link", "cuda-11.8: fine", "cuda-12.1: dangling-link", "cuda-12.2: link-circle"];
    assert_eq!(reasons(&at, &[])[..4], all);
    assert_eq!(reasons(&at, &[])[4..], ["cuda-12.3: link-circle"]);
    let listed = at.cudaup("p", &["list"]).out;
    let gone = at.path("usr/local/cuda-12.6");
    assert!(listed.contains(&format!("it leads to {}, which is not there", gone.display())), "{listed}");
    let root = at.path("usr/local/cuda-11.8");
    assert_eq!(at.cudaup("p", &["which", "--root"]).out, format!("{}\n", root.display()));
    // A name that was given to a tree which is gone is told to whoever asks for its version.
    let linked = at.cudaup("p", &["link", "old", root.to_str().unwrap()]);
    assert_eq!(linked.code, Some(0), "{}", linked.err);
    fs::remove_dir_all(&root).unwrap();
    let refused = at.cudaup("p", &["exec", "11.8", "--", "nvcc"]);
    assert!(
        refused.err.contains("old (missing: ") && refused.err.contains("was removed)"),
        "{}",
        refused.err
    );
}

#[test]
fn an_nvcc_that_cannot_run_is_no_choice() {
    let at = Sandbox::new();
    at.toolkit("usr/local/cuda-11.8", "11.8.0");
    for version in ["12.1.0", "12.2.0", "12.3.0", "12.4.1"] {
        let release = version.rsplit_once('.').unwrap().0;
        at.toolkit(&format!("usr/local/cuda-{release}"), version);
    }
    let nvcc = |release: &str| at.path(&format!("usr/local/cuda-{release}/bin/nvcc"));
    fs::write(nvcc("12.1"), "").unwrap();
    at.script("usr/local/cuda-12.2/bin/nvcc", "exec /opt/gone/ccache nvcc.real \"$@\"");
    fs::remove_file(nvcc("12.3")).unwrap();
    fs::create_dir(nvcc("12.3")).unwrap();
    // What only the program itself could tell, and does not.
    at.script("usr/local/cuda-12.4/bin/nvcc", "x=boom; echo $x; exit 3");
    for file in ["version.json", "lib64/libcudart.so"] {
        fs::remove_file(at.path("usr/local/cuda-12.4").join(file)).unwrap();
    }
    let reason = |set: &[(&str, &str)]| reasons(&at, set);
    let all = [
        "cuda-11.8: fine",
        "cuda-12.1: nvcc-no-program",
        "cuda-12.2: nvcc-gone",
        "cuda-12.3: nvcc-no-program",
        "cuda-12.4: nvcc-fails",
    ];
    assert_eq!(reason(&[]), all);
    let root = at.path("usr/local/cuda-11.8");
    assert_eq!(at.cudaup("p", &["which", "--root"]).out, format!("{}\n", root.display()));
    let refused = at.cudaup("p", &["exec", "12.1", "--", "nvcc"]);
    assert_eq!(refused.code, Some(3));
    assert!(refused.err.contains("cuda-12.1 (broken: its nvcc is no program)"), "{}", refused.err);
    // A module that was loaded where its tree is gone.
    let gone = at.path("apps/CUDA/12.9");
    let module = [("LOADEDMODULES", "CUDA/12.9"), ("EBROOTCUDA", gone.to_str().unwrap())];
    assert_eq!(reason(&module)[5..], ["12.9: gone"]);
}

#[test]
fn a_managed_toolkit_is_judged_as_any_other() {
    let at = Sandbox::new();
    at.managed("11.8.0");
    at.toolkit("usr/local/cuda-12.5", "12.5.0");
    for version in ["12.1.1", "12.2.2", "12.3.2", "12.4.1"] {
        at.managed(version);
    }
    let place = |version: &str| at.home().join("toolkits").join(version);
    fs::remove_dir_all(place("12.1.1")).unwrap();
    fs::create_dir_all(place("12.1.1/photos")).unwrap();
    cut(&place("12.2.2/bin/nvcc"));
    cut(&at.path("usr/local/cuda-12.5/bin/nvcc"));
    fs::set_permissions(place("12.3.2/bin/nvcc"), fs::Permissions::from_mode(0o644)).unwrap();
    // Part by part there are toolkits without a compiler.
    fs::remove_file(place("12.4.1/bin/nvcc")).unwrap();
    let all = [
        "12.4.1: fine",
        "12.3.2: nvcc-not-executable",
        "12.2.2: nvcc-cut-short",
        "12.1.1: no-nvcc",
        "11.8.0: fine",
        "cuda-12.5: nvcc-cut-short",
    ];
    assert_eq!(reasons(&at, &[]), all);
    assert!(at.cudaup("p", &["list"]).out.contains("broken: its nvcc is cut short"));
    let mended = "cudaup uninstall --force 12.2.2 && cudaup install 12.2.2";
    for (version, why, next) in [
        ("12.2", "its nvcc is cut short", mended),
        ("12.1.1", "it has no nvcc", "12.1.1.old && cudaup install 12.1.1"),
    ] {
        let refused = at.cudaup("p", &["use", version]);
        assert_eq!(refused.code, Some(3), "{}", refused.err);
        let said = [format!("cannot be used: {why}\n"), format!("{next}\n")];
        assert!(said.iter().all(|said| refused.err.contains(said)), "{version}: {}", refused.err);
    }
    let refused = at.cudaup("p", &["install", "12.2.2", "--offline"]);
    assert!(refused.err.contains("is there, but its nvcc is cut short\ntry: "), "{}", refused.err);
    assert!(refused.err.contains("force 12.2.2 && cudaup install 12.2.2 --offline"), "{}", refused.err);
    assert_eq!(at.cudaup("p", &["use", "--global", "12.5"]).code, Some(3));
    at.write("p/.cuda-version", "12.2.2\n");
    at.cudaup("p", &["rehash"]);
    let shim = at.shim("nvcc", "p", |_| ());
    assert!(shim.code == Some(127) && shim.err.contains("its nvcc is cut short"), "{}", shim.err);
    // One that is asked for by its release alone gives way to what serves.
    fs::remove_dir_all(place("12.4.1")).unwrap();
    let root = format!("{}\n", place("11.8.0").display());
    fs::remove_file(at.path("p/.cuda-version")).unwrap();
    at.write("home/.cudaup/default", "latest\n");
    assert_eq!(at.cudaup("p", &["which", "--root"]).out, root);
    assert_eq!(at.cudaup("p", &["uninstall", "12.2.2"]).code, Some(0));
}

/// Puts the first half of a real program there.
fn cut(nvcc: &Path) {
    let whole = fs::read("/bin/sh").unwrap();
    fs::write(nvcc, &whole[..whole.len() / 2]).unwrap();
}

#[test]
fn what_a_user_cannot_reach_is_not_said_to_be_gone() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can look as another user");
        return;
    }
    let at = Sandbox::new();
    fs::set_permissions(at.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let private = at.toolkit("private/cuda-12.9", "12.9.1");
    symlink(&private, at.path("usr/local/cuda")).unwrap();
    at.toolkit("usr/local/cuda-12.4", "12.4.1");
    at.toolkit("usr/local/cuda-12.5", "12.5.1");
    at.toolkit("srv/cudaup/toolkits/12.6.3", "12.6.3");
    at.write("home/.cudaup/default", "roots = /srv/cudaup\n");
    for closed in ["private", "usr/local/cuda-12.5/bin", "srv/cudaup/toolkits"] {
        fs::set_permissions(at.path(closed), fs::Permissions::from_mode(0o700)).unwrap();
    }
    let as_another = |arguments: &[&str]| {
        let mut other = at.command("/usr/bin/setpriv", "p");
        other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(at.home().join("bin/cudaup"));
        other.env("EBROOTCUDA", &private).args(arguments);
        said(other.output().unwrap())
    };
    let listed = as_another(&["list"]);
    let line = |part: &str| listed.out.lines().find(|l| l.contains(part)).unwrap_or_default().to_owned();
    assert!(line("usr/local/cuda ").contains("which this user cannot reach"), "{}", listed.out);
    for closed in ["cuda-12.5", "srv/cudaup/toolkits", "(environment module CUDA)"] {
        assert!(line(closed).contains("broken: its directory cannot be read"), "{}", listed.out);
    }
    assert!(line("cuda-12.4").starts_with("* 12.4.1"), "{}", listed.out);
    assert!(!listed.out.contains("which is not there"), "{}", listed.out);
    let chosen = format!("{}\n", at.path("usr/local/cuda-12.4").display());
    assert_eq!(as_another(&["which", "--root"]).out, chosen);
}
