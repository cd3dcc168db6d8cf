//! How much the releases are to load, for lists: the metadata of each, and one list of files for each project of all.

use super::ask::Index;
use super::choose;
use super::metadata::{self, Pin};
use crate::source::component;
use crate::source::each::each;
use crate::source::index::Listed;
use crate::source::plan::Platform;
use crate::source::profile::{Profile, Wish, select};
use crate::source::query::Offer;
use cudaup_core::version::Version;
use std::collections::BTreeMap;

/// The releases as offers, in their order. What cannot be found out of one is left open: it is there all the same.
pub fn offers(index: Index<'_>, releases: &[choose::Offer<'_>], platform: Platform) -> Vec<Offer> {
    let pins = each(releases, |release| {
        let text = index.metadata(release.file).ok()?;
        metadata::pins(&text, platform).ok()
    });
    let mut projects: Vec<&str> = pins.iter().flatten().flatten().map(|p| p.project.as_str()).collect();
    projects.sort_unstable();
    projects.dedup();
    let lists = each(&projects, |project| index.files(project).ok().map(Option::unwrap_or_default));
    let files: BTreeMap<&str, Vec<Listed>> =
        projects.into_iter().zip(lists).filter_map(|(project, list)| Some((project, list?))).collect();
    let sizes = |version: Version, pins: &Option<Vec<Pin>>, profile: Profile| {
        size(pins.as_ref()?, &files, &Wish::of(profile), version, platform)
    };
    let offer = |(release, pins): (&choose::Offer<'_>, &Option<Vec<Pin>>)| Offer {
        version: release.version,
        date: None,
        minimal: sizes(release.version, pins, Profile::Minimal),
        default: sizes(release.version, pins, Profile::Default),
    };
    releases.iter().zip(&pins).map(offer).collect()
}

/// The bytes of a wish; `None` where the index is silent about one of its files.
fn size(
    pins: &[Pin],
    files: &BTreeMap<&str, Vec<Listed>>,
    wish: &Wish,
    version: Version,
    platform: Platform,
) -> Option<u64> {
    let selection = select(wish, version);
    let wanted = pins
        .iter()
        .filter(|p| selection.has(component::of_wheel(&p.project).map_or(p.project.as_str(), |c| c.name)));
    let mut sum: u64 = 0;
    for pin in wanted {
        let listed = files.get(pin.project.as_str())?;
        if let Some((file, _)) = choose::wheel(listed, pin, platform) {
            sum = sum.saturating_add(file.size?);
        }
    }
    Some(sum)
}
