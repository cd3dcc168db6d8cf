//! A shell with the hook, and a virtual environment that was activated inside one project and is left in another place: on each
//! of many generated environments it is, outside, what it was before.

use crate::generated::{Machine, environment, place};
use crate::map_disk::Remembered;
use cudaup_core::environment::Vars;
use cudaup_core::follow::{Steps, enter, mend};
use cudaup_core::home::Home;
use cudaup_core::list::split;
use cudaup_core::resolve::World;
use cudaup_core::state::{State, VARIABLE};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const CASES: u32 = 1_000;

struct Shell<'a> {
    vars: Vars,
    told: String,
    disk: &'a Remembered,
}

impl Shell<'_> {
    fn asks(&mut self, cwd: &str, what: fn(&World) -> Steps) {
        let home = Home::new("/home/u/.cudaup");
        let mut vars = self.vars.clone();
        vars.put("_CUDAUP_TOLD", Some(self.told.clone().into()));
        let steps = what(&World { vars: &vars, cwd: Some(Path::new(cwd)), home: &home, disk: self.disk });
        steps.changes.into_iter().for_each(|(name, value)| self.vars.put(&name, value));
        self.told = steps.told.unwrap_or(std::mem::take(&mut self.told));
    }
}

/// What a shell keeps is short, and a toolkit of this home that stands in a list is held for one of ours.
fn is_usual(e: &Vars) -> bool {
    let managed = |v: &OsString| v.as_bytes().windows(11).any(|w| w == b"u/.cudaup/t" || w == b"u/.cudaup/a");
    e.get("PATH").is_some_and(|path| !path.is_empty() && path.len() < 500)
        && !e.iter().any(|(_, v)| managed(v))
}

/// Whether an entry that entering put into PATH stood there before, the shims at its end aside: whose it is when an old PATH has
/// it, nothing tells.
fn stands_in(inside: &Vars, outside: &Vars) -> bool {
    let state = inside.get(VARIABLE).and_then(State::decode);
    let front = state.iter().flat_map(|s| &s.lists).filter(|l| l.name == "PATH").flat_map(|l| &l.front);
    let before = outside.get("PATH").map(split).unwrap_or_default();
    front.filter(|entry| !entry.as_bytes().ends_with(b"/shims")).any(|entry| before.contains(entry))
}

#[test]
fn a_path_that_was_saved_inside_is_undone_outside() {
    let disk = Remembered::of(Machine::Plain.disk());
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        max_local_rejects: 100 * CASES,
        ..ProptestConfig::default()
    };
    let case = (environment().prop_filter("usual", is_usual), place(), place(), any::<bool>());
    let outcome = TestRunner::new(config).run(&case, |(e, a, b, at_once)| {
        let mut shell = Shell { vars: e, told: String::new(), disk: &disk };
        shell.asks("/p", enter);
        let outside = shell.vars.clone();
        shell.asks(&a, enter);
        let saved = shell.vars.get("PATH").map(OsString::from);
        let mut with = OsString::from("/ve/bin:");
        with.push(saved.clone().unwrap_or_default());
        shell.vars.put("PATH", Some(with));
        shell.vars.put("VIRTUAL_ENV", Some("/ve".into()));
        shell.asks(&a, mend);
        shell.asks(&b, enter);
        prop_assume!(!stands_in(&shell.vars, &outside));
        shell.vars.put("PATH", saved);
        shell.vars.put("VIRTUAL_ENV", outside.get("VIRTUAL_ENV").map(OsString::from));
        if !at_once {
            shell.asks(&b, mend);
        }
        shell.asks("/p", enter);
        prop_assert_eq!(shell.vars, outside);
        Ok(())
    });
    assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
}

#[test]
fn a_way_back_that_was_lost_leaves_no_mixture() {
    let disk = Remembered::of(Machine::Plain.disk());
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        max_local_rejects: 100 * CASES,
        ..ProptestConfig::default()
    };
    let case = (environment().prop_filter("usual", is_usual), place(), any::<bool>());
    let outcome = TestRunner::new(config).run(&case, |(e, a, damaged)| {
        let mut shell = Shell { vars: e, told: String::new(), disk: &disk };
        shell.asks("/p", enter);
        let outside = shell.vars.clone();
        // Where CUDAUP_VERSION is set, that place is none without a toolkit.
        prop_assume!(outside.get(VARIABLE).is_none());
        shell.asks(&a, enter);
        let entered = shell.vars.get(VARIABLE).and_then(State::decode);
        shell.vars.put(VARIABLE, damaged.then(|| "1;x".into()));
        shell.asks("/p", enter);
        let Some(root) = entered.map(|state| state.root).filter(|root| !root.is_empty()) else {
            return Ok(());
        };
        let of_outside =
            outside.iter().any(|(_, v)| v.as_bytes().windows(root.len()).any(|w| w == root.as_bytes()));
        prop_assume!(!of_outside);
        for (name, value) in shell.vars.iter() {
            let left = value.as_bytes().windows(root.len()).any(|w| w == root.as_bytes());
            prop_assert!(!left, "{:?}={:?}", name, value);
        }
        for name in ["CUDA_HOME", "CUDA_PATH"] {
            prop_assert_eq!(shell.vars.get(name), outside.get(name));
        }
        Ok(())
    });
    assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
}
