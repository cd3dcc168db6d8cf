//! Archives are hostile: what is in one is judged before anything is written, and nothing is ever written outside the
//! tree that is being made.

pub mod copying;
mod deb;
pub mod folder;
pub mod format;
pub mod guard;
mod makeself;
pub mod merge;
mod region;
pub mod stream;
pub mod tar;
mod target;
mod xz;
pub mod zip;

#[cfg(test)]
mod tests;

use crate::failure::{Exit, Failure};

/// Why an archive was not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An entry that no honest archive has.
    #[error("{archive} is not unpacked: its entry {entry} {why}")]
    Entry {
        /// The archive's file name.
        archive: String,
        /// The entry, made printable.
        entry: String,
        /// What is wrong with it.
        why: guard::Refusal,
    },
    /// An archive that is broken, or hostile as a whole.
    #[error("{archive} cannot be unpacked: {why}")]
    Archive {
        /// The archive's file name.
        archive: String,
        /// What is wrong with it.
        why: String,
    },
    /// The tree could not be written.
    #[error("{0}")]
    Disk(Failure),
    /// Another part of the work failed; this one was told to stop.
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// The failure that a person sees: bad bytes are exit 5.
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Disk(failure) => failure,
            other => Failure::new(Exit::BadBytes, other.to_string()),
        }
    }
}
