//! What the rules need to know of a file system, so that programs pass the real one and tests a map.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// Questions to a file system. None of them writes, waits or follows a link out of the sysroot.
pub trait Disk {
    /// Reads a regular file of at most `limit` bytes. Anything that is not a regular file is never opened.
    fn read(&self, path: &Path, limit: usize) -> Result<Vec<u8>, Unread>;
    /// The first `length` bytes of a regular file, fewer where it is shorter.
    fn head(&self, path: &Path, length: usize) -> Option<Vec<u8>>;
    /// The names in a directory, each with what it is; `None` where it cannot be read.
    fn names(&self, directory: &Path) -> Option<Vec<(OsString, Entry)>>;
    /// What a path is, links followed.
    fn kind(&self, path: &Path) -> Option<Entry>;
    /// The path without any link in it; `None` where it does not exist.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// What a link says, whether or not that exists.
    fn target(&self, link: &Path) -> Option<PathBuf>;
    /// Where a path of the machine (`/usr/local/cuda`) is looked up: below `CUDAUP_SYSROOT` where that is set.
    fn system(&self, path: &str) -> PathBuf;

    /// The number of a file's owner where that is neither root nor the user who asks; `None` where that is not known.
    fn stranger(&self, _file: &Path) -> Option<u32> {
        None
    }

    /// How many bytes a regular file has; `None` where that is not known.
    fn length(&self, _file: &Path) -> Option<u64> {
        None
    }

    /// Whether a path is a directory, links followed.
    fn is_dir(&self, path: &Path) -> bool {
        self.kind(path) == Some(Entry::Directory)
    }

    /// Whether a path is a regular file that may be executed, links followed. Where that is not known of a file, it may.
    fn is_program(&self, path: &Path) -> bool {
        self.is_file(path)
    }

    /// Whether a path is a regular file, links followed.
    fn is_file(&self, path: &Path) -> bool {
        self.kind(path) == Some(Entry::File)
    }
}

/// What a name in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link, where links were not followed.
    Link,
    /// A FIFO, socket or device.
    Other,
}

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It does not exist (ENOENT, ENOTDIR).
    Absent,
    /// The directories above it cannot be searched (any other error of looking it up).
    Unreachable,
    /// It exists and is not a regular file; the word says what it is.
    NotAFile(&'static str),
    /// It is a link, and what that names does not exist.
    Dangling,
    /// It holds more bytes than asked for.
    TooLarge,
    /// It exists and cannot be opened or read; the system's words.
    Refused(String),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("it does not exist"),
            Self::Unreachable => f.write_str("its directory cannot be searched"),
            Self::NotAFile(what) => write!(f, "it is {what}, not a file"),
            Self::Dangling => f.write_str("it is a link to nothing"),
            Self::TooLarge => f.write_str("it is larger than 64 KiB"),
            Self::Refused(reason) => f.write_str(reason),
        }
    }
}
