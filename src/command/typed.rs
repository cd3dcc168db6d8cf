//! What typing a tool's name runs in this very shell, where that is not the toolkit that the rules choose.

use crate::command::Context;
use cudaup_core::disk::Disk;
use cudaup_core::list::split;
use cudaup_core::state::State;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Another file than the rules choose, and why it is the one that runs.
pub struct Other {
    /// The file that typing the tool runs; `None` where there is none.
    pub path: Option<PathBuf>,
    /// Why, in words.
    pub why: &'static str,
    /// What mends it.
    pub mend: String,
}

impl Other {
    /// One line that says so.
    pub fn note(&self, tool: &str) -> String {
        let runs = match &self.path {
            Some(path) => format!("runs {}", path.display()),
            None => "finds nothing".to_owned(),
        };
        format!("note: typing {tool} here {runs} ({}); {}", self.why, self.mend)
    }
}

/// Compares what typing `tool` runs with `chosen`.
pub fn other_than(context: &Context, tool: &str, chosen: &Path) -> Option<Other> {
    let found = first_on_path(context, tool);
    let same = |path: &PathBuf| {
        let through_shim = path.parent() == Some(context.home.shims().as_path());
        through_shim || context.disk.real(path) == context.disk.real(chosen)
    };
    if found.as_ref().is_some_and(same) {
        return None;
    }
    let state = context.vars.get(cudaup_core::state::VARIABLE).and_then(State::decode);
    let entered = state.is_some_and(|s| chosen.starts_with(&s.root) && !s.root.is_empty());
    let hooked = context.host.var("_CUDAUP_SHELL").is_some();
    let (why, mend) = match (entered, hooked) {
        (true, _) => ("it came into PATH later", format!("to run this one: cudaup exec -- {tool}")),
        (false, true) => {
            ("another toolkit came into this shell", format!("to run this one: cudaup exec -- {tool}"))
        }
        (false, false) => (
            "this shell does not follow cudaup",
            "to set it up: cudaup init bash --write (or zsh, fish, tcsh)".to_owned(),
        ),
    };
    Some(Other { path: found, why, mend })
}

/// The first program of that name on PATH that can be run.
pub fn first_on_path(context: &Context, tool: &str) -> Option<PathBuf> {
    split(context.vars.get("PATH")?)
        .into_iter()
        .filter(|entry| !entry.is_empty())
        .map(|entry| Path::new(&entry).join(tool))
        .find(|path| is_program(path))
}

/// Whether a path is a file that may be run.
pub fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.mode() & 0o111 != 0)
}
