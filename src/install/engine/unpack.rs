//! The unpacking threads: archives are judged as they arrive and split into pieces that can be unpacked side by side.

use super::memory::{MEMORY, Memory};
use super::queue::{Queue, Work};
use super::{Job, Unpacked};
use crate::archive::Error;
use crate::archive::copying::Copying;
use crate::archive::folder::Folder;
use crate::archive::format::Format;
use crate::archive::merge::{Contents, Lost, Merge, Spot};
use crate::archive::stream::Stream;
use crate::archive::tar::Tar;
use crate::archive::zip::{Member, Zip};
use crate::failure::{Failure, plain_io};
use crate::ui::progress::Progress;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What one thread writes at once; with the archive reader's own buffers all that a thread needs.
const BUFFER: usize = 256 << 10;

/// A member of this size is a piece of its own; smaller ones come in groups of about this size.
const PIECE: u64 = 4 << 20;

/// More threads than this bring nothing, and each needs memory.
const THREADS: usize = 64;

/// Blocks of one stream that are unpacked at once.
const BLOCKS: usize = 8;

/// What the unpacking threads share.
pub struct Unpackers<'a> {
    job: &'a Job<'a>,
    merge: Merge,
    memory: Memory,
    queue: &'a Queue,
    progress: &'a Progress,
    done: Mutex<BTreeMap<usize, Contents>>,
}

/// As many as there are cores: unpacking is what takes the time.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREADS)
}

impl<'a> Unpackers<'a> {
    /// For a job whose archives are being loaded.
    pub fn new(job: &'a Job<'a>, queue: &'a Queue, progress: &'a Progress) -> Self {
        let merge = Merge::new(job.tree);
        Self { job, merge, memory: Memory::new(), queue, progress, done: Mutex::default() }
    }

    /// Works until there is nothing left to do, or until something failed.
    pub fn work(&self) {
        let mut buffer = vec![0; BUFFER];
        let seen = |bytes| {
            self.progress.unpacked(bytes);
            !self.queue.stopped()
        };
        let mut copying = Copying { buffer: &mut buffer, seen: &seen };
        while let Some(work) = self.queue.next() {
            let done = match work {
                Work::Open { part, file } => self.open(part, file),
                Work::Members { archive, members, .. } => archive.unpack(&members, &self.merge, &mut copying),
                Work::Stream { part, stream, .. } => self.stream(part, *stream, &mut copying),
                Work::Folder { part, root } => self.folder(part, &root, &mut copying),
            };
            if let Err(error) = done {
                self.queue.fail(error.into_failure());
            }
        }
    }

    /// Settles what came twice, makes the links, and says what came out.
    pub fn finish(self) -> Result<Vec<Unpacked>, Failure> {
        let lost = self.merge.finish()?;
        let mut done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        for loss in &lost {
            if let Some(contents) = done.get_mut(&loss.part).filter(|_| loss.part != loss.to) {
                contents.files.remove(&loss.path);
            }
        }
        let name = |part: usize| self.job.parts.get(part).map_or("", |p| p.name.as_str());
        for line in preferred(&lost, &name) {
            self.progress.say(&line);
        }
        let unpacked = |(part, contents): (usize, Contents)| Unpacked {
            part,
            files: contents.files.into_iter().collect(),
            bytes: contents.bytes,
        };
        Ok(done.into_iter().map(unpacked).collect())
    }

    fn open(&self, part: usize, file: File) -> Result<(), Error> {
        let Some(plan) = self.job.parts.get(part) else { return Ok(()) };
        let whole = |why: String| Error::Archive { archive: plan.file.clone(), why };
        let found = file.metadata().map_err(|e| whole(plain_io(&e)))?;
        if let Some(root) = plan.local.clone().filter(|_| found.is_dir()) {
            self.queue.opened(vec![Work::Folder { part, root }]);
            return Ok(());
        }
        let format = Format::of(&plan.file)
            .ok_or_else(|| whole("it is no kind of archive that cudaup knows".to_owned()))?;
        if format != Format::Zip {
            let stream = Stream::open(file, format, threads().min(BLOCKS), MEMORY).map_err(whole)?;
            let stream = Work::Stream { part, stream: Box::new(stream), length: found.len() };
            self.queue.opened(vec![stream]);
            return Ok(());
        }
        let zip = Zip::open(file, &plan.file, plan.unpacked, &|name| plan.placement.place(name))?;
        let ours = zip.claim(part, &self.merge)?;
        self.progress.to_unpack(
            ours.iter()
                .filter_map(|(at, _)| zip.members().get(*at))
                .map(|m| m.size)
                .fold(0, u64::saturating_add),
        );
        self.done(part, zip.contents());
        let pieces = pieces(zip.members(), ours);
        let archive = Arc::new(zip);
        let work = pieces
            .into_iter()
            .map(|(members, bytes)| Work::Members { archive: Arc::clone(&archive), members, bytes })
            .collect();
        self.queue.opened(work);
        Ok(())
    }

    fn stream(&self, part: usize, stream: Stream, copying: &mut Copying<'_>) -> Result<(), Error> {
        let Some(plan) = self.job.parts.get(part) else { return Ok(()) };
        let _grant = self.memory.take(stream.memory());
        self.progress.to_unpack(plan.on_disk());
        let place = |name: &str| plan.placement.place(name);
        let tar = Tar::new(stream, &plan.file, plan.unpacked, &place);
        self.done(part, tar.unpack(part, &self.merge, copying)?);
        Ok(())
    }

    fn folder(&self, part: usize, root: &Path, copying: &mut Copying<'_>) -> Result<(), Error> {
        let Some(plan) = self.job.parts.get(part) else { return Ok(()) };
        self.progress.to_unpack(plan.on_disk());
        let folder = Folder { root, place: &|name| plan.placement.place(name) };
        self.done(part, folder.copy(part, &self.merge, copying)?);
        Ok(())
    }

    fn done(&self, part: usize, contents: Contents) {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).insert(part, contents);
    }
}

/// A line for each two parts that brought the same place with different contents.
fn preferred<'n>(lost: &[Lost], name: &dyn Fn(usize) -> &'n str) -> Vec<String> {
    let mut pairs: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
    for loss in lost {
        pairs.entry((loss.to, loss.part)).or_default().push(&loss.path);
    }
    let line = |((to, part), paths): ((usize, usize), Vec<&str>)| {
        let first = paths.first().copied().unwrap_or_default();
        let (to, part) = (name(to), name(part));
        match paths.len() {
            1 => format!("{first} is in {to} and in {part}, and differs: that of {to} is taken"),
            more => format!(
                "{more} files are in {to} and in {part}, and differ: those of {to} are taken, such as {first}"
            ),
        }
    };
    pairs.into_iter().map(line).collect()
}

/// Splits members into pieces, each with its bytes.
fn pieces(members: &[Member], which: Vec<(usize, Spot)>) -> Vec<(Vec<(usize, Spot)>, u64)> {
    let mut pieces = Vec::new();
    let (mut group, mut bytes) = (Vec::new(), 0);
    for (index, spot) in which {
        // A file costs something even if it is empty.
        let size = members.get(index).map_or(0, |m| m.size) + (16 << 10);
        if size >= PIECE {
            pieces.push((vec![(index, spot)], size));
            continue;
        }
        group.push((index, spot));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_said_once_for_each_two_parts() {
        let lost = |path: &str, part, to| Lost { path: path.into(), part, to };
        let lost = [lost("a/x", 1, 0), lost("a/y", 1, 0), lost("b", 2, 1)];
        let names = ["libnvvm", "cuda_nvcc", "cuda_crt"];
        let lines = preferred(&lost, &|part| names[part]);
        assert_eq!(
            lines,
            [
                "2 files are in libnvvm and in cuda_nvcc, and differ: those of libnvvm are taken, such as a/x",
                "b is in cuda_nvcc and in cuda_crt, and differs: that of cuda_nvcc is taken",
            ]
        );
        assert!(preferred(&[], &|part| names[part]).is_empty());
    }
}
