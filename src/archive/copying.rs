//! Bytes on their way out of an archive into a file: in large pieces, and so that the work can be stopped.

use super::Error;
use crate::failure::Failure;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// How a thread copies.
pub struct Copying<'a> {
    /// What it copies through.
    pub buffer: &'a mut [u8],
    /// Told the bytes written since it was last told, it says whether to go on.
    pub seen: &'a dyn Fn(u64) -> bool,
}

impl Copying<'_> {
    /// Copies to the end. `broken` makes the failure where reading fails.
    pub fn copy(
        &mut self,
        from: &mut impl Read,
        to: &mut File,
        full: &Path,
        broken: &dyn Fn(&io::Error) -> Error,
    ) -> Result<u64, Error> {
        let mut written = 0;
        loop {
            let count = read_full(from, self.buffer).map_err(|e| broken(&e))?;
            if count == 0 {
                return Ok(written);
            }
            let bytes = self.buffer.get(..count).unwrap_or_default();
            to.write_all(bytes).map_err(|e| Error::Disk(Failure::io("write", full, &e)))?;
            written += count as u64;
            if !(self.seen)(count as u64) {
                return Err(Error::Stopped);
            }
        }
    }
}

/// Reads until the buffer is full or the end has come: fewer, larger writes.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}
