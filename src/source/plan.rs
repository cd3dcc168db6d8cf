//! What an install will load and where it goes: the one form in which every source answers.

use crate::disk::digest::sha256;
use crate::source::component;
use crate::source::profile::Profile;
use cudaup_core::version::Version;
use std::path::PathBuf;

/// A machine that NVIDIA builds toolkits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// 64-bit Intel and AMD.
    LinuxX86_64,
    /// 64-bit Arm servers.
    LinuxSbsa,
    /// NVIDIA's Tegra boards (Jetson), which have toolkits of their own up to 12.9.
    LinuxAarch64,
}

impl Platform {
    /// All of them, for what is typed.
    pub const ALL: [Self; 3] = [Self::LinuxX86_64, Self::LinuxSbsa, Self::LinuxAarch64];

    /// NVIDIA's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LinuxX86_64 => "linux-x86_64",
            Self::LinuxSbsa => "linux-sbsa",
            Self::LinuxAarch64 => "linux-aarch64",
        }
    }

    /// Reads NVIDIA's name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == text)
    }

    /// The machine that this program was built for, which is the machine that it installs for.
    pub const fn here() -> Option<Self> {
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            Some(Self::LinuxX86_64)
        } else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
            Some(Self::LinuxSbsa)
        } else {
            None
        }
    }

    /// The directory below `targets` of a toolkit.
    pub const fn target(self) -> &'static str {
        match self {
            Self::LinuxX86_64 => "x86_64-linux",
            Self::LinuxSbsa => "sbsa-linux",
            Self::LinuxAarch64 => "aarch64-linux",
        }
    }

    /// The processor as the kernel and Python name it.
    pub const fn machine(self) -> &'static str {
        match self {
            Self::LinuxX86_64 => "x86_64",
            Self::LinuxSbsa | Self::LinuxAarch64 => "aarch64",
        }
    }
}

/// The name of a part that is a whole toolkit by itself.
pub const WHOLE: &str = "toolkit";

/// Everything that an install loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The toolkit's exact version.
    pub version: Version,
    /// The machine that the parts are built for.
    pub platform: Platform,
    /// The source's name, as `--source` takes it.
    pub source: &'static str,
    /// How much of the toolkit was asked for.
    pub profile: Profile,
    /// The parts, in the order in which they are merged.
    pub parts: Vec<Part>,
    /// Components that were asked for and that the source does not have for this version.
    pub missing: Vec<String>,
    /// What a user should know about this plan, each a sentence without a full stop.
    pub notes: Vec<String>,
    /// The sources that come before this one and do not serve, each with why, as `nvidia (name not found)`.
    pub passed: Vec<String>,
}

impl Plan {
    /// The bytes to load: what lies on this machine is not.
    pub fn size(&self) -> u64 {
        self.parts.iter().filter(|p| p.local.is_none()).map(|p| p.size).fold(0, u64::saturating_add)
    }

    /// Whether it is one toolkit as somebody else put it together.
    pub fn is_whole(&self) -> bool {
        self.parts.iter().any(|p| p.name == WHOLE)
    }

    /// The bytes that the toolkit will take on disk, as well as the source knows.
    pub fn unpacked(&self) -> u64 {
        self.parts.iter().map(|part| self.on_disk(part)).fold(0, u64::saturating_add)
    }

    /// An archive that holds far more than is wanted of it becomes as much as that usually is of such archives.
    fn on_disk(&self, part: &Part) -> u64 {
        match (part.name == WHOLE && part.unpacked.is_none(), self.profile) {
            (true, Profile::Minimal) => part.size / 6,
            (true, Profile::Default | Profile::Chosen) => part.size.saturating_mul(2),
            _ => part.on_disk(),
        }
    }

    /// The version of a component.
    pub fn component(&self, name: &str) -> Option<&str> {
        self.parts.iter().find(|p| p.name == name).map(|p| p.version.as_str())
    }
}

/// One archive of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The component in NVIDIA's own words, such as `cuda_nvcc`.
    pub name: String,
    /// The component's version, which is not the toolkit's.
    pub version: String,
    /// Where the archive is loaded from; may hold a password and is never printed as it is.
    pub url: String,
    /// The archive, where it lies on this machine already; it is not loaded, and never removed.
    pub local: Option<PathBuf>,
    /// The archive's file name.
    pub file: String,
    /// The archive's hash in lower-case hexadecimal.
    pub sha256: String,
    /// The bytes to load; 0 where the source does not say.
    pub size: u64,
    /// The bytes on disk, where the source says; an archive that holds more is refused.
    pub unpacked: Option<u64>,
    /// Where the members go.
    pub placement: Placement,
}

impl Part {
    /// The bytes on disk: what the source says, else what such archives become by experience.
    pub fn on_disk(&self) -> u64 {
        let guess = || match component::named(&self.name) {
            Some(known) => known.unpacked(self.size),
            None => self.size.saturating_mul(3),
        };
        self.unpacked.unwrap_or_else(guess)
    }

    /// The name under which the archive is loaded.
    pub fn loaded_as(&self) -> String {
        loaded_as(&self.file, &self.url, &self.sha256)
    }

    /// The address without what must not be written down: user, password, and the key of a signed address.
    pub fn public_url(&self) -> String {
        match &self.local {
            Some(path) => path.to_string_lossy().into_owned(),
            None => crate::net::shown(&self.url),
        }
    }
}

/// The name under which a file is loaded. Two addresses can end in one name: where no hash tells their files apart, a piece
/// of the address's does.
pub fn loaded_as(file: &str, url: &str, hash: &str) -> String {
    if !hash.is_empty() {
        return file.to_owned();
    }
    let mark: String = sha256(url.as_bytes()).chars().take(12).collect();
    format!("{mark}-{file}")
}

/// Where the members of an archive go in the toolkit's tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// How many directories are taken off the front of each name before the rules are asked.
    pub strip: usize,
    /// The rules; the first whose prefix fits decides, and a member that none fits is dropped.
    pub rules: Vec<Rule>,
}

/// What happens to the members whose names begin in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The beginning of the name in the archive.
    pub from: String,
    /// What stands there instead in the tree; `None`: dropped.
    pub to: Option<String>,
}

impl Placement {
    /// Where a member goes, relative to the toolkit's root; `None`: nowhere.
    pub fn place(&self, member: &str) -> Option<String> {
        let member = (0..self.strip).try_fold(member, |rest, _| Some(rest.split_once('/')?.1))?;
        let (rule, rest) = self.rules.iter().find_map(|r| Some((r, member.strip_prefix(&r.from)?)))?;
        rule.to.as_ref().map(|to| format!("{to}{rest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_what_a_server_claims_do_not_wrap() {
        let part = Part {
            name: "x".into(),
            version: "1".into(),
            url: String::new(),
            local: None,
            file: "x.deb".into(),
            sha256: String::new(),
            size: 1 << 63,
            unpacked: Some(u64::MAX),
            placement: Placement::default(),
        };
        let plan = Plan {
            version: Version::exact(12, 4, 1),
            platform: Platform::LinuxX86_64,
            source: "debian",
            profile: Profile::Minimal,
            parts: vec![part; 4],
            missing: Vec::new(),
            notes: Vec::new(),
            passed: Vec::new(),
        };
        assert_eq!((plan.size(), plan.unpacked()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rule = |from: &str, to: Option<&str>| Rule { from: from.into(), to: to.map(Into::into) };
        let placement = Placement {
            strip: 0,
            rules: vec![rule("a/b/c", None), rule("a/b/", Some("x/")), rule("a/", Some("y/"))],
        };
        assert_eq!(placement.place("a/b/d"), Some("x/d".into()));
        assert_eq!(placement.place("a/bd"), Some("y/bd".into()));
        assert_eq!(placement.place("a/b/c/d"), None);
        assert_eq!(placement.place("b/a"), None);
        let placement = Placement { strip: 1, ..placement };
        assert_eq!(placement.place("top/a/b/d"), Some("x/d".into()));
        assert_eq!(placement.place("top"), None);
    }
}
