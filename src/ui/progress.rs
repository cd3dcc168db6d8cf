//! How far a download is: bars on a terminal, a line for each file and for each while elsewhere, nothing where it is to be
//! quiet.

use super::talk::Talk;
use crate::ui::view::size;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often it is said without a terminal, so that nobody takes a slow server for a program that hangs.
const EVERY: Duration = Duration::from_secs(15);

/// Fewer bytes than these in that time are said to be few.
const FEW: u64 = 300_000;

/// The whole of a download, and of what is unpacked from it. Clones show the same.
#[derive(Clone, Debug)]
pub struct Progress {
    talk: Talk,
    bars: Option<Arc<Bars>>,
    loaded: Arc<AtomicUsize>,
    files: usize,
    sum: Arc<Sum>,
}

/// What has come of all files.
#[derive(Debug, Default)]
struct Sum {
    bytes: AtomicU64,
    ended: Mutex<bool>,
    end: Condvar,
}

#[derive(Debug)]
struct Bars {
    all: MultiProgress,
    load: ProgressBar,
    unpack: ProgressBar,
}

impl Progress {
    /// Starts to show `files` files of `bytes` bytes together.
    pub fn new(talk: &Talk, files: usize, bytes: u64) -> Self {
        let shown = talk.terminal && !talk.quiet;
        let bars = shown.then(|| {
            let all = MultiProgress::new();
            let load = all.add(bar(bytes, "load", true));
            let unpack = all.add(bar(0, "unpack", false));
            load.enable_steady_tick(Duration::from_millis(200));
            Arc::new(Bars { all, load, unpack })
        });
        let progress = Self { talk: *talk, bars, loaded: Arc::default(), files, sum: Arc::default() };
        if files > 0 && !shown && !talk.quiet {
            let told = progress.clone();
            std::thread::spawn(move || told.tell(bytes));
        }
        progress
    }

    /// Says every now and then how far it is, until it ends.
    fn tell(&self, all: u64) {
        let mut before = 0;
        let mut ended = self.sum.ended.lock().unwrap_or_else(PoisonError::into_inner);
        while !*ended {
            let (next, waited) =
                self.sum.end.wait_timeout(ended, EVERY).unwrap_or_else(PoisonError::into_inner);
            ended = next;
            if waited.timed_out() && !*ended {
                let now = self.sum.bytes.load(Ordering::Relaxed);
                if all == 0 || now < all {
                    self.talk.say(&so_far(before, now, all));
                }
                before = now;
            }
        }
    }

    /// A file that is now being loaded.
    pub fn file(&self, name: &str, size: u64) -> FileProgress {
        let bar = self.bars.as_ref().map(|b| b.all.insert_before(&b.unpack, bar(size, name, false)));
        FileProgress { progress: self.clone(), bar, name: name.to_owned(), at: AtomicU64::new(0) }
    }

    /// So much more is to be unpacked than was known before.
    pub fn to_unpack(&self, bytes: u64) {
        if let Some(bars) = &self.bars {
            bars.unpack.inc_length(bytes);
        }
    }

    /// So much more is unpacked.
    pub fn unpacked(&self, bytes: u64) {
        if let Some(bars) = &self.bars {
            bars.unpack.inc(bytes);
        }
    }

    /// A line that does not tear the bars apart.
    pub fn say(&self, line: &str) {
        match &self.bars {
            Some(bars) => bars.all.suspend(|| self.talk.say(line)),
            None => self.talk.say(line),
        }
    }

    /// Takes the bars away.
    pub fn end(&self) {
        *self.sum.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.sum.end.notify_all();
        if let Some(bars) = &self.bars {
            bars.load.finish_and_clear();
            bars.unpack.finish_and_clear();
            // What could not be cleared is only left standing.
            let _ = bars.all.clear();
        }
    }
}

/// One file of a download.
#[derive(Debug)]
pub struct FileProgress {
    progress: Progress,
    bar: Option<ProgressBar>,
    name: String,
    at: AtomicU64,
}

impl FileProgress {
    /// The file has so many bytes now; fewer than before where it had to start over.
    pub fn at(&self, bytes: u64) {
        let before = self.at.swap(bytes, Ordering::Relaxed);
        let sum = &self.progress.sum.bytes;
        if bytes >= before {
            sum.fetch_add(bytes - before, Ordering::Relaxed);
        } else {
            sum.fetch_sub(before - bytes, Ordering::Relaxed);
        }
        if let (Some(bar), Some(bars)) = (&self.bar, &self.progress.bars) {
            bar.set_position(bytes);
            if bytes >= before {
                bars.load.inc(bytes - before);
            } else {
                bars.load.dec(before - bytes);
            }
        }
    }

    /// The file is whole.
    pub fn loaded(self) {
        let count = self.progress.loaded.fetch_add(1, Ordering::Relaxed) + 1;
        if self.bar.is_none() {
            let bytes = size(self.at.load(Ordering::Relaxed));
            self.progress.say(&format!("loaded {} {bytes} ({count} of {})", self.name, self.progress.files));
        }
    }
}

impl Drop for FileProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A line on what has come, with what it was at the line before; `all` is 0 where nobody knows.
fn so_far(before: u64, now: u64, all: u64) -> String {
    let of = if all == 0 { String::new() } else { format!(" of {}", size(all)) };
    let seconds = EVERY.as_secs();
    let pace = match now.saturating_sub(before) {
        0 => format!(", nothing came for {seconds} s"),
        few @ 1..FEW => format!(", slowly: {} in {seconds} s", size(few)),
        _ => String::new(),
    };
    format!("loading: {}{of}{pace}", size(now))
}

fn bar(length: u64, name: &str, whole: bool) -> ProgressBar {
    let template = if whole {
        "{msg:24!} {bar:30} {mb:>10} of {all} {speed}"
    } else {
        "{msg:24!} {bar:30} {mb:>10} of {all}"
    };
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("mb", |state: &ProgressState, out: &mut dyn Write| put(out, state.pos()))
        .with_key("all", |state: &ProgressState, out: &mut dyn Write| put(out, state.len().unwrap_or(0)))
        .with_key("speed", |state: &ProgressState, out: &mut dyn Write| {
            let millis = u64::try_from(state.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
            put(out, state.pos().saturating_mul(1000) / millis);
            let _ = out.write_str("/s");
        });
    ProgressBar::new(length).with_style(style).with_message(name.to_owned())
}

fn put(out: &mut dyn Write, bytes: u64) {
    // A bar that cannot be written is no failure of the download.
    let _ = out.write_str(&size(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_is_said_and_when_it_is_little() {
        assert_eq!(so_far(0, 50_000_000, 168_000_000), "loading: 50.0 MB of 168 MB");
        let slow = so_far(50_000_000, 50_004_500, 168_000_000);
        assert_eq!(slow, "loading: 50.0 MB of 168 MB, slowly: 4.50 kB in 15 s");
        assert_eq!(so_far(7_000, 7_000, 0), "loading: 7.00 kB, nothing came for 15 s");
    }

    #[test]
    fn bytes_of_all_files_are_counted_and_those_lost_again_taken_off() {
        let quiet = Talk { quiet: true, verbose: false, terminal: false };
        let progress = Progress::new(&quiet, 2, 100);
        let (one, two) = (progress.file("one", 50), progress.file("two", 50));
        one.at(40);
        two.at(30);
        one.at(10);
        assert_eq!(progress.sum.bytes.load(Ordering::Relaxed), 40);
    }
}
