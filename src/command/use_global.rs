//! `cudaup use --global`: the machine's own link, for all its users, and back.

use crate::command::{Context, Outcome, as_root, refused};
use crate::disk::access::Access;
use crate::failure::{Failure, SAME};
use crate::global::apply;
use crate::global::decide::{self, Do, Plan};
use crate::global::loader::{self, Loader};
use crate::global::look::{self, Facts, Target};
use crate::global::state::{Held, LINK};
use crate::host::Host;
use crate::ui::view::{Style, View};
use cudaup_core::discovery::{self, Search};
use cudaup_core::disk::Disk;
use cudaup_core::environment::Vars;
use cudaup_core::inventory::{self, Kind, Toolkit};
use cudaup_core::refusal::{Rule, Why};
use cudaup_core::request::Request;
use cudaup_core::resolve::{Asked, asked, default_settings, meet_toolkit};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Names that are shown of those that the loader loses.
const SHOWN: usize = 8;

const UNDO: [&str; 3] = ["use", "--global", "--undo"];

struct Changed {
    plan: Plan,
    undo: bool,
    dry_run: bool,
    /// Where the link leads then, and the release there.
    root: Option<PathBuf>,
    release: Option<String>,
    /// The release where it led before.
    was: Option<String>,
    lost: Vec<String>,
    lines: Vec<String>,
}

/// Points the link to a toolkit.
pub fn point(context: &Context, version: &str, dry_run: bool) -> Result<Outcome, Failure> {
    let request = context.request(version)?;
    let (host, disk) = (&context.host, &context.disk);
    let home = context.home.path();
    visible(host, || {
        let words: Vec<&str> =
            ["use", "--global", version].into_iter().chain(dry_run.then_some("--dry-run")).collect();
        as_root::sudo(host, Some(home), &words)
    })?;
    let toolkit = toolkit(context, &request)?;
    let release = toolkit.identity.to_string();
    let major = toolkit.identity.version.major;
    let target = look::target(host, &toolkit.root, release, major, disk).ok_or_else(|| {
        let root = toolkit.root.display();
        Failure::failed(format!(
            "{root} is not below CUDAUP_SYSROOT, so that no link in there can lead to it"
        ))
        .hint(format!("env -u CUDAUP_SYSROOT {SAME}"))
    })?;
    let decide = |facts: &Facts| decide::point(facts, &target);
    decide(&look::link(host, disk)?)?;
    for line in warnings(context, &target) {
        context.talk.say(&line);
    }
    let words = ["use", "--global", version];
    let carried = carried(context, &toolkit, &target);
    let sudo = || as_root::sudo_with(host, &carried, &words);
    let to = |_: &Plan| Some(target.place.clone());
    let Done { facts, plan, loader } =
        change(context, &Wanted { decide: &decide, to: &to, sudo: &sudo, dry_run })?;
    let changes = !plan.steps.is_empty();
    let mut lines =
        vec!["for all users of this machine; what a project or a user has chosen goes first".to_owned()];
    lines.push(winner(context, true));
    if changes {
        lines.extend(of_loader(&loader));
        lines.extend(facts.aside.then(|| {
            format!("update-alternatives has a group for {LINK} that the link does not go through: the next CUDA package may take the link over")
        }));
    }
    if let Some((name, led)) = &target.major {
        let release = led.release.as_deref().map_or_else(String::new, |r| format!("CUDA {r}, "));
        lines.push(format!("{name} stays with {release}{}", led.root.display()));
    }
    if changes && dry_run && facts.access.0 == Access::Denied {
        lines.push(format!("you may not do that; who may: {}", sudo()));
    }
    lines.extend((changes && !dry_run).then(|| format!("back: {}", as_root::again(host, &UNDO))));
    let was = facts.leads.and_then(|led| led.release);
    let lost = if changes { loader.lost } else { Vec::new() };
    let (root, release) = (Some(target.root), Some(target.release));
    Ok(Outcome::View(Box::new(Changed { plan, undo: false, dry_run, root, release, was, lost, lines })))
}

/// Puts back what was there before the last change.
pub fn undo(context: &Context, dry_run: bool) -> Result<Outcome, Failure> {
    let (host, disk) = (&context.host, &context.disk);
    visible(host, || {
        let words: Vec<&str> = UNDO.into_iter().chain(dry_run.then_some("--dry-run")).collect();
        as_root::sudo(host, None, &words)
    })?;
    let sudo = || as_root::sudo(host, None, &UNDO);
    let to = |plan: &Plan| leads(context, &plan.after);
    let Done { facts, plan, loader } =
        change(context, &Wanted { decide: &decide::undo, to: &to, sudo: &sudo, dry_run })?;
    let then = to(&plan);
    let now = look::link(host, disk)?.leads.filter(|_| !dry_run);
    let release = now.as_ref().and_then(|led| led.release.clone());
    let root = now.map(|led| led.root).or_else(|| then.and_then(|place| look::inner(host, &place)));
    let mut lines = vec![winner(context, root.is_some())];
    if root.is_none() && plan.after != Held::Absent {
        context.talk.say(&format!("warning: {LINK} leads nowhere: what it led to is gone"));
    }
    if let Held::Alternatives { auto: true, value, .. } = &plan.after
        && let Some(now) = root.as_ref().filter(|now| *now != Path::new(value))
        && !dry_run
    {
        lines.push(format!("automatic mode chooses {} by now; it had chosen {value}", now.display()));
    }
    if !plan.steps.is_empty() {
        lines.extend(of_loader(&loader));
    }
    let was = facts.leads.and_then(|led| led.release);
    let lost = if plan.steps.is_empty() { Vec::new() } else { loader.lost };
    Ok(Outcome::View(Box::new(Changed { plan, undo: true, dry_run, root, release, was, lost, lines })))
}

/// How the link is to change.
struct Wanted<'a> {
    decide: &'a dyn Fn(&Facts) -> Result<Plan, Failure>,
    /// The tree that a plan makes it lead to.
    to: &'a dyn Fn(&Plan) -> Option<PathBuf>,
    /// The command for one who may.
    sudo: &'a dyn Fn() -> String,
    dry_run: bool,
}

/// How it has changed, or would.
struct Done {
    facts: Facts,
    plan: Plan,
    loader: Loader,
}

fn change(context: &Context, wanted: &Wanted<'_>) -> Result<Done, Failure> {
    let (host, disk) = (&context.host, &context.disk);
    let look = || {
        let facts = look::link(host, disk)?;
        let plan = (wanted.decide)(&facts)?;
        let loader = loader::look(host, (wanted.to)(&plan).as_deref());
        Ok::<Done, Failure>(Done { facts, plan, loader })
    };
    let seen = look()?;
    if wanted.dry_run || seen.plan.is_nothing() {
        return Ok(seen);
    }
    allowed(&seen.facts.access, &seen.plan, wanted.sudo, host.sysroot.is_some())?;
    let lock = apply::lock(host, &|line| context.talk.say(line))?;
    // Another cudaup may have been at it until now.
    let seen = look()?;
    apply::apply(host, disk, &seen.plan, &lock)?;
    Ok(seen)
}

/// The toolkit that is meant. One that all can reach goes before one that they cannot, whatever the order is otherwise: this
/// is for all.
fn toolkit(context: &Context, request: &Request) -> Result<Toolkit, Failure> {
    let world = context.world();
    let settings = default_settings(&world);
    let roots = settings.roots.clone();
    let asked = Asked { request: request.clone(), rule: Rule::Argument, settings };
    let toolkit = meet_toolkit(&world, asked)
        .map_err(|refusal| {
            let failure = refused(&refusal);
            match (&refusal.why, request) {
                (Why::NotInstalled(..), Request::Version(version)) => failure.hint(as_root::sudo(
                    &context.host,
                    None,
                    &["install", "--system", &version.to_string()],
                )),
                _ => failure,
            }
        })?
        .toolkit;
    let closed = |toolkit: &Toolkit| {
        let place = context.disk.real(&toolkit.root);
        place.is_none_or(|place| look::closed(&context.host, &place).is_some())
    };
    let Request::Version(wanted) = request else { return Ok(toolkit) };
    if matches!(toolkit.kind, Kind::System | Kind::Shared) || !closed(&toolkit) {
        return Ok(toolkit);
    }
    let machines = inventory::usable(discovery::machine(
        Search { home: &context.home, roots: &roots, vars: &Vars::default() },
        &context.disk,
    ))
    .into_iter();
    let open = machines.filter(|t| wanted.accepts(t.identity.version) && !closed(t));
    let Some(open) = open.max_by_key(|t| t.identity.version) else { return Ok(toolkit) };
    context.talk.say(&format!(
        "{} is taken, since other users cannot reach {}",
        open.root.display(),
        toolkit.root.display()
    ));
    Ok(open)
}

/// What the same command needs as root: the home, and the variable that this shell alone has and that led to the toolkit, as
/// one that a module has set.
fn carried<'a>(context: &'a Context, toolkit: &Toolkit, target: &Target) -> Vec<(&'a str, Cow<'a, str>)> {
    let mut variables = vec![("CUDAUP_HOME", context.home.path().to_string_lossy())];
    let roots = default_settings(&context.world()).roots;
    let search = Search { home: &context.home, roots: &roots, vars: &Vars::default() };
    let known = |found: Toolkit| context.disk.real(&found.root).is_some_and(|place| place == target.place);
    let in_home = matches!(toolkit.kind, Kind::Managed | Kind::Link(_));
    if !in_home && !inventory::usable(discovery::machine(search, &context.disk)).into_iter().any(known) {
        let names = context.host.vars.iter().filter_map(|(name, _)| name.to_str());
        let leads = |name: &&str| name.starts_with("CUDA") || name.starts_with("EBROOT");
        variables.extend(names.filter(leads).find_map(|name| {
            let value = context.host.text(name)?;
            (context.disk.real(Path::new(value))? == target.place).then_some((name, Cow::Borrowed(value)))
        }));
    }
    variables
}

/// What is wrong with the toolkit as one for all.
fn warnings(context: &Context, target: &Target) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((directory, mode)) = &target.closed {
        let (root, directory) = (target.root.display(), directory.display());
        lines.push(format!(
            "warning: other users cannot reach {root}: {directory} is closed to them (mode {mode:o}); for them {LINK} will lead nowhere"
        ));
        let words = ["install", "--system", &target.release];
        lines.push(format!("one for all: {}", as_root::sudo(&context.host, None, &words)));
    }
    if !target.nvcc {
        let root = target.root.display();
        lines.push(format!("warning: {root} has no bin/nvcc: what compiles by {LINK}/bin/nvcc will fail"));
    }
    lines
}

/// Whether the caller may look at the link at all; else the exact command for one who may.
fn visible(host: &Host, sudo: impl Fn() -> String) -> Result<(), Failure> {
    let Some(path) = look::hidden(host) else { return Ok(()) };
    let what = format!("{LINK} was not changed: {} is not yours to read", path.display());
    Err(Failure::failed(what).hint(sudo()))
}

/// Whether the caller may carry the plan out; else the exact command for one who may.
fn allowed(
    (access, directory): &(Access, PathBuf),
    plan: &Plan,
    sudo: impl Fn() -> String,
    elsewhere: bool,
) -> Result<(), Failure> {
    match access {
        Access::Allowed => Ok(()),
        Access::ReadOnly => {
            let directory = directory.display();
            Err(Failure::failed(format!("{LINK} was not changed: {directory} is on a read-only file system"))
                .hint("cudaup use --default VERSION   (yours alone)"))
        }
        Access::Denied => {
            let what = format!("{LINK} was not changed: {} is not yours to write", directory.display());
            let failure = Failure::failed(what).hint(sudo());
            let by_hand: Vec<String> = plan.steps.iter().map(by_hand).collect();
            // Root may be kept out of a home on another machine's disk, and so from this program.
            if elsewhere || by_hand.is_empty() {
                return Err(failure);
            }
            // A line holds nothing but the command: whoever pastes it pastes all of it.
            let message = format!(
                "{}\nroot can: by the first of these commands, or by hand with the last one, which --undo does not take back",
                failure.message
            );
            Err(Failure { message, ..failure }.hint(by_hand.join(" && ")))
        }
    }
}

fn by_hand(step: &Do) -> String {
    match step {
        Do::Point(link, text) => {
            let (text, new) = (shell_words::quote(text), format!("{link}.new"));
            let script = format!("ln -sfT {text} {new} && mv -T {new} {link}");
            format!("sudo sh -c {}", shell_words::quote(&script))
        }
        Do::Remove(link) => format!("sudo rm {link}"),
        Do::Call(call) => format!("sudo {}", call.line()),
    }
}

/// Whether cudaup's own rules ask for something else in this directory.
fn winner(context: &Context, leads: bool) -> String {
    let style = Style { color: false, user_home: context.host.user_home.clone() };
    let shown = |rule: &Rule| match rule {
        Rule::Pin(file, _) | Rule::Default(file, _) => style.path(file),
        rule => rule.to_string(),
    };
    match asked(&context.world(), None) {
        Ok(Some(asked)) => {
            format!("here {} asks for {} and still decides", shown(&asked.rule), asked.request)
        }
        Ok(None) if !leads => format!("here nothing asks for a version, and {LINK} leads to none"),
        Ok(None) => "here cudaup takes it, too: nothing asks for another version".to_owned(),
        Err(refusal) => format!("here {} still decides, and cannot be met", shown(&refusal.rule)),
    }
}

fn of_loader(loader: &Loader) -> Vec<String> {
    let mut lines = Vec::new();
    if !loader.lost.is_empty() {
        let shown: Vec<&str> = loader.lost.iter().take(SHOWN).map(String::as_str).collect();
        let more = loader.lost.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("the loader finds no longer: {}{more}", shown.join(", ")));
    }
    lines.extend(loader.concerned.then(|| "then: sudo ldconfig".to_owned()));
    lines
}

/// Where the link would lead if it were this.
fn leads(context: &Context, held: &Held) -> Option<PathBuf> {
    let text = match held {
        Held::Absent => return None,
        Held::Link { text } => text,
        Held::Alternatives { value, .. } => value,
    };
    let folder = Path::new(LINK).parent().unwrap_or(Path::new("/"));
    context.disk.real(&context.host.system(&folder.join(text).to_string_lossy()))
}

impl Changed {
    fn headline(&self) -> String {
        let of =
            |release: &Option<String>| release.as_ref().map_or_else(String::new, |r| format!(": CUDA {r}"));
        let (before, after, release) = (&self.plan.before, &self.plan.after, of(&self.release));
        if self.plan.steps.is_empty() {
            return format!("nothing to do: {LINK} is {before} already{release}");
        }
        let was = match before {
            Held::Absent => "it was not there".to_owned(),
            before => format!("was {before}{}", of(&self.was)),
        };
        let would = if self.dry_run { "would be: " } else { "" };
        let again = if self.undo && !self.dry_run { "again " } else { "" };
        match after {
            Held::Absent => format!("{would}{LINK} {again}not there ({was})"),
            after => format!("{would}{LINK} -> {again}{after}{release} ({was})"),
        }
    }

    /// What a dry run would have done.
    fn steps(&self) -> Vec<String> {
        let shown = |step: &Do| match step {
            Do::Point(link, text) => format!("would make {link} a link to {text}, by a rename"),
            Do::Remove(link) => format!("would remove {link}"),
            Do::Call(call) => format!("would run: {}", call.line()),
        };
        if self.dry_run { self.plan.steps.iter().map(shown).collect() } else { Vec::new() }
    }
}

impl View for Changed {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({
            "link": LINK,
            "before": self.plan.before,
            "after": self.plan.after,
            "root": self.root.as_ref().map(|root| root.to_string_lossy().into_owned()),
            "version": self.release,
            "changed": !self.plan.steps.is_empty() && !self.dry_run,
            "steps": self.steps(),
            "lost": self.lost,
            "notes": self.lines,
        })
    }

    fn human(&self, _style: &Style) -> String {
        let lines = self.steps().into_iter().chain(self.lines.iter().cloned());
        [self.headline()].into_iter().chain(lines).map(|line| format!("{line}\n")).collect()
    }
}
