//! NVIDIA's redistributable archives of its libraries: a tree for each product, a manifest for each release.

use super::{AddonPlan, Wanted, absent, archive_placement};
use crate::compat::addons;
use crate::failure::{Exit, Failure};
use crate::net::Error;
use crate::source::nvidia::manifest::{Archive, LIMIT, Manifest, address};
use crate::source::nvidia::unreached;
use crate::source::plan::Part;
use crate::source::query::Miss;
use cudaup_core::addon::Number;

/// The source's name.
pub const NAME: &str = "nvidia";

/// A list of releases of more bytes than this is none.
const LIST: u64 = 4 << 20;

/// The newest release that has an archive for the CUDA major and the machine. What the index page lists and the server
/// does not have (mirrors lag) is passed over and said.
pub fn plan(wanted: &Wanted<'_>) -> Result<AddonPlan, Miss> {
    let tree = format!("{}/compute/{}/redist", wanted.reach.dist.url, wanted.origin.tree);
    let failed = |error: Error| unreached(&wanted.reach.dist, error);
    let page = match wanted.reach.client.get(&format!("{tree}/"), None, LIST) {
        Ok(page) => page,
        Err(Error::Status { code: 403 | 404 | 410, .. }) => return Err(absent(wanted, NAME, None)),
        Err(error) => return Err(failed(error)),
    };
    let mut labels = labels(&String::from_utf8_lossy(&page.body));
    if labels.is_empty() {
        return Err(failed(Error::Html { url: crate::net::shown(&format!("{tree}/")) }));
    }
    labels.retain(|label| label.cuda.is_none_or(|cuda| cuda == wanted.cuda));
    let mut notes = Vec::new();
    for label in first_likely(labels.iter().filter(|label| label.may_be(wanted)), wanted) {
        let Some(found) = Found::load(&tree, label, wanted)? else {
            notes.push(format!("{} is listed, but the server does not have it yet", label.text));
            continue;
        };
        let Some((version, archive)) = found.archive(wanted) else { continue };
        if wanted.accepts(&version) {
            return plan_of(wanted, version, archive, &found, notes);
        }
    }
    // What there is instead is worth some more questions.
    for label in first_likely(labels.iter(), wanted) {
        let found = Found::load(&tree, label, wanted)?;
        if let Some((version, _)) = found.as_ref().and_then(|found| found.archive(wanted)) {
            return Err(absent(wanted, NAME, Some(&version)));
        }
    }
    Err(absent(wanted, NAME, None))
}

/// The same releases, those first in which the CUDA major is known to be: each that is not asked for is a question less.
fn first_likely<'l>(labels: impl Iterator<Item = &'l Label>, wanted: &Wanted<'_>) -> Vec<&'l Label> {
    let last = addons::last(wanted.library.name, wanted.cuda);
    let (likely, others): (Vec<&Label>, Vec<&Label>) =
        labels.partition(|label| last.as_ref().is_none_or(|last| label.version.first(3) <= *last));
    [likely, others].concat()
}

/// A manifest, and where it came from.
struct Found {
    manifest: Manifest,
    asked: String,
    answered: String,
}

impl Found {
    /// The manifest of a release; `None` where the server does not have it.
    fn load(tree: &str, label: &Label, wanted: &Wanted<'_>) -> Result<Option<Self>, Miss> {
        let asked = format!("{tree}/redistrib_{}.json", label.text);
        let document = match wanted.reach.client.get(&asked, None, LIMIT) {
            Ok(document) => document,
            Err(Error::Status { code: 404 | 410, .. }) => return Ok(None),
            Err(error) => return Err(unreached(&wanted.reach.dist, error)),
        };
        match Manifest::read(&String::from_utf8_lossy(&document.body)) {
            Ok(manifest) => Ok(Some(Self { manifest, asked, answered: document.url })),
            Err(_) => Err(unusable(&asked, "it is no manifest of archives")),
        }
    }

    /// The archive for the machine and the CUDA major, with the version of its component.
    fn archive(&self, wanted: &Wanted<'_>) -> Option<(Number, &Archive)> {
        let component = self.manifest.component(wanted.origin.component)?;
        let archives = component.platform(wanted.platform.name())?;
        let archive = archives.of(Some(&format!("cuda{}", wanted.cuda)))?;
        Some((Number::parse(&component.version)?, archive))
    }
}

fn unusable(asked: &str, why: &str) -> Miss {
    let message = format!("could not use {}: {why}", crate::net::shown(asked));
    Miss::new("its manifest cannot be used", Failure::new(Exit::BadBytes, message))
}

fn plan_of(
    wanted: &Wanted<'_>,
    version: Number,
    archive: &Archive,
    found: &Found,
    notes: Vec<String>,
) -> Result<AddonPlan, Miss> {
    let (url, file) = address(&found.asked, &found.answered, &archive.relative_path)
        .map_err(|why| unusable(&found.asked, &why))?;
    Ok(AddonPlan {
        library: wanted.library,
        cuda: wanted.cuda,
        platform: wanted.platform,
        source: NAME,
        part: Part {
            name: wanted.library.name.to_owned(),
            version: version.to_string(),
            url,
            local: None,
            file,
            sha256: archive.sha256.clone(),
            size: archive.size,
            unpacked: None,
            placement: archive_placement(wanted.cuda, 1),
        },
        version,
        notes,
        passed: Vec::new(),
    })
}

/// A release as the index page lists it: `9.14.0`, `8.9.7.29`, `2.32.3-cuda13.4`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Label {
    version: Number,
    cuda: Option<u32>,
    text: String,
}

impl Label {
    fn read(text: &str) -> Option<Self> {
        let (version, cuda) = match text.split_once("-cuda") {
            Some((version, cuda)) => (version, Some(cuda.split('.').next()?.parse().ok()?)),
            None => (text, None),
        };
        Some(Self { version: Number::parse(version)?, cuda, text: text.to_owned() })
    }

    /// Whether this release can hold what is wanted. A label has fewer numbers than the version that it stands for, or a
    /// request may have fewer than the label.
    fn may_be(&self, wanted: &Wanted<'_>) -> bool {
        let version = wanted.version.is_none_or(|v| v.accepts(&self.version) || self.version.accepts(v));
        version && self.cuda.is_none_or(|cuda| cuda == wanted.cuda)
    }
}

/// The releases that a page links to, newest first. Older ones have a second manifest whose name has four numbers and
/// that may lack a CUDA major: it comes after the one with three.
fn labels(page: &str) -> Vec<Label> {
    let found = page.split("redistrib_").skip(1).filter_map(|rest| Label::read(rest.split_once(".json")?.0));
    let mut labels: Vec<Label> = found.collect();
    labels.sort_by(|a, b| {
        let release = b.version.first(3).cmp(&a.version.first(3));
        release.then_with(|| a.version.cmp(&b.version)).then_with(|| b.text.cmp(&a.text))
    });
    labels.dedup();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_a_page_newest_first_and_three_numbers_before_four() {
        let page = "<a href=\"redistrib_8.9.7.29.json\">redistrib_8.9.7.29.json</a> 9KB\n\
                    <a href=\"redistrib_8.9.7.json\">redistrib_8.9.7.json</a> <a href='redistrib_9.14.0.json'>\n\
                    <a href='redistrib_9.8.0.json'> redistrib_x.json redistrib_9.9.0.txt";
        let texts: Vec<String> = labels(page).into_iter().map(|l| l.text).collect();
        assert_eq!(texts, ["9.14.0", "9.8.0", "8.9.7", "8.9.7.29"]);
        let nccl = Label::read("2.32.3-cuda13.4").unwrap();
        assert_eq!((nccl.version.to_string().as_str(), nccl.cuda), ("2.32.3", Some(13)));
        assert_eq!(Label::read("2.32.3-cudaX"), None);
    }
}
