//! Which source serves: the one that was named, or the first that can.

use crate::failure::{Exit, Failure};
use crate::source::debian;
use crate::source::each::each;
use crate::source::nvidia;
use crate::source::plan::Plan;
use crate::source::pypi;
use crate::source::query::{Miss, Offer, Query};
use crate::source::runfile;
use crate::source::unknown;
use cudaup_core::builds::{RELEASES, is_installable};
use cudaup_core::version::Version;

/// A place that toolkits come from.
pub struct Source {
    /// Its name, as `--source` takes it.
    pub name: &'static str,
    /// What installing a request from it would load.
    pub plan: fn(&Query<'_>) -> Result<Plan, Miss>,
    /// All releases that it has for the machine, whatever the query asks for, in any order.
    pub offers: fn(&Query<'_>) -> Result<Vec<Offer>, Miss>,
}

/// The sources, in the order in which `auto` asks them.
pub const SOURCES: &[Source] = &[
    Source { name: nvidia::NAME, plan: nvidia::plan, offers: nvidia::offers },
    Source { name: pypi::NAME, plan: pypi::plan, offers: pypi::offers },
    Source { name: debian::NAME, plan: debian::plan, offers: debian::offers },
    Source { name: runfile::NAME, plan: runfile::plan, offers: runfile::offers },
];

/// The name that stands for the first source that serves.
pub const AUTO: &str = "auto";

/// What `--source` takes.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(AUTO).chain(SOURCES.iter().map(|s| s.name))
}

/// The plan of the source of that name, or of the first that has a plan.
pub fn plan(query: &Query<'_>, name: &str) -> Result<Plan, Failure> {
    if let Some(source) = SOURCES.iter().find(|s| s.name == name) {
        return (source.plan)(query).map_err(|miss| match miss.failure {
            // Another server, or another index, is reached no more than this one.
            Failure { exit: Exit::Network, message, .. } if query.reach.client.offline() => {
                Failure::new(Exit::Network, message).hint(a_copy(query))
            }
            failure => failure,
        });
    }
    let mut misses = Vec::new();
    for source in SOURCES {
        match (source.plan)(query) {
            Ok(plan) => {
                return Ok(Plan { passed: misses.iter().map(said).collect(), ..plan });
            }
            Err(miss) => misses.push((source.name, miss)),
        }
    }
    Err(none(query, misses))
}

/// How a toolkit comes in without a network.
fn a_copy(query: &Query<'_>) -> String {
    let version = query.request.map_or_else(|| "VERSION".to_owned(), |version| version.to_string());
    format!("cudaup install {version} --from FILE_OR_DIRECTORY")
}

fn said((name, miss): &(&str, Miss)) -> String {
    format!("{name} ({})", miss.words)
}

/// The failure where no source serves. Of a version that nobody knows, the source that looked says most.
fn none(query: &Query<'_>, misses: Vec<(&str, Miss)>) -> Failure {
    let request = query.request;
    let unreached = misses.iter().any(|(_, miss)| miss.failure.exit == Exit::Network);
    let known = request.is_none_or(|wanted| RELEASES.iter().any(|r| wanted.accepts(r.version)));
    // What comes after the newest that is known may be there by now, within reason.
    let newer =
        request.is_some_and(|wanted| RELEASES.iter().all(|r| r.version < wanted) && is_installable(wanted));
    if let (false, Some(wanted)) = (known || (newer && unreached), request) {
        // All that is to be had here, and not just what the first one has.
        let offered = each(SOURCES, |source| (source.offers)(query).unwrap_or_default());
        let offered: Vec<Version> = offered.into_iter().flatten().map(|offer| offer.version).collect();
        return unknown::refuse(wanted, &offered);
    }
    let names: Vec<&str> = query.wish.components.iter().map(|component| component.name).collect();
    let with = if names.is_empty() { String::new() } else { format!(" with {}", names.join(", ")) };
    let what = request.map_or_else(|| "a toolkit".to_owned(), |version| version.to_string()) + &with;
    let why: Vec<String> = misses.iter().map(said).collect();
    let exit = if unreached { Exit::Network } else { Exit::NoVersion };
    let failure = Failure::new(exit, format!("no source has {what} here: {}", why.join(", ")));
    if query.reach.client.offline() {
        return failure.hint(a_copy(query));
    }
    // Where the release is to be had without a part, another release is no way out.
    let lacks = misses.iter().any(|(_, miss)| miss.lacks);
    let helps = |(_, miss): &(&str, Miss)| !lacks || miss.lacks || miss.failure.exit == Exit::Network;
    let mut tries: Vec<String> =
        misses.into_iter().filter(helps).flat_map(|(_, miss)| miss.failure.tries).collect();
    let mut seen = std::collections::HashSet::new();
    tries.retain(|next| seen.insert(next.clone()));
    tries.into_iter().take(3).fold(failure, Failure::hint)
}
