//! Entering a toolkit's environment and leaving it again, as pure functions over the variables.

use crate::addon;
use crate::flags;
use crate::foreign::{Foreign, ROOT_VARIABLES, lies_in};
use crate::home::Home;
use crate::list::{join, split};
use crate::origin::loaded_module;
use crate::state::{self, List, Removed, Scalar, State, hash};

pub use crate::variables::{Change, Vars, changes};

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The search lists that a toolkit takes part in. gcc looks into the last two after CPATH: they get nothing, since CPATH
/// holds for both languages, and lose what is another toolkit's.
pub const LISTS: [&str; 7] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "CPATH",
    "LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
];

/// The one variable among them that is a list of words: others add theirs.
const FLAGS: &str = "NVCC_PREPEND_FLAGS";

/// Where the programs that load modules, Environment Modules and Lmod, keep which are loaded.
const MODULES: &str = "LOADEDMODULES";

/// The variables with one value that a toolkit sets besides its roots.
pub const OTHER_SCALARS: [&str; 4] = ["CUDACXX", "CUDAHOSTCXX", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS"];

/// What an environment is to become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The word of the rule, for the state.
    pub rule: String,
    /// The toolkit's root; `None` where a refusal is entered.
    pub root: Option<OsString>,
    /// Variables with one value besides the roots and CUDACXX.
    pub scalars: Vec<(&'static str, OsString)>,
    /// Entries before all others, by list.
    pub front: Vec<(&'static str, OsString)>,
    /// Entries after all others, by list.
    pub back: Vec<(&'static str, OsString)>,
    /// Lists that are left as they are, another toolkit's entries in them too.
    pub untouched: Vec<&'static str>,
}

impl Target {
    fn of(pairs: &[(&'static str, OsString)], list: &str) -> Vec<OsString> {
        pairs.iter().filter(|(n, _)| *n == list).map(|(_, e)| e.clone()).collect()
    }
}

/// What leaving found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The environment without the toolkit.
    pub vars: Vars,
    /// What had been entered; `None` where nothing had.
    pub state: Option<State>,
    /// Whether CUDAUP_STATE could not be read, and was taken as absent.
    pub damaged: bool,
}

/// Takes a toolkit out of an environment: what is still as we made it goes back to what it was, what was changed since
/// stays.
pub fn leave(vars: &Vars) -> Left {
    let mut vars = vars.clone();
    let text = vars.get(state::VARIABLE).map(OsStr::to_os_string);
    vars.put(state::VARIABLE, None);
    let state = text.as_ref().and_then(|t| State::decode(t)).filter(is_of_ours);
    let damaged = text.is_some() && state.is_none();
    if let Some(state) = &state {
        let unloaded = unloaded(&vars, state);
        for scalar in &state.scalars {
            let (now, before) = (vars.get(&scalar.name), scalar.before.as_deref());
            if now == scalar.ours.as_deref() {
                if now.is_some() || before.is_none_or(|before| !unloaded.contains(&before)) {
                    vars.put(&scalar.name, scalar.before.clone());
                }
            } else if scalar.name == FLAGS
                && let Some(rest) = vars.get(FLAGS).and_then(|now| flags::without_ours(now, scalar))
            {
                vars.put(FLAGS, (!rest.is_empty() || scalar.before.is_some()).then_some(rest));
            }
        }
        for list in &state.lists {
            restore(&mut vars, list, &state.root, &unloaded);
        }
    }
    Left { vars, state, damaged }
}

/// The roots that an unloaded module took back while ours was entered: their entries were not there for it to take, and are
/// not to come back.
fn unloaded<'a>(vars: &Vars, state: &'a State) -> Vec<&'a OsStr> {
    let now = vars.get(MODULES).map(split).unwrap_or_default();
    let before = state.modules.as_deref().map(split).unwrap_or_default();
    if before.iter().all(|module| now.contains(module)) {
        return Vec::new();
    }
    // A refusal unset the variable already: there only the module's name says that it was its own.
    let loaded = state.modules.as_deref().and_then(loaded_module);
    let was_cuda = loaded.is_some_and(|module| !now.contains(&module.into()));
    let roots = state.scalars.iter().filter(|s| ROOT_VARIABLES.contains(&s.name.as_str())).filter(|s| {
        let now = vars.get(&s.name);
        now != s.before.as_deref() && (now != s.ours.as_deref() || s.ours.is_none() && was_cuda)
    });
    roots.filter_map(|s| s.before.as_deref()).collect()
}

/// Whether a state names only variables that are ours to change: it comes from the environment, and anybody can write it.
fn is_of_ours(state: &State) -> bool {
    let scalar = |name: &str| {
        ROOT_VARIABLES.contains(&name)
            || OTHER_SCALARS.contains(&name)
            || addon::variables().any(|ours| ours == name)
    };
    state.scalars.iter().all(|s| scalar(&s.name))
        && state.lists.iter().all(|l| LISTS.contains(&l.name.as_str()))
}

/// Takes out what lies below a home's toolkits and add-ons: entries of ours that an old value of a list brought back, as a virtual
/// environment does when it is left.
pub fn without_stale(vars: &Vars, home: &Home) -> Vars {
    let places = [home.toolkits(), home.addons()];
    let ours = |value: &OsStr| places.iter().any(|place| Path::new(value).starts_with(place));
    let mut vars = vars.clone();
    for name in ROOT_VARIABLES.into_iter().chain(["CUDACXX"]).chain(addon::variables()) {
        if vars.get(name).is_some_and(ours) {
            vars.put(name, None);
        }
    }
    for name in LISTS {
        let Some(all) = vars.get(name).map(split) else { continue };
        let rest: Vec<OsString> = all.iter().filter(|e| !ours(e)).cloned().collect();
        if rest.len() < all.len() {
            vars.put(name, (!rest.is_empty()).then(|| join(&rest)));
        }
    }
    vars
}

/// Enters a target from an environment in which nothing is entered. `Err` holds the length of a way back that is too long.
pub fn enter(base: &Vars, target: &Target, foreign: &Foreign) -> Result<Vars, usize> {
    let mut vars = base.clone();
    let mut state = State {
        rule: target.rule.clone(),
        root: target.root.clone().unwrap_or_default(),
        ..State::default()
    };
    let mut scalar = |vars: &mut Vars, name: &str, ours: Option<OsString>| {
        let before = vars.get(name).map(OsStr::to_os_string);
        if before != ours {
            vars.put(name, ours.clone());
        }
        state.scalars.push(Scalar { name: name.to_owned(), before, ours });
    };
    for name in ROOT_VARIABLES {
        scalar(&mut vars, name, target.root.clone());
    }
    if base.get("CUDACXX").is_none_or(|cxx| cxx.is_empty() || foreign.owns_program(cxx)) {
        let nvcc = target.root.as_ref().map(|root| {
            let mut nvcc = root.clone();
            nvcc.push("/bin/nvcc");
            nvcc
        });
        scalar(&mut vars, "CUDACXX", nvcc);
    }
    for (name, value) in &target.scalars {
        scalar(&mut vars, name, Some(value.clone()));
    }
    for name in LISTS.into_iter().filter(|name| !target.untouched.contains(name)) {
        let (front, back) = (Target::of(&target.front, name), Target::of(&target.back, name));
        if let Some((value, list)) = list_after(name, base.get(name), front, back, foreign) {
            vars.put(name, value);
            state.lists.push(list);
        }
    }
    if state.lists.iter().any(|list| !list.removed.is_empty()) {
        state.modules = base.get(MODULES).map(OsStr::to_os_string);
    }
    let text = state.encode();
    if text.len() > state::LIMIT {
        return Err(text.len());
    }
    vars.put(state::VARIABLE, Some(text.into()));
    Ok(vars)
}

/// Whether everything of ours is still in place: every scalar as we made it, every entry of ours in its list.
pub fn is_intact(vars: &Vars, state: &State, home: &Home) -> bool {
    let toolkits = home.toolkits();
    let scalars = state.scalars.iter().all(|s| vars.get(&s.name) == s.ours.as_deref());
    scalars
        && state.lists.iter().all(|list| {
            let now = vars.get(&list.name).map(split).unwrap_or_default();
            let ours = |e: &OsString| list.front.contains(e) || list.back.contains(e);
            // An older PATH that came back may hold what was entered before, or the shims at its end as outside.
            let stale = now.iter().any(|e| !ours(e) && Path::new(e).starts_with(&toolkits));
            let outside = state.root.is_empty() && now.len() > 1 && now.last().is_some_and(ours);
            !stale && !outside && list.front.iter().chain(&list.back).all(|e| now.contains(e))
        })
}

/// The list with our entries in and other toolkits' out, and the way back; `None` where nothing changes.
fn list_after(
    name: &str,
    before: Option<&OsStr>,
    front: Vec<OsString>,
    back: Vec<OsString>,
    foreign: &Foreign,
) -> Option<(Option<OsString>, List)> {
    let old = before.map(split).unwrap_or_default();
    let mut out: Vec<bool> = old.iter().map(|e| foreign.owns_entry(e)).collect();
    let alone =
        |out: &[bool]| old.iter().zip(out).filter(|(_, gone)| !**gone).map(|(e, _)| e).collect::<Vec<_>>();
    if front.is_empty() && back.is_empty() && matches!(alone(&out).as_slice(), [only] if only.is_empty()) {
        // A list of one empty element cannot be written, and means the current directory: it goes with the others.
        out.fill(true);
    }
    if front.is_empty() && back.is_empty() && !out.contains(&true) {
        return None;
    }
    let removed = old
        .iter()
        .enumerate()
        .filter(|(i, _)| out.get(*i) == Some(&true))
        .map(|(index, entry)| {
            let stayed = old.iter().zip(&out).skip(index + 1).find(|(_, gone)| !**gone);
            Removed { index, entry: entry.clone(), right: stayed.map(|(e, _)| e.clone()) }
        })
        .collect();
    let rest = alone(&out);
    let all: Vec<OsString> = front.iter().chain(rest).chain(&back).cloned().collect();
    let value = (!all.is_empty()).then(|| join(&all));
    let list = List {
        name: name.to_owned(),
        was_set: before.is_some(),
        hash: hash(value.as_deref()),
        front,
        back,
        removed,
    };
    Some((value, list))
}

/// Whether a list came back as it was before we entered: all that we took out is in it again, in order, others' entries among
/// it, and of ours only what the user had, too.
fn is_as_before(list: &List, now: &[OsString]) -> bool {
    let ours = |e: &OsString| list.front.contains(e) || list.back.contains(e);
    let was_out = |e: &OsString| list.removed.iter().any(|r| r.entry == *e);
    list.removed.iter().any(|r| !ours(&r.entry))
        && now.iter().filter(|e| was_out(e)).eq(list.removed.iter().map(|r| &r.entry))
        && now.iter().all(|e| !ours(e) || was_out(e))
}

/// Takes our entries, those of `root`, out of a list and puts back what we took out, but for what lies in one of the roots
/// `without`. A list that was unset since stays unset.
pub(crate) fn restore(vars: &mut Vars, list: &List, root: &OsStr, without: &[&OsStr]) {
    let root = Path::new(root);
    let stays_out = |entry: &OsStr| without.iter().any(|root| lies_in(root, entry));
    let now = vars.get(&list.name);
    let untouched = hash(now) == list.hash;
    if now.is_none() && !untouched {
        return;
    }
    let mut elements = now.map(split).unwrap_or_default();
    if !untouched && is_as_before(list, &elements) {
        return;
    }
    // An entry of ours that the user had, too, and that is gone: `module unload` took it out, ours and the remembered one.
    let mut taken: Vec<&OsString> = Vec::new();
    if untouched {
        elements.drain(..list.front.len().min(elements.len()));
        elements.truncate(elements.len().saturating_sub(list.back.len()));
    } else {
        let mut take = |ours, at: Option<usize>, elements: &mut Vec<OsString>| match at {
            Some(at) => drop(elements.remove(at)),
            None => taken.push(ours),
        };
        // Where nothing is entered the shims stand at the end: those of a refusal do only where they were alone.
        let alone = list.hash == hash(Some(&join(&list.front)));
        let is_outside =
            |at: usize, all: usize| root.as_os_str().is_empty() && !alone && at > 0 && at + 1 == all;
        for ours in &list.front {
            let at = elements.iter().position(|e| e == ours).filter(|at| !is_outside(*at, elements.len()));
            take(ours, at, &mut elements);
        }
        // The user may have the same entry further in front.
        for ours in list.back.iter().rev() {
            take(ours, elements.iter().rposition(|e| e == ours), &mut elements);
        }
    }
    // A start file that was read again may have added `$CUDA_HOME/bin`. Of a cudaup home's toolkit every entry that was the
    // user's own is among the removed ones.
    if !untouched && root.parent().is_some_and(|above| above.ends_with("toolkits")) {
        let ours = |e: &OsString| list.front.contains(e) || list.back.contains(e);
        elements.retain(|e| !(ours(e) && Path::new(e).starts_with(root)));
    }
    // A start file that was read again, or a virtual environment that was left, wrote the whole list anew: what it holds again
    // is not to be there twice.
    let anew = !untouched && taken.len() == list.front.len() + list.back.len();
    let again: Vec<OsString> = if anew { elements.clone() } else { Vec::new() };
    let gone = |removed: &&Removed| !taken.contains(&&removed.entry) && !again.contains(&removed.entry);
    let mut stayed_out = 0;
    for removed in list.removed.iter().filter(gone) {
        if stays_out(&removed.entry) {
            stayed_out += 1;
            continue;
        }
        let beside = removed.right.as_ref().filter(|_| !untouched);
        let at = beside.and_then(|right| elements.iter().position(|e| e == right));
        let at = at.unwrap_or(removed.index.saturating_sub(stayed_out));
        elements.insert(at.min(elements.len()), removed.entry.clone());
    }
    vars.put(&list.name, (list.was_set || !elements.is_empty()).then(|| join(&elements)));
}
