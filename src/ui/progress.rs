//! How far a download is: bars on a terminal, a line for each file elsewhere, nothing where it is to be quiet.

use super::talk::Talk;
use crate::ui::view::size;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// The whole of a download, and of what is unpacked from it. Clones show the same.
#[derive(Clone, Debug)]
pub struct Progress {
    talk: Talk,
    bars: Option<Arc<Bars>>,
    loaded: Arc<AtomicUsize>,
    files: usize,
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
        Self { talk: *talk, bars, loaded: Arc::default(), files }
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
