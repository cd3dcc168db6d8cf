//! Which module stands on which floor, and that imports go down only.

use std::collections::{BTreeMap, BTreeSet};

use crate::Tree;
use crate::paths::named;
use crate::source::Source;

/// The floors of `src/`, lowest first. A module may use those on lower floors, and the other files of its own directory.
const FLOORS: [&[&str]; 8] = [
    &["host", "failure"],
    &["ui", "disk", "archive", "elf", "compat", "process"],
    &["net", "toolkit", "addon", "facts", "settings"],
    &["source", "prove"],
    &["install", "doctor", "shell", "export", "global", "shims"],
    &["command"],
    &["cli"],
    &["main"],
];

fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|names| names.contains(&module)).map(|n| n + 1)
}

/// The name by which a file stands in the table: its top module, or `main` for the root.
fn top(module: &[String]) -> &str {
    module.first().map_or("main", String::as_str)
}

/// Each module of the program has a floor, and imports go down: not beside, not up.
pub fn imports_go_down(tree: &Tree) -> Vec<String> {
    tree.below("src/").flat_map(imports_of).collect()
}

fn imports_of(source: &Source) -> Vec<String> {
    let module = source.module();
    let own = top(&module);
    let Some(own_floor) = floor(own) else {
        return vec![source.fault(0, &format!("`{own}` has no floor: give it one in the table of floors"))];
    };
    let mut faults = Vec::new();
    for path in named(source) {
        let Some(target) = path.resolve(&module) else { continue };
        let other = target.first().map_or("*", String::as_str);
        if other == own || own == "main" {
            continue;
        }
        let words = match floor(other) {
            None if other == "*" => "imports the whole crate: name the module".to_owned(),
            None => format!("imports `{other}`, which has no floor"),
            Some(floor) if floor < own_floor => continue,
            Some(floor) => {
                format!("`{own}` (floor {own_floor}) imports `{other}` (floor {floor}): imports go down only")
            }
        };
        faults.push(source.fault(path.at, &words));
    }
    faults
}

/// A path that climbs twice says that something stands in the wrong place.
pub fn no_double_super(tree: &Tree) -> Vec<String> {
    let climbs = |s: &Source| -> Vec<String> {
        let twice = named(s)
            .into_iter()
            .filter(|p| p.segments.windows(2).any(|w| w[0] == "super" && w[1] == "super"));
        twice.map(|p| s.fault(p.at, "`super::super`: begin at `crate::`")).collect()
    };
    tree.sources.iter().flat_map(climbs).collect()
}

/// The modules of core use each other without a circle, so that each can be understood after those it stands on.
pub fn core_has_no_circle(tree: &Tree) -> Vec<String> {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in tree.below("core/src/").filter(|s| !s.module().is_empty()) {
        let module = source.module();
        let others = named(source).into_iter().filter_map(|p| p.resolve(&module)?.first().cloned());
        let row = uses.entry(module[0].clone()).or_default();
        row.extend(others.filter(|o| *o != module[0]));
    }
    // Whoever uses nothing that is left can be taken away; in a circle nobody can.
    while let Some(free) =
        uses.iter().find(|(_, o)| o.iter().all(|o| !uses_has(&uses, o))).map(|(n, _)| n.clone())
    {
        uses.remove(&free);
    }
    if uses.is_empty() {
        return Vec::new();
    }
    vec![format!("core/src: these modules use each other in a circle: {:?}", uses.keys().collect::<Vec<_>>())]
}

fn uses_has(uses: &BTreeMap<String, BTreeSet<String>>, name: &str) -> bool {
    uses.contains_key(name)
}
