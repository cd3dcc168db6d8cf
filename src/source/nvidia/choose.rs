//! Which archives of a manifest a wish means. Pure.

use super::manifest::{self, Archive, Component};
use super::server::Found;
use crate::failure::{Exit, Failure};
use crate::source::component;
use crate::source::never;
use crate::source::plan::{Part, Platform};
use crate::source::profile::{Profile, Selection, Wish, select};
use crate::source::query::Miss;
use crate::source::redist;
use cudaup_core::version::Version;

/// What a manifest has for a wish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The parts, in the order in which they are merged.
    pub parts: Vec<Part>,
    /// The may-parts that it does not have.
    pub missing: Vec<String>,
}

/// Chooses the parts of a release. A must-part that is not there refuses it.
pub fn choose(found: &Found, version: Version, wish: &Wish, platform: Platform) -> Result<Choice, Miss> {
    let offered = offered(found, platform);
    if offered.is_empty() {
        return Err(no_platform(found, version, platform));
    }
    let selection = select(wish, version);
    let mut parts: Vec<Part> = Vec::new();
    for (component, archive) in offered {
        let name = canonical(&component.name);
        if !selection.has(name) || parts.iter().any(|p| p.name == name) {
            continue;
        }
        parts.push(part(found, component, archive, wish, platform)?);
    }
    let there = |name: &&str| parts.iter().any(|p| p.name == **name);
    let absent: Vec<&str> = selection.must.iter().copied().filter(|n| !there(n)).collect();
    if !absent.is_empty() {
        return Err(Miss::lacking(super::NAME, version, (wish, platform), &absent));
    }
    let missing = selection.may.iter().filter(|n| !there(n)).map(|n| (*n).to_owned()).collect();
    parts.sort_by_key(|p| rank(&selection, &p.name));
    Ok(Choice { parts, missing })
}

/// Every component that may be installed on a platform, with its archive.
fn offered(found: &Found, platform: Platform) -> Vec<(&Component, &Archive)> {
    let allowed = found.manifest.components.iter().filter(|c| !never::denied(&c.name, &c.licence));
    allowed.filter_map(|c| Some((c, c.platform(platform.name())?.of(None)?))).collect()
}

/// One name for what changed its name between releases.
fn canonical(name: &str) -> &str {
    component::exact(name).map_or(name, |c| c.name)
}

fn part(
    found: &Found,
    component: &Component,
    archive: &Archive,
    wish: &Wish,
    platform: Platform,
) -> Result<Part, Miss> {
    let name = canonical(&component.name);
    let (url, file) = manifest::address(&found.asked, &found.answered, &archive.relative_path)
        .map_err(|why| odd(found, &why))?;
    let whole = redist::placement(name, platform, 1);
    let named = wish.components.iter().any(|c| c.name == name);
    let lean = wish.profile == Profile::Default && !named;
    Ok(Part {
        name: name.to_owned(),
        version: component.version.clone(),
        url,
        local: None,
        file,
        sha256: archive.sha256.clone(),
        size: archive.size,
        unpacked: None,
        placement: if lean { redist::without_static(name, whole) } else { whole },
    })
}

/// Must-parts come first, so that there is something to unpack early; the library that nvcc's own archive may bring as
/// well comes before it, since the first one is kept.
fn rank(selection: &Selection, name: &str) -> (bool, usize, String) {
    let nvvm = name == "libnvvm";
    let at = |list: &[&str]| list.iter().position(|n| *n == name);
    match (at(&selection.must), at(&selection.may)) {
        _ if nvvm => (false, 0, String::new()),
        (Some(at), _) => (false, at + 1, String::new()),
        (None, Some(at)) => (true, at, String::new()),
        (None, None) => (true, usize::MAX, name.to_owned()),
    }
}

fn odd(found: &Found, why: &str) -> Miss {
    let message = format!("{} cannot be used: {why}", crate::net::shown(&found.asked));
    Miss::new("its manifest cannot be used", Failure::new(Exit::BadBytes, message))
}

fn no_platform(found: &Found, version: Version, platform: Platform) -> Miss {
    let name = platform.name();
    let has = found.manifest.platforms().into_iter().filter(|p| p.starts_with("linux-")).collect::<Vec<_>>();
    let message = format!("CUDA {version} is not published for {name}; it has {}", has.join(", "));
    let failure = Failure::new(Exit::NoVersion, message);
    let sbsa = platform == Platform::LinuxAarch64 && has.contains(&Platform::LinuxSbsa.name());
    Miss::new(
        format!("has none for {name}"),
        if sbsa && version.major >= 13 {
            failure.hint(format!(
                "cudaup install {version} --platform linux-sbsa   (from 13.0 on these serve Jetson too)"
            ))
        } else {
            failure
        },
    )
}
