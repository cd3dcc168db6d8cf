//! Finds known error messages in a text of any size, in bounded memory.

use crate::compat::errors::{self, Known};
use cudaup_core::text::plain;
use memchr::memchr_iter;
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use std::io::{self, Read};
use std::sync::OnceLock;

/// So much of a text is looked at in one go. A message that lies across the end of a line longer than this may be missed.
const CHUNK: usize = 1 << 20;

/// More of a line is not shown.
const LONGEST: usize = 200;

/// A known message in a text.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Which one it is.
    pub error: &'static Known,
    /// The line where it first stands, counted from 1.
    pub line: u64,
    /// That line, shortened, control characters made visible.
    pub text: String,
    /// How often it stands there.
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
        ended = read == 0;
        // Whole lines only, unless one does not end.
        let whole = match held.iter().rposition(|byte| *byte == b'\n') {
            Some(at) if !ended && held.len() < 2 * CHUNK => at + 1,
            None if !ended && held.len() < 2 * CHUNK => continue,
            Some(at) if !ended => at + 1,
            _ => held.len(),
        };
        let chunk = held.get(..whole).unwrap_or_default();
        look(patterns, chunk, lines, &mut hits);
        lines += memchr_iter(b'\n', chunk).count() as u64;
        held.drain(..whole);
    }
    hits.sort_by_key(|hit| hit.line);
    Ok(one_a_line(hits))
}

fn look(patterns: &Patterns, chunk: &[u8], before: u64, hits: &mut Vec<Hit>) {
    for at in patterns.set.matches(chunk) {
        let Some((pattern, error)) = patterns.single.get(at) else { continue };
        let count = pattern.find_iter(chunk).count() as u64;
        if let Some(hit) = hits.iter_mut().find(|hit| hit.error.id == error.id) {
            hit.count += count;
            continue;
        }
        let Some(caught) = pattern.captures(chunk) else { continue };
        let start = caught.get(0).map_or(0, |whole| whole.start());
        let head = chunk.get(..start).unwrap_or_default();
        let line = before + memchr_iter(b'\n', head).count() as u64 + 1;
        let groups = caught.iter().skip(1).map(|group| {
            group.map_or_else(String::new, |group| String::from_utf8_lossy(group.as_bytes()).into_owned())
        });
        hits.push(Hit { error, line, text: shown(chunk, start), count, caught: groups.collect() });
    }
}

/// The line around a place, shortened around it.
fn shown(chunk: &[u8], at: usize) -> String {
    let before = chunk.get(..at).unwrap_or_default();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |n| n + 1);
    // A line that is short enough is shown whole.
    let start = if at - start < LONGEST / 2 { start } else { at - LONGEST / 4 };
    let rest = chunk.get(start..).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()).min(LONGEST);
    let line = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
    plain(&without_colour(line.trim())).replace('\n', " ")
}

/// Takes out what colours a text on a terminal.
fn without_colour(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut text, part| {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |n| n + 1);
        text.push_str(part.get(end..).unwrap_or_default());
        text
    })
}

/// Of two messages that one line may be, the first of the table.
fn one_a_line(hits: Vec<Hit>) -> Vec<Hit> {
    let place = |hit: &Hit| errors::all().iter().position(|error| error.id == hit.error.id);
    let mut kept: Vec<Hit> = Vec::new();
    for hit in hits {
        match kept.iter_mut().find(|other| other.line == hit.line) {
            Some(other) if place(&hit) < place(other) => *other = hit,
            Some(_) => {}
            None => kept.push(hit),
        }
    }
    kept
}

#[cfg(test)]
mod tests;
