//! Shells: how each is told what to set and unset, and which text makes it follow a project's version.
//!
//! A shell is a row of the table and a file in `shell/`; what is rendered here is data in quotes, never more.

pub mod files;
pub mod parent;
pub mod rc;
pub mod setup;

use crate::failure::{Exit, Failure};
use cudaup_core::environment::Change;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a shell reads.
pub struct Dialect {
    /// Its names; the first is the one that is written.
    names: &'static [&'static str],
    /// The hook, where there is one.
    hook: Option<&'static str>,
    /// What surrounds a value so that the shell takes each byte as itself.
    quote: fn(&[u8]) -> Vec<u8>,
    /// Before the name and between name and value, for a variable of the environment.
    export: [&'static str; 2],
    /// The same for a variable that child processes do not see.
    keep: [&'static str; 2],
    /// Before the name of a variable that is to go.
    unset: &'static str,
    /// Before `export` and `unset`, so that no function or alias of the user's takes their place.
    own: &'static str,
    /// Which start files it reads, and what stands in them.
    start: setup::Start,
}

const DIALECTS: [Dialect; 4] = [
    Dialect {
        names: &["bash"],
        hook: Some(include_str!("../../shell/cudaup.bash")),
        quote: posix_quote,
        export: ["export ", "="],
        keep: ["", "="],
        unset: "unset -v ",
        own: "builtin ",
        start: setup::Start::Bash,
    },
    Dialect {
        names: &["zsh"],
        hook: Some(include_str!("../../shell/cudaup.zsh")),
        quote: posix_quote,
        export: ["export ", "="],
        keep: ["typeset -g ", "="],
        unset: "unset ",
        own: "builtin ",
        start: setup::Start::Zsh,
    },
    Dialect {
        names: &["fish"],
        hook: Some(include_str!("../../shell/cudaup.fish")),
        quote: fish_quote,
        export: ["set -gx ", " "],
        keep: ["set -gu ", " "],
        unset: "set -eg ",
        own: "",
        start: setup::Start::Fish,
    },
    Dialect {
        names: &["sh", "dash", "ash", "ksh", "mksh", "posix"],
        hook: None,
        quote: posix_quote,
        export: ["export ", "="],
        keep: ["", "="],
        unset: "unset -v ",
        own: "",
        start: setup::Start::Other,
    },
];

impl Dialect {
    /// The shell's name.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or("sh")
    }

    /// The static part of what `cudaup init` prints, where this shell can follow.
    pub fn hook(&self) -> Option<&'static str> {
        self.hook
    }

    /// Bytes as one word of this shell.
    pub fn quote(&self, value: impl AsRef<[u8]>) -> Vec<u8> {
        (self.quote)(value.as_ref())
    }

    /// Text that changes the environment, to be read and kept by people too.
    pub fn render(&self, changes: &[Change]) -> Vec<u8> {
        self.lines("", changes)
    }

    /// The same for the hook, which runs among the user's own functions and aliases.
    pub fn render_own(&self, changes: &[Change]) -> Vec<u8> {
        self.lines(self.own, changes)
    }

    fn lines(&self, before: &str, changes: &[Change]) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, value) in changes {
            out.extend_from_slice(before.as_bytes());
            match value {
                Some(value) => {
                    out.extend_from_slice(&self.assignment(self.export, name, value.as_bytes()));
                }
                None => out.extend_from_slice(format!("{}{name}\n", self.unset).as_bytes()),
            }
        }
        out
    }

    /// Text that sets a variable of the shell alone.
    pub fn keep(&self, name: &str, value: impl AsRef<[u8]>) -> Vec<u8> {
        self.assignment(self.keep, name, value.as_ref())
    }

    fn assignment(&self, [before, between]: [&str; 2], name: &str, value: &[u8]) -> Vec<u8> {
        [before.as_bytes(), name.as_bytes(), between.as_bytes(), &self.quote(value), b"\n"].concat()
    }
}

/// The shell of that name; a path counts by its last part.
pub fn dialect(name: &str) -> Result<&'static Dialect, Failure> {
    named(name).ok_or_else(|| unknown(name, DIALECTS.iter()))
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
    let last = Path::new(name).file_name()?.to_str()?;
    DIALECTS.iter().find(|d| d.names.contains(&last))
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a Dialect>) -> Failure {
    let known: Vec<_> = known.map(Dialect::name).collect();
    Failure::new(
        Exit::Usage,
        format!("\"{}\" is none of the shells known here: {}", name.escape_debug(), known.join(", ")),
    )
}

/// In single quotes all bytes stand for themselves, except the quote.
fn posix_quote(value: &[u8]) -> Vec<u8> {
    quoted(value, |byte| if byte == b'\'' { Some(br"'\''") } else { None })
}

/// In fish's single quotes a backslash can stand before a quote or a backslash.
fn fish_quote(value: &[u8]) -> Vec<u8> {
    quoted(value, |byte| match byte {
        b'\'' => Some(br"\'"),
        b'\\' => Some(br"\\"),
        _ => None,
    })
}

fn quoted(value: &[u8], escape: fn(u8) -> Option<&'static [u8]>) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in value {
        match escape(*byte) {
            Some(text) => out.extend_from_slice(text),
            None => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}

#[cfg(test)]
mod tests;
