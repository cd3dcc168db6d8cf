//! What `cudaup use` says of build directories that CMake itself configured with real toolkits.

use crate::sandbox::{Said, Sandbox, said};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROJECT: &str = "\
cmake_minimum_required(VERSION 3.20)
project(a LANGUAGES CXX)
find_package(CUDAToolkit REQUIRED)
add_executable(a a.cpp)
";

/// Two real toolkits by release.
fn trees() -> Option<[PathBuf; 2]> {
    let trees = std::env::var_os("CUDAUP_TEST_TREES").map(PathBuf::from);
    let found = trees.map(|trees| ["11.8", "12.4"].map(|release| trees.join(release)));
    let found = found.filter(|both| both.iter().all(|tree| tree.join("bin/nvcc").exists()));
    if found.is_none() {
        eprintln!("skipped: CUDA 11.8 and 12.4 (CUDAUP_TEST_TREES does not have them; tests/run makes them)");
    }
    found
}

/// Whether there is a CMake; `--fresh` needs one that is not very old.
fn has_cmake() -> bool {
    let found = Command::new("cmake").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: cmake is not installed");
    }
    found
}

/// A user with both toolkits and a project. The toolkits lie outside, so that this is no machine of its own.
struct User {
    at: Sandbox,
}

impl User {
    fn new(trees: &[PathBuf; 2]) -> Self {
        let at = Sandbox::new();
        at.write("p/CMakeLists.txt", PROJECT);
        at.write("p/a.cpp", "int main() {}\n");
        let user = Self { at };
        for (name, tree) in ["eleven", "twelve"].iter().zip(trees) {
            let linked = user.cudaup("p", &["link", name, &tree.to_string_lossy()]);
            assert_eq!(linked.code, Some(0), "{}", linked.err);
        }
        user
    }

    fn command(&self, program: impl AsRef<Path>, directory: &str) -> Command {
        let mut command = self.at.command(program.as_ref(), directory);
        command.env_remove("CUDAUP_SYSROOT");
        command
    }

    fn cudaup(&self, directory: &str, arguments: &[&str]) -> Said {
        said(self.command(self.at.home().join("bin/cudaup"), directory).args(arguments).output().unwrap())
    }

    /// Types a line of a note.
    fn typed(&self, directory: &str, line: &str) {
        let done = self.cudaup(directory, &["exec", "--", "sh", "-c", line]);
        assert_eq!(done.code, Some(0), "{line}: {}{}", done.out, done.err);
    }
}

/// The notes about build directories among what was said.
fn notes(said: &Said) -> Vec<&str> {
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(!said.out.contains("configured with"), "{}", said.out);
    said.err.lines().filter(|line| line.contains("configured with")).collect()
}

#[test]
fn a_build_directory_of_the_earlier_toolkit_is_named_and_the_line_that_is_printed_mends_it() {
    let Some(trees) = trees().filter(|_| has_cmake()) else { return };
    let user = User::new(&trees);
    assert_eq!(notes(&user.cudaup("p", &["use", "eleven"])), Vec::<&str>::new());
    user.typed("p", "cmake -B build");
    assert_eq!(notes(&user.cudaup("p", &["use", "eleven"])), Vec::<&str>::new());
    let used = user.cudaup("p", &["use", "twelve"]);
    let line = "cmake --fresh -B build";
    let note = format!(
        "note: build was configured with CUDA 11.8.0 (build/CMakeCache.txt); before the next build: {line}"
    );
    assert_eq!(notes(&used), [note.as_str()]);
    // CMake itself: without that line it stays with the earlier toolkit, with it it takes this one.
    user.typed("p", "cmake -B build");
    let cache = || fs::read_to_string(user.at.path("p/build/CMakeCache.txt")).unwrap();
    let names =
        |tree: &Path| format!("CUDAToolkit_NVCC_EXECUTABLE:FILEPATH={}", tree.join("bin/nvcc").display());
    assert!(cache().contains(&names(&trees[0])), "{}", cache());
    user.typed("p", line);
    assert!(cache().contains(&names(&trees[1])), "{}", cache());
    assert_eq!(notes(&user.cudaup("p", &["use", "twelve"])), Vec::<&str>::new());
    // From within it, and for this shell alone.
    let inside = user.at.path("p");
    let shell = said(
        user.command(user.at.home().join("bin/cudaup"), "p/build")
            .args(["use", "--shell", "eleven"])
            .env("_CUDAUP_SHELL", "bash")
            .output()
            .unwrap(),
    );
    let fresh = format!("cmake --fresh -S {} -B .", inside.display());
    assert_eq!(
        notes(&shell),
        [format!(
            "note: this directory was configured with CUDA 12.4.1 (CMakeCache.txt); before the next build: {fresh}"
        )]
    );
    let done = user.cudaup("p/build", &["exec", "eleven", "--", "sh", "-c", &fresh]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(cache().contains(&names(&trees[0])), "{}", cache());
    assert_eq!(notes(&user.cudaup("p", &["--quiet", "use", "twelve"])), Vec::<&str>::new());
}
