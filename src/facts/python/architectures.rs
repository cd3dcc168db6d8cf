//! The architectures that torch was compiled for: the text that `torch.cuda.get_arch_list()` prints stands in libtorch_python.so
//! among its constants. Source: 17 releases looked at, one such text in each.

use super::read;
use crate::compat::arch::Architecture;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// A library has some dozens of sections.
const MOST_SECTIONS: u64 = 512;

/// The constants of libtorch_python.so take 11 MB and less; more is not looked through.
const MOST: u64 = 64 << 20;

/// So many bytes are looked through at once.
const PIECE: usize = 256 << 10;

/// The longest list that is looked for; as much of a piece is kept for the next one.
const LONGEST: usize = 512;

/// The architectures that a library of torch's names; none where they cannot be read.
pub fn of(library: &Path) -> Vec<Architecture> {
    search(library).unwrap_or_default()
}

fn search(library: &Path) -> Option<Vec<Architecture>> {
    let mut file = read::open(library)?;
    let (at, size) = constants(&mut file)?;
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut rest = file.take(size.min(MOST));
    let mut window = Vec::with_capacity(PIECE + LONGEST);
    loop {
        let kept = window.len();
        let read = rest.by_ref().take(PIECE as u64).read_to_end(&mut window).ok()?;
        if let Some(found) = list(&window) {
            return Some(found);
        }
        if read == 0 {
            return None;
        }
        window.drain(..(kept + read).saturating_sub(LONGEST));
    }
}

/// Where the section `.rodata` lies and how long it is.
fn constants(file: &mut File) -> Option<(u64, u64)> {
    let mut head = [0; 64];
    file.read_exact(&mut head).ok()?;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, entry, count, names) =
        (long(&head, 40)?, half(&head, 58)?, half(&head, 60)?, half(&head, 62)?);
    if entry != 64 || count > MOST_SECTIONS || names >= count {
        return None;
    }
    let sections = piece(file, table, count * 64)?;
    let place = |n: usize| Some((long(&sections, n * 64 + 24)?, long(&sections, n * 64 + 32)?));
    let (at, size) = place(usize::try_from(names).ok()?)?;
    let names = piece(file, at, size.min(1 << 16))?;
    let is_constants = |n: &usize| {
        let name = word(&sections, n * 64).and_then(|at| names.get(usize::try_from(at).ok()?..));
        name.is_some_and(|name| name.starts_with(b".rodata\0"))
    };
    (0..usize::try_from(count).ok()?).find(is_constants).and_then(place)
}

fn piece(file: &mut File, at: u64, size: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == size).then_some(bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<2>().map(|b| u16::from_le_bytes(*b).into())
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<4>().map(|b| u32::from_le_bytes(*b).into())
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|b| u64::from_le_bytes(*b))
}

/// The first list of at least two architectures with blanks between them.
fn list(bytes: &[u8]) -> Option<Vec<Architecture>> {
    let mut from = 0;
    // An underscore is rarer than the letters before it.
    while let Some(step) = bytes.get(from..)?.iter().position(|b| *b == b'_') {
        let at = from + step;
        let start = [b"sm".as_slice(), b"compute"]
            .iter()
            .find_map(|w| at.checked_sub(w.len()).filter(|s| bytes.get(*s..at) == Some(w)));
        if let Some(start) = start {
            let rest = bytes.get(start..)?;
            let end =
                rest.iter().take(LONGEST).position(|b| !is_of_list(*b)).unwrap_or(rest.len().min(LONGEST));
            let text = String::from_utf8_lossy(rest.get(..end)?).into_owned();
            let words: Vec<Architecture> = text.split(' ').map_while(Architecture::parse).collect();
            if words.len() >= 2 {
                return Some(words);
            }
        }
        from = at + 1;
    }
    None
}

const fn is_of_list(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(list: &[Architecture]) -> String {
        list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_list_between_other_bytes() {
        let at = |bytes: &[u8]| list(bytes).map(|l| text(&l));
        assert_eq!(at(b"x_y\0sm_50 sm_90a compute_90\0sm_1").as_deref(), Some("sm_50 sm_90a compute_90"));
        assert_eq!(at(b"sm_80 sm_86").as_deref(), Some("sm_80 sm_86"));
        assert_eq!(at(b"sm_80\0sm_86 is\0_\0compute_\0"), None);
        assert_eq!(at(b""), None);
    }

    /// An ELF file with a `.rodata` that holds `constants`.
    fn library(constants: &[u8]) -> Vec<u8> {
        let names = b"\0.rodata\0.shstrtab\0";
        let (at, after) = (64, 64 + constants.len());
        let table = after + names.len();
        let mut bytes = b"\x7fELF\x02\x01".to_vec();
        bytes.resize(64, 0);
        bytes[40..48].copy_from_slice(&(table as u64).to_le_bytes());
        bytes[58..64].copy_from_slice(&[64, 0, 3, 0, 2, 0]);
        bytes.extend_from_slice(constants);
        bytes.extend_from_slice(names);
        for (name, at, size) in [(0u32, 0, 0), (1, at, constants.len()), (9, after, names.len())] {
            let mut section = [0; 64];
            section[..4].copy_from_slice(&name.to_le_bytes());
            section[24..32].copy_from_slice(&(at as u64).to_le_bytes());
            section[32..40].copy_from_slice(&(size as u64).to_le_bytes());
            bytes.extend_from_slice(&section);
        }
        bytes
    }

    #[test]
    fn a_list_across_two_pieces_and_files_that_lie() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("lib.so");
        let mut constants = vec![b'_'; PIECE - 8];
        constants.extend_from_slice(b"\0sm_75 sm_80 sm_120\0");
        let good = library(&constants);
        std::fs::write(&path, &good).unwrap();
        assert_eq!(text(&of(&path)), "sm_75 sm_80 sm_120");
        for cut in [3, 63, 64, 1000, good.len() - 1, good.len() - 70] {
            std::fs::write(&path, &good[..cut]).unwrap();
            assert!(of(&path).is_empty(), "{cut}");
        }
        for at in [40, 47, 58, 60, 62] {
            let mut lying = good.clone();
            lying[at] = 0xff;
            std::fs::write(&path, lying).unwrap();
            assert!(of(&path).is_empty(), "{at}");
        }
        assert!(of(dir.path()).is_empty() && of(&dir.path().join("none")).is_empty());
    }
}
