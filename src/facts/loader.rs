//! Which file the dynamic loader would take for a library's name.

use crate::elf::cache::Library;
use std::path::PathBuf;

/// What the loader goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loader {
    /// The directories of LD_LIBRARY_PATH, in order; an empty element is the current directory.
    pub path: Vec<PathBuf>,
    /// The libraries of LD_PRELOAD.
    pub preload: Vec<PathBuf>,
    /// /etc/ld.so.cache, in its own order: of two entries for one name the first counts.
    pub cache: Vec<Library>,
}
