//! What a shell remembers of the environments that were entered in it, so that it knows them when another hand brings one
//! back: a virtual environment that was activated inside a project puts back, on `deactivate`, the PATH that it saw there.

use crate::environment::{LISTS, Vars, restore};
use crate::foreign::ROOT_VARIABLES;
use crate::home::Home;
use crate::list::{join, split};
use crate::state::{List, Scalar, State, VARIABLE, hash};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// So many of the last.
const MOST: usize = 4;

/// What is longer is not kept. In bytes.
const LONGEST: usize = 2048;

/// Says that something was seen at work that keeps a PATH and brings it back.
const KEEPER: &str = "keeper";

/// Says that the last of the environments is entered still.
const INSIDE: &str = "inside";

/// By these it is seen: virtual environments and direnv.
const KEEPERS: [&str; 2] = ["VIRTUAL_ENV", "DIRENV_DIR"];

/// The last environments that were entered, the newest last: of each its root, PATH, and which toolkits the user's own root
/// variables named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    entered: Vec<State>,
    keeper: bool,
    inside: bool,
}

impl Memory {
    /// Reads a word that a shell keeps; `false` where it is none of these.
    pub fn read(&mut self, word: &str) -> bool {
        if word == KEEPER || word == INSIDE {
            self.keeper |= word == KEEPER;
            self.inside |= word == INSIDE;
            return true;
        }
        let state = State::decode(OsStr::new(word));
        let state = state.filter(|s| matches!(s.lists.as_slice(), [only] if only.name == "PATH"));
        self.entered.extend(state.clone());
        state.is_some()
    }

    /// As words without a blank.
    pub fn words(&self) -> Vec<String> {
        let words = self.entered.iter().map(State::encode);
        let marks = [(self.keeper, KEEPER), (self.inside, INSIDE)];
        words.chain(marks.into_iter().filter(|(is, _)| *is).map(|(_, word)| word.to_owned())).collect()
    }

    /// Looks at an environment that the hook meets.
    pub fn meet(&mut self, vars: &Vars) {
        self.keeper |= has_keeper(vars);
    }

    /// Takes in an environment that was entered.
    pub fn enter(&mut self, vars: &Vars) {
        self.keeper = has_keeper(vars);
        let state = current(vars);
        self.inside = state.is_some();
        let Some(state) = state else { return };
        let own = |name: &str| ROOT_VARIABLES.contains(&name);
        let kept = State {
            root: state.root,
            scalars: state.scalars.into_iter().filter(|s| own(&s.name) && s.before.is_some()).collect(),
            lists: state.lists.into_iter().filter(|l| l.name == "PATH").collect(),
            ..State::default()
        };
        let is_short = kept.lists.len() == 1 && kept.encode().len() <= LONGEST;
        // What is not kept is not known again.
        self.inside &= is_short;
        if is_short {
            self.entered.retain(|known| *known != kept);
            self.entered.push(kept);
            let more = self.entered.len().saturating_sub(MOST);
            self.entered.drain(..more);
        }
    }

    /// The environment without what was brought back of another place's: a PATH exactly as it was written becomes what it was
    /// before; of any other, and of the root variables, what names a toolkit of the home goes. And whether it was such a PATH.
    pub fn settled(&self, vars: &Vars, home: &Home) -> (Vars, bool) {
        let (mut vars, mut undone) = (vars.clone(), false);
        let (state, toolkits) = (current(&vars), home.toolkits());
        let now = state.as_ref().and_then(|s| path_of(s));
        let written = hash(vars.get("PATH"));
        let is_now = now.is_some_and(|list| list.hash == written);
        let old = self.entered.iter().rfind(|s| !is_now && path_of(s).is_some_and(|l| l.hash == written));
        // A linked toolkit may stand in front because the user put it there: the same text, from where nothing was kept.
        let is_ours = |old: &&State| {
            state.is_some()
                || self.keeper
                || old.root.is_empty()
                || Path::new(&old.root).starts_with(&toolkits)
        };
        if let Some(list) = old.filter(is_ours).and_then(path_of) {
            restore(&mut vars, list, OsStr::new(""), &[]);
            undone = true;
            // What the newest entering did to PATH is not in it.
            if let Some(mut state) = state.clone() {
                state.lists.retain(|list| list.name != "PATH");
                vars.put(VARIABLE, Some(state.encode().into()));
            }
        } else if let Some(path) = vars.get("PATH").map(split) {
            let of_now =
                |e: &OsString| now.is_some_and(|list| list.front.contains(e) || list.back.contains(e));
            let all = || self.entered.iter().filter_map(path_of);
            let stale = |e: &OsString| {
                Path::new(e).starts_with(&toolkits)
                    && !of_now(e)
                    && all().any(|list| list.front.contains(e))
                    && !all().any(|list| list.removed.iter().any(|r| r.entry == *e))
            };
            let rest: Vec<OsString> = path.iter().filter(|e| !stale(e)).cloned().collect();
            if rest.len() < path.len() {
                vars.put("PATH", (!rest.is_empty()).then(|| join(&rest)));
            }
        }
        let root_now = state.as_ref().map(|s| s.root.as_os_str());
        for name in ROOT_VARIABLES {
            let Some(value) = vars.get(name).filter(|v| Path::new(v).starts_with(&toolkits)) else {
                continue;
            };
            let own = |s: &State| s.scalars.iter().any(|s| s.before.as_deref() == Some(value));
            let entered = self.entered.iter().any(|s| s.root == value);
            if root_now != Some(value) && entered && !self.entered.iter().any(own) {
                vars.put(name, None);
            }
        }
        if self.inside && state.is_none() {
            self.without_lost(&mut vars);
        }
        (vars, undone)
    }

    /// CUDAUP_STATE was lost or damaged in a shell that had entered: what it remembered is gone, and what names the toolkit goes
    /// with it, or two toolkits would be mixed. The user's own root variables are remembered here.
    fn without_lost(&self, vars: &mut Vars) {
        let Some(lost) = self.entered.last().filter(|lost| !lost.root.is_empty()) else { return };
        let own = |s: &Scalar| s.before.as_ref().is_some_and(|before| *before == lost.root);
        if lost.scalars.iter().any(own) {
            return;
        }
        let ours = |value: &OsStr| Path::new(value).starts_with(&lost.root);
        for name in ROOT_VARIABLES.into_iter().chain(["CUDACXX"]) {
            if vars.get(name).is_none_or(ours) {
                let before = lost.scalars.iter().find(|s| s.name == name).and_then(|s| s.before.clone());
                vars.put(name, before);
            }
        }
        for name in LISTS {
            let Some(all) = vars.get(name).map(split) else { continue };
            let rest: Vec<OsString> = all.iter().filter(|entry| !ours(entry)).cloned().collect();
            if rest.len() < all.len() {
                vars.put(name, (!rest.is_empty()).then(|| join(&rest)));
            }
        }
    }
}

fn has_keeper(vars: &Vars) -> bool {
    KEEPERS.iter().any(|name| vars.get(name).is_some_and(|value| !value.is_empty()))
}

fn current(vars: &Vars) -> Option<State> {
    vars.get(VARIABLE).and_then(State::decode)
}

fn path_of(state: &State) -> Option<&List> {
    state.lists.iter().find(|list| list.name == "PATH")
}
