//! The version of a CUDA toolkit: `12`, `12.4` or `12.4.1`.

use std::fmt;

/// A toolkit version of up to three numbers. A missing number is unknown, not zero: `12.4` is some update of 12.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number; libraries keep their binary interface within it.
    pub major: u32,
    /// The second number, the release within the major.
    pub minor: Option<u32>,
    /// The third number, the update within the release.
    pub update: Option<u32>,
}

impl Version {
    /// A version with all three numbers.
    pub const fn exact(major: u32, minor: u32, update: u32) -> Self {
        Self { major, minor: Some(minor), update: Some(update) }
    }

    /// A release whose update is not known or not wanted.
    pub const fn release(major: u32, minor: u32) -> Self {
        Self { major, minor: Some(minor), update: None }
    }

    /// Reads `12`, `12.4` or `12.4.1`: plain decimal numbers without leading zeros, at most four digits each.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(number);
        let major = numbers.next()??;
        let minor = match numbers.next() {
            None => None,
            Some(n) => Some(n?),
        };
        let update = match numbers.next() {
            None => None,
            Some(n) => Some(n?),
        };
        if numbers.next().is_some() {
            return None;
        }
        Some(Self { major, minor, update })
    }

    /// Whether all three numbers are known.
    pub const fn is_exact(&self) -> bool {
        self.minor.is_some() && self.update.is_some()
    }

    /// Whether a toolkit of version `found` is one that this request means. An unknown number in `found` fits an absent
    /// number in the request only.
    pub fn accepts(&self, found: Self) -> bool {
        self.major == found.major
            && (self.minor.is_none() || self.minor == found.minor)
            && (self.update.is_none() || self.update == found.update)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.major)?;
        if let Some(minor) = self.minor {
            write!(f, ".{minor}")?;
        }
        if let Some(update) = self.update {
            write!(f, ".{update}")?;
        }
        Ok(())
    }
}

fn number(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.len() <= 4 && text.bytes().all(|b| b.is_ascii_digit());
    if !plain || (text.len() > 1 && text.starts_with('0')) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_versions_are_read_and_printed_alike() {
        for text in ["12", "12.4", "12.4.1", "9.0", "13.0.0", "11.10.2"] {
            assert_eq!(Version::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_plain_version_is_refused() {
        for text in [
            "",
            ".",
            "12.",
            ".4",
            "12.01",
            "012",
            "12.4.1.0",
            "12.x",
            "v12",
            " 12",
            "12.20241114",
            "+12",
            "１２",
        ] {
            assert_eq!(Version::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_unknown_ones_come_first() {
        let mut all: Vec<_> =
            ["12.10", "12.4.1", "12", "12.4", "12.9.0", "9.2"].map(|t| Version::parse(t).unwrap()).to_vec();
        all.sort();
        let text: Vec<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["9.2", "12", "12.4", "12.4.1", "12.9.0", "12.10"]);
    }

    #[test]
    fn a_request_accepts_what_it_leaves_open() {
        let v = |t| Version::parse(t).unwrap();
        assert!(
            v("12").accepts(v("12.4.1"))
                && v("12.4").accepts(v("12.4.1"))
                && v("12.4.1").accepts(v("12.4.1"))
        );
        assert!(
            !v("12.4.0").accepts(v("12.4.1"))
                && !v("12.4").accepts(v("12.40.1"))
                && !v("12").accepts(v("1.2"))
        );
        assert!(v("11.5").accepts(v("11.5")) && !v("11.5.2").accepts(v("11.5")));
    }
}
