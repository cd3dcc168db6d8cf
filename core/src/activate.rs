//! The one function behind hook, env, exec and shims: what the environment of this place is.

use crate::addon::Addon;
use crate::disk::Disk;
use crate::environment::{Change, Left, Target, Vars, changes, enter, leave};
use crate::flags::without_compiler;
use crate::foreign::{Foreign, ROOT_VARIABLES};
use crate::layout::layout;
use crate::refusal::{Refusal, Rule, Why};
use crate::request::Request;
use crate::resolve::{Choice, World, asked, default_settings, meet, resolve};
use crate::state::State;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Which rules may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All four rules: which, env, exec and shims.
    All,
    /// Rules 1 to 3: the hook leaves the shell alone where only the machine's own toolkit applies.
    Asked,
}

/// The environment of a place.
#[derive(Clone, Debug)]
pub struct Activation {
    /// The whole environment.
    pub vars: Vars,
    /// What has to change to get there.
    pub changes: Vec<Change>,
    /// What was entered.
    pub entered: Entered,
    /// What had been entered before, as CUDAUP_STATE told.
    pub before: Option<State>,
    /// Things to say once.
    pub notes: Vec<String>,
}

impl Activation {
    /// What has to change to get there from where no toolkit is entered, and from `vars` too: the text that somebody keeps is
    /// whole, also where it comes from a shell that has it all already.
    pub fn whole(&self, vars: &Vars) -> Vec<Change> {
        let mut all = changes(&leave(vars).vars, &self.vars);
        let missing = self.changes.iter().filter(|(name, _)| all.iter().all(|(n, _)| n != name));
        let missing: Vec<Change> = missing.cloned().collect();
        all.extend(missing);
        all.sort();
        all
    }
}

/// What was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entered {
    /// A toolkit.
    Toolkit(Box<Choice>),
    /// Nothing: nobody asks for a toolkit here.
    Nothing,
    /// A request that cannot be met: every toolkit is out of the environment, and the shims answer.
    Refused(Refusal),
}

/// Works out the environment of the place that `world` describes. `argument` is a request of the command line.
pub fn activate(world: &World, argument: Option<&Request>, scope: Scope) -> Activation {
    activate_left(world, leave(world.vars), argument, scope)
}

/// The same where what was entered has been left already.
pub fn activate_left(world: &World, left: Left, argument: Option<&Request>, scope: Scope) -> Activation {
    let chosen = match scope {
        Scope::All => resolve(world, argument),
        Scope::Asked => match asked(world, argument) {
            Ok(Some(asked)) => meet(world, asked).map(Some),
            Ok(None) => Ok(None),
            Err(refusal) => Err(refusal),
        },
    };
    let mut notes = Vec::new();
    if left.damaged {
        notes.push("CUDAUP_STATE could not be read and was dropped; what it remembered is lost".to_owned());
    }
    let (vars, entered) = match chosen {
        Ok(None) => (left.vars, Entered::Nothing),
        Ok(Some(choice)) => entering(world, left.vars, left.state.as_ref(), choice, &mut notes),
        Err(refusal) => refused(world, left.vars, left.state.as_ref(), refusal),
    };
    Activation { changes: changes(world.vars, &vars), vars, entered, before: left.state, notes }
}

/// What counts as another toolkit's in an environment in which nothing is entered. `before` is what had been.
pub fn foreign(world: &World, base: &Vars, before: Option<&State>, roots: &[PathBuf]) -> Foreign {
    let roots: Vec<PathBuf> = roots.iter().map(|r| world.disk.system(&r.to_string_lossy())).collect();
    Foreign::new(world.home, &roots, |name| base.get(name)).and_before(before)
}

fn entering(
    world: &World,
    base: Vars,
    before: Option<&State>,
    choice: Choice,
    notes: &mut Vec<String>,
) -> (Vars, Entered) {
    let foreign = foreign(world, &base, before, &choice.settings.roots);
    if let Some(cxx) = base.get("CUDACXX").filter(|c| !c.is_empty() && !foreign.owns_program(c)) {
        notes.push(format!("CUDACXX stays {}, as you set it; CMake takes that compiler", cxx.display()));
    }
    match enter(&base, &target(world, &base, &choice), &foreign) {
        Ok(vars) => (vars, Entered::Toolkit(Box::new(choice))),
        Err(length) => {
            let why = Why::StateTooLong(length);
            (base, Entered::Refused(Refusal { rule: choice.rule, why }))
        }
    }
}

/// Enters a refusal: every toolkit out of the environment, the shims in front so that `nvcc` says why.
fn refused(world: &World, base: Vars, before: Option<&State>, refusal: Refusal) -> (Vars, Entered) {
    let foreign = foreign(world, &base, before, &default_settings(world).roots);
    let target = Target {
        rule: "refused".into(),
        front: vec![("PATH", world.home.shims().into_os_string())],
        untouched: untouched(world.disk),
        ..Target::default()
    };
    match enter(&base, &target, &foreign) {
        Ok(vars) => (vars, Entered::Refused(refusal)),
        Err(length) => {
            (base, Entered::Refused(Refusal { rule: refusal.rule, why: Why::StateTooLong(length) }))
        }
    }
}

/// What the environment of a choice is.
fn target(world: &World, base: &Vars, choice: &Choice) -> Target {
    let layout = layout(&choice.toolkit.root, world.disk);
    let settings = &choice.settings;
    let untouched = untouched(world.disk);
    let mut front: Vec<(&'static str, OsString)> = Vec::new();
    let mut back = Vec::new();
    let mut add = |list: &'static str, directory: Option<&PathBuf>| {
        let off = match list {
            "LD_LIBRARY_PATH" => settings.ld_library_path == Some(false),
            "CPATH" => settings.cpath == Some(false),
            _ => false,
        };
        let off = off || untouched.contains(&list);
        front.extend(directory.filter(|_| !off).map(|d| (list, d.clone().into_os_string())));
    };
    // A toolkit can have a library of the same name, copied into it by hand: the one that was asked for goes before that.
    let has_its_own =
        |a: &&Addon| layout.include.iter().any(|i| world.disk.is_file(&i.join(a.library.header)));
    let (before, after): (Vec<&Addon>, Vec<&Addon>) = choice.addons.iter().partition(has_its_own);
    add("PATH", Some(&layout.bin).filter(|_| !layout.spread));
    for addon in before {
        add_addon(addon, world.disk, &mut add);
    }
    layout.lib.iter().for_each(|lib| add("LD_LIBRARY_PATH", Some(lib)));
    add("LD_LIBRARY_PATH", layout.cupti.as_ref());
    layout.include.iter().for_each(|include| add("CPATH", Some(include)));
    layout.lib.iter().for_each(|lib| add("LIBRARY_PATH", Some(lib)));
    add("PKG_CONFIG_PATH", layout.pkgconfig.as_ref());
    for addon in after {
        add_addon(addon, world.disk, &mut add);
    }
    back.extend(layout.stubs.map(|d| ("LIBRARY_PATH", d.into_os_string())));
    let mut scalars = host_compiler(choice, base);
    for addon in &choice.addons {
        let root = addon.root.as_os_str();
        scalars.extend(addon.library.variables.iter().map(|name| (*name, root.to_os_string())));
    }
    Target {
        rule: choice.rule.word().into(),
        root: Some(choice.toolkit.root.clone().into_os_string()),
        scalars,
        front,
        back,
        untouched,
    }
}

/// Whether entering this choice puts libraries into LD_LIBRARY_PATH.
pub fn goes_before_libraries(world: &World, choice: &Choice) -> bool {
    target(world, world.vars, choice).front.iter().any(|(list, _)| *list == "LD_LIBRARY_PATH")
}

/// On a Jetson the loader finds the board's own libraries by its settings; LD_LIBRARY_PATH would bring others before them.
fn untouched(disk: &dyn Disk) -> Vec<&'static str> {
    if is_jetson(disk) { vec!["LD_LIBRARY_PATH"] } else { Vec::new() }
}

/// Whether this machine is one of NVIDIA's Jetson boards.
pub fn is_jetson(disk: &dyn Disk) -> bool {
    disk.is_file(&disk.system("/etc/nv_tegra_release"))
}

/// The directories of an add-on; only the files of pkg-config are not in each.
fn add_addon(addon: &Addon, disk: &dyn Disk, add: &mut impl FnMut(&'static str, Option<&PathBuf>)) {
    let lib = addon.root.join("lib");
    add("LD_LIBRARY_PATH", Some(&lib));
    add("CPATH", Some(&addon.root.join("include")));
    add("LIBRARY_PATH", Some(&lib));
    add("PKG_CONFIG_PATH", Some(lib.join("pkgconfig")).filter(|p| disk.is_dir(p)).as_ref());
}

/// CMake reads CUDAHOSTCXX, nvcc NVCC_CCBIN from 13.0 on and NVCC_PREPEND_FLAGS before (measured with 11.8, 12.4, 13.0, 13.5).
/// Of several compilers nvcc takes the last, and any flag before NVCC_CCBIN: the one that conda's compilers write into
/// NVCC_PREPEND_FLAGS gives way to the key, the user's other flags stay.
fn host_compiler(choice: &Choice, base: &Vars) -> Vec<(&'static str, OsString)> {
    let Some(compiler) = &choice.settings.host_compiler else { return Vec::new() };
    let mut scalars = vec![("CUDAHOSTCXX", OsString::from(compiler))];
    let own = base.get("NVCC_PREPEND_FLAGS").filter(|f| !f.is_empty());
    let rest = own.map(without_compiler).filter(|rest| !rest.is_empty());
    if choice.toolkit.identity.version.major >= 13 {
        scalars.push(("NVCC_CCBIN", compiler.into()));
        if rest.as_deref() != own {
            scalars.push(("NVCC_PREPEND_FLAGS", rest.unwrap_or_default()));
        }
    } else {
        let mut flags = OsString::from(format!("-ccbin {compiler}"));
        if let Some(rest) = rest {
            flags.push(" ");
            flags.push(rest);
        }
        scalars.push(("NVCC_PREPEND_FLAGS", flags));
    }
    scalars
}

/// A toolkit that came into the environment after ours was entered, by another hand: a root variable that names it, or an
/// entry of PATH before ours that was not there when we entered. It is the newer wish.
pub fn newcomer(world: &World, state: &State) -> Option<OsString> {
    let foreign = foreign(world, &leave(world.vars).vars, Some(state), &default_settings(world).roots);
    for name in ROOT_VARIABLES {
        let now = world.vars.get(name).filter(|v| !v.is_empty());
        let known = |value: &OsStr| {
            state
                .scalars
                .iter()
                .any(|s| s.ours.as_deref() == Some(value) || s.before.as_deref() == Some(value))
        };
        // A name that leads nowhere is nobody's wish.
        let there = |value: &OsStr| world.disk.is_dir(std::path::Path::new(value));
        if let Some(value) = now.filter(|v| !known(v) && foreign.owns_root(v) && there(v)) {
            return Some(value.to_os_string());
        }
    }
    let list = state.lists.iter().find(|l| l.name == "PATH")?;
    let path = crate::list::split(world.vars.get("PATH")?);
    let ours = list.front.first()?;
    let stale = world.home.toolkits();
    let in_place = path.contains(ours);
    path.iter()
        .take_while(|e| *e != ours)
        .find(|entry| {
            // An old PATH that came back has what we took out, and ours is gone. Where ours is still there, it was put in anew.
            let known = !in_place && list.removed.iter().any(|r| r.entry == **entry);
            let managed = std::path::Path::new(entry).starts_with(&stale);
            let has_nvcc = || in_place && world.disk.is_file(&std::path::Path::new(entry).join("nvcc"));
            !known && !managed && **entry != world.home.shims() && (foreign.owns_entry(entry) || has_nvcc())
        })
        .cloned()
}

/// The environment with the shims at the end of PATH, where an active hook wants them. `None` where they already are.
pub fn shims_last(world: &World, vars: &Vars) -> Option<OsString> {
    let shims = world.home.shims().into_os_string();
    let path = crate::list::split(vars.get("PATH")?);
    let mut rest: Vec<OsString> = path.iter().filter(|e| **e != shims).cloned().collect();
    rest.push(shims);
    (rest != path).then(|| crate::list::join(&rest))
}

/// The rule's word and the toolkit's version, for a line to a person.
pub fn summary(choice: &Choice) -> String {
    let asked = match &choice.rule {
        Rule::Machine => "the machine's own toolkit".to_owned(),
        rule => format!("{rule} ({})", choice.request),
    };
    format!("{} by {asked}", choice.toolkit.identity)
}
