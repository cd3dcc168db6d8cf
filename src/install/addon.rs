//! Installing an add-on: look, decide, load it into a directory of its own beside the toolkits.

use crate::addon::receipt::Receipt;
use crate::addon::{header, origin};
use crate::compat::driver;
use crate::disk::tree;
use crate::failure::{Exit, Failure};
use crate::install::apply::Site;
use crate::install::decide::{self, Need};
use crate::install::engine::Unpacked;
use crate::install::look::{self, Facts, Room};
use crate::install::mend;
use crate::install::stage::{self, Build};
use crate::source::addon::{self as source, AddonPlan, Given, Wanted};
use crate::source::plan::Platform;
use crate::source::reach::{Reach, reach};
use crate::ui::view::size;
use cudaup_core::addon::{Addon, Library, Number, directory_name, find};
use cudaup_core::version::Version;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What was asked for.
#[derive(Clone, Debug)]
pub struct AddonOrder {
    /// The library; `None`: what the archive is.
    pub library: Option<&'static Library>,
    /// The version; `None`: the newest that fits.
    pub version: Option<Number>,
    /// The CUDA major that was said.
    pub cuda: Option<u32>,
    /// The CUDA major of the toolkit that it goes with.
    pub here: Option<u32>,
    /// The source's name, or `auto`.
    pub source: &'static str,
    /// An archive, a directory or an address that the user gives.
    pub from: Option<String>,
    /// The machine that a dry run is for, where it is another one.
    pub platform: Option<Platform>,
    /// Whether a newer one that fits is wanted where one is installed.
    pub upgrade: bool,
    /// Whether nothing is to be done.
    pub dry_run: bool,
}

/// What an order came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddonAnswer {
    /// What was asked for is there already.
    Present(Addon),
    /// What would be loaded, and what would be said about it.
    Planned(Box<AddonPlan>, Vec<String>),
    /// It was installed.
    Installed(Box<InstalledAddon>),
}

/// An add-on that was just installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledAddon {
    /// What and where it is.
    pub addon: Addon,
    /// Its receipt.
    pub receipt: Receipt,
    /// How long it took.
    pub took: Duration,
}

/// Carries an order out. `roots` are the further homes that the settings name.
pub fn run(site: &Site<'_>, roots: &[PathBuf], order: &AddonOrder) -> Result<AddonAnswer, Failure> {
    let start = Instant::now();
    let facts = look::look(site.host, site.home, roots, site.disk, None);
    let platform = match order.platform.filter(|_| order.dry_run) {
        Some(platform) => platform,
        None => decide::platform(None, &facts, site.home.path())?,
    };
    let present =
        |library, version: Option<&Number>, cuda| find(site.home, roots, library, version, cuda, site.disk);
    let plan_and_reach = match (&order.from, order.library) {
        (Some(from), _) => {
            let cwd = site.host.cwd.as_deref().unwrap_or(Path::new("/"));
            let given = Given {
                from,
                cwd,
                library: order.library,
                version: order.version.as_ref(),
                cuda: order.cuda,
                here: order.here,
                platform,
            };
            (source::given(&given)?, reach(site.host, site.home.path())?)
        }
        (None, Some(library)) => {
            let cuda = order.cuda.or(order.here).ok_or_else(|| no_toolkit(library))?;
            let version = order.version.as_ref();
            if let Some(addon) = present(library, version, cuda).filter(|_| !order.upgrade) {
                return Ok(AddonAnswer::Present(addon));
            }
            let reach = reach(site.host, site.home.path())?;
            for note in &reach.indexes.notes {
                site.talk.say(&format!("note: {note}"));
            }
            let origin = origin(library).ok_or_else(|| no_toolkit(library))?;
            let wanted = Wanted { reach: &reach, library, origin, version, cuda, platform };
            (source::plan(&wanted, order.source)?, reach)
        }
        (None, None) => return Err(Failure::new(Exit::Usage, "no library is named")),
    };
    let (plan, reach) = plan_and_reach;
    if let Some(addon) = present(plan.library, Some(&plan.version), plan.cuda) {
        return Ok(AddonAnswer::Present(addon));
    }
    let trees = [site.home.staging(), site.home.toolkits()];
    let room = look::room(site.home, &trees, std::slice::from_ref(&plan.part))?;
    let lines = announcement(&plan, &room, &facts);
    if order.dry_run {
        return Ok(AddonAnswer::Planned(Box::new(plan), lines));
    }
    decide::has_room(&need(&plan), &room)?;
    for line in &lines {
        site.talk.say(line);
    }
    let (addon, receipt) = apply(site, &plan, &reach)?;
    match receipt {
        Some(receipt) => {
            Ok(AddonAnswer::Installed(Box::new(InstalledAddon { addon, receipt, took: start.elapsed() })))
        }
        None => Ok(AddonAnswer::Present(addon)),
    }
}

/// The failure where nothing says for which CUDA an add-on is wanted.
fn no_toolkit(library: &Library) -> Failure {
    let name = library.name;
    Failure::new(Exit::Usage, format!("no toolkit applies here that {name} could go with"))
        .hint(format!("cudaup add {name} --cuda 12"))
        .hint(format!("cudaup install latest --with {name}"))
}

fn need(plan: &AddonPlan) -> Need {
    let local = plan.part.local.is_some();
    let swollen = origin(plan.library).map_or(0, |o| o.unpacked(&plan.part.file, plan.part.size));
    Need {
        what: format!("{} {}", plan.library.name, plan.version),
        load: if local { 0 } else { plan.part.size },
        unpacked: plan.part.unpacked.unwrap_or(swollen),
    }
}

fn announcement(plan: &AddonPlan, room: &Room, facts: &Facts) -> Vec<String> {
    let need = need(plan);
    let free = room.free();
    let loaded = room.loaded_already();
    let load = match (plan.part.local.is_some(), need.load) {
        (true, _) => "nothing to load".to_owned(),
        (false, 0) => "a size that the server does not say".to_owned(),
        (false, load) => format!("{} to load{loaded}", size(load)),
    };
    let from = match &plan.part.local {
        Some(path) => path.display().to_string(),
        None if plan.part.sha256.is_empty() => plan.part.public_url(),
        None => plan.source.to_owned(),
    };
    let disk =
        if need.unpacked > 0 { format!(", about {} on disk", size(need.unpacked)) } else { String::new() };
    let mut lines = vec![format!(
        "{} for CUDA {}, from {from}: {load}{disk} ({} free)",
        need.what,
        plan.cuda,
        size(free)
    )];
    if !plan.passed.is_empty() {
        lines.push(format!("from {}, since these do not serve: {}", plan.source, plan.passed.join(", ")));
    }
    lines.extend(plan.notes.iter().cloned());
    let release = Version::release(plan.cuda, 0);
    let never = |d: &&str| matches!(driver::fit(d, release), Some(driver::Fit::Never(_)));
    lines.extend(facts.driver.as_deref().filter(never).and_then(|d| driver::line(d, release)));
    lines.extend(decide::owner_warning(facts));
    lines
}

/// Loads it and puts it into place. No receipt: another process did so meanwhile.
fn apply(site: &Site<'_>, plan: &AddonPlan, reach: &Reach) -> Result<(Addon, Option<Receipt>), Failure> {
    let directory = directory_name(&plan.version, plan.cuda);
    let name = plan.library.name;
    let root = site.home.addons().join(name).join(&directory);
    let staged = format!("{name}-{directory}");
    let parts = std::slice::from_ref(&plan.part);
    let build = Build {
        name: &staged,
        target: &root,
        staging: &site.home.staging(),
        in_home: true,
        parts,
        platform: plan.platform,
        replace: false,
    };
    let receipt = stage::run(site, &build, reach, &|| false, |tree, unpacked| {
        let made = mend::addon::mend(tree, name, plan.library.header, &plan.part.file)?;
        check_version(plan, tree, site)?;
        let mut receipt = receipt(plan, unpacked, made);
        receipt.bytes = tree::size(tree)?;
        receipt.write(tree)?;
        Ok(receipt)
    })?;
    let addon = Addon { library: plan.library, version: plan.version.clone(), cuda: plan.cuda, root };
    Ok((addon, receipt))
}

/// The header's version has to be the one that the archive's name, or whoever gave it, says. Where a source names the
/// archive's hash, it is what the source means, whatever its header says.
fn check_version(plan: &AddonPlan, tree: &Path, site: &Site<'_>) -> Result<(), Failure> {
    let Some(origin) = origin(plan.library) else { return Ok(()) };
    let Some(stated) = header::version(&tree.join("include"), origin) else { return Ok(()) };
    if stated.accepts(&plan.version) || plan.version.accepts(&stated) {
        return Ok(());
    }
    let (file, version) = (&plan.part.file, &plan.version);
    let differs = format!("{file} is taken for {version}, and its header says {stated}");
    if plan.part.sha256.is_empty() {
        return Err(Failure::new(Exit::BadBytes, format!("{differs}; it is not installed")));
    }
    site.talk.say(&format!("note: {differs}"));
    Ok(())
}

fn receipt(plan: &AddonPlan, unpacked: &[Unpacked], made: Vec<String>) -> Receipt {
    Receipt {
        cudaup: env!("CARGO_PKG_VERSION").to_owned(),
        name: plan.library.name.to_owned(),
        version: plan.version.to_string(),
        cuda: plan.cuda,
        source: plan.source.to_owned(),
        platform: plan.platform.target().to_owned(),
        installed_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        url: plan.part.public_url(),
        sha256: plan.part.sha256.clone(),
        size: plan.part.size,
        files: unpacked.iter().flat_map(|u| u.files.clone()).collect(),
        made,
        bytes: 0,
    }
}
