//! Search lists such as PATH: elements between colons, as bytes.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The elements of a list. An empty value has none; `:` has two empty ones.
pub fn split(value: &OsStr) -> Vec<OsString> {
    if value.is_empty() {
        return Vec::new();
    }
    value.as_bytes().split(|b| *b == b':').map(|e| OsStr::from_bytes(e).to_os_string()).collect()
}

/// The list with these elements.
pub fn join<'a>(elements: impl IntoIterator<Item = &'a OsString>) -> OsString {
    let mut out = Vec::new();
    for (i, element) in elements.into_iter().enumerate() {
        if i > 0 {
            out.push(b':');
        }
        out.extend_from_slice(element.as_bytes());
    }
    OsString::from_vec(out)
}

/// A path's components after `//`, `.` and `..` are folded, by text alone; `None` where it is not absolute.
pub fn components(path: &OsStr) -> Option<Vec<&[u8]>> {
    let bytes = path.as_bytes();
    if bytes.first() != Some(&b'/') {
        return None;
    }
    let mut out: Vec<&[u8]> = Vec::new();
    for part in bytes.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                out.pop();
            }
            _ => out.push(part),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_and_joining_keep_every_byte() {
        for value in ["", ":", "a", "a:", ":a", "a::b", "/x y:/z", "::"] {
            assert_eq!(join(&split(OsStr::new(value))), OsStr::new(value), "{value:?}");
        }
        assert_eq!(split(OsStr::new(":")).len(), 2);
        assert!(split(OsStr::new("")).is_empty());
    }

    #[test]
    fn paths_are_folded_by_text() {
        let folded = |p: &'static str| {
            components(OsStr::new(p))
                .map(|c| c.into_iter().map(|c| String::from_utf8_lossy(c).into_owned()).collect::<Vec<_>>())
        };
        assert_eq!(
            folded("//usr/./local/cuda/bin/../lib64/"),
            Some(vec!["usr".into(), "local".into(), "cuda".into(), "lib64".into()])
        );
        assert_eq!(folded("bin"), None);
        assert_eq!(folded("/.."), Some(vec![]));
    }
}
