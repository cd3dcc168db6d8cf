//! Locks between processes: flock on a file that says who holds it. The kernel frees them when a process dies; a file
//! that is left behind means nothing.

use crate::failure::{Exit, Failure};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};

/// How often a waiting process looks again.
const TICK: Duration = Duration::from_millis(50);

/// Held until it is dropped; its file goes with it.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// `None` where the file system has no locks.
    file: Option<File>,
}

impl Lock {
    /// Waits for a lock for at most `wait` and says for whom, through `say`. `what` is what it guards, as
    /// in "toolkit 13.0.2".
    pub fn acquire(path: &Path, what: &str, wait: Duration, say: &dyn Fn(&str)) -> Result<Self, Failure> {
        Self::acquire_while(path, what, wait, say, &|| true)
    }

    /// The same, given up with exit 6 as soon as `wanted` says no.
    pub fn acquire_while(
        path: &Path,
        what: &str,
        wait: Duration,
        say: &dyn Fn(&str),
        wanted: &dyn Fn() -> bool,
    ) -> Result<Self, Failure> {
        let start = Instant::now();
        let mut said = false;
        loop {
            match attempt(path).map_err(|e| Failure::io("lock", path, &e))? {
                Attempt::Held(file) => return Ok(Self { path: path.to_path_buf(), file: Some(file) }),
                Attempt::Lockless => {
                    say_lockless(path, say);
                    return Ok(Self { path: path.to_path_buf(), file: None });
                }
                Attempt::Gone => {}
                Attempt::Busy(holder) => {
                    if start.elapsed() >= wait || !wanted() {
                        return Err(Failure::new(
                            Exit::Busy,
                            format!("{what} is in use by {holder}, waited {} s", start.elapsed().as_secs()),
                        )
                        .hint("run the same command again when that one has ended"));
                    }
                    if !said {
                        say(&format!("waiting for {what}: {holder} is at it"));
                        said = true;
                    }
                    std::thread::sleep(TICK.min(wait));
                }
            }
        }
    }

    /// The lock if nobody holds it now.
    pub fn try_acquire(path: &Path) -> Option<Self> {
        match attempt(path) {
            Ok(Attempt::Held(file)) => Some(Self { path: path.to_path_buf(), file: Some(file) }),
            _ => None,
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.file.is_some() {
            // Still under the lock; who waits notices that the file it has is no longer the one at the path.
            let _ = fs::remove_file(&self.path);
        }
    }
}

enum Attempt {
    Held(File),
    Busy(String),
    Gone,
    Lockless,
}

fn attempt(path: &Path) -> io::Result<Attempt> {
    let mut file = open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Attempt::Busy(holder(&mut file))),
        Err(TryLockError::Error(e)) if is_lockless(&e) => return Ok(Attempt::Lockless),
        Err(TryLockError::Error(e)) => return Err(e),
    }
    let (ours, there) = (file.metadata()?, fs::metadata(path));
    if there.is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())) {
        // Only for people: whoever cannot write it still holds the lock.
        let emptied = if ours.len() > 0 { file.set_len(0) } else { Ok(()) };
        let _ = emptied.and_then(|()| write!(file, "{}", own_name()));
        return Ok(Attempt::Held(file));
    }
    Ok(Attempt::Gone)
}

/// Another user's lock file may be readable only, which is enough to lock it.
fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match File::options().read(true).write(true).create(true).truncate(false).open(path) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => File::open(path).map_err(|_| e),
        opened => opened,
    }
}

fn is_lockless(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let lockless = [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL];
    error.raw_os_error().is_some_and(|code| lockless.iter().any(|e| e.raw_os_error() == code))
}

fn say_lockless(path: &Path, say: &dyn Fn(&str)) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        let folder = path.parent().unwrap_or(path).display();
        say(&format!("note: the file system of {folder} has no locks; run one cudaup at a time there"));
    });
}

fn own_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("pid {} on {host}", std::process::id())
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(300).read_to_string(&mut text));
    let clean = read.is_ok() && text.starts_with("pid ") && !text.contains(char::is_control);
    if clean { text } else { "another process".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tempfile::TempDir;

    const QUIET: &dyn Fn(&str) = &|_| {};

    #[test]
    fn a_held_lock_is_busy_and_names_its_holder() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("locks/13.0.2.lock");
        let held = Lock::acquire(&path, "toolkit 13.0.2", Duration::ZERO, QUIET).unwrap();
        assert!(Lock::try_acquire(&path).is_none());
        let failure = Lock::acquire(&path, "toolkit 13.0.2", Duration::ZERO, QUIET).unwrap_err();
        assert_eq!(failure.exit, Exit::Busy);
        let expected = format!("toolkit 13.0.2 is in use by {}, waited 0 s", own_name());
        assert_eq!(failure.message, expected);
        drop(held);
        assert!(!path.exists());
        assert!(Lock::try_acquire(&path).is_some());
    }

    #[test]
    fn a_file_left_behind_locks_nothing() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("x.lock");
        fs::write(&path, "pid 1 on elsewhere").unwrap();
        Lock::acquire(&path, "x", Duration::ZERO, QUIET).unwrap();
    }

    #[test]
    fn only_one_is_inside_at_a_time() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("x.lock");
        let (inside, entered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let lock = Lock::acquire(&path, "x", Duration::from_secs(60), QUIET).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        entered.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert_eq!(entered.load(Ordering::SeqCst), 160);
    }

    #[test]
    fn nonsense_in_the_file_is_not_shown() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("x.lock");
        let held = Lock::acquire(&path, "x", Duration::ZERO, QUIET).unwrap();
        fs::write(&path, "pid \u{1b}[31m").unwrap();
        let failure = Lock::acquire(&path, "x", Duration::ZERO, QUIET).unwrap_err();
        assert!(failure.message.contains("another process"), "{failure}");
        drop(held);
    }
}
