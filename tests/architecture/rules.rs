//! The rules beside the floors: size, names, unfinished work, and who may touch the outside world.

use std::collections::BTreeSet;

use crate::Tree;
use crate::paths::{Named, named};
use crate::source::{Source, after_bracket, follows, item_range, tokens};

const LONGEST: usize = 400;

/// Names that say nothing about what is inside, so that everything ends up there.
const DRAWERS: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "misc", "manager"];

/// Words that mean unfinished work; written in two parts so that this file does not hold them.
const UNFINISHED: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

const MAIN_FILES: [&str; 2] = ["src/main.rs", "shims/src/main.rs"];

/// A file can be read in one go.
pub fn files_are_short(tree: &Tree) -> Vec<String> {
    let long = tree.sources.iter().filter(|s| s.text.lines().count() > LONGEST);
    long.map(|s| format!("{}: {} lines, more than {LONGEST}", s.path, s.text.lines().count())).collect()
}

/// The first line of a file says what it is for.
pub fn files_say_what_they_are_for(tree: &Tree) -> Vec<String> {
    let silent = tree.sources.iter().filter(|s| !s.text.starts_with("//! "));
    silent.map(|s| s.fault(0, "the first line is to say what the file is for: `//! ...`")).collect()
}

/// No file and no module is a drawer.
pub fn names_mean_something(tree: &Tree) -> Vec<String> {
    let mut faults = Vec::new();
    for source in &tree.sources {
        let parts = source.path.trim_end_matches(".rs").split('/');
        faults.extend(
            parts.filter(|p| DRAWERS.contains(p)).map(|p| source.fault(0, &format!("a drawer: `{p}`"))),
        );
        let tokens = tokens(&source.code);
        let modules = tokens.windows(2).filter(|w| w[0].text == "mod" && DRAWERS.contains(&w[1].text));
        faults.extend(modules.map(|w| source.fault(w[1].at, &format!("a drawer: `{}`", w[1].text))));
    }
    faults
}

/// What is not finished is not there; comments and texts count, too.
pub fn nothing_is_unfinished(tree: &Tree) -> Vec<String> {
    let mut faults = Vec::new();
    for source in &tree.sources {
        let words = tokens(&source.text).into_iter().filter(|t| UNFINISHED.contains(&t.text));
        faults.extend(words.map(|t| source.fault(t.at, &format!("unfinished: {}", t.text))));
        let tokens = tokens(&source.code);
        let macros =
            tokens.windows(2).filter(|w| ["todo", "unimplemented"].contains(&w[0].text) && w[1].text == "!");
        faults.extend(macros.map(|w| source.fault(w[0].at, &format!("unfinished: {}!", w[0].text))));
    }
    faults
}

/// core is pure: of std it has no files, variables, processes, network, threads or clocks, and it has no other crate.
pub fn core_is_pure(tree: &Tree) -> Vec<String> {
    const OUTSIDE: [&str; 6] = ["fs", "env", "process", "net", "thread", "time"];
    let mut faults = Vec::new();
    for source in tree.below("core/src/") {
        for path in named(source) {
            let outside = OUTSIDE.iter().find(|m| path.leads_to(&["std", m]));
            faults.extend(outside.map(|m| source.fault(path.at, &format!("core is pure, this is std::{m}"))));
            let io = path.leads_to(&["std", "io"]) && !words_for_errors(&path.segments);
            faults.extend(
                io.then(|| source.fault(path.at, "of std::io core takes Error, ErrorKind and Result only")),
            );
        }
    }
    faults.extend(
        tree.dependencies("core/Cargo.toml")
            .map(|d| format!("core/Cargo.toml: core has no crates, this is {d}")),
    );
    faults
}

fn words_for_errors(segments: &[String]) -> bool {
    segments.get(2).is_none_or(|s| ["Error", "ErrorKind", "Result"].contains(&s.as_str()))
}

/// The shim is small and quickly read: core and std.
pub fn the_shim_is_small(tree: &Tree) -> Vec<String> {
    let others = tree.dependencies("shims/Cargo.toml").filter(|d| *d != "cudaup-core");
    others.map(|d| format!("shims/Cargo.toml: the shim has core and std only, this is {d}")).collect()
}

/// The world is read once. What the compiler knew and how PATH is taken apart are no part of the world.
pub fn the_world_is_read_once(tree: &Tree) -> Vec<String> {
    only_in(tree, &["src/host.rs", "shims/src/main.rs"], |source| {
        const PURE: [&str; 3] = ["consts", "split_paths", "join_paths"];
        let pure = |p: &Named| p.segments.get(2).is_some_and(|s| PURE.contains(&s.as_str()));
        let env = |p: &Named| p.leads_to(&["std", "env"]) && !pure(p);
        let reads = named(source).into_iter().filter(env);
        reads.map(|p| source.fault(p.at, "std::env: the world is read in host.rs")).collect()
    })
}

/// Only main ends the process.
pub fn only_main_exits(tree: &Tree) -> Vec<String> {
    only_in(tree, &MAIN_FILES, |source| {
        let ends = named(source).into_iter().filter(|p| {
            let inline = p
                .segments
                .windows(2)
                .any(|w| w[0] == "process" && ["exit", "abort"].contains(&w[1].as_str()));
            inline || p.leads_to(&["std", "process", "exit"]) || p.leads_to(&["std", "process", "abort"])
        });
        ends.map(|p| source.fault(p.at, "only main ends the process")).collect()
    })
}

/// Only main and ui print.
pub fn only_main_and_ui_print(tree: &Tree) -> Vec<String> {
    only_in(tree, &[MAIN_FILES[0], MAIN_FILES[1], "src/ui/"], |source| {
        let tokens = tokens(&source.product);
        let printers = ["println", "eprintln", "print", "eprint", "dbg"];
        let prints = tokens.windows(2).filter(|w| printers.contains(&w[0].text) && w[1].text == "!");
        prints.map(|w| source.fault(w[0].at, &format!("{}!: only main and ui print", w[0].text))).collect()
    })
}

fn only_in(tree: &Tree, places: &[&str], find: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    let elsewhere = tree.product().filter(|s| !places.iter().any(|p| s.path.starts_with(p)));
    elsewhere.flat_map(find).collect()
}

/// A process is started only where it is written why.
pub fn processes_have_a_reason(tree: &Tree) -> Vec<String> {
    tree.product().flat_map(starts_without_reason).collect()
}

fn starts_without_reason(source: &Source) -> Vec<String> {
    let tokens = tokens(&source.product);
    let mut allowed = Vec::new();
    for at in 0..tokens.len() {
        let expect = ["#", "[", "expect", "(", "clippy", "::", "disallowed_methods"];
        if follows(&tokens, at, &expect) {
            let end = tokens.get(after_bracket(&tokens, at + 1)).map_or(source.product.len(), |t| t.at);
            let attribute = &source.literals[tokens[at].at..end];
            if attribute.split_once("reason").is_some_and(|(_, r)| r.contains('"') && !r.contains("\"\"")) {
                allowed.push(item_range(&tokens, at));
            }
        }
    }
    let starts = (0..tokens.len()).filter(|at| follows(&tokens, *at, &["Command", "::", "new"]));
    let of_clap = |at: usize| at > 1 && tokens[at - 2].text == "clap";
    let bare = starts.filter(|at| !of_clap(*at) && !allowed.iter().any(|r| r.contains(&tokens[*at].at)));
    bare.map(|at| {
        source
            .fault(tokens[at].at, "Command::new without #[expect(clippy::disallowed_methods, reason = ...)]")
    })
    .collect()
}

/// A lint is left out only with `#[expect]`, which complains when it is no longer needed.
pub fn lints_are_expected_not_allowed(tree: &Tree) -> Vec<String> {
    let allows = |s: &Source| -> Vec<String> {
        let tokens = tokens(&s.code);
        let at = (0..tokens.len()).filter(|at| follows(&tokens, *at, &["[", "allow", "("]));
        at.map(|at| s.fault(tokens[at].at, "allow: say #[expect(..., reason = ...)]")).collect()
    };
    tree.sources.iter().flat_map(allows).collect()
}

/// Traits of our own hide what happens; two are enough.
pub fn traits_are_few(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for source in tree.product() {
        let tokens = tokens(&source.product);
        let traits = tokens.windows(2).filter(|w| w[0].text == "trait");
        found.extend(traits.map(|w| source.fault(w[0].at, &format!("trait {}", w[1].text))));
    }
    if found.len() <= 2 { Vec::new() } else { found }
}

/// Each variable of ours stands once in the README's table, and nothing else stands there.
pub fn variables_are_declared(tree: &Tree) -> Vec<String> {
    let declared: Vec<&str> = variable_rows(&tree.readme).collect();
    let mut used = BTreeSet::new();
    let mut faults = Vec::new();
    for source in tree.product() {
        let names: BTreeSet<_> = variables(&source.literals).collect();
        let unknown = names.iter().filter(|n| !declared.contains(n));
        faults.extend(
            unknown.map(|n| format!("{}: {n} is not in the README's table of variables", source.path)),
        );
        used.extend(names);
    }
    let mut seen = BTreeSet::new();
    let twice = declared.iter().filter(|n| !seen.insert(**n));
    faults.extend(twice.map(|n| format!("README.md: {n} is declared twice")));
    faults.extend(seen.difference(&used).map(|n| format!("README.md: {n} is read nowhere")));
    faults
}

/// The names in the first column of the table below the heading `Variables`.
fn variable_rows(readme: &str) -> impl Iterator<Item = &str> {
    let section =
        readme.lines().skip_while(|l| l.trim_start_matches('#').trim() != "Variables" || !l.starts_with('#'));
    let rows = section.skip(1).take_while(|l| !l.starts_with('#')).filter_map(|l| l.strip_prefix('|'));
    rows.flat_map(|row| variables(row.split('|').next().unwrap_or("")))
}

fn variables(text: &str) -> impl Iterator<Item = &str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c| !word(c)).filter(|w| w.strip_prefix("CUDAUP_").is_some_and(|rest| !rest.is_empty()))
}
