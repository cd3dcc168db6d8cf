//! What may be in an archive: names, links, modes, and how entries stand to each other. Pure; the same rules for every
//! kind of archive.

use icu_normalizer::ComposingNormalizerBorrowed;
use std::collections::HashMap;

/// The longest target that a link may have: the system's own limit.
pub const LINK_LENGTH: u64 = 4096;

/// The longest name, the longest piece of one and the most pieces: the system's own limits, and a depth that no honest
/// tree has. Whoever walks a tree goes as deep as an archive has made it.
const NAME: usize = 4096;
const PIECE: usize = 255;
const DEPTH: usize = 255;

/// Why an entry is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing is named.
    #[error("has no name")]
    Empty,
    /// `/etc/passwd`
    #[error("has an absolute name")]
    Absolute,
    /// `a/../../b`
    #[error("climbs out of the tree with ..")]
    Climbs,
    /// A NUL, a line end, an escape sequence.
    #[error("has a control character in its name")]
    Control,
    /// A separator on other systems, never meant on this one.
    #[error("has a backslash in its name")]
    Backslash,
    /// Not UTF-8.
    #[error("has a name that is not UTF-8")]
    NotText,
    /// Longer than the system takes.
    #[error("has a name that is too long")]
    TooLong,
    /// More directories than anybody needs.
    #[error("lies more than {DEPTH} directories deep")]
    TooDeep,
    /// A place that cudaup writes itself.
    #[error("lies at {0}, which cudaup writes itself")]
    Taken(&'static str),
    /// The target is absolute or climbs out.
    #[error("is a link that leaves the tree, to {0}")]
    LinkLeaves(String),
    /// A link with an empty, unreadable or endless target.
    #[error("is a link without a usable target")]
    LinkTarget,
    /// A device, a socket, a FIFO.
    #[error("is a {0}")]
    Special(&'static str),
    /// Runs with the rights of its owner or group.
    #[error("has the setuid or setgid bit")]
    SetId,
    /// The same place twice.
    #[error("is there twice with different contents")]
    Twice,
    /// Equal on a file system that ignores case or Unicode form.
    #[error("differs from {0} only in case or Unicode form")]
    Lookalike(String),
    /// Written through a link of the same archive.
    #[error("lies behind the link {0}")]
    BehindLink(String),
    /// A file used as a directory.
    #[error("lies below {0}, which is a file")]
    BelowFile(String),
    /// More comes out than the archive says.
    #[error("unpacks to other than the {0} bytes that the archive says")]
    Length(u64),
    /// What is only looked at has to be kept in memory.
    #[error("has {0} bytes, too many to be looked at")]
    TooLarge(u64),
    /// Encrypted, or packed by a method that is not known.
    #[error("is packed in a way that is not known")]
    Method,
    /// A file with holes: what comes out has no relation to what is in the archive.
    #[error("is a sparse file")]
    Sparse,
    /// A hard link to what has not come out of the same archive before.
    #[error("is a hard link to {0}, which is not among what is unpacked before it")]
    HardLink(String),
}

/// What comes out of an archive whose plan does not say it: so much for each byte, and some more for small ones.
const RATIO: u64 = 100;
const SPARE: u64 = 64 << 20;

/// The most that an archive of this length can honestly hold.
pub fn most(length: u64) -> u64 {
    length.saturating_mul(RATIO).saturating_add(SPARE)
}

/// What an entry is, as far as a tree is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file, with whether anybody may run it.
    File {
        /// Mode 0755 instead of 0644.
        executable: bool,
    },
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
}

/// A raw name as a relative path with single slashes and nothing that needs care.
pub fn name(raw: &[u8]) -> Result<String, Refusal> {
    let text = std::str::from_utf8(raw).map_err(|_| Refusal::NotText)?;
    if text.contains(char::is_control) {
        return Err(Refusal::Control);
    }
    if text.contains('\\') {
        return Err(Refusal::Backslash);
    }
    if text.starts_with('/') {
        return Err(Refusal::Absolute);
    }
    if text.len() > NAME {
        return Err(Refusal::TooLong);
    }
    let mut path = String::with_capacity(text.len());
    let mut depth = 0;
    for component in text.split('/').filter(|c| !matches!(*c, "" | ".")) {
        if component == ".." {
            return Err(Refusal::Climbs);
        }
        if component.len() > PIECE {
            return Err(Refusal::TooLong);
        }
        depth += 1;
        if depth > DEPTH {
            return Err(Refusal::TooDeep);
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(component);
    }
    if path.is_empty() { Err(Refusal::Empty) } else { Ok(path) }
}

/// What a Unix mode makes of an entry. Of the permissions only "may be run" counts; 0 stands for a plain file.
pub fn kind(mode: u32) -> Result<Kind, Refusal> {
    match mode & 0o170_000 {
        0 | 0o100_000 if mode & 0o6000 != 0 => Err(Refusal::SetId),
        0 | 0o100_000 => Ok(Kind::File { executable: mode & 0o111 != 0 }),
        0o040_000 => Ok(Kind::Directory),
        0o120_000 => Ok(Kind::Link),
        0o020_000 | 0o060_000 => Err(Refusal::Special("device")),
        0o010_000 => Err(Refusal::Special("FIFO")),
        0o140_000 => Err(Refusal::Special("socket")),
        _ => Err(Refusal::Special("file of an unknown kind")),
    }
}

/// The target of a link that stands at `at` in the tree, if following it stays inside. Climbing is allowed only at its
/// start, where it climbs directories: behind a name it could climb out of what another link leads to.
pub fn link(at: &str, target: &[u8]) -> Result<String, Refusal> {
    let text = std::str::from_utf8(target).map_err(|_| Refusal::LinkTarget)?;
    if text.is_empty() || target.len() as u64 > LINK_LENGTH || text.contains(char::is_control) {
        return Err(Refusal::LinkTarget);
    }
    let steps: Vec<&str> = text.split('/').filter(|step| !matches!(*step, "" | ".")).collect();
    let climbs = steps.iter().take_while(|step| **step == "..").count();
    let climbs_later = steps.iter().skip(climbs).any(|step| *step == "..");
    if text.starts_with('/') || climbs_later || climbs > at.matches('/').count() {
        return Err(Refusal::LinkLeaves(text.to_owned()));
    }
    Ok(text.to_owned())
}

/// Whether an entry may have this place in the tree. What is written there afterwards must not go through a link of the
/// archive, nor find a directory: nothing is the receipt, and version.json is a file if anything.
pub fn place(path: &str, kind: &Kind) -> Result<(), Refusal> {
    let first = path.split('/').next().unwrap_or_default();
    let is_file = matches!(kind, Kind::File { .. }) && first.len() == path.len();
    if folded(first) == "receipt.json" {
        return Err(Refusal::Taken("receipt.json"));
    }
    if folded(first) == "version.json" && !is_file {
        return Err(Refusal::Taken("version.json"));
    }
    Ok(())
}

/// A raw name for a message.
pub fn printable(raw: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(raw).chars().take(200).flat_map(char::escape_debug).collect();
    format!("`{text}`")
}

/// What tells whether two files are the same without reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Print {
    /// The length.
    pub size: u64,
    /// A checksum from the archive.
    pub checksum: u32,
}

/// What an entry finds at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// Nothing: the place is the entry's now.
    New,
    /// The same file, by its length and checksum.
    Same,
    /// A file or link that may be another one.
    Rival,
}

/// The places of a tree that entries have taken so far, over all archives that make it.
#[derive(Debug, Default)]
pub struct Claims {
    /// By the name that a file system without case and Unicode forms sees.
    taken: HashMap<String, Claim>,
}

#[derive(Debug)]
struct Claim {
    name: String,
    what: What,
    part: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Directory,
    /// With what tells it from others, where its archive says that beforehand.
    File(Option<Print>),
    Link,
}

impl Claims {
    /// Takes a place for an entry of a part. An archive that says beforehand what its files are may bring no place twice;
    /// of a stream that is known only afterwards.
    pub fn claim(
        &mut self,
        part: usize,
        path: &str,
        kind: &Kind,
        print: Option<Print>,
    ) -> Result<Claimed, Refusal> {
        for (end, _) in path.match_indices('/') {
            self.directory(part, path.get(..end).unwrap_or_default())?;
        }
        let what = match kind {
            Kind::Directory => return self.directory(part, path).map(|()| Claimed::New),
            Kind::File { .. } => What::File(print),
            Kind::Link => What::Link,
        };
        match self.take(part, path, what)? {
            None => Ok(Claimed::New),
            Some((What::Directory, _)) => Err(Refusal::Twice),
            Some((there, _)) if there == what && matches!(what, What::File(Some(_))) => Ok(Claimed::Same),
            Some((_, owner)) if owner == part && print.is_some() => Err(Refusal::Twice),
            Some(_) => Ok(Claimed::Rival),
        }
    }

    /// The part whose file or link was first at a place.
    pub fn owner(&self, path: &str) -> Option<usize> {
        self.taken.get(&folded(path)).map(|claim| claim.part)
    }

    fn directory(&mut self, part: usize, path: &str) -> Result<(), Refusal> {
        match self.take(part, path, What::Directory)? {
            None | Some((What::Directory, _)) => Ok(()),
            Some((What::File(_), _)) => Err(Refusal::BelowFile(path.to_owned())),
            Some((What::Link, _)) => Err(Refusal::BehindLink(path.to_owned())),
        }
    }

    /// Takes a free place, or says what is there, and whose.
    fn take(&mut self, part: usize, path: &str, what: What) -> Result<Option<(What, usize)>, Refusal> {
        match self.taken.get(&folded(path)) {
            Some(there) if there.name != path => Err(Refusal::Lookalike(there.name.clone())),
            Some(there) => Ok(Some((there.what, there.part))),
            None => {
                self.taken.insert(folded(path), Claim { name: path.to_owned(), what, part });
                Ok(None)
            }
        }
    }
}

/// A name without case and Unicode form. Up, then down: some letters have two small forms and one capital.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let normalizer = ComposingNormalizerBorrowed::new_nfc();
    let lower = normalizer.normalize(path).to_uppercase().to_lowercase();
    normalizer.normalize(&lower).into_owned()
}

#[cfg(test)]
mod tests;
