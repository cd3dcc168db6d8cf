//! `cudaup install` as a process: against an index that serves, stalls and ends, on disks that are full or read-only.

use crate::fake::{CLOSURE, FakeIndex, Form, wheel};
use crate::net::fault_server::Answer;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Long enough for a machine under load; only a test that has hung gets here.
const PATIENCE: Duration = Duration::from_secs(120);

const BIG: &str = "/files/nvidia_nvvm-13.0.88.post1-py3-none-any.whl";

struct Place {
    root: TempDir,
    index: FakeIndex,
}

impl Place {
    fn new(index: FakeIndex) -> Self {
        Self { root: TempDir::new().unwrap(), index }
    }

    /// A home whose name has what shells and careless programs stumble over.
    fn home(&self) -> PathBuf {
        self.root.path().join("it's a \"home\" $HOME")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.root.path());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.home());
        command.env("PIP_INDEX_URL", self.index.url()).env("CUDAUP_SYSROOT", self.root.path().join("sys"));
        command.env("NO_PROXY", "127.0.0.1").env("CUDAUP_DIST_SERVER", "http://127.0.0.1:1");
        command
    }

    fn cudaup(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_cudaup"));
        command.args(arguments);
        command
    }

    fn install(&self) -> Command {
        self.cudaup(&["install", "13.0", "--profile", "minimal", "--no-verify"])
    }

    fn toolkit(&self) -> PathBuf {
        self.home().join(".cudaup/toolkits/13.0.3")
    }

    fn count(&self, directory: &str) -> usize {
        fs::read_dir(self.home().join(".cudaup").join(directory)).map_or(0, Iterator::count)
    }
}

/// Bytes in no order; `mask` says how much there is in each.
fn noise(length: usize, mask: u8) -> Vec<u8> {
    let mut state = 1_u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_le_bytes()[6] & mask
    };
    (0..length).map(next).collect()
}

/// The closure, with an nvvm of three million bytes that do not get smaller.
fn index_with_a_big_wheel() -> FakeIndex {
    let mut index = FakeIndex::usual();
    let noise = noise(3_000_000, u8::MAX);
    let bytes = wheel(&[
        ("nvidia/cu13/nvvm/bin/cicc", b"#!/bin/sh\n", 0o744),
        ("nvidia/cu13/lib/libnvvm.so.4", &noise, 0o644),
    ]);
    index.add("nvidia-nvvm", BIG.trim_start_matches("/files/"), &bytes);
    index.publish(Form::Json);
    index
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap()
}

/// Waits for a condition that another process brings about.
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

/// The bytes of the big wheel that are on disk.
fn loaded(place: &Place) -> u64 {
    let downloads = place.home().join(".cudaup/cache/downloads");
    let Ok(entries) = fs::read_dir(downloads) else { return 0 };
    let big = entries.flatten().filter(|e| e.file_name().to_string_lossy().starts_with("nvidia_nvvm"));
    big.filter_map(|e| Some(e.metadata().ok()?.len())).max().unwrap_or(0)
}

/// How many wheels are loaded.
fn whole(place: &Place) -> usize {
    let Ok(entries) = fs::read_dir(place.home().join(".cudaup/cache/downloads")) else { return 0 };
    entries.flatten().filter(|e| e.file_name().to_string_lossy().ends_with(".whl")).count()
}

/// Starts an install whose big wheel stops coming after half its bytes, and waits until these and all others are there.
fn stalled(place: &Place) -> Child {
    // On a busy machine the others can take longer than it waits for a server that has fallen silent.
    place.index.server.next(BIG, &vec![Answer::Stall(1_500_000); 9]);
    let child = place.install().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("half a wheel, and all others", || loaded(place) >= 1_000_000 && whole(place) == CLOSURE.len() - 1);
    place.index.server.next(BIG, &[]);
    child
}

/// A toolkit that is asked for with more takes the place of what is there, and has both then.
#[test]
fn more_of_an_installed_toolkit_comes_to_what_is_there() {
    let place = Place::new(FakeIndex::usual());
    run(&mut place.install());
    fs::write(place.toolkit().join("mark"), "the old one").unwrap();
    let args = ["install", "13.0", "--components", "cublas", "--no-verify"];
    // What somebody has put into it is not lost.
    let refused = run(&mut place.cudaup(&args));
    let err = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && err.contains("which would be lost: mark\n"), "{err}");
    let hint = "try: cudaup uninstall --force 13.0.3 && cudaup install 13.0.3 --profile minimal --components libcublas,";
    assert!(err.contains(hint) && place.toolkit().join("mark").exists(), "{err}");
    fs::remove_file(place.toolkit().join("mark")).unwrap();
    let grown = run(&mut place.cudaup(&args));
    let err = text(&grown.stderr);
    assert_eq!(grown.status.code(), Some(0), "{err}");
    assert!(err.contains("13.0.3 is there with less: it is made anew and takes its place\n"), "{err}");
    let receipt = fs::read_to_string(place.toolkit().join("receipt.json")).unwrap();
    assert!(receipt.contains("\"libcublas\"") && receipt.contains("\"minimal\""), "{receipt}");
    assert!(place.toolkit().join("bin/nvcc").exists());
    assert_eq!((place.count("toolkits"), place.count("staging")), (1, 0));
    let again = run(&mut place.cudaup(&args));
    assert!(text(&again.stdout).starts_with("13.0.3 is installed "), "{}", text(&again.stdout));
}

#[test]
fn from_nothing_to_a_toolkit() {
    let place = Place::new(FakeIndex::usual());
    let output = run(&mut place.install());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(out.starts_with("installed in ") && out.contains("~/.cudaup/toolkits/13.0.3"), "{out}");
    assert!(out.ends_with("13.0.3 is your default now\nnext: cudaup use 13.0.3 (this project)\n"), "{out}");
    assert!(err.contains("13.0.3, minimal profile, from pypi: 6 parts, "), "{err}");
    let output = run(place.command(place.toolkit().join("bin/nvcc").to_str().unwrap()).arg("--version"));
    assert!(text(&output.stdout).contains("V13.0.88"));

    let again = run(&mut place.cudaup(&["install", "13", "--json"]));
    let json: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(json["toolkits"][0]["state"], "present");
    let listed = text(&run(&mut place.cudaup(&["list"])).stdout);
    assert!(listed.contains("13.0.3") && listed.contains("pypi"), "{listed}");
    let gone = run(&mut place.cudaup(&["uninstall", "13.0.3", "--force"]));
    assert_eq!(gone.status.code(), Some(0), "{}", text(&gone.stderr));
    assert_eq!((place.count("toolkits"), place.count("staging")), (0, 0));
}

#[test]
fn an_interrupted_install_is_gone_on_with() {
    let place = Place::new(index_with_a_big_wheel());
    let mut child = stalled(&place);
    signal(&child, rustix::process::Signal::INT);
    assert!(!child.wait().unwrap().success());
    assert_eq!(place.count("toolkits"), 0);
    let had = loaded(&place);
    let output = run(&mut place.install());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let requests = place.index.server.seen(BIG);
    assert_eq!(
        requests.last().unwrap().range.as_deref(),
        Some(format!("bytes={had}-").as_str()),
        "{requests:?}"
    );
    assert!(place.toolkit().join("version.json").exists());
    assert_eq!((place.count("staging"), place.count("cache/downloads")), (0, 0));
}

#[test]
fn a_second_install_says_for_whom_it_waits_and_takes_over_from_the_dead() {
    let place = Place::new(index_with_a_big_wheel());
    let mut first = stalled(&place);
    let mut second = place.install().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines().map(Result::unwrap);
    let waiting = lines.find(|l| l.starts_with("waiting for toolkit 13.0.3: "));
    let waiting = waiting.expect("it has to say that it waits");
    assert!(waiting.contains(&format!("pid {} on ", first.id())), "{waiting}");
    signal(&first, rustix::process::Signal::KILL);
    first.wait().unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(second.wait().unwrap().success(), "{rest:?}");
    assert!(place.toolkit().join("version.json").exists());
    for (project, version) in CLOSURE.iter().filter(|(p, _)| *p != "nvidia-nvvm") {
        let name = project.replace('-', "_");
        let machine = std::env::consts::ARCH;
        let tags = format!("manylinux2014_{machine}.manylinux_2_17_{machine}");
        let path = format!("/files/{name}-{version}-py3-none-{tags}.whl");
        assert_eq!(place.index.server.count(&path), 1, "{path} is fetched once");
    }
}

/// Runs an install with a file system of its own in the place of the home; `None` where that is not possible here.
fn on_a_disk(place: &Place, options: &str) -> Option<Output> {
    mounted(place, "", options)
}

/// The same in the place of a directory below the home.
fn mounted(place: &Place, below: &str, options: &str) -> Option<Output> {
    fs::create_dir_all(place.home().join(below)).unwrap();
    let script = "mount -t tmpfs -o \"$1\" tmpfs \"$HOME/$2\" || exit 99; shift 2; \"$@\"; code=$?
        echo \"left: $(ls -A \"$HOME/.cudaup/staging\" \"$HOME/.cudaup/toolkits\" 2>/dev/null | tr '\\n' ' ')\"; exit $code";
    let mut command = place.command("unshare");
    command.args(["-rm", "sh", "-c", script, "sh", options, below, env!("CARGO_BIN_EXE_cudaup")]);
    command.args(["install", "13.0", "--profile", "minimal", "--no-verify"]);
    match command.output() {
        Ok(output) if output.status.code() != Some(99) && !text(&output.stderr).starts_with("unshare:") => {
            Some(output)
        }
        other => {
            eprintln!("skipped: no private mounts here: {other:?}");
            None
        }
    }
}

#[test]
fn too_small_a_disk_is_refused_before_the_first_byte() {
    let place = Place::new(index_with_a_big_wheel());
    let Some(output) = on_a_disk(&place, "size=2m") else { return };
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error: not enough room in ") && err.contains("MB are free"), "{err}");
    assert_eq!(place.index.server.count(BIG), 0);
}

#[test]
fn a_disk_that_fills_up_leaves_no_half_toolkit() {
    let mut index = FakeIndex::usual();
    // It gets eight times smaller, and nvvm is thought to get two and a half times.
    let swelling = noise(8_000_000, 1);
    let bytes = wheel(&[("nvidia/cu13/lib/libnvvm.so.4", &swelling, 0o644)]);
    index.add("nvidia-nvvm", BIG.trim_start_matches("/files/"), &bytes);
    index.publish(Form::Json);
    let place = Place::new(index);
    let Some(output) = on_a_disk(&place, "size=6m") else { return };
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.to_lowercase().contains("no space left"), "{err}");
    assert!(
        text(&output.stdout).lines().any(|l| l.contains("left:") && !l.contains("13.0.3 ")),
        "{output:?}"
    );
}

#[test]
fn toolkits_on_another_disk_need_room_there_and_its_cause_is_said() {
    let place = Place::new(index_with_a_big_wheel());
    let Some(output) = mounted(&place, ".cudaup/toolkits", "size=2m") else { return };
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error: not enough room in ") && err.contains("/toolkits for 13.0.3"), "{err}");
    assert_eq!(place.index.server.count(BIG), 0);

    let mut index = FakeIndex::usual();
    let bytes = wheel(&[("nvidia/cu13/lib/libnvvm.so.4", &noise(8_000_000, 1), 0o644)]);
    index.add("nvidia-nvvm", BIG.trim_start_matches("/files/"), &bytes);
    index.publish(Form::Json);
    let place = Place::new(index);
    let Some(output) = mounted(&place, ".cudaup/toolkits", "size=6m") else { return };
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error: could not copy ") && err.contains(": no space left on device"), "{err}");
    // Nothing half copied stays, and what was loaded does.
    assert!(!text(&output.stdout).contains("13.0.3"), "{output:?}");
    assert_eq!(place.count("cache/downloads"), CLOSURE.len());
}

#[test]
fn a_read_only_home_is_said_at_once() {
    let place = Place::new(FakeIndex::usual());
    let Some(output) = on_a_disk(&place, "ro") else { return };
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("error: could not ") && err.contains("read-only file system"), "{err}");
}

#[test]
fn no_network_is_exit_4_and_changes_nothing() {
    let place = Place::new(FakeIndex::usual());
    let mut command = place.install();
    command.env("PIP_INDEX_URL", "http://me:secret@127.0.0.1:1/simple");
    let output = run(&mut command);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(err.contains("http://127.0.0.1:1/simple") && err.contains("PIP_INDEX_URL"), "{err}");
    assert!(!err.contains("secret"), "{err}");
    assert!(!Path::new(&place.home()).join(".cudaup").exists());
}

#[test]
fn what_ends_cudaup_in_the_proof_ends_the_compiler_and_keeps_what_was_loaded() {
    use std::os::unix::process::CommandExt;
    let root = TempDir::new().unwrap();
    let fifo = root.path().join("alive");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // It holds the FIFO open, as does the child that it waits for.
    // In the foreground: a shell's background jobs ignore the signal, and no compiler works in one.
    let nvcc = format!("#!/bin/sh\nexec 3>'{}'\nsh -c 'sleep 100; :'\n", fifo.display());
    let mut index = FakeIndex::new();
    index.toolkit("13.0.3.0", CLOSURE);
    for (project, version) in CLOSURE.iter().skip(1) {
        index.part(project, version);
    }
    let member = [("nvidia/cu13/bin/nvcc", nvcc.as_bytes(), 0o744)];
    index.add("nvidia-cuda-nvcc", "nvidia_cuda_nvcc-13.0.88-py3-none-any.whl", &wheel(&member));
    index.publish(Form::Json);
    let place = Place::new(index);
    let mut command = place.cudaup(&["install", "13.0", "--profile", "minimal"]);
    let mut child = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Opens once the compiler has opened it for writing.
    let mut alive = fs::File::open(&fifo).unwrap();
    let group = rustix::process::Pid::from_child(&child);
    // As a closed terminal does. Not INT: the shell that stands for nvcc catches that and can lose it between two commands.
    rustix::process::kill_process_group(group, rustix::process::Signal::HUP).unwrap();
    assert!(!child.wait().unwrap().success());
    let start = Instant::now();
    assert_eq!(std::io::Read::read(&mut alive, &mut [0]).unwrap(), 0);
    assert!(start.elapsed() < Duration::from_secs(90), "it ended by itself");
    let asked = |path: &str| place.index.server.count(path);
    let nvcc = "/files/nvidia_cuda_nvcc-13.0.88-py3-none-any.whl";
    assert_eq!((place.count("cache/downloads"), asked(nvcc)), (CLOSURE.len(), 1));
    let output = run(&mut place.install());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(asked(nvcc), 1);
    assert_eq!((place.count("staging"), place.count("cache/downloads")), (0, 0));
}

#[test]
fn releases_are_listed_once_a_day_and_looked_into() {
    let place = Place::new(FakeIndex::usual());
    let json = |arguments: &[&str]| -> serde_json::Value {
        let output = run(&mut place.cudaup(arguments));
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let list = json(&["list", "--remote", "13", "--json"]);
    let release = &list["releases"][0];
    assert_eq!((release["version"].as_str(), release["sources"][0].as_str()), (Some("13.0.3"), Some("pypi")));
    assert_eq!(
        (release["oldest_driver"].as_str(), release["installed"].as_bool()),
        (Some("580"), Some(false))
    );
    assert!(
        release["minimal"].as_u64() > Some(0) && release["default"].as_u64() > release["minimal"].as_u64()
    );
    assert_eq!(list["silent"][0]["why"], "connection refused");
    let asked = || place.index.server.count("/simple/cuda-toolkit/");
    let once = asked();
    assert_eq!(json(&["list", "--remote", "--json"])["releases"][0], *release);
    assert_eq!(asked(), once, "what was asked a moment ago is remembered");
    json(&["list", "--remote", "--refresh", "--json"]);
    assert_eq!(asked(), once + 1);

    let info = json(&["info", "13.0", "--json"]);
    assert_eq!((info["version"].as_str(), info["source"].as_str()), (Some("13.0.3"), Some("pypi")));
    assert_eq!(info["profiles"][0]["load"], release["minimal"]);
    let part = |name: &str| info["parts"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap();
    assert_eq!(
        (&part("cuda_nvcc")["profile"], &part("libcublas")["profile"]),
        (&"minimal".into(), &"default".into())
    );
    let absent = run(&mut place.cudaup(&["info", "12.7"]));
    assert_eq!(absent.status.code(), Some(3), "{}", text(&absent.stderr));
}
