//! The loading threads. They own what they need and are never waited for: after a failure each ends at its next byte or
//! timeout, having touched nothing but part-files.

use super::queue::Queue;
use super::{Job, plain_name};
use crate::disk::lock::Lock;
use crate::failure::Failure;
use crate::net::{Client, Wanted};
use crate::ui::progress::Progress;
use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long another process may take for a file that this one needs as well.
const WAIT: Duration = Duration::from_secs(1800);

/// What took no longer than this is as quickly loaded again.
const QUICK: Duration = Duration::from_secs(5);

/// How long a further stream waits for its turn.
const STEP: Duration = Duration::from_millis(50);

/// The files of a job, the largest first.
#[derive(Debug)]
pub struct Loads {
    loads: Vec<Load>,
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
    quick: AtomicBool,
}

impl Load {
    fn lock(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".lock");
        PathBuf::from(name)
    }
}

impl Loads {
    /// The files of a job.
    pub fn new(job: &Job<'_>) -> Result<Self, Failure> {
        std::fs::create_dir_all(job.downloads).map_err(|e| Failure::io("create", job.downloads, &e))?;
        let mut loads = Vec::new();
        for (part, p) in job.parts.iter().enumerate() {
            let wanted = Wanted {
                url: p.url.clone(),
                size: Some(p.size).filter(|size| *size > 0),
                sha256: Some(p.sha256.clone()).filter(|hash| !hash.is_empty()),
            };
            let path = job.downloads.join(plain_name(p)?);
            let quick = AtomicBool::new(false);
            loads.push(Load { part, name: p.name.clone(), size: p.size, wanted, path, quick });
        }
        loads.sort_by_key(|load| std::cmp::Reverse(load.size));
        let left = Mutex::new(0..loads.len());
        Ok(Self { loads, left })
    }

    /// Starts the threads: two at once, the others one after another while the unpackers have nothing to do. Where the
    /// network is faster than they are, more streams would only make the largest file arrive last, and its unpacking
    /// would be left for the end.
    pub fn start(self: &Arc<Self>, client: &Client, queue: &Arc<Queue>, progress: &Progress) {
        for stream in 0..client.streams().min(self.loads.len()) {
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

    fn work(&self, stream: usize, client: &Client, queue: &Queue, progress: &Progress) {
        while let Some(load) = self.take(stream) {
            if queue.stopped() {
                return;
            }
            let start = Instant::now();
            match fetch(load, client, queue, progress) {
                Ok(file) => {
                    load.quick.store(start.elapsed() < QUICK, Ordering::Relaxed);
                    queue.arrived(load.part, file);
                }
                Err(failure) => return queue.fail(failure),
            }
        }
    }

    /// The next file for a stream. Every second one begins with the smallest, so that there is something to unpack at
    /// once; the others with the largest, so that it is not left for the end.
    fn take(&self, stream: usize) -> Option<&Load> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let index = if stream % 2 == 1 { left.next_back() } else { left.next() };
        self.loads.get(index?)
    }

    fn none_left(&self) -> bool {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether the archive of a part was loaded in next to no time.
    pub fn quick(&self, part: usize) -> bool {
        self.loads.iter().any(|load| load.part == part && load.quick.load(Ordering::Relaxed))
    }

    /// Removes the archive of a part, unless another process is just about to use it.
    pub fn remove(&self, part: usize) {
        for load in self.loads.iter().filter(|load| load.part == part) {
            if let Some(_unused) = Lock::try_acquire(&load.lock()) {
                // An archive too many is no failure of an install.
                let _ = std::fs::remove_file(&load.path);
            }
        }
    }
}

/// Loads one file under its lock, so that processes that need the same one fetch it once.
fn fetch(load: &Load, client: &Client, queue: &Queue, progress: &Progress) -> Result<File, Failure> {
    let say = |line: &str| progress.say(line);
    let _lock = Lock::acquire_while(&load.lock(), &load.name, WAIT, &say, &|| !queue.stopped())?;
    let bar = progress.file(&load.name, load.size);
    let seen = |bytes| {
        if queue.stopped() {
            return ControlFlow::Break(());
        }
        bar.at(bytes);
        ControlFlow::Continue(())
    };
    client.fetch(&load.wanted, &load.path, &seen).map_err(crate::net::Error::into_failure)?;
    let file = File::open(&load.path).map_err(|e| Failure::io("open", &load.path, &e))?;
    bar.loaded();
    Ok(file)
}
