//! A suite's Release file: what the archive says of itself, with the hash of each list of packages.

use std::collections::HashMap;

const BEGIN: &str = "-----BEGIN PGP SIGNED MESSAGE-----";
const SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----";

/// What stands in it, as far as it matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// Whose archive it is.
    pub origin: String,
    /// The suite's name for life.
    pub codename: String,
    /// Until when it is to be believed, where it says so.
    pub valid_until: Option<String>,
    /// sha256 and size of each file below the suite's directory.
    files: HashMap<String, (String, u64)>,
}

impl Release {
    /// Reads the text.
    pub fn parse(text: &str) -> Self {
        let mut release = Self::default();
        let mut section = "";
        for line in text.lines() {
            if let Some(entry) = line.strip_prefix([' ', '\t']) {
                if section == "SHA256"
                    && let [sha256, size, path] = entry.split_whitespace().collect::<Vec<_>>().as_slice()
                    && let Ok(size) = size.parse()
                {
                    release.files.insert((*path).to_owned(), (sha256.to_ascii_lowercase(), size));
                }
                continue;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            section = name;
            let value = value.trim().to_owned();
            match name {
                "Origin" => release.origin = value,
                "Codename" => release.codename = value,
                "Valid-Until" => release.valid_until = Some(value),
                _ => {}
            }
        }
        release
    }

    /// sha256 and size of a file.
    pub fn file(&self, path: &str) -> Option<(&str, u64)> {
        self.files.get(path).map(|(sha256, size)| (sha256.as_str(), *size))
    }
}

/// The text between the two marks of a signed file, as it was before it was signed; `None` where the marks are not there.
pub fn signed_text(file: &str) -> Option<String> {
    let mut lines = file.trim_start().lines();
    if lines.next()?.trim_end() != BEGIN {
        return None;
    }
    // The names of the hashes, up to an empty line.
    lines.by_ref().find(|line| line.trim().is_empty())?;
    let mut text = String::new();
    for line in lines {
        if line.trim_end() == SIGNATURE {
            return Some(text);
        }
        text.push_str(line.strip_prefix("- ").unwrap_or(line));
        text.push('\n');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Origin: Debian\nSuite: oldstable\nCodename: bookworm\nValid-Until: Sat, 18 Jul 2026 10:16:37 UTC\n\
                        MD5Sum:\n d41d8cd98f00b204e9800998ecf8427e 7 non-free/binary-amd64/Packages.xz\nSHA256:\n \
                        ABCD        12 non-free/binary-amd64/Packages.xz\n ef 1 main/x\n broken line\n";

    #[test]
    fn the_hashes_of_the_right_kind_are_taken() {
        let release = Release::parse(TEXT);
        assert_eq!((release.origin.as_str(), release.codename.as_str()), ("Debian", "bookworm"));
        assert_eq!(release.valid_until.as_deref(), Some("Sat, 18 Jul 2026 10:16:37 UTC"));
        assert_eq!(release.file("non-free/binary-amd64/Packages.xz"), Some(("abcd", 12)));
        assert_eq!(release.file("main/x"), Some(("ef", 1)));
        assert_eq!(release.file("main/y"), None);
        assert_eq!(Release::parse("<html>"), Release::default());
    }

    #[test]
    fn only_what_is_between_the_marks_is_signed() {
        let file = format!("{BEGIN}\nHash: SHA256\n\n{TEXT}- -----x\n{SIGNATURE}\n\niQ==\nOrigin: Evil\n");
        assert_eq!(signed_text(&file), Some(format!("{TEXT}-----x\n")));
        assert_eq!(signed_text(TEXT), None);
        assert_eq!(signed_text(&format!("{BEGIN}\nHash: SHA256\n\n{TEXT}")), None);
        assert_eq!(signed_text(""), None);
    }
}
