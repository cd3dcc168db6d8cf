//! What to say about a version that does not exist.

use crate::failure::{Exit, Failure};
use cudaup_core::builds::RELEASES;
use cudaup_core::version::Version;

/// Why there is no such version, and which was probably meant. `offered` are the versions that could be installed here and
/// now, in any order.
pub fn refuse(asked: Version, offered: &[Version]) -> Failure {
    let mut known: Vec<Version> = RELEASES.iter().map(|r| r.version).chain(offered.iter().copied()).collect();
    known.sort_unstable();
    known.dedup();
    let newest = newest(offered);
    let (meant, reason) = match reason(asked, &known) {
        Some(reason) => {
            // Of a release that there is another update is meant, wherever it is to be had.
            let of_it = |m: &Version| asked.update.is_some() && m.accepts(asked);
            let offers = |m: &Version| offered.is_empty() || offered.iter().any(|o| m.accepts(*o));
            let at_hand = |m: &Version| of_it(m) || offers(m);
            let last = known.last().filter(|_| offered.is_empty()).copied();
            (meant(asked, &known).filter(at_hand).or_else(|| newest.first().copied()).or(last), reason)
        }
        // The one that the question names is the one to type, the first of those at hand before others.
        None => match misspelled(asked, offered).or_else(|| misspelled(asked, &known)) {
            Some(meant) => (Some(meant), format!("; did you mean {meant}?")),
            None => (newest.first().copied(), String::new()),
        },
    };
    let failure = Failure::new(Exit::NoVersion, format!("there is no CUDA {asked}{reason}"));
    let failure = match meant {
        Some(version) => failure.hint(format!("cudaup install {version}")),
        None => failure,
    };
    match newest.as_slice() {
        [] => failure,
        all => failure.hint(format!("the newest: {}", list(all))),
    }
}

/// What the releases around it tell; `None` where they tell nothing.
fn reason(asked: Version, known: &[Version]) -> Option<String> {
    let before = known.iter().rfind(|v| **v < asked);
    let after = known.iter().find(|v| **v > asked);
    let release = Version { update: None, ..asked };
    if asked.update.is_some() && known.iter().any(|v| release.accepts(*v)) {
        let updates: Vec<Version> = known.iter().copied().filter(|v| release.accepts(*v)).collect();
        return Some(format!(" ({release} has {})", list(&updates)));
    }
    match (before, after) {
        (Some(before), Some(after)) if before.major == asked.major && after.major == asked.major => {
            let gap = format!("{before} was followed by {after}");
            Some(format!(" ({gap}; an nvidia-smi that shows {release} means the driver's limit)"))
        }
        (Some(before), None) => Some(format!(" (the newest known is {before})")),
        _ => None,
    }
}

/// The version that was probably meant: the last update of the release, the release before the gap, or the one whose
/// spelling differs in a single place.
fn meant(asked: Version, known: &[Version]) -> Option<Version> {
    let release = Version { update: None, ..asked };
    if asked.update.is_some() && known.iter().any(|v| release.accepts(*v)) {
        return Some(release);
    }
    let before = known.iter().rfind(|v| **v < asked && v.major == asked.major);
    let after = known.iter().any(|v| *v > asked && v.major == asked.major);
    if let Some(before) = before
        && after
    {
        return Some(Version { update: None, ..*before });
    }
    misspelled(asked, known)
}

/// The newest whose spelling differs in a single place.
fn misspelled(asked: Version, known: &[Version]) -> Option<Version> {
    let text = asked.to_string();
    let spellings = known.iter().flat_map(|v| [Version { update: None, ..*v }, *v]);
    spellings.filter(|v| one_apart(&text, &v.to_string())).max()
}

/// The one of these names that a slip of the finger made of this text; the shortest where several could be.
pub fn near<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.filter(|name| typed.len() > 2 && one_apart(typed, name)).min_by_key(|name| name.len())
}

/// Whether one typed letter more, less, or another in its place makes one text of the other.
fn one_apart(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let front = short.bytes().zip(long.bytes()).take_while(|(x, y)| x == y).count();
    let back = short.bytes().rev().zip(long.bytes().rev()).take_while(|(x, y)| x == y).count();
    match long.len() - short.len() {
        0 => front + back + 1 >= long.len() && a != b,
        1 => front + back >= short.len(),
        _ => false,
    }
}

/// The last update of each of the three newest releases.
fn newest(offered: &[Version]) -> Vec<Version> {
    let mut sorted = offered.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted.dedup_by_key(|v| (v.major, v.minor));
    sorted.truncate(3);
    sorted
}

fn list(versions: &[Version]) -> String {
    let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(asked: &str) -> String {
        let offered =
            ["13.0.2", "13.5.0", "12.6.3", "13.4.1", "13.4.3", "13.0.3"].map(|v| Version::parse(v).unwrap());
        let failure = refuse(Version::parse(asked).unwrap(), &offered);
        assert_eq!(failure.exit, Exit::NoVersion);
        format!("{} | {}", failure.message, failure.tries.join(" | "))
    }

    #[test]
    fn the_gap_that_never_was_filled() {
        assert_eq!(
            said("12.7"),
            "there is no CUDA 12.7 (12.6.3 was followed by 12.8.0; an nvidia-smi that shows 12.7 means the driver's limit) \
             | cudaup install 12.6 | the newest: 13.5.0, 13.4.3, 13.0.3"
        );
    }

    #[test]
    fn an_update_that_does_not_exist() {
        assert_eq!(
            said("13.0.9"),
            "there is no CUDA 13.0.9 (13.0 has 13.0.0, 13.0.1, 13.0.2, 13.0.3) | cudaup install 13.0 | the newest: 13.5.0, 13.4.3, 13.0.3"
        );
    }

    #[test]
    fn an_update_of_a_release_that_is_elsewhere() {
        assert!(
            said("12.4.9").contains("(12.4 has 12.4.0, 12.4.1) | cudaup install 12.4 |"),
            "{}",
            said("12.4.9")
        );
    }

    #[test]
    fn a_slip_of_the_finger() {
        assert!(
            said("12.14").starts_with("there is no CUDA 12.14; did you mean 12.4? | cudaup install 12.4 |"),
            "{}",
            said("12.14")
        );
        assert!(
            said("31.0").contains("(the newest known is 13.5.0) | cudaup install 13.5.0"),
            "{}",
            said("31.0")
        );
        assert!(said("14.5").contains("| cudaup install 13.5"), "{}", said("14.5"));
        assert!(said("99").contains("| cudaup install 13.5.0"), "{}", said("99"));
    }

    #[test]
    fn where_nothing_is_at_hand_only_what_was_meant_is_named() {
        let said = |asked: &str| {
            let failure = refuse(Version::parse(asked).unwrap(), &[]);
            format!("{} | {}", failure.message, failure.tries.join(" | "))
        };
        assert_eq!(said("1.0"), "there is no CUDA 1.0; did you mean 13.0? | cudaup install 13.0");
        assert!(said("12.7").ends_with("limit) | cudaup install 12.6"), "{}", said("12.7"));
        assert!(said("12.4.9").ends_with("| cudaup install 12.4"), "{}", said("12.4.9"));
    }

    #[test]
    fn a_name_that_was_meant() {
        let names = || ["nvcc", "nvtx", "cudart", "cufft"].into_iter();
        assert_eq!((near("nvc", names()), near("cudrt", names())), (Some("nvcc"), Some("cudart")));
        assert_eq!((near("tensorrt", names()), near("nv", names()), near("", names())), (None, None, None));
    }

    #[test]
    fn spellings_one_step_apart() {
        for (a, b) in [("12.14", "12.4"), ("12.4", "12.14"), ("14.5", "13.5"), ("1.0", "11.0")] {
            assert!(one_apart(a, b), "{a} {b}");
        }
        for (a, b) in [("12.4", "12.4"), ("12.4", "11.5"), ("1", "123"), ("21.4", "12.4")] {
            assert!(!one_apart(a, b), "{a} {b}");
        }
    }
}
