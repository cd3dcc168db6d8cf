//! Loading the archives of a mirror to their places, several at once; what is there already is checked and kept.

use crate::failure::Failure;
use crate::net::{Client, Wanted};
use crate::source::plan::Part;
use crate::ui::progress::Progress;
use crate::ui::talk::Talk;
use std::fs::{self, Permissions};
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// An archive and its place.
#[derive(Clone, Debug)]
pub struct Load {
    /// What it is.
    pub part: Part,
    /// Where it goes.
    pub path: PathBuf,
}

impl Load {
    /// The bytes of it that an earlier run left.
    pub fn begun(&self) -> u64 {
        let mut part = self.path.clone().into_os_string();
        part.push(".part");
        fs::metadata(part).map_or(0, |found| found.len())
    }
}

/// Loads all; whatever fails first stops everything. What was begun can be gone on with.
pub fn all(loads: &[Load], client: &Client, talk: &Talk) -> Result<(), Failure> {
    let absent: Vec<&Load> = loads.iter().filter(|load| !load.path.exists()).collect();
    let progress = Progress::new(
        talk,
        absent.len(),
        absent.iter().map(|load| load.part.size).fold(0, u64::saturating_add),
    );
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let stopped = || failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    std::thread::scope(|scope| {
        for _ in 0..client.streams().min(loads.len()) {
            scope.spawn(|| {
                while let Some(load) = loads.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !stopped())
                {
                    if let Err(failure) = one(load, client, &progress, &stopped) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
                    }
                }
            });
        }
    });
    progress.end();
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn one(load: &Load, client: &Client, progress: &Progress, stopped: &dyn Fn() -> bool) -> Result<(), Failure> {
    let there = load.path.exists();
    let bar = progress.file(&load.part.name, load.part.size);
    let wanted = Wanted {
        url: load.part.url.clone(),
        size: Some(load.part.size).filter(|size| *size > 0),
        sha256: Some(load.part.sha256.clone()),
    };
    let fetched = client.fetch(&wanted, &load.path, &|bytes| {
        bar.at(bytes);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    fetched.map_err(crate::net::Error::into_failure)?;
    if !there {
        // A web server is another user, whatever the umask.
        fs::set_permissions(&load.path, Permissions::from_mode(0o644))
            .map_err(|e| Failure::io("change the mode of", &load.path, &e))?;
        bar.loaded();
    }
    Ok(())
}
