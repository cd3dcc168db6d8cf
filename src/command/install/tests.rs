//! Command lines and what they order; results and how they read.

use super::*;
use crate::host::Host;
use crate::install::Installed;
use crate::install::place::Place;
use crate::source::profile::{Profile, Wish};
use crate::source::pypi::fake::FakeIndex;
use crate::toolkit::receipt::{Proof, Receipt};
use crate::ui::talk::Talk;
use clap::Parser;
use cudaup_core::home::Home;
use cudaup_shim::RealDisk;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

fn args(words: &[&str]) -> Args {
    Line::try_parse_from([&["install"], words].concat()).unwrap_or_else(|e| panic!("{e}")).args
}

/// A machine with nothing but an index, and a project as the current directory.
fn context(root: &Path, index: &str) -> Context {
    let project = root.join("project");
    fs::create_dir_all(&project).unwrap();
    let host = Host {
        vars: vec![
            ("PIP_INDEX_URL".into(), index.into()),
            ("CUDAUP_DIST_SERVER".into(), "http://127.0.0.1:1".into()),
            ("PATH".into(), "/usr/bin:/bin".into()),
        ],
        cwd: Some(project),
        user_home: Some(root.to_path_buf()),
        home: Some(root.join(".cudaup")),
        sysroot: Some(root.join("sys")),
        ..Host::bare()
    };
    Context {
        line: crate::failure::Line::default(),
        vars: host.vars.iter().cloned().collect(),
        disk: RealDisk::new(host.sysroot.clone(), &Home::new(root.join(".cudaup"))),
        home: Home::new(root.join(".cudaup")),
        talk: Talk { quiet: true, ..Talk::default() },
        host,
    }
}

fn nowhere() -> (TempDir, Context) {
    let root = TempDir::new().unwrap();
    let context = context(root.path(), "http://127.0.0.1:1/simple");
    (root, context)
}

#[test]
fn versions_profiles_and_components_are_read() {
    let (_root, context) = nowhere();
    let orders = args(&["13.0", "v12.4", "13.0", "latest", "--profile", "minimal"]).orders(&context).unwrap();
    let versions: Vec<_> = orders.iter().map(|o| o.request.map(|v| v.to_string())).collect();
    assert_eq!(versions, [Some("13.0".into()), Some("12.4".into()), None]);
    assert!(orders.iter().all(|o| o.wish == Wish::of(Profile::Minimal) && o.amount_given && o.verify));
    let orders =
        args(&["13", "--components", "nvcc, cudart", "--no-verify", "--upgrade"]).orders(&context).unwrap();
    let names: Vec<_> = orders[0].wish.components.iter().map(|c| c.name).collect();
    assert_eq!(
        (names.as_slice(), orders[0].wish.profile),
        (["cuda_nvcc", "cuda_cudart"].as_slice(), Profile::Chosen)
    );
    assert!(!orders[0].verify && orders[0].upgrade);
    assert!(!args(&["13"]).orders(&context).unwrap()[0].amount_given);
}

#[test]
fn without_a_version_the_pin_says_what() {
    let (root, context) = nowhere();
    let usage = args(&[]).orders(&context).unwrap_err();
    assert!(usage.exit == Exit::Usage && usage.tries.len() == 2, "{usage}");
    fs::write(root.path().join("project/.cuda-version"), "13.0\ncomponents = nvcc, cublas\n").unwrap();
    let orders = args(&[]).orders(&context).unwrap();
    assert_eq!(orders[0].request, Some(Version::release(13, 0)));
    assert_eq!(orders[0].wish.components.len(), 2);
    assert_eq!(
        args(&["13.5"]).orders(&context).unwrap()[0].wish.components.len(),
        0,
        "a pin's keys go with its request"
    );
    fs::write(root.path().join("project/.cuda-version"), "12.x\n").unwrap();
    assert_eq!(args(&[]).orders(&context).unwrap_err().exit, Exit::NoVersion);
}

#[test]
fn what_cannot_be_installed_is_said() {
    let (_root, context) = nowhere();
    for (words, exit) in [
        (&["system"][..], Exit::Usage),
        (&["mine"], Exit::NoVersion),
        (&["12.x"], Exit::Usage),
        (&["13", "--components", "cudnn"], Exit::Usage),
        (&["13", "--components", "nvcx"], Exit::Usage),
    ] {
        assert_eq!(args(words).orders(&context).unwrap_err().exit, exit, "{words:?}");
    }
    assert!(Line::try_parse_from(["install", "13", "--profile", "tiny"]).is_err());
    assert!(Line::try_parse_from(["install", "13", "--source", "conda"]).is_err());
}

#[test]
fn the_command_installs_and_then_finds_it_there() {
    let index = FakeIndex::usual();
    let root = TempDir::new().unwrap();
    let context = context(root.path(), &index.url());
    let run = |words: &[&str]| match args(words).run(&context).unwrap() {
        Outcome::View(view) => view.json(),
        _ => panic!(),
    };
    let first = run(&["13.0", "--profile", "minimal", "--no-verify"]);
    let toolkit = &first["toolkits"][0];
    assert_eq!((toolkit["state"].as_str(), toolkit["version"].as_str()), (Some("installed"), Some("13.0.3")));
    assert_eq!(toolkit["proof"]["state"].as_str(), Some("unproved"));
    assert_eq!(run(&["13.0"])["toolkits"][0]["state"].as_str(), Some("present"));
    assert_eq!(run(&[])["toolkits"][0]["state"].as_str(), Some("present"), "it became the default");
    let planned = run(&["latest", "--dry-run"]);
    assert_eq!(planned["toolkits"][0]["state"].as_str(), Some("present"));
}

#[test]
fn results_read_like_this() {
    let style = Style { color: false, user_home: Some("/home/u".into()) };
    let proof = Proof::Proved { compiler: "g++ 12.2.0".into() };
    let receipt = Receipt { version: "13.0.3".into(), proof, ..Receipt::default() };
    let done = Installed {
        root: "/home/u/.cudaup/toolkits/13.0.3".into(),
        receipt,
        took: Duration::from_millis(14_200),
        place: Place::Home,
        default: false,
    };
    let say = |done: &Installed| {
        let toolkits = vec![Answer::Installed(Box::new(done.clone()))];
        Results { toolkits, addons: Vec::new() }.human(&style)
    };
    assert_eq!(
        say(&done),
        "installed in 14 s: ~/.cudaup/toolkits/13.0.3   proved with g++ 12.2.0   licence: docs.nvidia.com/cuda/eula\n\
         next: cudaup use 13.0.3 (this project)   cudaup use --default 13.0.3 (you)\n"
    );
    let proof = Proof::Unproved { reason: "no g++ was found".into(), remedy: "apt install g++".into() };
    let unproved = Installed { receipt: Receipt { proof, ..done.receipt.clone() }, default: true, ..done };
    assert_eq!(
        say(&unproved),
        "installed in 14 s: ~/.cudaup/toolkits/13.0.3   licence: docs.nvidia.com/cuda/eula\n\
         warning: not seen to work: no g++ was found\ntry: apt install g++\n\
         13.0.3 is your default now\nnext: cudaup use 13.0.3 (this project)\n"
    );
}
