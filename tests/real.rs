//! Real toolkits, real compilers, real shells: four projects pinned to four toolkits, reached through the hook, through the
//! shims alone and through exec. `tests/run` names the trees in CUDAUP_TEST_TREES; what is absent is said and left out.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "tests start programs and read what tests/run hands over")]

#[path = "suite/sandbox.rs"]
#[expect(dead_code, reason = "the suite uses more of it")]
mod sandbox;

#[path = "real/debian.rs"]
mod debian;

#[path = "real/nvidia.rs"]
mod nvidia;

use sandbox::{Sandbox, said, variables};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = r#"
#include <cstdio>
__global__ void add(int n, const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += a[i];
}
int main() {
    int nvcc = __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10;
    std::printf("%d %d\n", CUDART_VERSION, nvcc);
}
"#;

const CMAKE: &str = "cmake_minimum_required(VERSION 3.20)
project(real LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 80)
find_package(CUDAToolkit REQUIRED)
add_executable(a a.cu)
target_link_libraries(a CUDA::cudart)
file(WRITE ${CMAKE_BINARY_DIR}/root \"${CUDAToolkit_TARGET_DIR}\")
";

/// A project, the release that its programs print, and the root of its toolkit.
struct Project {
    directory: &'static str,
    prints: &'static str,
    root: PathBuf,
}

/// A machine with the toolkits and a project for each.
fn machine() -> Option<(Sandbox, Vec<Project>)> {
    let Some(trees) = std::env::var_os("CUDAUP_TEST_TREES").map(PathBuf::from) else {
        eprintln!("skipped: real toolkits (CUDAUP_TEST_TREES names none; tests/run makes them)");
        return None;
    };
    let at = Sandbox::named("cudaup real ");
    let mut projects = Vec::new();
    let linked = [
        ("11.8", "11.8\nhost_compiler = g++-11\n", "11080 11080\n", "eleven"),
        ("12.4", "12.4\n", "12040 12040\n", "twelve"),
    ];
    for (tree, pin, prints, directory) in linked {
        let root = trees.join(tree);
        let name = format!("real-{directory}");
        if !root.join("bin/nvcc").exists() {
            eprintln!("skipped: CUDA {tree}, which is not in {}", trees.display());
            continue;
        }
        if tree == "11.8" && !Path::new("/usr/bin/g++-11").exists() {
            eprintln!("skipped: CUDA 11.8, which needs g++-11");
            continue;
        }
        let link = at.cudaup("", &["link", &name, root.to_str().unwrap()]);
        assert_eq!(link.code, Some(0), "{}", link.err);
        projects.push(project(&at, directory, pin, prints, fs::canonicalize(root).unwrap()));
    }
    for (release, prints, directory) in
        [("13.0", "13000 13000\n", "thirteen"), ("13.5", "13050 13050\n", "newest")]
    {
        let mut install = at.command(at.home().join("bin/cudaup"), "");
        install.env_remove("CUDAUP_SYSROOT").envs(std::env::vars().filter(|(n, _)| is_of_the_index(n)));
        let installed = said(install.args(["install", release, "--profile", "minimal"]).output().unwrap());
        if installed.code == Some(4) {
            eprintln!("skipped: CUDA {release}, since no package index is reached: {}", installed.err);
            continue;
        }
        assert_eq!(installed.code, Some(0), "{}", installed.err);
        assert!(installed.out.contains("proved with"), "{}{}", installed.out, installed.err);
        let root = at.cudaup("", &["exec", release, "--", "sh", "-c", "printf %s \"$CUDA_HOME\""]).out;
        projects.push(project(&at, directory, &format!("{release}\n"), prints, root.into()));
    }
    Some((at, projects))
}

/// Settings of pip and uv and of certificates, which reach the index.
fn is_of_the_index(name: &str) -> bool {
    ["PIP_", "UV_", "SSL_", "REQUESTS_"].iter().any(|p| name.starts_with(p))
        || name.to_lowercase().ends_with("_proxy")
}

fn project(at: &Sandbox, directory: &'static str, pin: &str, prints: &'static str, root: PathBuf) -> Project {
    at.write(&format!("{directory}/.cuda-version"), pin);
    at.write(&format!("{directory}/a.cu"), PROGRAM);
    at.write(&format!("{directory}/cmake/a.cu"), PROGRAM);
    at.write(&format!("{directory}/cmake/CMakeLists.txt"), CMAKE);
    Project { directory, prints, root }
}

/// What a shell does in a project: its environment before, a compilation inside, its environment after.
const VISIT: &str = "env -0 >../before
cd \"../$P\"
nvcc -arch=sm_80 a.cu -o a.out && ./a.out >printed; printf %s \"$CUDA_HOME\" >home; command -v nvcc >typed
cd ../elsewhere
env -0 >../after
exit
";

fn shell_command(at: &Sandbox, shell: &str) -> Option<Command> {
    let place = ["/usr/bin", "/bin"].iter().map(|d| Path::new(d).join(shell)).find(|p| p.exists());
    let Some(program) = place else {
        eprintln!("skipped: {shell}, which is not installed");
        return None;
    };
    let mut command = at.command(program, "elsewhere");
    command.env("TERM", "dumb").env("CUDAUP", at.home().join("bin/cudaup"));
    // What a start file with old lines about CUDA leaves behind.
    command
        .env("PATH", "/usr/local/cuda-9.0/bin:/usr/bin:/bin")
        .env("LD_LIBRARY_PATH", "/usr/local/cuda-9.0/lib64:");
    command.env("CUDA_HOME", "/usr/local/cuda-9.0").env("CPATH", "");
    Some(command)
}

fn visit(at: &Sandbox, shell: &str, project: &Project) {
    let Some(mut command) = shell_command(at, shell) else { return };
    let (arguments, start): (&[&str], &str) = match shell {
        "bash" => (&["--norc", "--noprofile", "-i"], "eval \"$(\"$CUDAUP\" init bash)\"\n"),
        "zsh" => (&["-f", "-i"], "eval \"$(\"$CUDAUP\" init zsh)\"\n"),
        _ => (&["--no-config"], "\"$CUDAUP\" init fish | source\n"),
    };
    for file in ["before", "after"] {
        let _ = fs::remove_file(at.path(file));
    }
    command.args(arguments).env("P", project.directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    running.stdin.take().unwrap().write_all(format!("{start}{VISIT}").as_bytes()).unwrap();
    let ended = said(running.wait_with_output().unwrap());
    let read = |name: &str| {
        fs::read_to_string(at.path(&format!("{}/{name}", project.directory))).unwrap_or_default()
    };
    assert_eq!(
        read("printed"),
        project.prints,
        "{shell} in {}: {}{}",
        project.directory,
        ended.out,
        ended.err
    );
    assert_eq!(PathBuf::from(read("home")), project.root, "{shell}");
    assert_eq!(PathBuf::from(read("typed").trim()), project.root.join("bin/nvcc"), "{shell}");
    let environment = |name: &str| {
        let all = variables(&fs::read(at.path(name)).unwrap());
        all.into_iter()
            .filter(|(n, _)| !matches!(n.as_slice(), b"_" | b"PWD" | b"OLDPWD"))
            .collect::<Vec<_>>()
    };
    assert!(
        environment("before") == environment("after"),
        "{shell} left something behind in {}",
        project.directory
    );
}

#[test]
fn four_toolkits_in_four_projects_through_three_ways() {
    let Some((at, projects)) = machine() else { return };
    for project in &projects {
        for shell in ["bash", "zsh", "fish"] {
            visit(&at, shell, project);
        }
        compiled_by(&at, project, "the shims alone", |at| {
            let mut command = at.command("/bin/sh", project.directory);
            command.env("PATH", format!("{}:/usr/bin:/bin", at.home().join("shims").display()));
            command.args(["-c", "nvcc -arch=sm_80 a.cu -o a.out && ./a.out"]);
            command
        });
        compiled_by(&at, project, "exec", |at| {
            let mut command = at.command(at.home().join("bin/cudaup"), project.directory);
            command.args(["exec", "--", "sh", "-c", "nvcc -arch=sm_80 a.cu -o a.out && ./a.out"]);
            command
        });
        built_by_cmake(&at, project);
    }
}

fn compiled_by(at: &Sandbox, project: &Project, way: &str, command: impl Fn(&Sandbox) -> Command) {
    let _ = fs::remove_file(at.path(&format!("{}/a.out", project.directory)));
    let ran = said(command(at).output().unwrap());
    assert_eq!(ran.out, project.prints, "{way} in {}: {}", project.directory, ran.err);
}

fn built_by_cmake(at: &Sandbox, project: &Project) {
    if !Path::new("/usr/bin/cmake").exists() || !Path::new("/usr/bin/ninja").exists() {
        eprintln!("skipped: CMake in {}, since cmake or ninja is not installed", project.directory);
        return;
    }
    let mut command = at.command(at.home().join("bin/cudaup"), &format!("{}/cmake", project.directory));
    let build =
        "cmake -G Ninja -S . -B build >log 2>&1 && cmake --build build >>log 2>&1 && ./build/a || cat log";
    let built = said(command.args(["exec", "--", "sh", "-c", build]).output().unwrap());
    assert_eq!(built.out, project.prints, "{}: {}", project.directory, built.err);
    let cache =
        fs::read_to_string(at.path(&format!("{}/cmake/build/CMakeCache.txt", project.directory))).unwrap();
    let compiler = cache.lines().find_map(|l| l.strip_prefix("CMAKE_CUDA_COMPILER:FILEPATH=")).unwrap();
    assert_eq!(PathBuf::from(compiler), project.root.join("bin/nvcc"));
    let found = fs::read_to_string(at.path(&format!("{}/cmake/build/root", project.directory))).unwrap();
    assert!(Path::new(&found).starts_with(&project.root), "find_package took {found}");
}

#[test]
fn a_real_tree_is_copied_from_its_directory_and_works() {
    let Some(trees) = std::env::var_os("CUDAUP_TEST_TREES").map(PathBuf::from) else {
        eprintln!("skipped: real toolkits (CUDAUP_TEST_TREES names none; tests/run makes them)");
        return;
    };
    let root = trees.join("12.4");
    if !root.join("bin/nvcc").exists() {
        eprintln!("skipped: CUDA 12.4, which is not in {}", trees.display());
        return;
    }
    let at = Sandbox::named("cudaup copy ");
    let mut install = at.command(at.home().join("bin/cudaup"), "");
    install.env_remove("CUDAUP_SYSROOT").args(["--offline", "install", "12.4", "--from"]).arg(&root);
    let done = said(install.output().unwrap());
    assert!(done.code == Some(0) && done.out.contains("proved with"), "{}{}", done.out, done.err);
    let listed = at.cudaup("", &["list"]).out;
    assert!(listed.contains("12.4.1") && listed.contains("local"), "{listed}");
}
