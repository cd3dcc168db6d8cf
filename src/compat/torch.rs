//! PyTorch: which Python, CUDA, cuDNN and GPUs each of its wheels is made for, and which wheel to take on a machine.

use super::arch::{Architecture, Capability};
use cudaup_core::version::Version;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const TABLE: &str = include_str!("torch.toml");

/// A release of PyTorch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Its version, such as `2.5.1`.
    pub version: String,
    /// The day it came out.
    pub released: String,
    /// The releases of Python that it has wheels for on PyPI: `3.11`.
    pub python: Vec<String>,
    /// The index whose wheel PyPI has, for Linux on x86_64: what a plain `pip install torch` gives.
    pub index: String,
    /// Where that was read; keys of the table's `[sources]`.
    pub source: Vec<String>,
}

/// The wheels of one release (without its last number) on one index, for Linux on x86_64.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// The release: `2.5`.
    pub torch: String,
    /// The index, the last part of `https://download.pytorch.org/whl/cu124`.
    pub index: String,
    /// The CUDA that it was built with and brings.
    #[serde(deserialize_with = "version")]
    pub cuda: Version,
    /// The cuDNN that it was built with; `None` where that is not known.
    #[serde(default)]
    pub cudnn: Option<String>,
    /// The machine code and PTX in it.
    #[serde(deserialize_with = "architectures")]
    pub architectures: Vec<Architecture>,
    /// Where that was read; a key of the table's `[sources]`.
    pub source: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for those who read the table"))]
    sources: BTreeMap<String, String>,
    release: Vec<Release>,
    wheel: Vec<Wheel>,
}

/// All releases that are known, oldest first.
pub fn releases() -> &'static [Release] {
    &table().release
}

/// All wheels that are known, oldest first, and for each release the older CUDA first.
pub fn wheels() -> &'static [Wheel] {
    &table().wheel
}

/// The wheel of a release (its first two numbers) for a CUDA release; `None` where it is not known to exist.
pub fn wheel(torch: (u32, u32), cuda: Version) -> Option<&'static Wheel> {
    let same = |w: &&Wheel| w.cuda.major == cuda.major && w.cuda.minor == cuda.minor;
    wheels().iter().filter(|w| w.minor() == torch).find(same)
}

/// What a wheel has to fit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The newest CUDA release that the driver runs in full; `None` where it is not known, and then it limits nothing.
    pub driver: Option<Version>,
    /// The oldest GPU; `None` where none is known.
    pub gpu: Option<Capability>,
}

impl Wheel {
    /// The first two numbers of its release.
    pub fn minor(&self) -> (u32, u32) {
        let mut numbers = self.torch.split('.').map(|n| n.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    /// The address for pip's `--index-url`.
    pub fn address(&self) -> String {
        address(&self.index)
    }

    /// Whether it has machine code for a GPU.
    pub fn serves(&self, gpu: Capability) -> bool {
        self.architectures.iter().any(|a| !a.ptx && a.runs_on(gpu))
    }

    /// Whether it works as wished: the driver runs machine code of its CUDA, and it has such for the GPU.
    pub fn fits(&self, wanted: Wanted) -> bool {
        let driver = wanted.driver.is_none_or(|d| {
            d.major > self.cuda.major || (d.major == self.cuda.major && d.major >= 11) || d >= self.cuda
        });
        driver && wanted.gpu.is_none_or(|gpu| self.serves(gpu))
    }
}

/// The address of an index for pip's `--index-url`: `cpu`, `cu124`.
pub fn address(index: &str) -> String {
    format!("https://download.pytorch.org/whl/{index}")
}

/// The wheel to take: of this very release where it has one that fits, else of the next newer one that has, else of the newest
/// older one. Within a release the newest CUDA that the driver runs in full, PTX too, else the oldest that fits. `torch`: the
/// first two numbers of the release that is wished, `None` for the newest.
pub fn best(torch: Option<(u32, u32)>, wanted: Wanted) -> Option<&'static Wheel> {
    let fitting = || wheels().iter().filter(|w| w.fits(wanted));
    let newest = || fitting().map(Wheel::minor).max();
    let release = match torch {
        None => newest()?,
        Some(torch) => {
            let next = fitting().map(Wheel::minor).filter(|m| *m >= torch).min();
            next.or_else(newest)?
        }
    };
    let of_release = || fitting().filter(|w| w.minor() == release);
    let full = of_release().filter(|w| wanted.driver.is_none_or(|d| d >= w.cuda)).max_by_key(|w| w.cuda);
    full.or_else(|| of_release().min_by_key(|w| w.cuda))
}

fn table() -> &'static Table {
    static PARSED: OnceLock<Table> = OnceLock::new();
    // The table is a part of the program, and a test reads it.
    PARSED.get_or_init(|| toml::from_str(TABLE).unwrap_or_default())
}

fn version<'de, D: Deserializer<'de>>(from: D) -> Result<Version, D::Error> {
    let text = String::deserialize(from)?;
    Version::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is no version")))
}

fn architectures<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Architecture>, D::Error> {
    let read = |text: &String| {
        Architecture::parse(text)
            .ok_or_else(|| serde::de::Error::custom(format!("{text:?} is no architecture")))
    };
    Vec::<String>::deserialize(from)?.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::pep440::Pep440;

    fn wanted(driver: &str, gpu: &str) -> Wanted {
        Wanted { driver: Version::parse(driver), gpu: Capability::parse(gpu) }
    }

    #[test]
    fn the_table_is_whole_and_in_order() {
        let table: Table = toml::from_str(TABLE).unwrap();
        let known = |source: &String| table.sources.contains_key(source);
        assert!(table.release.len() >= 40 && table.wheel.len() >= 60);
        for pair in table.release.windows(2) {
            let at = |n: usize| Pep440::parse(&pair[n].version).unwrap();
            assert_eq!(at(0).compare(&at(1), 3), std::cmp::Ordering::Less, "{}", pair[1].version);
        }
        for release in &table.release {
            let minor = Pep440::parse(&release.version).unwrap().minor();
            let own = table.wheel.iter().filter(|w| w.minor() == minor);
            assert!(own.clone().any(|w| w.index == release.index), "{}", release.version);
            assert!(release.python.iter().all(|p| p.starts_with("3.")) && !release.python.is_empty());
            assert!(release.source.iter().all(known), "{}", release.version);
        }
        for wheel in &table.wheel {
            let cuda = wheel.cuda;
            assert_eq!(wheel.index, format!("cu{}{}", cuda.major, cuda.minor.unwrap()));
            assert!(wheel.architectures.len() >= 3 && known(&wheel.source));
        }
        assert!(table.wheel.windows(2).all(|w| (w[0].minor(), w[0].cuda) < (w[1].minor(), w[1].cuda)));
    }

    #[test]
    fn the_wheel_for_a_machine() {
        let at = |torch, wanted| best(torch, wanted).map(|w| (w.torch.as_str(), w.index.as_str()));
        assert_eq!(at(Some((2, 5)), wanted("12.8", "12.0")), Some(("2.7", "cu128")));
        assert_eq!(at(Some((2, 11)), wanted("13.0", "7.0")), Some(("2.11", "cu126")));
        assert_eq!(at(Some((2, 5)), wanted("12.2", "8.6")), Some(("2.5", "cu121")));
        assert_eq!(at(Some((2, 6)), wanted("12.2", "8.6")), Some(("2.6", "cu118")));
        assert_eq!(at(Some((2, 13)), wanted("12.2", "8.6")), Some(("2.13", "cu126")));
        assert_eq!(at(None, wanted("13.0", "9.0")), Some(("2.15", "cu130")));
        assert_eq!(at(Some((2, 6)), wanted("11.4", "3.7")), Some(("2.1", "cu118")));
        assert_eq!(at(Some((2, 6)), wanted("9.0", "3.7")), None);
    }

    #[test]
    fn a_release_and_its_wheels() {
        let index =
            |version: &str| releases().iter().find(|r| r.version == version).map(|r| r.index.as_str());
        assert_eq!(index("2.5.1"), Some("cu124"));
        let found = wheel((2, 7), Version::exact(12, 8, 1)).unwrap();
        assert!(
            found.serves(Capability { major: 12, minor: 1 })
                && !found.serves(Capability { major: 7, minor: 0 })
        );
        assert_eq!(wheel((2, 7), Version::release(13, 0)), None);
    }
}
