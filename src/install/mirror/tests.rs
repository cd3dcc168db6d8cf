//! Mirrors of a made-up server, and what can be had from them.

use super::*;
use crate::net::fault_server::Answer;
use crate::net::{Client, NetSettings, Patience};
use crate::settings::{Indexes, Place};
use crate::source::local;
use crate::source::nvidia::fake::FakeDist;
use crate::source::profile::Profile;
use cudaup_core::home::Home;
use cudaup_shim::RealDisk;
use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const COMPONENTS: [(&str, &str); 4] = [
    ("cuda_nvcc", "12.4.131"),
    ("cuda_cudart", "12.4.127"),
    ("cuda_cccl", "12.4.127"),
    ("libcublas", "12.4.5.8"),
];

struct Mirror {
    root: TempDir,
    host: Host,
    reach: Reach,
}

const QUIET: Talk = Talk { quiet: true, verbose: false, terminal: false };

impl Mirror {
    fn of(dist: &FakeDist) -> Self {
        let place = Place { url: dist.url(), origin: "CUDAUP_DIST_SERVER".into() };
        let indexes = Indexes { places: vec![place.clone()], certificates: Vec::new(), notes: Vec::new() };
        let patience = Patience { first_wait: Duration::from_millis(1), ..Patience::default() };
        let client = Client::new(&NetSettings { patience, ..NetSettings::default() }).unwrap();
        Self {
            root: TempDir::new().unwrap(),
            host: Host { ..Host::bare() },
            reach: Reach { client, indexes, dist: place, keep: false },
        }
    }

    fn path(&self) -> PathBuf {
        self.root.path().join("a mirror")
    }

    fn run(&self, request: &str, platforms: &[Platform], profile: Profile) -> Result<Vec<Mirrored>, Failure> {
        let wish = Wish::of(profile);
        let requests = [Version::parse(request)];
        let root = self.path();
        let order = Order { root: &root, requests: &requests, platforms, wish: &wish };
        run(&self.host, &self.reach, &QUIET, &order)
    }

    /// The archives in it, by name.
    fn archives(&self) -> Vec<String> {
        fn walk(folder: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    walk(&entry.path(), found);
                } else if entry.path().extension().is_some_and(|e| e != "json" && e != "html") {
                    found.push(entry.file_name().into_string().unwrap());
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.path().join("compute"), &mut found);
        found.sort();
        found
    }

    fn listed(&self, version: &str) -> nvidia::manifest::Manifest {
        let path = self.path().join(TREE).join(format!("redistrib_{version}.json"));
        nvidia::manifest::Manifest::read(&fs::read_to_string(path).unwrap()).unwrap()
    }
}

const X86_64: &[Platform] = &[Platform::LinuxX86_64];

/// A server with a release for two machines, every archive of which says what it is.
fn server() -> FakeDist {
    let mut dist = FakeDist::new();
    let mut manifest =
        json!({ "release_date": "2024-04-03", "release_label": "12.4.1", "release_product": "cuda" });
    for (name, version) in COMPONENTS {
        manifest[name] = json!({ "name": name, "license": "CUDA Toolkit", "version": version });
        for platform in ["linux-x86_64", "linux-sbsa"] {
            let relative = relative(name, version, platform);
            let bytes = relative.repeat(1000);
            let sha256 =
                Sha256::digest(bytes.as_bytes()).iter().map(|b| format!("{b:02x}")).collect::<String>();
            manifest[name][platform] = json!({ "relative_path": relative, "sha256": sha256, "md5": "", "size": bytes.len().to_string() });
            dist.server.file(&format!("/{TREE}/{relative}"), bytes.as_bytes());
        }
    }
    dist.publish("12.4.1", &manifest.to_string());
    dist
}

fn relative(name: &str, version: &str, platform: &str) -> String {
    format!("{name}/{platform}/{name}-{platform}-{version}-archive.tar.xz")
}

/// How often archives were asked for.
fn asked(dist: &FakeDist) -> usize {
    let all = COMPONENTS.iter().flat_map(|(name, version)| {
        ["linux-x86_64", "linux-sbsa"]
            .map(|platform| format!("/{TREE}/{}", relative(name, version, platform)))
    });
    all.map(|path| dist.server.count(&path)).sum()
}

#[test]
fn a_mirror_has_what_was_asked_for_and_says_so() {
    let dist = server();
    let mirror = Mirror::of(&dist);
    let made = mirror.run("12.4", X86_64, Profile::Minimal).unwrap();
    assert_eq!((made.len(), made[0].archives, made[0].version), (1, 3, Version::exact(12, 4, 1)));
    assert_eq!(mirror.archives().len(), 3);
    assert_eq!(mirror.listed("12.4.1").components.len(), 3);
    let page = fs::read_to_string(mirror.path().join(TREE).join("index.html")).unwrap();
    assert!(page.contains("<a href='redistrib_12.4.1.json'>redistrib_12.4.1.json</a>"), "{page}");
    // A web server is another user.
    for path in [mirror.path(), mirror.path().join(TREE), mirror.path().join(TREE).join("index.html")] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o044, 0o044, "{}", path.display());
    }
    let absent = mirror.run("11.8", X86_64, Profile::Minimal).unwrap_err();
    assert_eq!(absent.exit, Exit::NoVersion);
}

#[test]
fn a_second_run_adds_and_asks_for_nothing_twice() {
    let dist = server();
    let mirror = Mirror::of(&dist);
    mirror.run("12.4.1", X86_64, Profile::Minimal).unwrap();
    let before = asked(&dist);
    let both = [Platform::LinuxX86_64, Platform::LinuxSbsa];
    let made = mirror.run("12.4.1", &both, Profile::Default).unwrap();
    assert_eq!(made.iter().map(|m| m.archives).collect::<Vec<_>>(), [4, 4]);
    assert_eq!((before, asked(&dist)), (3, 8));
    assert!(mirror.listed("12.4.1").component("libcublas").unwrap().platform("linux-sbsa").is_some());
    // What is not asked for any more stays.
    mirror.run("12.4.1", X86_64, Profile::Minimal).unwrap();
    assert_eq!((mirror.archives().len(), mirror.listed("12.4.1").platforms().len(), asked(&dist)), (8, 2, 8));
}

#[test]
fn a_broken_manifest_of_its_own_is_made_anew() {
    let dist = server();
    let mirror = Mirror::of(&dist);
    mirror.run("12.4.1", X86_64, Profile::Minimal).unwrap();
    let file = mirror.path().join(TREE).join("redistrib_12.4.1.json");
    let (whole, before) = (fs::read(&file).unwrap(), asked(&dist));
    for broken in [&whole[..whole.len() / 2], b"", b"[1]", b"\xff\xfe{}"] {
        fs::write(&file, broken).unwrap();
        mirror.run("12.4.1", X86_64, Profile::Minimal).unwrap();
        assert_eq!(fs::read(&file).unwrap(), whole);
    }
    assert_eq!(asked(&dist), before, "the archives are there");
}

#[test]
fn what_was_interrupted_lists_nothing_and_is_gone_on_with() {
    let dist = server();
    let again = Mirror::of(&dist);
    let relative = relative("cuda_nvcc", "12.4.131", "linux-x86_64");
    let path = format!("/{TREE}/{relative}");
    dist.server.next(&path, &[Answer::Cut(1000), Answer::Status(404, ""), Answer::Status(404, "")]);
    assert!(again.run("12.4.1", X86_64, Profile::Minimal).is_err());
    assert!(!again.path().join(TREE).join("redistrib_12.4.1.json").exists());
    assert!(
        again.archives().iter().any(|name| name.strip_suffix(".part").is_some()),
        "{:?}",
        again.archives()
    );
    dist.server.next(&path, &[]);
    again.run("12.4.1", X86_64, Profile::Minimal).unwrap();
    assert_eq!(dist.server.seen(&path).last().unwrap().range.as_deref(), Some("bytes=1000-"));
    assert_eq!(again.archives().len(), 3, "{:?}", again.archives());
    // Other bytes, in the mirror or from the server, are noticed.
    fs::write(again.path().join(TREE).join(&relative), "something else").unwrap();
    dist.server.next(&path, &[Answer::Wrong, Answer::Wrong]);
    assert_eq!(again.run("12.4.1", X86_64, Profile::Minimal).unwrap_err().exit, Exit::BadBytes);
    again.run("12.4.1", X86_64, Profile::Minimal).unwrap();
}

#[test]
fn a_mirror_is_something_to_install_from() {
    let dist = server();
    let mirror = Mirror::of(&dist);
    mirror.run("12.4.1", X86_64, Profile::Default).unwrap();
    let disk = RealDisk::new(None, &Home::new("/nowhere"));
    let query = Query {
        host: &mirror.host,
        reach: &mirror.reach,
        request: Some(Version::release(12, 4)),
        wish: &Wish::of(Profile::Default),
        platform: Platform::LinuxX86_64,
    };
    let plan = local::plan(&query, &mirror.path(), &disk).unwrap();
    assert_eq!((plan.parts.len(), plan.size()), (4, 0));
    assert!(plan.parts.iter().all(|part| part.local.as_ref().unwrap().starts_with(mirror.path())));
}
