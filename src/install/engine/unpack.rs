//! The unpacking threads: archives are judged as they arrive and split into pieces that can be unpacked side by side.

use super::queue::{Queue, Work};
use super::{Job, Unpacked};
use crate::archive::Error;
use crate::archive::guard::{Claims, Kind, Print};
use crate::archive::target::Target;
use crate::archive::zip::{Member, Zip};
use crate::failure::Failure;
use crate::ui::progress::Progress;
use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};

/// What one thread writes at once; with the archive reader's own buffers all that a thread needs.
const BUFFER: usize = 256 << 10;

/// A member of this size is a piece of its own; smaller ones come in groups of about this size.
const PIECE: u64 = 4 << 20;

/// More threads than this bring nothing, and each needs memory.
const THREADS: usize = 64;

/// What the unpacking threads share.
pub struct Unpackers<'a> {
    job: &'a Job<'a>,
    target: &'a Target,
    queue: &'a Queue,
    progress: &'a Progress,
    claims: Mutex<Claims>,
    done: Mutex<Vec<Unpacked>>,
    links: Mutex<Vec<(String, String)>>,
}

/// As many as there are cores: unpacking is what takes the time.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS)
}

impl<'a> Unpackers<'a> {
    /// For a job whose archives are being loaded.
    pub fn new(job: &'a Job<'a>, target: &'a Target, queue: &'a Queue, progress: &'a Progress) -> Self {
        let (claims, done, links) = Default::default();
        Self { job, target, queue, progress, claims, done, links }
    }

    /// Works until there is nothing left to do, or until something failed.
    pub fn work(&self) {
        let mut buffer = vec![0; BUFFER];
        while let Some(work) = self.queue.next() {
            let done = match work {
                Work::Open { part, file } => self.open(part, file),
                Work::Members { archive, members, .. } => self.unpack(&archive, &members, &mut buffer),
            };
            if let Err(error) = done {
                self.queue.fail(error.into_failure());
            }
        }
    }

    /// Makes the links, after every file, and says what came out.
    pub fn finish(self) -> Result<Vec<Unpacked>, Failure> {
        let links = self.links.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (path, to) in &links {
            self.target.link(path, to)?;
        }
        let mut done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|unpacked| unpacked.part);
        Ok(done)
    }

    fn open(&self, part: usize, file: File) -> Result<(), Error> {
        let Some(plan) = self.job.parts.get(part) else { return Ok(()) };
        let zip = Zip::open(file, &plan.file, plan.unpacked, &|name| plan.placement.place(name))?;
        let ours = self.claim(&zip)?;
        let mut links = Vec::new();
        for member in zip.members().iter().filter(|m| m.kind == Kind::Link) {
            links.push((member.path.clone(), zip.link_target(member)?));
        }
        self.links.lock().unwrap_or_else(PoisonError::into_inner).extend(links);
        let named = |m: &&Member| m.kind != Kind::Directory;
        let mut files: Vec<_> = zip.members().iter().filter(named).map(|m| m.path.clone()).collect();
        files.sort();
        let bytes = zip.members().iter().map(|m| m.size).sum();
        self.progress
            .to_unpack(ours.iter().filter_map(|index| zip.members().get(*index)).map(|m| m.size).sum());
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(Unpacked { part, files, bytes });
        let pieces = pieces(zip.members(), &ours);
        let archive = Arc::new(zip);
        let work = pieces
            .into_iter()
            .map(|(members, bytes)| Work::Members { archive: Arc::clone(&archive), members, bytes })
            .collect();
        self.queue.opened(work);
        Ok(())
    }

    /// Takes the places of all members in the tree. Returns those to be written: not links, which come last, and not
    /// what another part has brought already.
    fn claim(&self, zip: &Zip) -> Result<Vec<usize>, Error> {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ours = Vec::new();
        for (index, m) in zip.members().iter().enumerate() {
            let print = Print { size: m.size, checksum: m.crc };
            let new = claims.claim(&m.path, &m.kind, print);
            if new.map_err(|why| zip.refuse(m.name.as_bytes(), why))? && m.kind != Kind::Link {
                ours.push(index);
            }
        }
        Ok(ours)
    }

    fn unpack(&self, archive: &Zip, members: &[usize], buffer: &mut [u8]) -> Result<(), Error> {
        let seen = |bytes| {
            self.progress.unpacked(bytes);
            !self.queue.stopped()
        };
        archive.unpack(members, self.target, buffer, &seen)
    }
}

/// Splits members into pieces, each with its bytes.
fn pieces(members: &[Member], which: &[usize]) -> Vec<(Vec<usize>, u64)> {
    let mut pieces = Vec::new();
    let (mut group, mut bytes) = (Vec::new(), 0);
    for index in which {
        // A file costs something even if it is empty.
        let size = members.get(*index).map_or(0, |m| m.size) + (16 << 10);
        if size >= PIECE {
            pieces.push((vec![*index], size));
            continue;
        }
        group.push(*index);
        bytes += size;
        if bytes >= PIECE {
            pieces.push((std::mem::take(&mut group), std::mem::take(&mut bytes)));
        }
    }
    if !group.is_empty() {
        pieces.push((group, bytes));
    }
    pieces
}
