//! NVIDIA's installers by name: which there are, and what each has to hash to.

use cudaup_core::version::Version;
use serde::Deserialize;

const TABLE: &str = include_str!("runfiles.toml");

/// One installer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runfile {
    /// The release that it installs.
    pub version: Version,
    /// The file's name.
    pub name: String,
    /// The file's hash, in lower-case hexadecimal.
    pub sha256: String,
}

#[derive(Deserialize)]
struct Table {
    release: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    version: String,
    driver: String,
    x86_64: Option<String>,
    sbsa: Option<String>,
}

/// The installers for a platform in NVIDIA's words (`linux-x86_64`, `linux-sbsa`), oldest first; none for any other.
pub fn all(platform: &str) -> Vec<Runfile> {
    // The table is part of the program, and a test reads it.
    let Ok(table) = toml::from_str::<Table>(TABLE) else { return Vec::new() };
    let of = |row: Row| {
        let (sha256, ending) = match platform {
            "linux-x86_64" => (row.x86_64?, ""),
            "linux-sbsa" => (row.sbsa?, "_sbsa"),
            _ => return None,
        };
        let name = format!("cuda_{}_{}_linux{ending}.run", row.version, row.driver);
        Some(Runfile { version: Version::parse(&row.version)?, name, sha256 })
    };
    let mut all: Vec<Runfile> = table.release.into_iter().filter_map(of).collect();
    all.sort_by_key(|runfile| runfile.version);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let rows = TABLE.matches("[[release]]").count();
        let x86_64 = all("linux-x86_64");
        assert_eq!(x86_64.len(), rows);
        let mut seen = std::collections::HashSet::new();
        for runfile in x86_64.iter().chain(&all("linux-sbsa")) {
            assert!(runfile.version.is_exact(), "{runfile:?}");
            assert!(runfile.sha256.len() == 64 && runfile.sha256.bytes().all(|b| b.is_ascii_hexdigit()));
            assert!(seen.insert(runfile.sha256.clone()), "{} has the hash of another", runfile.name);
        }
        assert!(all("linux-aarch64").is_empty());
    }

    #[test]
    fn names_hold_the_driver() {
        let name = |platform: &str, version: Version| {
            all(platform).into_iter().find(|r| r.version == version).map(|r| r.name)
        };
        let known = Version::exact(12, 4, 1);
        assert_eq!(name("linux-x86_64", known).as_deref(), Some("cuda_12.4.1_550.54.15_linux.run"));
        assert_eq!(name("linux-sbsa", known).as_deref(), Some("cuda_12.4.1_550.54.15_linux_sbsa.run"));
        assert_eq!(name("linux-x86_64", Version::exact(12, 8, 2)), None);
    }
}
