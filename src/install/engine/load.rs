//! The loading threads. They own what they need and are never waited for: after a failure each ends at its next byte or
//! timeout, having touched nothing but part-files.

use super::queue::Queue;
use super::{Job, plain_name};
use crate::disk::lock::Lock;
use crate::failure::Failure;
use crate::net::{Client, Wanted};
use crate::ui::progress::Progress;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long another process may take for a file that this one needs as well.
const WAIT: Duration = Duration::from_secs(1800);

/// A file to be loaded.
#[derive(Clone, Debug)]
pub struct Load {
    part: usize,
    name: String,
    size: u64,
    wanted: Wanted,
    path: PathBuf,
}

impl Load {
    fn lock(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".lock");
        PathBuf::from(name)
    }
}

/// The files of a job, the largest first.
pub fn prepare(job: &Job<'_>) -> Result<Vec<Load>, Failure> {
    std::fs::create_dir_all(job.downloads).map_err(|e| Failure::io("create", job.downloads, &e))?;
    let mut loads = Vec::new();
    for (part, p) in job.parts.iter().enumerate() {
        let wanted = Wanted {
            url: p.url.clone(),
            size: Some(p.size).filter(|size| *size > 0),
            sha256: Some(p.sha256.clone()).filter(|hash| !hash.is_empty()),
        };
        let path = job.downloads.join(plain_name(p)?);
        loads.push(Load { part, name: p.name.clone(), size: p.size, wanted, path });
    }
    loads.sort_by_key(|load| std::cmp::Reverse(load.size));
    Ok(loads)
}

/// Starts the threads. Each takes the next file that none has taken.
pub fn start(loads: Vec<Load>, client: &Client, queue: &Arc<Queue>, progress: &Progress) {
    let (loads, next) = (Arc::new(loads), Arc::new(AtomicUsize::new(0)));
    for _ in 0..client.streams().min(loads.len()) {
        let (loads, next) = (Arc::clone(&loads), Arc::clone(&next));
        let (client, queue, progress) = (client.clone(), Arc::clone(queue), progress.clone());
        std::thread::spawn(move || {
            while let Some(load) = loads.get(next.fetch_add(1, Ordering::Relaxed)) {
                if queue.stopped() {
                    return;
                }
                match fetch(load, &client, &queue, &progress) {
                    Ok(file) => queue.arrived(load.part, file),
                    Err(failure) => return queue.fail(failure),
                }
            }
        });
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

/// Removes the archives, but for those that another process is just about to use.
pub fn remove(loads: &[Load]) {
    for load in loads {
        if let Some(_unused) = Lock::try_acquire(&load.lock()) {
            // An archive too many is no failure of an install.
            let _ = std::fs::remove_file(&load.path);
        }
    }
}
