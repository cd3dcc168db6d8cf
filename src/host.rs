//! The world, read once: variables, directories, terminals. One plain value that everything below main is given.

use cudaup_core::home::Home;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// What cudaup was started with.
#[derive(Clone, Debug)]
pub struct Host {
    /// The environment, in the order in which the system gave it.
    pub vars: Vec<(OsString, OsString)>,
    /// The directory as the shell names it (`$PWD` where that is the same as `.`), else the real one; `None` where it
    /// was deleted and `$PWD` does not help.
    pub cwd: Option<PathBuf>,
    /// The user's home directory.
    pub user_home: Option<PathBuf>,
    /// `CUDAUP_HOME`, else `~/.cudaup`.
    pub home: Option<PathBuf>,
    /// `CUDAUP_SYSROOT`: the directory below which the machine's own files are looked up.
    pub sysroot: Option<PathBuf>,
    /// Whether nothing is to be asked of the network.
    pub offline: bool,
    /// The path of this program.
    pub program: Option<PathBuf>,
    /// Whether standard input, output and error are terminals.
    pub terminal: Terminals,
}

/// Which of the standard streams are terminals.
#[derive(Clone, Copy, Debug)]
pub struct Terminals {
    /// Standard input.
    pub stdin: bool,
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
}

impl Host {
    /// A host of which nothing is known.
    #[cfg(test)]
    pub fn bare() -> Self {
        Self {
            vars: Vec::new(),
            cwd: None,
            user_home: None,
            home: None,
            sysroot: None,
            offline: false,
            program: None,
            terminal: Terminals { stdin: false, stdout: false, stderr: false },
        }
    }

    /// Reads the world.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the world")]
    pub fn read() -> Self {
        let vars: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let get = |name: &str| lookup(&vars, name).map(PathBuf::from);
        let user_home = dirs::home_dir().filter(|h| h.is_absolute());
        // A relative one would mean another place after each cd, and does not belong into PATH.
        let absolute = |home: PathBuf| std::path::absolute(&home).unwrap_or(home);
        let program = std::env::current_exe().ok();
        // Without HOME the small program cannot ask who the user is, and both are to look in one place.
        let around = || {
            Home::around(program.as_deref()?)
                .map(|h| h.path().to_path_buf())
                .filter(|h| h.join("toolkits").is_dir())
        };
        let home = match (get("CUDAUP_HOME"), get("HOME")) {
            (Some(home), _) => Some(absolute(home)),
            (None, None) => around().or_else(|| user_home.as_ref().map(|h| h.join(".cudaup"))),
            (None, Some(_)) => user_home.as_ref().map(|h| h.join(".cudaup")),
        };
        Self {
            cwd: working_directory(lookup(&vars, "PWD"), std::env::current_dir().ok()),
            user_home,
            home,
            sysroot: get("CUDAUP_SYSROOT"),
            offline: lookup(&vars, "CUDAUP_OFFLINE").is_some_and(|v| v != "0"),
            program,
            terminal: Terminals {
                stdin: std::io::stdin().is_terminal(),
                stdout: std::io::stdout().is_terminal(),
                stderr: std::io::stderr().is_terminal(),
            },
            vars,
        }
    }

    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        lookup(&self.vars, name)
    }

    /// A variable as text, where it is Unicode.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name).and_then(OsStr::to_str)
    }

    /// Where a path of the machine is really looked up: below the sysroot, where one is set.
    pub fn system(&self, path: &str) -> PathBuf {
        match &self.sysroot {
            Some(root) => root.join(path.trim_start_matches('/')),
            None => PathBuf::from(path),
        }
    }
}

/// The command line, with the program's name first.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the world")]
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

fn lookup<'a>(vars: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    vars.iter().find(|(n, v)| n == name && !v.is_empty()).map(|(_, v)| v.as_os_str())
}

/// `$PWD` where it names the directory that the process is in, so that links in the path are kept as the user typed them.
fn working_directory(pwd: Option<&OsStr>, real: Option<PathBuf>) -> Option<PathBuf> {
    let pwd = pwd.map(Path::new).filter(|p| p.is_absolute());
    match (pwd, real) {
        (Some(pwd), Some(real)) => {
            let same = pwd.canonicalize().is_ok_and(|p| p == real);
            Some(if same { pwd.to_path_buf() } else { real })
        }
        (None, real) => real,
        (Some(pwd), None) => Some(pwd.to_path_buf()),
    }
}
