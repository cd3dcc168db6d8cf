//! A directory on this machine in an archive's place: its files are judged as an archive's are, and copied.

use super::Error;
use super::copying::Copying;
use super::guard::{self, Kind, Refusal};
use super::merge::{Contents, Merge};
use crate::failure::Failure;
use std::fs::{self, File, FileType};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

/// A directory whose files become a part of a tree.
pub struct Folder<'a> {
    /// Where it is.
    pub root: &'a Path,
    /// Where an entry goes, or that it is left out.
    pub place: &'a dyn Fn(&str) -> Option<String>,
}

impl Folder<'_> {
    /// Copies all of it as a part of a tree.
    pub fn copy(&self, part: usize, merge: &Merge, copying: &mut Copying<'_>) -> Result<Contents, Error> {
        let mut contents = Contents::default();
        self.walk(self.root, part, merge, copying, &mut contents)?;
        if contents.files.is_empty() {
            return Err(self.whole("there is nothing in it for a toolkit".to_owned()));
        }
        Ok(contents)
    }

    fn walk(
        &self,
        directory: &Path,
        part: usize,
        merge: &Merge,
        copying: &mut Copying<'_>,
        contents: &mut Contents,
    ) -> Result<(), Error> {
        let failed = |e| Error::Disk(Failure::io("list", directory, &e));
        let mut entries: Vec<_> = fs::read_dir(directory).and_then(Iterator::collect).map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let full = entry.path();
            let raw = full.strip_prefix(self.root).unwrap_or(&full).as_os_str().as_bytes();
            let refuse = |why| self.refuse(raw, why);
            let name = guard::name(raw).map_err(refuse)?;
            let kind = kind(entry.file_type().map_err(failed)?).map_err(refuse)?;
            if kind == Kind::Directory {
                self.walk(&full, part, merge, copying, contents)?;
            }
            // A rule for what is in a directory holds for the directory.
            let placed = match kind {
                Kind::Directory => (self.place)(&format!("{name}/")).filter(|path| !path.is_empty()),
                _ => (self.place)(&name),
            };
            let Some(path) = placed else { continue };
            let path = guard::name(path.as_bytes()).map_err(refuse)?;
            guard::place(&path, &kind).map_err(refuse)?;
            match kind {
                Kind::Directory => {
                    merge.claim_directory(part, &path).map_err(refuse)?;
                    merge.directory(&path).map_err(Error::Disk)?;
                    continue;
                }
                Kind::Link => {
                    let target =
                        fs::read_link(&full).map_err(|e| Error::Disk(Failure::io("read", &full, &e)))?;
                    let to = guard::link(&path, target.as_os_str().as_bytes()).map_err(refuse)?;
                    merge.link(part, &path, to, None).map_err(refuse)?;
                }
                Kind::File { .. } => {
                    let claimed = merge.claim_file(part, &path, None).map_err(refuse)?;
                    let spot = merge.spot(part, &path, claimed).map_err(Error::Disk)?;
                    let read = |e| Error::Disk(Failure::io("read", &full, &e));
                    let mut from = File::open(&full).map_err(read)?;
                    let runs = from.metadata().map_err(read)?.permissions().mode() & 0o111 != 0;
                    if let Some((mut to, at)) = merge.create(&spot, runs).map_err(Error::Disk)? {
                        let broken = |e: &std::io::Error| Error::Disk(Failure::io("read", &full, e));
                        contents.bytes += copying.copy(&mut from, &mut to, &at, &broken)?;
                    }
                }
            }
            contents.files.insert(path);
        }
        Ok(())
    }

    fn refuse(&self, entry: &[u8], why: Refusal) -> Error {
        Error::Entry { archive: self.root.display().to_string(), entry: guard::printable(entry), why }
    }

    fn whole(&self, why: String) -> Error {
        Error::Archive { archive: self.root.display().to_string(), why }
    }
}

fn kind(found: FileType) -> Result<Kind, Refusal> {
    if found.is_symlink() {
        Ok(Kind::Link)
    } else if found.is_dir() {
        Ok(Kind::Directory)
    } else if found.is_file() {
        Ok(Kind::File { executable: false })
    } else if found.is_fifo() {
        Err(Refusal::Special("FIFO"))
    } else if found.is_socket() {
        Err(Refusal::Special("socket"))
    } else {
        Err(Refusal::Special("device"))
    }
}
