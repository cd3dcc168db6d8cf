//! `install.sh`: what it refuses before it builds, what it leaves alone when something breaks, what a second run does.
//! cargo and the programs that it "builds" are scripts here, since a real build takes minutes; `tests/run` does a real one.

use crate::sandbox::{copy, program};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A checkout in a place whose path has a blank and a quote, an empty HOME, and tools on PATH.
struct Checkout {
    root: tempfile::TempDir,
}

impl Checkout {
    fn new() -> Self {
        let at = Self { root: tempfile::Builder::new().prefix("it's a check").tempdir().unwrap() };
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        for directory in ["code/shims", "home dir", "tools", "elsewhere"] {
            fs::create_dir_all(at.path(directory)).unwrap();
        }
        for file in ["install.sh", "shims/build.sh"] {
            copy(&source.join(file), &at.path("code").join(file));
        }
        at.tool("rustc", "echo host: here");
        at.tool("cc", "");
        at.tool("readelf", "echo LOAD");
        at.tool("cargo", BUILD);
        at.program("1", "exit 0");
        at
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn tool(&self, name: &str, body: &str) {
        let file = self.path("tools").join(name);
        program(&file, &format!("#!/bin/sh\n{body}"));
    }

    /// What the next build brings: it tells its version, and writes down whatever else it is asked.
    fn program(&self, version: &str, body: &str) {
        let text = format!(
            "#!/bin/sh\n[ \"$1\" != --version ] || {{ echo cudaup {version}; exit 0; }}\necho \"$@\" >>\"$HOME/asked\"\n{body}\n"
        );
        fs::write(self.path("built"), text).unwrap();
    }

    fn install(&self, args: &[&str]) -> Output {
        self.install_with(args, &[("SHELL", "/usr/bin/zsh")])
    }

    fn install_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(self.path("code/install.sh"));
        command.args(args).current_dir(self.path("elsewhere")).env_clear();
        let tools = format!("{}:/usr/bin:/bin", self.path("tools").display());
        command.env("PATH", tools).env("HOME", self.path("home dir")).env("BUILT", self.path("built"));
        command.envs(variables.iter().copied()).output().unwrap()
    }

    fn installed(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path("home dir/.cudaup/bin").join(name)).ok()
    }

    /// What the installed program was asked, a line each.
    fn asked(&self) -> String {
        fs::read_to_string(self.path("home dir/asked")).unwrap_or_default()
    }

    fn leftovers(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("home dir/.cudaup/bin")).into_iter().flatten();
        entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|n| !n.starts_with("cudaup"))
            .collect()
    }
}

const BUILD: &str = r#"
case "$*" in
    *cudaup-shim*) mkdir -p target-shim/here/shim; echo shim >target-shim/here/shim/cudaup-shim ;;
    *) mkdir -p target/release; cp "$BUILT" target/release/cudaup ;;
esac
"#;

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_first_run_installs_sets_up_and_fetches_the_toolkit() {
    let at = Checkout::new();
    let output = at.install(&["13.0"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(
        at.installed("cudaup").unwrap().contains("cudaup 1")
            && at.installed("cudaup-shim").unwrap() == "shim\n"
    );
    assert_eq!(at.asked(), "init zsh --write\ninstall 13.0 --profile minimal\n");
    assert!(said(&output).contains("next: exec zsh") && said(&output).contains("then: cudaup use 13.0"));
    assert_eq!(output.stdout, b"");
    assert_eq!(at.leftovers(), [""; 0]);
}

#[test]
fn a_second_run_upgrades_and_renews_the_shims() {
    let at = Checkout::new();
    at.install(&[]);
    fs::create_dir(at.path("home dir/.cudaup/shims")).unwrap();
    at.program("2", "exit 0");
    assert!(at.install(&["--no-modify-rc"]).status.success());
    assert!(at.installed("cudaup").unwrap().contains("cudaup 2"));
    assert_eq!(at.asked(), "init zsh --write\nrehash\n");
}

#[test]
fn words_that_are_no_version_are_refused_before_anything_is_built() {
    let at = Checkout::new();
    at.tool("cargo", "echo built >>\"$HOME/asked\"");
    for word in [
        "13.",
        ".13",
        "13..0",
        "13.0.2.1",
        "thirteen",
        "13.0x",
        "13.01",
        "",
        " 13",
        "13\n12",
        "--frobnicate",
        "$(id)",
    ] {
        let output = at.install(&[word]);
        assert_eq!(output.status.code(), Some(2), "{word:?}: {}", said(&output));
        assert!(said(&output).starts_with("error: "), "{word:?}: {}", said(&output));
    }
    let output = at.install(&["13.0", "12.4"]);
    assert!(output.status.code() == Some(2) && said(&output).contains("cudaup install 12.4"));
    assert_eq!(at.asked(), "");
    assert!(!at.path("home dir/.cudaup").exists());
}

#[test]
fn what_is_missing_is_named() {
    let at = Checkout::new();
    for tool in ["cargo", "rustc", "cc"] {
        let parked = at.path("parked");
        fs::rename(at.path("tools").join(tool), &parked).unwrap();
        // Only the scripts and what the shell itself needs, so that the machine's own tools do not serve.
        for needed in ["dirname", "readlink"] {
            let _ = std::os::unix::fs::symlink(format!("/usr/bin/{needed}"), at.path("tools").join(needed));
        }
        let output = at.install_with(&["13.0"], &[("PATH", at.path("tools").to_str().unwrap())]);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains(tool) && said(&output).contains("try: "), "{}", said(&output));
        fs::rename(parked, at.path("tools").join(tool)).unwrap();
    }
    let output = at.install_with(&[], &[("HOME", "")]);
    assert!(output.status.code() == Some(1) && said(&output).contains("neither HOME nor CUDAUP_HOME"));
    let output = at.install_with(&[], &[("CUDAUP_HOME", "a/b")]);
    assert!(
        output.status.code() == Some(2) && said(&output).contains("elsewhere/a/b ./install.sh"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_broken_build_or_program_leaves_the_old_one() {
    let at = Checkout::new();
    at.install(&[]);
    at.program("2", "exit 0");
    at.tool("cargo", "exit 101");
    let output = at.install(&["13.0"]);
    assert!(
        output.status.code() == Some(1) && said(&output).contains("could not be built"),
        "{}",
        said(&output)
    );

    at.tool("cargo", &format!("case $* in *cudaup-shim*) exit 101 ;; esac\n{BUILD}"));
    assert_eq!(at.install(&[]).status.code(), Some(1));

    at.tool("cargo", BUILD);
    fs::write(at.path("built"), "#!/bin/sh\nexit 1\n").unwrap();
    let output = at.install(&[]);
    assert!(
        output.status.code() == Some(1) && said(&output).contains("does not run here"),
        "{}",
        said(&output)
    );

    assert!(at.installed("cudaup").unwrap().contains("cudaup 1"));
    assert_eq!(at.leftovers(), [""; 0]);
}

#[test]
fn a_toolkit_that_cannot_be_had_leaves_cudaup_and_gives_its_code() {
    let at = Checkout::new();
    at.program("1", "[ \"$1\" != install ] || exit 4");
    let output = at.install(&["13.0"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(said(&output).contains("cudaup itself is installed; toolkit 13.0 is not"), "{}", said(&output));
    assert!(at.installed("cudaup").is_some());
}

#[test]
fn without_a_set_up_the_line_to_add_is_right_for_the_shell() {
    for (shell, line) in [("bash", "eval \"$('"), ("fish", " init fish | source")] {
        let at = Checkout::new();
        let output = at.install_with(&["--no-modify-rc"], &[("SHELL", &format!("/bin/{shell}"))]);
        assert!(output.status.success() && said(&output).contains(line), "{}", said(&output));
        assert_eq!(at.asked(), "");
        let text = said(&output);
        let code = text.lines().find_map(|l| l.split_once("new terminal: ")).unwrap().1.to_owned();
        let Ok(ran) = Command::new(shell).arg("-c").arg(code).env("HOME", at.path("home dir")).output()
        else {
            eprintln!("skipped: {shell} is not here");
            continue;
        };
        assert!(ran.status.success(), "{}", said(&ran));
        assert_eq!(at.asked(), format!("init {shell}\n"));
    }
    let at = Checkout::new();
    let output = at.install_with(&[], &[("SHELL", "/bin/ksh")]);
    assert!(output.status.success() && said(&output).contains("init bash --write"), "{}", said(&output));
    let output = at.install_with(&["--no-modify-rc"], &[("SHELL", "/bin/tcsh")]);
    assert!(output.status.success() && said(&output).contains("init tcsh --write"), "{}", said(&output));
    assert_eq!(at.asked(), "");
    at.install_with(&[], &[("SHELL", "/bin/tcsh")]);
    assert_eq!(at.asked(), "init tcsh --write\n");
}

#[test]
fn it_is_found_through_a_link_and_installs_where_cudaup_home_says() {
    let at = Checkout::new();
    std::os::unix::fs::symlink(at.path("code/install.sh"), at.path("link.sh")).unwrap();
    let home = at.path("other home");
    let mut command = Command::new("sh");
    command
        .arg(at.path("link.sh"))
        .arg("--no-modify-rc")
        .env("CUDAUP_HOME", &home)
        .env("BUILT", at.path("built"));
    let output =
        command.env("PATH", format!("{}:/usr/bin:/bin", at.path("tools").display())).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(home.join("bin/cudaup").exists() && home.join("bin/cudaup-shim").exists());
}
