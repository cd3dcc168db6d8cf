//! Versions of Python packages, as far as they are compared here. Source: PEP 440.

use std::cmp::Ordering;

/// A version of a Python package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pep440 {
    /// Its numbers: 2, 5, 1.
    pub numbers: Vec<u32>,
    /// The number behind `.post`.
    pub post: Option<u32>,
    /// Whether it is none of the finished releases: a nightly, a candidate, NVIDIA's own or somebody's build from source.
    pub unfinished: bool,
    /// What stands behind the `+`: `cu124`, `cpu`, `rocm6.2`, `gitc88b85b`.
    pub local: Option<String>,
}

impl Pep440 {
    /// Reads `2.5.1+cu124`, `2.12.0.dev20260410+cu130`, `2.3.0a0+40ec155e58.nv24.03`, `0.0.28.post3`.
    pub fn parse(text: &str) -> Option<Self> {
        let (public, local) = match text.trim().split_once('+') {
            Some((public, local)) => (public, Some(local.to_owned())),
            None => (text.trim(), None),
        };
        let end = public.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(public.len());
        let (front, rest) = public.split_at_checked(end)?;
        let numbers: Vec<u32> =
            front.trim_end_matches('.').split('.').map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let post =
            rest.trim_start_matches(['.', '-', '_']).strip_prefix("post").map(|n| n.trim_start_matches('.'));
        let post = post.and_then(|n| n.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        let unfinished = ["dev", "a", "b", "rc"].iter().any(|word| rest.contains(word));
        Some(Self { numbers, post, unfinished, local })
    }

    /// The first two numbers, which tell releases apart that do not go with each other's extensions.
    pub fn minor(&self) -> (u32, u32) {
        (self.number(0), self.number(1))
    }

    /// The numbers alone: `2.5.1`.
    pub fn plain(&self) -> String {
        self.numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    }

    /// Compares so many of the numbers; missing ones count as 0.
    pub fn compare(&self, other: &Self, count: usize) -> Ordering {
        (0..count).map(|n| self.number(n)).cmp((0..count).map(|n| other.number(n)))
    }

    fn number(&self, at: usize) -> u32 {
        self.numbers.get(at).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_nightlies_and_builds_of_others() {
        let at = |text: &str| Pep440::parse(text).unwrap();
        assert_eq!(at("2.5.1+cu124").local.as_deref(), Some("cu124"));
        assert_eq!((at("2.5.1+cu124").plain().as_str(), at("2.5.1").unfinished), ("2.5.1", false));
        for odd in
            ["2.12.0.dev20260410+cu130", "2.7.0a0+gitc88b85b.aml", "2.3.0a0+40ec155e58.nv24.03", "1.0rc1"]
        {
            assert!(at(odd).unfinished, "{odd}");
        }
        assert_eq!(at("2.12.0.dev20260410+cu130").minor(), (2, 12));
        assert_eq!((at("0.0.28.post3").post, at("0.0.28.post3").plain().as_str()), (Some(3), "0.0.28"));
        assert_eq!(at("2.10").compare(&at("2.9.1"), 2), Ordering::Greater);
        assert_eq!(at("2.5").compare(&at("2.5.0"), 3), Ordering::Equal);
        for bad in ["", "x", "..", "+cu124", "99999999999.1"] {
            assert_eq!(Pep440::parse(bad), None, "{bad}");
        }
    }
}
