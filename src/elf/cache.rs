//! Reads the loader's cache, `/etc/ld.so.cache`: by which file the loader answers for which name.
//!
//! glibc's own format, in use since 2.2, alone or behind the older one that some systems still put in front of it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const OLD_MAGIC: &[u8] = b"ld.so-1.7.0\0";
/// Magic, number of entries, length of the strings, flags, place of extensions, and room for more.
const HEADER: usize = 48;
/// Flags, name, file, version of the system, capabilities of the processor.
const ENTRY: usize = 24;
/// A machine has some thousand libraries; more is no cache.
const MOST: usize = 1 << 20;

/// A name, and the file that stands for it. A name can stand there several times, for several kinds of processors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Library {
    /// What programs ask for, such as `libcudart.so.12`.
    pub soname: String,
    /// The file, by the path under which ldconfig found it.
    pub file: PathBuf,
}

/// Reads the whole cache, in its own order. `None` where it is no cache that is understood.
pub fn read(bytes: &[u8]) -> Option<Vec<Library>> {
    let cache = bytes.get(start(bytes)?..)?;
    if !cache.starts_with(MAGIC) {
        return None;
    }
    let count = number(cache, MAGIC.len())?;
    if count > MOST {
        return None;
    }
    // The offsets of strings count from the beginning of this format's header.
    (0..count)
        .map(|n| {
            let at = HEADER + n * ENTRY;
            let soname = String::from_utf8_lossy(string(cache, number(cache, at + 4)?)?).into_owned();
            let file = PathBuf::from(OsStr::from_bytes(string(cache, number(cache, at + 8)?)?));
            Some(Library { soname, file })
        })
        .collect()
}

/// Where the format begins that is read here.
fn start(bytes: &[u8]) -> Option<usize> {
    if !bytes.starts_with(OLD_MAGIC) {
        return Some(0);
    }
    let entries = number(bytes, OLD_MAGIC.len())?.checked_mul(12)?;
    let end = entries.checked_add(OLD_MAGIC.len() + 4)?;
    end.checked_next_multiple_of(8)
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*field)).ok()
}

fn string(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    rest.get(..rest.iter().position(|byte| *byte == 0)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;
    use std::process::Command;
    use std::time::Duration;

    fn cache(libraries: &[(&str, &str)]) -> Vec<u8> {
        let mut strings = Vec::new();
        let mut entries = Vec::new();
        let base = HEADER + libraries.len() * ENTRY;
        let mut intern = |text: &str| {
            let at = u32::try_from(base + strings.len()).unwrap();
            strings.extend_from_slice(text.as_bytes());
            strings.push(0);
            at
        };
        for (soname, file) in libraries {
            for field in [3, intern(soname), intern(file), 0, 0, 0] {
                entries.extend_from_slice(&field.to_le_bytes());
            }
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&u32::try_from(libraries.len()).unwrap().to_le_bytes());
        bytes.resize(HEADER, 0);
        [bytes, entries, strings].concat()
    }

    fn pairs(libraries: &[Library]) -> Vec<(&str, &str)> {
        libraries.iter().map(|l| (l.soname.as_str(), l.file.to_str().unwrap())).collect()
    }

    const TWO: [(&str, &str); 2] =
        [("libz.so.1", "/lib/libz.so.1"), ("libcudart.so.12", "/usr/local/cuda/lib64/libcudart.so.12")];

    #[test]
    fn names_and_files_are_read_also_behind_the_older_format() {
        assert_eq!(pairs(&read(&cache(&TWO)).unwrap()), TWO);
        for old_entries in [0_u32, 3, 4] {
            let mut both = OLD_MAGIC.to_vec();
            both.extend_from_slice(&old_entries.to_le_bytes());
            both.resize(both.len() + 12 * old_entries as usize, 7);
            both.resize(both.len().next_multiple_of(8), 0);
            both.extend_from_slice(&cache(&TWO));
            assert_eq!(pairs(&read(&both).unwrap()), TWO, "{old_entries}");
        }
    }

    #[test]
    fn what_is_cut_or_lies_is_no_cache() {
        let whole = cache(&TWO);
        for length in 0..whole.len() {
            assert_eq!(read(&whole[..length]), None, "{length}");
        }
        let mut many = whole.clone();
        many[MAGIC.len()..MAGIC.len() + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(read(&many), None);
        let mut astray = whole;
        astray[HEADER + 4..HEADER + 8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(read(&astray), None);
        assert_eq!(read(b"#!/bin/sh\n"), None);
    }

    #[test]
    fn this_machines_cache_is_read_as_ldconfig_prints_it() {
        let Ok(bytes) = std::fs::read("/etc/ld.so.cache") else {
            eprintln!("skipped: no /etc/ld.so.cache here");
            return;
        };
        #[expect(clippy::disallowed_methods, reason = "its answer is what is compared with")]
        let mut ldconfig = Command::new("/sbin/ldconfig");
        let Ok(said) = process::run(ldconfig.arg("-p").env("LC_ALL", "C"), Duration::from_secs(60)) else {
            eprintln!("skipped: no /sbin/ldconfig here");
            return;
        };
        let line = |line: &str| {
            let (soname, rest) = line.strip_prefix('\t')?.split_once(' ')?;
            let (_, file) = rest.split_once(" => ")?;
            Some(Library { soname: soname.to_owned(), file: file.into() })
        };
        let mut printed: Vec<Library> = said.output.lines().filter_map(line).collect();
        let mut read = read(&bytes).unwrap();
        printed.sort();
        read.sort();
        assert!(read.len() > 10, "{read:?}");
        assert_eq!(read, printed);
    }
}
