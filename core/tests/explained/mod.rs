//! What `explain` tells is what entering did, of each variable and each entry.

use crate::generated::{Machine, environment as environments};
use crate::map_disk::MapDisk;
use crate::places::{disk, entered, environment};
use cudaup_core::activate::{Entered, Scope, activate, foreign};
use cudaup_core::environment::{LISTS, Vars, leave};
use cudaup_core::explain::{Fate, explain};
use cudaup_core::home::Home;
use cudaup_core::list::{join, split};
use cudaup_core::request::Request;
use cudaup_core::resolve::World;
use proptest::prelude::*;
use proptest::sample::select;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::LazyLock;

const HOME: &str = "/home/u/.cudaup";

/// Of those that can be met, one of each kind; and one that cannot.
const REQUESTS: [&str; 8] = ["12.4", "11.5", "12.6", "12.3", "11.7", "12.1", "12.2", "9.9"];

/// The explanation says of each list what was there and what is there, and no more.
pub fn explanation_holds(disk: &MapDisk, vars: &Vars, request: &str) -> Result<(), String> {
    let home = Home::new(HOME);
    let world = World { vars, cwd: Some(Path::new("/p")), home: &home, disk };
    let activation = activate(&world, Some(&Request::parse(request).unwrap()), Scope::All);
    let Entered::Toolkit(choice) = &activation.entered else { return Ok(()) };
    let base = leave(vars).vars;
    let told = explain(&world, &activation);
    let changed =
        |name: &OsStr| name.to_str().is_some_and(|name| base.get(name) != activation.vars.get(name));
    for (name, _) in base.iter().chain(activation.vars.iter()) {
        if changed(name) && !told.iter().any(|t| OsStr::new(&t.name) == name) {
            return Err(format!("{name:?} is not told"));
        }
    }
    let others = foreign(&world, &base, None, &choice.settings.roots);
    for one in told {
        if (one.before.as_deref(), one.after.as_deref())
            != (base.get(&one.name), activation.vars.get(&one.name))
        {
            return Err(format!("{one:?}"));
        }
        if !LISTS.contains(&one.name.as_str()) {
            continue;
        }
        let with = |fates: [Fate; 2]| -> Vec<OsString> {
            one.entries.iter().filter(|e| fates.contains(&e.fate)).map(|e| e.entry.clone()).collect()
        };
        let list = |value: &Option<OsString>| value.as_deref().map(split).unwrap_or_default();
        if join(&with([Fate::Kept, Fate::Removed])) != join(&list(&one.before))
            || with([Fate::Added, Fate::Kept]) != list(&one.after)
        {
            return Err(format!("{one:?}"));
        }
        for entry in one.entries.iter().filter(|e| e.fate == Fate::Removed) {
            if !entry.entry.is_empty() && (!others.owns_entry(&entry.entry) || entry.why.is_empty()) {
                return Err(format!("{entry:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn each_variable_is_explained() {
    let vars = environment();
    let home = Home::new(HOME);
    let disk = disk();
    let world = World { vars: &vars, cwd: Some(Path::new("/p")), home: &home, disk: &disk };
    let told = explain(&world, &activate(&world, Some(&Request::parse("12.4").unwrap()), Scope::All));
    let why = |name: &str, entry: &str| {
        let one = told.iter().find(|t| t.name == name).unwrap();
        let found = one.entries.iter().find(|e| e.entry == entry);
        found.map_or_else(|| one.why.clone(), |e| format!("{}: {}", e.fate.word(), e.why))
    };
    let root = "/home/u/.cudaup/toolkits/12.4.1";
    assert_eq!(why("CUDA_HOME", ""), "the toolkit's directory");
    assert_eq!(why("CUDACXX", ""), "the toolkit's nvcc, which CMake takes");
    assert_eq!(why("PATH", &format!("{root}/bin")), "added: its programs");
    assert_eq!(
        why("PATH", "/usr/local/cuda-11.1/bin"),
        "removed: another toolkit's: its directory is named cuda-11.1"
    );
    assert_eq!(
        why("PATH", "/usr/lib/nvidia-cuda-toolkit/bin"),
        "removed: another toolkit's: it lies where Debian's package has its toolkits"
    );
    assert_eq!(why("PATH", "/usr/bin"), "kept: ");
    assert_eq!(why("LD_LIBRARY_PATH", "/usr/lib/wsl/lib"), "kept: the driver of WSL2");
    assert_eq!(why("LD_LIBRARY_PATH", ""), "kept: empty: the current directory");
    assert_eq!(
        why("LIBRARY_PATH", &format!("{root}/lib64/stubs")),
        "added: its stand-ins for the driver's libraries, for linking alone"
    );
    assert_eq!(why("PKG_CONFIG_PATH", ""), "this toolkit has nothing for it");
    for request in ["12.4", "11.5", "12.6", "12.3"] {
        explanation_holds(&disk, &vars, request).unwrap();
        let (inside, _) = entered(&disk, &vars, request);
        explanation_holds(&disk, &inside, "12.4").unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_environment_is_explained(
        e in environments(),
        a in select(REQUESTS.to_vec()),
        b in select(REQUESTS.to_vec()),
        machine in select(vec![Machine::Plain, Machine::Jetson]),
    ) {
        static DISKS: LazyLock<[MapDisk; 2]> = LazyLock::new(|| [Machine::Plain.disk(), Machine::Jetson.disk()]);
        let disk = &DISKS[usize::from(machine == Machine::Jetson)];
        explanation_holds(disk, &e, a).map_err(TestCaseError::fail)?;
        let (inside, _) = entered(disk, &e, a);
        explanation_holds(disk, &inside, b).map_err(TestCaseError::fail)?;
    }
}
