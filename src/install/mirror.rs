//! `cudaup mirror`: a directory that any web server can serve in the place of NVIDIA's server, with what was asked for.
//!
//! Archives come first, the manifest that lists them after them, the page that lists manifests last: a mirror that a run was
//! killed over lists nothing that it does not have.

mod load;
mod manifest;

#[cfg(test)]
mod tests;

use crate::disk::lock::Lock;
use crate::disk::{atomic, space, text};
use crate::failure::{Exit, Failure};
use crate::host::Host;
use crate::net::Error;
use crate::source::nvidia;
use crate::source::plan::{Part, Plan, Platform};
use crate::source::profile::Wish;
use crate::source::query::Query;
use crate::source::reach::Reach;
use crate::ui::talk::Talk;
use crate::ui::view::size;
use cudaup_core::version::Version;
use load::Load;
use manifest::Kept;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where NVIDIA's archives stand below a server's root.
const TREE: &str = "compute/cuda/redist";

/// How long another run over the same mirror is waited for.
const WAIT: Duration = Duration::from_secs(3600);

/// What is to be mirrored.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// The mirror's root, made where it is absent.
    pub root: &'a Path,
    /// The releases; `None`: the newest.
    pub requests: &'a [Option<Version>],
    /// The machines.
    pub platforms: &'a [Platform],
    /// How much of each release.
    pub wish: &'a Wish,
}

/// A release that is in the mirror now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirrored {
    /// The release.
    pub version: Version,
    /// The machine.
    pub platform: Platform,
    /// Archives of it.
    pub archives: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Components that NVIDIA does not have for it.
    pub missing: Vec<String>,
}

/// Makes a mirror, or adds to one.
pub fn run(host: &Host, reach: &Reach, talk: &Talk, order: &Order<'_>) -> Result<Vec<Mirrored>, Failure> {
    let plans = plans(host, reach, order)?;
    let base = order.root.join(TREE);
    let mut loads = Vec::new();
    let mut manifests: Vec<(Version, String, Vec<Kept>)> = Vec::new();
    for plan in &plans {
        let at = manifests.iter().position(|(version, ..)| *version == plan.version);
        let text = match at.and_then(|at| manifests.get(at)) {
            Some((_, text, _)) => text.clone(),
            None => nvidias(reach, plan.version)?,
        };
        let (kept, more) = archives(&text, plan, &base)?;
        loads.extend(more);
        match at.and_then(|at| manifests.get_mut(at)) {
            Some((_, _, all)) => all.extend(kept),
            None => manifests.push((plan.version, text, kept)),
        }
    }
    fits(order.root, &loads)?;
    directory(order.root, &base)?;
    let lock = order.root.join(".cudaup-mirror.lock");
    let _lock = Lock::acquire(&lock, "the mirror", WAIT, &|line| talk.say(line))?;
    for load in &loads {
        directory(order.root, load.path.parent().unwrap_or(&base))?;
    }
    load::all(&loads, &reach.client, talk)?;
    for (version, text, kept) in &manifests {
        let path = base.join(format!("redistrib_{version}.json"));
        let before = existing(&path)?;
        let cut = manifest::cut(text, before.as_deref(), kept).map_err(|why| {
            Failure::new(Exit::BadBytes, format!("the manifest of {version} is broken: {why}"))
        })?;
        write(&path, &cut)?;
    }
    write(&base.join("index.html"), &page(&base)?)?;
    let mirrored = |plan: Plan| Mirrored {
        version: plan.version,
        platform: plan.platform,
        archives: plan.parts.len(),
        bytes: plan.size(),
        missing: plan.missing,
    };
    Ok(plans.into_iter().map(mirrored).collect())
}

/// What NVIDIA's server has of all that is wanted. Nothing is made where some of it is not to be had.
fn plans(host: &Host, reach: &Reach, order: &Order<'_>) -> Result<Vec<Plan>, Failure> {
    let mut plans: Vec<Plan> = Vec::new();
    for request in order.requests {
        for platform in order.platforms {
            let query = Query { host, reach, request: *request, wish: order.wish, platform: *platform };
            let plan = nvidia::plan(&query).map_err(|miss| miss.failure)?;
            if !plans.iter().any(|p| (p.version, p.platform) == (plan.version, plan.platform)) {
                plans.push(plan);
            }
        }
    }
    Ok(plans)
}

/// The text of NVIDIA's manifest.
fn nvidias(reach: &Reach, version: Version) -> Result<String, Failure> {
    let url = format!("{}/{TREE}/redistrib_{version}.json", reach.dist.url);
    let answer = reach.client.get(&url, None, nvidia::manifest::LIMIT).map_err(Error::into_failure)?;
    String::from_utf8(answer.body)
        .map_err(|_| Failure::new(Exit::BadBytes, format!("{} is no text", crate::net::shown(&url))))
}

/// The archives of a plan: what the manifest is to list, and what is to be loaded where.
fn archives(text: &str, plan: &Plan, base: &Path) -> Result<(Vec<Kept>, Vec<Load>), Failure> {
    let remade = || {
        let message = format!("the manifest of {} was changed on the server meanwhile", plan.version);
        Failure::new(Exit::BadBytes, message).hint("run the same command again")
    };
    let manifest = nvidia::manifest::Manifest::read(text).map_err(|_| remade())?;
    let name = plan.platform.name();
    let place = |part: &Part| {
        let mut leaves = manifest.components.iter().filter_map(|c| Some((c, c.platform(name)?.of(None)?)));
        let (component, archive) = leaves.find(|(_, archive)| archive.sha256 == part.sha256)?;
        Some(manifest::place(&component.name, name, &archive.relative_path))
    };
    let (mut kept, mut loads) = (Vec::new(), Vec::new());
    for part in &plan.parts {
        let path = base.join(place(part).ok_or_else(remade)?);
        kept.push(Kept { platform: name.to_owned(), sha256: part.sha256.clone() });
        loads.push(Load { part: part.clone(), path });
    }
    Ok((kept, loads))
}

fn fits(root: &Path, loads: &[Load]) -> Result<(), Failure> {
    let absent = loads.iter().filter(|load| !load.path.exists());
    let needed: u64 =
        absent.map(|load| load.part.size.saturating_sub(load.begun())).fold(0, u64::saturating_add);
    let free = space::free(root)?;
    if needed <= free {
        return Ok(());
    }
    let shown = root.display();
    let message =
        format!("not enough room in {shown}: {} are to be loaded, {} are free", size(needed), size(free));
    Err(Failure::failed(message)
        .hint("the same command with --profile minimal, or a directory on another disk"))
}

/// The page over all manifests that are there.
fn page(base: &Path) -> Result<String, Failure> {
    let failed = |e: &io::Error| Failure::io("list", base, e);
    let mut rows = Vec::new();
    for entry in fs::read_dir(base).map_err(|e| failed(&e))? {
        let entry = entry.map_err(|e| failed(&e))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let label = name.strip_prefix("redistrib_").and_then(|rest| rest.strip_suffix(".json"));
        let Some(version) = label.and_then(Version::parse) else { continue };
        let bytes = entry.metadata().map_err(|e| failed(&e))?.len();
        let text = existing(&entry.path())?.unwrap_or_default();
        let date = nvidia::manifest::Manifest::read(&text).ok().and_then(|manifest| manifest.date);
        rows.push((version, (name, bytes, date.unwrap_or_default())));
    }
    rows.sort_by_key(|(version, _)| *version);
    Ok(manifest::page(&rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>()))
}

/// The text of a file; `None` where there is none, or something that is no text.
fn existing(path: &Path) -> Result<Option<String>, Failure> {
    match text::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => Ok(None),
        Err(e) => Err(Failure::io("read", path, &e)),
    }
}

/// Makes the directories from the root down, readable by a web server under any umask.
fn directory(root: &Path, path: &Path) -> Result<(), Failure> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().take_while(|p| !p.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    fs::create_dir_all(path).map_err(|e| Failure::io("create", path, &e))?;
    for made in missing.iter().filter(|made| made.starts_with(root)) {
        readable(made, 0o755)?;
    }
    Ok(())
}

fn readable(path: &Path, mode: u32) -> Result<(), Failure> {
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(|e| Failure::io("change the mode of", path, &e))
}

/// Puts a document in place by a rename. One that says the same is left alone.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if existing(path)?.as_deref() != Some(text) {
        atomic::write(path, text.as_bytes())?;
        readable(path, 0o644)?;
    }
    Ok(())
}
