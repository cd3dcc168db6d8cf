//! Keeps the house in order: floors, sizes, names, and who may touch the outside world. Reads the sources as text.
#![cfg(test)]

#[path = "architecture/floors.rs"]
mod floors;
#[path = "architecture/paths.rs"]
mod paths;
#[path = "architecture/proof.rs"]
mod proof;
#[path = "architecture/rules.rs"]
mod rules;
#[path = "architecture/source.rs"]
mod source;

use std::fs;
use std::path::Path;

use source::Source;

/// What the rules look at.
struct Tree {
    sources: Vec<Source>,
    readme: String,
    /// The manifests of the crates, by path.
    manifests: Vec<(String, String)>,
}

impl Tree {
    fn new(mut sources: Vec<Source>, readme: String, manifests: Vec<(String, String)>) -> Self {
        let for_tests: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
        for source in &mut sources {
            let is = |module: &String| {
                source.path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            };
            if for_tests.iter().any(is) {
                source.set_aside();
            }
        }
        Self { sources, readme, manifests }
    }

    fn below<'a>(&'a self, directory: &'a str) -> impl Iterator<Item = &'a Source> {
        self.sources.iter().filter(move |s| s.path.starts_with(directory))
    }

    /// The files that are built into what a user gets.
    fn product(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|s| !s.path.starts_with("tests/"))
    }

    /// The crates that a manifest's `[dependencies]` name.
    fn dependencies<'a>(&'a self, manifest: &'a str) -> impl Iterator<Item = &'a str> {
        let text = self.manifests.iter().find(|(path, _)| path == manifest).map_or("", |(_, text)| text);
        let table = text.lines().skip_while(|l| l.trim() != "[dependencies]").skip(1);
        table.take_while(|l| !l.starts_with('[')).filter_map(|l| Some(l.split_once(['=', '.'])?.0.trim()))
    }
}

type Rule = fn(&Tree) -> Vec<String>;

const RULES: [(&str, Rule); 16] = [
    ("imports go down", floors::imports_go_down),
    ("no double super", floors::no_double_super),
    ("core has no circle", floors::core_has_no_circle),
    ("files are short", rules::files_are_short),
    ("files say what they are for", rules::files_say_what_they_are_for),
    ("names mean something", rules::names_mean_something),
    ("nothing is unfinished", rules::nothing_is_unfinished),
    ("core is pure", rules::core_is_pure),
    ("the shim is small", rules::the_shim_is_small),
    ("the world is read once", rules::the_world_is_read_once),
    ("only main exits", rules::only_main_exits),
    ("only main and ui print", rules::only_main_and_ui_print),
    ("processes have a reason", rules::processes_have_a_reason),
    ("lints are expected, not allowed", rules::lints_are_expected_not_allowed),
    ("traits are few", rules::traits_are_few),
    ("variables are declared", rules::variables_are_declared),
];

fn real_tree() -> Tree {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut sources = Vec::new();
    for directory in ["src", "core/src", "shims/src", "tests"] {
        collect(root, directory, &mut sources);
    }
    let manifests = ["core/Cargo.toml", "shims/Cargo.toml"].map(|path| (path.to_owned(), read(path)));
    Tree::new(sources, read("README.md"), manifests.into())
}

fn collect(root: &Path, directory: &str, found: &mut Vec<Source>) {
    for entry in fs::read_dir(root.join(directory)).unwrap_or_else(|e| panic!("{directory}: {e}")) {
        let entry = entry.unwrap();
        let path = format!("{directory}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            collect(root, &path, found);
        } else if entry.path().extension().is_some_and(|e| e == "rs") {
            found.push(Source::new(&path, &fs::read_to_string(entry.path()).unwrap()));
        }
    }
}

#[test]
fn the_house_is_in_order() {
    let tree = real_tree();
    for file in
        ["src/main.rs", "src/host.rs", "core/src/version.rs", "shims/src/main.rs", "tests/architecture.rs"]
    {
        assert!(tree.sources.iter().any(|s| s.path == file), "{file} was not read");
    }
    let faults: Vec<String> = RULES
        .iter()
        .flat_map(|(name, rule)| rule(&tree).into_iter().map(move |fault| format!("{fault}   [{name}]")))
        .collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}
