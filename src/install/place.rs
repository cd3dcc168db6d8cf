//! Where a toolkit goes: into the home, or under `/usr/local` for all users of the machine.

use crate::disk::access::{self, Access};
use crate::disk::record::RECEIPT;
use crate::failure::Failure;
use crate::install::apply::Site;
use crate::install::look::{self, Facts};
use crate::source::profile::Wish;
use crate::toolkit::receipt::Receipt;
use cudaup_core::identity::{Identity, Tree, identify};
use cudaup_core::inventory::{Kind, MACHINE, Toolkit};
use cudaup_core::version::Version;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory that holds the machine's toolkits.
pub const SYSTEM: &str = "/usr/local";

/// Beside them, so that the last step is a rename, and hidden.
const STAGING: &str = "/usr/local/.cudaup-staging";

/// Where a toolkit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `toolkits/12.4.1` in the home.
    Home,
    /// `/usr/local/cuda-12.4`.
    System,
}

impl Place {
    /// The directory of a release.
    pub fn target(self, site: &Site<'_>, version: Version) -> PathBuf {
        match self {
            Self::Home => site.home.toolkit(&version.to_string()),
            Self::System => {
                let release = Version { update: None, ..version };
                site.host.system(&format!("{SYSTEM}/cuda-{release}"))
            }
        }
    }

    /// What a command needs for it, with the blank that follows.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Home => "",
            Self::System => "--system ",
        }
    }

    /// The directory of all of them.
    pub fn folder(self, site: &Site<'_>) -> PathBuf {
        match self {
            Self::Home => site.home.toolkits(),
            Self::System => site.host.system(SYSTEM),
        }
    }

    /// Where one is put together.
    pub fn staging(self, site: &Site<'_>) -> PathBuf {
        match self {
            Self::Home => site.home.staging(),
            Self::System => site.host.system(STAGING),
        }
    }

    /// Whether this process may write there.
    pub fn access(self, site: &Site<'_>) -> Access {
        access::to(&self.folder(site))
    }

    /// Leaves nothing behind in a directory that is not cudaup's own.
    pub fn tidy(self, site: &Site<'_>) {
        if self == Self::System {
            // Another install that is at work in it keeps it from going.
            let _ = fs::remove_dir(self.staging(site));
        }
    }

    /// A failure for want of room, without the way out that is none here: another home.
    pub fn failure(self, failure: Failure) -> Failure {
        let leads_out = |advice: &String| self == Self::Home || !advice.starts_with("CUDAUP_HOME=");
        let tries = failure.tries.into_iter().filter(leads_out).collect();
        Failure { tries, ..failure }
    }

    /// The facts for an install of this version. What is in the way of one for all users is an error.
    pub fn look(self, site: &Site<'_>, roots: &[PathBuf], wanted: Option<Version>) -> Result<Facts, Failure> {
        let facts = look::look(site.host, site.home, roots, site.disk, wanted);
        if self == Self::Home {
            return Ok(facts);
        }
        access::inside(site.host, SYSTEM)?;
        let there = wanted.filter(|v| v.minor.is_some()).map(|wanted| occupied(site, wanted)).transpose()?;
        let (present, receipt) = there.flatten().unzip();
        // What the home holds is no matter here; only what is loaded passes through it.
        Ok(Facts { present, receipt, recorded: None, ..facts })
    }
}

/// Files and links in a toolkit that its receipt knows nothing of: what packages, or people, have put into it since. Sorted.
pub fn added(root: &Path, receipt: &Receipt) -> Result<Vec<String>, Failure> {
    let parts = receipt.parts.iter().flat_map(|part| &part.files);
    let known: BTreeSet<&str> = parts.chain(&receipt.made).map(String::as_str).chain([RECEIPT]).collect();
    let (mut added, mut left) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(directory) = left.pop() {
        let failed = |e: &std::io::Error| Failure::io("read", &directory, e);
        for entry in fs::read_dir(&directory).map_err(|e| failed(&e))? {
            let entry = entry.map_err(|e| failed(&e))?;
            let path = entry.path();
            if entry.file_type().map_err(|e| failed(&e))?.is_dir() {
                left.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            added.extend(Some(name).filter(|name| !known.contains(name.as_str())));
        }
    }
    added.sort();
    Ok(added)
}

/// Some of them by name, and how many more there are.
pub fn shown(added: &[String]) -> String {
    const SHOWN: usize = 5;
    let named = added.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match added.len().saturating_sub(SHOWN) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Refuses to make a toolkit anew where files would be lost that others have put into it. `wish` is all that it
/// is to hold then.
pub fn loses_nothing(place: Place, root: &Path, receipt: &Receipt, wish: &Wish) -> Result<(), Failure> {
    let added = added(root, receipt)?;
    if added.is_empty() {
        return Ok(());
    }
    let what = format!(
        "{} would be made anew, and has files that cudaup did not put there, which would be lost: {}",
        root.display(),
        shown(&added)
    );
    let version = &receipt.version;
    let of = place.option();
    Err(Failure::failed(what).hint(format!(
        "cudaup uninstall {of}--force {version} && cudaup install {of}{version}{}",
        wish.options()
    )))
}

/// What cudaup has put into the place of this version.
fn occupied(site: &Site<'_>, wanted: Version) -> Result<Option<(Toolkit, Receipt)>, Failure> {
    let root = Place::System.target(site, wanted);
    let shown = root.display();
    let Ok(found) = fs::symlink_metadata(&root) else { return Ok(None) };
    let left_alone =
        |what: &str| Failure::failed(format!("{shown} is there already and is left alone: {what}"));
    if !found.is_dir() {
        let what = if found.is_symlink() { "it is a link" } else { "it is no directory" };
        let place = shell_words::quote(&root.to_string_lossy()).into_owned();
        return Err(left_alone(what)
            .hint(format!("sudo mv -T {place} {place}.old && {}", crate::failure::SAME))
            .hint(format!("cudaup install {wanted}")));
    }
    let Some(receipt) = Receipt::read(&root)? else {
        let what = match identify(&root, MACHINE, site.disk) {
            Tree::Toolkit(identity) => format!(
                "it is CUDA {identity}, which cudaup did not put there (use that one, or install one of your own)"
            ),
            _ => format!("cudaup did not put it there (it has no {RECEIPT})"),
        };
        return Err(left_alone(&what)
            .hint(format!("cudaup use {wanted}"))
            .hint(format!("cudaup install {wanted}")));
    };
    let version = Version::parse(&receipt.version).filter(Version::is_exact).ok_or_else(|| {
        left_alone(&format!("its {RECEIPT} names no version")).hint(format!("cudaup install {wanted}"))
    })?;
    if !wanted.accepts(version) {
        return Err(left_alone(&format!(
            "it is CUDA {version}, and there is one place for both (one of your own can lie beside it)"
        ))
        .hint(format!("cudaup uninstall --system {version} && cudaup install --system {wanted}"))
        .hint(format!("cudaup install {wanted}")));
    }
    let identity = Identity::certain(version);
    // To the decision it is what a managed one is in a home.
    Ok(Some((Toolkit { root, kind: Kind::Managed, identity }, receipt)))
}
