//! A folder of NVIDIA's redistributable archives, with or without their manifest, and the folders of a mirror.

use super::{NAME, agreed, nothing_here};
use crate::disk::text;
use crate::disk::tree;
use crate::failure::{Exit, Failure};
use crate::source::nvidia::manifest::{Archive, Manifest};
use crate::source::plan::{Part, Plan, Platform};
use crate::source::profile::{Profile, Selection, Wish, select};
use crate::source::query::Query;
use crate::source::{component, never, redist};
use cudaup_core::builds::releases_of;
use cudaup_core::identity::Identity;
use cudaup_core::version::Version;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a mirror has NVIDIA's archives, as on NVIDIA's own server.
const IN_A_MIRROR: &str = "compute/cuda/redist";

/// An archive that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    component: String,
    version: String,
    path: PathBuf,
    sha256: String,
    size: u64,
}

/// What installing from a folder comes to; `None`: neither archives nor manifests are in it.
pub fn plan(query: &Query<'_>, folder: &Path) -> Result<Option<Plan>, Failure> {
    let inside = folder.join(IN_A_MIRROR);
    let (base, mirror) = if inside.is_dir() { (inside, true) } else { (folder.to_path_buf(), false) };
    let manifests = manifests(&base)?;
    if !manifests.is_empty() {
        let (version, manifest) = chosen(manifests, query.request, folder)?;
        let found = listed(&manifest, &base, query.platform);
        return put_together(query, version, found, folder, !mirror).map(Some);
    }
    let found = by_name(&base, query.platform)?;
    if found.is_empty() {
        return Ok(None);
    }
    let build = |name: &str| found.iter().find(|f| f.component == name).map(|f| f.version.as_str());
    let releases = releases_of(build("cuda_nvcc"), build("cuda_cudart"), build("libcublas"));
    let Some(first) = releases.first().copied() else {
        let why = "nothing in it tells which release it is: put its redistrib_X.Y.Z.json beside the archives";
        return Err(nothing_here(folder, why));
    };
    let identity = match releases.len() {
        1 => Identity::certain(first),
        _ => Identity { version: Version { update: None, ..first }, either: releases },
    };
    let version = agreed(query.request, &identity, folder)?;
    put_together(query, version, found, folder, true).map(Some)
}

/// The manifests of a folder, each with its release.
fn manifests(base: &Path) -> Result<Vec<(Version, Manifest)>, Failure> {
    let mut manifests = Vec::new();
    for name in names(base)? {
        let label = name.strip_prefix("redistrib_").and_then(|rest| rest.strip_suffix(".json"));
        let Some(version) = label.and_then(Version::parse).filter(Version::is_exact) else { continue };
        let path = base.join(&name);
        let text = text::read(&path).map_err(|e| Failure::io("read", &path, &e))?;
        // The stubs of releases before 11.4.2 list nothing of a toolkit, and a mirror has them all the same.
        if let Ok(manifest) = Manifest::read(&text) {
            manifests.push((version, manifest));
        }
    }
    manifests.sort_by_key(|(version, _)| *version);
    Ok(manifests)
}

/// The newest that fits.
fn chosen(
    mut manifests: Vec<(Version, Manifest)>,
    asked: Option<Version>,
    folder: &Path,
) -> Result<(Version, Manifest), Failure> {
    let all: Vec<String> = manifests.iter().map(|(version, _)| version.to_string()).collect();
    manifests.retain(|(version, _)| asked.is_none_or(|asked| asked.accepts(*version)));
    manifests.pop().ok_or_else(|| {
        let asked = asked.map_or_else(String::new, |asked| asked.to_string());
        let shown = folder.display();
        let message = format!("{shown} holds CUDA {}, and {asked} was asked for", all.join(", "));
        let newest = all.last().map_or("VERSION", String::as_str);
        Failure::new(Exit::NoVersion, message).hint(format!("cudaup install {newest} --from {shown}"))
    })
}

/// The archives of a manifest that are there: where it says, or just beside it.
fn listed(manifest: &Manifest, base: &Path, platform: Platform) -> Vec<Found> {
    let there = |archive: &Archive| {
        let plain = crate::archive::guard::name(archive.relative_path.as_bytes()).ok()?;
        let file = plain.rsplit('/').next().unwrap_or_default();
        [base.join(&plain), base.join(file)].into_iter().find(|path| path.is_file())
    };
    let components = manifest.components.iter().filter(|c| !never::denied(&c.name, &c.licence));
    let found = components.filter_map(|c| {
        let archive = c.platform(platform.name())?.of(None)?;
        Some(Found {
            component: c.name.clone(),
            version: c.version.clone(),
            path: there(archive)?,
            sha256: archive.sha256.clone(),
            size: archive.size,
        })
    });
    found.collect()
}

/// The archives of a folder without a manifest, by their names alone.
fn by_name(base: &Path, platform: Platform) -> Result<Vec<Found>, Failure> {
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for file in names(base)? {
        let Some(name) = Name::read(&file) else { continue };
        if name.platform != platform.name() || never::denied(&name.component, "") {
            continue;
        }
        let path = base.join(&file);
        let size = fs::metadata(&path).map_err(|e| Failure::io("read", &path, &e))?.len();
        let archive = Found {
            component: name.component.clone(),
            version: name.version.clone(),
            path,
            sha256: String::new(),
            size,
        };
        if let Some(other) = found.insert(name.component, archive) {
            let message = format!(
                "{} has {} in two versions, {} and {}",
                base.display(),
                other.component,
                other.version,
                name.version
            );
            return Err(Failure::new(Exit::Usage, message).hint(
                "give each release a folder of its own, or put its redistrib_X.Y.Z.json beside the archives",
            ));
        }
    }
    Ok(found.into_values().collect())
}

/// The name of a redistributable archive, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Name {
    /// `cuda_nvcc`
    pub component: String,
    /// `linux-x86_64`
    pub platform: String,
    /// `12.4.131`
    pub version: String,
}

impl Name {
    /// Reads `cuda_nvcc-linux-x86_64-12.4.131-archive.tar.xz`.
    pub fn read(file: &str) -> Option<Self> {
        let rest =
            [".tar.xz", ".tar.gz"].iter().find_map(|end| file.strip_suffix(end))?.strip_suffix("-archive")?;
        let (component, rest) = rest.split_once("-linux-")?;
        let (machine, version) = rest.split_once('-')?;
        Some(Self {
            component: component.to_owned(),
            platform: format!("linux-{machine}"),
            version: version.to_owned(),
        })
    }
}

/// The plan of what is there. Where nothing was said of the amount, a plain folder is taken whole: somebody put it together.
fn put_together(
    query: &Query<'_>,
    version: Version,
    found: Vec<Found>,
    folder: &Path,
    plain: bool,
) -> Result<Plan, Failure> {
    let all = plain && *query.wish == Wish::of(Profile::Default);
    let selection = select(query.wish, version);
    let missing = missing(&selection, &found, version, folder, query.platform)?;
    let wanted = found.into_iter().filter(|f| all || selection.has(known(&f.component)));
    let mut parts: Vec<Part> = wanted.map(|found| part(found, query)).collect();
    // What two archives have in common is taken from the first; both of these can fill nvvm.
    parts.sort_by_key(|part| part.name != "libnvvm");
    let notes = if parts.iter().all(|part| !part.sha256.is_empty()) {
        Vec::new()
    } else {
        vec![format!(
            "no manifest is beside the archives of {}: their hashes are not checked",
            folder.display()
        )]
    };
    Ok(Plan {
        version,
        platform: query.platform,
        source: NAME,
        profile: query.wish.profile,
        parts,
        missing: if all { Vec::new() } else { missing },
        notes,
        passed: Vec::new(),
    })
}

fn part(found: Found, query: &Query<'_>) -> Part {
    let name = known(&found.component).to_owned();
    let placement = redist::placement(&name, query.platform, 1);
    let named = query.wish.components.iter().any(|c| c.name == name);
    let lean = query.wish.profile == Profile::Default && !named;
    let file = found.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Part {
        placement: if lean { redist::without_static(&name, placement) } else { placement },
        url: found.path.to_string_lossy().into_owned(),
        name,
        version: found.version,
        local: Some(found.path),
        file,
        sha256: found.sha256,
        size: found.size,
        unpacked: None,
    }
}

/// What is selected and not there; a must-part among it refuses the plan.
fn missing(
    selection: &Selection,
    found: &[Found],
    version: Version,
    folder: &Path,
    platform: Platform,
) -> Result<Vec<String>, Failure> {
    let there = |name: &&str| found.iter().any(|f| *known(&f.component) == **name);
    let absent: Vec<&str> = selection.must.iter().copied().filter(|name| !there(name)).collect();
    if !absent.is_empty() {
        let message = format!(
            "{} does not have all that CUDA {version} needs: there is no archive of {} for {}",
            folder.display(),
            absent.join(", "),
            platform.name()
        );
        return Err(Failure::new(Exit::NoVersion, message));
    }
    Ok(selection.may.iter().filter(|name| !there(name)).map(|name| (*name).to_owned()).collect())
}

/// The name under which the selection knows a component.
fn known(name: &str) -> &str {
    component::exact(name).map_or(name, |c| c.name)
}

fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    tree::names(folder).map_err(|e| Failure::io("list", folder, &e))
}
