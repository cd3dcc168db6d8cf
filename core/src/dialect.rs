//! How each shell is told to set and unset variables. What is rendered is data in quotes, never more.

use crate::environment::{Change, Vars};
use crate::list::split;
use crate::state;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The words of one shell.
pub struct Dialect {
    /// Its names; the first is the one that is written.
    names: &'static [&'static str],
    /// What surrounds a value so that the shell takes each byte as itself.
    quote: fn(&[u8]) -> Vec<u8>,
    /// Before the name, between name and value and after the value, for a variable of the environment.
    export: [&'static str; 3],
    /// The same for a variable that child processes do not see.
    keep: [&'static str; 3],
    /// Before and after the name of a variable that is to go.
    unset: [&'static str; 2],
    /// Before `export` and `unset`, so that no function or alias of the user's takes their place.
    own: &'static str,
    /// What takes note of the variable NAME that the shell may have for itself alone, and what brings it back.
    hidden: [&'static str; 2],
    /// What is around PATH, between its entries and after them, in a shell where it is no text.
    path: Option<[&'static str; 3]>,
    /// What fails where it is evaluated, for shells in which the failure of a program whose output is evaluated goes unnoticed.
    fails: &'static str,
    /// Why a variable of the shell cannot hold a value: what the value has.
    refuses: fn(&str, &OsStr) -> Option<&'static str>,
}

/// A change that a shell cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unheld {
    /// The variable.
    pub name: String,
    /// What its value has.
    pub what: &'static str,
}

/// bash.
pub const BASH: Dialect = Dialect {
    names: &["bash"],
    quote: posix_quote,
    export: ["export ", "=", ""],
    keep: ["", "=", ""],
    unset: ["unset -v ", ""],
    own: "builtin ",
    hidden: [
        "_cudaup_was_NAME=(${NAME+\"$NAME\"})\n",
        "[[ -z ${_cudaup_was_NAME+x} ]] || { NAME=$_cudaup_was_NAME; _cudaup_was_NAME=(); }\n",
    ],
    path: None,
    fails: "false\n",
    refuses: holds_all,
};

/// zsh.
pub const ZSH: Dialect = Dialect {
    names: &["zsh"],
    keep: ["typeset -g ", "=", ""],
    unset: ["unset ", ""],
    hidden: [
        "builtin unset _cudaup_was_NAME; [[ -z ${NAME+x} ]] || builtin typeset -g _cudaup_was_NAME=\"$NAME\"\n",
        "[[ -z ${_cudaup_was_NAME+x} ]] || { builtin typeset -g NAME=\"$_cudaup_was_NAME\"; builtin unset _cudaup_was_NAME; }\n",
    ],
    ..BASH
};

/// fish.
pub const FISH: Dialect = Dialect {
    names: &["fish"],
    quote: fish_quote,
    export: ["set -gx ", " ", ""],
    keep: ["set -gu ", " ", ""],
    unset: ["set -eg ", ""],
    own: "",
    hidden: [
        "set -eg _cudaup_was_NAME; set -qg NAME; and set -gu _cudaup_was_NAME $NAME\n",
        "set -q _cudaup_was_NAME; and set -gu NAME $_cudaup_was_NAME; and set -eg _cudaup_was_NAME\n",
    ],
    path: None,
    fails: "false\n",
    refuses: holds_all,
};

/// tcsh. Its `eval "`...`"` makes one line of all, so each ends by itself.
pub const TCSH: Dialect = Dialect {
    names: &["tcsh", "csh"],
    quote: tcsh_quote,
    export: ["setenv ", " ", " ;"],
    keep: ["set ", " = ", " ;"],
    unset: ["unsetenv ", " ;"],
    own: "",
    hidden: ["", ""],
    path: None,
    fails: "false ;\n",
    refuses: holds_all,
};

/// The shell of POSIX.
pub const SH: Dialect = Dialect {
    names: &["sh", "dash", "ash", "ksh", "ksh93", "mksh", "posix"],
    own: "",
    hidden: ["", ""],
    ..BASH
};

/// Nushell, whose PATH is a list.
pub const NUSHELL: Dialect = Dialect {
    names: &["nushell", "nu"],
    quote: nushell_quote,
    export: ["$env.", " = ", ""],
    keep: ["let ", " = ", ""],
    unset: ["hide-env -i ", ""],
    own: "",
    hidden: ["", ""],
    path: Some(["[", ", ", "]"]),
    fails: "",
    refuses: holds_unicode,
};

/// PowerShell.
pub const POWERSHELL: Dialect = Dialect {
    names: &["powershell", "pwsh"],
    quote: powershell_quote,
    export: ["$env:", " = ", ""],
    keep: ["$", " = ", ""],
    unset: ["Remove-Item -ErrorAction Ignore -LiteralPath Env:", ""],
    own: "",
    hidden: ["", ""],
    path: None,
    fails: "",
    refuses: holds_unicode,
};

/// Elvish.
pub const ELVISH: Dialect = Dialect {
    names: &["elvish"],
    quote: elvish_quote,
    export: ["set-env ", " ", ""],
    keep: ["var ", " = ", ""],
    unset: ["unset-env ", ""],
    own: "",
    hidden: ["", ""],
    path: None,
    fails: "",
    refuses: holds_all,
};

/// xonsh.
pub const XONSH: Dialect = Dialect {
    names: &["xonsh"],
    quote: xonsh_quote,
    export: ["$", " = ", ""],
    keep: ["", " = ", ""],
    unset: ["${...}.pop('", "', None)"],
    own: "",
    hidden: ["", ""],
    path: None,
    fails: "",
    refuses: xonsh_refuses,
};

/// The dialect of a shell that can follow a project by itself.
pub fn following(name: &OsStr) -> Option<&'static Dialect> {
    [&BASH, &ZSH, &FISH, &TCSH].into_iter().find(|d| d.is_called(name))
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

    /// What a shell is given in the place of text that could not be made. `eval "$(...)"` does not see that the program failed:
    /// given nothing it goes on as if all were well, under `set -e` too. Empty for shells that notice by themselves.
    pub fn fails(&self) -> &'static str {
        self.fails
    }

    /// Bytes as one word of this shell.
    pub fn quote(&self, value: impl AsRef<[u8]>) -> Vec<u8> {
        (self.quote)(value.as_ref())
    }

    /// Text that changes the environment, to be read and kept by people too.
    pub fn render(&self, changes: &[Change]) -> Result<Vec<u8>, Unheld> {
        let unheld = changes.iter().find_map(|(name, value)| {
            let what = (self.refuses)(name, value.as_deref()?)?;
            Some(Unheld { name: name.clone(), what })
        });
        let lines = || changes.iter().flat_map(|(name, value)| self.line(name, value.as_deref())).collect();
        unheld.map_or_else(|| Ok(lines()), Err)
    }

    /// The same for the hook, which runs among the user's own functions and aliases. All shells that follow hold all values.
    /// What a user keeps to the shell alone no program sees: of what is not in `from` note is taken, and what is unset comes
    /// back as it was noted; CUDAUP_STATE is never a user's.
    pub fn render_own(&self, changes: &[Change], from: &Vars) -> Vec<u8> {
        let [note, recall] = self.hidden.map(|text| |name: &str| text.replace("NAME", name).into_bytes());
        let line = |(name, value): &Change| {
            let (before, after) = match value {
                _ if name == state::VARIABLE => (Vec::new(), Vec::new()),
                Some(_) if from.get(name).is_none() => (note(name), Vec::new()),
                Some(_) => (Vec::new(), Vec::new()),
                None => (Vec::new(), recall(name)),
            };
            // As one word in quotes: bash would take an assignment out of the words of a command (`set -k`).
            let line = match (value, self.export) {
                (Some(value), [export, "=", _]) => {
                    let pair = [name.as_bytes(), b"=", value.as_bytes()].concat();
                    [export.as_bytes(), &self.quote(pair), b"\n"].concat()
                }
                _ => self.line(name, value.as_deref()),
            };
            [before, self.own.into(), line, after].concat()
        };
        changes.iter().flat_map(line).collect()
    }

    fn line(&self, name: &str, value: Option<&OsStr>) -> Vec<u8> {
        value.map_or_else(|| self.unset(name), |value| self.set(name, value))
    }

    /// Text that sets a variable of the environment.
    pub fn set(&self, name: &str, value: &OsStr) -> Vec<u8> {
        let Some([open, between, close]) = self.path.filter(|_| name == "PATH") else {
            return assignment(self.export, name, &self.quote(value.as_bytes()));
        };
        let entries: Vec<_> = split(value).iter().map(|entry| self.quote(entry.as_bytes())).collect();
        let list = [open.as_bytes(), &entries.join(between.as_bytes()), close.as_bytes()].concat();
        assignment(self.export, name, &list)
    }

    /// Text that unsets a variable of the environment.
    pub fn unset(&self, name: &str) -> Vec<u8> {
        let [before, after] = self.unset;
        format!("{before}{name}{after}\n").into_bytes()
    }

    /// Text that sets a variable of the shell alone.
    pub fn keep(&self, name: &str, value: impl AsRef<[u8]>) -> Vec<u8> {
        assignment(self.keep, name, &self.quote(value))
    }
}

fn assignment([before, between, after]: [&str; 3], name: &str, word: &[u8]) -> Vec<u8> {
    [before, name, between]
        .concat()
        .into_bytes()
        .into_iter()
        .chain(word.iter().copied())
        .chain(after.bytes())
        .chain(*b"\n")
        .collect()
}

fn holds_all(_: &str, _: &OsStr) -> Option<&'static str> {
    None
}

fn holds_unicode(_: &str, value: &OsStr) -> Option<&'static str> {
    value.to_str().is_none().then_some("bytes that are no Unicode")
}

/// In the lists of xonsh, which it knows by their names, a `~` in front and `$NAME` stand for something, quoted or not.
fn xonsh_refuses(name: &str, value: &OsStr) -> Option<&'static str> {
    let names = |pair: &[u8]| matches!(pair, [b'$', next] if next.is_ascii_alphanumeric() || !next.is_ascii() || b"_{".contains(next));
    let expands =
        |entry: &OsString| entry.as_bytes().starts_with(b"~") || entry.as_bytes().windows(2).any(names);
    (name.ends_with("PATH") && split(value).iter().any(expands)).then_some("a ~ or $ that is replaced there")
}

/// In single quotes all bytes stand for themselves, except the quote.
fn posix_quote(value: &[u8]) -> Vec<u8> {
    quoted(b'\'', value, |byte| if byte == b'\'' { Some(br"'\''") } else { None })
}

/// In fish's single quotes a backslash can stand before a quote or a backslash.
fn fish_quote(value: &[u8]) -> Vec<u8> {
    quoted(b'\'', value, |byte| match byte {
        b'\'' => Some(br"\'"),
        b'\\' => Some(br"\\"),
        _ => None,
    })
}

/// Quotes do not keep the character that stands for history, which each user may choose, and the option `backslash_quote`
/// changes what a backslash does in them. Before a mark that stands alone it always does the same.
fn tcsh_quote(value: &[u8]) -> Vec<u8> {
    let is_mark = |b: u8| matches!(b, b' '..=b'~' | b'\n');
    let mark = |b: &u8| match *b {
        b'\n' => br"$'\n'".to_vec(),
        b if b.is_ascii_alphanumeric() || b"/_.:-".contains(&b) => vec![b],
        b => vec![b'\\', b],
    };
    // The bytes of one character stay together.
    let part = |run: &[u8]| match run.first() {
        Some(first) if is_mark(*first) => run.iter().flat_map(mark).collect(),
        _ => [b"'", run, b"'"].concat(),
    };
    let parts: Vec<u8> = value.chunk_by(|a, b| is_mark(*a) == is_mark(*b)).flat_map(part).collect();
    if parts.is_empty() { b"''".to_vec() } else { parts }
}

fn nushell_quote(value: &[u8]) -> Vec<u8> {
    written(b'"', value, |c| match c {
        '"' | '\\' => Some(format!("\\{c}")),
        _ if c.is_control() => Some(format!("\\u{{{:x}}}", u32::from(c))),
        _ => None,
    })
}

/// PowerShell takes typographic quotes for quotes.
fn powershell_quote(value: &[u8]) -> Vec<u8> {
    written(b'\'', value, |c| matches!(c, '\'' | '\u{2018}'..='\u{201b}').then(|| format!("{c}{c}")))
}

/// Elvish's text is Unicode and its values are bytes.
fn elvish_quote(value: &[u8]) -> Vec<u8> {
    let byte = |b: &u8| match *b {
        b'"' | b'\\' => vec![b'\\', *b],
        b' '..=b'~' => vec![*b],
        other => format!("\\x{other:02x}").into_bytes(),
    };
    [b"\"".to_vec(), value.iter().flat_map(byte).collect(), b"\"".to_vec()].concat()
}

/// xonsh is Python, where a byte that is no Unicode has a character of its own.
fn xonsh_quote(value: &[u8]) -> Vec<u8> {
    written(b'\'', value, |c| match c {
        '\'' | '\\' => Some(format!("\\{c}")),
        _ if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
            Some(format!("\\u{:04x}", u32::from(c)))
        }
        _ => None,
    })
}

/// Bytes between two quotes, some of them written otherwise.
fn quoted(quote: u8, value: &[u8], escape: fn(u8) -> Option<&'static [u8]>) -> Vec<u8> {
    let mut out = vec![quote];
    for byte in value {
        match escape(*byte) {
            Some(text) => out.extend_from_slice(text),
            None => out.push(*byte),
        }
    }
    out.push(quote);
    out
}

/// The same by characters; a byte that belongs to none is written as Python does.
fn written(quote: u8, value: &[u8], escape: fn(char) -> Option<String>) -> Vec<u8> {
    let mut out = vec![quote];
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            out.extend_from_slice(escape(c).unwrap_or_else(|| c.to_string()).as_bytes());
        }
        out.extend(chunk.invalid().iter().flat_map(|byte| format!("\\udc{byte:02x}").into_bytes()));
    }
    out.push(quote);
    out
}
