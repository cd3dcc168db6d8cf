//! Why a command failed, in the words that a person reads, with the exit code that a script reads.

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
        const ELSEWHERE: &str = "CUDAUP_HOME=/another/disk/cudaup cudaup install ...";
        match error.kind() {
            std::io::ErrorKind::QuotaExceeded => self
                .hint("your quota on this file system is used up, whatever room the disk has: quota -s shows it")
                .hint(ELSEWHERE),
            std::io::ErrorKind::StorageFull => self.hint(ELSEWHERE),
            _ => self,
        }
    }

    /// Adds a line of advice.
    #[must_use]
    pub fn hint(mut self, advice: impl Into<String>) -> Self {
        self.tries.push(advice.into());
        self
    }
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
    fn want_of_room_names_its_cause_and_the_way_out() {
        let failure = |errno: Errno| Failure::io("write", Path::new("/h/x"), &Error::from(errno));
        let quota = failure(Errno::DQUOT);
        assert!(quota.message.starts_with("could not write /h/x: disk quota exceeded"), "{quota}");
        assert!(quota.tries[0].contains("your quota") && quota.tries[1].starts_with("CUDAUP_HOME="));
        let full = failure(Errno::NOSPC);
        assert!(full.message.ends_with(": no space left on device") && full.tries.len() == 1, "{full:?}");
        assert!(failure(Errno::ACCESS).tries.is_empty());
    }
}
