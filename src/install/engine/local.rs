//! Archives and directories that lie on this machine already: looked at where they are, and never touched.

use super::queue::Queue;
use crate::disk::digest::hex;
use crate::failure::{Exit, Failure};
use crate::source::plan::Part;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens an archive, after a look at whether it is the one that the plan means; `None`: the work has stopped.
pub fn open(part: &Part, path: &Path, queue: &Queue) -> Result<Option<File>, Failure> {
    let failed = |e: &io::Error| Failure::io("read", path, e);
    let mut file = File::open(path).map_err(|e| failed(&e))?;
    let found = file.metadata().map_err(|e| failed(&e))?;
    if found.is_dir() {
        return Ok(Some(file));
    }
    if part.size > 0 && found.len() != part.size {
        let (path, got) = (path.display(), found.len());
        let message = format!("{path} has {got} bytes, and {} has {}", part.name, part.size);
        return Err(Failure::new(Exit::BadBytes, message));
    }
    if part.sha256.is_empty() {
        return Ok(Some(file));
    }
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 256 << 10]);
    loop {
        let count = file.read(&mut buffer).map_err(|e| failed(&e))?;
        if count == 0 {
            break;
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
        if queue.stopped() {
            return Ok(None);
        }
    }
    let got = hex(&hasher.finalize());
    if got.eq_ignore_ascii_case(&part.sha256) {
        return Ok(Some(file));
    }
    let message =
        format!("{} does not have the sha256 {} of {}, but {got}", path.display(), part.sha256, part.name);
    Err(Failure::new(Exit::BadBytes, message))
}
