//! Tar archives: read from front to back, each entry judged when it comes. Nothing of an entry is kept that its header does
//! not pay for: names and extensions are read only up to the lengths that they may have.

mod walk;

use super::Error;
use super::copying::Copying;
use super::guard::{self, Kind, Refusal};
use super::merge::{Contents, Merge, Spot};
use super::stream::{self, Stream};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::PathBuf;
use tar::Header;
pub use walk::Member;

const BLOCK: usize = 512;

/// The most that an extension may be long: a name and a link's target of the greatest length, and some numbers.
const EXTENSION: u64 = 64 << 10;

/// The most of names that is kept of one archive: 80,000 long ones.
const NAMES: usize = 16 << 20;

/// An archive that is being unpacked.
pub struct Tar<'a> {
    stream: Stream,
    /// The archive's file name.
    name: &'a str,
    /// Where an entry goes, or that it is left out.
    place: &'a dyn Fn(&str) -> Option<String>,
    /// The bytes of files that may still come.
    left: Option<u64>,
    /// What has come out so far, by its name in the archive; `None`: it was left out, or is no file.
    seen: HashMap<String, Option<PathBuf>>,
    names: usize,
    any: bool,
}

/// What an entry says of itself, with what extensions before it say.
#[derive(Default)]
struct Entry {
    name: Vec<u8>,
    link: Vec<u8>,
    size: u64,
    mode: u32,
    kind: u8,
}

/// What extensions say of the entry that follows.
#[derive(Default)]
struct Said {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

impl<'a> Tar<'a> {
    /// Of a stream. `unpacked` is the most that its files may have together, where that is known.
    pub fn new(
        stream: Stream,
        name: &'a str,
        unpacked: Option<u64>,
        place: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        Self { stream, name, place, left: unpacked, seen: HashMap::new(), names: 0, any: false }
    }

    /// Unpacks all of it as a part of a tree.
    pub fn unpack(
        mut self,
        part: usize,
        merge: &Merge,
        copying: &mut Copying<'_>,
    ) -> Result<Contents, Error> {
        let mut contents = Contents::default();
        while let Some(entry) = self.next()? {
            self.entry(&entry, part, merge, copying, &mut contents)?;
            if !(copying.seen)(0) {
                return Err(Error::Stopped);
            }
        }
        Ok(contents)
    }

    fn entry(
        &mut self,
        entry: &Entry,
        part: usize,
        merge: &Merge,
        copying: &mut Copying<'_>,
        contents: &mut Contents,
    ) -> Result<(), Error> {
        let refuse = |why| self.refuse(&entry.name, why);
        let kind = kind(entry).map_err(refuse)?;
        let name = match guard::name(&entry.name) {
            // The tree itself.
            Err(Refusal::Empty) if kind == What::Directory && entry.name.starts_with(b".") => return Ok(()),
            name => name.map_err(refuse)?,
        };
        // A rule for what is in a directory holds for the directory.
        let placed = match kind {
            What::Directory => (self.place)(&format!("{name}/")).filter(|path| !path.is_empty()),
            _ => (self.place)(&name),
        };
        if kind != What::Directory && self.seen.contains_key(&name) {
            return Err(refuse(Refusal::Twice));
        }
        self.names += name.len() + size_of::<PathBuf>() + placed.as_ref().map_or(0, String::len);
        if self.names > NAMES {
            return Err(self.whole(format!("its names are longer than {NAMES} bytes together")));
        }
        let Some(path) = placed else {
            self.seen.insert(name, None);
            return self.pass(entry.size);
        };
        let refuse = |why| self.refuse(&entry.name, why);
        // A rule that moves entries must not move one out of the tree either.
        let path = guard::name(path.as_bytes()).map_err(refuse)?;
        let at = match kind {
            What::Directory => Kind::Directory,
            What::Link => Kind::Link,
            What::File { executable } => Kind::File { executable },
            What::Second => Kind::File { executable: false },
        };
        guard::place(&path, &at).map_err(refuse)?;
        let full = match kind {
            What::Directory => {
                merge.claim_directory(part, &path).map_err(refuse)?;
                return merge.directory(&path).map_err(Error::Disk);
            }
            What::Link if self.leads_home(&name, &path, &entry.link) => {
                self.seen.insert(name, None);
                return self.pass(entry.size);
            }
            What::Link => {
                let to = guard::link(&path, &entry.link).map_err(refuse)?;
                merge.link(part, &path, to, None).map_err(refuse)?;
                None
            }
            What::File { executable } => {
                let claimed = merge.claim_file(part, &path, None).map_err(refuse)?;
                let spot = merge.spot(part, &path, claimed).map_err(Error::Disk)?;
                contents.bytes += entry.size;
                self.file(entry, &spot, executable, merge, copying)?
            }
            What::Second => {
                let first = self.first(entry)?;
                let claimed = merge.claim_file(part, &path, None).map_err(refuse)?;
                let spot = merge.spot(part, &path, claimed).map_err(Error::Disk)?;
                merge.second(&spot, &first).map_err(Error::Disk)?
            }
        };
        contents.files.insert(path);
        self.seen.insert(name, full);
        Ok(())
    }

    fn file(
        &mut self,
        entry: &Entry,
        spot: &Spot,
        executable: bool,
        merge: &Merge,
        copying: &mut Copying<'_>,
    ) -> Result<Option<PathBuf>, Error> {
        if let Some(left) = self.left {
            let less = left.checked_sub(entry.size);
            self.left =
                Some(less.ok_or_else(|| self.whole("it holds more than its source says".to_owned()))?);
        }
        let Some((mut file, full)) = merge.create(spot, executable).map_err(Error::Disk)? else {
            self.pass(entry.size)?;
            return Ok(None);
        };
        let mut limited = self.stream.by_ref().take(entry.size);
        let count = copying.copy(&mut limited, &mut file, &full, &|e| broken(self.name, &entry.name, e))?;
        if count < entry.size {
            return Err(broken(self.name, &entry.name, &stream::cut()));
        }
        self.pad(entry.size)?;
        Ok(Some(full))
    }

    /// Whether a link would lead to its own place: where a component has its files in `targets/...` and a link beside, both
    /// come to one place in the tree.
    fn leads_home(&self, name: &str, path: &str, target: &[u8]) -> bool {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let aim = [folder.as_bytes(), target].join(&b'/');
        let aim = guard::name(if folder.is_empty() { target } else { &aim });
        let placed = aim.ok().and_then(|aim| (self.place)(&format!("{aim}/")));
        placed.is_some_and(|placed| placed.trim_end_matches('/') == path)
    }

    /// Where the file is that a hard link names.
    fn first(&self, entry: &Entry) -> Result<PathBuf, Error> {
        let first = guard::name(&entry.link).ok().and_then(|first| self.seen.get(&first)?.clone());
        let refusal = || Refusal::HardLink(guard::printable(&entry.link));
        first.ok_or_else(|| self.refuse(&entry.name, refusal()))
    }

    /// The next entry, with what extensions say of it; `None`: that was the last one.
    fn next(&mut self) -> Result<Option<Entry>, Error> {
        let mut said = Said::default();
        loop {
            let Some(header) = self.header()? else {
                return self.end().map(|()| None);
            };
            let kind = header.entry_type().as_byte();
            let name = header.path_bytes().into_owned();
            let number =
                |read: io::Result<u64>| read.map_err(|_| self.whole("a header is damaged".to_owned()));
            let size = number(header.entry_size())?;
            let mode = header.mode().unwrap_or_default();
            match kind {
                b'L' => said.name = Some(self.text(&name, size)?),
                b'K' => said.link = Some(self.text(&name, size)?),
                b'x' => self.extension(&name, size, &mut said)?,
                b'g' => {
                    let mut all = Said::default();
                    self.extension(&name, size, &mut all)?;
                    if all.name.is_some() || all.link.is_some() || all.size.is_some() || all.sparse {
                        return Err(self.refuse(&name, Refusal::Method));
                    }
                }
                _ => {
                    self.any = true;
                    let link = header.link_name_bytes().map(std::borrow::Cow::into_owned).unwrap_or_default();
                    let name = said.name.unwrap_or(name);
                    if said.sparse {
                        return Err(self.refuse(&name, Refusal::Sparse));
                    }
                    // Larger files than a header can say are not among what is unpacked here.
                    if said.size.is_some_and(|said| said != size) {
                        return Err(self.refuse(&name, Refusal::Length(size)));
                    }
                    return Ok(Some(Entry { name, link: said.link.unwrap_or(link), size, mode, kind }));
                }
            }
        }
    }

    /// A header, checked; `None`: the end of the archive.
    fn header(&mut self) -> Result<Option<Header>, Error> {
        let mut block = [0; BLOCK];
        self.exactly(&mut block)?;
        if block == [0; BLOCK] {
            return Ok(None);
        }
        let header = Header::from_byte_slice(&block);
        let field = 148..156;
        let sum: u32 =
            block.iter().zip(0..).map(|(b, at)| if field.contains(&at) { 32 } else { u32::from(*b) }).sum();
        if header.cksum().ok() != Some(sum) {
            let why = if self.any { "a header is damaged" } else { "it is no tar archive" };
            return Err(self.whole(why.to_owned()));
        }
        Ok(Some(header.clone()))
    }

    /// What follows the end has to be nothing, and has to be there to its end: only then is the whole of it right.
    fn end(&mut self) -> Result<(), Error> {
        if !self.any {
            return Err(self.whole("there is nothing in it".to_owned()));
        }
        let mut rest = vec![0; 32 << 10];
        loop {
            match self.stream.read(&mut rest) {
                Ok(0) => return Ok(()),
                Ok(count) if rest.iter().take(count).all(|b| *b == 0) => {}
                Ok(_) => return Err(self.whole("something stands behind its end".to_owned())),
                Err(e) => return Err(self.whole(crate::failure::plain_io(&e))),
            }
        }
    }

    /// What a long name or target is.
    fn text(&mut self, name: &[u8], size: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = self.bytes(name, size)?;
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        Ok(bytes)
    }

    fn bytes(&mut self, name: &[u8], size: u64) -> Result<Vec<u8>, Error> {
        let length = usize::try_from(size).ok().filter(|_| size <= EXTENSION);
        let mut bytes = vec![0; length.ok_or_else(|| self.refuse(name, Refusal::TooLong))?];
        self.exactly(&mut bytes)?;
        self.pad(size)?;
        Ok(bytes)
    }

    fn extension(&mut self, name: &[u8], size: u64, said: &mut Said) -> Result<(), Error> {
        let bytes = self.bytes(name, size)?;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (key, value) =
                record(&mut rest).ok_or_else(|| self.whole("an extended header is damaged".to_owned()))?;
            match key {
                b"path" => said.name = Some(value.to_vec()),
                b"linkpath" => said.link = Some(value.to_vec()),
                b"size" => {
                    let size = std::str::from_utf8(value).ok().and_then(|size| size.parse().ok());
                    said.size = Some(size.unwrap_or(u64::MAX));
                }
                _ => said.sparse |= key.starts_with(b"GNU.sparse."),
            }
        }
        Ok(())
    }

    fn exactly(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        self.stream.read_exact(buffer).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => self.whole(stream::cut().to_string()),
            _ => self.whole(crate::failure::plain_io(&e)),
        })
    }

    /// Passes over an entry's bytes and what fills them up.
    fn pass(&mut self, size: u64) -> Result<(), Error> {
        let whole = size.checked_next_multiple_of(BLOCK as u64).unwrap_or(u64::MAX);
        self.stream.skip(whole).map_err(|e| self.whole(crate::failure::plain_io(&e)))
    }

    fn pad(&mut self, size: u64) -> Result<(), Error> {
        let over = size % BLOCK as u64;
        let count = if over == 0 { 0 } else { BLOCK as u64 - over };
        self.stream.skip(count).map_err(|e| self.whole(crate::failure::plain_io(&e)))
    }

    fn refuse(&self, entry: &[u8], why: Refusal) -> Error {
        Error::Entry { archive: self.name.to_owned(), entry: guard::printable(entry), why }
    }

    fn whole(&self, why: String) -> Error {
        Error::Archive { archive: self.name.to_owned(), why }
    }
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    File {
        executable: bool,
    },
    Directory,
    Link,
    /// A hard link: the same file under a second name.
    Second,
}

fn kind(entry: &Entry) -> Result<What, Refusal> {
    let what = match entry.kind {
        // Old archives say by the name alone that it is a directory.
        b'0' | 0 | b'7' if entry.name.ends_with(b"/") => What::Directory,
        b'0' | 0 | b'7' => {
            let kind = guard::kind(entry.mode & 0o7777 | 0o100_000)?;
            return Ok(What::File { executable: kind == Kind::File { executable: true } });
        }
        b'1' => What::Second,
        b'2' => What::Link,
        b'3' | b'4' => return Err(Refusal::Special("device")),
        b'5' => What::Directory,
        b'6' => return Err(Refusal::Special("FIFO")),
        b'S' => return Err(Refusal::Sparse),
        _ => return Err(Refusal::Special("file of an unknown kind")),
    };
    // Readers differ over whether bytes follow: two of them would see two archives.
    if entry.size > 0 { Err(Refusal::Method) } else { Ok(what) }
}

/// One `30 path=some/name` of an extension: the number counts all of it, line end included.
fn record<'b>(rest: &mut &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
    let space = rest.iter().position(|b| *b == b' ')?;
    let length: usize = std::str::from_utf8(rest.get(..space)?).ok()?.parse().ok()?;
    let (whole, behind) = rest.split_at_checked(length)?;
    let record = whole.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|b| *b == b'=')?;
    *rest = behind;
    Some((record.get(..equals)?, record.get(equals + 1..)?))
}

fn broken(archive: &str, entry: &[u8], error: &io::Error) -> Error {
    let why = format!("its entry {}: {}", guard::printable(entry), crate::failure::plain_io(error));
    Error::Archive { archive: archive.to_owned(), why }
}

#[cfg(test)]
pub mod tests;
