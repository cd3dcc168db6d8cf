//! `cudaup install --from` as a process: what is on this machine, in every form, and the cache that it passes through.

use crate::net::fault_server::{Answer, FaultServer};
use crate::sandbox::{Said, Sandbox, said};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// The forms, each with what is to be named.
const FORMS: [&str; 6] = ["tree", "cuda.tar", "cuda.tar.gz", "cuda.tgz", "cuda.tar.xz", "installer.run"];

/// Makes a toolkit in all forms below `where/`. `nvcc` says how its nvcc answers.
pub fn forms(at: &Sandbox, nvcc: &str) {
    let tree = at.toolkit("where/tree", "12.4.1");
    at.script("where/tree/bin/nvcc", nvcc);
    at.script("where/tree/nvvm/bin/cicc", "");
    at.write("where/tree/receipt.json", "{}");
    std::os::unix::fs::symlink("lib64", tree.join("lib")).unwrap();
    let top = at.path("where");
    let tar = |arguments: &[&str]| {
        let mut command = Command::new("tar");
        let status = command.current_dir(&top).args(arguments).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    tar(&["-cf", "cuda.tar", "tree"]);
    tar(&["-czf", "cuda.tar.gz", "tree"]);
    tar(&["-czf", "cuda.tgz", "-C", "tree", "."]);
    tar(&["-cJf", "cuda.tar.xz", "tree"]);
    // As NVIDIA's installer has it: a directory for each component, and things that are nobody's business.
    let target = if std::env::consts::ARCH == "aarch64" { "sbsa-linux" } else { "x86_64-linux" };
    for (from, to) in [
        ("bin", "cuda_nvcc/bin".to_owned()),
        ("nvvm", "cuda_nvcc/nvvm".to_owned()),
        ("lib64", format!("cuda_cudart/targets/{target}/lib")),
        ("include", format!("cuda_cudart/targets/{target}/include")),
    ] {
        let to = at.path("packed/builds").join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        assert!(Command::new("cp").arg("-r").arg(tree.join(from)).arg(&to).status().unwrap().success());
    }
    for (link, to) in [("lib64", "lib"), ("include", "include")] {
        for component in ["cuda_cudart", "cuda_nvcc"] {
            let link = at.path("packed/builds").join(component).join(link);
            std::os::unix::fs::symlink(format!("targets/{target}/{to}"), link).unwrap();
        }
    }
    at.write("packed/builds/nvidia_driver/libcuda.so.550", "driver");
    at.script("packed/cuda-installer", "touch \"$HOME/was-run\"");
    // Of an installer only the compiler tells the release.
    at.script("packed/builds/cuda_nvcc/bin/nvcc", &format!("{nvcc}\n# release 12.4, V12.4.131"));
    tar(&["-czf", "payload", "-C", "../packed", "."]);
    at.write("where/installer.run", makeself(&fs::read(top.join("payload")).unwrap()));
}

/// A script as makeself writes it, with an archive behind its last line.
fn makeself(payload: &[u8]) -> Vec<u8> {
    let size = payload.len();
    let script = format!(
        "#!/bin/sh\n# This script was generated using Makeself 2.4.2\n\nlabel=\"CUDA Installer\"\nscript=\"./cuda-installer\"\n\
         filesizes=\"{size}\"\nskip=\"9\"\n\nexit 1\n"
    );
    [script.as_bytes(), payload].concat()
}

pub const ANSWERS: &str =
    "case $1 in --version) echo 'Cuda compilation tools, release 12.4, V12.4.131';; esac";

fn install(at: &Sandbox, form: &str, more: &[&str]) -> Command {
    let mut command = at.command(at.home().join("bin/cudaup"), "where");
    command.args(["--offline", "install", "--from", form]).args(more);
    command
}

pub fn installed(at: &Sandbox, form: &str, more: &[&str]) -> Said {
    said(install(at, form, more).output().unwrap())
}

/// Every file below a directory, with what changes when somebody touches it.
fn state(folder: &Path) -> BTreeMap<PathBuf, (u32, u64, i64, i64)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let found = fs::symlink_metadata(entry.path()).unwrap();
        all.insert(entry.path(), (found.mode(), found.len(), found.mtime(), found.mtime_nsec()));
        if found.is_dir() {
            all.extend(state(&entry.path()));
        }
    }
    all
}

#[test]
fn a_toolkit_in_any_form_becomes_a_managed_one_and_stays_as_it_is() {
    let at = Sandbox::new();
    forms(&at, ANSWERS);
    let before = state(&at.path("where"));
    // A writer of the default that was killed two hours ago, and one that may be at it.
    let [dead, alive] = ["AbC123", "XyZ789"].map(|end| at.write(&format!("home/.cudaup/.cudaup-{end}"), ""));
    let old = SystemTime::now() - Duration::from_secs(2 * 3600);
    fs::File::options().write(true).open(&dead).unwrap().set_modified(old).unwrap();
    for form in FORMS {
        let done = installed(&at, form, &["12.4", "--no-verify"]);
        assert_eq!(done.code, Some(0), "{form}: {}", done.err);
        assert!(
            done.err.contains("from this machine") && done.err.contains("nothing to load"),
            "{}",
            done.err
        );
        let root = at.home().join("toolkits/12.4.1");
        for (file, mode) in [("bin/nvcc", 0o755), ("nvvm/bin/cicc", 0o755), ("lib64/libcudart.so", 0o644)] {
            assert_eq!(
                fs::metadata(root.join(file)).unwrap().permissions().mode() & 0o777,
                mode,
                "{form}: {file}"
            );
        }
        assert!(root.join("include/cuda.h").exists() && root.join("version.json").exists(), "{form}");
        let receipt: serde_json::Value =
            serde_json::from_slice(&fs::read(root.join("receipt.json")).unwrap()).unwrap();
        assert_eq!((&receipt["source"], &receipt["version"]), (&"local".into(), &"12.4.1".into()));
        assert_eq!(receipt["parts"][0]["url"], at.path("where").join(form).to_str().unwrap());
        assert!(!dead.exists() && alive.exists());
        assert!(!at.path("home/was-run").exists() && !root.join("libcuda.so.550").exists());
        let again = installed(&at, form, &[]);
        assert!(
            again.code == Some(0) && again.out.contains("12.4.1 is installed"),
            "{}{}",
            again.out,
            again.err
        );
        assert_eq!(at.cudaup("where", &["uninstall", "12.4.1", "--force"]).code, Some(0));
    }
    assert_eq!(state(&at.path("where")), before);
    assert_eq!(fs::read_dir(at.home().join("cache/downloads")).unwrap().count(), 0);
}

#[test]
fn another_version_than_what_is_there_is_refused_with_the_right_command() {
    let at = Sandbox::new();
    forms(&at, ANSWERS);
    for form in FORMS {
        let refused = installed(&at, form, &["11.8"]);
        assert_eq!(refused.code, Some(3), "{}", refused.err);
        assert!(refused.err.contains("holds CUDA 12.4.1, and 11.8 was asked for"), "{}", refused.err);
        assert!(refused.err.contains("try: cudaup install 12.4.1 --from /"), "{}", refused.err);
    }
    let both = installed(&at, "tree", &["--source", "pypi"]);
    assert!(
        both.code == Some(2) && both.err.contains("--from and --source do not go together"),
        "{}",
        both.err
    );
    let planned = installed(&at, "tree", &["--dry-run"]);
    assert!(planned.code == Some(0) && planned.out.contains("nothing was loaded"), "{}", planned.err);
    assert!(!at.home().join("toolkits").exists());
}

#[test]
fn of_two_installs_at_once_one_works_and_the_other_says_for_whom_it_waits() {
    for form in ["tree", "cuda.tar.xz", "installer.run"] {
        let at = Sandbox::new();
        let fifo = at.path("gate");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        // It answers when somebody has written there.
        forms(&at, &format!("case $1 in --version) read gate <'{}'; esac\n{ANSWERS}", fifo.display()));
        // Without a host compiler nothing more than nvcc's answer is tried.
        let start = |err: Stdio| {
            install(&at, form, &[]).env("PATH", "/none").stderr(err).stdout(Stdio::piped()).spawn()
        };
        let first = start(Stdio::null()).unwrap();
        // Opens when the first one's nvcc has opened it: it is at work now.
        let mut gate = fs::File::options().write(true).open(&fifo).unwrap();
        let mut second = start(Stdio::piped()).unwrap();
        let mut lines = BufReader::new(second.stderr.take().unwrap()).lines().map(Result::unwrap);
        let waiting = lines.find(|line| line.starts_with("waiting for toolkit 12.4.1: "));
        let waiting = waiting.unwrap_or_else(|| panic!("{form}: it has to say that it waits"));
        assert!(waiting.contains(&format!("pid {} on ", first.id())), "{waiting}");
        gate.write_all(b"go\n").unwrap();
        drop(gate);
        let first =
            said(first.wait_with_output().map(|o| std::process::Output { stderr: Vec::new(), ..o }).unwrap());
        assert!(first.code == Some(0) && first.out.contains("installed in "), "{form}: {}", first.out);
        let rest: Vec<String> = lines.collect();
        let second = said(second.wait_with_output().unwrap());
        assert!(
            second.code == Some(0) && second.out.contains("12.4.1 is installed"),
            "{form}: {rest:?} {}",
            second.out
        );
        assert_eq!(fs::read_dir(at.home().join("staging")).unwrap().count(), 0, "{form}");
    }
}

#[test]
fn under_any_umask_the_toolkit_is_readable_and_nobody_elses() {
    let at = Sandbox::new();
    forms(&at, ANSWERS);
    for (form, umask) in FORMS.iter().zip(["077", "000", "002"].iter().cycle()) {
        let script = format!("umask {umask}; exec \"$@\"");
        let mut command = at.command("/bin/sh", "where");
        command.args(["-c", &script, "sh"]).arg(at.home().join("bin/cudaup"));
        let done = said(command.args(["install", "--no-verify", "--from", form]).output().unwrap());
        assert_eq!(done.code, Some(0), "{}", done.err);
        let root = at.home().join("toolkits/12.4.1");
        for (path, (mode, ..)) in state(&root) {
            let wanted = if path.is_dir() { 0o055 } else { 0o044 };
            assert_eq!(mode & wanted, wanted, "{form}: {} has {mode:o}", path.display());
        }
        assert_eq!(fs::metadata(&root).unwrap().mode() & 0o7777, 0o755, "{form}, umask {umask}");
        assert_eq!(at.cudaup("where", &["uninstall", "12.4.1", "--force"]).code, Some(0));
    }
}

#[test]
fn an_address_is_loaded_looked_at_and_gone_on_with() {
    let at = Sandbox::new();
    forms(&at, ANSWERS);
    let server = FaultServer::start();
    let bytes = fs::read(at.path("where/cuda.tar.gz")).unwrap();
    let url = server.file("/a/cuda.tar.gz", &bytes);
    let run = |more: &[&str]| {
        let mut command = at.command(at.home().join("bin/cudaup"), "where");
        command.env("NO_PROXY", "127.0.0.1").args(["install", "--no-verify", "--from", &url]).args(more);
        said(command.output().unwrap())
    };
    let offline = run(&["--offline"]);
    assert!(offline.code == Some(4) && offline.err.contains("switched off"), "{}", offline.err);
    let planned = run(&["--dry-run"]);
    assert!(
        planned.code == Some(2) && planned.err.contains("not known before it is loaded"),
        "{}",
        planned.err
    );
    assert_eq!(server.count("/a/cuda.tar.gz"), 0);
    // What was loaded for a refused version is not loaded again.
    assert_eq!(run(&["11.8"]).code, Some(3));
    server.next("/a/cuda.tar.gz", &[Answer::Drop]);
    let done = run(&["12.4"]);
    // Once for its length, once for all of it.
    assert_eq!((done.code, server.count("/a/cuda.tar.gz")), (Some(0), 2), "{}", done.err);
    let receipt = fs::read_to_string(at.home().join("toolkits/12.4.1/receipt.json")).unwrap();
    assert!(receipt.contains(&url), "{receipt}");
    let cached = || fs::read_dir(at.home().join("cache/downloads")).unwrap().count();
    assert_eq!(cached(), 0);
    // It has to be loaded to tell that there is nothing to do.
    let again = run(&["12.4.1"]);
    assert!(again.code == Some(0) && again.out.contains("12.4.1 is installed"), "{}", again.err);
    assert_eq!(cached(), 0);
    // An installer comes the same way.
    assert_eq!(at.cudaup("where", &["uninstall", "12.4.1", "--force"]).code, Some(0));
    let url = server.file("/a/installer.run", &fs::read(at.path("where/installer.run")).unwrap());
    let mut command = at.command(at.home().join("bin/cudaup"), "where");
    let done = said(
        command
            .env("NO_PROXY", "127.0.0.1")
            .args(["install", "--no-verify", "--from", &url])
            .output()
            .unwrap(),
    );
    assert!(done.code == Some(0) && done.out.contains("toolkits/12.4.1"), "{}", done.err);
    assert_eq!(server.count("/a/installer.run"), 2);
    let page = server.file("/a/page.tar.gz", b"<html>log in</html>");
    let refused = said(
        at.command(at.home().join("bin/cudaup"), "where")
            .env("NO_PROXY", "127.0.0.1")
            .args(["install", "--from", &page])
            .output()
            .unwrap(),
    );
    assert!(refused.code == Some(4) && refused.err.contains("web page"), "{}", refused.err);
}

#[test]
fn a_directory_that_is_no_toolkit_is_not_taken_for_one() {
    let at = Sandbox::new();
    forms(&at, ANSWERS);
    let place = at.home().join("toolkits/12.4.1");
    fs::create_dir_all(place.join("photos")).unwrap();
    let words = "toolkits/12.4.1 is there, but it is no toolkit\n";
    for (arguments, code, words) in [
        (&["install", "12.4.1", "--offline"][..], 1, words),
        (&["use", "12.4.1"], 3, "cannot be used: it has no nvcc\n"),
        (&["use", "12.4"], 3, "cannot be used: it has no nvcc\n"),
    ] {
        let refused = at.cudaup("where", arguments);
        assert_eq!((refused.code, refused.out.as_str()), (Some(code), ""), "{arguments:?}: {}", refused.err);
        assert!(refused.err.contains(words), "{arguments:?}: {}", refused.err);
    }
    let refused = installed(&at, "tree", &["12.4", "--no-verify"]);
    assert!(refused.code == Some(1) && refused.err.contains(words), "{}", refused.err);
    assert!(place.join("photos").is_dir() && !at.path("where/.cuda-version").exists());
    fs::remove_dir_all(&place).unwrap();
    at.write("home/.cudaup/toolkits/12.4.1", "");
    let refused = installed(&at, "tree", &["12.4", "--no-verify"]);
    assert!(refused.code == Some(1) && refused.err.contains(words), "{}", refused.err);
}

#[test]
fn what_has_no_room_is_not_begun() {
    let at = Sandbox::new();
    at.write("where/x", "");
    let server = FaultServer::start();
    let url = server.file("/a/cuda.tar.gz", b"small");
    server.next(
        "/a/cuda.tar.gz",
        &[Answer::Status(
            206,
            "Content-Range: bytes 99999999999999999-99999999999999999/100000000000000000\r\n",
        )],
    );
    let mut command = at.command(at.home().join("bin/cudaup"), "where");
    let refused =
        said(command.env("NO_PROXY", "127.0.0.1").args(["install", "--from", &url]).output().unwrap());
    assert_eq!((refused.code, server.count("/a/cuda.tar.gz")), (Some(1), 1), "{}", refused.err);
    assert!(refused.err.contains(&format!(" for {url}: 100000000 GB are needed")), "{}", refused.err);
    assert_eq!(fs::read_dir(at.home().join("cache/downloads")).unwrap().count(), 0);
}

#[test]
fn wrong_bytes_behind_an_address_are_asked_for_again() {
    let at = Sandbox::new();
    forms(&at, ANSWERS);
    let server = FaultServer::start();
    let bytes = fs::read(at.path("where/cuda.tar")).unwrap();
    let url = server.file("/a/cuda.tar", &bytes);
    let run = || {
        let mut command = at.command(at.home().join("bin/cudaup"), "where");
        command.env("NO_PROXY", "127.0.0.1").args(["install", "12.4", "--no-verify", "--from", &url]);
        said(command.output().unwrap())
    };
    // The look finds the first out; of the second it sees enough, and the unpacking finds it out.
    for wrong in [bytes.iter().map(|b| b ^ 1).collect(), [&bytes[..], &[1; 512]].concat()] {
        server.file("/a/cuda.tar", &wrong);
        let refused = run();
        assert_eq!(refused.code, Some(5), "{}", refused.err);
        assert!(refused.err.contains(&format!("{url} can")), "{}", refused.err);
        assert!(!refused.err.contains("downloads"), "{}", refused.err);
        assert_eq!(fs::read_dir(at.home().join("cache/downloads")).unwrap().count(), 0);
    }
    server.file("/a/cuda.tar", &bytes);
    let done = run();
    assert_eq!(done.code, Some(0), "{}", done.err);
}

#[test]
fn the_cache_is_counted_and_emptied() {
    let at = Sandbox::new();
    assert_eq!(at.cudaup("p", &["cache"]).out, "the cache is empty: ~/.cudaup/cache\n");
    at.write("home/.cudaup/cache/downloads/a.whl", vec![0; 1_500_000]);
    at.write("home/.cudaup/cache/downloads/b.whl.part", vec![0; 250_000]);
    let size = at.cudaup("p", &["cache", "size"]);
    assert_eq!(
        size.out,
        "archives                 1.50 MB  1 file\n\
         part-finished downloads  250 kB   1 file\n\
         total                    1.75 MB  ~/.cudaup/cache\n\
         next: cudaup cache clean\n"
    );
    let json: serde_json::Value = serde_json::from_str(&at.cudaup("p", &["cache", "--json"]).out).unwrap();
    assert_eq!((&json["bytes"], &json["kinds"][0]["files"]), (&1_750_000.into(), &1.into()));
    assert_eq!(at.cudaup("p", &["clean"]).out, "1.75 MB freed: archives, part-finished downloads\n");
    assert_eq!(at.cudaup("p", &["cache", "clean"]).out, "there was nothing to remove\n");
}

#[test]
fn a_quota_is_named_as_one() {
    let at = Sandbox::new();
    forms(&at, ANSWERS);
    // The first file of the tree cannot be written.
    let full = at.home().join("staging/installing-12.4.1/bin/nvcc");
    let mut command = at.command("strace", "where");
    command.args(["-f", "-o", "/dev/null", "-e", "trace=write", "-e", "inject=write:error=EDQUOT", "-P"]);
    command.arg(&full).arg(at.home().join("bin/cudaup"));
    let Ok(output) = command.args(["install", "--no-verify", "--from", "tree"]).output() else {
        eprintln!("skipped: there is no strace to make a full quota with");
        return;
    };
    let output = said(output);
    if output.err.contains("PTRACE") || output.err.contains("ptrace") {
        eprintln!("skipped: nothing may be traced here");
        return;
    }
    assert_eq!(output.code, Some(1), "{}", output.err);
    assert!(
        output.err.contains(": disk quota exceeded\ntry: your quota on this file system is used up"),
        "{}",
        output.err
    );
    assert!(output.err.contains("CUDAUP_HOME=/another/disk/cudaup cudaup install"), "{}", output.err);
    assert_eq!(fs::read_dir(at.home().join("toolkits")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(at.home().join("staging")).unwrap().count(), 0);
}
