//! Finds known error messages in a text of any size, in bounded memory.

use crate::compat::errors::{self, Known};
use cudaup_core::text::plain;
use memchr::{memchr_iter, memrchr};
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::OnceLock;

mod colour;

/// So much of a text is looked at in one go, up to the end of a line. A message over two lines that lies across the end
/// of a piece, or one in a line longer than two pieces, may be missed.
const CHUNK: usize = 1 << 20;

/// More of a line is not shown.
const LONGEST: usize = 200;

/// How gcc and clang begin to say that a `switch` leaves out a value such as `cudaErrorNoDevice`.
const REMARK: &[u8] = b"enumeration value ";

/// A known message in a text.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Which one it is.
    pub error: &'static Known,
    /// The line where it first stands, counted from 1.
    pub line: u64,
    /// That line, shortened, control characters made visible.
    pub text: String,
    /// On how many lines it stands.
    pub count: u64,
    /// What the groups of its pattern caught there; empty where a group took no part.
    pub caught: Vec<String>,
}

struct Patterns {
    set: RegexSet,
    /// Each pattern by itself, and the error that it belongs to.
    single: Vec<(Regex, &'static Known)>,
}

fn patterns() -> Option<&'static Patterns> {
    static PATTERNS: OnceLock<Option<Patterns>> = OnceLock::new();
    PATTERNS
        .get_or_init(|| {
            let all: Vec<(&str, &'static Known)> = errors::all()
                .iter()
                .flat_map(|error| error.patterns.iter().map(move |p| (p.as_str(), error)))
                .collect();
            // A log is bytes: it may hold anything.
            let set =
                RegexSetBuilder::new(all.iter().map(|(pattern, _)| pattern)).unicode(false).build().ok()?;
            let single = all.into_iter().map(|(pattern, error)| {
                Some((RegexBuilder::new(pattern).unicode(false).build().ok()?, error))
            });
            Some(Patterns { set, single: single.collect::<Option<_>>()? })
        })
        .as_ref()
}

/// An error that was asked for by its name: as if it had been found, at no line.
pub fn named(error: &'static Known) -> Vec<Hit> {
    vec![Hit { error, line: 0, text: String::new(), count: 0, caught: Vec::new() }]
}

/// Looks for all known messages, in the order in which they first stand there.
pub fn search(mut text: impl Read) -> io::Result<Vec<Hit>> {
    let Some(patterns) = patterns() else { return Ok(Vec::new()) };
    let mut hits: Vec<Hit> = Vec::new();
    let (mut held, mut lines) = (Vec::with_capacity(2 * CHUNK), 0);
    let mut ended = false;
    while !ended {
        let read = text.by_ref().take(CHUNK as u64).read_to_end(&mut held)?;
        // Less than was asked for comes at the end alone: what is left is then looked at as a whole, since a message may
        // run over two lines.
        ended = read < CHUNK;
        // Whole lines only, unless one does not end.
        let whole = match held.iter().rposition(|byte| *byte == b'\n') {
            Some(at) if !ended && held.len() < 2 * CHUNK => at + 1,
            None if !ended && held.len() < 2 * CHUNK => continue,
            Some(at) if !ended => at + 1,
            _ => held.len(),
        };
        let chunk = held.get(..whole).unwrap_or_default();
        look(patterns, &colour::without(chunk), lines, &mut hits);
        lines += ends_of_lines(chunk);
        held.drain(..whole);
    }
    hits.sort_by_key(|hit| hit.line);
    Ok(causes_first(hits))
}

fn ends_of_lines(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64
}

/// A message in a chunk.
struct Seen {
    start: usize,
    end: usize,
    /// The place of its error in the table.
    place: usize,
    /// The place of the pattern that found it.
    pattern: usize,
}

fn look(patterns: &Patterns, chunk: &[u8], before: u64, hits: &mut Vec<Hit>) {
    let (mut at, mut line, mut last) = (0, before + 1, Vec::new());
    for seen in told_apart(patterns, chunk) {
        let between = chunk.get(at..seen.start).unwrap_or_default();
        line += ends_of_lines(between);
        at = seen.start;
        let Some((pattern, error)) = patterns.single.get(seen.pattern) else { continue };
        // Two patterns of one error on one line are one message.
        if last.iter().any(|(place, on)| (*place, *on) == (seen.place, line)) || is_warning(chunk, at) {
            continue;
        }
        last.retain(|(place, _)| *place != seen.place);
        last.push((seen.place, line));
        if let Some(hit) = hits.iter_mut().find(|hit| hit.error.id == error.id) {
            hit.count += 1;
            continue;
        }
        let groups = pattern.captures_at(chunk, at).into_iter().flat_map(|caught| {
            let groups = caught.iter().skip(1).map(|group| {
                group.map_or_else(String::new, |group| String::from_utf8_lossy(group.as_bytes()).into_owned())
            });
            groups.collect::<Vec<_>>()
        });
        hits.push(Hit { error, line, text: shown(chunk, at), count: 1, caught: groups.collect() });
    }
}

/// All messages of a chunk in their order. Of two that share words the one counts whose error comes first in the table.
fn told_apart(patterns: &Patterns, chunk: &[u8]) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    for at in patterns.set.matches(chunk) {
        let Some((pattern, error)) = patterns.single.get(at) else { continue };
        let place = errors::all().iter().position(|other| other.id == error.id).unwrap_or_default();
        let found = pattern.find_iter(chunk);
        all.extend(found.map(|m| Seen { start: m.start(), end: m.end(), place, pattern: at }));
    }
    all.sort_by_key(|seen| (seen.start, seen.place, seen.pattern));
    let mut kept: Vec<Seen> = Vec::with_capacity(all.len());
    for seen in all {
        match kept.last_mut() {
            Some(other) if seen.start < other.end && other.place != seen.place => {
                let end = seen.end.max(other.end);
                if seen.place < other.place {
                    *other = seen;
                }
                other.end = end;
            }
            _ => kept.push(seen),
        }
    }
    kept
}

/// Whether a line is a compiler's remark about the name of an error in source code, which tells of no error.
fn is_warning(chunk: &[u8], at: usize) -> bool {
    // No further back than this: a line may be as long as the chunk and hold many messages.
    let near = chunk.get(at.saturating_sub(LONGEST)..at).unwrap_or_default();
    let head = near.get(memrchr(b'\n', near).map_or(0, |n| n + 1)..).unwrap_or_default();
    head.windows(REMARK.len()).any(|words| words == REMARK)
}

/// In their order, but an error that follows from another one of them comes after it.
fn causes_first(hits: Vec<Hit>) -> Vec<Hit> {
    let mut waiting: VecDeque<Hit> = hits.into();
    let mut placed: Vec<Hit> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let free = waiting
            .iter()
            .position(|hit| !waiting.iter().any(|other| hit.error.follows.contains(&other.error.id)));
        placed.extend(waiting.remove(free.unwrap_or_default()));
    }
    placed
}

/// The line around a place, shortened around it.
fn shown(chunk: &[u8], at: usize) -> String {
    let before = chunk.get(..at).unwrap_or_default();
    let start = memrchr(b'\n', before).map_or(0, |n| n + 1);
    // What stands far into a long line is shown with a little of what is before it.
    let start = if at - start > LONGEST / 2 { at - LONGEST / 4 } else { start };
    let rest = chunk.get(start..).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()).min(LONGEST);
    let line = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
    plain(line.trim()).replace('\n', " ")
}

#[cfg(test)]
mod tests;
