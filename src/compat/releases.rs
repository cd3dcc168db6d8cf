//! What is known of every release beside its builds: when it came out, the manifest that was seen for it, the oldest driver
//! that runs its programs, and NVIDIA's installer with its checksums.

use cudaup_core::version::Version;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const TABLE: &str = include_str!("releases.toml");

/// A release.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The release.
    #[serde(deserialize_with = "version")]
    pub version: Version,
    /// What NVIDIA calls it in the installer's name, where that is not the version.
    #[serde(default)]
    pub label: Option<String>,
    /// The day or the month in which it came out: `2024-04-03`, `2026-04`.
    #[serde(default)]
    pub date: Option<String>,
    /// Whether it is not a finished release.
    #[serde(default)]
    pub preview: bool,
    /// The sha256 of its manifest, as others have pinned it.
    #[serde(default)]
    pub manifest: Option<String>,
    /// The driver in the installer, which is a part of its name.
    #[serde(default)]
    pub driver: Option<String>,
    /// The installer's whole name, where it does not follow the rule.
    #[serde(default)]
    pub runfile: Option<String>,
    /// The sha256 of the installer for x86_64.
    #[serde(default)]
    pub x86_64: Option<String>,
    /// The sha256 of the installer for Arm servers, where there is one.
    #[serde(default)]
    pub sbsa: Option<String>,
}

/// NVIDIA's installer of a release for one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installer {
    /// What NVIDIA calls the release in its addresses.
    pub label: String,
    /// The file's name.
    pub file: String,
    /// Its sha256, where it is known.
    pub sha256: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    oldest_driver: BTreeMap<String, String>,
    release: Vec<Release>,
}

/// All that are known, oldest first.
pub fn all() -> &'static [Release] {
    &table().release
}

/// What is known of a release.
pub fn of(version: Version) -> Option<&'static Release> {
    all().iter().find(|r| r.version == version)
}

/// Whether a release is not a finished one.
pub fn is_preview(version: Version) -> bool {
    of(version).is_some_and(|r| r.preview)
}

/// The oldest driver that runs programs of a release: since 11 the same for all of a major.
pub fn oldest_driver(version: Version) -> Option<&'static str> {
    let of_major = table().oldest_driver.get(&version.major.to_string());
    of_major.or_else(|| of(version).filter(|_| version.major < 11)?.driver.as_ref()).map(String::as_str)
}

impl Release {
    /// The installer for a machine (`sbsa`: Arm servers); `None` where its name is not known.
    pub fn installer(&self, sbsa: bool) -> Option<Installer> {
        let driver = self.driver.as_ref()?;
        let label = self.label.clone().unwrap_or_else(|| self.version.to_string());
        let sha256 = if sbsa { Some(self.sbsa.clone()?) } else { self.x86_64.clone() };
        let machine = if sbsa { "_sbsa" } else { "" };
        let by_rule = || format!("cuda_{label}_{driver}_linux{machine}.run");
        let file = self.runfile.clone().filter(|_| !sbsa).unwrap_or_else(by_rule);
        Some(Installer { label, file, sha256 })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use cudaup_core::builds::RELEASES;
    use sha2::Digest;

    #[test]
    fn the_table_is_whole_and_in_order() {
        toml::from_str::<Table>(TABLE).map(|_| ()).unwrap();
        assert!(all().windows(2).all(|w| w[0].version < w[1].version));
        for release in RELEASES.iter().filter(|r| r.version >= Version::exact(11, 0, 1)) {
            assert!(of(release.version).is_some(), "{} is not in the table", release.version);
        }
        for release in all() {
            assert!(RELEASES.iter().any(|r| r.version == release.version), "{}", release.version);
            for hash in [&release.manifest, &release.x86_64, &release.sbsa].into_iter().flatten() {
                assert!(
                    hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()),
                    "{}",
                    release.version
                );
            }
        }
    }

    #[test]
    fn installers_have_the_names_that_nvidia_gave_them() {
        let at = |version: &str, sbsa| of(Version::parse(version).unwrap()).unwrap().installer(sbsa);
        let name = |version: &str, sbsa| at(version, sbsa).map(|i| i.file);
        assert_eq!(name("12.1.0", false).as_deref(), Some("cuda_12.1.0_530.30.02_linux.run"));
        assert_eq!(name("12.1.0", true).as_deref(), Some("cuda_12.1.0_530.30.02_linux_sbsa.run"));
        assert_eq!(name("10.0.0", false).as_deref(), Some("cuda_10.0.130_410.48_linux"));
        assert_eq!(name("10.1.2", true), None);
        assert_eq!(name("13.4.1", false), None, "no driver is named for it");
        let oldest = at("10.2.0", false).unwrap();
        assert_eq!(
            (oldest.label.as_str(), oldest.file.as_str()),
            ("10.2.89", "cuda_10.2.89_440.33.01_linux.run")
        );
        assert!(at("12.4.1", false).unwrap().sha256.unwrap().starts_with("367d2299"));
    }

    #[test]
    fn the_oldest_driver_is_that_of_the_major() {
        let driver = |version: &str| oldest_driver(Version::parse(version).unwrap());
        assert_eq!(driver("11.8.0"), Some("450.80.02"));
        assert_eq!(driver("12.9.1"), Some("525.60.13"));
        assert_eq!(driver("13.5.0"), Some("580"));
        assert_eq!(driver("10.2.0"), Some("440.33.01"));
        assert_eq!(driver("14.0.0"), None);
    }

    #[test]
    fn the_manifests_of_the_table_are_those_that_nvidia_made() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/manifests");
        if !folder.is_dir() {
            eprintln!("skipped: NVIDIA's own manifests, which are not at {}", folder.display());
            return;
        }
        for release in all().iter().filter(|r| r.manifest.is_some()) {
            let Ok(bytes) = std::fs::read(folder.join(format!("redistrib_{}.json", release.version))) else {
                continue;
            };
            let hash: String = sha2::Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(release.manifest.as_deref(), Some(hash.as_str()), "{}", release.version);
            let text = String::from_utf8(bytes).unwrap();
            let date = release.date.as_deref().unwrap();
            assert!(text.contains(&format!("\"release_date\": \"{date}\"")), "{}", release.version);
            let driver = release.driver.as_deref().unwrap();
            assert!(text.contains(&format!("nvidia_driver-linux-x86_64-{driver}-")), "{}", release.version);
        }
    }
}
