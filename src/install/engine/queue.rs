//! What is to be unpacked next, and whether anything failed: the one thing that all threads share.

use crate::archive::merge::Spot;
use crate::archive::stream::Stream;
use crate::archive::zip::Zip;
use crate::failure::Failure;
use std::collections::BinaryHeap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A piece of work for one thread.
pub enum Work {
    /// An archive that has arrived: to be judged and split up.
    Open {
        /// The place of its part in the job.
        part: usize,
        /// The file, open, so that it stays even if its name goes.
        file: File,
    },
    /// Some members of an archive.
    Members {
        /// The archive.
        archive: Arc<Zip>,
        /// Which, and where each goes.
        members: Vec<(usize, Spot)>,
        /// Their bytes, unpacked.
        bytes: u64,
    },
    /// An archive that can only be read from front to back.
    Stream {
        /// The place of its part in the job.
        part: usize,
        /// Its bytes.
        stream: Box<Stream>,
        /// Its length on disk.
        length: u64,
    },
    /// A directory on this machine.
    Folder {
        /// The place of its part in the job.
        part: usize,
        /// Where it is.
        root: PathBuf,
    },
}

/// What unpacking a byte of a stream takes, beside unpacking to a byte of a zip archive.
const SLOW: u64 = 8;

impl Work {
    /// Archives first, since they bring work; then the largest, so that none is left for the end.
    fn rank(&self) -> u64 {
        match self {
            Self::Open { .. } => u64::MAX,
            Self::Members { bytes, .. } => *bytes,
            Self::Stream { length, .. } => length.saturating_mul(SLOW),
            Self::Folder { .. } => u64::MAX - 1,
        }
    }
}

impl Ord for Work {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Work {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Work {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Work {}

/// The work, waited for by the unpackers and brought by the loaders and by the opening of archives.
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    stopped: AtomicBool,
}

struct State {
    work: BinaryHeap<Work>,
    /// Archives that have not been split up yet.
    unopened: usize,
    /// Unpackers that have nothing to do.
    idle: usize,
    failure: Option<Failure>,
}

impl Queue {
    /// A queue that ends after so many archives.
    pub fn new(archives: usize) -> Self {
        let (work, failure) = Default::default();
        let state = State { work, unopened: archives, idle: 0, failure };
        let (changed, stopped) = Default::default();
        Self { state: Mutex::new(state), changed, stopped }
    }

    /// An archive has arrived.
    pub fn arrived(&self, part: usize, file: File) {
        let mut state = self.state();
        state.work.push(Work::Open { part, file });
        self.changed.notify_one();
    }

    /// An archive has been split up.
    pub fn opened(&self, work: Vec<Work>) {
        let mut state = self.state();
        state.work.extend(work);
        state.unopened -= 1;
        self.changed.notify_all();
    }

    /// Whether unpackers wait for archives.
    pub fn starving(&self) -> bool {
        let state = self.state();
        state.idle > 0 && state.work.is_empty()
    }

    /// The first failure stops everything; those after it are its consequences.
    pub fn fail(&self, failure: Failure) {
        self.state().failure.get_or_insert(failure);
        self.stopped.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Whether to stop.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Waits for work; `None`: there will be none.
    pub fn next(&self) -> Option<Work> {
        let mut state = self.state();
        loop {
            if state.failure.is_some() {
                return None;
            }
            if let Some(work) = state.work.pop() {
                return Some(work);
            }
            if state.unopened == 0 {
                return None;
            }
            state.idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// The first failure.
    pub fn failure(&self) -> Option<Failure> {
        self.state().failure.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
