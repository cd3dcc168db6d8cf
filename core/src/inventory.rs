//! Which toolkits there are: managed ones and links in the home, and what the machine has.

use crate::disk::{Disk, Entry};
use crate::fitness::{Broken, broken, broken_managed, unreachable};
use crate::home::Home;
use crate::identity::{Identity, Tree, identify};
use crate::origin::Origin;
use crate::version::Version;
use std::path::PathBuf;

/// The machine this program is built for, as `uname -m` spells it.
pub const MACHINE: &str = if cfg!(target_arch = "aarch64") { "aarch64" } else { "x86_64" };

/// Where a toolkit comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Installed by cudaup.
    Managed,
    /// A name given to a tree elsewhere.
    Link(String),
    /// Found on the machine.
    System,
    /// Found below a root that a default file lists.
    Shared,
}

impl Kind {
    /// One word for tables and JSON.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::Link(_) => "linked",
            Self::System => "system",
            Self::Shared => "shared",
        }
    }
}

/// One toolkit that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolkit {
    /// The tree, links resolved (a managed one: below the home as given).
    pub root: PathBuf,
    /// Where it comes from.
    pub kind: Kind,
    /// Which release it is.
    pub identity: Identity,
}

/// A place where a toolkit was looked for, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The tree, links resolved; what a link names where it does not exist.
    pub root: PathBuf,
    /// Other names of the same tree.
    pub aliases: Vec<PathBuf>,
    /// Where it comes from.
    pub kind: Kind,
    /// By what hand it came there.
    pub origin: Origin,
    /// What it is; `None` where the target of a link is gone.
    pub tree: Option<Tree>,
    /// Why it cannot serve although it is there.
    pub broken: Option<Broken>,
}

impl Found {
    fn toolkit(self) -> Option<Toolkit> {
        match self.tree {
            Some(Tree::Toolkit(identity)) if self.broken.is_none() => {
                Some(Toolkit { root: self.root, kind: self.kind, identity })
            }
            _ => None,
        }
    }
}

/// The managed toolkits that can be chosen, newest first.
pub fn managed(home: &Home, disk: &dyn Disk) -> Vec<Toolkit> {
    usable(in_home(home, disk))
}

/// All managed toolkits, newest first. Their releases are the names of their directories, which were checked when they were
/// installed; what became of them since is looked at.
pub fn in_home(home: &Home, disk: &dyn Disk) -> Vec<Found> {
    let found = |version: Version| {
        let root = home.toolkit(&version.to_string());
        Found {
            broken: broken_managed(&root, disk),
            root,
            aliases: Vec::new(),
            kind: Kind::Managed,
            origin: Origin::Home,
            tree: Some(Tree::Toolkit(Identity::certain(version))),
        }
    };
    versions(home, disk).into_iter().map(found).collect()
}

/// The newest managed toolkit that fits. Others are not looked at.
pub fn newest_managed(home: &Home, wanted: Version, disk: &dyn Disk) -> Option<Toolkit> {
    let fitting = versions(home, disk).into_iter().filter(|version| wanted.accepts(*version));
    let toolkit = |version: Version| Toolkit {
        root: home.toolkit(&version.to_string()),
        kind: Kind::Managed,
        identity: Identity::certain(version),
    };
    fitting.map(toolkit).find(|toolkit| broken_managed(&toolkit.root, disk).is_none())
}

/// What the directories of the managed toolkits are called, newest first.
pub fn versions(home: &Home, disk: &dyn Disk) -> Vec<Version> {
    let names = disk.names(&home.toolkits()).unwrap_or_default();
    let directories = names.into_iter().filter(|(_, kind)| *kind == Entry::Directory);
    // A version has one spelling, so the name of an exact one is that of its directory.
    let mut versions: Vec<Version> = directories
        .filter_map(|(name, _)| Version::parse(name.to_str()?).filter(Version::is_exact))
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions
}

/// The links in the home, by name, each with what its target is.
pub fn links(home: &Home, disk: &dyn Disk) -> Vec<Found> {
    let mut names: Vec<String> = disk
        .names(&home.toolkits())
        .unwrap_or_default()
        .into_iter()
        .filter(|(_, kind)| *kind == Entry::Link)
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| crate::request::is_link_name(name))
        .collect();
    names.sort();
    names.into_iter().map(|name| link(home, &name, disk)).collect()
}

/// One link of the home and what its target is.
pub fn link(home: &Home, name: &str, disk: &dyn Disk) -> Found {
    let path = home.toolkit(name);
    let kind = Kind::Link(name.to_owned());
    match disk.real(&path) {
        Some(root) => {
            let tree = Some(identify(&root, MACHINE, disk));
            let broken = broken(&root, disk);
            Found { root, aliases: Vec::new(), kind, origin: Origin::Home, tree, broken }
        }
        None => Found {
            broken: unreachable(&path, disk),
            root: disk.target(&path).unwrap_or(path),
            aliases: Vec::new(),
            kind,
            origin: Origin::Home,
            tree: None,
        },
    }
}

/// The tree that `/usr/local/cuda` points to.
pub fn global(disk: &dyn Disk) -> Option<PathBuf> {
    disk.real(&disk.system("/usr/local/cuda"))
}

/// The toolkits among `found` that can be chosen.
pub fn usable(found: Vec<Found>) -> Vec<Toolkit> {
    found.into_iter().filter_map(Found::toolkit).collect()
}

/// `cuda`, `cuda-12`, `cuda-12.4`, `cuda-12.4.1`.
pub fn is_toolkit_name(name: &str) -> bool {
    name == "cuda" || name.strip_prefix("cuda-").is_some_and(|v| Version::parse(v).is_some())
}
