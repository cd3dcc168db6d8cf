//! From downloaded parts to a toolkit that works: look at the machine, decide, carry out.

pub mod addon;
pub mod apply;
mod attempt;
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
use crate::toolkit::receipt::Receipt;
use apply::Site;
use attempt::{Attempt, Step};
use cudaup_core::inventory::{self, Kind, Toolkit};
use decide::Order;
use place::Place;
use std::path::PathBuf;
use std::time::Duration;

/// So many attempts are made; more than two only where others are at work on the same toolkit.
const ATTEMPTS: usize = 5;

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
    let mut attempt = Attempt::first(order);
    for _ in 0..ATTEMPTS {
        match attempt.make(site, roots)? {
            Step::Done(answer) => return Ok(answer),
            Step::Again(version) => attempt = attempt.next(version),
        }
    }
    let what = order.request.map_or_else(|| "it".to_owned(), |version| version.to_string());
    Err(Failure::new(
        Exit::Busy,
        format!("{what} was changed by other processes whenever it was to take its place"),
    )
    .hint("the same command again"))
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
