//! The paths that a source file names: each `use`, braces unfolded, and each path written out in the code.

use crate::source::{Source, Token, tokens};

/// A path as it stands in the code, with the inline modules that it stands in.
pub struct Named {
    pub segments: Vec<String>,
    pub inline: Vec<String>,
    pub at: usize,
}

impl Named {
    /// The path from the root of the crate, where it leads into this crate.
    pub fn resolve(&self, file: &[String]) -> Option<Vec<String>> {
        let (first, rest) = self.segments.split_first()?;
        let mut base: Vec<String> = match first.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => [file, &self.inline].concat(),
            _ => return None,
        };
        if first == "super" {
            base.pop()?;
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// Whether the path begins with these segments, or takes everything from a place above them.
    pub fn leads_to(&self, wanted: &[&str]) -> bool {
        let shared = self.segments.iter().zip(wanted).take_while(|(s, w)| s == w).count();
        shared == wanted.len() || (shared > 0 && self.segments.get(shared).is_some_and(|s| s == "*"))
    }
}

/// All paths in the product code of a file.
pub fn named(source: &Source) -> Vec<Named> {
    let tokens = tokens(&source.product);
    let mut reader = Reader { tokens: &tokens, at: 0, open: Vec::new(), found: Vec::new() };
    reader.read();
    reader.found
}

struct Reader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    /// The open braces, with the module's name where a brace opens one.
    open: Vec<Option<String>>,
    found: Vec<Named>,
}

impl Reader<'_> {
    fn text(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |t| t.text)
    }

    fn read(&mut self) {
        while self.at < self.tokens.len() {
            match self.text(0) {
                "use" if self.text(1) != "<" => {
                    self.at += 1;
                    self.tree(&[]);
                }
                "mod" if self.text(2) == "{" => {
                    let name = self.text(1).to_owned();
                    self.open.push(Some(name));
                    self.at += 3;
                }
                "{" => {
                    self.open.push(None);
                    self.at += 1;
                }
                "}" => {
                    self.open.pop();
                    self.at += 1;
                }
                word if is_word(word) && self.text(1) == "::" => self.inline_path(),
                _ => self.at += 1,
            }
        }
    }

    fn inline_path(&mut self) {
        let at = self.tokens[self.at].at;
        let mut segments = vec![self.text(0).to_owned()];
        while self.text(1) == "::" && is_word(self.text(2)) {
            segments.push(self.text(2).to_owned());
            self.at += 2;
        }
        self.at += 1;
        self.push(segments, at);
    }

    /// One tree of a `use`, up to the comma, brace or semicolon behind it.
    fn tree(&mut self, above: &[String]) {
        let at = self.tokens.get(self.at).map_or(0, |t| t.at);
        let mut segments = above.to_vec();
        loop {
            match self.text(0) {
                "{" => {
                    self.at += 1;
                    while !["}", ""].contains(&self.text(0)) {
                        self.tree(&segments);
                        if self.text(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "as" => {
                    // Another name for a whole crate hides what is taken from it.
                    if segments.len() == 1 {
                        segments.push("*".to_owned());
                    }
                    self.at += 2;
                }
                "::" => self.at += 1,
                "self" if !segments.is_empty() => self.at += 1,
                word if is_word(word) || word == "*" => {
                    segments.push(word.to_owned());
                    self.at += 1;
                }
                _ => break,
            }
        }
        self.push(segments, at);
    }

    fn push(&mut self, segments: Vec<String>, at: usize) {
        let inline = self.open.iter().flatten().cloned().collect();
        self.found.push(Named { segments, inline, at });
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_' || b >= 0x80)
}
