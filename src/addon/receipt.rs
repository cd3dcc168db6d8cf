//! The receipt of an add-on: what is in its directory, and from where. It marks what `remove` may touch.

use crate::disk::record;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What was installed. A field that an older cudaup did not write has its empty value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    /// The version of the cudaup that wrote it.
    pub cudaup: String,
    /// The library, such as `cudnn`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The CUDA major that it is built for.
    pub cuda: u32,
    /// The source it came from, such as `pypi`.
    pub source: String,
    /// The platform it is for, such as `x86_64-linux`.
    pub platform: String,
    /// When it was installed, in seconds since 1970.
    pub installed_at: u64,
    /// The address it was loaded from, or the file.
    pub url: String,
    /// The hash of that file in lower-case hexadecimal, where the source names one.
    pub sha256: String,
    /// The size of that file.
    pub size: u64,
    /// Its files and links, relative to its directory.
    pub files: Vec<String>,
    /// Links and files that cudaup made besides.
    pub made: Vec<String>,
    /// What it takes on disk.
    pub bytes: u64,
}

impl Receipt {
    /// The receipt in an add-on's directory; `None` where there is none.
    pub fn read(root: &Path) -> Result<Option<Self>, Failure> {
        record::read(root)
    }

    /// Writes it.
    pub fn write(&self, root: &Path) -> Result<(), Failure> {
        record::write(root, self)
    }
}
