//! Whole installs from an index of made-up wheels.

use super::*;
use crate::failure::Exit;
use crate::host::Host;
use crate::install::place::Place;
use crate::net::fault_server::Answer as Fault;
use crate::source::profile::{Profile, Wish};
use crate::source::pypi::fake::{self, CLOSURE, FakeIndex, Form};
use crate::toolkit::receipt::Proof;
use crate::ui::talk::Talk;
use cudaup_core::home::Home;
use cudaup_core::version::Version;
use cudaup_shim::RealDisk;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

mod nvidia;

/// A machine with nothing on it, a home, and an index.
struct Machine {
    root: TempDir,
    index: FakeIndex,
    host: Host,
    home: Home,
    disk: RealDisk,
}

/// A server that no connection leads to.
const NOWHERE: &str = "http://127.0.0.1:1";

const QUIET: Talk = Talk { quiet: true, verbose: false, terminal: false };

impl Machine {
    fn new(index: FakeIndex) -> Self {
        let root = TempDir::new().unwrap();
        let home = root.path().join("a home");
        let host = Host {
            vars: vec![
                ("PIP_INDEX_URL".into(), index.url().into()),
                ("CUDAUP_DIST_SERVER".into(), NOWHERE.into()),
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ],
            cwd: Some(root.path().to_path_buf()),
            user_home: Some(root.path().join("user")),
            home: Some(home.clone()),
            sysroot: Some(root.path().join("sys")),
            ..Host::bare()
        };
        let disk = RealDisk::new(host.sysroot.clone(), &Home::new(home.clone()));
        Self { root, index, host, home: Home::new(home), disk }
    }

    fn site(&self) -> Site<'_> {
        Site { host: &self.host, home: &self.home, disk: &self.disk, talk: &QUIET }
    }

    fn run(&self, order: &Order) -> Result<Answer, Failure> {
        run(&self.site(), &[], order)
    }

    fn installed(&self, order: &Order) -> Installed {
        match self.run(order).unwrap() {
            Answer::Installed(installed) => *installed,
            other => panic!("{other:?}"),
        }
    }

    fn planned(&self, order: &Order) -> Plan {
        match self.run(&Order { dry_run: true, ..order.clone() }).unwrap() {
            Answer::Planned(plan, _) => *plan,
            other => panic!("{other:?}"),
        }
    }

    /// No toolkit, and nothing half made.
    fn is_clean(&self) -> bool {
        names(&self.home.toolkits()).is_empty() && names(&self.home.staging()).is_empty()
    }
}

fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

fn order(request: &str) -> Order {
    Order {
        place: Place::Home,
        platform: None,
        request: Version::parse(request),
        wish: Wish::of(Profile::Minimal),
        amount_given: false,
        upgrade: false,
        verify: false,
        dry_run: false,
        source: "pypi",
        from: None,
    }
}

#[test]
fn an_empty_home_gets_a_toolkit_and_a_default() {
    let machine = Machine::new(FakeIndex::usual());
    let done = machine.installed(&order("13.0"));
    assert_eq!(done.root, machine.home.toolkit("13.0.3"));
    let nvcc = done.root.join("bin/nvcc");
    assert_eq!(fs::metadata(&nvcc).unwrap().permissions().mode() & 0o777, 0o755);
    for path in [
        "lib64/libcudart.so",
        "include/cuda.h",
        "nvvm/lib64/libnvvm.so",
        "version.json",
        "share/licenses/libnvvm/License.txt",
    ] {
        assert!(done.root.join(path).exists(), "{path}");
    }
    let receipt = Receipt::read(&done.root).unwrap().unwrap();
    assert_eq!(receipt, done.receipt);
    assert_eq!(
        (receipt.source.as_str(), receipt.profile.as_str(), receipt.parts.len()),
        ("pypi", "minimal", CLOSURE.len())
    );
    assert!(receipt.bytes > 0 && receipt.parts.iter().all(|p| !p.files.is_empty()));
    assert!(done.default);
    assert_eq!(fs::read_to_string(machine.home.default_file()).unwrap(), "13.0.3\n");
    assert!(names(&machine.home.staging()).is_empty());
    assert!(names(&look::downloads(&machine.home)).is_empty());
}

#[test]
fn a_second_time_nothing_is_asked() {
    let machine = Machine::new(FakeIndex::usual());
    machine.installed(&order("13.0"));
    let asked = machine.index.server.count("/simple/cuda-toolkit/");
    assert!(matches!(machine.run(&order("13")).unwrap(), Answer::Present(_)));
    assert_eq!(machine.index.server.count("/simple/cuda-toolkit/"), asked);
    let upgrade = Order { upgrade: true, ..order("13") };
    assert!(matches!(machine.run(&upgrade).unwrap(), Answer::Present(_)));
    assert_eq!(machine.index.server.count("/simple/cuda-toolkit/"), asked + 1);
    let latest = Order { request: None, ..order("13") };
    assert!(matches!(machine.run(&latest).unwrap(), Answer::Present(_)));
}

#[test]
fn an_upgrade_puts_the_newer_one_beside_the_older() {
    let mut index = FakeIndex::usual();
    index.toolkit("13.0.2", CLOSURE);
    index.publish(Form::Html);
    let machine = Machine::new(index);
    assert_eq!(machine.installed(&order("13.0.2")).receipt.version, "13.0.2");
    assert!(
        matches!(machine.run(&order("13.0")).unwrap(), Answer::Present(t) if t.root == machine.home.toolkit("13.0.2"))
    );
    let newer = machine.installed(&Order { upgrade: true, ..order("13.0") });
    assert_eq!((newer.receipt.version.as_str(), newer.default), ("13.0.3", false));
    assert!(newer.receipt.parts.iter().all(|p| p.size > 0), "the server said what the page does not");
    assert_eq!(names(&machine.home.toolkits()).len(), 2);
}

#[test]
fn the_proof_is_part_of_it() {
    let machine = Machine::new(FakeIndex::usual());
    let done = machine.installed(&Order { verify: true, ..order("13.0") });
    assert!(
        !matches!(&done.receipt.proof, Proof::Unproved { reason, .. } if reason.contains("--no-verify")),
        "{:?}",
        done.receipt.proof
    );
    assert_eq!(names(&done.root).iter().filter(|n| n.starts_with("proof")).count(), 0);

    let mut index = FakeIndex::new();
    index.toolkit("13.0.3.0", CLOSURE);
    for (project, version) in CLOSURE.iter().skip(1) {
        index.part(project, version);
    }
    let liar = b"#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n";
    let member = [("nvidia/cu13/bin/nvcc", liar.as_slice(), 0o744)];
    index.add("nvidia-cuda-nvcc", "nvidia_cuda_nvcc-13.0.88-py3-none-any.whl", &fake::wheel(&member));
    index.publish(Form::Json);
    let machine = Machine::new(index);
    let failure = machine.run(&Order { verify: true, ..order("13.0") }).unwrap_err();
    assert!(failure.exit == Exit::Failed && failure.message.contains("13.0.3 does not work"), "{failure}");
    assert!(machine.is_clean());
    let log = fs::read_to_string(machine.home.cache().join("13.0.3-proof.log")).unwrap();
    assert!(log.contains("release 12.4"), "{log}");
    // Whatever was wrong with it, the next try loads nothing again.
    assert_eq!(names(&look::downloads(&machine.home)).len(), CLOSURE.len());
    machine.run(&Order { verify: true, ..order("13.0") }).unwrap_err();
    let nvcc = "/files/nvidia_cuda_nvcc-13.0.88-py3-none-any.whl";
    assert_eq!(machine.index.server.count(nvcc), 1);
}

#[test]
fn a_default_that_is_there_stays() {
    let machine = Machine::new(FakeIndex::usual());
    fs::create_dir_all(machine.home.path()).unwrap();
    fs::write(machine.home.default_file(), "12.4\n").unwrap();
    assert!(!machine.installed(&order("13.0")).default);
    assert_eq!(fs::read_to_string(machine.home.default_file()).unwrap(), "12.4\n");

    let machine = Machine::new(FakeIndex::usual());
    fs::create_dir_all(machine.home.path()).unwrap();
    fs::write(machine.home.default_file(), "cpath = off\n").unwrap();
    assert!(machine.installed(&order("13.0")).default);
    assert_eq!(fs::read_to_string(machine.home.default_file()).unwrap(), "13.0.3\ncpath = off\n");

    let machine = Machine::new(FakeIndex::usual());
    let etc = machine.root.path().join("sys/etc/cudaup");
    fs::create_dir_all(&etc).unwrap();
    fs::write(etc.join("default"), "12.4\n").unwrap();
    assert!(!machine.installed(&order("13.0")).default);
}

#[test]
fn a_dry_run_changes_nothing() {
    let machine = Machine::new(FakeIndex::usual());
    let Answer::Planned(plan, lines) = machine.run(&Order { dry_run: true, ..order("13.0") }).unwrap() else {
        panic!()
    };
    assert_eq!(plan.parts.len(), CLOSURE.len());
    assert!(lines[0].starts_with("13.0.3, minimal profile, from pypi: 6 parts"), "{lines:?}");
    assert!(!machine.home.path().exists());
}

#[test]
fn what_fails_leaves_no_half_toolkit_and_the_next_run_goes_on() {
    let machine = Machine::new(FakeIndex::usual());
    let plan = machine.planned(&order("13.0"));
    let nvvm = plan.parts.iter().find(|p| p.name == "libnvvm").unwrap();
    let path = format!("/files/{}", nvvm.file);
    machine.index.server.next(&path, &[Fault::Wrong, Fault::Wrong, Fault::Wrong]);
    let failure = machine.run(&order("13.0")).unwrap_err();
    assert_eq!(failure.exit, Exit::BadBytes, "{failure}");
    assert!(machine.is_clean());
    machine.index.server.next(&path, &[]);
    assert_eq!(machine.installed(&order("13.0")).root, machine.home.toolkit("13.0.3"));
}

#[test]
fn two_at_once_load_each_file_once() {
    let machine = Machine::new(FakeIndex::usual());
    let plan = machine.planned(&order("13.0"));
    let answers: Vec<_> = std::thread::scope(|scope| {
        let start = || scope.spawn(|| machine.run(&order("13.0")).unwrap());
        let both = [start(), start()];
        both.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let installed = answers.iter().filter(|a| matches!(a, Answer::Installed(_))).count();
    assert_eq!(installed, 1, "{answers:?}");
    for part in &plan.parts {
        assert_eq!(machine.index.server.count(&format!("/files/{}", part.file)), 1, "{}", part.file);
    }
}

#[test]
fn refusals_leave_the_home_unmade() {
    let machine = Machine::new(FakeIndex::usual());
    for (request, exit) in [("12.4", Exit::NoVersion), ("12.7", Exit::NoVersion), ("13.0.0", Exit::NoVersion)]
    {
        assert_eq!(machine.run(&order(request)).unwrap_err().exit, exit, "{request}");
    }
    assert!(!machine.home.path().exists());
    machine.installed(&order("13.0"));
    fs::write(machine.home.path().join(look::MACHINE_FILE), "s390x\n").unwrap();
    let failure = machine.run(&order("13.0")).unwrap_err();
    assert!(failure.message.contains("holds toolkits for s390x"), "{failure}");
}
