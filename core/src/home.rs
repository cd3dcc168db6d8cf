//! Where things lie in a cudaup home.

use crate::disk::Disk;
use crate::identity::{machine_of, machine_word};
use std::path::{Path, PathBuf};

/// A cudaup home, `~/.cudaup` unless `CUDAUP_HOME` says otherwise. The path is taken as given: links in it are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// The home at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The home that a program lies in, for a process that no variable tells where it is (a service of systemd has no HOME).
    pub fn around(program: &Path) -> Option<Self> {
        let folder = program.parent()?;
        let is_ours = ["bin", "shims"].iter().any(|name| folder.ends_with(name));
        folder.parent().filter(|home| is_ours && home.parent().is_some()).map(Self::new)
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Programs: `cudaup` and `cudaup-shim`.
    pub fn bin(&self) -> PathBuf {
        self.0.join("bin")
    }

    /// One small program for each of NVIDIA's tools that some toolkit has.
    pub fn shims(&self) -> PathBuf {
        self.0.join("shims")
    }

    /// Managed toolkits, named by their exact version, and links.
    pub fn toolkits(&self) -> PathBuf {
        self.0.join("toolkits")
    }

    /// One managed toolkit or link.
    pub fn toolkit(&self, name: &str) -> PathBuf {
        self.toolkits().join(name)
    }

    /// Add-ons, by the name of the library.
    pub fn addons(&self) -> PathBuf {
        self.0.join("addons")
    }

    /// The user's default, in a pin's format.
    pub fn default_file(&self) -> PathBuf {
        self.0.join("default")
    }

    /// Which machine the home's toolkits are for, in one word as `uname -m` gives it.
    pub fn machine_file(&self) -> PathBuf {
        self.0.join("machine")
    }

    /// The machine that the home is for: what is recorded, else what its own program says; `None` where neither is there.
    pub fn machine(&self, disk: &dyn Disk) -> Option<&'static str> {
        let recorded = disk.read(&self.machine_file(), 64).ok();
        let recorded = recorded.as_deref().map(<[u8]>::trim_ascii).filter(|word| !word.is_empty());
        let program = || disk.head(&self.bin().join("cudaup-shim"), 20).and_then(|head| machine_of(&head));
        recorded.map(machine_word).or_else(program)
    }

    /// Part-finished downloads and manifests.
    pub fn cache(&self) -> PathBuf {
        self.0.join("cache")
    }

    /// What is being unpacked; never visible as a toolkit.
    pub fn staging(&self) -> PathBuf {
        self.0.join("staging")
    }
}

/// The machine's default, below the user's.
pub const MACHINE_DEFAULT: &str = "/etc/cudaup/default";
