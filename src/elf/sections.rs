//! Finds sections of an ELF file by name, in a file or in a part of one.

use super::header::Unreadable;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// An object that was compiled function by function has some thousands of sections; the table's own field ends at 65,279.
const MOST_SECTIONS: u64 = 1 << 20;

/// The longest table of section names that is read.
const MOST_NAMES: u64 = 64 << 20;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub at: u64,
    /// How long it is.
    pub size: u64,
}

impl Span {
    /// The whole of a file.
    pub fn whole(file: &File) -> std::io::Result<Self> {
        Ok(Self { at: 0, size: file.metadata()?.len() })
    }

    /// A part of this part, if it lies within.
    pub fn part(self, at: u64, size: u64) -> Option<Self> {
        let end = at.checked_add(size)?;
        (end <= self.size).then_some(Self { at: self.at.checked_add(at)?, size })
    }
}

/// An ELF file's sections of some names, in the order of the file.
pub fn named(file: &File, within: Span, names: &[&str]) -> Result<Vec<Span>, Unreadable> {
    const CUT: Unreadable = Unreadable::Damaged("its section table lies outside the file");
    let head = piece(file, within, 0, 64).map_err(|_| Unreadable::NotElf)?;
    match head.get(..6) {
        Some([0x7f, b'E', b'L', b'F', 2, 1]) => {}
        Some([0x7f, b'E', b'L', b'F', ..]) => return Err(Unreadable::Foreign),
        _ => return Err(Unreadable::NotElf),
    }
    let (table, entry) = (long(&head, 40)?, half(&head, 58)?);
    let (mut count, mut of_names) = (u64::from(half(&head, 60)?), u64::from(half(&head, 62)?));
    if table == 0 {
        return Ok(Vec::new());
    }
    if entry != 64 {
        return Err(Unreadable::Damaged("its section table has an impossible size"));
    }
    let first = piece(file, within, table, 64).map_err(|_| CUT)?;
    // What is too large for the head stands in the first entry.
    if count == 0 {
        count = long(&first, 32)?;
    }
    if of_names == 0xffff {
        of_names = word(&first, 40)?.into();
    }
    if count > MOST_SECTIONS || of_names >= count {
        return Err(Unreadable::Damaged("its section table has an impossible size"));
    }
    let sections = piece(file, within, table, count * 64).map_err(|_| CUT)?;
    let span = |n: u64| -> Result<(u64, u64), Unreadable> {
        let at = usize::try_from(n * 64).map_err(|_| CUT)?;
        Ok((long(&sections, at + 24)?, long(&sections, at + 32)?))
    };
    let (at, size) = span(of_names)?;
    let texts = piece(file, within, at, size.min(MOST_NAMES)).map_err(|_| CUT)?;
    let mut found = Vec::new();
    for n in 0..count {
        let at = usize::try_from(n * 64).map_err(|_| CUT)?;
        let name = word(&sections, at)? as usize;
        let text = texts.get(name..).unwrap_or_default();
        let is =
            |wanted: &&str| text.strip_prefix(wanted.as_bytes()).is_some_and(|rest| rest.first() == Some(&0));
        // Sections without contents, such as .bss, take no room in the file.
        if names.iter().any(is) && word(&sections, at + 4)? != 8 {
            let (at, size) = span(n)?;
            found.push(within.part(at, size).ok_or(Unreadable::Damaged("a section lies outside the file"))?);
        }
    }
    Ok(found)
}

fn piece(file: &File, within: Span, at: u64, size: u64) -> std::io::Result<Vec<u8>> {
    let ended = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let part = within.part(at, size).ok_or_else(ended)?;
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| ended())?];
    file.read_exact_at(&mut bytes, part.at)?;
    Ok(bytes)
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Unreadable> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or(Unreadable::Damaged("a table in it is too short"))
}

fn half(bytes: &[u8], at: usize) -> Result<u16, Unreadable> {
    field(bytes, at).map(u16::from_le_bytes)
}

fn word(bytes: &[u8], at: usize) -> Result<u32, Unreadable> {
    field(bytes, at).map(u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Result<u64, Unreadable> {
    field(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn in_file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn this_programs_own_sections() {
        let file = File::open("/proc/self/exe").unwrap();
        let whole = Span::whole(&file).unwrap();
        let text = named(&file, whole, &[".text", ".nosuch"]).unwrap();
        assert_eq!(text.len(), 1);
        assert!(text[0].size > 100_000 && text[0].at < whole.size, "{text:?}");
        assert_eq!(named(&file, whole, &[".tex"]).unwrap(), []);
    }

    #[test]
    fn what_is_cut_or_lies_is_refused() {
        let mut bytes = std::fs::read("/proc/self/exe").unwrap();
        bytes.truncate(4096);
        let whole = |file: &File| Span::whole(file).unwrap();
        let cut = in_file(&bytes);
        assert!(matches!(named(&cut, whole(&cut), &[".text"]), Err(Unreadable::Damaged(_))));
        for length in 0..64 {
            let short = in_file(&bytes[..length]);
            assert!(named(&short, whole(&short), &[".text"]).is_err(), "{length}");
        }
        for at in 32..64 {
            let mut odd = bytes.clone();
            odd[at] ^= 0xff;
            let odd = in_file(&odd);
            let _ = named(&odd, whole(&odd), &[".text"]);
        }
        let text = in_file(b"#!/bin/sh\n");
        assert!(matches!(named(&text, whole(&text), &[".text"]), Err(Unreadable::NotElf)));
    }
}
