//! How much memory all unpacking threads take together: who needs some waits until it is there.

use std::sync::{Condvar, Mutex, PoisonError};

/// What unpacking may take, so that an install stays below 200 MB: the system's allocator keeps about as much again of
/// what is given back. It is enough for the largest dictionary of the usual presets, 64 MB.
pub const MEMORY: u64 = 72 << 20;

/// The memory that may be taken.
pub struct Memory {
    left: Mutex<u64>,
    more: Condvar,
}

/// Memory that was taken, and is given back when this goes.
pub struct Grant<'a> {
    memory: &'a Memory,
    bytes: u64,
}

impl Memory {
    /// All of it.
    pub fn new() -> Self {
        Self { left: Mutex::new(MEMORY), more: Condvar::new() }
    }

    /// Takes some, and waits for it. Who has some never asks for more, so that all come to an end.
    pub fn take(&self, bytes: u64) -> Grant<'_> {
        let bytes = bytes.min(MEMORY);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left < bytes {
            left = self.more.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
        *left -= bytes;
        Grant { memory: self, bytes }
    }
}

impl Drop for Grant<'_> {
    fn drop(&mut self) {
        *self.memory.left.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.memory.more.notify_all();
    }
}
