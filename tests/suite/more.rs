//! More of a toolkit that is installed: from a folder of archives, and of one that came in one piece.

use crate::from::{ANSWERS, forms, installed};
use crate::sandbox::Sandbox;
use std::fs;
use std::process::Command;

/// A folder of archives, of each component one with this file.
fn archives(at: &Sandbox, components: &[(&str, &str)]) {
    let machine = if std::env::consts::ARCH == "aarch64" { "sbsa" } else { "x86_64" };
    for (component, file) in components {
        let build = if *component == "cuda_nvcc" { "12.4.131" } else { "12.4.127" };
        let name = format!("{component}-linux-{machine}-{build}-archive");
        at.script(&format!("packing/{name}/{file}"), ANSWERS);
        fs::create_dir_all(at.path("where/parts")).unwrap();
        let archive = at.path("where/parts").join(format!("{name}.tar.gz"));
        let mut tar = Command::new("tar");
        let status = tar.arg("-czf").arg(archive).arg(&name).current_dir(at.path("packing")).status();
        assert!(status.unwrap().success(), "{name}");
    }
}

#[test]
fn more_from_a_folder_comes_to_what_is_there() {
    let at = Sandbox::new();
    archives(
        &at,
        &[
            ("cuda_nvcc", "bin/nvcc"),
            ("cuda_cudart", "lib/libcudart.so"),
            ("cuda_cccl", "include/thrust/version.h"),
            ("cuda_nvprune", "bin/nvprune"),
        ],
    );
    let parts = |more: &[&str]| installed(&at, "parts", &[&["12.4", "--no-verify"], more].concat());
    let receipt = || fs::read_to_string(at.home().join("toolkits/12.4.1/receipt.json")).unwrap();
    let first = parts(&["--profile", "minimal"]);
    assert!(first.code == Some(0) && !receipt().contains("cuda_nvprune"), "{}", first.err);
    let dry = parts(&["--components", "nvprune", "--dry-run"]);
    assert!(dry.out.contains("cuda_nvcc") && dry.out.contains("cuda_nvprune"), "{}{}", dry.out, dry.err);
    let more = parts(&["--components", "nvprune"]);
    assert_eq!(more.code, Some(0), "{}", more.err);
    assert!(more.err.contains("12.4.1 is there with less: it is made anew"), "{}", more.err);
    assert!(receipt().contains("cuda_nvprune") && receipt().contains("cuda_cudart"), "{}", receipt());
    let again = parts(&["--components", "nvprune"]);
    assert!(again.out.starts_with("12.4.1 is installed"), "{}{}", again.out, again.err);
    let none = parts(&["--components", "cublas"]);
    assert!(none.code == Some(3) && none.err.contains("no archive of libcublas"), "{}", none.err);
}

#[test]
fn what_came_in_one_piece_is_asked_what_it_has() {
    let at = Sandbox::new();
    forms(&at, ANSWERS);
    // The headers and the stub of a library are not the library.
    for file in [
        "include/cublas_v2.h",
        "lib64/stubs/libcublas.so",
        "lib64/libnvrtc.so.12",
        "include/thrust/version.h",
    ] {
        at.write(&format!("where/tree/{file}"), "");
    }
    let tree = |more: &[&str]| installed(&at, "tree", &[&["12.4", "--no-verify"], more].concat());
    for said in [tree(&["--components", "cublas"]), tree(&["--components", "cublas"])] {
        let lacks = "warning: libcublas: not in it, although asked for\n";
        assert!(said.code == Some(0) && said.err.contains(lacks), "{}", said.err);
    }
    let there = at.cudaup("where", &["--offline", "install", "12.4", "--components", "nvcc,nvrtc"]);
    assert_eq!(there.code, Some(0), "{}", there.err);
    let refused = at.cudaup("where", &["--offline", "install", "12.4", "--components", "cublas"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert!(refused.err.contains("came in one piece from local, without libcublas\n"), "{}", refused.err);
    let hint = "try: cudaup uninstall 12.4.1 --force && cudaup install 12.4.1 --components libcublas\n";
    assert!(refused.err.ends_with(hint), "{}", refused.err);
    let full = at.cudaup("where", &["--offline", "install", "12.4", "--profile", "full"]);
    assert!(full.code == Some(1) && full.err.contains(", libcublas, "), "{}", full.err);
}
