//! A file on its way: `X.part` grows, is hashed while it is written, and becomes `X`. `X.part.json` beside it remembers
//! which state of the server's file it is a part of.

use super::error::Error;
use crate::disk::digest::hex;
use crate::disk::text;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Large enough that the cost of a call does not count, small enough to stay in the processor's cache.
const BUFFER: usize = 256 << 10;

/// What the server said about the file when its first byte was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The address, without what is nobody else's to know: the file is readable by all.
    pub url: String,
    /// A strong `ETag`, else `Last-Modified`: what `If-Range` may carry.
    pub validator: Option<String>,
}

/// The part-file, open and locked against nobody: whoever calls sees to it that only one writes.
pub(super) struct Part {
    path: PathBuf,
    origin_path: PathBuf,
    file: File,
    hasher: Sha256,
    length: u64,
    origin: Origin,
}

impl Part {
    /// Opens what an earlier run left of `target`, hashing it, or starts an empty one.
    pub fn open(target: &Path) -> Result<Self, Error> {
        let path = beside(target, ".part");
        let origin_path = beside(target, ".part.json");
        let mut file = open(&path).map_err(|e| disk("open", &path, &e))?;
        let (hasher, length) = digest(&mut file).map_err(|e| disk("read", &path, &e))?;
        let origin = text::read(&origin_path).ok().and_then(|text| serde_json::from_str(&text).ok());
        Ok(Self { path, origin_path, file, hasher, length, origin: origin.unwrap_or_default() })
    }

    /// Bytes that are there.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// What the bytes are a part of.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Forgets all bytes; those that follow are of `origin`.
    pub fn restart(&mut self, origin: Origin) -> Result<(), Error> {
        if self.length > 0 {
            // A new file, not the old one made empty: ext4 takes that for a replaced document and writes all that
            // follows to the disk when it is closed, whether it is wanted there or not.
            let again = std::fs::remove_file(&self.path).and_then(|()| open(&self.path));
            self.file = again.map_err(|e| disk("empty", &self.path, &e))?;
        }
        self.hasher = Sha256::new();
        self.length = 0;
        if self.origin != origin {
            let text = serde_json::to_vec(&origin).unwrap_or_default();
            std::fs::write(&self.origin_path, text).map_err(|e| disk("write", &self.origin_path, &e))?;
            self.origin = origin;
        }
        Ok(())
    }

    /// Adds bytes at the end.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|e| disk("write", &self.path, &e))?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The sha256 of all bytes, in lower-case hex.
    pub fn sha256(&self) -> String {
        hex(&self.hasher.clone().finalize())
    }

    /// The file is whole: it takes its own name.
    pub fn finish(self, target: &Path) -> Result<(), Error> {
        std::fs::rename(&self.path, target).map_err(|e| disk("rename", &self.path, &e))?;
        // Beside a whole file it says nothing any more; a later run would overwrite it anyway.
        let _ = std::fs::remove_file(&self.origin_path);
        Ok(())
    }

    /// The bytes are worth nothing: both files go.
    pub fn discard(self) {
        let _ = std::fs::remove_file(&self.path);
        let _ = std::fs::remove_file(&self.origin_path);
    }
}

/// The sha256 and length of a file that is there already; `None` where there is none.
pub(super) fn digest_of(path: &Path) -> Result<Option<(String, u64)>, Error> {
    match File::open(path) {
        Ok(mut file) => {
            let (hasher, length) = digest(&mut file).map_err(|e| disk("read", path, &e))?;
            Ok(Some((hex(&hasher.finalize()), length)))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(disk("open", path, &e)),
    }
}

/// A buffer as every reader of a body uses it.
pub(super) fn buffer() -> Vec<u8> {
    vec![0; BUFFER]
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn digest(file: &mut File) -> io::Result<(Sha256, u64)> {
    let (mut hasher, mut length, mut buffer) = (Sha256::new(), 0, buffer());
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok((hasher, length)),
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        hasher.update(buffer.get(..count).unwrap_or_default());
        length += count as u64;
    }
}

fn beside(target: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = target.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn disk(doing: &str, path: &Path, error: &io::Error) -> Error {
    Error::Disk(Failure::io(doing, path, error))
}
