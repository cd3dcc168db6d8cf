//! Tests the rules themselves: each has texts that break it and texts that only look as if they did.

use crate::source::Source;
use crate::{RULES, Tree};

fn tree(files: &[(&str, &str)], readme: &str) -> Tree {
    let (manifests, sources): (Vec<_>, Vec<_>) =
        files.iter().partition(|(path, _)| path.ends_with("Cargo.toml"));
    let sources = sources.iter().map(|(path, text)| Source::new(path, text)).collect();
    let manifests = manifests.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Tree::new(sources, readme.to_owned(), manifests)
}

fn check(rule: &str, tree: &Tree) -> Vec<String> {
    RULES.iter().find(|(name, _)| *name == rule).unwrap_or_else(|| panic!("no rule {rule:?}")).1(tree)
}

/// A rule, a file, a text that breaks the rule, and words of the complaint.
const BROKEN: &[(&str, &str, &str, &str)] = &[
    (
        "imports go down",
        "src/ui/talk.rs",
        "use crate::net::Client;",
        "src/ui/talk.rs:1: `ui` (floor 2) imports `net` (floor 3)",
    ),
    (
        "imports go down",
        "src/ui/talk.rs",
        "use crate::disk::tree;",
        "`ui` (floor 2) imports `disk` (floor 2)",
    ),
    (
        "imports go down",
        "src/failure.rs",
        "\nuse crate::host::Host;",
        "src/failure.rs:2: `failure` (floor 1) imports `host`",
    ),
    (
        "imports go down",
        "src/disk/lock.rs",
        "use crate::{failure::Failure, ui::{self, talk::Talk}};",
        "imports `ui`",
    ),
    (
        "imports go down",
        "src/prove.rs",
        "fn f() { let x = crate::source::plan::Plan::new(); }",
        "imports `source`",
    ),
    ("imports go down", "src/prove.rs", "fn f(p: &super::source::Plan) {}", "imports `source`"),
    ("imports go down", "src/net/mod.rs", "use super::{host, cli as x};", "imports `cli` (floor 7)"),
    (
        "imports go down",
        "src/net/client.rs",
        "mod inner { use super::super::super::install; }\nuse crate::*;",
        "the whole crate",
    ),
    ("imports go down", "src/net/client.rs", "use crate as all;", "the whole crate"),
    ("imports go down", "src/net/client.rs", "pub use crate::command::Outcome;", "imports `command`"),
    ("imports go down", "src/net/client.rs", "use crate::shed::Tool;", "`shed`, which has no floor"),
    ("imports go down", "src/shed.rs", "", "`shed` has no floor"),
    (
        "imports go down",
        "src/net/client.rs",
        "macro_rules! m { () => { $crate::install::run() } }",
        "imports `install`",
    ),
    ("imports go down", "src/cli.rs", "// use crate::host\nuse crate::main::x;", "src/cli.rs:2"),
    ("no double super", "src/ui/a/b.rs", "use super::super::x;", "super::super"),
    ("no double super", "src/ui/a/b.rs", "use super::{y, super::x};", "super::super"),
    ("no double super", "core/src/pin.rs", "fn f() { super::super::x() }", "core/src/pin.rs:1"),
    ("files say what they are for", "src/net/a.rs", "// a\nfn f() {}", "src/net/a.rs:1"),
    ("files say what they are for", "tests/suite/a.rs", "use std::fs;", "tests/suite/a.rs:1"),
    ("names mean something", "src/net/utils.rs", "", "`utils`"),
    ("names mean something", "src/manager/mod.rs", "", "`manager`"),
    ("names mean something", "tests/suite/main.rs", "mod helpers { }", "`helpers`"),
    ("names mean something", "core/src/lib.rs", "pub mod common;", "`common`"),
    ("nothing is unfinished", "src/cli.rs", concat!("// TO", "DO: later"), "unfinished: T"),
    ("nothing is unfinished", "src/cli.rs", concat!("let x = \"FIX", "ME\";"), "unfinished: F"),
    ("nothing is unfinished", "tests/suite/a.rs", concat!("/* XX", "X */"), "unfinished: X"),
    ("nothing is unfinished", "core/src/pin.rs", "fn f() { todo!() }", "todo!"),
    ("nothing is unfinished", "core/src/pin.rs", "fn f() { unimplemented!() }", "unimplemented!"),
    ("core is pure", "core/src/pin.rs", "use std::{fmt, fs::File};", "std::fs"),
    ("core is pure", "core/src/pin.rs", "fn f() { std::env::var(\"A\"); }", "std::env"),
    ("core is pure", "core/src/pin.rs", "use std::*;", "this is std::fs"),
    ("core is pure", "core/src/pin.rs", "use ::std::time::Instant;", "std::time"),
    ("core is pure", "core/src/pin.rs", "use std as rust;", "this is std::"),
    ("core is pure", "core/src/pin.rs", "use std::io::{Error, Read};", "std::io"),
    (
        "core is pure",
        "core/Cargo.toml",
        "[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\n",
        "this is serde",
    ),
    (
        "the shim is small",
        "shims/Cargo.toml",
        "[dependencies]\ncudaup-core.workspace = true\nlibc = \"0.2\"\n",
        "this is libc",
    ),
    ("the world is read once", "src/net/client.rs", "use std::env;", "std::env"),
    (
        "the world is read once",
        "src/main.rs",
        "fn f() { let p = std::env::var_os(\"PATH\"); }",
        "src/main.rs:1",
    ),
    ("the world is read once", "shims/src/walk.rs", "use std::{env::current_dir, fmt};", "std::env"),
    ("only main exits", "src/cli.rs", "use std::process;\nfn f() { process::exit(1) }", "src/cli.rs:2"),
    ("only main exits", "src/cli.rs", "use std::process::{exit, Command};", "only main ends"),
    ("only main exits", "core/src/pin.rs", "fn f() { std::process::abort() }", "only main ends"),
    ("only main and ui print", "src/command/list.rs", "fn f() { println!(\"x\"); }", "println!"),
    ("only main and ui print", "src/net/client.rs", "fn f() { std::eprint! (\"x\"); }", "eprint!"),
    ("only main and ui print", "shims/src/walk.rs", "fn f() { dbg!(1); }", "dbg!"),
    (
        "processes have a reason",
        "src/prove.rs",
        "fn f() { std::process::Command::new(\"a\"); }",
        "Command::new",
    ),
    ("processes have a reason", "src/prove.rs", NO_REASON, "src/prove.rs:2"),
    ("processes have a reason", "src/prove.rs", REASON_ELSEWHERE, "src/prove.rs:3"),
    ("lints are expected, not allowed", "src/cli.rs", "#[allow(dead_code)]\nfn f() {}", "src/cli.rs:1"),
    (
        "lints are expected, not allowed",
        "tests/suite/a.rs",
        "#![allow(clippy::all, reason = \"x\")]",
        "allow",
    ),
    ("traits are few", "src/cli.rs", "trait A {}\npub trait B: A {}\ntrait C<T> {}", "trait C"),
    ("variables are declared", "src/host.rs", "fn f() { get(\"CUDAUP_NEW\"); }", "CUDAUP_NEW is not in"),
    (
        "variables are declared",
        "shims/src/main.rs",
        "const A: &str = \"set CUDAUP_OTHER first\";",
        "CUDAUP_OTHER",
    ),
];

const NO_REASON: &str = "#[expect(clippy::disallowed_methods)]\nfn f() { Command::new(\"a\"); }";
const REASON_ELSEWHERE: &str = "#[expect(clippy::disallowed_methods, reason = \"asks nvcc\")]\nfn f() { Command::new(\"a\"); }\nfn g() { Command::new(\"b\"); }";

/// A rule, a file, and a text that keeps the rule though it may not look so.
const SOUND: &[(&str, &str, &str)] = &[
    (
        "imports go down",
        "src/net/client.rs",
        "use crate::disk::{lock, tree as t};\nuse crate::net::error::Error;\nuse super::error;",
    ),
    ("imports go down", "src/main.rs", "use crate::cli::run;\nuse host::Host;"),
    ("imports go down", "src/ui/mod.rs", "mod talk;\npub use self::talk::Talk;\npub(in crate::ui) fn f() {}"),
    (
        "imports go down",
        "src/ui/talk.rs",
        "// use crate::net;\n/* crate::net /* nested */ crate::cli */\nconst A: &str = r#\"crate::net \"x\" \"#;",
    ),
    (
        "imports go down",
        "src/ui/talk.rs",
        "#[cfg(test)]\nmod tests {\n use crate::net::Client;\n fn f() { crate::cli::g(\"}\"); }\n}",
    ),
    (
        "imports go down",
        "src/ui/talk.rs",
        "const A: char = '\"'; fn f<'a>(x: &'a str) -> char { '\\'' }\nconst B: &str = \"crate::net\";",
    ),
    ("imports go down", "src/ui/talk.rs", "mod inner { use super::Talk; pub fn f() { super::g() } }"),
    ("no double super", "src/ui/a.rs", "use super::talk; // super::super::x"),
    ("names mean something", "src/command/commonly.rs", "use a::common::b; // mod utils;"),
    ("nothing is unfinished", "src/cli.rs", "const T: &str = \"cudaup-XXXXXX\"; fn todo() {}"),
    (
        "core is pure",
        "core/src/pin.rs",
        "use std::io::{self, ErrorKind};\nuse std::os::unix::ffi::OsStrExt;\nuse crate::environment;",
    ),
    ("core is pure", "src/net/client.rs", "use std::{fs, net, thread, time::Duration};"),
    (
        "core is pure",
        "core/src/pin.rs",
        "#[cfg(test)]\nuse std::fs;\nuse std::fmt;\n#[test]\nfn f() { std::env::vars(); }",
    ),
    ("core is pure", "core/Cargo.toml", "[dependencies]\n\n[dev-dependencies]\nproptest = \"1\"\n"),
    ("the shim is small", "shims/Cargo.toml", "[dependencies]\ncudaup-core = { path = \"../core\" }\n"),
    ("the world is read once", "src/host.rs", "use std::env;"),
    (
        "the world is read once",
        "src/source/plan.rs",
        "const A: &str = std::env::consts::ARCH; const B: &str = env!(\"X\"); use std::env::split_paths;",
    ),
    ("only main exits", "src/main.rs", "fn f() { std::process::exit(2) }"),
    ("only main exits", "src/cli.rs", "fn f() { pool.exit(1); std::process::id(); } // process::exit"),
    ("only main and ui print", "src/ui/talk.rs", "fn f() { eprintln!(\"x\"); }"),
    (
        "only main and ui print",
        "src/cli.rs",
        "const HELP: &str = \"println!\"; fn f() { writeln!(out, \"x\"); }",
    ),
    (
        "processes have a reason",
        "src/prove.rs",
        "#[test]\nfn f() { Command::new(\"a\"); }\nfn g() { clap::Command::new(\"x\"); }",
    ),
    ("processes have a reason", "src/prove.rs", WITH_REASON),
    (
        "lints are expected, not allowed",
        "src/cli.rs",
        "#[expect(dead_code, reason = \"x\")]\nfn f() {} // #[allow(x)]",
    ),
    (
        "traits are few",
        "src/cli.rs",
        "trait A {}\ntrait B {}\n#[cfg(test)]\ntrait C {}\nfn f(x: &dyn D) {} // trait E",
    ),
    ("variables are declared", "src/host.rs", "fn f() { get(\"CUDAUP_HOME\", \"CUDAUP_\"); } // CUDAUP_NEW"),
    (
        "variables are declared",
        "src/host.rs",
        "#[cfg(test)]\nconst A: &str = \"CUDAUP_TEST_X\"; const B: &str = \"__CUDAUP_SEEN CUDAUP_HOME\";",
    ),
];

const WITH_REASON: &str = "fn f() {\n #[expect(clippy::disallowed_methods, reason = \"asks nvcc\")]\n let a = if x { 1 } else { Command::new(\"a\").status() };\n}";

const README: &str = "# x\n`CUDAUP_NEW`\n## Variables\ntext\n| name | |\n|---|---|\n| `CUDAUP_HOME` | not CUDAUP_OTHER |\n## End\n| `CUDAUP_NEW` |\n";

#[test]
fn each_rule_has_a_text_that_breaks_it() {
    for (rule, path, text, words) in BROKEN {
        let faults = check(rule, &tree(&[(path, text)], README));
        assert!(
            faults.iter().any(|f| f.contains(words)),
            "{rule}: {path}: {text:?} should say {words:?}, says {faults:?}"
        );
    }
    let covered_below = ["files are short", "core has no circle"];
    for (rule, _) in RULES {
        let covered = BROKEN.iter().any(|(name, ..)| *name == rule) || covered_below.contains(&rule);
        assert!(covered, "no text breaks {rule:?}");
    }
}

#[test]
fn what_only_looks_broken_is_let_through() {
    for (rule, path, text) in SOUND {
        let faults = check(rule, &tree(&[(path, text)], README));
        assert!(faults.is_empty(), "{rule}: {path}: {text:?} says {faults:?}");
    }
}

#[test]
fn a_file_may_have_400_lines_and_no_more() {
    let text = |lines: usize| "//! x\n".repeat(lines);
    assert!(check("files are short", &tree(&[("src/cli.rs", &text(400))], "")).is_empty());
    assert_eq!(
        check("files are short", &tree(&[("src/cli.rs", &text(401))], "")),
        ["src/cli.rs: 401 lines, more than 400"]
    );
}

#[test]
fn a_circle_in_core_is_seen_and_a_chain_is_none() {
    let a = ("core/src/a.rs", "use crate::b::B;");
    let b = ("core/src/b.rs", "fn f() { super::c::g() }");
    let c = ("core/src/c/mod.rs", "mod d; use self::d::D;");
    let d = ("core/src/c/d.rs", "use super::C;");
    assert!(check("core has no circle", &tree(&[a, b, c, d], "")).is_empty());
    let back = ("core/src/c/d.rs", "use crate::b::B;");
    let faults = check("core has no circle", &tree(&[a, b, c, back], ""));
    assert!(faults.len() == 1 && faults[0].contains("[\"a\", \"b\", \"c\"]"), "{faults:?}");
}

#[test]
fn a_variable_that_is_declared_twice_or_read_nowhere_is_named() {
    let used =
        [("src/host.rs", "const A: &str = \"CUDAUP_HOME\"; #[cfg(test)]\nconst B: &str = \"CUDAUP_OLD\";")];
    let readme = "## Variables\n| `CUDAUP_HOME` | a |\n| `CUDAUP_OLD` | c |\n| `CUDAUP_HOME` | b |\n";
    let faults = check("variables are declared", &tree(&used, readme));
    assert_eq!(faults, ["README.md: CUDAUP_HOME is declared twice", "README.md: CUDAUP_OLD is read nowhere"]);
}

#[test]
fn a_file_is_for_tests_where_it_is_declared_so() {
    let used = ("src/ui/tests.rs", "use crate::net::Client;");
    let below = ("src/ui/talk/real/deep.rs", "use crate::net::Client;");
    let declared = ("src/ui/mod.rs", "mod talk;\n#[cfg(test)]\nmod tests;");
    let declared_below = ("src/ui/talk.rs", "#[cfg(all(test, unix))]\n#[rustfmt::skip]\nmod real;");
    assert!(check("imports go down", &tree(&[used, below, declared, declared_below], "")).is_empty());
    assert_eq!(check("imports go down", &tree(&[used, ("src/ui/mod.rs", "mod tests;")], "")).len(), 1);
    assert_eq!(
        check("imports go down", &tree(&[below, ("src/ui/talk.rs", "#[cfg(unix)]\nmod real;")], "")).len(),
        1
    );
}
