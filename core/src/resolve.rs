//! Which toolkit applies here: the first rule that says something.

use crate::addon::{self, Addon};
use crate::discovery::{self, Search};
use crate::disk::{Disk, Unread};
use crate::environment::Vars;
use crate::fitness::{Broken, RECEIPT, is_odd};
use crate::home::{Home, MACHINE_DEFAULT};
use crate::identity::Tree;
use crate::inventory::{self, Found, Kind, Toolkit};
use crate::origin::Origin;
use crate::pin::{self, FILE_NAME, Pin, Settings};
use crate::refusal::{AbsentAddon, Refusal, Rule, Unfit, Why};
use crate::request::Request;
use crate::version::Version;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What the rules look at.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// The environment.
    pub vars: &'a Vars,
    /// The current directory as the user named it; `None` where it is not known.
    pub cwd: Option<&'a Path>,
    /// The cudaup home.
    pub home: &'a Home,
    /// The file system.
    pub disk: &'a dyn Disk,
}

/// The toolkit that applies, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The toolkit.
    pub toolkit: Toolkit,
    /// Who asked for it.
    pub rule: Rule,
    /// What was asked for.
    pub request: Request,
    /// The settings that hold with it.
    pub settings: Settings,
    /// The add-ons that they name, each built for the toolkit's CUDA major.
    pub addons: Vec<Addon>,
}

impl Choice {
    /// The request that names this very toolkit, for CUDAUP_VERSION.
    pub fn exact(&self) -> String {
        match (&self.toolkit.kind, &self.request) {
            (Kind::Link(name), _) => name.clone(),
            (_, Request::System) => Request::System.to_string(),
            _ => self.toolkit.identity.version.to_string(),
        }
    }
}

/// A request that applies, not yet met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What is asked for.
    pub request: Request,
    /// Who asks.
    pub rule: Rule,
    /// The settings that hold with it.
    pub settings: Settings,
}

/// Rules 1 to 3: who asks for what. `argument` is a request of the command line, above all rules.
pub fn asked(world: &World, argument: Option<&Request>) -> Result<Option<Asked>, Refusal> {
    let defaults = defaults(world);
    let below = settings_of(&defaults);
    // Where what is asked for is what the pin here means, it is the pin's wish, keys and all; exec and shims hand the exact
    // version on to their children. A pin that cannot be read says nothing of a version that is given.
    let with_keys = |request: &Request| {
        let pin = nearest_pin(world).ok().flatten().map(|(_, pin)| pin);
        match pin.filter(|p| p.request.as_ref().is_some_and(|p| means(p, request))) {
            Some(pin) => pin.settings.over(&below),
            None => below.clone(),
        }
    };
    if let Some(request) = argument {
        let settings = with_keys(request);
        return Ok(Some(Asked { request: request.clone(), rule: Rule::Argument, settings }));
    }
    if let Some(text) = world.vars.get("CUDAUP_VERSION").filter(|v| !v.is_empty()) {
        let (request, _) = Request::parse_typed(&text.to_string_lossy())
            .map_err(|bad| Refusal { rule: Rule::Variable, why: Why::Request(bad) })?;
        let settings = with_keys(&request);
        return Ok(Some(Asked { request, rule: Rule::Variable, settings }));
    }
    if let Some((file, pin)) = nearest_pin(world)? {
        let settings = pin.settings.over(&below);
        return Ok(pin.request.map(|request| Asked { request, rule: Rule::Pin(file, pin.line), settings }));
    }
    for default in defaults {
        let (file, pin) = default?;
        if let Some(request) = pin.request {
            return Ok(Some(Asked { request, rule: Rule::Default(file, pin.line), settings: below }));
        }
    }
    Ok(None)
}

/// Whether a request is the pin's, or an exact one that the pin's means.
fn means(pin: &Request, request: &Request) -> bool {
    match (pin, request) {
        (Request::Version(wanted), Request::Version(exact)) if exact.is_exact() => wanted.accepts(*exact),
        _ => pin == request,
    }
}

/// The toolkit that applies by rules 1 to 4, with its add-ons.
pub fn resolve(world: &World, argument: Option<&Request>) -> Result<Option<Choice>, Refusal> {
    toolkit(world, argument)?.map(|choice| with_addons(world, choice)).transpose()
}

/// The toolkit that meets a request, with its add-ons.
pub fn meet(world: &World, asked: Asked) -> Result<Choice, Refusal> {
    with_addons(world, meet_toolkit(world, asked)?)
}

/// The toolkit that applies by rules 1 to 4, whatever add-ons are asked for with it: what installing those goes by.
pub fn toolkit(world: &World, argument: Option<&Request>) -> Result<Option<Choice>, Refusal> {
    if let Some(asked) = asked(world, argument)? {
        return meet_toolkit(world, asked).map(Some);
    }
    let settings = settings_of(&defaults(world));
    let toolkit = machine_toolkit(world, &settings.roots);
    let (rule, request, addons) = (Rule::Machine, Request::System, Vec::new());
    Ok(toolkit.map(|toolkit| Choice { toolkit, rule, request, settings, addons }))
}

/// Finds the add-ons that a choice's settings name. One that is absent is an unmet wish of the file that names it.
fn with_addons(world: &World, mut choice: Choice) -> Result<Choice, Refusal> {
    let (home, roots, disk) = (world.home, &choice.settings.roots, world.disk);
    let cuda = choice.toolkit.identity.version.major;
    for wish in &choice.settings.addons {
        let Some(version) = &wish.version else { continue };
        let refuse = |why| {
            let is_default = wish.file == home.default_file() || wish.file == disk.system(MACHINE_DEFAULT);
            let rule = if is_default { Rule::Default } else { Rule::Pin };
            Refusal { rule: rule(wish.file.clone(), wish.line), why }
        };
        let Some(found) = addon::find(home, roots, wish.library, Some(version), cuda, disk) else {
            let others = addon::all(home, roots, disk);
            return Err(refuse(Why::AddonAbsent(Box::new(AbsentAddon {
                library: wish.library,
                version: version.clone(),
                cuda,
                elsewhere: choice.rule == Rule::Argument,
                installed: others.into_iter().filter(|a| a.library == wish.library).collect(),
            }))));
        };
        if is_odd(&found.root) {
            return Err(refuse(Why::OddRoot(found.root)));
        }
        choice.addons.push(found);
    }
    Ok(choice)
}

/// The toolkit that meets a request, whatever add-ons are asked for with it.
pub fn meet_toolkit(world: &World, asked: Asked) -> Result<Choice, Refusal> {
    let Asked { request, rule, settings } = asked;
    let refuse = |why| Refusal { rule: rule.clone(), why };
    let toolkit = find(world, &request, &settings.roots).map_err(refuse)?;
    if is_odd(&toolkit.root) {
        return Err(refuse(Why::OddRoot(toolkit.root)));
    }
    Ok(Choice { toolkit, rule, request, settings, addons: Vec::new() })
}

/// The nearest pin from the current directory up, with its path.
pub fn nearest_pin(world: &World) -> Result<Option<(PathBuf, Pin)>, Refusal> {
    let Some((file, bytes)) = nearest_file(world)? else { return Ok(None) };
    match pin::parse(&bytes) {
        Ok(pin) => Ok(Some((file.clone(), pin.of_file(&file)))),
        Err(bad) => Err(Refusal { rule: Rule::Pin(file, 0), why: Why::Bad(bad) }),
    }
}

/// The nearest version file from the current directory up, and what it holds; refused where that cannot be read.
pub fn nearest_file(world: &World) -> Result<Option<(PathBuf, Vec<u8>)>, Refusal> {
    let Some(cwd) = world.cwd else { return Ok(None) };
    let ceiling = world.vars.get("CUDAUP_CEILING").filter(|c| !c.is_empty()).map(Path::new);
    for directory in cwd.ancestors() {
        if ceiling == Some(directory) {
            return Ok(None);
        }
        let file = directory.join(FILE_NAME);
        match world.disk.read(&file, pin::LIMIT) {
            Ok(bytes) => return Ok(Some((file, bytes))),
            Err(Unread::Absent) => {}
            Err(Unread::Unreachable) => return Ok(None),
            Err(unread) => {
                return Err(Refusal { rule: Rule::Pin(file, 0), why: Why::Unreadable(unread) });
            }
        }
    }
    Ok(None)
}

/// The default files that exist, the user's first.
fn defaults(world: &World) -> Vec<Result<(PathBuf, Pin), Refusal>> {
    [world.home.default_file(), world.disk.system(MACHINE_DEFAULT)]
        .into_iter()
        .filter_map(|file| {
            let refuse = |file: PathBuf, why| Refusal { rule: Rule::Default(file, 0), why };
            match world.disk.read(&file, pin::LIMIT) {
                Ok(bytes) => Some(match pin::parse_default(&bytes) {
                    Ok(pin) => Ok((file.clone(), pin.of_file(&file))),
                    Err(bad) => Err(refuse(file, Why::Bad(bad))),
                }),
                Err(Unread::Absent | Unread::Unreachable) => None,
                Err(unread) => Some(Err(refuse(file, Why::Unreadable(unread)))),
            }
        })
        .collect()
}

/// The settings of the default files; one that cannot be read has none, so that it does not stop a pinned project.
fn settings_of(defaults: &[Result<(PathBuf, Pin), Refusal>]) -> Settings {
    defaults.iter().flatten().fold(Settings::default(), |above, (_, pin)| above.over(&pin.settings))
}

/// The settings that the default files give to every directory.
pub fn default_settings(world: &World) -> Settings {
    settings_of(&defaults(world))
}

fn find(world: &World, request: &Request, roots: &[PathBuf]) -> Result<Toolkit, Why> {
    let (home, disk) = (world.home, world.disk);
    match request {
        Request::Version(wanted) => {
            let fits = |t: &Toolkit| wanted.accepts(t.identity.version);
            inventory::newest_managed(home, *wanted, disk)
                .or_else(|| newest(inventory::usable(inventory::links(home, disk)).into_iter().filter(fits)))
                .or_else(|| newest(inventory::usable(machine(world, roots)).into_iter().filter(fits)))
        }
        Request::Latest => newest(all(world, roots).into_iter()),
        Request::System => machine_toolkit(world, roots),
        Request::Link(name) => return find_link(world, name, roots),
    }
    .ok_or_else(|| {
        match request {
            Request::Version(wanted) => unfit(world, *wanted),
            _ => None,
        }
        .unwrap_or_else(|| Why::NotInstalled(request.clone(), installed(world, roots)))
    })
}

/// The newest managed toolkit that would fit if it were not broken.
fn unfit(world: &World, wanted: Version) -> Option<Why> {
    let mut found = inventory::in_home(world.home, world.disk).into_iter();
    found.find_map(|found| match (found.tree, found.broken) {
        (Some(Tree::Toolkit(identity)), Some(broken)) if wanted.accepts(identity.version) => {
            let ours = broken != Broken::Closed && world.disk.is_file(&found.root.join(RECEIPT));
            Some(Why::Unfit(Box::new(Unfit { version: identity.version, root: found.root, broken, ours })))
        }
        _ => None,
    })
}

fn find_link(world: &World, name: &str, roots: &[PathBuf]) -> Result<Toolkit, Why> {
    let is_link = |names: Vec<(std::ffi::OsString, _)>| names.iter().any(|(n, _)| n == OsStr::new(name));
    if !world.disk.names(&world.home.toolkits()).is_some_and(is_link) {
        return Err(Why::NotInstalled(Request::Link(name.to_owned()), installed(world, roots)));
    }
    let found = inventory::link(world.home, name, world.disk);
    let unfit = |why: String| Err(Why::LinkUnfit(name.to_owned(), found.root.clone(), why));
    match (found.tree, &found.broken) {
        (None, None) => Err(Why::LinkGone(name.to_owned(), found.root)),
        // Half a toolkit serves whoever gave it a name and asks for it by that.
        (Some(Tree::Toolkit(identity)), None | Some(Broken::NoNvcc | Broken::NoHeaders)) => {
            Ok(Toolkit { root: found.root, kind: found.kind, identity })
        }
        (Some(Tree::OtherMachine(machine)), _) => unfit(format!("it is for {machine}")),
        (_, Some(broken)) => unfit(broken.to_string()),
        (Some(_), None) => unfit("nothing in it names its release".to_owned()),
    }
}

/// What the machine has.
fn machine(world: &World, roots: &[PathBuf]) -> Vec<Found> {
    discovery::machine(Search { home: world.home, roots, vars: world.vars }, world.disk)
}

/// What a module brought into this very environment, else what `/usr/local/cuda` points to, else the newest.
fn machine_toolkit(world: &World, roots: &[PathBuf]) -> Option<Toolkit> {
    let found = machine(world, roots);
    let of_module = |f: &Found| matches!(f.origin, Origin::Module(_)) && f.broken.is_none();
    let module = found.iter().find(|f| of_module(f)).map(|f| f.root.clone());
    let found = inventory::usable(found);
    let global = inventory::global(world.disk);
    let first = [module, global].into_iter().flatten().find_map(|root| found.iter().find(|t| t.root == root));
    match first {
        Some(toolkit) => Some(toolkit.clone()),
        None => newest(found.into_iter()),
    }
}

/// The first of the newest.
fn newest(toolkits: impl Iterator<Item = Toolkit>) -> Option<Toolkit> {
    toolkits.reduce(|best, next| if next.identity.version > best.identity.version { next } else { best })
}

fn all(world: &World, roots: &[PathBuf]) -> Vec<Toolkit> {
    let mut all = inventory::managed(world.home, world.disk);
    all.extend(inventory::usable(inventory::links(world.home, world.disk)));
    all.extend(inventory::usable(machine(world, roots)));
    all
}

/// What would be there if it were not broken, each with the reason.
pub fn unusable(world: &World) -> Vec<String> {
    broken(world, &default_settings(world).roots)
}

fn broken(world: &World, roots: &[PathBuf]) -> Vec<String> {
    let found = inventory::in_home(world.home, world.disk)
        .into_iter()
        .chain(inventory::links(world.home, world.disk))
        .chain(machine(world, roots));
    let broken = found.filter_map(|f| {
        // One path is one line.
        let root = f.root.display().to_string().replace('\n', "\\n");
        match (&f.broken, &f.kind) {
            (Some(broken), _) => Some(format!("{root} (broken: {broken})")),
            (None, Kind::Link(name)) if f.tree.is_none() => {
                Some(format!("{name} (missing: {root} was removed)"))
            }
            (None, _) => None,
        }
    });
    broken.collect()
}

/// What there is, newest first, and what would be there if it were not broken.
fn installed(world: &World, roots: &[PathBuf]) -> Vec<String> {
    let mut all = all(world, roots);
    all.sort_by_key(|t| std::cmp::Reverse(t.identity.version));
    let mut names: Vec<String> = all
        .into_iter()
        .map(|t| match t.kind {
            Kind::Link(name) => format!("{name} ({})", t.identity),
            _ => t.identity.to_string(),
        })
        .collect();
    names.dedup();
    names.extend(broken(world, roots));
    names
}
