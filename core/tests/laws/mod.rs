//! Every law of entering and leaving, on each of many generated environments (10,000; `CUDAUP_TEST_LAWS=100000` for more):
//! what has to be there is told from what was there by a reading of its own.

mod shells;

use crate::generated::{Edit, Machine, edits, environment, is_named, is_named_by, place};
use crate::map_disk::Remembered;
use cudaup_core::activate::{Activation, Entered, Scope, activate};
use cudaup_core::environment::{LISTS, OTHER_SCALARS, Vars, leave};
use cudaup_core::foreign::ROOT_VARIABLES;
use cudaup_core::home::Home;
use cudaup_core::list::split;
use cudaup_core::refusal::Why;
use cudaup_core::resolve::{Choice, World};
use cudaup_core::state::{State, VARIABLE};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// On each of the four machines, where nobody asks for another number.
const CASES: u32 = 2_500;

type Checked = Result<(), TestCaseError>;

fn enter(disk: &Remembered, vars: &Vars, cwd: &str) -> Activation {
    let home = Home::new("/home/u/.cudaup");
    activate(&World { vars, cwd: Some(Path::new(cwd)), home: &home, disk }, None, Scope::Asked)
}

fn elements(vars: &Vars, name: &str) -> Vec<OsString> {
    vars.get(name).map(split).unwrap_or_default()
}

fn empties(vars: &Vars, name: &str) -> usize {
    elements(vars, name).iter().filter(|e| e.is_empty()).count()
}

/// What of a list is no toolkit's.
fn bystanders(machine: Machine, e: &Vars, list: Vec<OsString>) -> Vec<OsString> {
    list.into_iter().filter(|entry| !machine.owns(e, entry)).collect()
}

/// Everything that is not ours is in its order, with its duplicates and its empty elements; no toolkit's but the chosen
/// one's is there, and no empty element that was not there.
fn lists_hold(machine: Machine, e: &Vars, a: &Activation, state: &State) -> Checked {
    let inside = &a.vars;
    for name in LISTS {
        let now = elements(inside, name);
        prop_assert!(empties(inside, name) <= empties(e, name), "{}", name);
        prop_assert!(
            inside.get(name) != Some(OsStr::new("")) || e.get(name) == Some(OsStr::new("")),
            "{}",
            name
        );
        if machine == Machine::Jetson && name == "LD_LIBRARY_PATH" {
            prop_assert_eq!(inside.get(name), e.get(name));
            continue;
        }
        let list = state.lists.iter().find(|l| l.name == name);
        let (front, back) = list.map(|l| (l.front.clone(), l.back.clone())).unwrap_or_default();
        let mut expected = bystanders(machine, e, elements(e, name));
        // It cannot be written: an empty value has no element.
        if front.is_empty() && back.is_empty() && expected == [""] {
            expected.clear();
        }
        for ours in front.iter().chain(&back) {
            prop_assert!(is_chosen(&a.entered, ours), "{}: {:?}", name, ours);
        }
        prop_assert_eq!(now, [front, expected, back].concat(), "{}", name);
    }
    Ok(())
}

fn is_chosen(entered: &Entered, entry: &OsStr) -> bool {
    let Entered::Toolkit(choice) = entered else { return entry == "/home/u/.cudaup/shims" };
    let root = choice.toolkit.root.as_path();
    // The HPC SDK has the math libraries of its toolkit beside it.
    let beside = root.ancestors().nth(2).filter(|sdk| sdk.ends_with("24.3")).map(|sdk| sdk.join("math_libs"));
    let roots = choice.addons.iter().map(|a| a.root.as_path()).chain([root]).chain(beside.as_deref());
    roots.into_iter().any(|root| Path::new(entry).starts_with(root))
}

/// What a variable with one value has to be: as it was, where nothing says otherwise.
fn expected_scalar(machine: Machine, e: &Vars, choice: Option<&Choice>, name: &str) -> Option<OsString> {
    let before = e.get(name).map(OsStr::to_os_string);
    let root = choice.map(|c| c.toolkit.root.clone().into_os_string());
    let compiler = choice.and_then(|c| c.settings.host_compiler.clone());
    let is_new = choice.is_some_and(|c| c.toolkit.identity.version.major >= 13);
    if ROOT_VARIABLES.contains(&name) {
        return root;
    }
    if name == "CUDACXX" {
        let of_toolkit =
            |cxx: &OsStr| Path::new(cxx).parent().is_some_and(|bin| machine.owns(e, bin.as_os_str()));
        let free = before.as_deref().is_none_or(|cxx| cxx.is_empty() || of_toolkit(cxx));
        return if free { choice.map(|c| c.toolkit.root.join("bin/nvcc").into()) } else { before };
    }
    match (name, compiler) {
        ("CUDAHOSTCXX", Some(compiler)) => return Some(compiler.into()),
        ("NVCC_CCBIN", Some(compiler)) if is_new => return Some(compiler.into()),
        ("NVCC_PREPEND_FLAGS", Some(compiler)) if !is_new => {
            let mut flags = OsString::from(format!("-ccbin {compiler}"));
            if let Some(own) = before.filter(|b| !b.is_empty()) {
                flags.push(" ");
                flags.push(own);
            }
            return Some(flags);
        }
        _ => {}
    }
    let addon = choice.and_then(|c| c.addons.iter().find(|a| a.library.variables.contains(&name)));
    addon.map(|a| a.root.clone().into_os_string()).or(before)
}

/// All variables name one toolkit, and every other variable is what it was.
fn scalars_hold(machine: Machine, e: &Vars, a: &Activation) -> Checked {
    let choice = match &a.entered {
        Entered::Toolkit(choice) => Some(&**choice),
        _ => None,
    };
    let of_addons = choice.iter().flat_map(|c| &c.addons).flat_map(|a| a.library.variables).copied();
    for name in ROOT_VARIABLES.into_iter().chain(OTHER_SCALARS).chain(of_addons) {
        prop_assert_eq!(
            a.vars.get(name).map(OsStr::to_os_string),
            expected_scalar(machine, e, choice, name),
            "{}",
            name
        );
    }
    for (name, value) in e.iter().chain(a.vars.iter()) {
        let text = name.to_str().unwrap_or_default();
        if text != VARIABLE
            && !LISTS.contains(&text)
            && expected_scalar(machine, e, choice, text) == e.get(text).map(Into::into)
        {
            let now = a.vars.iter().find(|(n, _)| *n == name).map(|(_, v)| v);
            prop_assert_eq!(now, Some(value), "{:?}", name);
        }
    }
    Ok(())
}

/// What was changed in between stays; all else goes back to what it was.
fn changes_stay(machine: Machine, e: &Vars, inside: &Vars, edits: &[Edit]) -> Result<Vars, TestCaseError> {
    let mut edited = inside.clone();
    for edit in edits {
        edited.put(edit.name(), edit.of(inside.get(edit.name())));
    }
    let after = leave(&edited).vars;
    for edit in edits {
        let name = edit.name();
        let now = after.get(name);
        if !LISTS.contains(&name) {
            // A value that is again what we had set cannot be told from ours.
            let ours = edited.get(name) == inside.get(name);
            prop_assert_eq!(now, if ours { e.get(name) } else { edited.get(name) }, "{:?}", edit);
            continue;
        }
        let others = bystanders(machine, e, elements(&after, name));
        let before = elements(e, name);
        // One empty element alone cannot be written: it went with the toolkits' and comes back with them.
        let lone = bystanders(machine, e, before.clone()) == [""] && elements(inside, name).is_empty();
        match edit {
            Edit::Unset(_) if inside.get(name).is_some() => prop_assert_eq!(now, None, "{:?}", edit),
            Edit::Unset(_) => prop_assert_eq!(now, e.get(name), "{:?}", edit),
            Edit::Replace(_) => prop_assert!(others == [Edit::MINE] || lone, "{:?}: {:?}", edit, others),
            Edit::Prepend(_) | Edit::Append(_) => {
                let mut expected = bystanders(machine, e, before.clone());
                let at = if matches!(edit, Edit::Prepend(_)) { 0 } else { expected.len() };
                expected.insert(at, Edit::MINE.into());
                prop_assert!(others == expected || lone, "{:?}: {:?} {:?}", edit, others, expected);
                let (mut all, mut were) = (elements(&after, name), before);
                were.push(Edit::MINE.into());
                all.sort();
                were.sort();
                prop_assert_eq!(all, were, "{:?}", edit);
            }
        }
    }
    for (name, value) in e.iter().filter(|(n, _)| edits.iter().all(|edit| OsStr::new(edit.name()) != *n)) {
        let now = after.iter().find(|(n, _)| *n == name).map(|(_, v)| v);
        prop_assert_eq!(now, Some(value), "{:?}", name);
    }
    Ok(after)
}

/// Whoever unsets the root variables inside has unset these: no list gets a toolkit back from it, and each is whole outside.
fn roots_can_be_unset(disk: &Remembered, machine: Machine, e: &Vars, inside: &Vars, b: &str) -> Checked {
    let mut unset = inside.clone();
    for name in ROOT_VARIABLES {
        unset.put(name, None);
    }
    let again = enter(disk, &unset, b);
    prop_assert_eq!(&leave(&again.vars).vars, &leave(&unset).vars, "leaving what was unset");
    let state = again.vars.get(VARIABLE).and_then(State::decode);
    for name in LISTS.iter().filter(|n| machine != Machine::Jetson || **n != "LD_LIBRARY_PATH") {
        let Some(list) = state.iter().flat_map(|s| &s.lists).find(|l| l.name == *name) else { continue };
        let ours = |entry: &OsString| list.front.contains(entry) || list.back.contains(entry);
        let back = elements(&again.vars, name).into_iter().find(|x| machine.owns(e, x) && !ours(x));
        prop_assert_eq!(back, None, "{}", name);
    }
    Ok(())
}

/// A module that is unloaded inside unsets its root variables, and cannot take out of a list what we took out already.
fn modules_can_be_unloaded(machine: Machine, e: &Vars, a: &Activation) -> Checked {
    let loaded = e.get("LOADEDMODULES").is_some();
    let mut inside = a.vars.clone();
    for name in ROOT_VARIABLES {
        inside.put(name, None);
    }
    inside.put("LOADEDMODULES", Some("gcc/12".into()));
    let after = leave(&inside).vars;
    // Where nothing of a toolkit stood in a list, nobody had to know of modules, and a refusal had unset it before.
    let known = a.vars.get(VARIABLE).and_then(State::decode).is_some_and(|s| s.modules.is_some());
    for name in ROOT_VARIABLES.iter().filter(|_| known && matches!(a.entered, Entered::Refused(_))) {
        prop_assert_eq!(after.get(name), None, "{}", name);
    }
    let roots: Vec<&OsStr> = ROOT_VARIABLES.iter().filter_map(|name| e.get(name)).collect();
    for name in LISTS.iter().filter(|n| machine != Machine::Jetson || **n != "LD_LIBRARY_PATH") {
        let theirs = |x: &OsString| loaded && roots.iter().any(|root| is_named_by(root, x));
        let told = |x: &OsString| is_named(x) || !machine.owns(e, x);
        let expected = elements(e, name).into_iter().filter(|x| !theirs(x) && told(x));
        let expected: Vec<OsString> = expected.collect();
        let now: Vec<OsString> = elements(&after, name).into_iter().filter(told).collect();
        // One empty element alone cannot be written.
        prop_assert!(now == expected || expected == [""], "{}: {:?} {:?}", name, now, expected);
    }
    Ok(())
}

/// What another hand adds to flags that are ours stays, and ours go.
fn flags_can_be_added(e: &Vars, inside: &Vars, state: &State) -> Checked {
    let name = "NVCC_PREPEND_FLAGS";
    if state.scalars.iter().all(|s| s.name != name) {
        return Ok(());
    }
    let own = e.get(name).filter(|own| !own.is_empty()).map(OsStr::to_os_string);
    let with = |first: Option<OsString>, sides: [&str; 2]| {
        let [mut all, last] = sides.map(OsString::from);
        all.push(first.unwrap_or_default());
        all.push(last);
        all
    };
    for (sides, alone) in [(["", " -Xa b"], "-Xa b"), (["-Xa b ", ""], "-Xa b")] {
        let mut added = inside.clone();
        added.put(name, Some(with(inside.get(name).map(Into::into), sides)));
        let after = leave(&added).vars;
        let expected = own.clone().map_or_else(|| alone.into(), |own| with(Some(own), sides));
        prop_assert_eq!(after.get(name), Some(expected.as_os_str()));
    }
    Ok(())
}

fn all_laws_hold(disk: &Remembered, machine: Machine, e: &Vars, a: &str, b: &str, edits: &[Edit]) -> Checked {
    let first = enter(disk, e, a);
    let inside = &first.vars;
    prop_assert_eq!(&leave(inside).vars, e, "leaving");
    prop_assert_eq!(&enter(disk, inside, a).vars, inside, "entering twice");
    prop_assert_eq!(enter(disk, inside, b).vars, enter(disk, e, b).vars, "the second place sees the first");
    let nothing = match &first.entered {
        Entered::Refused(refusal) => matches!(refusal.why, Why::StateTooLong(_)),
        Entered::Nothing => true,
        Entered::Toolkit(_) => false,
    };
    if nothing {
        prop_assert_eq!(inside, e, "nothing is entered");
        return Ok(());
    }
    let text = inside.get(VARIABLE).unwrap_or_default();
    prop_assert!(text.as_bytes().iter().all(u8::is_ascii_graphic), "{:?}", text);
    let Some(state) = State::decode(text) else { return Err(TestCaseError::fail("no way back")) };
    lists_hold(machine, e, &first, &state)?;
    scalars_hold(machine, e, &first)?;
    flags_can_be_added(e, inside, &state)?;
    roots_can_be_unset(disk, machine, e, inside, b)?;
    modules_can_be_unloaded(machine, e, &first)?;
    let after = changes_stay(machine, e, inside, edits)?;
    let again = enter(disk, &after, b).vars;
    prop_assert_eq!(&leave(&again).vars, &after, "leaving what was changed");
    Ok(())
}

fn over(machine: Machine) {
    let asked = std::env::var("CUDAUP_TEST_LAWS").ok();
    let cases = asked.map_or(CASES, |all| all.parse::<u32>().unwrap() / 4);
    let disk = Remembered::of(machine.disk());
    let mut runner =
        TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() });
    let case = (environment(), place(), place(), edits());
    let outcome = runner.run(&case, |(e, a, b, edits)| all_laws_hold(&disk, machine, &e, &a, &b, &edits));
    assert!(outcome.is_ok(), "{machine:?}: {}", outcome.unwrap_err());
}

#[test]
fn on_a_plain_machine() {
    over(Machine::Plain);
}

#[test]
fn with_a_default_that_lists_a_root() {
    over(Machine::Roots);
}

#[test]
fn on_a_jetson() {
    over(Machine::Jetson);
}

#[test]
fn in_wsl2() {
    over(Machine::Wsl);
}
