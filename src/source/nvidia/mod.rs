//! NVIDIA's redistributable archives: every toolkit since 11.4.2, with a manifest for each. What a release is made of, and
//! under which hashes, stands in its manifest alone; nothing is concluded from names.

mod choose;
pub mod manifest;
mod page;
mod server;

pub use server::unreached;

#[cfg(test)]
pub mod fake;
#[cfg(test)]
mod tests;

use crate::compat::releases;
use crate::failure::{Exit, Failure};
use crate::source::each::each;
use crate::source::plan::Plan;
use crate::source::profile::{Profile, Wish};
use crate::source::query::{Miss, Offer, Query};
use crate::source::unknown;
use cudaup_core::builds::RELEASES;
use cudaup_core::version::Version;
use server::{Found, Listed, NotFound, Server};

/// The source's name.
pub const NAME: &str = "nvidia";

/// So many manifests are asked for before a request is given up: those of one release, and some more.
const TRIES: usize = 5;

/// What installing a request would load.
pub fn plan(query: &Query<'_>) -> Result<Plan, Miss> {
    let server = Server::of(query);
    if let Some(asked) = query.request.filter(|r| before_the_first(*r)) {
        return Err(too_old(asked));
    }
    let exact = query.request.filter(Version::is_exact);
    let Listed { versions: listed, unread } =
        if exact.is_some() { Listed::default() } else { server.versions()? };
    let candidates: Vec<Version> = match (exact, &listed) {
        (Some(exact), _) => vec![exact],
        (None, listed) => fitting(listed.as_deref(), query.request),
    };
    let unlisted = |why| {
        let list = crate::net::shown(&server.list());
        format!(
            "the list of releases at {list} could not be read ({why}): only releases known to this cudaup are tried"
        )
    };
    let mut notes: Vec<String> = unread.map(unlisted).into_iter().collect();
    let mut refused = None;
    for version in candidates.into_iter().take(TRIES) {
        match server.manifest(version) {
            Ok(found) => match planned(query, &server, version, &found) {
                Ok(plan) => return Ok(Plan { notes: [notes, plan.notes].concat(), ..plan }),
                Err(miss) => refused = refused.or(Some(miss)),
            },
            Err(NotFound::Miss(miss)) => return Err(miss),
            Err(NotFound::Stub) => refused = refused.or_else(|| Some(stub(version))),
            Err(NotFound::Absent) if listed.is_some() => {
                notes.push(format!(
                    "{} lists {version}, but has no redistrib_{version}.json yet (status 404; mirrors lag)",
                    server.shown()
                ));
            }
            Err(NotFound::Absent) => {}
        }
    }
    if let Some(miss) = refused {
        return Err(miss);
    }
    let listed = match (exact, listed) {
        (Some(_), _) => server.versions()?.versions,
        (None, listed) => listed,
    };
    match listed {
        Some(listed) => Err(none(&server, query.request, &listed)),
        // Exact names were tried; a request that leaves the choice cannot be answered without a list.
        None if exact.is_none() => Err(listless(&server, query.request)),
        None => Err(none(&server, query.request, &[])),
    }
}

/// Whether NVIDIA's server, or the one in its place, answers at all.
pub fn answers(query: &Query<'_>) -> Result<(), Miss> {
    Server::of(query).versions().map(drop)
}

/// Whether the server is NVIDIA's own.
pub fn is_nvidias(query: &Query<'_>) -> bool {
    Server::of(query).is_nvidias()
}

/// All releases with a compiler for the machine. Manifests that were seen before are not asked for again.
pub fn offers(query: &Query<'_>) -> Result<Vec<Offer>, Miss> {
    let server = Server::of(query);
    let listed = server.versions()?.versions;
    let candidates = fitting(listed.as_deref(), None);
    let found = each(&candidates, |version| {
        server.remembered(*version).map_or_else(|| server.manifest(*version), Ok)
    });
    let mut offers = Vec::new();
    for (version, found) in candidates.into_iter().zip(found) {
        match found {
            Ok(found) => offers.extend(offer(query, version, &found)),
            // It is there by all that is known; only how large it is cannot be said.
            Err(NotFound::Miss(_)) if listed.is_some() => {
                offers.push(Offer { version, date: None, minimal: None, default: None });
            }
            Err(NotFound::Miss(miss)) => return Err(miss),
            Err(NotFound::Absent | NotFound::Stub) => {}
        }
    }
    Ok(offers)
}

fn offer(query: &Query<'_>, version: Version, found: &Found) -> Option<Offer> {
    let size = |profile| {
        let choice = choose::choose(found, version, &Wish::of(profile), query.platform).ok()?;
        Some(choice.parts.iter().map(|p| p.size).fold(0, u64::saturating_add))
    };
    let minimal = size(Profile::Minimal);
    minimal.is_some().then(|| Offer {
        version,
        date: found.manifest.date.clone(),
        minimal,
        default: size(Profile::Default),
    })
}

fn planned(query: &Query<'_>, server: &Server<'_>, version: Version, found: &Found) -> Result<Plan, Miss> {
    let choice = choose::choose(found, version, query.wish, query.platform)?;
    let mut notes = Vec::new();
    if found.changed {
        notes.push(format!("the manifest of {version} is another one than was seen here before"));
    }
    let pinned = releases::of(version).and_then(|r| r.manifest.as_deref());
    if server.is_nvidias() && pinned.is_some_and(|pinned| pinned != found.sha256) {
        notes.push(format!(
            "warning: the manifest of {version} is not the one that is known (sha256 {}, known is {}): NVIDIA has remade \
             some; each file is checked against the one that came",
            found.sha256,
            pinned.unwrap_or_default()
        ));
    }
    if releases::is_preview(version) {
        notes.push(format!("{version} is not a finished release"));
    }
    Ok(Plan {
        version,
        platform: query.platform,
        source: NAME,
        profile: query.wish.profile,
        parts: choice.parts,
        missing: choice.missing,
        notes,
        passed: Vec::new(),
    })
}

/// The releases that a request may mean, newest first: of those that the server lists, or where it has no list of those
/// that are known. A preview is meant only by its exact version.
fn fitting(listed: Option<&[Version]>, request: Option<Version>) -> Vec<Version> {
    let known = || RELEASES.iter().rev().map(|r| r.version).filter(|v| *v >= page::FIRST).collect();
    let all: Vec<Version> = listed.map_or_else(known, <[Version]>::to_vec);
    all.into_iter().filter(|v| request.is_none_or(|r| r.accepts(*v)) && !releases::is_preview(*v)).collect()
}

/// Whether all that a request can mean came before there were manifests.
fn before_the_first(asked: Version) -> bool {
    let highest = Version {
        major: asked.major,
        minor: asked.minor.or(Some(u32::MAX)),
        update: asked.update.or(Some(u32::MAX)),
    };
    highest < page::FIRST
}

fn too_old(asked: Version) -> Miss {
    let first = page::FIRST;
    let exists = RELEASES.iter().any(|r| asked.accepts(r.version));
    let failure = if exists {
        let message = format!("NVIDIA has archives from {first} on, and none of CUDA {asked}");
        Failure::new(Exit::NoVersion, message)
            .hint(format!("cudaup install {asked} --from cuda_{asked}..._linux.run   (NVIDIA's installer)"))
            .hint("cudaup link NAME DIRECTORY   (one that is on a disk already)")
    } else {
        unknown::refuse(asked, &[])
    };
    Miss::new(format!("has none before {first}"), failure)
}

fn stub(version: Version) -> Miss {
    let message = format!("NVIDIA's list of {version} has parts of the driver only");
    Miss::new("has only parts of the driver", Failure::new(Exit::NoVersion, message))
}

/// The refusal where the server says nowhere what it has.
fn listless(server: &Server<'_>, request: Option<Version>) -> Miss {
    let what = request.map_or_else(String::new, |asked| format!(", and no {asked} was found by its name"));
    let message = format!("{} lists no releases{what}", crate::net::shown(&server.list()));
    let failure = Failure::new(Exit::Network, message)
        .hint("open that address: a list of redistrib_X.Y.Z.json has to be there")
        .hint("cudaup install X.Y.Z   (an exact version needs no list)");
    Miss::new("lists no releases", failure)
}

/// The refusal of a request that no manifest meets.
fn none(server: &Server<'_>, request: Option<Version>, listed: &[Version]) -> Miss {
    let shown = server.shown();
    let Some(asked) = request else { return listless(server, request) };
    if listed.iter().any(|v| asked.accepts(*v)) {
        let message = format!(
            "{shown} lists {asked}, but has no redistrib_{asked}*.json yet (status 404; mirrors lag)"
        );
        let failure = Failure::new(Exit::Network, message).hint("run the same command again later");
        return Miss::new("lists it, but does not have it yet", failure);
    }
    if RELEASES.iter().any(|r| asked.accepts(r.version)) {
        let message = format!("{shown} does not have CUDA {asked}");
        return Miss::new("does not have it", Failure::new(Exit::NoVersion, message));
    }
    Miss::new("does not have it", unknown::refuse(asked, listed))
}
