//! A request: the text that asks for a toolkit, in a pin or on the command line.

use crate::version::Version;
use std::fmt;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `12`, `12.4` or `12.4.1`.
    Version(Version),
    /// `latest`: the newest that is installed.
    Latest,
    /// `system`: what the machine itself has.
    System,
    /// The name of a link.
    Link(String),
}

/// A text that is no request, with the spelling that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRequest {
    /// The text as found, without control characters.
    pub text: String,
    /// The right spelling, where one can be guessed.
    pub meant: Option<String>,
}

impl Request {
    /// Reads a request as a pin holds it: only the right spellings.
    pub fn parse(text: &str) -> Result<Self, BadRequest> {
        let bad = |meant: Option<Version>| BadRequest {
            text: printable(text),
            meant: meant.map(|v| v.to_string()),
        };
        match text {
            "latest" => return Ok(Self::Latest),
            "system" => return Ok(Self::System),
            _ => {}
        }
        if let Some(version) = Version::parse(text) {
            if version.major < 100 && without_build(version) == version {
                return Ok(Self::Version(version));
            }
            return Err(bad(respelled(text)));
        }
        match respelled(text) {
            Some(version) => Err(bad(Some(version))),
            None if is_link_name(text) => Ok(Self::Link(text.to_owned())),
            None => Err(bad(otherwise(text))),
        }
    }

    /// Reads a request as a person types it: `cuda-12.4`, `v12.4` and `cu124` are read as 12.4. The second value is the
    /// request's right spelling where the text was another one.
    pub fn parse_typed(text: &str) -> Result<(Self, Option<String>), BadRequest> {
        let text = text.trim();
        match Self::parse(text) {
            Ok(request) => Ok((request, None)),
            Err(bad) if has_known_prefix(text) => match respelled(text) {
                Some(version) => Ok((Self::Version(version), Some(version.to_string()))),
                None => Err(bad),
            },
            Err(bad) => Err(bad),
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => version.fmt(f),
            Self::Latest => f.write_str("latest"),
            Self::System => f.write_str("system"),
            Self::Link(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for BadRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            return f.write_str("no version is given");
        }
        write!(f, "`{}` is no CUDA version", self.text)?;
        match &self.meant {
            Some(meant) => write!(f, "; did you mean {meant}?"),
            None => f.write_str(" (versions look like 12, 12.4 or 12.4.1)"),
        }
    }
}

/// Whether a link may have this name: `[a-z][a-z0-9._-]{0,63}`, and nothing that is read as something else.
pub fn is_link_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= 64
        && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(b))
        && !matches!(text, "latest" | "system" | "none" | "off" | "default")
        && respelled(text).is_none()
}

/// The version behind a wrong spelling: `cu124`, `V12.1.66`, `cuda-12.4`, `>=12`, `12.x`, `121`, `12.01`.
pub fn respelled(text: &str) -> Option<Version> {
    let lower = text.trim().to_ascii_lowercase();
    let rest = without_prefix(&lower);
    let rest = rest.trim_end_matches(".x").trim_end_matches(".*");
    let digits = rest.bytes().all(|b| b.is_ascii_digit());
    let version = match rest.len() {
        0 => return None,
        3 if digits => Version::parse(&format!("{}.{}", rest.get(..2)?, rest.get(2..)?))?,
        _ => {
            let plain: Vec<String> = rest
                .split('.')
                .map(|n| if n == "0" { n.into() } else { n.trim_start_matches('0').to_owned() })
                .collect();
            Version::parse(&plain.join("."))?
        }
    };
    let known = (5..100).contains(&version.major);
    known.then_some(without_build(version))
}

/// The version behind `12-4`, as packages spell it, `12,4`, `12..4` and `12.4.`. No link has such a name.
fn otherwise(text: &str) -> Option<Version> {
    let parts: Vec<&str> = text.split(['-', ',', '.', ' ', '_']).filter(|part| !part.is_empty()).collect();
    let numbers = parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
    let begins = text.starts_with(|c: char| c.is_ascii_digit());
    // `12-` could have lost anything.
    (numbers && begins && !text.ends_with('-')).then(|| respelled(&parts.join("."))).flatten()
}

/// NVIDIA numbers builds of nvcc and libraries in the third place (12.1.66): no update has had two digits.
pub fn without_build(version: Version) -> Version {
    match version.update {
        Some(update) if update > 9 => Version { update: None, ..version },
        _ => version,
    }
}

const PREFIXES: [&str; 8] = ["cuda-toolkit-", "cuda-", "cuda_", "cuda@", "cuda", "cu", "v", "@"];

fn without_prefix(lower: &str) -> &str {
    let rest = lower.trim_start_matches(['=', '>', '<', '~', '^', ' ']);
    PREFIXES.iter().find_map(|p| rest.strip_prefix(p)).unwrap_or(rest).trim_start_matches('v')
}

fn has_known_prefix(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    PREFIXES.iter().any(|p| lower.starts_with(p))
}

/// At most 40 characters, control characters as `\x1b`, so that an error never garbles a terminal.
pub fn printable(text: &str) -> String {
    let mut out = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == 40 {
            out.push_str("...");
            break;
        }
        if letter.is_control() {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> Option<String> {
        Request::parse(text).unwrap_err().meant
    }

    #[test]
    fn right_spellings() {
        assert_eq!(
            Request::parse("12"),
            Ok(Request::Version(Version { major: 12, minor: None, update: None }))
        );
        assert_eq!(Request::parse("12.4.1"), Ok(Request::Version(Version::exact(12, 4, 1))));
        assert_eq!(Request::parse("latest"), Ok(Request::Latest));
        assert_eq!(Request::parse("system"), Ok(Request::System));
        assert_eq!(Request::parse("my-cuda_x.1"), Ok(Request::Link("my-cuda_x.1".into())));
    }

    #[test]
    fn wrong_spellings_are_refused_with_the_right_one() {
        for (text, right) in [
            ("121", "12.1"),
            ("12.1.66", "12.1"),
            ("120", "12.0"),
            ("118", "11.8"),
            ("cu121", "12.1"),
            ("cu124", "12.4"),
            ("v12.1", "12.1"),
            ("V12.1.66", "12.1"),
            ("cuda-12.4", "12.4"),
            ("cuda12.4.1", "12.4.1"),
            (">=12", "12"),
            ("==12.4", "12.4"),
            ("12.x", "12"),
            ("12.4.*", "12.4"),
            ("12.01", "12.1"),
            ("12-4", "12.4"),
            ("12,4", "12.4"),
            ("12.4,1", "12.4.1"),
            ("12..4", "12.4"),
            ("12.4.", "12.4"),
        ] {
            assert_eq!(meant(text).as_deref(), Some(right), "{text}");
        }
        for text in ["", "12-", "-12", "../x", "$(touch x)", "a b", "Ünïcode", "1,2,3,4", "1\u{1b}[31m"] {
            assert_eq!(meant(text), None, "{text}");
        }
    }

    #[test]
    fn what_people_type_is_read_and_said() {
        let read = |t: &str| Request::parse_typed(t);
        for text in ["cuda-12.4", "v12.4", "cu124", "CUDA-12.4", "cuda12.4"] {
            let (request, said) = read(text).unwrap();
            assert_eq!((request.to_string().as_str(), said.as_deref()), ("12.4", Some("12.4")), "{text}");
        }
        assert_eq!(read("12.4").unwrap().1, None);
        assert!(read("121").is_err(), "a bare number is too easily something else");
    }

    #[test]
    fn link_names() {
        for name in ["mine", "a", "nightly-13", "x.y_z"] {
            assert!(is_link_name(name), "{name}");
        }
        let long = "a".repeat(65);
        for name in [
            "",
            ".",
            "..",
            "/",
            "a/b",
            "../x",
            "x\ny",
            " ",
            "Mine",
            "1a",
            "latest",
            "system",
            "off",
            "cu124",
            "v12",
            "cuda-12.4",
            &long,
        ] {
            assert!(!is_link_name(name), "{name:?}");
        }
    }

    #[test]
    fn errors_never_carry_control_characters() {
        let text = Request::parse("12.4\r\u{1b}[2J").unwrap_err().to_string();
        assert!(!text.chars().any(char::is_control), "{text}");
    }
}
