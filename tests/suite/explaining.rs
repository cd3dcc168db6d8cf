//! `env --explain`: what each variable was, what it becomes and why; and the machines whose libraries stay where they are.

use crate::sandbox::{Said, Sandbox, said};
use serde_json::Value;

fn explained(at: &Sandbox, directory: &str, more: &[&str], set: &[(&str, &str)]) -> Said {
    let mut command = at.command(at.home().join("bin/cudaup"), directory);
    command.args(["env", "--explain"]).args(more).envs(set.iter().copied());
    said(command.output().unwrap())
}

#[test]
fn each_variable_has_its_reason() {
    let at = Sandbox::new();
    let root = at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\nhost_compiler = g++-12\ncpath = off\n");
    let set = [
        ("PATH", "/usr/local/cuda-11.1/bin:/usr/bin:/bin"),
        ("LD_LIBRARY_PATH", "/usr/lib/wsl/lib:/apps/x/lib64:/home/mine/lib"),
        ("EBROOTCUDA", "/apps/x"),
        ("CPATH", "/usr/local/cuda/include"),
        ("CUDACXX", "/opt/mine/nvcc"),
        ("NVCC_PREPEND_FLAGS", "-O2"),
    ];
    let text = explained(&at, "p", &[], &set).out;
    let line = |start: &str| text.lines().find(|l| l.starts_with(start)).unwrap_or_default().to_owned();
    let pin = at.path("p/.cuda-version");
    assert_eq!(
        line("CUDA 12.4.1"),
        format!("CUDA 12.4.1 by {}:1 (12.4): ~/.cudaup/toolkits/12.4.1", pin.display())
    );
    assert_eq!(
        line("CUDA_HOME:"),
        "CUDA_HOME: was unset, becomes ~/.cudaup/toolkits/12.4.1   the toolkit's directory"
    );
    assert_eq!(
        line("CUDACXX:"),
        "CUDACXX: stays /opt/mine/nvcc   it stays as you set it, since it lies in no toolkit"
    );
    assert_eq!(
        line("NVCC_PREPEND_FLAGS:"),
        "NVCC_PREPEND_FLAGS: was -O2, becomes -ccbin g++-12 -O2   host_compiler asks for it"
    );
    assert_eq!(line("CPATH:"), "CPATH: becomes unset; cpath = off");
    assert_eq!(line("  + ~/.cudaup/toolkits/12.4.1/bin"), "  + ~/.cudaup/toolkits/12.4.1/bin  its programs");
    assert_eq!(
        line("  - /usr/local/cuda-11.1/bin"),
        "  - /usr/local/cuda-11.1/bin       another toolkit's: its directory is named cuda-11.1"
    );
    assert!(line("  - /apps/x/lib64").ends_with("  another toolkit's: EBROOTCUDA names it"), "{text}");
    assert!(line("    /usr/lib/wsl/lib").ends_with("the driver of WSL2"), "{text}");
    assert!(
        text.contains("\n    /home/mine/lib\n") && line("CUDAUP_STATE:").contains("the way back"),
        "{text}"
    );
    // What it says is what env does.
    let told: Value = serde_json::from_str(&explained(&at, "p", &["--json"], &set).out).unwrap();
    assert_eq!((&told["version"], &told["root"]), (&"12.4.1".into(), &root.to_str().unwrap().into()));
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    command.args(["env", "--json"]).envs(set);
    let done: Value = serde_json::from_str(&said(command.output().unwrap()).out).unwrap();
    let told = told["variables"].as_array().unwrap();
    for (name, value) in done["variables"].as_object().unwrap() {
        let one = told.iter().find(|v| v["name"] == **name).unwrap_or_else(|| panic!("{name} is not told"));
        assert_eq!(&one["after"], value, "{name}");
        assert!(!one["why"].as_str().unwrap().is_empty() || !one["entries"].as_array().unwrap().is_empty());
    }
}

#[test]
fn where_nothing_is_entered_the_refusal_is_said_and_nothing_explained() {
    let at = Sandbox::new();
    at.write("p/.cuda-version", "12.4\n");
    let refused = explained(&at, "p", &[], &[]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(3), ""));
    assert!(refused.err.contains("CUDA 12.4 is not installed"), "{}", refused.err);
    assert_eq!(explained(&at, "p", &["--shell", "bash"], &[]).code, Some(2));
}

#[test]
fn a_search_path_in_cuda_home_becomes_one_directory_and_comes_back() {
    let at = Sandbox::new();
    let root = at.managed("12.4.1");
    let root = root.to_str().unwrap();
    for odd in [
        "/usr/local/cuda:",
        ":/usr/local/cuda",
        "/usr/local/cuda:/usr/local/cuda-11.8",
        "/usr/local/cuda/bin",
    ] {
        let told = explained(&at, "p", &["12.4", "--json"], &[("CUDA_HOME", odd), ("CUDA_PATH", odd)]);
        let told: Value = serde_json::from_str(&told.out).unwrap();
        for name in ["CUDA_HOME", "CUDA_PATH"] {
            let one = told["variables"].as_array().unwrap().iter().find(|v| v["name"] == name).unwrap();
            assert_eq!((&one["before"], &one["after"]), (&odd.into(), &root.into()), "{odd}");
        }
    }
}

#[test]
fn on_a_jetson_the_library_path_is_left_alone() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("etc/nv_tegra_release", "# R36 (release), REVISION: 4.3\n");
    let set =
        [("LD_LIBRARY_PATH", "/usr/local/cuda/lib64:/mine"), ("PATH", "/usr/local/cuda/bin:/usr/bin:/bin")];
    let text = explained(&at, "p", &["12.4"], &set).out;
    assert!(text.contains("LD_LIBRARY_PATH: left alone on a Jetson"), "{text}");
    assert!(
        text.contains("\n    /usr/local/cuda/lib64\n") && text.contains("  - /usr/local/cuda/bin"),
        "{text}"
    );
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    command.args(["exec", "12.4", "--", "/usr/bin/env"]).envs(set);
    let environment = said(command.output().unwrap()).out;
    assert!(environment.contains("\nLD_LIBRARY_PATH=/usr/local/cuda/lib64:/mine\n"), "{environment}");
}

#[test]
fn wsls_driver_stays_in_both_lists() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("proc/version", "Linux version 5.15.153.1-microsoft-standard-WSL2\n");
    at.write("usr/lib/wsl/lib/libcuda.so.1", "");
    let windows =
        "/usr/bin:/bin:/usr/lib/wsl/lib:/mnt/c/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.2/bin";
    let set = [("PATH", windows), ("LD_LIBRARY_PATH", "/usr/lib/wsl/lib")];
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    command.args(["exec", "12.4", "--", "/usr/bin/env"]).envs(set);
    let environment = said(command.output().unwrap()).out;
    let value = |name: &str| environment.lines().find_map(|l| l.strip_prefix(name)).unwrap().to_owned();
    assert!(value("PATH=").ends_with(&format!("/bin:{windows}")), "{environment}");
    assert!(value("LD_LIBRARY_PATH=").ends_with(":/usr/lib/wsl/lib"), "{environment}");
}
