//! What an install comes to, from facts alone.

use crate::compat::driver;
use crate::failure::{Exit, Failure};
use crate::install::look::{self, Facts, Room, Store};
use crate::install::place::{self, Place};
use crate::source::component;
use crate::source::local::{NAME as LOCAL, Origin};
use crate::source::plan::{Part, Plan, Platform, WHOLE};
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
    /// What to install from instead of a source.
    pub from: Option<Origin>,
    /// The machine that it is for, where that was said.
    pub platform: Option<Platform>,
    /// Where it goes.
    pub place: Place,
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
            from: None,
            platform: None,
            place: Place::Home,
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
    /// What is there has too little: it is made anew, with this much, from the source that it came from.
    Grow(Platform, Wish, Option<&'static str>),
}

/// The machine to install for, where the home is for it. `asked` is the one that was named.
pub fn platform(asked: Option<Platform>, facts: &Facts, home: &Path) -> Result<Platform, Failure> {
    let platform = asked.or(facts.platform).ok_or_else(|| {
        Failure::failed(
            "NVIDIA builds no toolkit for this machine: x86_64 and aarch64 Linux are what there is",
        )
    })?;
    if let Some(recorded) = facts.recorded.as_deref().filter(|r| *r != platform.machine() && !r.is_empty()) {
        let (home, machine) = (home.display(), platform.machine());
        let message = format!("{home} holds toolkits for {recorded}, and this machine is {machine}");
        return Err(Failure::failed(message).hint(format!("CUDAUP_HOME={home}-{machine} cudaup install ...")));
    }
    Ok(platform)
}

/// Decides whether a source has to be asked.
pub fn first(order: &Order, facts: &Facts, home: &Path) -> Result<First, Failure> {
    if let Some(other) = order.platform.filter(|p| Some(p.machine()) != facts.platform.map(Platform::machine))
    {
        return if order.dry_run { Ok(First::Ask(other)) } else { Err(another_machine(other)) };
    }
    let platform = platform(order.platform, facts, home)?;
    // What `--from` names has to be looked at: it may hold another update.
    let asks = order.upgrade || order.from.is_some();
    let Some(present) = facts.present.as_ref().filter(|_| !asks) else {
        return Ok(First::Ask(platform));
    };
    if !order.amount_given {
        return Ok(First::Present(present.clone()));
    }
    match (&present.kind, &facts.receipt) {
        (Kind::Managed, Some(receipt)) => match absent(&order.wish, receipt, present.identity.version) {
            Some(absent) if has(receipt, WHOLE) => Err(too_little(order, present, receipt, &absent)),
            Some(_) => {
                let source = sources::names().find(|name| *name == receipt.source);
                Ok(First::Grow(platform, grown(receipt, &order.wish), source))
            }
            None => Ok(First::Present(present.clone())),
        },
        (Kind::Managed, None) => Err(look::no_receipt(&present.root)),
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

/// Components that some sources bring inside another one's archive, and the file by which each is seen.
const INSIDE: [(&str, &str); 6] = [
    ("cuda_cuobjdump", "bin/cuobjdump"),
    ("cuda_nvdisasm", "bin/nvdisasm"),
    ("cuda_cuxxfilt", "bin/cu++filt"),
    ("cuda_nvprune", "bin/nvprune"),
    ("cuda_sanitizer_api", "compute-sanitizer/compute-sanitizer"),
    ("cuda_profiler_api", "include/cuda_profiler_api.h"),
];

/// And the files by which the others are seen, where no library is called like the component.
const SEEN_BY: [(&str, &str); 9] = [
    ("cuda_nvcc", "bin/nvcc"),
    ("cuda_crt", "crt/host_config.h"),
    ("cuda_cccl", "thrust/version.h"),
    ("cuda_nvtx", "nvtx3/nvToolsExt.h"),
    ("cuda_nvml_dev", "include/nvml.h"),
    ("cuda_gdb", "bin/cuda-gdb"),
    ("cuda_nvprof", "bin/nvprof"),
    ("cuda_memcheck", "bin/cuda-memcheck"),
    ("cuda_opencl", "CL/cl.h"),
];

/// Whether a toolkit has a component, in an archive of its own or in another's. What came in one piece has no parts by
/// name: there its files tell.
fn has(receipt: &Receipt, name: &str) -> bool {
    let ends = |file: &str, table: &[(&str, &str)]| {
        table.iter().any(|(component, mark)| *component == name && file.ends_with(mark))
    };
    if let Some(piece) = receipt.parts.iter().find(|part| part.name == WHOLE && name != WHOLE) {
        let marked = INSIDE.iter().chain(&SEEN_BY).any(|(component, _)| *component == name);
        let short = name.trim_start_matches("cuda_").trim_start_matches("lib");
        return piece.files.iter().any(|file| {
            if marked {
                ends(file, &INSIDE) || ends(file, &SEEN_BY)
            } else {
                is_library(file, short) || name.starts_with("nsight") && file.contains(short)
            }
        });
    }
    receipt.parts.iter().any(|part| part.name == name || part.files.iter().any(|file| ends(file, &INSIDE)))
}

/// Whether a file is the library of this name. A stub to link against is not, and neither is a header.
fn is_library(file: &str, short: &str) -> bool {
    let (folder, last) = file.rsplit_once('/').unwrap_or(("", file));
    let last = last.to_ascii_lowercase();
    let named = last.strip_prefix("lib").is_some_and(|rest| rest.starts_with(short));
    named && (last.contains(".so") || last.rsplit('.').next() == Some("a")) && !folder.ends_with("stubs")
}

/// What a toolkit lacks of a wish, in words.
pub fn absent(wish: &Wish, receipt: &Receipt, version: Version) -> Option<String> {
    let installed = Profile::parse(&receipt.profile);
    let absent = |names: &[&str]| {
        let absent = names.iter().filter(|name| !has(receipt, name)).map(|name| (*name).to_owned());
        Some(absent.collect::<Vec<_>>())
            .filter(|absent| !absent.is_empty())
            .map(|absent| place::shown(&absent))
    };
    let named = select(&Wish { profile: Profile::Chosen, components: wish.components.clone() }, version);
    if let Some(absent) = absent(&named.must) {
        return Some(absent);
    }
    let profile = Some(wish.profile).filter(|p| *p != Profile::Chosen)?;
    if installed.is_none_or(|installed| installed < profile) {
        return Some(format!("the {profile} profile"));
    }
    // Somebody's tree is taken for the full profile, whatever is in it.
    let taken = receipt.source == LOCAL && has(receipt, WHOLE);
    let usual = select(&Wish::of(profile.min(Profile::Default)), version);
    Some([usual.must, usual.may].concat()).filter(|_| taken).and_then(|names| absent(&names))
}

/// What came in one piece cannot be added to.
fn too_little(order: &Order, present: &Toolkit, receipt: &Receipt, absent: &str) -> Failure {
    let version = present.identity.version;
    let of = order.place.option();
    let amount = order.wish.options();
    Failure::failed(format!("{version} came in one piece from {}, without {absent}", receipt.source))
        .hint(format!("cudaup uninstall {of}{version} --force && cudaup install {of}{version}{amount}"))
}

/// What would take the place of what is there has less than is wanted.
pub fn brings_less(there: &Path, plan: &Plan, absent: &str) -> Failure {
    let from = plan.parts.first().map_or_else(|| plan.source.to_owned(), Part::public_url);
    Failure::new(Exit::NoVersion, format!("{from} has no {absent}: {} stays as it is", there.display()))
}

/// What there is and what is wanted, together.
fn grown(receipt: &Receipt, wish: &Wish) -> Wish {
    let profile = match (Profile::parse(&receipt.profile), wish.profile) {
        (Some(there), Profile::Chosen) => there,
        (Some(there), wanted) => there.max(wanted),
        (None, wanted) => wanted,
    };
    let mut components = wish.components.clone();
    let there = receipt.parts.iter().filter_map(|part| component::named(&part.name));
    for component in there {
        if !components.contains(&component) {
            components.push(component);
        }
    }
    Wish { profile, components }
}

/// Whether the plan can be carried out in the room there is.
pub fn fits(plan: &Plan, room: &Room) -> Result<(), Failure> {
    let need = Need { what: plan.version.to_string(), load: plan.size(), unpacked: plan.unpacked() };
    has_room(&need, room).map_err(|failure| match plan.profile {
        Profile::Minimal | Profile::Chosen => failure,
        // One that is taken as it is has no smaller profile.
        Profile::Full if plan.is_whole() => failure,
        _ => failure.hint(format!("cudaup install {} --profile minimal", plan.version)),
    })
}

/// The room that something needs, in bytes.
#[derive(Clone, Debug)]
pub struct Need {
    /// What it is, for a person.
    pub what: String,
    /// To load.
    pub load: u64,
    /// On disk, when it is unpacked.
    pub unpacked: u64,
}

/// Whether there is room.
pub fn has_room(need: &Need, room: &Room) -> Result<(), Failure> {
    room.stores.iter().try_for_each(|store| fits_in(need, room.loaded, store))
}

fn fits_in(need: &Need, loaded: u64, store: &Store) -> Result<(), Failure> {
    let load = if store.archives { need.load.saturating_sub(loaded) } else { 0 };
    let unpacked = if store.tree { need.unpacked } else { 0 };
    let needed = load.saturating_add(unpacked);
    if needed <= store.free {
        return Ok(());
    }
    let message = format!(
        "not enough room in {} for {}: {} are needed ({} to load and {} on disk), {} are free",
        store.path.display(),
        need.what,
        size(needed),
        size(load),
        size(unpacked),
        size(store.free)
    );
    Err(Failure::new(Exit::Failed, message).hint("CUDAUP_HOME=/a/larger/disk/cudaup cudaup install ..."))
}

/// What is said before anything is loaded.
pub fn announcement(plan: &Plan, room: &Room, facts: &Facts) -> Vec<String> {
    let profile = match plan.profile {
        Profile::Chosen => Profile::Chosen.to_string(),
        profile => format!("{profile} profile"),
    };
    let parts =
        if plan.parts.len() == 1 { "1 part".to_owned() } else { format!("{} parts", plan.parts.len()) };
    let loaded = room.loaded_already();
    let free = room.free();
    let elsewhere = facts.platform != Some(plan.platform);
    let machine = if elsewhere { format!(" for {}", plan.platform.name()) } else { String::new() };
    let from = if plan.source == LOCAL { "this machine" } else { plan.source };
    let what = match plan.profile {
        Profile::Full if plan.is_whole() => format!("whole, from {from}"),
        _ => format!("{profile}, from {from}: {parts}"),
    };
    let load = match plan.size() {
        0 if plan.parts.iter().all(|p| p.local.is_some()) => "nothing to load".to_owned(),
        bytes => format!("{} to load{loaded}", size(bytes)),
    };
    let disk = format!("about {} on disk ({} free)", size(plan.unpacked()), size(free));
    let mut lines = vec![format!("{}{machine}, {what}, {load}, {disk}", plan.version)];
    if !plan.passed.is_empty() {
        lines.push(format!("from {}, since these do not serve: {}", plan.source, plan.passed.join(", ")));
    }
    if !plan.missing.is_empty() {
        lines.push(match plan.source {
            LOCAL => format!("not in it: {}", plan.missing.join(", ")),
            source => format!("{source} does not have {}", plan.missing.join(", ")),
        });
    }
    lines.extend(plan.notes.iter().cloned());
    let driver = facts.driver.as_deref().filter(|_| !elsewhere);
    lines.extend(driver.and_then(|d| driver::line(d, plan.version)));
    lines.extend(owner_warning(facts));
    lines
}

/// What root is told before it writes into another user's home.
pub fn owner_warning(facts: &Facts) -> Option<String> {
    facts.other_owner.map(roots_files)
}

/// What root is told in the home of that user.
pub fn roots_files(owner: u32) -> String {
    format!("warning: you are root and this is the home of user {owner}: what is made now will be root's")
}

#[cfg(test)]
mod tests;
