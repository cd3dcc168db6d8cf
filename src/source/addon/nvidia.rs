//! NVIDIA's redistributable archives of its libraries: a tree for each product, a manifest for each release.

use super::{AddonPlan, Wanted, absent, archive_placement, unasked};
use crate::failure::{Exit, Failure};
use crate::net::Error;
use crate::source::nvidia::manifest::{Archive, LIMIT, Manifest, address};
use crate::source::plan::Part;
use crate::source::query::Miss;
use cudaup_core::addon::Number;

/// The source's name.
pub const NAME: &str = "nvidia";

/// An index page of more bytes than this is none.
const PAGE: u64 = 4 << 20;

/// The newest release that has an archive for the CUDA major and the machine. What the index page lists and the server
/// does not have (mirrors lag) is passed over and said.
pub fn plan(wanted: &Wanted<'_>) -> Result<AddonPlan, Miss> {
    let tree = format!("{}/compute/{}/redist", wanted.reach.dist.url, wanted.origin.tree);
    let failed = |error: Error| unasked(error.into_failure());
    let page = match wanted.reach.client.get(&format!("{tree}/"), None, PAGE) {
        Ok(page) => page,
        Err(Error::Status { code: 404 | 410, .. }) => return Err(absent(wanted, NAME, None)),
        Err(error) => return Err(failed(error)),
    };
    let mut labels = labels(&String::from_utf8_lossy(&page.body));
    if labels.is_empty() {
        let shown = crate::net::shown(&tree);
        let why = format!("{shown}/ answered, but with no list of releases (a login page of this network?)");
        return Err(unasked(Failure::new(Exit::Network, why)));
    }
    labels.retain(|label| label.may_be(wanted));
    let (mut notes, mut newest) = (Vec::new(), None);
    for label in &labels {
        let asked = format!("{tree}/redistrib_{}.json", label.text);
        let document = match wanted.reach.client.get(&asked, None, LIMIT) {
            Ok(document) => document,
            Err(Error::Status { code: 404 | 410, .. }) => {
                notes.push(format!("{} is listed, but the server does not have it yet", label.text));
                continue;
            }
            Err(error) => return Err(failed(error)),
        };
        let bad = |why: String| {
            let shown = crate::net::shown(&asked);
            unasked(Failure::new(Exit::BadBytes, format!("{shown} cannot be used: {why}")))
        };
        let text = String::from_utf8(document.body).map_err(|_| bad("it is not text".into()))?;
        let Ok(manifest) = Manifest::read(&text) else {
            return Err(bad("it is no manifest of archives".into()));
        };
        let Some((version, archive)) = archive(&manifest, wanted) else { continue };
        if !wanted.accepts(&version) {
            newest = newest.max(Some(version));
            continue;
        }
        let (url, file) = address(&asked, &document.url, &archive.relative_path).map_err(bad)?;
        return Ok(plan_of(wanted, version, archive, url, file, notes));
    }
    Err(absent(wanted, NAME, newest.as_ref()))
}

fn plan_of(
    wanted: &Wanted<'_>,
    version: Number,
    archive: &Archive,
    url: String,
    file: String,
    notes: Vec<String>,
) -> AddonPlan {
    AddonPlan {
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
    }
}

/// The archive that a manifest has for the machine and the CUDA major, with the version of its component.
fn archive<'m>(manifest: &'m Manifest, wanted: &Wanted<'_>) -> Option<(Number, &'m Archive)> {
    let component = manifest.component(wanted.origin.component)?;
    let archive = component.platform(wanted.platform.name())?.of(Some(&format!("cuda{}", wanted.cuda)))?;
    Some((Number::parse(&component.version)?, archive))
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
