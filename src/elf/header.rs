//! Reads what an ELF file says of itself: its machine, its name, what it needs.
//!
//! The file may be anything: every size and offset in it is checked or bounded, and only small pieces are read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::Machine;

const MOST_SEGMENTS: u16 = 256;
const MOST_DYNAMIC: u64 = 64 * 1024;
const MOST_NEEDED: usize = 512;
const MOST_VERSIONS: usize = 4096;
const LONGEST_NAME: u64 = 4096;

/// What an ELF file says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The machine it runs on; `None` for one that no toolkit is made for.
    pub machine: Option<Machine>,
    /// The loader that it is started by; `None` for a library and for a static program.
    pub interpreter: Option<String>,
    /// The name that programs linked with it will ask for.
    pub soname: Option<String>,
    /// The libraries it asks for.
    pub needed: Vec<String>,
    /// Where it looks for them before LD_LIBRARY_PATH, as written in it.
    pub rpath: Option<String>,
    /// Where it looks for them after LD_LIBRARY_PATH, as written in it; the other one then counts for nothing.
    pub runpath: Option<String>,
    /// The oldest glibc that has all it uses.
    pub glibc: Option<(u32, u32)>,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The file could not be opened or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is some other kind of file.
    #[error("not an ELF file")]
    NotElf,
    /// It is for a 32-bit or big-endian machine.
    #[error("an ELF file that is not 64-bit little-endian")]
    Foreign,
    /// It ends early or contradicts itself.
    #[error("a damaged ELF file: {0}")]
    Damaged(&'static str),
}

/// Reads a file.
pub fn open(path: &Path) -> Result<Image, Unreadable> {
    read(&mut File::open(path)?)
}

/// Reads from anything that can be read at a place.
pub fn read(source: &mut (impl Read + Seek)) -> Result<Image, Unreadable> {
    let mut magic = [0; 6];
    source.seek(SeekFrom::Start(0))?;
    source.read_exact(&mut magic).map_err(|e| if ended(&e) { Unreadable::NotElf } else { e.into() })?;
    match magic {
        [0x7f, b'E', b'L', b'F', 2, 1] => {}
        [0x7f, b'E', b'L', b'F', ..] => return Err(Unreadable::Foreign),
        _ => return Err(Unreadable::NotElf),
    }
    let mut source = Source { source };
    let head = source.piece(0, 64)?;
    let machine = Machine::from_number(head.half(18)?);
    let (table, entry, count) = (head.long(32)?, head.half(54)?, head.half(56)?);
    if count > MOST_SEGMENTS || (count > 0 && entry != 56) {
        return Err(Unreadable::Damaged("its segment table has an impossible size"));
    }
    let mut image = Image { machine, ..Image::default() };
    let mut memory = Vec::new();
    let mut dynamic = None;
    let segments = source.piece(table, u64::from(count) * 56)?;
    for at in (0..usize::from(count)).map(|n| n * 56) {
        let place = (segments.long(at + 8)?, segments.long(at + 32)?);
        match segments.word(at)? {
            1 => memory.push(Loaded { at: place.0, address: segments.long(at + 16)?, size: place.1 }),
            2 => dynamic = Some(place),
            3 => image.interpreter = Some(source.text(place.0)?),
            _ => {}
        }
    }
    if let Some((at, size)) = dynamic {
        source.dynamic(at, size, &memory, &mut image)?;
    }
    Ok(image)
}

/// A part of the file that is brought into memory.
struct Loaded {
    at: u64,
    address: u64,
    size: u64,
}

/// Where in the file the contents of an address lie.
fn place(memory: &[Loaded], address: u64) -> Result<u64, Unreadable> {
    memory
        .iter()
        .find_map(|part| {
            let inside = address.checked_sub(part.address).filter(|inside| *inside < part.size)?;
            part.at.checked_add(inside)
        })
        .ok_or(Unreadable::Damaged("an address in it points outside the file"))
}

struct Source<'a, S> {
    source: &'a mut S,
}

impl<S: Read + Seek> Source<'_, S> {
    fn piece(&mut self, at: u64, size: u64) -> Result<Piece, Unreadable> {
        let size = usize::try_from(size).map_err(|_| Unreadable::Damaged("a size in it is impossible"))?;
        let mut bytes = vec![0; size];
        self.seek(at)?;
        self.source.read_exact(&mut bytes).map_err(cut)?;
        Ok(Piece(bytes))
    }

    /// A string, up to its end mark.
    fn text(&mut self, at: u64) -> Result<String, Unreadable> {
        self.seek(at)?;
        let mut bytes = Vec::new();
        self.source.by_ref().take(LONGEST_NAME).read_to_end(&mut bytes)?;
        match bytes.iter().position(|byte| *byte == 0) {
            Some(end) => Ok(String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()),
            None => Err(Unreadable::Damaged("a name in it has no end")),
        }
    }

    fn seek(&mut self, at: u64) -> Result<(), Unreadable> {
        // The kernel takes offsets as signed numbers.
        let at = i64::try_from(at).map_err(|_| Unreadable::Damaged("an offset in it is impossible"))?;
        self.source.seek(SeekFrom::Start(at.unsigned_abs())).map(drop).map_err(Unreadable::Io)
    }

    fn dynamic(
        &mut self,
        at: u64,
        size: u64,
        memory: &[Loaded],
        image: &mut Image,
    ) -> Result<(), Unreadable> {
        if size > MOST_DYNAMIC {
            return Err(Unreadable::Damaged("its dynamic section has an impossible size"));
        }
        let section = self.piece(at, size)?;
        let mut names = None;
        let mut soname = None;
        let (mut rpath, mut runpath) = (None, None);
        let mut needed = Vec::new();
        let mut versions = (None, 0);
        for at in (0..section.0.len() / 16).map(|n| n * 16) {
            let value = section.long(at + 8)?;
            match section.long(at)? {
                0 => break,
                1 if needed.len() < MOST_NEEDED => needed.push(value),
                5 => names = Some(place(memory, value)?),
                14 => soname = Some(value),
                15 => rpath = Some(value),
                29 => runpath = Some(value),
                0x6fff_fffe => versions.0 = Some(place(memory, value)?),
                0x6fff_ffff => versions.1 = value,
                _ => {}
            }
        }
        let Some(names) = names else { return Ok(()) };
        let name_at =
            |offset: u64| names.checked_add(offset).ok_or(Unreadable::Damaged("a name in it lies nowhere"));
        if let Some(soname) = soname {
            image.soname = Some(self.text(name_at(soname)?)?);
        }
        if let Some(rpath) = rpath {
            image.rpath = self.text(name_at(rpath)?).ok();
        }
        if let Some(runpath) = runpath {
            image.runpath = self.text(name_at(runpath)?).ok();
        }
        for name in needed {
            image.needed.push(self.text(name_at(name)?)?);
        }
        if let (Some(at), count) = versions {
            image.glibc = self.glibc(at, count, name_at)?;
        }
        Ok(())
    }

    /// The highest `GLIBC_x.y` among the versions of needed symbols.
    fn glibc(
        &mut self,
        mut at: u64,
        count: u64,
        name_at: impl Fn(u64) -> Result<u64, Unreadable>,
    ) -> Result<Option<(u32, u32)>, Unreadable> {
        let mut highest = None;
        let mut seen = 0;
        for _ in 0..count {
            let library = self.piece(at, 16)?;
            let (mut version_at, mut versions) = (step(at, library.word(8)?)?, library.half(2)?);
            while versions > 0 && seen < MOST_VERSIONS {
                let version = self.piece(version_at, 16)?;
                let name = self.text(name_at(version.word(8)?.into())?)?;
                highest = highest.max(glibc_version(&name));
                let next = version.word(12)?;
                if next == 0 {
                    break;
                }
                version_at = step(version_at, next)?;
                versions -= 1;
                seen += 1;
            }
            let next = library.word(12)?;
            seen += 1;
            if next == 0 || seen >= MOST_VERSIONS {
                break;
            }
            at = step(at, next)?;
        }
        Ok(highest)
    }
}

fn step(at: u64, by: u32) -> Result<u64, Unreadable> {
    at.checked_add(by.into()).ok_or(Unreadable::Damaged("an offset in it is impossible"))
}

/// `GLIBC_2.17` is 2.17.
fn glibc_version(name: &str) -> Option<(u32, u32)> {
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

struct Piece(Vec<u8>);

impl Piece {
    fn field<const N: usize>(&self, at: usize) -> Result<[u8; N], Unreadable> {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk::<N>());
        bytes.copied().ok_or(Unreadable::Damaged("a table in it is too short"))
    }

    fn half(&self, at: usize) -> Result<u16, Unreadable> {
        self.field(at).map(u16::from_le_bytes)
    }

    fn word(&self, at: usize) -> Result<u32, Unreadable> {
        self.field(at).map(u32::from_le_bytes)
    }

    fn long(&self, at: usize) -> Result<u64, Unreadable> {
        self.field(at).map(u64::from_le_bytes)
    }
}

fn ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
}

fn cut(error: io::Error) -> Unreadable {
    if ended(&error) { Unreadable::Damaged("it ends too early") } else { error.into() }
}
