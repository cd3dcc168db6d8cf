//! What is ours in `NVCC_PREPEND_FLAGS`, a variable that holds the flags of several hands.

use crate::state::Scalar;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Flags of nvcc without those that name a host compiler. Flags with quotes in them stay as they are.
pub fn without_compiler(flags: &OsStr) -> OsString {
    let bytes = flags.as_bytes();
    let names = |word: &[u8]| matches!(word, b"-ccbin" | b"--compiler-bindir" | b"-compiler-bindir");
    let words = || bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_one = |word: &[u8]| word.split(|b| *b == b'=').next().is_some_and(names);
    if bytes.iter().any(|b| b"'\"\\".contains(b)) || !words().any(is_one) {
        return flags.to_os_string();
    }
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut after_name = false;
    for word in words() {
        let value = std::mem::replace(&mut after_name, names(word));
        if !value && !is_one(word) {
            kept.push(word);
        }
    }
    OsString::from_vec(kept.join(&b' '))
}

/// Flags that another hand changed after us, without what we had put there: where ours stand whole, what was there before stands
/// there again; else the compiler's flag alone goes. `None` where nothing of ours is in them.
pub fn without_ours(now: &OsStr, scalar: &Scalar) -> Option<OsString> {
    let ours = scalar.ours.as_deref()?.as_bytes();
    let before = scalar.before.as_deref().unwrap_or_default().as_bytes();
    let compiler = ours.strip_prefix(b"-ccbin ").and_then(|rest| {
        let name = rest.split(|b| *b == b' ').next()?;
        ours.get(..ours.len() - rest.len() + name.len())
    });
    let whole = replaced(now.as_bytes(), ours, before);
    let changed = whole.or_else(|| replaced(now.as_bytes(), compiler?, b""))?;
    Some(OsString::from_vec(changed))
}

/// The first place where some whole words stand, with others in it. Where there are no others, a blank beside them goes, too.
fn replaced(text: &[u8], words: &[u8], with: &[u8]) -> Option<Vec<u8>> {
    if words.is_empty() {
        let blank: &[u8] = if is_apart(text.first()) { b"" } else { b" " };
        return Some([with, blank, text].concat());
    }
    (0..text.len()).find_map(|at| {
        let (first, rest) = text.split_at_checked(at)?;
        let last =
            rest.strip_prefix(words).filter(|last| is_apart(last.first()) && is_apart(first.last()))?;
        Some(match (first, last) {
            _ if !with.is_empty() => [first, with, last].concat(),
            (first, [_, last @ ..]) | ([first @ .., _], last) => [first, last].concat(),
            ([], []) => Vec::new(),
        })
    })
}

/// Whether no word goes on beside a place.
fn is_apart(beside: Option<&u8>) -> bool {
    beside.is_none_or(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_flag_of_the_compiler_is_taken_out() {
        for (flags, left) in [
            (" -ccbin=/opt/conda/bin/x86_64-conda-linux-gnu-c++", ""),
            ("-O1 -ccbin /a/g++ -lineinfo", "-O1 -lineinfo"),
            ("--compiler-bindir=/a -ccbin /b -ccbin", ""),
            ("-O1  -Xcompiler -ccbinary", "-O1  -Xcompiler -ccbinary"),
            ("-ccbin '/with blank/g++' -O1", "-ccbin '/with blank/g++' -O1"),
        ] {
            assert_eq!(without_compiler(OsStr::new(flags)), OsStr::new(left), "{flags}");
        }
    }

    #[test]
    fn what_others_added_stays_and_what_was_there_comes_back() {
        for (before, ours, now, left) in [
            ("", "-ccbin g++-11", "-ccbin g++-11 -O3", Some("-O3")),
            ("", "-ccbin g++-11", "-lineinfo -ccbin g++-11", Some("-lineinfo")),
            ("", "-ccbin g++-11", "-ccbin g++-11x", None),
            ("", "-ccbin g++-11", "-O3", None),
            ("-O1", "-ccbin g++-11 -O1", "-ccbin g++-11 -O1 -O3", Some("-O1 -O3")),
            ("-O1", "-ccbin g++-11 -O1", "-g -ccbin g++-11 -O2", Some("-g -O2")),
            ("-ccbin=/c -O1", "-ccbin g++-11 -O1", "-ccbin g++-11 -O1 -g", Some("-ccbin=/c -O1 -g")),
            // From 13.0 on the compiler has a variable of its own.
            ("-ccbin=/c", "", " -g", Some("-ccbin=/c -g")),
            ("-ccbin=/c -O1", "-O1", "-O1 -g", Some("-ccbin=/c -O1 -g")),
            ("-ccbin=/c -O1", "-O1", "-O2", None),
        ] {
            let scalar = Scalar {
                name: "NVCC_PREPEND_FLAGS".into(),
                before: Some(before.into()),
                ours: Some(ours.into()),
            };
            assert_eq!(without_ours(OsStr::new(now), &scalar).as_deref(), left.map(OsStr::new), "{now}");
        }
    }
}
