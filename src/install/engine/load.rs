//! The loading threads. They own what they need and are never waited for: after a failure each ends at its next byte or
//! timeout, having touched nothing but part-files.

use super::queue::Queue;
use super::{Job, local, plain_name};
use crate::disk::lock::Lock;
use crate::failure::Failure;
use crate::net::{Client, Error, Wanted};
use crate::source::plan::Part;
use crate::ui::progress::Progress;
use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long another process may take for a file that this one needs as well.
const WAIT: Duration = Duration::from_secs(1800);

/// How long a further stream waits for its turn.
const STEP: Duration = Duration::from_millis(50);

/// The files of a job, the largest first.
#[derive(Debug)]
pub struct Loads {
    files: Vec<Load>,
    /// What need not be loaded.
    local: Vec<(usize, Part)>,
    /// Those that no stream has taken.
    left: Mutex<Range<usize>>,
}

/// A file to be loaded.
#[derive(Debug)]
struct Load {
    part: usize,
    name: String,
    size: u64,
    wanted: Wanted,
    path: PathBuf,
}

impl Loads {
    /// The files of a job.
    pub fn new(job: &Job<'_>) -> Result<Self, Failure> {
        std::fs::create_dir_all(job.downloads).map_err(|e| Failure::io("create", job.downloads, &e))?;
        let (mut loads, mut local) = (Vec::new(), Vec::new());
        for (part, p) in job.parts.iter().enumerate() {
            if p.local.is_some() {
                local.push((part, p.clone()));
                continue;
            }
            let wanted = Wanted {
                url: p.url.clone(),
                size: Some(p.size).filter(|size| *size > 0),
                sha256: Some(p.sha256.clone()).filter(|hash| !hash.is_empty()),
            };
            let path = job.downloads.join(plain_name(p)?);
            loads.push(Load { part, name: p.name.clone(), size: p.size, wanted, path });
        }
        loads.sort_by_key(|load| std::cmp::Reverse(load.size));
        let left = Mutex::new(0..loads.len());
        Ok(Self { files: loads, local, left })
    }

    /// Starts the threads: two at once, the others one after another while the unpackers have nothing to do. Where the
    /// network is faster than they are, more streams would only make the largest file arrive last, and its unpacking
    /// would be left for the end.
    pub fn start(self: &Arc<Self>, client: &Client, queue: &Arc<Queue>, progress: &Progress) {
        if !self.local.is_empty() {
            let (loads, queue) = (Arc::clone(self), Arc::clone(queue));
            std::thread::spawn(move || loads.look(&queue));
        }
        for stream in 0..client.streams().min(self.files.len()) {
            let (loads, client) = (Arc::clone(self), client.clone());
            let (queue, progress) = (Arc::clone(queue), progress.clone());
            std::thread::spawn(move || {
                for _ in 1..stream {
                    std::thread::sleep(STEP);
                }
                while stream > 1 && !queue.starving() && !loads.none_left() && !queue.stopped() {
                    std::thread::sleep(STEP);
                }
                loads.work(stream, &client, &queue, &progress);
            });
        }
    }

    /// Opens what lies on this machine.
    fn look(&self, queue: &Queue) {
        for (part, plan) in &self.local {
            let Some(path) = &plan.local else { continue };
            match local::open(plan, path, queue) {
                Ok(Some(file)) => queue.arrived(*part, file),
                Ok(None) => return,
                Err(failure) => return queue.fail(failure),
            }
        }
    }

    fn work(&self, stream: usize, client: &Client, queue: &Queue, progress: &Progress) {
        while let Some(load) = self.take(stream) {
            if queue.stopped() {
                return;
            }
            match fetch(load, client, queue, progress) {
                Ok(file) => queue.arrived(load.part, file),
                Err(failure) => return queue.fail(failure),
            }
        }
    }

    /// The next file for a stream. Every second one begins with the smallest, so that there is something to unpack at
    /// once; the others with the largest, so that it is not left for the end.
    fn take(&self, stream: usize) -> Option<&Load> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let index = if stream % 2 == 1 { left.next_back() } else { left.next() };
        self.files.get(index?)
    }

    fn none_left(&self) -> bool {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// Loads one file under its lock, so that processes that need the same one fetch it once.
fn fetch(load: &Load, client: &Client, queue: &Queue, progress: &Progress) -> Result<File, Failure> {
    let say = |line: &str| progress.say(line);
    let _lock = Lock::acquire_while(&lock(&load.path), &load.name, WAIT, &say, &|| !queue.stopped())?;
    let bar = progress.file(&load.name, load.size);
    let seen = |bytes| {
        if queue.stopped() {
            return ControlFlow::Break(());
        }
        bar.at(bytes);
        ControlFlow::Continue(())
    };
    client.fetch(&load.wanted, &load.path, &seen).map_err(failed)?;
    let file = File::open(&load.path).map_err(|e| Failure::io("open", &load.path, &e))?;
    bar.loaded();
    Ok(file)
}

/// A server that lists what it does not have is most often a mirror that is still being filled.
fn failed(error: Error) -> Failure {
    let absent = matches!(error, Error::Status { code: 404 | 410, .. });
    let failure = error.into_failure();
    if !absent {
        return failure;
    }
    let message = format!("{}: it is listed, but not there yet (mirrors lag)", failure.message);
    Failure { message, ..failure }.hint("run the same command again later, or name another --source")
}

fn lock(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// Removes one archive by its name, unless another process is just about to use it.
pub fn forget_file(name: &str, downloads: &Path) {
    let path = downloads.join(name);
    if !name.contains('/')
        && path.is_file()
        && let Some(_unused) = Lock::try_acquire(&lock(&path))
    {
        // An archive too many is no failure of an install.
        let _ = std::fs::remove_file(&path);
    }
}

/// Removes the archives of these parts, except those that another process is just about to use. Giving back what lies
/// in memory of a large file takes a while: two threads share the files.
pub fn forget(parts: &[Part], downloads: &Path) {
    let remove = |part: &Part| {
        if let (Ok(name), None) = (plain_name(part), &part.local) {
            forget_file(&name, downloads);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| parts.iter().step_by(2).for_each(remove));
        parts.iter().skip(1).step_by(2).for_each(remove);
    });
}
