//! What every install has in common: a place of its own, under a lock, in which parts are loaded and unpacked, finished,
//! and put into place by one rename. Before that nothing is visible.

use crate::disk::staging::{Staging, sweep_home};
use crate::disk::{access, atomic};
use crate::failure::{Exit, Failure};
use crate::install::apply::Site;
use crate::install::engine::{self, Job, Unpacked};
use crate::install::look::{MACHINE_FILE, downloads};
use crate::source::plan::{Part, Platform};
use crate::source::reach::Reach;
use cudaup_core::home::Home;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How long another install of the same thing is waited for.
pub const WAIT: Duration = Duration::from_secs(900);

/// What is put together.
#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// Its name in the staging directory.
    pub name: &'a str,
    /// Where it goes: a directory whose parent is made.
    pub target: &'a Path,
    /// The staging directory: on the same file system, where that can be had.
    pub staging: &'a Path,
    /// Whether it becomes the home's, which is for one machine only.
    pub in_home: bool,
    /// What it is put together from.
    pub parts: &'a [Part],
    /// The machine that it is for.
    pub platform: Platform,
    /// Whether it takes the place of what is there.
    pub replace: bool,
}

/// Puts it together; `finish` gets the unpacked tree, makes it whole and writes its receipt. `None`: another process has
/// put it into place meanwhile, or what is to be replaced is `stale`: no longer what the plan was made for.
pub fn run<R>(
    site: &Site<'_>,
    build: &Build<'_>,
    reach: &Reach,
    stale: &dyn Fn() -> bool,
    finish: impl FnOnce(&Path, &[Unpacked]) -> Result<R, Failure>,
) -> Result<Option<R>, Failure> {
    let above = build.target.parent().unwrap_or(build.target);
    let downloads = downloads(site.home);
    if !build.in_home {
        access::make(above)?;
    }
    for directory in [above, build.staging, &downloads] {
        fs::create_dir_all(directory).map_err(|e| Failure::io("create", directory, &e))?;
    }
    if build.in_home {
        record_machine(site.home, build.platform)?;
    }
    atomic::sweep(site.home.path());
    let staging = Staging::open(build.staging, build.name, WAIT, &|line| site.talk.say(line))?;
    if build.in_home {
        sweep_home(site.home);
    }
    let there = fs::symlink_metadata(build.target).is_ok();
    if there && !build.replace || build.replace && stale() {
        return Ok(None);
    }
    let job = Job { parts: build.parts, downloads: &downloads, tree: staging.tree() };
    let made = engine::run(&job, &reach.client, site.talk)
        .and_then(|unpacked| finish(staging.tree(), &unpacked))
        .map_err(|failure| unhashed(failure, build.parts, &downloads))?;
    if there {
        staging.replace(build.target)?;
    } else {
        staging.commit(build.target)?;
    }
    if !reach.keep {
        engine::forget(build.parts, &downloads);
    }
    Ok(Some(made))
}

/// After bytes that cannot be right: what no hash vouches for is not whole because it is there. It goes, so that the next run
/// asks for it again, and the failure names its address.
fn unhashed(failure: Failure, parts: &[Part], downloads: &Path) -> Failure {
    if failure.exit != Exit::BadBytes {
        return failure;
    }
    let loose = parts.iter().filter(|part| part.local.is_none() && part.sha256.is_empty());
    loose.fold(failure, |failure, part| {
        engine::forget_file(&part.loaded_as(), downloads);
        match failure.message.strip_prefix(&part.file) {
            Some(rest) => Failure { message: format!("{}{rest}", part.public_url()), ..failure },
            None => failure,
        }
    })
}

/// A home is for one machine: shared between two, it would offer each the other's programs.
fn record_machine(home: &Home, platform: Platform) -> Result<(), Failure> {
    let file = home.path().join(MACHINE_FILE);
    if file.exists() {
        return Ok(());
    }
    atomic::write(&file, format!("{}\n", platform.machine()).as_bytes())
}
