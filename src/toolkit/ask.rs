//! Asking a tree's own nvcc which release it is. Only list, link and doctor do so, with a time limit.

use crate::process;
use cudaup_core::disk::Disk;
use cudaup_core::identity::{Identity, from_nvcc, nvcc_build};
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// nvcc answers in milliseconds; one that hangs must not hold up a list.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why a tree's nvcc did not tell.
#[derive(Debug)]
pub enum Silent {
    /// There is none.
    Absent,
    /// It could not be started.
    NotStarted(std::io::Error),
    /// It did not end in time.
    Hangs,
    /// It ended otherwise than well; the first line it printed.
    Fails(String),
    /// It ended well without naming a release; the first line it printed.
    Said(String),
}

impl Silent {
    /// One word for JSON.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Absent => "no-release",
            Self::NotStarted(_) => "nvcc-does-not-start",
            Self::Hangs => "nvcc-hangs",
            Self::Fails(_) => "nvcc-fails",
            Self::Said(_) => "nvcc-names-no-release",
        }
    }
}

impl fmt::Display for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("it has no nvcc and nothing in it names its release"),
            Self::NotStarted(e) => write!(f, "its nvcc does not start: {}", crate::failure::plain_io(e)),
            Self::Hangs => f.write_str("its nvcc does not answer"),
            Self::Fails(line) if line.is_empty() => f.write_str("its nvcc fails without a word"),
            Self::Fails(line) | Self::Said(line) => write!(f, "its nvcc says: {line}"),
        }
    }
}

/// The build number that a tree's nvcc prints, such as `12.4.131`.
pub fn nvcc(root: &Path) -> Result<String, Silent> {
    let nvcc = root.join("bin/nvcc");
    if !nvcc.is_file() {
        return Err(Silent::Absent);
    }
    #[expect(clippy::disallowed_methods, reason = "only nvcc itself knows its build where no file names it")]
    let mut command = std::process::Command::new(&nvcc);
    let finished = process::run(command.arg("--version"), PATIENCE).map_err(Silent::NotStarted)?;
    if finished.status.is_none() {
        return Err(Silent::Hangs);
    }
    let line = || finished.output.lines().next().unwrap_or_default().trim().to_owned();
    if !finished.succeeded() {
        return Err(Silent::Fails(line()));
    }
    nvcc_build(&finished.output).map(str::to_owned).ok_or_else(|| Silent::Said(line()))
}

/// Which release a tree is that no file names.
pub fn release(root: &Path, disk: &dyn Disk) -> Result<Identity, Silent> {
    let build = nvcc(root)?;
    from_nvcc(&build, root, disk).ok_or(Silent::Said(build))
}
