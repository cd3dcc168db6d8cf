//! Python's version numbers and wheel file names, as far as NVIDIA's projects use them.

use crate::source::plan::Platform;
use cudaup_core::version::Version;
use std::cmp::Ordering;
use std::fmt;

/// A Python version: `13.0.3.0`, `11.8.89.post1`, `13.4.0rc1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    release: Vec<u64>,
    stage: Stage,
    post: Option<u64>,
    text: String,
}

/// How finished a build is; the number counts within the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Development(u64),
    Alpha(u64),
    Beta(u64),
    Candidate(u64),
    Finished,
}

impl Build {
    /// Reads a version; `None` where it is written in no way that NVIDIA uses.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (numbers, mut rest) = text.split_at_checked(end)?;
        let mut release = Vec::new();
        for number in numbers.trim_end_matches('.').split('.') {
            release.push(number.parse().ok()?);
        }
        let mut build = Self { release, stage: Stage::Finished, post: None, text: text.clone() };
        while !rest.is_empty() {
            rest = rest.trim_start_matches(['.', '-', '_']);
            let word_end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let (word, tail) = rest.split_at_checked(word_end)?;
            let number_end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            let (number, tail) = tail.split_at_checked(number_end)?;
            let number = if number.is_empty() { 0 } else { number.parse().ok()? };
            match word {
                "dev" => build.stage = build.stage.min(Stage::Development(number)),
                "a" | "alpha" => build.stage = Stage::Alpha(number),
                "b" | "beta" => build.stage = Stage::Beta(number),
                "rc" | "c" => build.stage = Stage::Candidate(number),
                "post" => build.post = Some(number),
                _ => return None,
            }
            rest = tail;
        }
        Some(build)
    }

    /// Whether this is not a finished release.
    pub fn early(&self) -> bool {
        self.stage != Stage::Finished
    }

    /// The numbers of the release alone, as text: `9.0.0.312` of `9.0.0.312.post1`.
    pub fn numbers(&self) -> String {
        let numbers: Vec<String> = self.release.iter().map(ToString::to_string).collect();
        numbers.join(".")
    }

    /// The toolkit that a build of the project `cuda-toolkit` describes: `13.0.3.0` is 13.0.3.
    pub fn toolkit(&self) -> Option<Version> {
        let number = |i: usize| self.release.get(i).and_then(|n| u32::try_from(*n).ok());
        Some(Version::exact(number(0)?, number(1)?, number(2).unwrap_or(0)))
    }

    /// Whether this build fits `==pin.*`: the same numbers in front, and finished unless the pin is not.
    pub fn fits(&self, pin: &Self) -> bool {
        let number = |i: usize| self.release.get(i).copied().unwrap_or(0);
        let same = pin.release.iter().enumerate().all(|(i, n)| number(i) == *n);
        same && (if pin.early() { self.stage == pin.stage } else { !self.early() })
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialOrd for Build {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Build {
    fn cmp(&self, other: &Self) -> Ordering {
        fn key(build: &Build) -> (&[u64], Stage, Option<u64>) {
            let used = build.release.iter().rposition(|n| *n != 0).map_or(0, |i| i + 1);
            (build.release.get(..used).unwrap_or_default(), build.stage, build.post)
        }
        key(self).cmp(&key(other)).then_with(|| self.text.cmp(&other.text))
    }
}

/// A wheel's file name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WheelName {
    /// The directory of the wheel's own records: `nvidia_nvvm-13.0.88.dist-info`.
    pub records: String,
    /// The version.
    pub build: Build,
    /// The build tag that tells two wheels of one version apart.
    pub tag: Option<(u64, String)>,
    platforms: Vec<String>,
}

impl WheelName {
    /// Reads `NAME-VERSION[-TAG]-PYTHON-ABI-PLATFORM.whl`.
    pub fn parse(file: &str) -> Option<Self> {
        let fields: Vec<&str> = file.strip_suffix(".whl")?.split('-').collect();
        let (name, version, tag, platform) = match fields.as_slice() {
            [name, version, _, _, platform] => (name, version, None, platform),
            [name, version, tag, _, _, platform] => (name, version, Some(build_tag(tag)?), platform),
            _ => return None,
        };
        Some(Self {
            records: format!("{name}-{version}.dist-info"),
            build: Build::parse(version)?,
            tag,
            platforms: platform.split('.').map(str::to_owned).collect(),
        })
    }

    /// The C library that the wheel was built for, as a rank among wheels for this machine; `None`: for another one.
    /// Of two wheels of one version the one for the newer C library is the later build.
    pub fn rank(&self, platform: Platform) -> Option<(u64, u64)> {
        self.platforms.iter().filter_map(|tag| rank(tag, platform)).max()
    }
}

fn build_tag(text: &str) -> Option<(u64, String)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, rest.to_owned()))
}

fn rank(tag: &str, platform: Platform) -> Option<(u64, u64)> {
    if tag == "any" {
        return Some((0, 0));
    }
    let kind = tag.strip_suffix(platform.machine())?.strip_suffix('_')?;
    match kind {
        "linux" => Some((0, 1)),
        "manylinux1" => Some((2, 5)),
        "manylinux2010" => Some((2, 12)),
        "manylinux2014" => Some((2, 17)),
        _ => {
            let (major, minor) = kind.strip_prefix("manylinux_")?.split_once('_')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn b(text: &str) -> Build {
        Build::parse(text).unwrap()
    }

    #[test]
    fn four_part_spellings_are_the_toolkit_of_three() {
        assert_eq!(b("13.0.3.0").toolkit(), Some(Version::exact(13, 0, 3)));
        assert_eq!(b("13.5.0").toolkit(), Some(Version::exact(13, 5, 0)));
        assert_eq!(b("13.0.3").cmp(&b("13.0.3.0")), Ordering::Less, "equal but for the spelling");
        assert!(b("13.4.0rc1").early() && b("0.0.0a0").early() && b("0.0.1.dev4").early());
        assert!(!b("11.8.89.post1").early());
    }

    #[test]
    fn builds_are_ordered_as_python_orders_them() {
        let order = ["13.4.0.dev2", "13.4.0a1", "13.4.0rc1", "13.4.0", "13.4.0.post1", "13.4.1", "13.10.0"];
        for pair in order.windows(2) {
            assert!(b(pair[0]) < b(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn what_nobody_writes_is_not_read() {
        for text in ["", "abc", "13..0", "13.0-gamma1", "v13", "13.0+cu130", "99999999999999999999.0"] {
            assert_eq!(Build::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_pin_means_the_same_numbers_in_front() {
        let pin = b("12.4.127");
        assert!(b("12.4.127").fits(&pin) && b("12.4.127.post1").fits(&pin) && b("12.4.127.3").fits(&pin));
        assert!(!b("12.4.12").fits(&pin) && !b("12.4.128").fits(&pin) && !b("12.4.127rc1").fits(&pin));
        assert!(b("13.4.46rc1").fits(&b("13.4.46rc1")) && !b("13.4.46rc2").fits(&b("13.4.46rc1")));
        assert!(b("13.0").fits(&b("13.0.0")));
    }

    #[test]
    fn wheels_are_ranked_for_the_machine() {
        let name = "nvidia_cuda_nvcc-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl";
        let wheel = WheelName::parse(name).unwrap();
        assert_eq!(wheel.rank(Platform::LinuxX86_64), Some((2, 17)));
        assert_eq!(wheel.rank(Platform::LinuxSbsa), None);
        assert_eq!(wheel.records, "nvidia_cuda_nvcc-13.0.88.dist-info");
        let rank = |f: &str| WheelName::parse(f).unwrap().rank(Platform::LinuxSbsa);
        assert_eq!(rank("a-1-py3-none-manylinux_2_27_aarch64.whl"), Some((2, 27)));
        assert_eq!(rank("a-1-2b-py3-none-any.whl"), Some((0, 0)));
        assert_eq!(rank("a-1-py3-none-win_arm64.whl"), None);
        assert_eq!(rank("a-1-py3-none-musllinux_1_2_aarch64.whl"), None);
        assert_eq!(WheelName::parse("nvidia-cuda-nvcc-0.0.1.dev4.tar.gz"), None);
        assert_eq!(WheelName::parse("a-1-py3-none.whl"), None);
    }
}
