//! The machine's own toolkits as installers, distributions and HPC software put them: found, named by their origin, and
//! listed as broken where they are.

use crate::sandbox::{Said, Sandbox, said};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn json(said: &Said) -> Value {
    assert_eq!(said.code, Some(0), "{}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

/// `version kind origin` of each toolkit that is listed, and what is wrong with it.
fn rows(at: &Sandbox, set: &[(&str, &str)]) -> Vec<String> {
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    let listed = json(&said(command.args(["list", "--json"]).envs(set.iter().copied()).output().unwrap()));
    let row = |r: &Value| {
        let text = |key: &str| r[key].as_str().unwrap_or_default().to_owned();
        let all = [text("version"), text("kind"), text("origin"), text("broken")];
        all.join(" ").trim_end().to_owned()
    };
    listed["toolkits"].as_array().unwrap().iter().map(row).collect()
}

/// Debian's package of 11.8, made of scripts: the wrapper names the compiler by its path below the machine's root.
pub fn debian(at: &Sandbox) {
    let inside = at.toolkit("made", "11.8.0").join("bin/nvcc");
    fs::create_dir_all(at.path("usr/lib/nvidia-cuda-toolkit/bin")).unwrap();
    let compiler = at.path("usr/lib/nvidia-cuda-toolkit/bin/nvcc");
    fs::rename(inside, &compiler).unwrap();
    at.script("usr/bin/nvcc", &format!("\nexec {} \"$@\"\n", compiler.display()));
    at.script("usr/bin/ptxas", "echo ptxas \"$0\"");
    at.write("usr/lib/x86_64-linux-gnu/libcudart.so.11.8.89", "");
    at.write("usr/include/cuda.h", "#define CUDA_VERSION 11080\n");
    at.write("usr/lib/cuda/include/cuda.h", "");
    fs::remove_dir_all(at.path("made")).unwrap();
}

#[test]
fn packages_with_alternatives_are_one_toolkit_with_all_their_names() {
    let at = Sandbox::new();
    at.toolkit("usr/local/cuda-12.6", "12.6.3");
    at.toolkit("usr/local/cuda-11.8", "11.8.0");
    fs::create_dir_all(at.path("etc/alternatives")).unwrap();
    for (link, target) in [
        ("usr/local/cuda", "/etc/alternatives/cuda"),
        ("etc/alternatives/cuda", "/usr/local/cuda-12"),
        ("usr/local/cuda-12", "/etc/alternatives/cuda-12"),
        ("etc/alternatives/cuda-12", "/usr/local/cuda-12.6"),
    ] {
        symlink(target, at.path(link)).unwrap();
    }
    at.write("var/lib/dpkg/info/cuda-nvcc-12-6.list", "/usr/local/cuda-12.6/bin/nvcc\n");
    let registered = "auto\n/usr/local/cuda\n\n/usr/local/cuda-12.6\n126\n\n";
    at.write("var/lib/dpkg/alternatives/cuda", registered);
    at.write("usr/local/cuda-11.8/bin/cuda-uninstaller", "");
    at.toolkit("usr/local/cuda-12.0", "12.0.1");
    let listed = at.cudaup("p", &["list"]);
    let lines: Vec<&str> = listed.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", listed.out);
    assert!(lines[0].starts_with("* 12.6.3  system (NVIDIA's package)"), "{}", lines[0]);
    assert!(lines[0].contains("usr/local/cuda, ") && lines[0].ends_with("usr/local/cuda-12"), "{}", lines[0]);
    assert!(lines[1].starts_with("  11.8.0  system (NVIDIA's installer)"), "{}", lines[1]);
    let root = at.path("usr/local/cuda-12.6");
    assert_eq!(at.cudaup("p", &["which", "nvcc"]).out, format!("{}\n", root.join("bin/nvcc").display()));
    // The package was removed, and its link in /etc stayed.
    fs::rename(&root, at.path("gone")).unwrap();
    assert_eq!(
        rows(&at, &[]),
        [
            "? system usr-local dangling-link",
            "11.8.0 system usr-local",
            "? system usr-local dangling-link",
            "12.0.1 system usr-local"
        ]
    );
    assert_eq!(
        at.cudaup("p", &["which", "--root"]).out,
        format!("{}\n", at.path("usr/local/cuda-12.0").display())
    );
}

#[test]
fn debians_package_is_used_by_its_wrapper_and_adds_nothing_to_lists() {
    let at = Sandbox::new();
    debian(&at);
    at.managed("12.4.1");
    assert_eq!(at.cudaup("p", &["rehash"]).code, Some(0));
    let listed = at.cudaup("p", &["list", "11.8"]).out;
    assert!(listed.starts_with("* 11.8.0  system (Debian's package)"), "{listed}");
    at.write("q/.cuda-version", "11.8\n");
    let nvcc = at.path("usr/bin/nvcc");
    assert_eq!(at.cudaup("q", &["which", "nvcc"]).out, format!("{}\n", nvcc.display()));
    assert_eq!(
        at.cudaup("q", &["which", "python3"]).code,
        Some(1),
        "the system's, and no tool of the toolkit"
    );
    let compiler = at.path("usr/lib/nvidia-cuda-toolkit/bin/nvcc");
    let shims = at.home().join("shims");
    let path = format!("{}:/usr/local/cuda-11.1/bin:/usr/bin:/bin", shims.display());
    let run = |program: &Path, arguments: &[&str]| {
        let mut command = at.command(program, "q");
        let output = command.args(arguments).env("PATH", &path).env("CPATH", "/mine").output().unwrap();
        said(output).out
    };
    let cudaup = at.home().join("bin/cudaup");
    let called = format!("{} x.cu\n", compiler.display());
    assert_eq!(run(&cudaup, &["exec", "--", "nvcc", "x.cu"]), called);
    assert_eq!(run(&shims.join("nvcc"), &["x.cu"]), called);
    assert_eq!(run(&shims.join("ptxas"), &[]), format!("ptxas {}\n", at.path("usr/bin/ptxas").display()));
    for environment in [run(&cudaup, &["exec", "--", "nvcc", "--env"]), run(&shims.join("nvcc"), &["--env"])]
    {
        let has = |line: &str| environment.split('\0').any(|l| l == line);
        assert!(has(&format!("CUDA_HOME={}", at.path("usr").display())), "{environment:?}");
        assert!(has(&format!("CUDACXX={}", nvcc.display())), "{environment:?}");
        assert!(has(&format!("PATH={}:/usr/bin:/bin", shims.display())), "{environment:?}");
        assert!(has("CPATH=/mine") && !environment.contains("LIBRARY_PATH="), "{environment:?}");
    }
    for inside in ["usr/lib/cuda", "usr/lib/nvidia-cuda-toolkit"] {
        let refused = at.cudaup("q", &["link", "x", at.path(inside).to_str().unwrap()]);
        assert_eq!(refused.code, Some(1));
        assert!(refused.err.contains("one piece of Debian's package"), "{}", refused.err);
    }
    // A step of GitHub Actions gets variables, and no directory for PATH.
    for file in ["env", "path"] {
        at.write(file, "");
    }
    let mut step = at.command(&cudaup, "q");
    step.args(["env", "--github"]).env("GITHUB_ENV", at.path("env")).env("GITHUB_PATH", at.path("path"));
    assert_eq!(said(step.output().unwrap()).code, Some(0));
    assert_eq!(fs::read_to_string(at.path("path")).unwrap(), "");
    assert!(fs::read_to_string(at.path("env")).unwrap().contains("CUDACXX="));
}

#[test]
fn what_the_environment_brings_is_listed_with_its_origin() {
    let at = Sandbox::new();
    let module = at.toolkit("apps/cuda/10.1/x86_64", "10.1.2");
    at.script("usr/bin/nvcc", "echo 'Cuda compilation tools, release 11.5, V11.5.119'");
    at.write("usr/include/cuda.h", "#define CUDA_VERSION 11050\n");
    let root = module.to_str().unwrap();
    let loaded = [("LOADEDMODULES", "gcc/9.3.0:cuda/10.1"), ("EBROOTCUDA", root), ("CUDA_ROOT", root)];
    let both = ["11.5 system usr", "10.1.2 system module"];
    assert_eq!(rows(&at, &loaded), both);
    let mut which = at.command(at.home().join("bin/cudaup"), "p");
    which.args(["which", "--root"]).envs(loaded);
    assert_eq!(
        said(which.output().unwrap()).out,
        format!("{root}\n"),
        "what was loaded is what somebody asked for"
    );
    let mut human = at.command(at.home().join("bin/cudaup"), "p");
    let human = said(human.arg("list").envs(loaded).output().unwrap()).out;
    assert!(human.contains("* 10.1.2  system (environment module cuda/10.1)"), "{human}");
    assert_eq!(rows(&at, &[]), both[..1]);
    at.write("pinned/.cuda-version", "10.1\n");
    assert_eq!(at.cudaup("pinned", &["which", "nvcc"]).code, Some(3), "not loaded, not there");
    let conda = at.toolkit("conda/envs/ml", "12.6.3");
    at.write("conda/envs/ml/conda-meta/history", "");
    assert_eq!(rows(&at, &[("CONDA_PREFIX", conda.to_str().unwrap())])[1..], ["12.6.3 system conda"]);
    // A search path is no directory; the first half of it is not guessed.
    for odd in [format!("{root}:"), format!(":{root}"), format!("{root}/bin"), format!("{root}:{root}")] {
        assert_eq!(rows(&at, &[("CUDA_HOME", &odd)]), both[..1], "{odd}");
    }
    assert_eq!(rows(&at, &[("CUDA_HOME", &format!("{root}/"))])[1..], ["10.1.2 system variable"]);
}

/// What a shell with the hook sees at each place, as a module is loaded and unloaded.
const WITH_A_MODULE: &str = r#"
eval "$("$0" init bash)"
load() { export EBROOTCUDA=$1 CUDA_HOME=$1 LOADEDMODULES=CUDA/10.1 PATH=$1/bin:$PATH LD_LIBRARY_PATH=$1/lib64; }
unload() { unset EBROOTCUDA CUDA_HOME LOADEDMODULES LD_LIBRARY_PATH; PATH=${PATH//"$1/bin:"/}; }
show() { _cudaup_hook; echo "$1 ${CUDA_HOME-unset} $(command -v nvcc || echo none) ${LD_LIBRARY_PATH-unset}"; }
cd "$R/ten"; show unmet
load "$M"; show loaded
cd "$R/eleven"; show other
cd "$R/ten"; show by-module
unload "$M"; show unloaded
cd "$R"; show outside
echo "$PATH"
"#;

#[test]
fn a_module_meets_a_pin_while_it_is_loaded() {
    let at = Sandbox::new();
    let module = at.toolkit("apps/CUDA/10.1", "10.1.2");
    let other = at.toolkit("usr/local/cuda-11.7", "11.7.1");
    at.write("ten/.cuda-version", "10.1\n");
    at.write("eleven/.cuda-version", "11.7\n");
    let mut shell = at.command("/bin/bash", "");
    shell.args(["--norc", "-c", WITH_A_MODULE]).arg(at.home().join("bin/cudaup"));
    let seen = said(shell.env("R", at.path("")).env("M", &module).output().unwrap());
    let whole = |root: &Path, lib: &str| {
        let root = root.display();
        format!("{root} {root}/bin/nvcc {root}/lib64{lib}")
    };
    let cupti = |root: &Path| format!(":{}/extras/CUPTI/lib64", root.display());
    let shims = at.home().join("shims");
    assert_eq!(
        seen.out.lines().collect::<Vec<_>>(),
        [
            "unmet unset none unset".to_owned(),
            format!("loaded {}", whole(&module, "")),
            format!("other {}", whole(&other, &cupti(&other))),
            format!("by-module {}", whole(&module, &cupti(&module))),
            "unloaded unset none unset".to_owned(),
            "outside unset none unset".to_owned(),
            format!("/usr/bin:/bin:{}", shims.display()),
        ],
        "{}",
        seen.err
    );
    assert!(seen.err.contains("came into this shell and is left in charge"), "{}", seen.err);
}

#[test]
fn a_toolkit_that_only_fails_is_broken_and_never_chosen() {
    let at = Sandbox::new();
    let sdk = format!("opt/nvidia/hpc_sdk/Linux_{}/21.7/cuda", std::env::consts::ARCH);
    at.toolkit(&format!("{sdk}/11.4"), "11.4.2");
    at.toolkit(&format!("{sdk}/12.9"), "12.9.1");
    let said_by_nvcc = "nvcc-Error-CUDA version 12.9 was not installed with this HPC SDK:";
    at.script(&format!("{sdk}/12.9/bin/nvcc"), &format!("echo \"{said_by_nvcc}\"\necho \"/opt\"\nexit 1"));
    let listed = at.cudaup("p", &["list"]).out;
    assert!(listed.contains("system (HPC SDK 21.7)"), "{listed}");
    assert!(listed.contains(&format!("broken: its nvcc says: {said_by_nvcc}")), "{listed}");
    let root = at.path(&format!("{sdk}/11.4"));
    assert_eq!(
        at.cudaup("p", &["which", "--root"]).out,
        format!("{}\n", root.display()),
        "not the newer one"
    );
    let asked = at.cudaup("p", &["exec", "12.9", "--", "nvcc"]);
    assert_eq!(asked.code, Some(3));
    assert!(asked.err.contains("12.9 (broken: its nvcc says: nvcc-Error"), "{}", asked.err);
    let linked = at.cudaup("p", &["link", "sdk", at.path(&format!("{sdk}/12.9")).to_str().unwrap()]);
    assert_eq!(linked.code, Some(1));
    assert!(linked.err.contains(said_by_nvcc), "{}", linked.err);
}

#[test]
fn half_a_toolkit_serves_by_its_name_alone() {
    let at = Sandbox::new();
    let runtime = at.toolkit("data/runtime", "12.4.1");
    fs::remove_dir_all(runtime.join("bin")).unwrap();
    let linked = at.cudaup("p", &["link", "runtime", runtime.to_str().unwrap()]);
    assert_eq!(linked.code, Some(0), "{}", linked.err);
    assert!(linked.err.contains("note: it has no nvcc"), "{}", linked.err);
    assert_eq!(rows(&at, &[]), ["12.4.1 linked home no-nvcc"]);
    assert_eq!(at.cudaup("p", &["exec", "runtime", "--", "true"]).code, Some(0));
    assert_eq!(at.cudaup("p", &["exec", "12.4", "--", "true"]).code, Some(3), "never without being named");
    let nvcc = at.script("data/stale/bin/nvcc", "exit 0");
    at.write("data/stale/version.json", r#"{"cuda":{"version":"12.5.1"}}"#);
    fs::set_permissions(nvcc, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = at.cudaup("p", &["link", "stale", at.path("data/stale").to_str().unwrap()]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("permission denied") || refused.err.contains("executed"), "{}", refused.err);
}

#[test]
fn a_shared_home_gives_its_toolkits_to_others() {
    let at = Sandbox::new();
    fs::set_permissions(at.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    at.toolkit("srv/cudaup/toolkits/12.4.1", "12.4.1");
    at.toolkit("srv/cudaup/toolkits/12.6.3", "12.6.3");
    at.toolkit("srv/cudaup/staging/installing-13.0.2", "13.0.2");
    at.toolkit("srv/closed/11.8", "11.8.0");
    at.write("home/.cudaup/default", "12\nroots = /srv/cudaup, /srv/closed, /srv/absent\n");
    assert_eq!(
        rows(&at, &[]),
        [
            "12.4.1 shared cudaup-home",
            "12.6.3 shared cudaup-home",
            "11.8.0 shared root",
            "? shared root gone"
        ]
    );
    let root = at.path("srv/cudaup/toolkits/12.6.3");
    assert_eq!(at.cudaup("p", &["which", "--root"]).out, format!("{}\n", root.display()));
    fs::set_permissions(at.path("srv/closed"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).unwrap();
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can look as another user");
        return;
    }
    let mut other = at.command("/usr/bin/setpriv", "p");
    other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(at.home().join("bin/cudaup"));
    let listed = said(other.arg("list").output().unwrap());
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    let line = |name: &str| listed.out.lines().find(|l| l.contains(name)).unwrap_or_default().to_owned();
    assert!(line("12.4.1").starts_with('*'), "{}", listed.out);
    assert!(line("srv/closed").contains("broken: its directory cannot be read"), "{}", listed.out);
    assert!(line("toolkits/12.6.3").contains("broken: its directory cannot be read"), "{}", listed.out);
    assert!(line("srv/absent").contains("missing"), "{}", listed.out);
}

#[test]
fn a_home_is_for_one_machine() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\n");
    assert_eq!(at.cudaup("p", &["rehash"]).code, Some(0));
    let record = at.home().join("machine");
    assert_eq!(fs::read_to_string(&record).unwrap(), format!("{}\n", std::env::consts::ARCH));
    let other = if cfg!(target_arch = "aarch64") { "x86_64" } else { "aarch64" };
    fs::write(&record, format!("{other}\n")).unwrap();
    let before = fs::read_dir(at.home()).unwrap().count();
    for arguments in
        [&["list"][..], &["which", "nvcc"], &["env", "--shell", "bash"], &["use", "12.4"], &["rehash"]]
    {
        let refused = at.cudaup("p", arguments);
        let text = if arguments.contains(&"env") { "false\n" } else { "" };
        assert_eq!((refused.code, refused.out.as_str()), (Some(1), text), "{arguments:?}");
        assert!(refused.err.contains(&format!("holds toolkits for {other}")), "{}", refused.err);
        assert!(refused.err.contains("try: export CUDAUP_HOME="), "{}", refused.err);
    }
    assert_eq!(fs::read_dir(at.home()).unwrap().count(), before);
    // As a listed root of a home for this machine it is shown, and not chosen.
    let mut command = at.command(at.home().join("bin/cudaup"), "none");
    command.env("CUDAUP_HOME", at.path("own")).env("CUDAUP_SYSROOT", "/");
    fs::create_dir_all(at.path("own")).unwrap();
    fs::write(at.path("own/default"), format!("roots = {}\n", at.home().display())).unwrap();
    let listed = said(command.arg("list").output().unwrap()).out;
    let line = listed.lines().find(|l| l.contains("toolkits/12.4.1")).unwrap();
    assert!(
        line.contains("shared (another cudaup home)") && line.contains(&format!("for {other}")),
        "{listed}"
    );
}

#[test]
fn where_a_managed_toolkit_serves_nothing_else_is_looked_for() {
    let Ok(strace) = which("strace") else {
        eprintln!("skipped: no strace here");
        return;
    };
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.toolkit("usr/local/cuda-12.9", "12.9.1");
    debian(&at);
    at.write("p/.cuda-version", "12.4\n");
    assert_eq!(at.cudaup("p", &["rehash"]).code, Some(0));
    let opened = |program: &Path, arguments: &[&str], directory: &str| {
        let log = at.path("trace");
        let mut command = at.command(&strace, directory);
        command.args(["-f", "-qq", "-e", "trace=%file,execve", "-o"]).arg(&log).arg(program).args(arguments);
        assert!(command.output().unwrap().status.success());
        fs::read_to_string(log).unwrap()
    };
    for trace in [
        opened(&at.home().join("shims/nvcc"), &["x.cu"], "p"),
        opened(&at.home().join("bin/cudaup-shim"), &["hook", "bash"], "p"),
    ] {
        let machine = [at.path("usr/local"), at.path("opt"), at.path("usr/bin")];
        for place in machine.iter().map(|p| p.to_str().unwrap()) {
            assert!(!trace.contains(place), "{place}: {trace}");
        }
    }
    // Where the machine's own serve, no process is started to find them.
    let trace = opened(&at.home().join("bin/cudaup"), &["which", "--root"], "none");
    assert!(trace.contains("usr/local/cuda-12.9"), "{trace}");
    assert_eq!(trace.matches("execve(").count(), 1, "{trace}");
}

fn which(program: &str) -> Result<std::path::PathBuf, ()> {
    let path = Path::new("/usr/bin").join(program);
    if path.is_file() { Ok(path) } else { Err(()) }
}
