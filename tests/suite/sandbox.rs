//! A machine of its own for each test: a root for what lies outside the home, a home, toolkits made of scripts, and the
//! built programs.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary machine. Nothing of the real one but `/usr/bin` and `/bin` is seen.
pub struct Sandbox {
    root: tempfile::TempDir,
}

/// A command's outcome as text.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Sandbox {
    pub fn new() -> Self {
        Self::named("cudaup-test-")
    }

    /// A machine below a directory whose name begins with `prefix`.
    pub fn named(prefix: &str) -> Self {
        let root = tempfile::Builder::new().prefix(prefix).tempdir().unwrap();
        let at = Self { root: Self::real(root) };
        for directory in ["usr/local", "home/.cudaup/bin", "etc"] {
            fs::create_dir_all(at.path(directory)).unwrap();
        }
        copy(&shim(), &at.home().join("bin/cudaup-shim"));
        symlink(env!("CARGO_BIN_EXE_cudaup"), at.home().join("bin/cudaup")).unwrap();
        at
    }

    /// The kernel gives real paths, so the test compares with real paths.
    fn real(root: tempfile::TempDir) -> tempfile::TempDir {
        assert_eq!(fs::canonicalize(root.path()).unwrap(), root.path(), "TMPDIR goes through a link");
        root
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The user's home.
    pub fn user(&self) -> PathBuf {
        self.path("home")
    }

    /// The cudaup home.
    pub fn home(&self) -> PathBuf {
        self.path("home/.cudaup")
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        program(&path, &format!("#!/bin/sh\n{body}"));
        path
    }

    /// A toolkit whose nvcc prints its own path, its arguments and its environment.
    pub fn toolkit(&self, name: &str, version: &str) -> PathBuf {
        let release = version.rsplit_once('.').unwrap().0;
        self.script(
            &format!("{name}/bin/nvcc"),
            &format!(
                "case $1 in --version) echo 'Cuda compilation tools, release {release}, V{release}.99';; --env) /usr/bin/env -0;; *) echo \"$0\" \"$@\";; esac"
            ),
        );
        self.script(&format!("{name}/bin/ptxas"), "echo \"$0\"");
        for file in [
            "lib64/libcudart.so",
            "lib64/stubs/libcuda.so",
            "include/cuda.h",
            "extras/CUPTI/lib64/libcupti.so",
        ] {
            self.write(&format!("{name}/{file}"), "");
        }
        self.write(&format!("{name}/version.json"), format!(r#"{{"cuda":{{"version":"{version}"}}}}"#));
        self.path(name)
    }

    /// A toolkit that looks installed by cudaup.
    pub fn managed(&self, version: &str) -> PathBuf {
        let root = self.toolkit(&format!("home/.cudaup/toolkits/{version}"), version);
        let receipt = format!(
            r#"{{"cudaup":"0.1.0","version":"{version}","source":"pypi","profile":"minimal","platform":"linux-x86_64","installed_at":1,"parts":[],"made":[],"bytes":1234,"proof":{{"state":"proved","compiler":"g++ 12"}},"eula":"x"}}"#
        );
        fs::write(root.join("receipt.json"), receipt).unwrap();
        root
    }

    /// An add-on that looks installed: `cudnn/9.8.0.87-cuda12`. Its header says the version as a text.
    pub fn addon(&self, place: &str) -> PathBuf {
        let (library, version) = place.split_once('/').unwrap();
        let root = format!("home/.cudaup/addons/{place}");
        let header = format!("#define WHICH \"{library} {version}\"\nint {library}(void);\n");
        self.write(&format!("{root}/include/{library}.h"), header);
        fs::create_dir_all(self.path(&root).join("lib")).unwrap();
        self.path(&root)
    }

    /// A program of this machine, with its clean environment, in a directory below it.
    pub fn command(&self, program: impl AsRef<OsStr>, directory: &str) -> Command {
        let cwd = self.path(directory);
        fs::create_dir_all(&cwd).unwrap();
        let mut command = Command::new(program);
        command.env_clear().current_dir(&cwd).env("PWD", &cwd);
        command.env("HOME", self.user()).env("PATH", "/usr/bin:/bin").env("CUDAUP_SYSROOT", self.root.path());
        command
    }

    pub fn cudaup(&self, directory: &str, arguments: &[&str]) -> Said {
        said(self.command(self.home().join("bin/cudaup"), directory).args(arguments).output().unwrap())
    }

    /// The shim of a tool, with what `set` adds to its command.
    pub fn shim(&self, tool: &str, directory: &str, set: impl Fn(&mut Command)) -> Said {
        let mut command = self.command(self.home().join("shims").join(tool), directory);
        set(&mut command);
        said(command.output().unwrap())
    }
}

/// Writes a program through another process. Written here, its file could be open for writing in the child that another
/// test starts at that moment, and the kernel runs no such file ("text file busy").
pub fn program(path: &Path, text: &str) {
    let write = "printf '%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
    let status = Command::new("/bin/sh").args(["-c", write]).arg(path).arg(text).status().unwrap();
    assert!(status.success(), "{}", path.display());
}

/// Copies a program, for the same reason through another process.
pub fn copy(from: &Path, to: &Path) {
    assert!(
        Command::new("/bin/cp").arg("--").arg(from).arg(to).status().unwrap().success(),
        "{}",
        to.display()
    );
}

pub fn said(output: Output) -> Said {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The shim that `tests/run` built, else the one beside the program.
pub fn shim() -> PathBuf {
    let beside = Path::new(env!("CARGO_BIN_EXE_cudaup")).with_file_name("cudaup-shim");
    let shim = std::env::var_os("CUDAUP_TEST_SHIM").map_or(beside, PathBuf::from);
    assert!(shim.is_file(), "{} is missing: cargo build -p cudaup-shim", shim.display());
    shim
}

/// `NAME=value` entries between NUL bytes, as `env -0` prints them, sorted.
pub fn variables(bytes: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all: Vec<_> = bytes
        .split(|b| *b == 0)
        .filter_map(|entry| {
            let at = entry.iter().position(|b| *b == b'=')?;
            Some((entry[..at].to_vec(), entry[at + 1..].to_vec()))
        })
        .collect();
    all.sort();
    all
}
