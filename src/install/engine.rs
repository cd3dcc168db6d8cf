//! Fetching and unpacking, the same for every source: several files load at once, and what is there is unpacked while
//! the others still load. Whatever fails first stops everything.

mod load;
mod local;
mod memory;
mod queue;
mod unpack;

#[cfg(test)]
mod real_archives;
#[cfg(test)]
mod tests;

use crate::failure::{Exit, Failure};
use crate::net::Client;
use crate::source::plan::Part;
use crate::ui::progress::Progress;
use crate::ui::talk::Talk;
use load::Loads;
pub use load::{forget, forget_file};
use queue::Queue;
use std::path::Path;
use std::sync::Arc;
use unpack::Unpackers;

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The archives.
    pub parts: &'a [Part],
    /// Where they are loaded to. Part-files stay there after a failure and are gone on with.
    pub downloads: &'a Path,
    /// The tree that they are unpacked into: a directory that exists, and that nobody else writes.
    pub tree: &'a Path,
}

/// What came out of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// The place of the part in the job.
    pub part: usize,
    /// The files and links that it has in the tree, sorted. One that two parts have in common is named by both.
    pub files: Vec<String>,
    /// The bytes of its files.
    pub bytes: u64,
}

/// Loads and unpacks all parts. After a failure the tree is whatever it is; the part-files can be gone on with. The
/// archives stay: until the toolkit has its place, whatever fails or is interrupted would have to load them again.
pub fn run(job: &Job<'_>, client: &Client, talk: &Talk) -> Result<Vec<Unpacked>, Failure> {
    let loads = Arc::new(Loads::new(job)?);
    let loaded = job.parts.iter().filter(|p| p.local.is_none());
    let progress =
        Progress::new(talk, loaded.clone().count(), loaded.map(|p| p.size).fold(0, u64::saturating_add));
    let queue = Arc::new(Queue::new(job.parts.len()));
    loads.start(client, &queue, &progress);
    let unpackers = Unpackers::new(job, &queue, &progress);
    std::thread::scope(|scope| {
        for _ in 0..unpack::threads() {
            scope.spawn(|| unpackers.work());
        }
    });
    // The loaders are not waited for: one may hang on a silent server for as long as the stall timeout lasts.
    progress.end();
    if let Some(failure) = queue.failure() {
        return Err(failure);
    }
    unpackers.finish()
}

/// The name under which a part is loaded: one plain component, since an index is not to be trusted with paths.
fn plain_name(part: &Part) -> Result<String, Failure> {
    let plain = crate::archive::guard::name(part.file.as_bytes());
    if plain.as_deref() == Ok(part.file.as_str()) && !part.file.contains('/') {
        return Ok(part.loaded_as());
    }
    let shown = crate::archive::guard::printable(part.file.as_bytes());
    Err(Failure::new(Exit::BadBytes, format!("{} has {shown} for a file name, which is refused", part.name)))
}
