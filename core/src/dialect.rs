//! How each shell is told to set and unset variables. What is rendered is data in quotes, never more.

use crate::environment::Change;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The words of one shell.
pub struct Dialect {
    /// Its names; the first is the one that is written.
    names: &'static [&'static str],
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
}

/// bash.
pub const BASH: Dialect = Dialect {
    names: &["bash"],
    quote: posix_quote,
    export: ["export ", "="],
    keep: ["", "="],
    unset: "unset -v ",
    own: "builtin ",
};

/// zsh.
pub const ZSH: Dialect = Dialect {
    names: &["zsh"],
    quote: posix_quote,
    export: ["export ", "="],
    keep: ["typeset -g ", "="],
    unset: "unset ",
    own: "builtin ",
};

/// fish.
pub const FISH: Dialect = Dialect {
    names: &["fish"],
    quote: fish_quote,
    export: ["set -gx ", " "],
    keep: ["set -gu ", " "],
    unset: "set -eg ",
    own: "",
};

/// The shell of POSIX.
pub const SH: Dialect = Dialect {
    names: &["sh", "dash", "ash", "ksh", "mksh", "posix"],
    quote: posix_quote,
    export: ["export ", "="],
    keep: ["", "="],
    unset: "unset -v ",
    own: "",
};

/// The dialect of a shell that can follow a project by itself.
pub fn following(name: &OsStr) -> Option<&'static Dialect> {
    [&BASH, &ZSH, &FISH].into_iter().find(|d| d.is_called(name))
}

impl Dialect {
    /// The shell's name.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or("sh")
    }

    /// Whether the shell goes by this name.
    pub fn is_called(&self, name: &OsStr) -> bool {
        self.names.iter().any(|n| name == *n)
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
