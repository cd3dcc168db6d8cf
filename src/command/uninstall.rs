//! `cudaup uninstall VERSION...`: removes toolkits that cudaup installed.

use crate::command::library::exact;
use crate::command::{Context, Outcome, system};
use crate::disk::atomic;
use crate::disk::lock::Lock;
use crate::disk::record::RECEIPT;
use crate::disk::staging::sweep_home;
use crate::failure::{Exit, Failure};
use crate::global::state::LINK;
use crate::install::remove::{self, Buried};
use crate::install::stage::WAIT;
use crate::shims;
use crate::ui::view::{Style, View, size};
use clap::Args as Arguments;
use cudaup_core::addon::all;
use cudaup_core::discovery::{self, Search};
use cudaup_core::disk::Disk;
use cudaup_core::environment::Vars;
use cudaup_core::inventory::{self, Kind};
use cudaup_core::pin::{parse_default, without_request};
use cudaup_core::refusal::{Refusal, Rule, Why};
use cudaup_core::request::Request;
use cudaup_core::resolve::{default_settings, toolkit};
use cudaup_core::version::Version;
use serde_json::{Value, json};
use std::cell::OnceCell;
use std::io::ErrorKind;

/// Remove toolkits that cudaup installed.
#[derive(Debug, Arguments)]
pub struct Args {
    /// Versions to remove; each has to name one installed toolkit
    #[arg(required = true)]
    versions: Vec<String>,
    /// Remove toolkits for all users, /usr/local/cuda-X.Y, that cudaup has put there
    #[arg(long)]
    system: bool,
    /// Remove also the toolkit that your default names, or that /usr/local/cuda leads to
    #[arg(long)]
    force: bool,
    /// Ask nothing (uninstall never asks; taken for the habit's sake)
    #[arg(short, long, hide = true)]
    yes: bool,
}

struct Removed {
    toolkits: Vec<(String, u64)>,
    no_default: bool,
    /// What is not as it was without them.
    notes: Vec<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        if self.system {
            let (toolkits, notes) = system::uninstall(context, &self.versions, self.force)?;
            return Ok(Outcome::View(Box::new(Removed { toolkits, no_default: false, notes })));
        }
        context.warn_root(context.home.path());
        let chosen = self.versions.iter().map(|text| one(context, text, self.force));
        let chosen = chosen.collect::<Result<Vec<_>, _>>().inspect_err(|_| {
            // One that was killed may have left shims of what it had removed.
            if context.home.shims().is_dir() {
                let _ = shims::renew(&context.home, &context.host, &context.disk);
            }
        })?;
        let global = inventory::global(&context.disk);
        let mut removed = Removed { toolkits: Vec::new(), no_default: false, notes: Vec::new() };
        let (mut failed, mut shims) = (None, None);
        // Each is done with before the next one, which may be in use for long.
        for target in distinct(chosen) {
            match remove(context, target, &mut removed) {
                Ok(renewed) => shims = shims.or(renewed.err()),
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            }
        }
        if let (Some(_), Some(shims)) = (&failed, &shims) {
            context.talk.say(&format!("warning: {shims}"));
        }
        let failed = failed.or(shims.map(|failure| failure.hint("cudaup rehash   (once that is mended)")));
        sweep_home(&context.home);
        removed.notes.extend(system::dangling(context, global.as_deref()));
        removed.notes.extend(left_behind(context, &removed.toolkits));
        let Some(failure) = failed else { return Ok(Outcome::View(Box::new(removed))) };
        for line in removed.human(&Style { color: false, user_home: None }).lines() {
            context.talk.say(line);
        }
        Err(failure)
    }
}

/// Removes one, and then all that leads to it. Returns what came of the shims.
fn remove(
    context: &Context,
    target: Target,
    removed: &mut Removed,
) -> Result<Result<Vec<String>, Failure>, Failure> {
    let (name, buried) = match target {
        Target::Managed(version) => {
            let default = OnceCell::new();
            let last = || drop_default(context, version).map(|dropped| drop(default.set(dropped)));
            let buried = remove::toolkit(&context.home, version, &context.disk, &context.talk, &last);
            let default = default.into_inner().flatten();
            if let (Err(_), Some(bytes)) = (&buried, &default) {
                atomic::write(&context.home.default_file(), bytes)?;
            }
            removed.no_default |= buried.is_ok() && default.is_some();
            (version.to_string(), Some(buried?))
        }
        Target::Link(name) => {
            remove::unlink(&context.home, &name, &context.disk)?;
            (name, None)
        }
    };
    removed.toolkits.push((name, buried.as_ref().map_or(0, Buried::bytes)));
    // Deleting takes long, and may be stopped: by then nothing leads to what is gone.
    let renewed = shims::renew(&context.home, &context.host, &context.disk);
    buried.map(Buried::delete).transpose()?;
    Ok(renewed)
}

/// Who still asks here for what was removed, and the add-ons that no toolkit is left for.
fn left_behind(context: &Context, removed: &[(String, u64)]) -> Vec<String> {
    let world = context.world();
    let style = Style { color: false, user_home: context.host.user_home.clone() };
    let mut notes = Vec::new();
    if let Err(Refusal { rule, why: Why::NotInstalled(request, _) }) = toolkit(&world, None) {
        let fits = |name: &String| match (&request, Version::parse(name)) {
            (Request::Version(wanted), Some(version)) => wanted.accepts(version),
            (Request::Link(link), _) => link == name,
            _ => false,
        };
        let by = match &rule {
            Rule::Pin(file, _) => Some(style.path(file)),
            Rule::Variable => Some("CUDAUP_VERSION".to_owned()),
            _ => None,
        };
        if let Some(by) = by.filter(|_| removed.iter().any(|(name, _)| fits(name))) {
            notes.push(format!(
                "{by} asks for {request}: nvcc fails here until that is installed again or it asks for another"
            ));
        }
    }
    let left: Vec<u32> = inventory::managed(&context.home, &context.disk)
        .into_iter()
        .chain(not_managed(context))
        .map(|t| t.identity.version.major)
        .collect();
    let of_removed =
        |cuda: u32| removed.iter().filter_map(|(name, _)| Version::parse(name)).any(|v| v.major == cuda);
    let orphans: Vec<String> = all(&context.home, &[], &context.disk)
        .iter()
        .filter(|addon| of_removed(addon.cuda) && !left.contains(&addon.cuda))
        .map(exact)
        .collect();
    if !orphans.is_empty() {
        notes.push(format!("its add-ons stay; to remove them: cudaup remove {}", orphans.join(" ")));
    }
    notes
}

#[derive(PartialEq)]
enum Target {
    Managed(Version),
    Link(String),
}

/// Each target once, however many names it was given.
fn distinct(targets: Vec<Target>) -> Vec<Target> {
    let mut distinct: Vec<Target> = Vec::new();
    for target in targets {
        if !distinct.contains(&target) {
            distinct.push(target);
        }
    }
    distinct
}

/// The one toolkit that a text names, checked before anything is removed.
fn one(context: &Context, text: &str, force: bool) -> Result<Target, Failure> {
    let wanted = match context.request(text)? {
        Request::Version(version) => version,
        Request::Link(name) if remove::is_link(&context.home, &name, &context.disk) => {
            return Ok(Target::Link(name));
        }
        request => {
            return Err(Failure::new(
                Exit::Usage,
                format!("`{request}` names no toolkit that can be removed"),
            )
            .hint("cudaup list")
            .hint("cudaup uninstall VERSION"));
        }
    };
    let installed = inventory::versions(&context.home, &context.disk);
    let fitting: Vec<Version> = installed.iter().copied().filter(|v| wanted.accepts(*v)).collect();
    let version = match fitting.as_slice() {
        [one] => *one,
        [] => return Err(absent(context, wanted)),
        many => {
            let names: Vec<String> = many.iter().map(ToString::to_string).collect();
            return Err(Failure::new(
                Exit::Usage,
                format!("{wanted} fits several toolkits: {}", names.join(", ")),
            )
            .hint(format!("cudaup uninstall {}", names.first().map_or("", |n| n.as_str()))));
        }
    };
    let root = context.disk.real(&context.home.toolkit(&version.to_string()));
    if !force && root.is_some() && inventory::global(&context.disk) == root {
        return Err(Failure::failed(format!(
            "{LINK} leads to this CUDA {version}, for all users: another one has to take its place first"
        ))
        .hint("cudaup use --global VERSION")
        .hint(format!("cudaup uninstall --force {version}")));
    }
    if !force && is_default(context, version, &installed) {
        return Err(Failure::failed(format!(
            "CUDA {version} is your default ({}): another one has to take its place first",
            context.home.default_file().display()
        ))
        .hint("cudaup use --default VERSION")
        .hint(format!("cudaup uninstall --force {version}")));
    }
    Ok(Target::Managed(version))
}

fn absent(context: &Context, wanted: Version) -> Failure {
    let search = Search { home: &context.home, roots: &[], vars: &context.vars };
    let elsewhere = inventory::usable(inventory::links(&context.home, &context.disk))
        .into_iter()
        .chain(inventory::usable(discovery::machine(search, &context.disk)))
        .find(|t| wanted.accepts(t.identity.version));
    match elsewhere {
        Some(t) => {
            let ours = t.kind == Kind::System && t.root.join(RECEIPT).is_file();
            let whose = if ours { "is for all users of this machine" } else { "was not installed by cudaup" };
            let what = format!("CUDA {} {whose} and is left alone: {}", t.identity, t.root.display());
            let hint = match &t.kind {
                Kind::Link(name) => format!("cudaup uninstall {name}   (forgets the name, and no more)"),
                _ if ours => format!("cudaup uninstall --system {}", t.identity.version),
                _ => "cudaup list   (says who has put it there)".to_owned(),
            };
            Failure::failed(what).hint(hint)
        }
        None => Failure::new(Exit::NoVersion, format!("CUDA {wanted} is not installed")).hint("cudaup list"),
    }
}

/// Whether the user's default, as it stands, means this toolkit.
fn is_default(context: &Context, version: Version, installed: &[Version]) -> bool {
    let Ok(bytes) = std::fs::read(context.home.default_file()) else { return false };
    let Ok(Some(Request::Version(wanted))) = parse_default(&bytes).map(|p| p.request) else { return false };
    installed.iter().find(|installed| wanted.accepts(**installed)) == Some(&version)
}

/// Takes the request out of the user's default where this toolkit is the last one that meets it, before that goes: whoever is
/// stopped in between leaves no default that cannot be met. Returns what the file held where it did.
fn drop_default(context: &Context, version: Version) -> Result<Option<Vec<u8>>, Failure> {
    let file = context.home.default_file();
    let lock = context.home.path().join("default.lock");
    let _lock = Lock::acquire(&lock, "your default", WAIT, &|line| context.talk.say(line))?;
    let bytes = match std::fs::read(&file) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|e| Failure::io("read", &file, &e))?,
    };
    let Ok(Some(Request::Version(wanted))) = parse_default(&bytes).map(|p| p.request) else {
        return Ok(None);
    };
    let others = inventory::managed(&context.home, &context.disk).into_iter();
    let mut others = others.filter(|t| t.identity.version != version).chain(not_managed(context));
    if !wanted.accepts(version) || others.any(|t| wanted.accepts(t.identity.version)) {
        return Ok(None);
    }
    match without_request(&bytes) {
        Ok(Some(kept)) => atomic::write(&file, kept.as_bytes())?,
        Ok(None) => std::fs::remove_file(&file).map_err(|e| Failure::io("remove", &file, &e))?,
        Err(_) => return Ok(None),
    }
    Ok(Some(bytes))
}

/// The toolkits that cudaup has not put there, and that every shell finds.
fn not_managed(context: &Context) -> Vec<inventory::Toolkit> {
    let roots = default_settings(&context.world()).roots;
    let search = Search { home: &context.home, roots: &roots, vars: &Vars::default() };
    let mut all = inventory::usable(inventory::links(&context.home, &context.disk));
    all.extend(inventory::usable(discovery::machine(search, &context.disk)));
    all
}

impl View for Removed {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> =
            self.toolkits.iter().map(|(name, bytes)| json!({ "name": name, "freed": bytes })).collect();
        json!({ "removed": rows, "default_dropped": self.no_default, "notes": self.notes })
    }

    fn human(&self, _style: &Style) -> String {
        let line = |(name, bytes): &(String, u64)| match bytes {
            0 => format!("{name} is forgotten; the directory it pointed to stays as it is\n"),
            _ => format!("removed {name}, {} freed\n", size(*bytes)),
        };
        let mut text: String = self.toolkits.iter().map(line).collect();
        text.extend(self.notes.iter().map(|note| format!("{note}\n")));
        if self.no_default {
            text.push_str("you have no default now\nnext: cudaup use --default VERSION\n");
        }
        text
    }
}
