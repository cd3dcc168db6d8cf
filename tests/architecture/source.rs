//! Reads Rust text as far as the rules need it: what is code, what is a comment or a literal, what is only for tests.
//! It reads text, not syntax trees: a macro that makes up paths can slip past it.

use std::ops::Range;

/// One source file, seen three ways. All views have the bytes of the file at the same places, the rest blanked.
pub struct Source {
    /// The path from the root of the repository.
    pub path: String,
    /// The file as it is.
    pub text: String,
    /// The code, tests included, without comments and literals.
    pub code: String,
    /// The code that is built into the product, without comments and literals.
    pub product: String,
    /// The code that is built into the product with its literals, without comments.
    pub literals: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let kinds = classify(text.as_bytes());
        let code = keep(text, &kinds, &[Kind::Code]);
        let tests = test_items(&code);
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            product: blank(&code, &tests),
            literals: blank(&keep(text, &kinds, &[Kind::Code, Kind::Literal]), &tests),
            code,
        }
    }

    /// The module path of this file inside its crate: `src/ui/talk.rs` is `ui`, `talk`; the root of a crate is empty.
    pub fn module(&self) -> Vec<String> {
        let below = self.path.split_once("src/").map_or(self.path.as_str(), |(_, rest)| rest);
        let mut parts: Vec<String> = below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if parts.last().is_some_and(|p| ["mod", "main", "lib"].contains(&p.as_str())) {
            parts.pop();
        }
        parts
    }

    /// Where the files lie that this file declares as modules for tests only, without their ending.
    pub fn test_modules(&self) -> Vec<String> {
        let (directory, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let below = match name.trim_end_matches(".rs") {
            "mod" | "main" | "lib" => directory.to_owned(),
            name => format!("{directory}/{name}"),
        };
        let tokens = tokens(&self.code);
        let modules = tokens.windows(3).filter(|w| w[0].text == "mod" && w[2].text == ";");
        // What is in the code and not in the product is for tests.
        let for_tests = modules.filter(|w| self.product.as_bytes().get(w[1].at) == Some(&b' '));
        for_tests.map(|w| format!("{below}/{}", w[1].text)).collect()
    }

    /// Takes the whole file for tests.
    pub fn set_aside(&mut self) {
        self.product = blank(&self.product, std::slice::from_ref(&(0..self.product.len())));
        self.literals = blank(&self.literals, std::slice::from_ref(&(0..self.literals.len())));
    }

    /// `path:line: words`, the form of every complaint.
    pub fn fault(&self, at: usize, words: &str) -> String {
        let line = self.text.bytes().take(at).filter(|b| *b == b'\n').count() + 1;
        format!("{}:{line}: {words}", self.path)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

fn keep(text: &str, kinds: &[Kind], wanted: &[Kind]) -> String {
    let bytes = text.bytes().zip(kinds).map(|(b, k)| if b == b'\n' || wanted.contains(k) { b } else { b' ' });
    String::from_utf8(bytes.collect()).expect("comments and literals begin and end at ASCII characters")
}

fn blank(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        bytes[range.clone()].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
    }
    String::from_utf8(bytes).expect("items begin and end at ASCII characters")
}

fn classify(text: &[u8]) -> Vec<Kind> {
    let mut kinds = vec![Kind::Code; text.len()];
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (kind, length) = if rest.starts_with(b"//") {
            (Kind::Comment, rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()))
        } else if rest.starts_with(b"/*") {
            (Kind::Comment, block_comment(rest))
        } else if let Some(length) = raw_string(rest).filter(|_| at == 0 || !is_word(text[at - 1])) {
            (Kind::Literal, length)
        } else if rest[0] == b'"' {
            (Kind::Literal, quoted(rest, b'"'))
        } else if rest[0] == b'\'' && is_char_literal(rest) {
            (Kind::Literal, quoted(rest, b'\''))
        } else {
            (Kind::Code, 1)
        };
        kinds[at..at + length].fill(kind);
        at += length;
    }
    kinds
}

fn block_comment(text: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn quoted(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != quote {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

fn raw_string(text: &[u8]) -> Option<usize> {
    let prefix = [&b"br"[..], b"cr", b"r"].into_iter().find(|p| text.starts_with(p))?.len();
    let hashes = text[prefix..].iter().take_while(|b| **b == b'#').count();
    let body = prefix + hashes + 1;
    if text.get(body - 1) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'#'; hashes + 1];
    close[0] = b'"';
    let end = text[body..].windows(close.len()).position(|w| w == close);
    Some(end.map_or(text.len(), |end| body + end + close.len()))
}

/// A quote begins a character, not a lifetime, where it is closed after one character or an escape.
fn is_char_literal(text: &[u8]) -> bool {
    let Some(next) = text.get(1) else { return false };
    let width = match next {
        b'\\' => return true,
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    text.get(1 + width) == Some(&b'\'')
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// A word, `::`, or a single other character.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub text: &'a str,
    pub at: usize,
}

pub fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let length = match bytes[at] {
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b if is_word(b) => bytes[at..].iter().take_while(|b| is_word(**b)).count(),
            b':' if bytes.get(at + 1) == Some(&b':') => 2,
            _ => 1,
        };
        found.push(Token { text: &code[at..at + length], at });
        at += length;
    }
    found
}

/// Whether the tokens from `at` on are these.
pub fn follows(tokens: &[Token<'_>], at: usize, wanted: &[&str]) -> bool {
    wanted.iter().enumerate().all(|(n, w)| tokens.get(at + n).is_some_and(|t| t.text == *w))
}

/// The token after the bracket that closes the one at `open`.
pub fn after_bracket(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (n, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return n + 1;
        }
    }
    tokens.len()
}

/// The token after the item or statement that begins at `at`, attributes included.
pub fn after_item(tokens: &[Token<'_>], mut at: usize) -> usize {
    while follows(tokens, at, &["#", "["]) {
        at = after_bracket(tokens, at + 1);
    }
    let ends_at_semicolon =
        tokens.get(at).is_some_and(|t| ["let", "use", "const", "static", "type"].contains(&t.text))
            && !follows(tokens, at + 1, &["fn"]);
    while let Some(token) = tokens.get(at) {
        match token.text {
            ";" => return at + 1,
            "}" => return at,
            "{" if !ends_at_semicolon => return after_bracket(tokens, at),
            "(" | "[" | "{" => at = after_bracket(tokens, at),
            _ => at += 1,
        }
    }
    tokens.len()
}

/// The bytes from the start of the item at token `from` to its end.
pub fn item_range(tokens: &[Token<'_>], from: usize) -> Range<usize> {
    let end = tokens.get(after_item(tokens, from) - 1).map_or(tokens[from].at, |t| t.at + t.text.len());
    tokens[from].at..end
}

/// Items below `#[cfg(test)]` or `#[test]`.
fn test_items(code: &str) -> Vec<Range<usize>> {
    let tokens = tokens(code);
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let plain = follows(&tokens, at, &["#", "[", "cfg", "(", "test", ")", "]"]);
        let all = follows(&tokens, at, &["#", "[", "cfg", "(", "all", "(", "test"]);
        if plain || all || follows(&tokens, at, &["#", "[", "test", "]"]) {
            ranges.push(item_range(&tokens, at));
            at = after_item(&tokens, at);
        } else {
            at += 1;
        }
    }
    ranges
}
