//! Why each variable becomes what it becomes: told from the way back that entering wrote, so that there is no second truth.

use crate::activate::{Activation, Entered, foreign, is_jetson};
use crate::environment::{LISTS, OTHER_SCALARS, Vars, leave};
use crate::foreign::{Foreign, ROOT_VARIABLES};
use crate::layout::{Layout, layout};
use crate::list::split;
use crate::resolve::{Choice, World};
use crate::state::{List, State, VARIABLE};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// One variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Its name.
    pub name: String,
    /// What it is where nothing is entered.
    pub before: Option<OsString>,
    /// What it becomes.
    pub after: Option<OsString>,
    /// Why, in words; empty where the entries say it.
    pub why: String,
    /// The entries of a list, in the order in which they stand: those taken out between those that stay.
    pub entries: Vec<Entry>,
}

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The entry.
    pub entry: OsString,
    /// What becomes of it.
    pub fate: Fate,
    /// Why, in words; empty where it stays because it is no toolkit's.
    pub why: String,
}

/// What becomes of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It comes in.
    Added,
    /// It goes out, and comes back when the toolkit is left.
    Removed,
    /// It stays.
    Kept,
}

impl Fate {
    /// One word for JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Kept => "kept",
        }
    }
}

/// Explains what an activation made of the environment of `world`; nothing where no toolkit was entered.
pub fn explain(world: &World, activation: &Activation) -> Vec<Explained> {
    let Entered::Toolkit(choice) = &activation.entered else { return Vec::new() };
    let Some(state) = activation.vars.get(VARIABLE).and_then(State::decode) else { return Vec::new() };
    let left = leave(world.vars);
    let base = left.vars;
    let told = Told {
        foreign: foreign(world, &base, left.state.as_ref(), &choice.settings.roots),
        layout: layout(&choice.toolkit.root, world.disk),
        jetson: is_jetson(world.disk),
        after: &activation.vars,
        shims: world.home.shims().into_os_string(),
        base,
        choice,
        state,
    };
    let mut names: Vec<&str> = ROOT_VARIABLES.to_vec();
    names.extend(OTHER_SCALARS);
    let others = told.state.scalars.iter().map(|s| s.name.as_str());
    names.extend(others.filter(|name| !ROOT_VARIABLES.contains(name) && !OTHER_SCALARS.contains(name)));
    let scalars = names.into_iter().filter_map(|name| told.scalar(name));
    let lists = LISTS.into_iter().filter(|name| told.is_worth_a_word(name)).map(|name| told.list(name));
    let back = told.variable(VARIABLE, "the way back: what stood in each of these before".to_owned());
    scalars.chain(lists).chain([back]).collect()
}

/// All that an explanation is told from.
struct Told<'a> {
    base: Vars,
    after: &'a Vars,
    choice: &'a Choice,
    state: State,
    foreign: Foreign,
    layout: Layout,
    jetson: bool,
    shims: OsString,
}

impl Told<'_> {
    fn variable(&self, name: &str, why: String) -> Explained {
        Explained {
            name: name.to_owned(),
            before: self.base.get(name).map(OsStr::to_os_string),
            after: self.after.get(name).map(OsStr::to_os_string),
            why,
            entries: Vec::new(),
        }
    }

    /// A variable with one value; `None` where it is neither set nor ours.
    fn scalar(&self, name: &str) -> Option<Explained> {
        let ours = self.state.scalars.iter().any(|s| s.name == name);
        let before = self.base.get(name).filter(|value| !value.is_empty());
        let addon = self.choice.addons.iter().find(|a| a.library.variables.contains(&name));
        let why = match (name, ours) {
            (_, true) if ROOT_VARIABLES.contains(&name) => "the toolkit's directory".to_owned(),
            ("CUDACXX", true) => {
                match before.and_then(|cxx| self.foreign.how(Path::new(cxx).parent()?.as_os_str())) {
                    Some(how) => format!("the toolkit's nvcc; before, another toolkit's: {how}"),
                    None => "the toolkit's nvcc, which CMake takes".to_owned(),
                }
            }
            ("CUDACXX", false) => "it stays as you set it, since it lies in no toolkit".to_owned(),
            (_, true) if addon.is_some() => {
                addon.map(|a| format!("{} {} is asked for", a.library.name, a.version)).unwrap_or_default()
            }
            (_, true) => "host_compiler asks for it".to_owned(),
            (_, false) => "it stays as you set it: nothing here says host_compiler".to_owned(),
        };
        (ours || before.is_some()).then(|| self.variable(name, why))
    }

    /// A list that never gets anything is told of only where the user has it.
    fn is_worth_a_word(&self, list: &str) -> bool {
        !list.ends_with("_INCLUDE_PATH") || self.base.get(list).is_some()
    }

    fn list(&self, name: &str) -> Explained {
        let unchanged = List {
            name: name.to_owned(),
            was_set: false,
            hash: 0,
            front: Vec::new(),
            back: Vec::new(),
            removed: Vec::new(),
        };
        let list = self.state.lists.iter().find(|l| l.name == name).unwrap_or(&unchanged);
        let added = |entry: &OsString, last: bool| Entry {
            entry: entry.clone(),
            fate: Fate::Added,
            why: self.part(entry, last),
        };
        let old = self.base.get(name).map(split).unwrap_or_default();
        let stood = old.into_iter().enumerate().map(|(index, entry)| {
            let out = list.removed.iter().any(|r| r.index == index);
            let why = if out { self.theirs(&entry) } else { self.bystander(&entry) };
            Entry { entry, fate: if out { Fate::Removed } else { Fate::Kept }, why }
        });
        let front = list.front.iter().map(|entry| added(entry, false));
        let back = list.back.iter().map(|entry| added(entry, true));
        let entries: Vec<Entry> = front.chain(stood).chain(back).collect();
        let ours = !list.front.is_empty() || !list.back.is_empty();
        Explained { entries, ..self.variable(name, self.of_list(name, ours)) }
    }

    /// Why a list gets what it gets.
    fn of_list(&self, name: &str, ours: bool) -> String {
        let settings = &self.choice.settings;
        match name {
            "LD_LIBRARY_PATH" if self.jetson => {
                "left alone on a Jetson, whose loader finds the board's own libraries by itself".to_owned()
            }
            "LD_LIBRARY_PATH" if settings.ld_library_path == Some(false) => {
                "ld_library_path = off".to_owned()
            }
            "CPATH" if settings.cpath == Some(false) => "cpath = off".to_owned(),
            "C_INCLUDE_PATH" | "CPLUS_INCLUDE_PATH" => {
                "nothing is added: CPATH holds for both languages".to_owned()
            }
            _ if ours => String::new(),
            _ if self.layout.spread => {
                "nothing is added: this toolkit lies where the system looks by itself".to_owned()
            }
            _ => "this toolkit has nothing for it".to_owned(),
        }
    }

    /// What an entry of ours is.
    fn part(&self, entry: &OsStr, last: bool) -> String {
        let path = Path::new(entry);
        let is = |directory: &Option<PathBuf>| directory.as_deref() == Some(path);
        let among = |all: &[PathBuf]| all.iter().position(|p| p == path);
        let addon = self.choice.addons.iter().find(|a| path.starts_with(&a.root));
        match (addon, among(&self.layout.lib), among(&self.layout.include)) {
            (Some(addon), ..) => format!("{} {}", addon.library.name, addon.version),
            _ if last => "its stand-ins for the driver's libraries, for linking alone".to_owned(),
            _ if self.layout.bin == path => "its programs".to_owned(),
            _ if is(&self.layout.cupti) => "its profiling library".to_owned(),
            _ if is(&self.layout.pkgconfig) => "its files of pkg-config".to_owned(),
            (_, Some(0), _) => "its libraries".to_owned(),
            (_, Some(_), _) => "its math libraries".to_owned(),
            (.., Some(0)) => "its headers".to_owned(),
            _ => "the headers of its math libraries".to_owned(),
        }
    }

    /// Why an entry goes out.
    fn theirs(&self, entry: &OsStr) -> String {
        match self.foreign.how(entry) {
            Some(how) => format!("another toolkit's: {how}"),
            None => "empty, and alone it would mean the current directory".to_owned(),
        }
    }

    /// Why an entry stays, where that is worth a word.
    fn bystander(&self, entry: &OsStr) -> String {
        let ends = |name: &str| Path::new(entry).ends_with(name);
        match () {
            () if entry == self.shims => "cudaup's shims".to_owned(),
            () if entry.is_empty() => "empty: the current directory".to_owned(),
            () if ends("compat") => {
                "newer driver libraries, which are never added and never taken out".to_owned()
            }
            () if ends("usr/lib/wsl/lib") => "the driver of WSL2".to_owned(),
            () => String::new(),
        }
    }
}
