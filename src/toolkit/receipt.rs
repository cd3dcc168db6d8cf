//! `receipt.json`: what cudaup installed in a toolkit, from where, and whether it was proved.
//!
//! It marks what uninstall, add and lock may touch; choosing a toolkit never opens it.

use crate::disk::record;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What was installed. A field that an older cudaup did not write has its empty value; one that a newer one wrote is
/// passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    /// The version of the cudaup that wrote it.
    pub cudaup: String,
    /// The toolkit's exact version.
    pub version: String,
    /// The source it came from, such as `pypi`.
    pub source: String,
    /// The profile it was installed with, such as `minimal`.
    pub profile: String,
    /// The platform it is for, such as `x86_64-linux`.
    pub platform: String,
    /// When it was installed, in seconds since 1970.
    pub installed_at: u64,
    /// The parts it was put together from.
    pub parts: Vec<Part>,
    /// Parts that were wanted and that the source did not have.
    pub missing: Vec<String>,
    /// Files and links that came from no part: what mending made. Relative to the toolkit.
    pub made: Vec<String>,
    /// What it takes on disk.
    pub bytes: u64,
    /// Whether it was seen to work.
    pub proof: Proof,
    /// Where the licence is that the user was told of.
    pub eula: String,
}

/// One downloaded part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// The component, such as `cuda_nvcc`.
    pub name: String,
    /// The component's version, such as `13.0.88`.
    pub version: String,
    /// The address it was loaded from.
    pub url: String,
    /// The hash of the loaded file, in lower-case hex.
    pub sha256: String,
    /// The size of the loaded file.
    pub size: u64,
    /// The files it put into the toolkit, relative to it.
    pub files: Vec<String>,
}

/// Whether the toolkit compiled and linked a program when it was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Proof {
    /// It did.
    Proved {
        /// With this host compiler, such as `g++ 12.2.0`.
        compiler: String,
    },
    /// It could not be tried, for a cause outside the toolkit or by the user's wish.
    Unproved {
        /// The cause.
        reason: String,
        /// What to do about it; empty where nothing is needed.
        remedy: String,
    },
}

impl Default for Proof {
    fn default() -> Self {
        Self::Unproved { reason: "the receipt does not say".to_owned(), remedy: String::new() }
    }
}

impl Receipt {
    /// The receipt of a toolkit; `None` where it has none, and so is not cudaup's to change.
    pub fn read(toolkit: &Path) -> Result<Option<Self>, Failure> {
        record::read(toolkit)
    }

    /// Writes the receipt into a toolkit.
    pub fn write(&self, toolkit: &Path) -> Result<(), Failure> {
        record::write(toolkit, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::record::RECEIPT as NAME;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn receipt() -> Receipt {
        Receipt {
            cudaup: "0.1.0".to_owned(),
            version: "13.0.2".to_owned(),
            source: "pypi".to_owned(),
            profile: "minimal".to_owned(),
            platform: "x86_64-linux".to_owned(),
            installed_at: 1_795_000_000,
            parts: vec![Part {
                name: "cuda_nvcc".to_owned(),
                version: "13.0.88".to_owned(),
                url: "https://files/nvcc.whl".to_owned(),
                sha256: "ab".repeat(32),
                size: 37_384_532,
                files: vec!["bin/nvcc".to_owned(), "bin/ptxas".to_owned()],
            }],
            missing: vec!["cuda_gdb".into()],
            made: vec!["include".to_owned()],
            bytes: 279_000_000,
            proof: Proof::Proved { compiler: "g++ 12.2.0".to_owned() },
            eula: "https://docs.nvidia.com/cuda/eula".to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_nothing_else_is_left() {
        let toolkit = tempfile::tempdir().unwrap();
        let mut receipt = receipt();
        receipt.write(toolkit.path()).unwrap();
        assert_eq!(Receipt::read(toolkit.path()).unwrap(), Some(receipt.clone()));
        receipt.proof = Proof::Unproved { reason: "no g++".to_owned(), remedy: "apt install g++".to_owned() };
        receipt.write(toolkit.path()).unwrap();
        assert_eq!(Receipt::read(toolkit.path()).unwrap(), Some(receipt));
        assert_eq!(fs::read_dir(toolkit.path()).unwrap().count(), 1);
        assert_eq!(fs::metadata(toolkit.path().join(NAME)).unwrap().permissions().mode() & 0o777, 0o644);
    }

    #[test]
    fn a_newer_and_an_older_receipt_are_understood() {
        let toolkit = tempfile::tempdir().unwrap();
        let text = r#"{"cudaup": "0.0.1", "version": "14.0.0", "moods": [1], "parts": [{"name": "x", "colour": "red"}],
                       "proof": {"state": "unproved", "reason": "r", "remedy": "m", "log": "l"}}"#;
        fs::write(toolkit.path().join(NAME), text).unwrap();
        let read = Receipt::read(toolkit.path()).unwrap().unwrap();
        assert_eq!((read.version.as_str(), read.bytes, read.parts.len()), ("14.0.0", 0, 1));
        assert_eq!(read.proof, Proof::Unproved { reason: "r".to_owned(), remedy: "m".to_owned() });
        for odd in [
            "{}",
            "[]",
            r#"{"version": "14.0.0"}"#,
            r#"{"cudaup": "1", "version": ""}"#,
            r#"["1", "14.0.0"]"#,
        ] {
            fs::write(toolkit.path().join(NAME), odd).unwrap();
            let failure = Receipt::read(toolkit.path()).unwrap_err();
            assert!(failure.message.contains("receipt.json is not a receipt: "), "{odd}: {failure}");
        }
    }

    #[test]
    fn a_tree_without_a_receipt_is_told_from_a_broken_one() {
        let toolkit = tempfile::tempdir().unwrap();
        assert_eq!(Receipt::read(toolkit.path()).unwrap(), None);
        assert_eq!(Receipt::read(&toolkit.path().join("absent")).unwrap(), None);
        fs::write(toolkit.path().join(NAME), "{\"version\": 13").unwrap();
        let failure = Receipt::read(toolkit.path()).unwrap_err();
        assert!(failure.message.contains("receipt.json is not a receipt: "), "{failure}");
        fs::remove_file(toolkit.path().join(NAME)).unwrap();
        fs::create_dir(toolkit.path().join(NAME)).unwrap();
        assert!(Receipt::read(toolkit.path()).is_err());
    }
}
