//! The way back: CUDAUP_STATE, one line of printable ASCII that says what an environment was before a toolkit was entered.
//!
//! `1;RULE;ROOT;S,NAME,BEFORE,OURS;L,NAME,BEFORE,HASH,FRONT,BACK,REMOVED;M,MODULES`, where a value is `-` for unset or `=` and the
//! value, entries are `=value` joined by `+`, and a removed entry is `INDEX=value=RIGHT` with the right neighbour or `-`.
//! Everything but letters, digits and `._/` is written as `%` and two hexadecimal digits.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The variable.
pub const VARIABLE: &str = "CUDAUP_STATE";

/// More than this is not put into an environment. In bytes.
pub const LIMIT: usize = 32 * 1024;

/// What was entered, and how to leave it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The word of the rule that chose, or `refused`.
    pub rule: String,
    /// The toolkit's root; empty where a refusal was entered.
    pub root: OsString,
    /// The variables with one value.
    pub scalars: Vec<Scalar>,
    /// The search lists.
    pub lists: Vec<List>,
    /// What `LOADEDMODULES` said, where a toolkit was taken out that a module may have brought.
    pub modules: Option<OsString>,
}

/// A variable with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its name.
    pub name: String,
    /// What it was.
    pub before: Option<OsString>,
    /// What we made of it.
    pub ours: Option<OsString>,
}

/// A search list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Its name.
    pub name: String,
    /// Whether it was set at all.
    pub was_set: bool,
    /// The hash of what we wrote.
    pub hash: u64,
    /// Our entries before all others.
    pub front: Vec<OsString>,
    /// Our entries after all others.
    pub back: Vec<OsString>,
    /// The entries that we took out, in order.
    pub removed: Vec<Removed>,
}

/// An entry that was taken out of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its place in the list as it was.
    pub index: usize,
    /// The entry.
    pub entry: OsString,
    /// The entry that stood after it and stayed; `None` where it was among the last.
    pub right: Option<OsString>,
}

impl State {
    /// Writes the line.
    pub fn encode(&self) -> String {
        let mut parts = vec!["1".to_owned(), self.rule.clone(), escape(&self.root)];
        for s in &self.scalars {
            let fields = ["S", &s.name, &option(s.before.as_deref()), &option(s.ours.as_deref())];
            parts.push(fields.join(","));
        }
        for l in &self.lists {
            let set = if l.was_set { "=" } else { "-" };
            let one = |r: &Removed| format!("{}={}{}", r.index, escape(&r.entry), option(r.right.as_deref()));
            let removed: Vec<String> = l.removed.iter().map(one).collect();
            let hash = format!("{:x}", l.hash);
            let fields =
                ["L", &l.name, set, &hash, &entries(&l.front), &entries(&l.back), &removed.join("+")];
            parts.push(fields.join(","));
        }
        parts.extend(self.modules.as_ref().map(|modules| format!("M,={}", escape(modules))));
        parts.join(";")
    }

    /// Reads the line; `None` where it is not one of version 1 or is damaged.
    pub fn decode(text: &OsStr) -> Option<Self> {
        let mut parts = text.to_str()?.split(';');
        if parts.next()? != "1" {
            return None;
        }
        let mut state =
            Self { rule: parts.next()?.to_owned(), root: unescape(parts.next()?)?, ..Self::default() };
        for part in parts {
            let fields: Vec<&str> = part.split(',').collect();
            match fields.as_slice() {
                ["S", name, before, ours] => state.scalars.push(Scalar {
                    name: (*name).to_owned(),
                    before: read_option(before)?,
                    ours: read_option(ours)?,
                }),
                ["L", name, set, hash, front, back, removed] => state.lists.push(List {
                    name: (*name).to_owned(),
                    was_set: *set == "=",
                    hash: u64::from_str_radix(hash, 16).ok()?,
                    front: read_entries(front)?,
                    back: read_entries(back)?,
                    removed: read_removed(removed)?,
                }),
                ["M", modules] => state.modules = read_option(modules)?,
                _ => return None,
            }
        }
        Some(state)
    }
}

/// A hash of a list's value, unset told apart from empty: FNV-1a.
pub fn hash(value: Option<&OsStr>) -> u64 {
    let Some(value) = value else { return 0 };
    value
        .as_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

fn option(value: Option<&OsStr>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("={}", escape(v)))
}

/// `-` or `=value`; the outer `None` is damage.
#[expect(clippy::option_option, reason = "damage and unset are two things")]
fn read_option(text: &str) -> Option<Option<OsString>> {
    match text.strip_prefix('=') {
        Some(value) => unescape(value).map(Some),
        None => (text == "-").then_some(None),
    }
}

fn entries(list: &[OsString]) -> String {
    list.iter().map(|e| format!("={}", escape(e))).collect::<Vec<_>>().join("+")
}

fn read_entries(text: &str) -> Option<Vec<OsString>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split('+').map(|e| unescape(e.strip_prefix('=')?)).collect()
}

fn read_removed(text: &str) -> Option<Vec<Removed>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let one = |text: &str| {
        let (index, rest) = text.split_once('=')?;
        let at = rest.find(['=', '-'])?;
        let (entry, right) = rest.split_at_checked(at)?;
        Some(Removed { index: index.parse().ok()?, entry: unescape(entry)?, right: read_option(right)? })
    };
    text.split('+').map(one).collect()
}

fn escape(value: &OsStr) -> String {
    let mut out = String::with_capacity(value.len());
    for &byte in value.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"._/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    out
}

fn unescape(text: &str) -> Option<OsString> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            out.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            out.push(byte);
        }
    }
    // No value of an environment can hold it.
    (!out.contains(&0)).then(|| OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = OsString> {
        proptest::collection::vec(any::<u8>().prop_filter("no NUL in an environment", |b| *b != 0), 0..12)
            .prop_map(OsString::from_vec)
    }

    fn state() -> impl Strategy<Value = State> {
        let name = "[A-Z_]{1,8}";
        let scalar = (name, proptest::option::of(value()), proptest::option::of(value()))
            .prop_map(|(name, before, ours)| Scalar { name, before, ours });
        let removed = (0..99_usize, value(), proptest::option::of(value()))
            .prop_map(|(index, entry, right)| Removed { index, entry, right });
        let many = || proptest::collection::vec(value(), 0..3);
        let list =
            (name, any::<bool>(), any::<u64>(), many(), many(), proptest::collection::vec(removed, 0..3))
                .prop_map(|(name, was_set, hash, front, back, removed)| List {
                    name,
                    was_set,
                    hash,
                    front,
                    back,
                    removed,
                });
        (
            "[a-z]{1,6}",
            value(),
            proptest::collection::vec(scalar, 0..3),
            proptest::collection::vec(list, 0..3),
            proptest::option::of(value()),
        )
            .prop_map(|(rule, root, scalars, lists, modules)| State {
                rule,
                root,
                scalars,
                lists,
                modules,
            })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(state in state()) {
            let text = state.encode();
            prop_assert!(text.bytes().all(|b| b.is_ascii_graphic()));
            prop_assert_eq!(State::decode(OsStr::new(&text)), Some(state));
        }

        #[test]
        fn damage_never_panics(text in "[1;SLA-Z,=%+/0-9a-f-]{0,60}") {
            if let Some(state) = State::decode(OsStr::new(&text)) {
                prop_assert_eq!(State::decode(OsStr::new(&state.encode())), Some(state));
            }
        }
    }

    #[test]
    fn damaged_lines_are_not_read() {
        for text in [
            "",
            "2;pin;/x",
            "1",
            "1;pin",
            "1;pin;%4",
            "1;pin;%zz",
            "1;p;/x;S,A,=",
            "1;p;/x;Q",
            "1;p;/x;L,PATH,=,xyz,,,",
            "1;p;/x%00",
        ] {
            assert_eq!(State::decode(OsStr::new(text)), None, "{text}");
        }
        assert_eq!(State::decode(OsStr::from_bytes(b"1;pin;/\xff")), None);
    }
}
