//! Which file the dynamic loader would take for a library's name.

use crate::elf::cache::{self, Library};
use crate::host::Host;
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

/// Reads what the loader goes by.
pub fn look(host: &Host) -> Loader {
    let list =
        |name: &str| host.var(name).map(|value| std::env::split_paths(value).collect()).unwrap_or_default();
    let cache = std::fs::read(host.system("/etc/ld.so.cache")).ok();
    Loader {
        path: list("LD_LIBRARY_PATH"),
        preload: list("LD_PRELOAD"),
        cache: cache.and_then(|bytes| cache::read(&bytes)).unwrap_or_default(),
    }
}
