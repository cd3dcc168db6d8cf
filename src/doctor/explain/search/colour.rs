//! What steers a terminal is taken out of a log, so that a message is found whatever colours its words.

use memchr::memchr;
use std::borrow::Cow;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// The text without the escape sequences of terminals: colours, and the links that gcc puts around names of warnings.
/// Ends of lines always stay, so that lines can be counted.
pub fn without(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr(ESCAPE, text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr(ESCAPE, rest) {
        let (before, sequence) = rest.split_at(at);
        out.extend_from_slice(before);
        rest = sequence.get(length(sequence)..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// How long the sequence is that a text begins with. One that does not end on its line is taken for the escape alone.
fn length(sequence: &[u8]) -> usize {
    let body = sequence.get(2..).unwrap_or_default();
    let line = body.iter().position(|byte| *byte == b'\n').unwrap_or(body.len());
    let body = body.get(..line).unwrap_or_default();
    let end = match sequence.get(1) {
        Some(b'[') => body.iter().position(|byte| (0x40..=0x7e).contains(byte)),
        Some(b']') => body.iter().position(|byte| matches!(*byte, BELL | ESCAPE)).map(|at| {
            // The other way to end it is an escape and a backslash.
            if body.get(at) == Some(&ESCAPE) { at + 1 } else { at }
        }),
        _ => None,
    };
    end.map_or(1, |end| end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_links_go_and_all_else_stays() {
        let told = |text: &str| String::from_utf8(without(text.as_bytes()).into_owned()).unwrap();
        assert_eq!(told("plain\r\n"), "plain\r\n");
        assert_eq!(told("\x1b[01;31m\x1b[Kfatal error: \x1b[m\x1b[Kx.h: No"), "fatal error: x.h: No");
        assert_eq!(told("[\x1b]8;;https://gcc.gnu.org/x\x1b\\-Wall\x1b]8;;\x07]"), "[-Wall]");
    }

    #[test]
    fn what_does_not_end_takes_no_line_away() {
        let told = |text: &[u8]| without(text).into_owned();
        assert_eq!(told(b"\x1b"), b"");
        assert_eq!(told(b"a\x1b["), b"a[");
        assert_eq!(told(b"\x1b]8;;x\nnext"), b"]8;;x\nnext");
        assert_eq!(told(b"\x1b[31\nnext"), b"[31\nnext");
        assert_eq!(told(b"\x1b\n\x1b"), b"\n");
        assert_eq!(told(b"\x1bM\xff\x00"), b"M\xff\x00");
    }
}
