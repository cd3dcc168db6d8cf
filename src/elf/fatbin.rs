//! Which GPU architectures a program, library or object holds code for, read from the headers of its fat binaries. What the
//! code itself is, packed or not, is passed over.
//!
//! Source: the layout was read from what nvcc 11.8, 12.4 and 13.5 made, beside the answers of cuobjdump.

#[cfg(test)]
mod tests;

use super::header::Unreadable;
use super::sections::{self, Span};
use cudaup_core::architecture::{Architecture, Capability};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// The number that a container begins with.
const MAGIC: u32 = 0xba55_ed50;
const CONTAINER: usize = 16;
/// As much of an entry's header as is read; it may be longer.
const ENTRY: usize = 64;
/// Between containers there is only padding; what is looked through for the next one at once.
const WINDOW: usize = 64 << 10;

/// The machine of a file that holds nothing but a GPU's code (a cubin).
const GPU_MACHINE: u16 = 190;

/// The code for GPUs in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The architectures, machine code and PTX.
    pub architectures: BTreeSet<Architecture>,
    /// The newest version of PTX that it is written in.
    pub ptx: Option<(u32, u32)>,
    /// The oldest version of PTX for each architecture that there is PTX for.
    pub oldest_ptx: BTreeMap<Architecture, (u32, u32)>,
    /// How many pieces of code there are.
    pub pieces: u64,
    /// Something in it contradicts itself: it may hold more than was read.
    pub damaged: bool,
}

impl Code {
    /// Takes in what another part of the same thing holds.
    pub fn add(&mut self, other: Self) {
        self.architectures.extend(other.architectures);
        self.ptx = self.ptx.max(other.ptx);
        for (architecture, version) in other.oldest_ptx {
            self.see_ptx(architecture, version);
        }
        self.pieces += other.pieces;
        self.damaged |= other.damaged;
    }

    fn take(&mut self, entry: &Entry) {
        self.pieces += 1;
        let Some(architecture) = entry.architecture else { return };
        self.architectures.insert(architecture);
        if architecture.ptx {
            self.ptx = self.ptx.max(Some(entry.version));
            self.see_ptx(architecture, entry.version);
        }
    }

    fn see_ptx(&mut self, architecture: Architecture, version: (u32, u32)) {
        let oldest = self.oldest_ptx.entry(architecture).or_insert(version);
        *oldest = version.min(*oldest);
    }
}

/// The code in a part of a file: an ELF file of the host's or of a GPU's, a fat binary, PTX as text, an archive of those.
/// `None`: it is none of them.
pub fn read(file: &File, within: Span) -> Result<Option<Code>, Unreadable> {
    let mut head = [0; 64];
    let length = usize::try_from(within.size).unwrap_or(usize::MAX).min(head.len());
    let head = head.get_mut(..length).unwrap_or_default();
    file.read_exact_at(head, within.at)?;
    if head.starts_with(b"!<arch>\n") {
        return archive(file, within).map(Some);
    }
    if head.starts_with(b"\x7fELF") {
        if let Some(architecture) = of_gpu(head).map(|found| with_variant(file, within, found)) {
            return Ok(Some(Code { architectures: [architecture].into(), pieces: 1, ..Code::default() }));
        }
        return of_host(file, within).map(Some);
    }
    if word(head, 0) == Some(MAGIC) {
        return containers(file, within).map(Some);
    }
    Ok(text(file, within)?)
}

/// The code in the sections of a host's ELF file.
fn of_host(file: &File, within: Span) -> Result<Code, Unreadable> {
    let mut code = Code::default();
    for section in sections::named(file, within, &[".nv_fatbin", "__nv_relfatbin"])? {
        code.add(containers(file, section)?);
    }
    Ok(code)
}

/// The architecture of a cubin: its flags say it, from version 8 of NVIDIA's ABI on in other bits.
fn of_gpu(head: &[u8]) -> Option<Architecture> {
    if half(head, 18)? != GPU_MACHINE {
        return None;
    }
    let flags = word(head, 48)?;
    let (number, own) =
        if *head.get(8)? >= 8 { (flags >> 8 & 0xff, false) } else { (flags & 0xff, flags & 0x800 != 0) };
    Some(Architecture { capability: capability(number)?, variant: own.then_some('a'), ptx: false })
}

/// From version 8 of the ABI on the flags keep `a` and `f` to themselves; the assembler's own command line stands in a note.
fn with_variant(file: &File, within: Span, found: Architecture) -> Architecture {
    const MOST: u64 = 4096;
    let note =
        sections::named(file, within, &[".note.nv.tkinfo"]).ok().and_then(|notes| notes.first().copied());
    let Some(note) = note.filter(|_| found.variant.is_none()) else { return found };
    let mut bytes = vec![0; usize::try_from(note.size.min(MOST)).unwrap_or(0)];
    if file.read_exact_at(&mut bytes, note.at).is_err() {
        return found;
    }
    let text = String::from_utf8_lossy(&bytes);
    let name = format!("-arch {found}");
    let variant = text.find(&name).and_then(|at| text.get(at + name.len()..)?.chars().next());
    Architecture { variant: variant.filter(|c| matches!(c, 'a' | 'f')), ..found }
}

fn capability(number: u32) -> Option<Capability> {
    (20..1000).contains(&number).then_some(Capability { major: number / 10, minor: number % 10 })
}

/// PTX as text names its version and target in its first lines.
fn text(file: &File, within: Span) -> io::Result<Option<Code>> {
    let mut bytes = vec![0; usize::try_from(within.size).unwrap_or(usize::MAX).min(4096)];
    file.read_exact_at(&mut bytes, within.at)?;
    let text = String::from_utf8_lossy(&bytes);
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.trim().strip_prefix(name)?.split([' ', ',', '\t']).find(|w| !w.is_empty()))
    };
    let (Some(version), Some(target)) = (value(".version"), value(".target")) else { return Ok(None) };
    let version = version.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.trim().parse().ok()?)));
    let target = Architecture::parse(target.trim()).map(|code| Architecture { ptx: true, ..code });
    Ok(target.map(|target| Code {
        architectures: [target].into(),
        ptx: version,
        oldest_ptx: version.map(|version| (target, version)).into_iter().collect(),
        pieces: 1,
        damaged: false,
    }))
}

/// An archive of objects: what each of its members holds.
fn archive(file: &File, within: Span) -> Result<Code, Unreadable> {
    let mut code = Code::default();
    let mut at = 8;
    while at + 60 <= within.size {
        let mut head = [0; 60];
        file.read_exact_at(&mut head, within.at + at)?;
        let size =
            head.get(48..58).and_then(|field| std::str::from_utf8(field).ok()?.trim().parse::<u64>().ok());
        let member = size.and_then(|size| within.part(at + 60, size)).filter(|_| head.ends_with(b"`\n"));
        let Some(member) = member else {
            return Err(Unreadable::Damaged("a member of it has an impossible size"));
        };
        let mut magic = [0; 4];
        if member.size >= 64 && file.read_exact_at(&mut magic, member.at).is_ok() && magic == *b"\x7fELF" {
            match of_host(file, member) {
                Ok(found) => code.add(found),
                Err(Unreadable::Io(error)) => return Err(error.into()),
                Err(_) => code.damaged = true,
            }
        }
        // Members begin at even places.
        at += 60 + member.size + member.size % 2;
    }
    Ok(code)
}

/// The containers in a part of a file, one after another with padding between them.
fn containers(file: &File, within: Span) -> Result<Code, Unreadable> {
    let mut code = Code::default();
    let mut at = 0;
    let mut window = vec![0; WINDOW];
    while at + CONTAINER as u64 <= within.size {
        let mut head = [0; CONTAINER];
        file.read_exact_at(&mut head, within.at + at)?;
        if let Some(size) = container(&head) {
            let inside = within.part(at + CONTAINER as u64, size);
            let walked = inside.map_or(Ok(0), |inside| entries(file, inside, &mut code))?;
            code.damaged |= inside.is_none() || walked < size;
            // Behind one that contradicts itself the next is looked for from where the contradiction stands: what was walked
            // is not walked again, or a made-up file would take for ever.
            at += CONTAINER as u64 + walked;
            at = at.next_multiple_of(8);
            continue;
        }
        let length = usize::try_from(within.size - at).unwrap_or(WINDOW).min(WINDOW);
        let window = window.get_mut(..length).unwrap_or_default();
        file.read_exact_at(window, within.at + at)?;
        let next = window.chunks_exact(8).skip(1).position(|chunk| word(chunk, 0) == Some(MAGIC));
        at += next.map_or(length as u64, |n| (n as u64 + 1) * 8).max(8);
    }
    Ok(code)
}

/// The entries of a container; how far they were walked: to its end, or to where they contradict themselves.
fn entries(file: &File, within: Span, code: &mut Code) -> io::Result<u64> {
    let mut at = 0;
    while within.size - at >= ENTRY as u64 {
        let mut head = [0; ENTRY];
        file.read_exact_at(&mut head, within.at + at)?;
        let Some(entry) = Entry::read(&head).filter(|entry| entry.length <= within.size - at) else { break };
        code.take(&entry);
        at += entry.length;
    }
    Ok(at)
}

/// The size of a container's entries, where these bytes are its head.
fn container(head: &[u8]) -> Option<u64> {
    let is = word(head, 0)? == MAGIC && half(head, 4)? == 1 && half(head, 6)? == 16;
    is.then(|| long(head, 8)).flatten()
}

/// The head of one piece of code.
struct Entry {
    /// From here to the next one.
    length: u64,
    /// What it is for; `None` for kinds that are neither machine code nor PTX, such as code for link-time optimization.
    architecture: Option<Architecture>,
    /// The version of PTX.
    version: (u32, u32),
}

impl Entry {
    fn read(head: &[u8]) -> Option<Self> {
        let (kind, header, payload) = (half(head, 0)?, u64::from(word(head, 4)?), long(head, 8)?);
        let length = header.checked_add(payload)?;
        // An entry has more head than was read, and never none.
        if !(48..=4096).contains(&header) || half(head, 2)? != 0x101 {
            return None;
        }
        let (version, number, flags) = (word(head, 24)?, word(head, 28)?, long(head, 40)?);
        let variant = match flags {
            _ if flags & 0x10_0000 != 0 => Some('a'),
            _ if flags & 0x20_0000 != 0 => Some('f'),
            _ => None,
        };
        let of = |ptx| capability(number).map(|capability| Architecture { capability, variant, ptx });
        let architecture = match kind {
            1 => of(true),
            2 => of(false),
            _ => None,
        };
        Some(Self { length, architecture, version: (version >> 16, version & 0xffff) })
    }
}

/// The code in a stream that can only be read forward, such as a packed member of a wheel. Containers are known by their
/// heads, which begin at multiples of eight from the start of an ELF file, and of `step` in an archive of such.
pub fn streamed(stream: &mut impl Read, step: usize) -> io::Result<Code> {
    let mut code = Code::default();
    let mut held: Vec<u8> = Vec::with_capacity(2 * WINDOW);
    loop {
        let read = stream.by_ref().take(WINDOW as u64).read_to_end(&mut held)?;
        let mut at = 0;
        while held.len() >= at + CONTAINER {
            let Some(size) = held.get(at..).and_then(container) else {
                at += step;
                continue;
            };
            at += CONTAINER;
            let mut left = size;
            while left >= ENTRY as u64 {
                if held.len() < at + ENTRY {
                    held.drain(..at);
                    at = 0;
                    let wanted = (ENTRY + 8) as u64;
                    if stream.by_ref().take(wanted).read_to_end(&mut held)? == 0 {
                        code.damaged = true;
                        return Ok(code);
                    }
                    continue;
                }
                let Some(entry) = held.get(at..at + ENTRY).and_then(Entry::read).filter(|e| e.length <= left)
                else {
                    code.damaged = true;
                    break;
                };
                code.take(&entry);
                left -= entry.length;
                let there = (held.len() - at) as u64;
                if entry.length <= there {
                    at += usize::try_from(entry.length).unwrap_or(0);
                } else {
                    held.clear();
                    at = 0;
                    let missing = entry.length - there;
                    if io::copy(&mut stream.by_ref().take(missing), &mut io::sink())? < missing {
                        code.damaged = true;
                        return Ok(code);
                    }
                }
            }
        }
        held.drain(..at.min(held.len()));
        if read == 0 {
            return Ok(code);
        }
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk::<2>().map(|b| u16::from_le_bytes(*b))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|b| u32::from_le_bytes(*b))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|b| u64::from_le_bytes(*b))
}
