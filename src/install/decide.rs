//! What an install comes to, from facts alone.

use crate::compat::driver;
use crate::failure::{Exit, Failure};
use crate::install::look::{Facts, Room, Store};
use crate::source::plan::{Plan, Platform};
use crate::source::profile::{Profile, Wish, select};
use crate::source::select as sources;
use crate::toolkit::receipt::Receipt;
use crate::ui::view::size;
use cudaup_core::inventory::{Kind, Toolkit};
use cudaup_core::version::Version;
use std::path::Path;

/// What was asked for.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub struct Order {
    /// The version; `None`: the newest that a source has.
    pub request: Option<Version>,
    /// How much of it.
    pub wish: Wish,
    /// Whether the amount was asked for, and not just the usual one.
    pub amount_given: bool,
    /// Whether a newer one that fits is wanted where one is installed.
    pub upgrade: bool,
    /// Whether the toolkit is tried before it is put into place.
    pub verify: bool,
    /// Whether nothing is to be done.
    pub dry_run: bool,
    /// The source's name, or `auto`.
    pub source: &'static str,
    /// The machine that it is for, where that was said.
    pub platform: Option<Platform>,
}

impl Order {
    /// The usual amount of a version.
    pub const fn usual(version: Version) -> Self {
        Self {
            request: Some(version),
            wish: Wish::of(Profile::Default),
            amount_given: false,
            upgrade: false,
            verify: true,
            dry_run: false,
            source: sources::AUTO,
            platform: None,
        }
    }
}

/// The first decision, made without a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum First {
    /// What was asked for is there.
    Present(Toolkit),
    /// A source has to be asked, for this machine.
    Ask(Platform),
}

/// Decides whether a source has to be asked.
pub fn first(order: &Order, facts: &Facts, home: &Path) -> Result<First, Failure> {
    if let Some(other) = order.platform.filter(|p| Some(p.machine()) != facts.platform.map(Platform::machine))
    {
        return if order.dry_run { Ok(First::Ask(other)) } else { Err(another_machine(other)) };
    }
    let platform = order.platform.or(facts.platform).ok_or_else(|| {
        Failure::failed(
            "NVIDIA builds no toolkit for this machine: x86_64 and aarch64 Linux are what there is",
        )
    })?;
    if let Some(recorded) = facts.recorded.as_deref().filter(|r| *r != platform.machine() && !r.is_empty()) {
        let (home, machine) = (home.display(), platform.machine());
        let message = format!("{home} holds toolkits for {recorded}, and this machine is {machine}");
        return Err(Failure::failed(message).hint(format!("CUDAUP_HOME={home}-{machine} cudaup install ...")));
    }
    let Some(present) = facts.present.as_ref().filter(|_| !order.upgrade) else {
        return Ok(First::Ask(platform));
    };
    if !order.amount_given {
        return Ok(First::Present(present.clone()));
    }
    match (&present.kind, &facts.receipt) {
        (Kind::Managed, Some(receipt)) => match absent(&order.wish, receipt, present.identity.version) {
            Some(absent) => Err(too_little(present, receipt, &absent, &order.wish)),
            None => Ok(First::Present(present.clone())),
        },
        (Kind::Managed, None) => Ok(First::Present(present.clone())),
        // Somebody else's tree is not cudaup's to complete: the parts that were named come as a toolkit of its own.
        _ => Ok(First::Ask(platform)),
    }
}

/// The refusal of a toolkit that nothing here could run: it would be neither proved nor ever chosen.
fn another_machine(platform: Platform) -> Failure {
    let message = format!("{} is another machine, and cudaup installs for this one", platform.name());
    Failure::new(Exit::Usage, message)
        .hint("the same command with --dry-run, to see what it would load there")
}

/// What a toolkit lacks of a wish, in words.
fn absent(wish: &Wish, receipt: &Receipt, version: Version) -> Option<String> {
    let has = |name: &&str| receipt.parts.iter().any(|p| p.name == **name);
    let named = select(&Wish { profile: Profile::Chosen, components: wish.components.clone() }, version);
    let absent: Vec<&str> = named.must.iter().copied().filter(|n| !has(n)).collect();
    if !absent.is_empty() {
        return Some(absent.join(", "));
    }
    let installed = Profile::parse(&receipt.profile);
    let profile = Some(wish.profile).filter(|p| *p != Profile::Chosen);
    profile.filter(|p| installed.is_none_or(|i| i < *p)).map(|p| format!("the {p} profile"))
}

fn too_little(present: &Toolkit, receipt: &Receipt, absent: &str, wish: &Wish) -> Failure {
    let version = present.identity.version;
    let amount = match Profile::parse(&receipt.profile) {
        Some(profile) => format!("the {profile} profile"),
        None => receipt.profile.clone(),
    };
    // What is there now has to be there afterwards, too.
    let kept = Profile::parse(&receipt.profile).filter(|_| wish.profile == Profile::Chosen);
    let wish = Wish { profile: kept.unwrap_or(wish.profile), components: wish.components.clone() };
    let again = format!("cudaup uninstall {version} --force && cudaup install {version}{}", options(&wish));
    Failure::failed(format!("{version} is installed with {amount}, without {absent}")).hint(again)
}

/// A wish as the command line takes it.
fn options(wish: &Wish) -> String {
    let mut options = String::new();
    if wish.profile != Profile::Chosen {
        options.push_str(" --profile ");
        options.push_str(&wish.profile.to_string());
    }
    let names: Vec<&str> = wish.components.iter().map(|c| c.name).collect();
    if !names.is_empty() {
        options.push_str(" --components ");
        options.push_str(&names.join(","));
    }
    options
}

/// Whether the plan can be carried out in the room there is.
pub fn fits(plan: &Plan, room: &Room) -> Result<(), Failure> {
    room.stores.iter().try_for_each(|store| fits_in(plan, room.loaded, store))
}

fn fits_in(plan: &Plan, loaded: u64, store: &Store) -> Result<(), Failure> {
    let load = if store.archives { plan.size().saturating_sub(loaded) } else { 0 };
    let unpacked = if store.tree { plan.unpacked() } else { 0 };
    let needed = load.saturating_add(unpacked);
    if needed <= store.free {
        return Ok(());
    }
    let message = format!(
        "not enough room in {} for {}: {} are needed ({} to load and {} on disk), {} are free",
        store.path.display(),
        plan.version,
        size(needed),
        size(load),
        size(unpacked),
        size(store.free)
    );
    let failure =
        Failure::new(Exit::Failed, message).hint("CUDAUP_HOME=/a/larger/disk/cudaup cudaup install ...");
    Err(match plan.profile {
        Profile::Minimal | Profile::Chosen => failure,
        _ => failure.hint(format!("cudaup install {} --profile minimal", plan.version)),
    })
}

/// What is said before anything is loaded.
pub fn announcement(plan: &Plan, room: &Room, facts: &Facts) -> Vec<String> {
    let profile = match plan.profile {
        Profile::Chosen => Profile::Chosen.to_string(),
        profile => format!("{profile} profile"),
    };
    let parts =
        if plan.parts.len() == 1 { "1 part".to_owned() } else { format!("{} parts", plan.parts.len()) };
    let loaded = if room.loaded > 0 {
        format!(" ({} of it loaded already)", size(room.loaded))
    } else {
        String::new()
    };
    let free = room.stores.iter().filter(|s| s.tree).map(|s| s.free).min().unwrap_or(0);
    let elsewhere = facts.platform != Some(plan.platform);
    let machine = if elsewhere { format!(" for {}", plan.platform.name()) } else { String::new() };
    let mut lines = vec![format!(
        "{}{machine}, {profile}, from {}: {parts}, {} to load{loaded}, about {} on disk ({} free)",
        plan.version,
        plan.source,
        size(plan.size()),
        size(plan.unpacked()),
        size(free)
    )];
    if !plan.passed.is_empty() {
        lines.push(format!("from {}, since these do not serve: {}", plan.source, plan.passed.join(", ")));
    }
    if !plan.missing.is_empty() {
        lines.push(format!("{} does not have {}", plan.source, plan.missing.join(", ")));
    }
    lines.extend(plan.notes.iter().cloned());
    let driver = facts.driver.as_deref().filter(|_| !elsewhere);
    lines.extend(driver.and_then(|d| driver::line(d, plan.version)));
    if let Some(owner) = facts.other_owner {
        lines.push(format!(
            "warning: you are root and this is the home of user {owner}: what is made now will be root's"
        ));
    }
    lines
}

#[cfg(test)]
mod tests;
