//! From downloaded parts to a toolkit that works: look at the machine, decide, carry out.

pub mod addon;
pub mod apply;
pub mod cache;
#[cfg(test)]
mod debian_packages;
pub mod decide;
pub mod engine;
mod from;
pub mod headers;
pub mod look;
pub mod mend;
pub mod mirror;
pub mod place;
#[cfg(test)]
mod real_wheels;
pub mod remove;
pub mod share;
pub mod stage;
#[cfg(test)]
mod tests;

use crate::failure::{Exit, Failure};
use crate::settings;
use crate::source::plan::{Plan, loaded_as};
use crate::source::query::Query;
use crate::source::reach::reach;
use crate::source::select;
use crate::toolkit::receipt::Receipt;
use apply::{Done, Site};
use cudaup_core::inventory::{self, Kind, Toolkit};
use cudaup_core::version::Version;
use decide::{First, Order};
use look::Facts;
use place::Place;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What an order came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What was asked for is there already.
    Present(Toolkit),
    /// What would be loaded, and what would be said about it.
    Planned(Box<Plan>, Vec<String>),
    /// It was installed.
    Installed(Box<Installed>),
}

/// A toolkit that was just installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Where it is.
    pub root: PathBuf,
    /// What it is made of.
    pub receipt: Receipt,
    /// How long it took.
    pub took: Duration,
    /// Whether it became the user's default.
    pub default: bool,
    /// For whom it is.
    pub place: Place,
}

/// Carries an order out. `roots` are the further places of toolkits that the settings name.
pub fn run(site: &Site<'_>, roots: &[PathBuf], order: &Order) -> Result<Answer, Failure> {
    let answer = carry_out(site, roots, order);
    if !order.dry_run {
        order.place.tidy(site);
    }
    answer.map(|answer| match answer {
        Answer::Present(toolkit) if order.place == Place::System => {
            Answer::Present(Toolkit { kind: Kind::System, ..toolkit })
        }
        answer => answer,
    })
}

fn carry_out(site: &Site<'_>, roots: &[PathBuf], order: &Order) -> Result<Answer, Failure> {
    let start = Instant::now();
    let place = order.place;
    let look = |request| place.look(site, roots, request);
    let facts = look(order.request)?;
    let exact = order.request.filter(Version::is_exact).map(|version| place.target(site, version));
    if let Some(root) = exact.filter(|root| place == Place::Home && root.is_dir() && !look::is_toolkit(root))
    {
        return Err(look::no_toolkit(&root));
    }
    let asked = order;
    // What is there by now is not what the plan was made for.
    let anew =
        |version| carry_out(site, roots, &Order { request: Some(version), upgrade: false, ..asked.clone() });
    let (order, platform, grows) = match decide::first(order, &facts, site.home.path())? {
        First::Present(toolkit) => return Ok(present(site, toolkit, facts.receipt.as_ref(), order.dry_run)),
        First::Ask(platform) => (order.clone(), platform, false),
        First::Grow(platform, wish, source) => {
            let request = facts.present.as_ref().map(|t| t.identity.version);
            let source = source.filter(|_| order.source == select::AUTO).unwrap_or(order.source);
            (Order { request, wish, source, ..order.clone() }, platform, true)
        }
    };
    let order = &order;
    if grows
        && place == Place::System
        && let Some((there, receipt)) = facts.present.as_ref().zip(facts.receipt.as_ref())
    {
        place::loses_nothing(&there.root, receipt, &order.wish)?;
    }
    let reach = reach(site.host, site.home.path())?;
    for note in &reach.indexes.notes {
        site.talk.say(&format!("note: {note}"));
    }
    let query = Query { host: site.host, reach: &reach, request: order.request, wish: &order.wish, platform };
    let mut plan = match &order.from {
        Some(origin) => from::plan(site, &query, origin, order.dry_run)?,
        None => match select::plan(&query, order.source) {
            // What it came from may not have the rest.
            Err(_) if grows && asked.source == select::AUTO => select::plan(&query, asked.source)?,
            plan => plan?,
        },
    };
    if let Some(newer) = facts.present.as_ref().filter(|t| order.upgrade && t.identity.version > plan.version)
    {
        return Ok(Answer::Present(newer.clone()));
    }
    if !grows {
        match installed_already(order, &look(Some(plan.version))?, site)? {
            Some(First::Present(there)) => {
                unneeded(site, order, &plan, reach.keep);
                return Ok(Answer::Present(there));
            }
            Some(First::Grow(..)) if !order.dry_run && order.from.is_none() => return anew(plan.version),
            _ => {}
        }
    }
    let room = look::room(site.home, &[place.staging(site), place.folder(site)], &plan.parts)?;
    let lines = decide::announcement(&plan, &room, &facts);
    if order.dry_run {
        return Ok(Answer::Planned(Box::new(plan), lines));
    }
    decide::fits(&plan, &room).map_err(|failure| place.failure(failure))?;
    if grows {
        site.talk.say(&format!("{} is there with less: it is made anew and takes its place", plan.version));
    }
    for line in &lines {
        site.talk.say(line);
    }
    let version = plan.version.to_string();
    let replaces = facts.receipt.as_ref().filter(|_| grows);
    let mut applied = apply::apply(site, order, &plan, &reach, replaces);
    if let Err(failure) = &applied
        && order.from.is_none()
        && let Some(again) = remade(&query, &plan, failure)
    {
        site.talk.say(&format!("{failure}: {} has other files for {version} by now; once more", plan.source));
        plan = again;
        applied = apply::apply(site, order, &plan, &reach, replaces);
    }
    match applied.map_err(|failure| place.failure(failure))? {
        Done::Installed(receipt) => {
            let default = place == Place::Home && apply::become_default(site, &version)?;
            let root = place.target(site, plan.version);
            Ok(Answer::Installed(Box::new(Installed {
                root,
                receipt: *receipt,
                took: start.elapsed(),
                default,
                place,
            })))
        }
        Done::Meanwhile if grows => anew(plan.version),
        Done::Meanwhile => match installed_already(order, &look(Some(plan.version))?, site)? {
            Some(First::Present(toolkit)) => {
                unneeded(site, order, &plan, reach.keep);
                Ok(Answer::Present(toolkit))
            }
            Some(First::Grow(..)) => anew(plan.version),
            _ => Err(look::no_toolkit(&place.target(site, plan.version))),
        },
    }
}

/// There is nothing to install. Whoever put the toolkit here may have been stopped before it became the default, and before
/// its archives went.
fn present(site: &Site<'_>, toolkit: Toolkit, receipt: Option<&Receipt>, dry_run: bool) -> Answer {
    let keep = settings::config(site.home.path()).is_ok_and(|config| config.cache.keep);
    for part in receipt.filter(|_| !dry_run && !keep).into_iter().flat_map(|r| &r.parts) {
        let file = part.url.rsplit('/').next().unwrap_or_default();
        let name = loaded_as(file, &part.url, &part.sha256);
        engine::forget_file(&name, &look::downloads(site.home));
    }
    let first = inventory::managed(site.home, site.disk) == [toolkit.clone()];
    if first && !dry_run {
        // A home that cannot be written is no hindrance to what is there.
        let _ = apply::become_default(site, &toolkit.identity.version.to_string());
    }
    Answer::Present(toolkit)
}

/// What was loaded from an address to be looked at goes again, where what it holds is installed.
fn unneeded(site: &Site<'_>, order: &Order, plan: &Plan, keep: bool) {
    if order.from.is_some() && !order.dry_run && !keep {
        engine::forget(&plan.parts, &look::downloads(site.home));
    }
}

/// What the source would have loaded now, where that is not what it said before: NVIDIA has remade releases, and between
/// the list of a release's files and the files a server may have got the new ones.
fn remade(query: &Query<'_>, plan: &Plan, failure: &Failure) -> Option<Plan> {
    if failure.exit != Exit::BadBytes {
        return None;
    }
    let exactly = Query { request: Some(plan.version), ..*query };
    let again = select::plan(&exactly, plan.source).ok()?;
    let hashes = |plan: &Plan| plan.parts.iter().map(|p| p.sha256.clone()).collect::<Vec<_>>();
    (hashes(&again) != hashes(plan)).then_some(again)
}

/// What is to be done where cudaup has installed the very version that the source's plan came to.
fn installed_already(order: &Order, facts: &Facts, site: &Site<'_>) -> Result<Option<First>, Failure> {
    if !facts.present.as_ref().is_some_and(|t| t.kind == Kind::Managed) {
        return Ok(None);
    }
    let order = Order { upgrade: false, from: None, ..order.clone() };
    decide::first(&order, facts, site.home.path()).map(Some)
}
