//! NVIDIA's own installer, for releases that have no manifest: its archive is read and never run, so that nothing is
//! written to /tmp or /var/log, and none of what it stumbles over matters.

mod placement;

#[cfg(test)]
mod tests;

pub use placement::placement;

use crate::archive::format::Format;
use crate::compat::releases::{self, Installer};
use crate::failure::{Exit, Failure};
use crate::net::Error;
use crate::source::nvidia;
use crate::source::plan::{Part, Plan, Platform, WHOLE};
use crate::source::query::{Miss, Offer, Query};
use cudaup_core::version::Version;

/// The source's name.
pub const NAME: &str = "runfile";

/// The first release whose installer has a directory for each component, and an address by the common rule.
const FIRST: Version = Version::exact(11, 0, 0);

/// An installer that is known by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runfile {
    /// The release that it installs.
    pub version: Version,
    /// The file, its hash, and the release's name in addresses.
    pub installer: Installer,
}

/// The installers for a machine, oldest first.
fn all(platform: Platform) -> Vec<Runfile> {
    if platform == Platform::LinuxAarch64 {
        return Vec::new();
    }
    let sbsa = platform == Platform::LinuxSbsa;
    // What is not packed by makeself has no such ending.
    let installers = releases::all().iter().filter_map(|r| Some((r.version, r.installer(sbsa)?)));
    installers
        .filter(|(_, installer)| Format::of(&installer.file) == Some(Format::Run))
        .map(|(version, installer)| Runfile { version, installer })
        .collect()
}

/// The installer of that file name, and the machine it is for.
pub fn known(name: &str) -> Option<(Runfile, Platform)> {
    let of = |platform| Some((all(platform).into_iter().find(|r| r.installer.file == name)?, platform));
    Platform::ALL.into_iter().find_map(of)
}

/// Those that can be loaded by version: with an address that is known, and a hash to check them by.
fn loadable(platform: Platform) -> impl Iterator<Item = Runfile> {
    all(platform).into_iter().filter(|r| r.version >= FIRST && r.installer.sha256.is_some())
}

/// The releases whose installer is known by name. Only the size of the whole file could be said, not of a profile.
pub fn offers(query: &Query<'_>) -> Result<Vec<Offer>, Miss> {
    // The names are known by heart; what is on a server that is not reached is not to be had all the same.
    nvidia::answers(query)?;
    if !nvidia::is_nvidias(query) {
        return Err(Miss::new("asked by version only", unknown(query).failure));
    }
    let offer = |r: Runfile| {
        let date = releases::of(r.version).and_then(|known| known.date.clone());
        Offer { version: r.version, date, minimal: None, default: None }
    };
    Ok(loadable(query.platform).map(offer).collect())
}

/// What installing a request would load: the whole installer, whatever is wanted of it.
pub fn plan(query: &Query<'_>) -> Result<Plan, Miss> {
    let means = |r: &Runfile| match query.request {
        Some(asked) => asked.accepts(r.version) && (asked.is_exact() || !releases::is_preview(r.version)),
        None => !releases::is_preview(r.version),
    };
    let Some(runfile) = loadable(query.platform).filter(means).last() else { return Err(unknown(query)) };
    let (root, installer) = (&query.reach.dist.url, &runfile.installer);
    let url = format!("{root}/compute/cuda/{}/local_installers/{}", installer.label, installer.file);
    // Also tells whether it is there at all.
    let size = query.reach.client.length(&url).map_err(|e| match e {
        Error::Status { code: 404, .. } => {
            let failure = e.into_failure();
            Miss::new("does not have it", Failure { exit: Exit::NoVersion, ..failure })
        }
        _ => Miss::unreached(e),
    })?;
    Ok(of(query, runfile, url, size.unwrap_or(0)))
}

/// The plan of an installer that is known by name, at an address or a path.
pub fn of(query: &Query<'_>, runfile: Runfile, url: String, size: u64) -> Plan {
    let part = Part {
        name: WHOLE.to_owned(),
        version: runfile.version.to_string(),
        url,
        local: None,
        file: runfile.installer.file,
        sha256: runfile.installer.sha256.unwrap_or_default(),
        size,
        unpacked: None,
        placement: placement(query.wish, runfile.version, query.platform),
    };
    Plan {
        version: runfile.version,
        platform: query.platform,
        source: NAME,
        profile: query.wish.profile,
        parts: vec![part],
        missing: Vec::new(),
        notes: Vec::new(),
        passed: Vec::new(),
    }
}

fn unknown(query: &Query<'_>) -> Miss {
    let asked = query.request.map_or_else(|| "any release".to_owned(), |asked| asked.to_string());
    let message =
        format!("NVIDIA's installer of CUDA {asked} for {} is not known by name", query.platform.name());
    let failure = Failure::new(Exit::NoVersion, message).hint(format!(
        "cudaup install {asked} --from cuda_..._linux.run   (if you have the file or its address)"
    ));
    Miss::new("does not know it", failure)
}
