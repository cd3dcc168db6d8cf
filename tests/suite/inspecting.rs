//! `inspect`, `verify`, `explain` and `gpu` as a user meets them; real kernels are listed as NVIDIA's own cuobjdump lists them.

use crate::sandbox::{Said, Sandbox, said};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const KERNEL: &str =
    "__global__ void k(float *a) { a[threadIdx.x] *= 2; }\nint main() { k<<<1, 1>>>(nullptr); return 0; }\n";

/// A real toolkit, and the compiler that it takes.
fn tree(release: &str) -> Option<PathBuf> {
    let tree = std::env::var_os("CUDAUP_TEST_TREES").map(|trees| Path::new(&trees).join(release));
    let tree = tree.filter(|tree| tree.join("bin/nvcc").exists());
    if tree.is_none() {
        eprintln!("skipped: CUDA {release} (CUDAUP_TEST_TREES does not have it; tests/run makes it)");
    }
    tree
}

fn cudaup(at: &Sandbox, arguments: &[&str]) -> Said {
    let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
    said(command.args(arguments).output().unwrap())
}

/// What stands between a mark and `.cubin` or `.ptx` in cuobjdump's list.
fn listed(cuobjdump: &Path, option: &str, file: &Path, end: &str) -> BTreeSet<String> {
    let output = Command::new(cuobjdump).arg(option).arg(file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names =
        text.lines().filter_map(|line| line.trim().strip_suffix(end)?.rsplit('.').next().map(str::to_owned));
    names.collect()
}

fn compare(release: &str, architectures: &[&str], ccbin: Option<&str>) {
    let Some(tree) = tree(release) else { return };
    let at = Sandbox::new();
    let source = at.write("home/p/k.cu", KERNEL);
    let last = architectures.last().unwrap();
    let mut targets: Vec<String> =
        architectures.iter().map(|a| format!("-gencode=arch=compute_{a},code=sm_{a}")).collect();
    targets.push(format!("-gencode=arch=compute_{last},code=compute_{last}"));
    for (name, options) in [
        ("program", &[][..]),
        ("object.o", &["-c"]),
        ("parts.o", &["-c", "-rdc=true"]),
        ("packed", &["-Xfatbin", "-compress-all"]),
        ("archive.a", &["-lib"]),
        ("code.fatbin", &["-fatbin"]),
        ("library.so", &["-shared", "-Xcompiler", "-fPIC"]),
    ] {
        let file = at.path("home/p").join(name);
        let mut nvcc = Command::new(tree.join("bin/nvcc"));
        nvcc.args(&targets)
            .args(options)
            .arg("-o")
            .arg(&file)
            .arg(&source)
            .args(["-Wno-deprecated-gpu-targets"]);
        nvcc.args(ccbin.iter().flat_map(|path| ["-ccbin", path]));
        let made = nvcc.output().unwrap();
        assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
        let said = cudaup(&at, &["inspect", "--json", name]);
        assert_eq!(said.code, Some(0), "{name}: {}", said.err);
        let report: Value = serde_json::from_str(&said.out).unwrap();
        let mine: BTreeSet<String> = report["files"][0]["architectures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a.as_str().unwrap().to_owned())
            .collect();
        let cuobjdump = tree.join("bin/cuobjdump");
        let mut theirs = listed(&cuobjdump, "--list-elf", &file, ".cubin");
        theirs.extend(
            listed(&cuobjdump, "--list-ptx", &file, ".ptx").into_iter().map(|a| a.replace("sm_", "compute_")),
        );
        assert_eq!(mine, theirs, "{release} {name}");
        assert_eq!(mine.len(), architectures.len() + 1, "{name}: {mine:?}");
    }
}

#[test]
fn real_kernels_of_12_4_are_listed_as_cuobjdump_does() {
    compare("12.4", &["50", "60", "70", "75", "80", "86", "90", "90a"], None);
}

#[test]
fn real_kernels_of_11_8_are_listed_as_cuobjdump_does() {
    let beside = std::env::var_os("CUDAUP_TEST_TREES").map(|trees| Path::new(&trees).join("gcc-11/bin/g++"));
    let compiler = beside.filter(|path| path.exists()).unwrap_or_else(|| "/usr/bin/g++-11".into());
    if !compiler.exists() {
        eprintln!("skipped: kernels of CUDA 11.8: there is no g++ 11");
        return;
    }
    compare("11.8", &["35", "50", "60", "70", "75", "80", "86", "90"], compiler.to_str());
}

#[test]
fn real_programs_are_compiled_and_linked_by_verify() {
    let Some(tree) = tree("12.4") else { return };
    let at = Sandbox::new();
    let user = |arguments: &[&str]| {
        let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
        said(command.env_remove("CUDAUP_SYSROOT").args(arguments).output().unwrap())
    };
    assert_eq!(user(&["link", "mine", &tree.to_string_lossy()]).code, Some(0));
    let done = user(&["verify", "mine"]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    assert!(done.out.contains("ok vector addition: compiles and links"), "{}", done.out);
    assert!(done.out.contains("-  cuDNN: compiles and links   cudnn.h is not here"), "{}", done.out);
    let without = user(&["verify", "nosuch"]);
    assert_eq!(without.code, Some(3), "{}", without.err);
}

#[test]
fn a_compiler_that_fails_is_named_with_its_words() {
    let at = Sandbox::new();
    at.toolkit("usr/local/cuda-12.4", "12.4.1");
    at.write("usr/local/cuda-12.4/include/cuda_runtime.h", "");
    at.script(
        "usr/local/cuda-12.4/bin/nvcc",
        "case \"$*\" in *add.cu*) echo 'add.cu(1): error: out of luck' >&2; exit 2;; esac",
    );
    let said = cudaup(&at, &["verify"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(
        said.out.contains("X  vector addition: compiles and links   add.cu(1): error: out of luck"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("failed: vector addition: compiles and links; what it says: cudaup doctor"),
        "{}",
        said.out
    );
}

#[test]
fn what_is_piped_in_is_explained() {
    let at = Sandbox::new();
    let explain = |text: &[u8]| {
        let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
        let mut child = command
            .arg("explain")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        said(child.wait_with_output().unwrap())
    };
    let found =
        explain(b"make\nnvcc fatal   : Unsupported gpu architecture 'compute_120'\nmake: *** [x] Error 1\n");
    assert_eq!(found.code, Some(0), "{}", found.err);
    assert!(
        found.out.starts_with("line 2: nvcc fatal   : Unsupported gpu architecture 'compute_120'\n"),
        "{}",
        found.out
    );
    let none = explain(b"all is well\n");
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
    assert!(none.err.contains("cudaup doctor"), "{}", none.err);
    for (text, code) in [("driver-too-old", Some(0)), ("oom", Some(0)), ("nosuchfile.log", Some(1))] {
        assert_eq!(cudaup(&at, &["explain", text]).code, code, "{text}");
    }
    let page = cudaup(&at, &["explain", "smi-nvcc-differ"]);
    assert!(
        page.out.starts_with("smi-nvcc-differ: nvidia-smi and nvcc show different CUDA versions\n\n"),
        "{}",
        page.out
    );
}

#[test]
fn gpus_and_an_alert() {
    let at = Sandbox::new();
    assert_eq!(cudaup(&at, &["gpu"]).code, Some(1), "there is none");
    at.script(
        "usr/bin/nvidia-smi",
        "case \"$*\" in *query*) echo '0, NVIDIA H200, 9.0, 580.159.04, 143771 MiB, 140000 MiB, 97 %, 00000000:00:06.0, Disabled';;\n\
         *) echo '| NVIDIA-SMI 580.159.04  Driver Version: 580.159.04  CUDA Version: 13.0 |';; esac",
    );
    let shown = cudaup(&at, &["gpu"]);
    assert_eq!(
        (shown.code, shown.out.as_str()),
        (Some(0), "GPU 0  H200  sm_90  140000 of 143771 MiB taken  97 %\n")
    );
    let low = cudaup(&at, &["gpu", "--alert-below", "4GiB", "--exec", "echo low on $CUDAUP_GPU"]);
    assert_eq!(low.code, Some(1));
    assert!(low.err.contains("low on 0"), "{}", low.err);
    let enough = cudaup(&at, &["gpu", "--alert-below", "1GiB", "--exec", "echo low on $CUDAUP_GPU"]);
    assert_eq!((enough.code, enough.err.as_str()), (Some(0), ""));
}
