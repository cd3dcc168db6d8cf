//! The engine on real sockets, threads and files: what arrives, what stays after a failure, and how often each file was
//! asked for.

use super::{Job, Unpacked, forget, run};
use crate::disk::lock::Lock;
use crate::failure::{Exit, Failure};
use crate::net::fault_server::{Answer, FaultServer};
use crate::net::{Client, NetSettings, Patience};
use crate::source::plan::{Part, Placement, Rule};
use crate::ui::talk::Talk;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

mod streams;

/// A server that says nothing is waited for longer than any test runs.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

const QUIET: Talk = Talk { quiet: true, verbose: false, terminal: false };

/// More than a piece: unpacked by a thread of its own.
const NVCC: usize = 4_300_000;
const PTXAS: usize = 4_200_000;

struct Bench {
    server: FaultServer,
    client: Client,
    dir: TempDir,
    parts: Vec<Part>,
}

/// Made once: it is the same for all tests.
static LARGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let small: Vec<_> = (0..300).map(|n| format!("x/include/h{n}.h")).collect();
    let mut members: Vec<_> = small.iter().map(|name| (name.as_str(), 500, 0o644)).collect();
    members.push(("x/bin/nvcc", NVCC, 0o744));
    members.push(("x/bin/ptxas", PTXAS, 0o744));
    members.push(("x.dist-info/METADATA", 100, 0o644));
    archive(&members)
});

/// An archive of these members: name, length, mode.
fn archive(members: &[(&str, usize, u32)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, length, mode) in members {
        zip.start_file(*name, SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
        zip.write_all(&contents(name, *length)).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn contents(name: &str, length: usize) -> Vec<u8> {
    name.bytes().cycle().zip(0_u32..).map(|(b, n)| b ^ (n / 100).to_le_bytes()[0]).take(length).collect()
}

impl Bench {
    fn new() -> Self {
        let patience = Patience { tries: 3, first_wait: Duration::from_millis(1), ..Patience::default() };
        let settings = NetSettings { patience, stall_timeout: A_DAY, ..NetSettings::default() };
        let (server, client) = (FaultServer::start(), Client::new(&settings).unwrap());
        let mut bench = Self { server, client, dir: TempDir::new().unwrap(), parts: Vec::new() };
        bench.part("nvcc", &LARGE);
        bench.part(
            "cudart",
            &archive(&[("x/lib/libcudart.so.13", 700_000, 0o644), ("x/LICENSE", 9000, 0o644)]),
        );
        bench.part(
            "cccl",
            &archive(&[("x/include/cccl/cub/cub.cuh", 1000, 0o644), ("x/LICENSE", 9000, 0o644)]),
        );
        bench
    }

    fn part(&mut self, name: &str, bytes: &[u8]) {
        self.archive(name, &format!("{name}.whl"), bytes);
    }

    fn archive(&mut self, name: &str, file: &str, bytes: &[u8]) {
        let file = file.to_owned();
        let url = self.server.file(&format!("/{file}"), bytes);
        let sha256 = Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").unwrap();
            text
        });
        let rule = |from: &str, to: Option<&str>| Rule { from: from.into(), to: to.map(Into::into) };
        self.parts.push(Part {
            name: name.into(),
            version: "1".into(),
            url,
            local: None,
            file,
            sha256,
            size: bytes.len() as u64,
            unpacked: None,
            placement: Placement {
                strip: 0,
                rules: vec![rule("x/lib/", Some("lib64/")), rule("x/", Some(""))],
            },
        });
    }

    fn tree(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    fn run(&self) -> Result<Vec<Unpacked>, Failure> {
        let _ = fs::remove_dir_all(self.tree());
        fs::create_dir(self.tree()).unwrap();
        let downloads = self.dir.path().join("downloads");
        let job = Job { parts: &self.parts, downloads: &downloads, tree: &self.tree() };
        run(&job, &self.client, &QUIET)
    }

    fn downloads(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path().join("downloads")).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn counts(&self) -> Vec<usize> {
        self.parts.iter().map(|p| self.server.count(&format!("/{}", p.file))).collect()
    }

    fn check_tree(&self) {
        assert!(fs::read(self.tree().join("bin/nvcc")).unwrap() == contents("x/bin/nvcc", NVCC));
        let expected = contents("x/lib/libcudart.so.13", 700_000);
        assert!(fs::read(self.tree().join("lib64/libcudart.so.13")).unwrap() == expected);
        assert_eq!(fs::read_dir(self.tree().join("include")).unwrap().count(), 301);
        assert!(!self.tree().join("x.dist-info").exists() && !self.tree().join("METADATA").exists());
    }
}

#[test]
fn all_parts_arrive_once() {
    let b = Bench::new();
    let unpacked = b.run().unwrap();
    b.check_tree();
    assert_eq!(b.downloads(), ["cccl.whl", "cudart.whl", "nvcc.whl"]);
    assert_eq!(b.counts(), [1, 1, 1]);
    assert_eq!(unpacked.iter().map(|u| u.part).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(unpacked[0].files.len(), 302);
    assert!(unpacked[0].files.is_sorted());
    assert_eq!(unpacked[0].bytes, (NVCC + PTXAS + 300 * 500) as u64);
    // The licence is in two of them, with the same contents: written once, named by both.
    assert_eq!(unpacked[1].files, ["LICENSE", "lib64/libcudart.so.13"]);
    assert_eq!(unpacked[2].files, ["LICENSE", "include/cccl/cub/cub.cuh"]);
}

#[test]
fn archives_stay_until_they_are_forgotten() {
    let b = Bench::new();
    b.run().unwrap();
    b.run().unwrap();
    b.check_tree();
    assert_eq!(b.counts(), [1, 1, 1]);
    let downloads = b.dir.path().join("downloads");
    fs::write(downloads.join("of-the-user.whl"), "x").unwrap();
    let used = Lock::try_acquire(&downloads.join("cccl.whl.lock")).unwrap();
    forget(&b.parts, &downloads);
    drop(used);
    assert_eq!(b.downloads(), ["cccl.whl", "of-the-user.whl"]);
}

#[test]
fn after_a_network_failure_the_next_run_goes_on() {
    let b = Bench::new();
    let size = usize::try_from(b.parts[0].size).unwrap();
    b.server.next("/nvcc.whl", &vec![Answer::Cut(size / 3); 3]);
    b.server.next("/cccl.whl", &vec![Answer::Status(503, ""); 3]);
    let failure = b.run().unwrap_err();
    assert_eq!(failure.exit, Exit::Network);
    b.server.next("/nvcc.whl", &[]);
    b.server.next("/cccl.whl", &[]);
    let asked = b.counts();
    b.run().unwrap();
    b.check_tree();
    let again = b.server.seen("/nvcc.whl").split_off(asked[0]);
    assert!(again.iter().all(|request| request.range.is_some()), "{again:?}");
    assert_eq!(b.downloads(), ["cccl.whl", "cudart.whl", "nvcc.whl"]);
}

#[test]
fn a_failure_stops_everything_at_once_even_beside_a_silent_server() {
    let b = Bench::new();
    b.server.next("/nvcc.whl", &[Answer::Stall(1000)]);
    b.server.next("/cudart.whl", &[Answer::AbsentAfter("/nvcc.whl")]);
    let failure = b.run().unwrap_err();
    assert!(failure.message.contains("cudart.whl: the server answered 404"), "{failure}");
    // A run that waited for the silent server would not have come back today.
    assert_eq!(b.server.seen("/nvcc.whl").len(), 1);
}

#[test]
fn wrong_bytes_are_exit_5_and_name_the_file() {
    let b = Bench::new();
    b.server.next("/cudart.whl", &[Answer::Wrong, Answer::Wrong]);
    let failure = b.run().unwrap_err();
    assert_eq!(failure.exit, Exit::BadBytes);
    assert!(failure.message.contains("/cudart.whl does not have the sha256"), "{failure}");
}

#[test]
fn hostile_archives_are_exit_5_and_name_the_entry() {
    for (members, words) in [
        (vec![("x/../../../evil", 5, 0o644)], "`x/../../../evil` climbs out"),
        (vec![("x/BIN/nvcc", 5, 0o644), ("x/bin/nvcc2", 5, 0o644)], "differs from"),
    ] {
        let mut b = Bench::new();
        b.part("evil", &archive(&members));
        let failure = b.run().unwrap_err();
        assert_eq!(failure.exit, Exit::BadBytes, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
        assert_eq!(fs::read_dir(b.dir.path()).unwrap().count(), 2);
    }
}

#[test]
fn a_file_name_with_a_path_in_it_is_refused() {
    for name in ["../nvcc.whl", "a/b.whl", "/tmp/x.whl", "", ".."] {
        let mut b = Bench::new();
        b.parts[0].file = name.into();
        let failure = b.run().unwrap_err();
        assert_eq!(failure.exit, Exit::BadBytes);
        assert_eq!(b.counts(), [0, 0, 0], "{name}");
    }
}

#[test]
fn two_that_need_the_same_files_load_each_once() {
    let b = Bench::new();
    let downloads = b.dir.path().join("downloads");
    std::thread::scope(|scope| {
        for n in 0..2 {
            let (b, downloads) = (&b, &downloads);
            scope.spawn(move || {
                let tree = b.dir.path().join(format!("tree{n}"));
                fs::create_dir(&tree).unwrap();
                let job = Job { parts: &b.parts, downloads, tree: &tree };
                run(&job, &b.client, &QUIET).unwrap();
                assert!(tree.join("bin/nvcc").is_file());
            });
        }
    });
    assert_eq!(b.counts(), [1, 1, 1]);
}
