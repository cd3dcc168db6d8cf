//! NVIDIA's wheels on PyPI, or on an index that mirrors it. Which wheels make up a release stands in the project
//! `cuda-toolkit`; what its extra `all` pins is taken as it stands. Resolving the dependencies of the wheels themselves
//! gives a broken mix for several releases.

mod ask;
mod choose;
mod marker;
mod metadata;
mod placement;
mod sizes;
mod spelling;

#[cfg(test)]
pub mod fake;
#[cfg(test)]
mod tests;

pub use ask::Index;
pub use choose::wheel;
pub use metadata::Pin;
pub use spelling::{Build, WheelName};

use crate::failure::{Exit, Failure};
use crate::source::component;
use crate::source::index::Listed;
use crate::source::plan::{Part, Plan, Platform};
use crate::source::profile::{Wish, select};
use crate::source::query::{Miss, Offer, Query};
use choose::FIRST_WHOLE;
use cudaup_core::version::Version;

/// The source's name.
pub const NAME: &str = "pypi";

/// The project that describes the releases.
const TOOLKIT: &str = "cuda-toolkit";

/// The wheels for aarch64 are for servers.
fn served(platform: Platform) -> Result<(), Miss> {
    if platform != Platform::LinuxAarch64 {
        return Ok(());
    }
    let failure = Failure::new(Exit::NoVersion, "PyPI has no toolkit for Jetson boards (linux-aarch64)");
    Err(Miss::new("has none for linux-aarch64", failure))
}

/// The releases with a whole compiler. The index tells no dates.
pub fn offers(query: &Query<'_>) -> Result<Vec<Offer>, Miss> {
    served(query.platform)?;
    let index = Index { client: &query.reach.client, indexes: &query.reach.indexes };
    let words = if query.reach.client.offline() { "offline" } else { "not reached" };
    let files = toolkit_files(index).map_err(|failure| Miss::new(words, failure))?;
    let whole = choose::offers(&files).into_iter().filter(|o| !o.build.early() && o.version >= FIRST_WHOLE);
    Ok(sizes::offers(index, &whole.collect::<Vec<_>>(), query.platform))
}

/// What installing a request would load.
pub fn plan(query: &Query<'_>) -> Result<Plan, Miss> {
    served(query.platform)?;
    let index = Index { client: &query.reach.client, indexes: &query.reach.indexes };
    planned(index, query.request, query.wish, query.platform).map_err(|no| {
        let failure = match no {
            No::Lacks(miss) => return miss,
            No::Failed(failure) => failure,
        };
        let words = match (&failure.exit, query.request) {
            (Exit::Network, _) if query.reach.client.offline() => "offline".to_owned(),
            (Exit::Network, _) => "not reached".to_owned(),
            (Exit::NoVersion, Some(asked)) if asked.major < 13 && query.wish.compiler() => {
                format!("has no nvcc for {}.x", asked.major)
            }
            (Exit::NoVersion, _) => "does not have it".to_owned(),
            _ => failure.message.clone(),
        };
        Miss::new(words, failure)
    })
}

/// Why there is no plan.
enum No {
    /// The release is there, without parts that it does not go without.
    Lacks(Miss),
    /// Something else.
    Failed(Failure),
}

impl From<Failure> for No {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

fn planned(index: Index<'_>, request: Option<Version>, wish: &Wish, platform: Platform) -> Result<Plan, No> {
    let files = toolkit_files(index)?;
    let offers = choose::offers(&files);
    let offer = choose::choose(&offers, request, wish.compiler())?;
    let text = index.metadata(offer.file)?;
    let pins = metadata::pins(&text, platform).map_err(|line| {
        Failure::new(Exit::BadBytes, format!("could not read the metadata of {}: {line}", offer.file.file))
    })?;
    let selection = select(wish, offer.version);
    let wanted: Vec<&Pin> = pins.iter().filter(|p| selection.has(component_name(p))).collect();
    let projects: Vec<&str> = wanted.iter().map(|p| p.project.as_str()).collect();
    let lists = index.all_files(&projects)?;

    let mut parts = Vec::new();
    let mut notes = Vec::new();
    if offer.build.early() {
        notes.push(format!("{} is not a finished release", offer.build));
    }
    for (pin, list) in wanted.iter().zip(&lists) {
        let Some((file, name)) = wheel(list.as_deref().unwrap_or_default(), pin, platform) else {
            continue;
        };
        if file.yanked {
            notes.push(format!("{} was withdrawn by NVIDIA, and there is no other", file.file));
        }
        parts.push(part(pin, file, &name, offer.version, platform)?);
    }
    let must = absent(&selection.must, &parts);
    if !must.is_empty() {
        return Err(No::Lacks(Miss::lacking(NAME, offer.version, (wish, platform), &must)));
    }
    fill_sizes(index, &mut parts);
    let missing = absent(&selection.may, &parts).into_iter().map(str::to_owned).collect();
    Ok(Plan {
        version: offer.version,
        platform,
        source: NAME,
        profile: wish.profile,
        parts,
        missing,
        notes,
        passed: Vec::new(),
    })
}

fn toolkit_files(index: Index<'_>) -> Result<Vec<Listed>, Failure> {
    index.files(TOOLKIT)?.ok_or_else(|| {
        let first = index.indexes.places.first();
        let shown = first.map_or_else(String::new, crate::settings::Place::shown);
        let failure =
            Failure::new(Exit::NoVersion, format!("the package index {shown} has no project {TOOLKIT}"));
        match first {
            Some(place) if place.origin != "default" => {
                failure.hint(format!("the index is set by {}", place.origin))
            }
            _ => failure,
        }
    })
}

fn component_name(pin: &Pin) -> &str {
    component::of_wheel(&pin.project).map_or(pin.project.as_str(), |c| c.name)
}

fn part(
    pin: &Pin,
    file: &Listed,
    name: &WheelName,
    version: Version,
    platform: Platform,
) -> Result<Part, Failure> {
    let sha256 = file.sha256.clone().ok_or_else(|| {
        let message = format!("the package index names no sha256 for {}, so it cannot be checked", file.file);
        Failure::new(Exit::BadBytes, message)
    })?;
    let component = component_name(pin);
    Ok(Part {
        name: component.to_owned(),
        version: pin.build.to_string(),
        url: file.url.clone(),
        local: None,
        file: file.file.clone(),
        sha256,
        size: file.size.unwrap_or(0),
        unpacked: None,
        placement: placement::rules(component, &pin.project, &name.records, version.major, platform),
    })
}

/// Asks the servers for the sizes that the index does not give.
fn fill_sizes(index: Index<'_>, parts: &mut [Part]) {
    let silent: Vec<usize> = parts.iter().enumerate().filter(|(_, p)| p.size == 0).map(|(i, _)| i).collect();
    let urls: Vec<&str> = silent.iter().filter_map(|i| parts.get(*i)).map(|p| p.url.as_str()).collect();
    let sizes = index.sizes(&urls);
    for (at, size) in silent.into_iter().zip(sizes) {
        if let Some(part) = parts.get_mut(at) {
            part.size = size;
        }
    }
}

/// What of these is not there.
fn absent(names: &[&'static str], parts: &[Part]) -> Vec<&'static str> {
    names.iter().copied().filter(|name| !parts.iter().any(|part| part.name == **name)).collect()
}
