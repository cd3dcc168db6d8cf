//! `--from`: what is on this machine is looked at; what is behind an address is loaded first.

use crate::disk::lock::Lock;
use crate::failure::{Exit, Failure};
use crate::install::apply::Site;
use crate::install::decide::{self, Need};
use crate::install::engine;
use crate::install::look::{self, Room, downloads};
use crate::net::{Error, Wanted};
use crate::source::local::{self, Origin};
use crate::source::plan::{Part, Plan, loaded_as};
use crate::source::query::Query;
use crate::ui::progress::Progress;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long another process may take to load the same file.
const WAIT: Duration = Duration::from_secs(1800);

/// What installing from there comes to.
pub fn plan(site: &Site<'_>, query: &Query<'_>, origin: &Origin, dry_run: bool) -> Result<Plan, Failure> {
    match origin {
        Origin::Path(path) => local::plan(query, path, site.disk),
        Origin::Url(url) => {
            if let Some(plan) = known(query, url)? {
                return Ok(plan);
            }
            if dry_run {
                let shown = crate::net::shown(url);
                let message = format!("what {shown} holds is not known before it is loaded");
                return Err(Failure::new(Exit::Usage, message).hint("the same without --dry-run"));
            }
            let file = load(site, query, url)?;
            let plan = local::plan(query, &file, site.disk).map_err(|failure| {
                // The next run is to ask again: no hash tells that these bytes are wrong.
                if failure.exit == Exit::BadBytes {
                    let name = file.file_name().unwrap_or_default().to_string_lossy();
                    engine::forget_file(&name, &downloads(site.home));
                }
                addressed(failure, &file, url)
            })?;
            Ok(as_loaded(plan, url, &file))
        }
    }
}

/// The plan of an installer of NVIDIA's, which its name tells all of; `None` for any other file.
fn known(query: &Query<'_>, url: &str) -> Result<Option<Plan>, Failure> {
    let shown = PathBuf::from(crate::net::shown(url));
    if local::installer(query, &shown, 0).is_none() {
        return Ok(None);
    }
    let size = query.reach.client.length(url).map_err(Error::into_failure)?.unwrap_or(0);
    let plan = local::installer(query, &shown, size).transpose()?;
    let here = |part: Part| Part { url: url.to_owned(), ..part };
    Ok(plan.map(|plan| Plan { parts: plan.parts.into_iter().map(here).collect(), ..plan }))
}

/// Loads a file to where archives are loaded to, or goes on with it.
fn load(site: &Site<'_>, query: &Query<'_>, url: &str) -> Result<PathBuf, Failure> {
    let shown = crate::net::shown(url);
    let name = shown.rsplit('/').next().unwrap_or_default();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-+".contains(&b);
    if name.is_empty() || name.len() > 200 || !name.bytes().all(plain) {
        return Err(Failure::new(Exit::Usage, format!("{shown} does not end in the name of an archive"))
            .hint("cudaup install --from https://HOST/PATH/cuda-12.4.tar.xz"));
    }
    let folder = downloads(site.home);
    fs::create_dir_all(&folder).map_err(|e| Failure::io("create", &folder, &e))?;
    let file = folder.join(loaded_as(name, url, ""));
    let lock = folder.join(format!("{}.lock", loaded_as(name, url, "")));
    let _lock = Lock::acquire(&lock, name, WAIT, &|line| site.talk.say(line))?;
    if !file.exists() {
        fits(site, query, url, &file)?;
    }
    let progress = Progress::new(site.talk, 1, 0);
    let bar = progress.file(name, 0);
    let wanted = Wanted { url: url.to_owned(), size: None, sha256: None };
    let loaded = query.reach.client.fetch(&wanted, &file, &|bytes| {
        bar.at(bytes);
        ControlFlow::Continue(())
    });
    if loaded.is_ok() {
        bar.loaded();
    }
    progress.end();
    loaded.map_err(Error::into_failure)?;
    Ok(file)
}

/// Whether there is room for a file that is to be loaded to `file`, where its server says how long it is.
fn fits(site: &Site<'_>, query: &Query<'_>, url: &str, file: &Path) -> Result<(), Failure> {
    let length = match query.reach.client.length(url) {
        Ok(length) => length.unwrap_or(0),
        // A server that does not answer this may have the file all the same: loading it tells.
        Err(Error::Status { .. }) => 0,
        Err(error) => return Err(error.into_failure()),
    };
    let mut begun = file.to_path_buf().into_os_string();
    begun.push(".part");
    let loaded = fs::metadata(begun).map_or(0, |found| found.len());
    let room = Room { loaded, ..look::room(site.home, &[site.home.staging(), site.home.toolkits()], &[])? };
    decide::has_room(&Need { what: crate::net::shown(url), load: length, unpacked: 0 }, &room)
}

/// The failure with the address in the place of the file, which nobody knows.
fn addressed(failure: Failure, file: &Path, url: &str) -> Failure {
    let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let shown = crate::net::shown(url);
    let named = |text: String| {
        [&real, file].iter().fold(text, |text, path| text.replace(&*path.to_string_lossy(), &shown))
    };
    let tries = failure.tries.into_iter().map(named).collect();
    Failure { exit: failure.exit, message: named(failure.message), tries }
}

/// The plan with the loaded file as what it is: an archive of the cache, which goes after the install.
fn as_loaded(plan: Plan, url: &str, file: &Path) -> Plan {
    let shown = crate::net::shown(url);
    let part = |part: Part| Part {
        url: url.to_owned(),
        local: None,
        file: shown.rsplit('/').next().unwrap_or_default().to_owned(),
        size: fs::metadata(file).map_or(part.size, |found| found.len()),
        ..part
    };
    Plan { parts: plan.parts.into_iter().map(part).collect(), ..plan }
}
