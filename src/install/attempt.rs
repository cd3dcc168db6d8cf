//! One attempt at an order, from looking to putting into place. Where what is there by the end is not what the plan was made
//! for, another one follows.

use super::{Answer, Installed, from, present, unneeded};
use crate::failure::{Exit, Failure};
use crate::install::apply::{self, Done, Site};
use crate::install::decide::{self, First, Order};
use crate::install::look::{self, Facts};
use crate::install::place::{self, Place};
use crate::source::plan::{Plan, Platform, WHOLE};
use crate::source::profile::Profile;
use crate::source::query::Query;
use crate::source::reach::{Reach, reach};
use crate::source::select;
use crate::toolkit::receipt::Receipt;
use cudaup_core::inventory::Kind;
use cudaup_core::version::Version;
use std::path::PathBuf;
use std::time::Instant;

/// An attempt that is to be made.
#[derive(Clone, Debug)]
pub struct Attempt {
    order: Order,
    /// Whether it is known that the version asked for is the one that the source has.
    settled: bool,
    start: Instant,
}

/// What came of an attempt.
pub enum Step {
    /// The order is carried out.
    Done(Answer),
    /// This version is there, with too little or changed by others: it is looked at anew.
    Again(Version),
}

/// What an attempt does: with how much, for which machine, and whether it replaces what is there with less.
struct Task {
    order: Order,
    platform: Platform,
    grows: bool,
}

impl Attempt {
    /// The first attempt.
    pub fn first(order: &Order) -> Self {
        Self { order: order.clone(), settled: false, start: Instant::now() }
    }

    /// The attempt after this one.
    pub fn next(self, version: Version) -> Self {
        Self {
            order: Order { request: Some(version), upgrade: false, ..self.order },
            settled: true,
            start: self.start,
        }
    }

    /// Makes it. `roots` are the further places of toolkits that the settings name.
    pub fn make(&self, site: &Site<'_>, roots: &[PathBuf]) -> Result<Step, Failure> {
        let asked = &self.order;
        let place = asked.place;
        let look = |request| place.look(site, roots, request);
        let facts = look(asked.request)?;
        let exact = asked.request.filter(Version::is_exact).map(|version| place.target(site, version));
        if let Some(root) =
            exact.filter(|root| place == Place::Home && root.is_dir() && !look::is_toolkit(root))
        {
            return Err(look::no_toolkit(&root));
        }
        let known = self.settled.then(|| settled(asked));
        let first = decide::first(known.as_ref().unwrap_or(asked), &facts, site.home.path())?;
        let task = match first {
            First::Present(toolkit) => {
                let there = present(site, toolkit, facts.receipt.as_ref(), asked.dry_run);
                return Ok(Step::Done(there));
            }
            First::Ask(platform) => Task { order: asked.clone(), platform, grows: false },
            First::Grow(platform, wish, source) => {
                let request = facts.present.as_ref().map(|t| t.identity.version);
                let source = source.filter(|_| asked.source == select::AUTO).unwrap_or(asked.source);
                Task { order: Order { request, wish, source, ..asked.clone() }, platform, grows: true }
            }
        };
        let Task { order, platform, grows } = &task;
        if let (true, Some(there), Some(receipt)) = (*grows, &facts.present, &facts.receipt) {
            place::loses_nothing(place, &there.root, receipt, &order.wish)?;
        }
        let reach = reach(site.host, site.home.path())?;
        for note in reach.indexes.notes.iter().filter(|_| !self.settled) {
            site.talk.say(&format!("note: {note}"));
        }
        let query = Query {
            host: site.host,
            reach: &reach,
            request: order.request,
            wish: &order.wish,
            platform: *platform,
        };
        let plan = match &order.from {
            Some(origin) => from::plan(site, &query, origin, order.dry_run)?,
            None => match select::plan(&query, order.source) {
                // What it came from may not have the rest.
                Err(_) if *grows && asked.source == select::AUTO => select::plan(&query, asked.source)?,
                plan => plan?,
            },
        };
        let newer = |there: &Version| asked.upgrade && *there > plan.version;
        if let Some(there) = facts.present.as_ref().filter(|t| newer(&t.identity.version)) {
            return Ok(Step::Done(Answer::Present(there.clone())));
        }
        if !grows {
            match installed_already(order, &plan, &look(Some(plan.version))?, site)? {
                Some(First::Present(there)) => {
                    unneeded(site, order, &plan, reach.keep);
                    return Ok(Step::Done(Answer::Present(there)));
                }
                Some(First::Grow(..)) => return Ok(Step::Again(plan.version)),
                _ => {}
            }
        }
        self.carry_out(site, roots, &task, &facts, &query, plan)
    }

    /// Carries the plan out, or says what it comes to.
    fn carry_out(
        &self,
        site: &Site<'_>,
        roots: &[PathBuf],
        task: &Task,
        facts: &Facts,
        query: &Query<'_>,
        plan: Plan,
    ) -> Result<Step, Failure> {
        let Task { order, grows, .. } = task;
        let place = order.place;
        let room = look::room(site.home, &[place.staging(site), place.folder(site)], &plan.parts)?;
        let mut lines = decide::announcement(&plan, &room, facts);
        if place == Place::System {
            lines.push(format!("for all users: {}", place.target(site, plan.version).display()));
        }
        if order.dry_run {
            return Ok(Step::Done(Answer::Planned(Box::new(plan), lines)));
        }
        decide::fits(&plan, &room).map_err(|failure| place.failure(failure))?;
        if *grows {
            site.talk
                .say(&format!("{} is there with less: it is made anew and takes its place", plan.version));
        }
        for line in &lines {
            site.talk.say(line);
        }
        let (version, keep) = (plan.version, query.reach.keep);
        let (done, plan) = applied(site, task, facts, query, plan)?;
        let Done::Installed(receipt) = done else {
            if *grows {
                return Ok(Step::Again(version));
            }
            return match installed_already(order, &plan, &place.look(site, roots, Some(version))?, site)? {
                Some(First::Present(toolkit)) => {
                    unneeded(site, order, &plan, keep);
                    Ok(Step::Done(Answer::Present(toolkit)))
                }
                Some(First::Grow(..)) => Ok(Step::Again(version)),
                _ => Err(look::no_toolkit(&place.target(site, version))),
            };
        };
        if plan.is_whole() {
            lacks(site, order, &receipt, version);
        }
        let default = place == Place::Home && apply::become_default(site, &version.to_string())?;
        Ok(Step::Done(Answer::Installed(Box::new(Installed {
            root: place.target(site, version),
            receipt: *receipt,
            took: self.start.elapsed(),
            default,
            place,
        }))))
    }
}

/// Applies the plan, and once more where its source has other files for it by now. Returns the plan that was used.
fn applied(
    site: &Site<'_>,
    task: &Task,
    facts: &Facts,
    query: &Query<'_>,
    plan: Plan,
) -> Result<(Done, Plan), Failure> {
    let order = &task.order;
    let replaces = facts.receipt.as_ref().filter(|_| task.grows);
    let apply = |plan: &Plan, reach: &Reach| apply::apply(site, order, plan, reach, replaces);
    let failure = match apply(&plan, query.reach) {
        Ok(done) => return Ok((done, plan)),
        Err(failure) => failure,
    };
    let again = if order.from.is_none() { remade(query, &plan, &failure) } else { None };
    let Some(again) = again else { return Err(order.place.failure(failure)) };
    let (source, version) = (plan.source, plan.version);
    site.talk.say(&format!("{failure}: {source} has other files for {version} by now; once more"));
    let done = apply(&again, query.reach).map_err(|failure| order.place.failure(failure))?;
    Ok((done, again))
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
fn installed_already(
    order: &Order,
    plan: &Plan,
    facts: &Facts,
    site: &Site<'_>,
) -> Result<Option<First>, Failure> {
    if !facts.present.as_ref().is_some_and(|t| t.kind == Kind::Managed) {
        return Ok(None);
    }
    let first = decide::first(&settled(order), facts, site.home.path());
    match (first, &facts.present, &facts.receipt) {
        // The same piece once more has no more in it.
        (Err(_), Some(there), Some(receipt)) if is_piece(receipt, plan) => {
            lacks(site, order, receipt, plan.version);
            Ok(Some(First::Present(there.clone())))
        }
        (first, ..) => first.map(Some),
    }
}

/// Whether what is there is the one piece that the plan would install, as it is.
fn is_piece(receipt: &Receipt, plan: &Plan) -> bool {
    let piece = plan.parts.iter().find(|part| part.name == WHOLE && plan.profile == Profile::Full);
    let there = receipt.parts.iter().find(|part| part.name == WHOLE);
    let whole = receipt.profile == Profile::Full.to_string();
    piece.zip(there).is_some_and(|(piece, there)| whole && piece.public_url() == there.url)
}

/// Says what is not in a toolkit that was taken in one piece, although it was asked for.
fn lacks(site: &Site<'_>, order: &Order, receipt: &Receipt, version: Version) {
    let asked = Some(&order.wish).filter(|_| order.amount_given);
    if let Some(absent) = asked.and_then(|wish| decide::absent(wish, receipt, version)) {
        site.talk.say(&format!("warning: {absent}: not in it, although asked for"));
    }
}

/// The order where its origin has been looked at, and need not be asked which version it has.
fn settled(order: &Order) -> Order {
    Order { upgrade: false, from: None, ..order.clone() }
}
