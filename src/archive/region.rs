//! A part of a file that several threads read, each at a place of its own.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes `start..end` of a file, read from their beginning.
#[derive(Clone, Debug)]
pub struct Region {
    file: Arc<File>,
    start: u64,
    end: u64,
    at: u64,
}

impl Region {
    /// The whole of a file.
    pub fn whole(file: File) -> io::Result<Self> {
        let end = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), start: 0, end, at: 0 })
    }

    /// How long it is.
    pub fn length(&self) -> u64 {
        self.end - self.start
    }

    /// `length` bytes from `start` on, if they are there.
    pub fn part(&self, start: u64, length: u64) -> Option<Self> {
        let start = self.start.checked_add(start)?;
        let end = start.checked_add(length).filter(|end| *end <= self.end)?;
        Some(Self { file: Arc::clone(&self.file), start, end, at: start })
    }

    /// Fills the buffer with what stands at a place; whether so much is there.
    pub fn peek(&self, at: u64, buffer: &mut [u8]) -> io::Result<bool> {
        match self.part(at, buffer.len() as u64) {
            Some(part) => self.file.read_exact_at(buffer, part.start).map(|()| true),
            None => Ok(false),
        }
    }

    /// Passes over bytes; whether they are there.
    pub fn skip(&mut self, count: u64) -> bool {
        let at = self.at.checked_add(count).filter(|at| *at <= self.end);
        self.at = at.unwrap_or(self.end);
        at.is_some()
    }
}

impl Read for Region {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.file.read_at(buffer.get_mut(..left).unwrap_or_default(), self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
