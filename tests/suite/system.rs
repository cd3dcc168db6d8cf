//! `install --system` and `uninstall --system`: toolkits for all users, under any umask, by root and by nobody.

use crate::fake::FakeIndex;
use crate::net::fault_server::Answer;
use crate::nobody::{as_nobody_with, is_root, reachable_program};
use crate::sandbox::{Said, Sandbox, said};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The address of a wheel.
fn nvvm() -> String {
    let machine = std::env::consts::ARCH;
    format!("/files/nvidia_nvvm-13.0.88-py3-none-manylinux2014_{machine}.manylinux_2_17_{machine}.whl")
}

pub struct Place {
    pub at: Sandbox,
    pub index: FakeIndex,
}

impl Place {
    pub fn new() -> Self {
        let at = Sandbox::new();
        fs::set_permissions(at.path(""), Permissions::from_mode(0o755)).unwrap();
        Self { at, index: FakeIndex::usual() }
    }

    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PIP_INDEX_URL", self.index.url()),
            ("NO_PROXY", "127.0.0.1".to_owned()),
            ("CUDAUP_DIST_SERVER", "http://127.0.0.1:1".to_owned()),
        ]
    }

    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = self.at.command(program.as_ref(), "project");
        command.envs(self.variables());
        command
    }

    pub fn cudaup(&self, line: &str) -> Said {
        let mut command = self.command(self.at.home().join("bin/cudaup"));
        said(command.args(line.split(' ')).output().unwrap())
    }

    pub fn install(&self, line: &str) -> Said {
        self.cudaup(&format!("install --system --profile minimal --no-verify {line}"))
    }

    pub fn root(&self) -> PathBuf {
        self.at.path("usr/local/cuda-13.0")
    }

    pub fn local(&self) -> Vec<String> {
        let entries = fs::read_dir(self.at.path("usr/local")).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// How often the index was asked for anything.
    pub fn asked(&self) -> usize {
        self.index.server.seen("/simple/cuda-toolkit/").len()
    }
}

/// What others cannot read or enter below a directory.
pub fn closed(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(path) = left.pop() {
        let entry = fs::symlink_metadata(&path).unwrap();
        let needed = if entry.is_dir() { 0o055 } else { 0o044 };
        if !entry.is_symlink() && entry.permissions().mode() & needed != needed {
            found.push(path.clone());
        }
        if entry.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        }
    }
    found
}

#[test]
fn a_toolkit_for_all_is_readable_under_any_umask_and_takes_nothing_over() {
    let place = Place::new();
    place.at.toolkit("usr/local/cuda-12.4", "12.4.1");
    symlink("cuda-12.4", place.at.path("usr/local/cuda")).unwrap();
    let mut shell = place.command("/bin/sh");
    let line = "umask 077; exec \"$0\" install --system 13.0 --profile minimal";
    let done = said(shell.args(["-c", line]).arg(place.at.home().join("bin/cudaup")).output().unwrap());
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains("/usr/local/cuda-13.0"), "{}", done.out);
    let next = "/usr/local/cuda stays as it is\nnext: cudaup use 13.0.3 (this project)   cudaup use --global 13.0.3 (all users)\n";
    assert!(done.out.ends_with(next), "{}", done.out);
    assert_eq!(closed(&place.root()), Vec::<PathBuf>::new());
    let mode = fs::metadata(place.root().join("bin/nvcc")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(fs::read_link(place.at.path("usr/local/cuda")).unwrap(), Path::new("cuda-12.4"));
    assert_eq!(place.local(), ["cuda", "cuda-12.4", "cuda-13.0"]);
    for none in ["toolkits", "default", "machine", "shims"] {
        assert!(!place.at.home().join(none).exists(), "{none}");
    }
    let list = place.cudaup("list");
    let row = list.out.lines().find(|line| line.contains("13.0.3")).unwrap().to_owned();
    assert!(row.contains("system") && row.contains("/usr/local/cuda-13.0") && row.contains("pypi"), "{row}");
    assert_eq!(place.cudaup("exec 13.0 -- nvcc --version").code, Some(0));

    let asked = place.asked();
    for again in ["13.0", "13.0.3", "cuda-13.0"] {
        let again = place.install(again);
        assert_eq!(again.code, Some(0), "{}", again.err);
        assert!(again.out.starts_with("13.0.3 is on this machine: "), "{}", again.out);
    }
    assert_eq!(place.asked(), asked, "what is there needs no network");
    let json = place.cudaup("install --system 13.0 --json").out;
    assert!(json.contains("\"kind\": \"system\"") && json.contains("\"state\": \"present\""), "{json}");
    // One that is found by a wider request is noticed once the source has said which it is.
    let wide = place.install("13");
    assert!(wide.out.starts_with("13.0.3 is on this machine: "), "{}{}", wide.out, wide.err);
}

#[test]
fn what_cudaup_did_not_put_there_is_never_touched() {
    let place = Place::new();
    let refused = |words: &str| {
        let before = place.local();
        let said = place.install("13.0");
        assert_eq!(said.code, Some(1), "{}", said.out);
        assert!(said.err.contains(words), "{}", said.err);
        assert_eq!((place.local(), place.asked()), (before, 0));
        let removed = place.cudaup("uninstall --system 13.0");
        assert!(matches!(removed.code, Some(1 | 3)), "{}", removed.out);
        assert!(fs::symlink_metadata(place.root()).is_ok());
    };
    place.at.toolkit("usr/local/cuda-13.0", "13.0.1");
    refused(
        "cuda-13.0 is there already and is left alone: it is CUDA 13.0.1, which cudaup did not put there",
    );
    fs::remove_dir_all(place.root()).unwrap();
    fs::create_dir(place.root()).unwrap();
    refused("cudaup did not put it there (it has no receipt.json)");
    fs::remove_dir(place.root()).unwrap();
    symlink("/opt/elsewhere", place.root()).unwrap();
    refused("it is a link");
    fs::remove_file(place.root()).unwrap();
    fs::write(place.root(), "").unwrap();
    refused("it is no directory");
}

#[test]
fn another_patch_release_is_said_with_what_to_do() {
    let place = Place::new();
    assert_eq!(place.install("13.0").code, Some(0));
    let receipt = place.root().join("receipt.json");
    let text = fs::read_to_string(&receipt).unwrap().replace("\"13.0.3\"", "\"13.0.2\"");
    fs::write(&receipt, text).unwrap();
    for line in ["13.0.3", "13.0 --upgrade", "13"] {
        let said = place.install(line);
        assert_eq!(said.code, Some(1), "{line}: {}", said.out);
        assert!(
            said.err.contains("it is CUDA 13.0.2, and there is one place for both"),
            "{line}: {}",
            said.err
        );
        let how = "cudaup uninstall --system 13.0.2 && cudaup install --system 13.0.3\n";
        assert!(said.err.contains(how), "{line}: {}", said.err);
    }
    assert!(place.install("13.0").out.starts_with("13.0.2 is on this machine: "));
    assert_eq!(place.local(), ["cuda-13.0"]);
}

#[test]
fn more_of_it_takes_its_place_and_a_failure_leaves_what_was_there() {
    let place = Place::new();
    assert_eq!(place.install("13.0").code, Some(0));
    place.index.server.next(&nvvm(), &[Answer::Wrong, Answer::Wrong]);
    let line = "install --system 13.0 --components cublas --no-verify";
    assert_eq!(place.cudaup(line).code, Some(5));
    assert_eq!(place.local(), ["cuda-13.0"]);
    assert!(!fs::read_to_string(place.root().join("receipt.json")).unwrap().contains("libcublas"));
    let grown = place.cudaup(line);
    assert_eq!(grown.code, Some(0), "{}", grown.err);
    assert!(fs::read_to_string(place.root().join("receipt.json")).unwrap().contains("libcublas"));
    assert_eq!(place.local(), ["cuda-13.0"]);
}

#[test]
fn a_dry_run_makes_nothing() {
    let place = Place::new();
    let said = place.install("13.0 --dry-run");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("nothing was loaded"), "{}", said.out);
    assert_eq!(place.local(), [""; 0]);
}

#[test]
fn what_a_kill_leaves_is_hidden_and_cleared_by_the_next() {
    let place = Place::new();
    place.index.server.next(&nvvm(), &[Answer::Stall(10)]);
    let mut command = place.command(place.at.home().join("bin/cudaup"));
    command.args(["install", "--system", "13.0", "--profile", "minimal", "--no-verify"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let staged = place.at.path("usr/local/.cudaup-staging/installing-13.0.3");
    let since = Instant::now();
    while !staged.join("include").exists() && !staged.join("bin").exists() {
        assert!(since.elapsed() < Duration::from_secs(120), "nothing was unpacked");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.local(), [".cudaup-staging"]);
    assert!(!place.cudaup("list").out.contains("13.0"));
    let done = place.install("13.0");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(place.local(), ["cuda-13.0"]);
}

#[test]
fn without_rights_the_exact_command_is_said() {
    let place = Place::new();
    reachable_program(&place.at);
    fs::set_permissions(place.at.path("usr/local"), Permissions::from_mode(0o555)).unwrap();
    let line = ["install", "--system", "13.0", "--profile", "minimal", "--no-verify"];
    let Some(said) = as_nobody_with(&place.at, &place.variables(), &line) else { return };
    assert_eq!(said.code, Some(1), "{}", said.out);
    assert!(
        said.err.contains("/usr/local is not yours to write, so that nothing was changed\ntry: sudo "),
        "{}",
        said.err
    );
    assert_eq!((place.local().len(), place.asked()), (0, 0));
    fs::set_permissions(place.at.path("usr/local"), Permissions::from_mode(0o755)).unwrap();
    let command = said.err.lines().find_map(|line| line.strip_prefix("try: sudo --preserve-env=")).unwrap();
    let (kept, command) = command.split_once(' ').unwrap();
    assert_eq!(kept, "NO_PROXY,PIP_INDEX_URL");
    assert!(
        command.ends_with("/bin/cudaup install --system 13.0 --profile minimal --no-verify"),
        "{command}"
    );
    // What sudo leaves of the environment.
    let mut shell = place.command("/bin/sh");
    let kept: Vec<&str> = kept.split(',').collect();
    for (name, _) in place.variables().iter().filter(|(name, _)| !kept.contains(name)) {
        shell.env_remove(name);
    }
    let ran = shell.env_remove("CUDAUP_SYSROOT").args(["-c", command]).output().unwrap();
    assert!(ran.status.success(), "{command}: {ran:?}");
    assert!(place.root().join("receipt.json").exists());
    if is_root() {
        let nvcc = place.root().join("bin/nvcc").display().to_string();
        let ran = as_nobody_with(&place.at, &[], &["exec", "13.0", "--", &nvcc, "--version"]).unwrap();
        assert_eq!(ran.code, Some(0), "others can run it: {}", ran.err);
        let removed = as_nobody_with(&place.at, &[], &["uninstall", "--system", "13.0"]).unwrap();
        assert_eq!(removed.code, Some(1));
        assert!(removed.err.contains("/bin/cudaup uninstall --system 13.0\n"), "{}", removed.err);
        assert!(place.root().join("receipt.json").exists());
    }
}

#[test]
fn uninstall_takes_it_away_unless_the_machines_link_leads_to_it() {
    let place = Place::new();
    assert_eq!(place.install("13.0").code, Some(0));
    place.at.toolkit("usr/local/cuda-12.4", "12.4.1");
    assert_eq!(place.cudaup("use --global 13.0").code, Some(0));
    let refused = place.cudaup("uninstall --system 13.0");
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("/usr/local/cuda leads to CUDA 13.0.3: "), "{}", refused.err);
    assert_eq!(place.cudaup("use --global 12.4").code, Some(0));
    for (text, code) in [("12.4", 1), ("12.9", 3), ("mine", 2)] {
        assert_eq!(place.cudaup(&format!("uninstall --system {text}")).code, Some(code), "{text}");
    }
    // Without the option it is somebody else's.
    assert_eq!(place.cudaup("uninstall 13.0").code, Some(1));
    fs::write(place.root().join("include/cudnn.h"), "").unwrap();
    let kept = place.cudaup("uninstall --system 13.0");
    assert_eq!(kept.code, Some(1), "{}", kept.out);
    let named =
        "has files that cudaup did not put there, and was left alone (--force removes them, too): targets/";
    assert!(kept.err.contains(named), "{}", kept.err);
    fs::remove_file(place.root().join("include/cudnn.h")).unwrap();
    let removed = place.cudaup("uninstall --system 13 13.0");
    assert_eq!(removed.code, Some(0), "{}", removed.err);
    assert!(removed.out.starts_with("removed 13.0.3, "), "{}", removed.out);
    assert_eq!(removed.out.lines().count(), 1, "{}", removed.out);
    assert_eq!(place.local(), [".cudaup-global.json", "cuda", "cuda-12.4"]);
}

#[test]
fn a_managed_toolkit_that_the_machines_link_leads_to_is_kept() {
    let place = Place::new();
    place.at.managed("12.4.1");
    assert_eq!(place.cudaup("use --global 12.4").code, Some(0));
    let refused = place.cudaup("uninstall 12.4");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("/usr/local/cuda leads to this CUDA 12.4.1, for all users: "),
        "{}",
        refused.err
    );
    let done = place.cudaup("uninstall 12.4 --force");
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains("/usr/local/cuda leads nowhere now, for all users\nnext: "), "{}", done.out);
}

#[test]
fn a_link_that_leads_nowhere_afterwards_is_told_and_what_is_advised_leads_on() {
    let place = Place::new();
    assert_eq!(place.install("13.0").code, Some(0));
    assert_eq!(place.cudaup("use --global 13.0").code, Some(0));
    // Copies: one is of another release by its receipt, the other has a name that cudaup gives to none.
    let copy = |name: &str, version: &str| {
        let root = place.at.path("usr/local").join(name);
        let copied = Command::new("/bin/cp").arg("-a").arg(place.root()).arg(&root).status().unwrap();
        assert!(copied.success());
        let receipt = fs::read_to_string(root.join("receipt.json")).unwrap().replace("13.0.3", version);
        fs::write(root.join("receipt.json"), receipt).unwrap();
    };
    copy("cuda-13.1", "13.1.0");
    copy("cuda-13", "13.0.3");
    let refused = place.cudaup("uninstall --system 13 --force");
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    let next: Vec<&str> =
        refused.err.lines().filter_map(|l| l.split_once("cudaup uninstall ")).map(|l| l.1).collect();
    assert_eq!(next, ["--system --force 13.0.3", "--system --force 13.1.0"], "{}", refused.err);
    let done = place.cudaup(&format!("uninstall {}", next[0]));
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains("/usr/local/cuda leads nowhere now, for all users\nnext: "), "{}", done.out);
    let done = place.cudaup(&format!("uninstall {}", next[1]));
    assert!(done.code == Some(0) && !done.out.contains("nowhere"), "{}{}", done.out, done.err);
    assert_eq!(place.local(), [".cudaup-global.json", "cuda", "cuda-13"]);
}

#[test]
fn a_real_toolkit_is_proved_and_compiles_for_others_by_the_machines_path() {
    let tree = std::env::var_os("CUDAUP_TEST_TREES").map(|trees| Path::new(&trees).join("12.4"));
    let Some(tree) = tree.filter(|tree| tree.join("bin/nvcc").exists()) else {
        eprintln!("skipped: CUDA 12.4 (CUDAUP_TEST_TREES does not have it; tests/run makes it)");
        return;
    };
    let place = Place::new();
    let done = place.cudaup(&format!("install --system 12.4 --from {}", tree.display()));
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains("proved with g++"), "{}{}", done.out, done.err);
    assert_eq!(closed(&place.at.path("usr/local/cuda-12.4")), Vec::<PathBuf>::new());
    assert_eq!(place.cudaup("use --global 12.4").code, Some(0));
    reachable_program(&place.at);
    let out = place.at.path("open");
    fs::create_dir_all(&out).unwrap();
    fs::set_permissions(&out, Permissions::from_mode(0o777)).unwrap();
    place.at.write("open/a.cu", "int main() { return 0; }\n");
    let link = place.at.path("usr/local/cuda/bin/nvcc").display().to_string();
    let (source, program) = (out.join("a.cu").display().to_string(), out.join("a").display().to_string());
    let Some(compiled) = as_nobody_with(
        &place.at,
        &[("TMPDIR", out.display().to_string())],
        &["exec", "12.4", "--", &link, &source, "-o", &program],
    ) else {
        return;
    };
    assert_eq!(compiled.code, Some(0), "{}{}", compiled.out, compiled.err);
    assert!(Command::new(&program).status().unwrap().success());
    assert_eq!(place.cudaup("uninstall --system 12.4 --force").code, Some(0));
    assert!(!place.at.path("usr/local/cuda-12.4").exists());
}
