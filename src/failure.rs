//! Why a command failed, in the words that a person reads, with the exit code that a script reads.

use std::ffi::OsString;
use std::fmt;

/// The exit codes of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// What was asked for was not done.
    Failed = 1,
    /// The command line cannot be read.
    Usage = 2,
    /// No toolkit of that version, installed or to be had.
    NoVersion = 3,
    /// The network or a server on it.
    Network = 4,
    /// Bytes that are not what they should be: a wrong hash, a hostile archive.
    BadBytes = 5,
    /// Another process holds what is needed.
    Busy = 6,
    /// A program to become is not there, as shells say it.
    NotFound = 127,
}

/// What went wrong, where and why, and the next command to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// One sentence without a full stop: what, where, why. More lines may follow.
    pub message: String,
    /// Commands or advice, each on its own line after `try:`.
    pub tries: Vec<String>,
}

impl Failure {
    /// A failure without advice.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), tries: Vec::new() }
    }

    /// A failure of the general kind.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// A file or directory that could not be used: `doing` is a verb phrase such as `read`.
    pub fn io(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Self::failed(format!("could not {doing} {}: {}", path.display(), plain_io(error))).out_of_room(error)
    }

    /// Adds the way out where it was for want of room. A quota is used up long before the disk is, and no program that
    /// shows free space shows that.
    #[must_use]
    pub fn out_of_room(self, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::QuotaExceeded => self
                .hint("your quota on this file system is used up, whatever room the disk has: quota -s shows it")
                .hint(ELSEWHERE),
            std::io::ErrorKind::StorageFull => self.hint(ELSEWHERE),
            _ => self,
        }
    }

    /// Writes the command out where advice ends in [`SAME`], and names no other place for toolkits where none was to be put anywhere.
    #[must_use]
    pub fn of_command(mut self, line: &Line) -> Self {
        let fills = line.has("install") || line.has("add");
        for advice in &mut self.tries {
            if advice == ELSEWHERE && !fills {
                "df -h   (free some room there)".clone_into(advice);
            } else if let Some(before) = advice.strip_suffix(SAME) {
                *advice = format!("{before}{line}");
            }
        }
        self
    }

    /// Adds a line of advice.
    #[must_use]
    pub fn hint(mut self, advice: impl Into<String>) -> Self {
        self.tries.push(advice.into());
        self
    }
}

/// The way out for who wants room for a toolkit.
const ELSEWHERE: &str = "CUDAUP_HOME=/another/disk/cudaup cudaup install ...";

/// What stands in advice for the command that failed, where it is not known.
pub const SAME: &str = "cudaup ...";

/// The command line, as it can be typed again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line(Vec<String>);

impl Line {
    /// From all arguments, the program's name first.
    pub fn new(arguments: &[OsString]) -> Self {
        Self(arguments.iter().skip(1).map(|a| a.to_string_lossy().into_owned()).collect())
    }

    /// Whether a word stands in it.
    pub fn has(&self, word: &str) -> bool {
        self.0.iter().any(|w| w == word)
    }

    /// The same line with one word in another spelling.
    pub fn with(&self, word: &str, spelled: &str) -> String {
        if !self.has(word) {
            return format!("the same command with {spelled}");
        }
        let other = |w: &String| if w == word { spelled.to_owned() } else { w.clone() };
        Self(self.0.iter().map(other).collect()).to_string()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if self.0.is_empty() { SAME.to_owned() } else { typed(&self.0) })
    }
}

/// A command line of cudaup as it can be typed. The value of `--key=value` is quoted by itself, where it has to be.
pub fn typed(words: &[String]) -> String {
    let quote = |word: &String| match word.split_once('=') {
        Some((key, value)) if key.starts_with("--") && shell_words::quote(key) == key => {
            format!("{key}={}", shell_words::quote(value))
        }
        _ => shell_words::quote(word).into_owned(),
    };
    std::iter::once("cudaup".to_owned()).chain(words.iter().map(quote)).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// The operating system's words without Rust's `(os error 13)`, in lower case.
pub fn plain_io(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;
    use std::io::Error;
    use std::path::Path;

    #[test]
    fn advice_names_the_command_that_failed() {
        let line = Line::new(&["/x/cudaup", "install", "12.04", "--from", "a b"].map(OsString::from));
        let failure = Failure::failed("x").hint("A=b cudaup ...").hint("cudaup list").of_command(&line);
        assert_eq!(failure.tries, ["A=b cudaup install 12.04 --from 'a b'", "cudaup list"]);
        assert_eq!(line.with("12.04", "12.4"), "cudaup install 12.4 --from 'a b'");
        assert_eq!(line.with("12.05", "12.5"), "the same command with 12.5");
        assert_eq!(Line::default().to_string(), SAME);
        let line =
            Line::new(&["/x/cudaup", "install", "--from=a b", "--source=pypi", "a=b"].map(OsString::from));
        assert_eq!(line.to_string(), "cudaup install --from='a b' --source=pypi 'a=b'");
    }

    #[test]
    fn want_of_room_names_its_cause_and_the_way_out() {
        let failure = |errno: Errno| Failure::io("write", Path::new("/h/x"), &Error::from(errno));
        let quota = failure(Errno::DQUOT);
        assert!(quota.message.starts_with("could not write /h/x: disk quota exceeded"), "{quota}");
        assert!(quota.tries[0].contains("your quota") && quota.tries[1].starts_with("CUDAUP_HOME="));
        let full = failure(Errno::NOSPC);
        assert!(full.message.ends_with(": no space left on device") && full.tries.len() == 1, "{full:?}");
        let after = |words: &[&str]| {
            full.clone().of_command(&Line::new(&words.iter().map(OsString::from).collect::<Vec<_>>())).tries
        };
        assert_eq!(after(&["cudaup", "install", "12.4"]), full.tries);
        assert_eq!(after(&["cudaup", "use", "12.4"]), ["df -h   (free some room there)"]);
        assert!(failure(Errno::ACCESS).tries.is_empty());
    }
}
