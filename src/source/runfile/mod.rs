//! NVIDIA's own installer, for releases that have no manifest: its archive is read and never run, so that nothing is
//! written to /tmp or /var/log, and none of what it stumbles over matters.

mod placement;

#[cfg(test)]
mod tests;

pub use placement::placement;

use crate::compat::runfile::{self, Runfile};
use crate::failure::{Exit, Failure};
use crate::net::Error;
use crate::source::plan::{Part, Plan, Platform, WHOLE};
use crate::source::query::{Miss, Offer, Query};

/// The source's name.
pub const NAME: &str = "runfile";

/// The installer of that file name.
pub fn known(name: &str) -> Option<(Runfile, Platform)> {
    Platform::ALL.into_iter().find_map(|platform| {
        Some((runfile::all(platform.name()).into_iter().find(|r| r.name == name)?, platform))
    })
}

/// The releases whose installer is known by name. The table tells no dates, and a profile's size only the file itself.
pub fn offers(query: &Query<'_>) -> Result<Vec<Offer>, Miss> {
    let offer = |r: Runfile| Offer { version: r.version, date: None, minimal: None, default: None };
    Ok(runfile::all(query.platform.name()).into_iter().map(offer).collect())
}

/// What installing a request would load: the whole installer, whatever is wanted of it.
pub fn plan(query: &Query<'_>) -> Result<Plan, Miss> {
    let mut fitting = runfile::all(query.platform.name());
    fitting.retain(|r| query.request.is_none_or(|asked| asked.accepts(r.version)));
    let Some(runfile) = fitting.pop() else { return Err(unknown(query)) };
    let root = &query.reach.dist.url;
    let url = format!("{root}/compute/cuda/{}/local_installers/{}", runfile.version, runfile.name);
    // Also tells whether it is there at all.
    let size = query.reach.client.get_tail(&url, 1).map_err(not_reached)?.total;
    Ok(of(query, runfile, url, size))
}

/// The plan of an installer that is known by name, at an address or a path.
pub fn of(query: &Query<'_>, runfile: Runfile, url: String, size: u64) -> Plan {
    let part = Part {
        name: WHOLE.to_owned(),
        version: runfile.version.to_string(),
        url,
        local: None,
        file: runfile.name,
        sha256: runfile.sha256,
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

fn not_reached(error: Error) -> Miss {
    let words = match &error {
        Error::Offline { .. } => "offline",
        Error::Resolve { .. } => "name not found",
        Error::Status { code: 404, .. } => "does not have it",
        _ => "not reached",
    };
    Miss::new(words, error.into_failure())
}
