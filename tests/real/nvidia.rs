//! NVIDIA's own server, or what CUDAUP_DIST_SERVER names: `tests/run --nvidia`. It loads some hundred MB, so nothing runs it
//! unasked. What it prints is a report: please send it, whether it passes or not.

use crate::sandbox::{Said, Sandbox, said};
use std::process::Command;

/// The oldest form with its compiler in one piece, the middle one, and the one whose compiler is split.
const RELEASES: &str = "11.8 12.4 13.0";

fn cudaup(at: &Sandbox, arguments: &[&str]) -> Said {
    let mut command: Command = at.command(at.home().join("bin/cudaup"), "");
    let network = |name: &str| {
        name == "CUDAUP_DIST_SERVER" || name.starts_with("SSL_") || name.to_lowercase().ends_with("_proxy")
    };
    command.env_remove("CUDAUP_SYSROOT").envs(std::env::vars().filter(|(name, _)| network(name)));
    let answer = said(command.args(arguments).output().unwrap());
    println!("$ cudaup {}\n{}{}-> {:?}\n", arguments.join(" "), answer.err, answer.out, answer.code);
    answer
}

#[test]
#[ignore = "loads some hundred MB from NVIDIA's server: tests/run --nvidia"]
fn nvidias_own_server() {
    let at = Sandbox::named("cudaup nvidia ");
    let server = std::env::var("CUDAUP_DIST_SERVER").unwrap_or_else(|_| "NVIDIA's own".into());
    println!("cudaup {}, {}, server: {server}\n", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);

    let list = cudaup(&at, &["list", "--remote", "--refresh"]);
    assert_eq!(list.code, Some(0));
    assert!(list.out.lines().any(|l| l.contains("nvidia")), "no release of the source nvidia is listed");

    let releases = std::env::var("CUDAUP_TEST_RELEASES").unwrap_or_else(|_| RELEASES.into());
    for release in releases.split_whitespace() {
        let planned =
            cudaup(&at, &["install", release, "--source", "nvidia", "--profile", "full", "--dry-run"]);
        assert_eq!(planned.code, Some(0));
        for never in ["nvidia_driver", "fabricmanager", "imex", "nvidia_fs", "libnvsdm", "mft"] {
            assert!(!planned.out.contains(never), "{never} would be installed");
        }
        let installed = cudaup(&at, &["install", release, "--source", "nvidia", "--profile", "minimal"]);
        assert_eq!(installed.code, Some(0));
        let nvcc = cudaup(&at, &["exec", release, "--", "nvcc", "--version"]);
        assert!(nvcc.out.contains(&format!("release {release}")));
        let there = "cd \"$CUDA_HOME\" && ls -l include/cuda_runtime.h lib64/libcudart.so";
        assert_eq!(cudaup(&at, &["exec", release, "--", "sh", "-c", there]).code, Some(0));
    }
    let list = cudaup(&at, &["list"]);
    assert_eq!(list.out.matches("nvidia").count(), releases.split_whitespace().count());
}
