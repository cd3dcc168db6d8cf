//! The laws of entering and leaving, over generated environments and over those that real start files give; and which
//! toolkit is chosen where.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bashrc;
mod explained;
mod generated;
mod laws;
mod map_disk;
mod places;
mod resolution;

use cudaup_core::activate::{Entered, Scope, activate};
use cudaup_core::environment::{Vars, leave};
use cudaup_core::home::Home;
use cudaup_core::list::split;
use cudaup_core::request::Request;
use cudaup_core::resolve::World;
use map_disk::MapDisk;
use std::ffi::OsStr;
use std::path::Path;

const HOME: &str = "/home/u/.cudaup";

fn disk() -> MapDisk {
    MapDisk::default()
        .toolkit("/home/u/.cudaup/toolkits/12.4.1", "12.4.1")
        .toolkit("/home/u/.cudaup/toolkits/13.0.2", "13.0.2")
        .toolkit("/usr/local/cuda-11.8", "11.8.0")
        .with("/home/u/p/.cuda-version", "12.4\n")
        .with(
            "/home/u/off/.cuda-version",
            "13.0\nld_library_path = off\ncpath = off\nhost_compiler = g++-12\n",
        )
        .with("/home/u/sys/.cuda-version", "11.8\nhost_compiler = g++-11\n")
        .addon("/home/u/.cudaup/addons/cudnn/9.8.0.87-cuda12")
        .addon("/home/u/.cudaup/addons/cudnn/9.9.0.52-cuda11")
        .addon("/home/u/.cudaup/addons/nccl/2.21.5-cuda12")
        .with("/home/u/.cudaup/addons/nccl/2.21.5-cuda12/lib/pkgconfig/nccl.pc", "")
        .with("/home/u/with/.cuda-version", "12.4\ncudnn = 9\nnccl = 2.21\n")
        .with("/home/u/with-off/.cuda-version", "12.4\ncudnn = 9.8\nld_library_path = off\ncpath = off\n")
        .with("/home/u/without/.cuda-version", "13.0\ncudnn = 9.8\n")
        .with("/home/u/missing/.cuda-version", "12.9\n")
        .with("/home/u/odd/.cuda-version", "$(touch x)\n")
}

fn entered_at(vars: &Vars, cwd: &str) -> (Vars, Entered) {
    let (home, disk) = (Home::new(HOME), disk());
    let world = World { vars, cwd: Some(Path::new(cwd)), home: &home, disk: &disk };
    let activation = activate(&world, None, Scope::Asked);
    (activation.vars, activation.entered)
}

const PLACES: [&str; 8] = [
    "/home/u/p",
    "/home/u/off",
    "/home/u/sys",
    "/home/u/with",
    "/home/u/with-off",
    "/home/u/without",
    "/home/u/missing",
    "/home/u/odd",
];

#[test]
fn start_files_of_real_users_are_left_byte_for_byte() {
    assert!(bashrc::ENVIRONMENTS.len() >= 20);
    for (name, pairs) in bashrc::ENVIRONMENTS {
        let e: Vars = pairs.iter().copied().collect();
        for place in PLACES {
            let (inside, _) = entered_at(&e, place);
            assert_eq!(leave(&inside).vars, e, "{name} at {place}");
            for list in ["PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH"] {
                for entry in inside.get(list).map(split).unwrap_or_default() {
                    let text = entry.to_string_lossy().into_owned();
                    let foreign =
                        ["/usr/local/cuda", "/opt/cuda", "/apps/CUDA/", "/home/u/cuda-", "/sw/cuda/"];
                    let ours = place == "/home/u/sys" && text.starts_with("/usr/local/cuda-11.8/");
                    let stays = text.ends_with("/compat") || text.contains("samples");
                    assert!(
                        ours || stays || !foreign.iter().any(|f| text.starts_with(f)),
                        "{name}: {list} keeps {text}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_state_that_would_not_fit_is_refused_and_nothing_changes() {
    let long = format!("/usr/local/cuda-11.8/bin:{}", vec!["/usr/local/cuda-11.8/lib64"; 2000].join(":"));
    let e: Vars =
        [("HOME", "/home/u"), ("PATH", "/bin"), ("LD_LIBRARY_PATH", long.as_str())].into_iter().collect();
    let (inside, entered) = entered_at(&e, "/home/u/p");
    assert_eq!(inside, e);
    let Entered::Refused(refusal) = entered else { panic!("{entered:?}") };
    assert!(refusal.to_string().contains("32768"), "{refusal}");
}

#[test]
fn what_an_old_list_brought_back_of_ours_can_be_taken_out() {
    let e: Vars = [
        ("PATH", "/home/u/.cudaup/toolkits/13.0.2/bin:/home/u/.cudaup/shims:/usr/bin"),
        ("LD_LIBRARY_PATH", "/home/u/.cudaup/toolkits/13.0.2/lib64"),
        ("CPATH", "/mine:"),
        ("CUDA_HOME", "/home/u/.cudaup/toolkits/13.0.2"),
        ("CUDA_PATH", "/usr/local/cuda"),
    ]
    .into_iter()
    .collect();
    let clean: Vars =
        [("PATH", "/home/u/.cudaup/shims:/usr/bin"), ("CPATH", "/mine:"), ("CUDA_PATH", "/usr/local/cuda")]
            .into_iter()
            .collect();
    assert_eq!(cudaup_core::environment::without_stale(&e, &Home::new(HOME)), clean);
}

#[test]
fn a_state_that_cannot_be_read_is_as_if_absent_and_said() {
    let mut e: Vars = [("HOME", "/home/u"), ("PATH", "/bin")].into_iter().collect();
    e.put("CUDAUP_STATE", Some("1;pin;nonsense%".into()));
    let (home, disk) = (Home::new(HOME), disk());
    let world = World { vars: &e, cwd: Some(Path::new("/home/u/p")), home: &home, disk: &disk };
    let activation = activate(&world, Some(&Request::parse("12.4").unwrap()), Scope::All);
    assert_eq!(activation.notes.len(), 1, "{:?}", activation.notes);
    assert_eq!(activation.vars.get("CUDA_HOME"), Some(OsStr::new("/home/u/.cudaup/toolkits/12.4.1")));
}
