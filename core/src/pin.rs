//! A pin: the `.cuda-version` file. The two default files have the same form.

use crate::addon::{self, Library, Number};
use crate::request::{BadRequest, Request, printable};
use crate::spelling::nearest;
use std::path::{Path, PathBuf};

/// The name of a pin.
pub const FILE_NAME: &str = ".cuda-version";

/// A pin larger than this is refused: a version file of more is a mistake.
pub const LIMIT: usize = 64 * 1024;

/// A wish for an add-on: `cudnn = 9.8`, or `cudnn = off` where a default names one that is not wanted here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddonWish {
    /// The library.
    pub library: &'static Library,
    /// The version; `None`: off.
    pub version: Option<Number>,
    /// The file that says so; empty until [`Pin::of_file`].
    pub file: PathBuf,
    /// The line in it, counted from 1.
    pub line: usize,
}

/// What a pin says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pin {
    /// What is asked for; always there in a pin, perhaps not in a default file.
    pub request: Option<Request>,
    /// The line of the request, counted from 1.
    pub line: usize,
    /// The `key = value` lines that are known.
    pub settings: Settings,
    /// Keys that are not known, with their lines.
    pub unknown: Vec<(usize, String)>,
}

/// The keys of a pin or a default file; what is not said is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `ld_library_path = off`: LD_LIBRARY_PATH gets nothing of ours.
    pub ld_library_path: Option<bool>,
    /// `cpath = off`: CPATH gets nothing of ours.
    pub cpath: Option<bool>,
    /// `host_compiler = g++-11`: the program name of the host compiler.
    pub host_compiler: Option<String>,
    /// `cudnn = 9.8` and the like, each library once.
    pub addons: Vec<AddonWish>,
    /// `components = nvcc, cudart`: what install takes.
    pub components: Vec<String>,
    /// `roots = /shared/cudaup`: further places of toolkits; in default files only.
    pub roots: Vec<PathBuf>,
}

impl Pin {
    /// The pin with every wish naming the file that it stands in.
    #[must_use]
    pub fn of_file(mut self, file: &Path) -> Self {
        self.settings.addons.iter_mut().for_each(|wish| wish.file = file.to_path_buf());
        self
    }
}

impl Settings {
    /// These settings, and for what they leave open those of `below`.
    #[must_use]
    pub fn over(self, below: &Self) -> Self {
        let mut addons = self.addons;
        let own: Vec<&Library> = addons.iter().map(|w| w.library).collect();
        addons.extend(below.addons.iter().filter(|w| !own.contains(&w.library)).cloned());
        let mut roots = self.roots;
        roots.extend(below.roots.iter().cloned());
        Self {
            ld_library_path: self.ld_library_path.or(below.ld_library_path),
            cpath: self.cpath.or(below.cpath),
            host_compiler: self.host_compiler.or_else(|| below.host_compiler.clone()),
            addons,
            components: if self.components.is_empty() { below.components.clone() } else { self.components },
            roots,
        }
    }
}

/// Why a pin cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadPin {
    /// The file is in UTF-16.
    Utf16,
    /// The file is not text.
    NotText,
    /// There is no request in it.
    Empty,
    /// The first line is a setting, not a request.
    NoRequest(usize),
    /// The request cannot be read.
    Request(usize, BadRequest),
    /// A line after the request is no `key = value`.
    NotASetting(usize, String),
    /// A known key with a value it cannot have: line, key, value, what it takes.
    Value(usize, String, String, &'static str),
}

impl std::fmt::Display for BadPin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Utf16 => f.write_str("the file is in UTF-16; save it as UTF-8"),
            Self::NotText => f.write_str("the file is not UTF-8 text"),
            Self::Empty => f.write_str("the file names no version"),
            Self::NoRequest(_) => f.write_str("the first line has to be a version"),
            Self::Request(_, bad) => bad.fmt(f),
            Self::NotASetting(_, text) => write!(f, "`{text}` is no `key = value` line"),
            Self::Value(_, key, value, takes) => write!(f, "`{key} = {value}`: {key} takes {takes}"),
        }
    }
}

impl BadPin {
    /// The line at fault, counted from 1, where one is.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Utf16 | Self::NotText | Self::Empty => None,
            Self::NoRequest(n) | Self::Request(n, _) | Self::NotASetting(n, _) | Self::Value(n, ..) => {
                Some(*n)
            }
        }
    }
}

/// Reads a pin.
pub fn parse(bytes: &[u8]) -> Result<Pin, BadPin> {
    let pin = parse_default(bytes)?;
    match pin.request {
        Some(_) => Ok(pin),
        None if pin.line > 0 => Err(BadPin::NoRequest(pin.line)),
        None => Err(BadPin::Empty),
    }
}

/// Reads a default file, which may hold settings only.
pub fn parse_default(bytes: &[u8]) -> Result<Pin, BadPin> {
    let mut pin = Pin::default();
    for (i, line) in text(bytes)?.lines().enumerate() {
        let number = i + 1;
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        let first = pin.line == 0;
        if first {
            pin.line = number;
        }
        match line.split_once('=') {
            Some((key, value)) if is_key(key.trim()) => set(&mut pin, number, key.trim(), value.trim())?,
            _ if first => {
                pin.request = Some(Request::parse(line).map_err(|bad| BadPin::Request(number, bad))?);
            }
            _ => return Err(BadPin::NotASetting(number, printable(line))),
        }
    }
    Ok(pin)
}

/// `text` with its request replaced: comments, keys, blank lines between them and line ends stay as they are. A text
/// without a request gets it as its first line. A UTF-8 mark is dropped.
pub fn with_request(bytes: &[u8], request: &str) -> Result<String, BadPin> {
    let text = text(bytes)?;
    let own_end =
        if text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r')) { "\r\n" } else { "\n" };
    let mut out = String::new();
    let mut done = false;
    for whole in text.split_inclusive('\n') {
        let line = whole.strip_suffix('\n').unwrap_or(whole).trim_end_matches('\r');
        let end = whole.get(line.len()..).filter(|end| !end.is_empty()).unwrap_or(own_end);
        let code = without_comment(line);
        let content = code.trim();
        let setting = content.split_once('=').is_some_and(|(key, _)| is_key(key.trim()));
        if done || content.is_empty() {
            out.push_str(line);
        } else if setting {
            out.extend([request, own_end, line]);
            done = true;
        } else {
            out.push_str(&line.replacen(content, request, 1));
            done = true;
        }
        out.push_str(end);
    }
    if !done {
        out.push_str(request);
    }
    out.truncate(out.trim_end().len());
    out.push_str(own_end);
    Ok(out)
}

/// `bytes` without the line of its request: what a default file holds once its toolkit is gone. `None` where nothing but
/// blank lines would be left.
pub fn without_request(bytes: &[u8]) -> Result<Option<String>, BadPin> {
    let line = parse_default(bytes)?.line;
    let kept: String = text(bytes)?
        .split_inclusive('\n')
        .enumerate()
        .filter(|(i, _)| i + 1 != line)
        .map(|(_, l)| if l.ends_with('\n') { l.to_owned() } else { format!("{l}\n") })
        .collect();
    Ok(Some(kept).filter(|k| !k.trim().is_empty()))
}

fn text(bytes: &[u8]) -> Result<&str, BadPin> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(BadPin::Utf16);
    }
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        Ok(text) if text.bytes().filter(|b| *b == 0).count() * 3 >= text.len() => Err(BadPin::Utf16),
        _ => Err(BadPin::NotText),
    }
}

fn without_comment(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    let mut before = ' ';
    for (i, letter) in line.char_indices() {
        if letter == '#' && before.is_whitespace() {
            return line.get(..i).unwrap_or(line);
        }
        before = letter;
    }
    line
}

fn is_key(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn set(pin: &mut Pin, line: usize, key: &str, value: &str) -> Result<(), BadPin> {
    let bad = |takes| BadPin::Value(line, printable(key), printable(value), takes);
    let settings = &mut pin.settings;
    if let Some(library) = addon::library(key) {
        let version = match value {
            "off" => None,
            text => Some(Number::parse(text).ok_or_else(|| bad("a version such as 9.8, or off"))?),
        };
        settings.addons.retain(|wish| wish.library != library);
        settings.addons.push(AddonWish { library, version, file: PathBuf::new(), line });
        return Ok(());
    }
    match key {
        "ld_library_path" => settings.ld_library_path = Some(on_off(value).ok_or_else(|| bad("on or off"))?),
        "cpath" => settings.cpath = Some(on_off(value).ok_or_else(|| bad("on or off"))?),
        "host_compiler" if is_program_name(value) => settings.host_compiler = Some(value.to_owned()),
        "host_compiler" => return Err(bad("the name of a program on PATH, such as g++-11")),
        "components" => {
            let names = value.split([',', ' ']).map(str::trim).filter(|n| !n.is_empty());
            settings.components.extend(names.map(str::to_owned));
        }
        "roots" => {
            let roots: Vec<PathBuf> =
                value.split(',').map(str::trim).filter(|r| !r.is_empty()).map(PathBuf::from).collect();
            if roots.iter().any(|r| !r.is_absolute()) {
                return Err(bad("absolute paths between commas"));
            }
            settings.roots.extend(roots);
        }
        _ => pin.unknown.push((line, printable(key))),
    }
    Ok(())
}

/// The key that a misspelled one was to be.
pub fn meant_key(key: &str) -> Option<&'static str> {
    let own = ["ld_library_path", "cpath", "host_compiler", "components", "roots"];
    nearest(key, own.into_iter().chain(addon::LIBRARIES.iter().map(|library| library.name)))
}

fn on_off(value: &str) -> Option<bool> {
    match value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// Whether a text can be the name of a program on PATH.
pub(crate) fn is_program_name(value: &str) -> bool {
    value.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b))
}

#[cfg(test)]
mod tests;
