//! Zip archives, which wheels are: the whole directory is judged first, then members are unpacked by several threads at
//! once, each with its own place in the file and buffers of a fixed size.

use super::Error;
use super::copying::Copying;
use super::guard::{self, Kind, Print, Refusal};
use super::merge::{Contents, Merge, Spot};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use zip::read::ZipFileEntry;
use zip::{CompressionMethod, System, ZipArchive};

/// How much of an archive is read to find out what is in it: 80,000 entries with long names.
const DIRECTORY: u64 = 16 << 20;

/// How much a window reads ahead.
const AHEAD: usize = 128 << 10;

/// An open archive all of whose entries have been judged.
pub struct Zip {
    archive: ZipArchive<Window>,
    window: Window,
    name: String,
    members: Vec<Member>,
}

/// An entry that has a place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    index: usize,
    /// Its name in the archive.
    pub name: String,
    /// Its place in the tree.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// Its length in the tree.
    pub size: u64,
    /// Its length in the archive.
    pub packed: u64,
    /// Its checksum.
    pub crc: u32,
}

impl Zip {
    /// Reads and judges the directory of an archive. `place` says where an entry goes, or that it is left out;
    /// `unpacked` is the most that may come out, where that is known.
    pub fn open(
        file: File,
        name: &str,
        unpacked: Option<u64>,
        place: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let whole = |why: String| Error::Archive { archive: name.to_owned(), why };
        let length = file.metadata().map_err(|e| whole(crate::failure::plain_io(&e)))?.len();
        let window = Window::new(file, length);
        let mut limited = window.clone();
        limited.left = DIRECTORY;
        let archive = ZipArchive::new(limited).map_err(|e| whole(lower(&e.to_string())))?;
        if archive.is_empty() {
            return Err(whole("there is nothing in it".to_owned()));
        }
        if archive.has_duplicate_names() {
            return Err(whole("it holds the same name twice".to_owned()));
        }
        let mut zip = Self { archive, window, name: name.to_owned(), members: Vec::new() };
        let (mut packed, mut size) = (0_u64, 0_u64);
        for index in 0..zip.archive.len() {
            let entry = zip.entry(index)?;
            packed = packed.saturating_add(entry.compressed_size());
            size = size.saturating_add(entry.size());
            if let Some(member) =
                judge(index, &entry, place).map_err(|why| zip.refuse(entry.name_raw(), why))?
            {
                zip.members.push(member);
            }
        }
        if packed > length {
            return Err(whole("its members overlap".to_owned()));
        }
        let most = unpacked.unwrap_or_else(|| guard::most(length));
        if size > most {
            return Err(whole(format!(
                "it would unpack to {size} bytes, and {most} is the most that it can honestly hold"
            )));
        }
        Ok(zip)
    }

    /// The members that have a place, in the archive's order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Takes the places of all members in the tree, and makes the links known to it. Returns what is to be written: not
    /// what another part has brought already.
    pub fn claim(&self, part: usize, merge: &Merge) -> Result<Vec<(usize, Spot)>, Error> {
        let mut ours = Vec::new();
        for (index, m) in self.members.iter().enumerate() {
            let print = Some(Print { size: m.size, checksum: m.crc });
            let refuse = |why| self.refuse(m.name.as_bytes(), why);
            match m.kind {
                Kind::Directory => {
                    merge.claim_directory(part, &m.path).map_err(refuse)?;
                    ours.push((index, Spot::There));
                }
                Kind::File { .. } => {
                    let claimed = merge.claim_file(part, &m.path, print).map_err(refuse)?;
                    let spot = merge.spot(part, &m.path, claimed).map_err(Error::Disk)?;
                    if spot != Spot::There {
                        ours.push((index, spot));
                    }
                }
                Kind::Link => {
                    let to = self.link_target(m)?;
                    merge.link(part, &m.path, to, print).map_err(refuse)?;
                }
            }
        }
        Ok(ours)
    }

    /// What it brings.
    pub fn contents(&self) -> Contents {
        let named = self.members.iter().filter(|m| m.kind != Kind::Directory);
        Contents {
            files: named.map(|m| m.path.clone()).collect(),
            bytes: self.members.iter().map(|m| m.size).fold(0, u64::saturating_add),
        }
    }

    /// The failure that names an entry.
    fn refuse(&self, entry: &[u8], why: Refusal) -> Error {
        Error::Entry { archive: self.name.clone(), entry: guard::printable(entry), why }
    }

    /// Writes files to their spots and makes directories, best in the order in which they lie in the archive.
    pub fn unpack(
        &self,
        members: &[(usize, Spot)],
        merge: &Merge,
        copying: &mut Copying<'_>,
    ) -> Result<(), Error> {
        let mut window = self.window.clone();
        for (index, spot) in members {
            let Some(member) = self.members.get(*index) else { continue };
            match member.kind {
                Kind::Directory => merge.directory(&member.path).map_err(Error::Disk)?,
                Kind::File { executable } => {
                    if let Some((mut file, full)) = merge.create(spot, executable).map_err(Error::Disk)? {
                        self.unpack_file(member, &mut window, &mut file, &full, copying)?;
                    }
                }
                Kind::Link => {}
            }
        }
        Ok(())
    }

    fn unpack_file(
        &self,
        member: &Member,
        window: &mut Window,
        file: &mut File,
        full: &Path,
        copying: &mut Copying<'_>,
    ) -> Result<(), Error> {
        // The archive's own number is the limit, however much a bomb has to give.
        let mut limited = self.reader(member, window)?.take(member.size);
        let count = copying.copy(&mut limited, file, full, &|e| self.broken(member, e))?;
        // The checksum follows the last byte, and so would one too many.
        let more = limited.into_inner().read(&mut [0]).map_err(|e| self.broken(member, &e))?;
        if count < member.size || more > 0 {
            return Err(self.refuse(member.name.as_bytes(), Refusal::Length(member.size)));
        }
        Ok(())
    }

    /// The target of a link member, if it stays inside the tree.
    fn link_target(&self, member: &Member) -> Result<String, Error> {
        let mut window = self.window.clone();
        let mut target = Vec::new();
        let mut reader = self.reader(member, &mut window)?.take(guard::LINK_LENGTH + 1);
        reader.read_to_end(&mut target).map_err(|e| self.broken(member, &e))?;
        guard::link(&member.path, &target).map_err(|why| self.refuse(member.name.as_bytes(), why))
    }

    fn entry(&self, index: usize) -> Result<ZipFileEntry<'_>, Error> {
        let entry = self.archive.by_index_data(index);
        entry.map_err(|e| Error::Archive { archive: self.name.clone(), why: lower(&e.to_string()) })
    }

    fn reader<'a>(&'a self, member: &Member, window: &'a mut Window) -> Result<impl Read + 'a, Error> {
        let reader = self.entry(member.index)?.with_reader(window, zip::read::ZipReadOptions::new());
        reader.map_err(|e| self.broken(member, &io::Error::other(e.to_string())))
    }

    fn broken(&self, member: &Member, error: &io::Error) -> Error {
        let why = format!(
            "its entry {}: {}",
            guard::printable(member.name.as_bytes()),
            crate::failure::plain_io(error)
        );
        Error::Archive { archive: self.name.clone(), why }
    }
}

/// An entry as a member; `None` where it has no place in the tree. Entries that are left out are judged as well.
fn judge(
    index: usize,
    entry: &ZipFileEntry<'_>,
    place: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Member>, Refusal> {
    let raw = entry.name_raw();
    let name = guard::name(raw)?;
    // Not `unix_mode`, which hides the very bits that are looked for.
    let mode = if entry.system() == System::Unix { entry.external_attributes() >> 16 } else { 0 };
    let kind = match guard::kind(mode)? {
        Kind::File { .. } if raw.ends_with(b"/") => Kind::Directory,
        kind => kind,
    };
    let known = matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated);
    if entry.encrypted() || !known {
        return Err(Refusal::Method);
    }
    let Some(path) = place(&name) else { return Ok(None) };
    // A rule that moves entries must not move one out of the tree either.
    let path = guard::name(path.as_bytes())?;
    guard::place(&path, &kind)?;
    let (size, packed, crc) = (entry.size(), entry.compressed_size(), entry.crc32());
    Ok(Some(Member { index, name, path, kind, size, packed, crc }))
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// A place in a file that other threads read at other places, read ahead in large pieces: the directory and small
/// members are made of many small ones.
#[derive(Debug)]
struct Window {
    file: Arc<File>,
    at: u64,
    length: u64,
    /// Bytes that may still be read.
    left: u64,
    ahead: Vec<u8>,
    /// Where in the file the bytes read ahead are from.
    ahead_at: u64,
}

impl Window {
    fn new(file: File, length: u64) -> Self {
        Self { file: Arc::new(file), at: 0, length, left: u64::MAX, ahead: Vec::new(), ahead_at: 0 }
    }

    /// The bytes read ahead from here on.
    fn ready(&self) -> &[u8] {
        let skipped = self.at.checked_sub(self.ahead_at).and_then(|n| usize::try_from(n).ok());
        skipped.and_then(|n| self.ahead.get(n..)).unwrap_or_default()
    }

    fn read_ahead(&mut self) -> io::Result<()> {
        self.ahead.resize(AHEAD, 0);
        let count = self.file.read_at(&mut self.ahead, self.at);
        self.ahead.truncate(*count.as_ref().unwrap_or(&0));
        self.ahead_at = self.at;
        count.map(drop)
    }
}

/// Another place in the same file, with nothing read ahead and nothing forbidden.
impl Clone for Window {
    fn clone(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            at: 0,
            length: self.length,
            left: u64::MAX,
            ahead: Vec::new(),
            ahead_at: 0,
        }
    }
}

impl Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ready().is_empty() {
            self.read_ahead()?;
        }
        let ready = self.ready();
        let count = ready.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), ready.get(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count as u64;
        self.left = self
            .left
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other(format!("its directory is larger than {DIRECTORY} bytes")))?;
        Ok(count)
    }
}

impl Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
