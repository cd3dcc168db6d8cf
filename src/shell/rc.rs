//! Marked blocks in a start file, as pure functions from text to text: written once, and taken out so that the file is
//! byte for byte what it was.

use std::ops::Range;

/// Lines to stand in a start file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its name in the marks.
    pub name: &'static str,
    /// The lines, each ended.
    pub body: Vec<u8>,
    /// Where it goes when it is new; one that is there stays where it is.
    pub place: Place,
}

/// Where a new block goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before all other lines.
    Top,
    /// After all other lines.
    End,
}

/// A block without its end mark: the number of the line where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endless(pub usize);

/// What the first mark says of the file as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trace {
    /// Nothing: the block alone was added.
    None,
    /// The last line had no end, and was given one.
    LineEnd,
    /// There was no file.
    NewFile,
}

impl Trace {
    const ALL: [(Self, &'static str); 3] =
        [(Self::None, ""), (Self::LineEnd, " (ended the line above)"), (Self::NewFile, " (made this file)")];

    fn words(self) -> &'static str {
        Self::ALL.iter().find(|(trace, _)| *trace == self).map_or("", |(_, words)| words)
    }
}

struct Found<'a> {
    name: &'a str,
    trace: Trace,
    /// Both marks and what stands between.
    span: Range<usize>,
}

/// The text with the blocks in it; `None` stands for a file that does not exist.
pub fn with(before: Option<&[u8]>, blocks: &[Block]) -> Result<Vec<u8>, Endless> {
    let mut text = before.unwrap_or_default().to_vec();
    let mut new_file = before.is_none();
    for block in blocks {
        let there = find(&text)?.into_iter().find(|f| f.name == block.name).map(|f| (f.trace, f.span));
        if let Some((trace, span)) = there {
            text.splice(span, written(block, trace));
            continue;
        }
        let unended = block.place == Place::End && text.last().is_some_and(|b| *b != b'\n');
        let trace = match (new_file, unended) {
            (true, _) => Trace::NewFile,
            (false, true) => Trace::LineEnd,
            (false, false) => Trace::None,
        };
        new_file = false;
        let block_text = written(block, trace);
        text = match block.place {
            Place::Top => [block_text, text].concat(),
            Place::End => [text, if unended { b"\n".to_vec() } else { Vec::new() }, block_text].concat(),
        };
    }
    Ok(text)
}

/// The text without any block; `None` where a block had made the file and nothing else is in it.
pub fn without(text: &[u8]) -> Result<Option<Vec<u8>>, Endless> {
    let mut rest = text.to_vec();
    let found = find(text)?;
    for block in found.iter().rev() {
        let mut span = block.span.clone();
        if block.trace == Trace::LineEnd && span.end == rest.len() {
            span.start = span.start.saturating_sub(1);
        }
        rest.drain(span);
    }
    let made = found.iter().any(|f| f.trace == Trace::NewFile);
    Ok(if made && rest.is_empty() { None } else { Some(rest) })
}

fn written(block: &Block, trace: Trace) -> Vec<u8> {
    let (name, trace) = (block.name, trace.words());
    let first = format!("# >>> cudaup {name}{trace} >>>\n");
    [first.as_bytes(), &block.body, format!("# <<< cudaup {name} <<<\n").as_bytes()].concat()
}

/// The blocks of a text, in order.
fn find(text: &[u8]) -> Result<Vec<Found<'_>>, Endless> {
    let mut found: Vec<Found> = Vec::new();
    let mut open: Option<(usize, Found)> = None;
    let mut at = 0;
    for (number, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        let end = at + line.len();
        // An editor may have given the file other line ends.
        let words = std::str::from_utf8(line).unwrap_or_default().trim_end_matches(['\r', '\n']);
        match open.take() {
            None => {
                open = opened(words).map(|(name, trace)| (number + 1, Found { name, trace, span: at..end }));
            }
            Some((_, block)) if words == format!("# <<< cudaup {} <<<", block.name) => {
                found.push(Found { span: block.span.start..end, ..block });
            }
            Some(still) => open = Some(still),
        }
        at = end;
    }
    match open {
        Some((line, _)) => Err(Endless(line)),
        None => Ok(found),
    }
}

fn opened(line: &str) -> Option<(&str, Trace)> {
    let words = line.strip_prefix("# >>> cudaup ")?.strip_suffix(" >>>")?;
    Trace::ALL.iter().rev().find_map(|(trace, said)| words.strip_suffix(said).map(|name| (name, *trace)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(name: &'static str, place: Place) -> Block {
        Block { name, body: b"line\n".to_vec(), place }
    }

    fn both() -> [Block; 2] {
        [block("shims", Place::Top), block("hook", Place::End)]
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn blocks_have_their_places() {
        let written = with(Some(b"mine\n"), &both()).unwrap();
        assert_eq!(
            text(&written),
            "# >>> cudaup shims >>>\nline\n# <<< cudaup shims <<<\nmine\n# >>> cudaup hook >>>\nline\n# <<< cudaup hook <<<\n"
        );
        assert_eq!(with(Some(&written), &both()).unwrap(), written);
    }

    #[test]
    fn a_file_that_was_made_goes_and_an_empty_one_stays() {
        let made = with(None, &both()).unwrap();
        assert_eq!(without(&made).unwrap(), None);
        assert_eq!(without(&[&made[..], b"mine\n"].concat()).unwrap(), Some(b"mine\n".to_vec()));
        assert_eq!(without(&with(Some(b""), &both()).unwrap()).unwrap(), Some(Vec::new()));
    }

    #[test]
    fn a_line_end_that_was_added_goes_unless_lines_follow() {
        let written = with(Some(b"mine"), &both()).unwrap();
        assert_eq!(without(&written).unwrap(), Some(b"mine".to_vec()));
        let longer = [&written[..], b"later\n"].concat();
        assert_eq!(without(&longer).unwrap(), Some(b"mine\nlater\n".to_vec()));
    }

    #[test]
    fn an_older_block_is_renewed_in_its_place() {
        let old = with(Some(b"a"), &[block("hook", Place::End)]).unwrap();
        let old = [&old[..], b"b\n"].concat();
        let renewed =
            with(Some(&old), &[Block { body: b"new\n".to_vec(), ..block("hook", Place::End) }]).unwrap();
        assert_eq!(
            text(&renewed),
            "a\n# >>> cudaup hook (ended the line above) >>>\nnew\n# <<< cudaup hook <<<\nb\n"
        );
    }

    #[test]
    fn other_line_ends_are_read() {
        let written = text(&with(Some(b"mine\n"), &both()).unwrap()).replace('\n', "\r\n");
        assert_eq!(without(written.as_bytes()).unwrap(), Some(b"mine\r\n".to_vec()));
    }

    #[test]
    fn a_block_without_an_end_is_not_touched() {
        let cut = b"mine\n# >>> cudaup hook >>>\nline\nalso mine\n";
        assert_eq!(without(cut), Err(Endless(2)));
        assert_eq!(with(Some(cut), &both()), Err(Endless(2)));
        let nested = b"# >>> cudaup hook >>>\n# >>> cudaup shims >>>\n# <<< cudaup shims <<<\n";
        assert_eq!(without(nested), Err(Endless(1)));
    }

    proptest! {
        #[test]
        fn what_was_there_comes_back(before in proptest::option::of("([a-z#> \r\n]|\u{e9}){0,60}".prop_map(String::into_bytes)), end_only: bool) {
            let blocks = both();
            let blocks = if end_only { &blocks[1..] } else { &blocks[..] };
            let once = with(before.as_deref(), blocks).unwrap();
            prop_assert_eq!(&with(Some(&once), blocks).unwrap(), &once);
            prop_assert_eq!(without(&once).unwrap(), before);
        }
    }
}
