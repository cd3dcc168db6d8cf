//! Shells: how each is told what to set and unset, and which text makes it follow a project's version.
//!
//! A shell is a row of the table and a file in `shell/`; what is rendered here is data in quotes, never more.

pub mod docker;
pub mod files;
pub mod parent;
pub mod rc;
pub mod setup;

use crate::failure::{Exit, Failure};
use crate::host::Host;
use cudaup_core::dialect::{self, Dialect as Words};
use cudaup_core::spelling::nearest;
use std::path::Path;

/// What cudaup knows of a shell.
pub struct Dialect {
    /// How it is told to set and unset variables.
    words: &'static Words,
    /// The hook, where there is one.
    hook: Option<&'static str>,
    /// Which start files it reads, and what stands in them.
    start: setup::Start,
}

/// What serves all users of a machine, whose homes it finds when they log in.
pub const FOR_ALL_USERS: &str = include_str!("../../shell/cudaup.sh");

const DIALECTS: [Dialect; 9] = [
    Dialect {
        words: &dialect::BASH,
        hook: Some(include_str!("../../shell/cudaup.bash")),
        start: setup::Start::Bash,
    },
    Dialect {
        words: &dialect::ZSH,
        hook: Some(include_str!("../../shell/cudaup.zsh")),
        start: setup::Start::Zsh,
    },
    Dialect {
        words: &dialect::FISH,
        hook: Some(include_str!("../../shell/cudaup.fish")),
        start: setup::Start::Fish,
    },
    Dialect {
        words: &dialect::TCSH,
        hook: Some(include_str!("../../shell/cudaup.tcsh")),
        start: setup::Start::Tcsh,
    },
    Dialect { words: &dialect::SH, hook: None, start: setup::Start::Other },
    Dialect { words: &dialect::NUSHELL, hook: None, start: setup::Start::Other },
    Dialect { words: &dialect::POWERSHELL, hook: None, start: setup::Start::Other },
    Dialect { words: &dialect::ELVISH, hook: None, start: setup::Start::Other },
    Dialect { words: &dialect::XONSH, hook: None, start: setup::Start::Other },
];

impl Dialect {
    /// How this shell is told to set and unset variables.
    pub fn words(&self) -> &'static Words {
        self.words
    }

    /// The static part of what `cudaup init` prints, where this shell can follow.
    pub fn hook(&self) -> Option<&'static str> {
        self.hook
    }
}

impl std::ops::Deref for Dialect {
    type Target = Words;

    fn deref(&self) -> &Words {
        self.words
    }
}

/// The shell of that name; a path counts by its last part.
pub fn dialect(name: &str) -> Result<&'static Dialect, Failure> {
    named(name).ok_or_else(|| unknown(name, DIALECTS.iter()))
}

/// The shell of that name, the one that runs this program where none is named.
pub fn of_name_or_parent(name: Option<&str>, host: &Host) -> Option<&'static Dialect> {
    name.map_or_else(|| parent::of_parent(host, |_| true), dialect).ok()
}

/// The shell of that name, if it can follow a project's version by itself.
pub fn following(name: &str) -> Result<&'static Dialect, Failure> {
    match named(name) {
        Some(dialect) if dialect.hook.is_some() => Ok(dialect),
        Some(_) => Err(unknown(name, all_following()).hint("for what has no hook: cudaup init --profile")),
        None => Err(unknown(name, all_following())),
    }
}

/// All shells that can follow a project's version by themselves.
pub fn all_following() -> impl Iterator<Item = &'static Dialect> {
    DIALECTS.iter().filter(|d| d.hook.is_some())
}

fn named(name: &str) -> Option<&'static Dialect> {
    let last = Path::new(name).file_name()?;
    DIALECTS.iter().find(|d| d.is_called(last))
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a Dialect>) -> Failure {
    let known: Vec<_> = known.map(|d| d.name()).collect();
    let of = format!("`{}` is none of the shells known here: {}", name.escape_debug(), known.join(", "));
    // A shell that is known and serves for other things is no misspelled one.
    let meant = if named(name).is_some() { None } else { nearest(name, known) };
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
    Failure::new(Exit::Usage, of + &meant)
}

#[cfg(test)]
mod tests;
