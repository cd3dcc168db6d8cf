//! Which of several compilers is chosen, and how they are found on a PATH of real programs.

use std::ffi::OsString;

use super::*;

fn limits(gcc: u32, clang: u32) -> Limits {
    Limits::parse(&format!(
        "#if __GNUC__ > {gcc}\n#error unsupported GNU version!\n#endif\n\
         #if __clang_major__ > {clang}\n#error unsupported clang version!\n#endif\n"
    ))
}

fn compiler(name: &str, major: u32) -> Compiler {
    let (path, version) = (PathBuf::from(format!("/usr/bin/{name}")), format!("{major}.1.0"));
    Compiler { name: name.to_owned(), path, family: Family::of_program(name), version, major }
}

fn found(default: Option<u32>, agrees: bool, others: &[(&str, u32)]) -> Found {
    let others = others.iter().map(|(name, major)| compiler(name, *major)).collect();
    Found { default: default.map(|major| compiler("g++", major)), agrees, others }
}

/// A directory of programs that answer as compilers of these versions do.
fn machine(programs: &[(&str, &str)]) -> (tempfile::TempDir, Host) {
    let bin = tempfile::tempdir().unwrap();
    for (name, answer) in programs {
        process::script(&bin.path().join(name), &format!("#!/bin/sh\n{answer}"));
    }
    let vars = vec![(OsString::from("PATH"), OsString::from(format!("relative::{}", bin.path().display())))];
    let host = Host { vars, ..Host::bare() };
    (bin, host)
}

#[test]
fn the_default_is_left_to_nvcc_where_it_fits() {
    let choice = choose(&limits(13, 17), found(Some(12), true, &[("g++-13", 13)]));
    assert_eq!(choice, Choice::Use(compiler("g++", 12), None));
}

#[test]
fn a_gcc_of_another_version_makes_the_default_be_named() {
    let choice = choose(&limits(13, 17), found(Some(12), false, &[]));
    assert_eq!(choice, Choice::Use(compiler("g++", 12), Some(PathBuf::from("/usr/bin/g++"))));
}

#[test]
fn another_is_named_where_the_default_does_not_fit() {
    let choice =
        choose(&limits(11, 14), found(Some(12), true, &[("g++-12", 12), ("g++-11", 11), ("g++-10", 10)]));
    assert_eq!(choice, Choice::Use(compiler("g++-11", 11), Some(PathBuf::from("/usr/bin/g++-11"))));
    let choice = choose(&limits(11, 14), found(None, false, &[("clang++", 14)]));
    assert_eq!(choice, Choice::Use(compiler("clang++", 14), Some(PathBuf::from("/usr/bin/clang++"))));
}

#[test]
fn what_does_not_fit_is_named_with_the_limit() {
    let choice = choose(&limits(11, 14), found(Some(12), true, &[("clang++", 19)]));
    assert_eq!(choice, Choice::Unfit(compiler("g++", 12), Verdict::TooNew(11)));
    let choice = choose(&limits(11, 14), found(Some(4), true, &[]));
    assert_eq!(choice, Choice::Unfit(compiler("g++", 4), Verdict::TooOld(6)));
    let choice = choose(&limits(11, 14), found(None, false, &[("clang++", 19)]));
    assert_eq!(choice, Choice::Unfit(compiler("clang++", 19), Verdict::TooNew(14)));
    assert_eq!(choose(&limits(11, 14), found(None, false, &[])), Choice::Absent);
}

#[test]
fn the_newest_fitting_compiler_of_the_path_is_found() {
    let programs = [
        ("g++", "echo 12.2.0"),
        ("gcc", "echo 12.2.0"),
        ("g++-12", "echo 12.2.0"),
        ("g++-11", "echo 11.3.0"),
    ];
    let (bin, host) = machine(&[programs.as_slice(), &[("g++-9", "echo 9.5.0")]].concat());
    let limits = limits(11, 14);
    let Choice::Use(chosen, ccbin) = choose(&limits, look(&host, &limits)) else { panic!("none was chosen") };
    assert_eq!(chosen.title(), "g++-11 11.3.0");
    assert_eq!(ccbin, Some(bin.path().join("g++-11")));
}

#[test]
fn a_fitting_default_ends_the_search() {
    let (_bin, host) = machine(&[("g++", "echo 12.2.0"), ("gcc", "echo 12.2.0"), ("g++-13", "echo 13.1.0")]);
    let seen = look(&host, &limits(13, 17));
    assert_eq!((seen.default.unwrap().version.as_str(), seen.agrees), ("12.2.0", true));
    assert_eq!(seen.others, []);
    let (_bin, host) = machine(&[("g++", "echo 12.2.0")]);
    assert!(!look(&host, &limits(13, 17)).agrees);
}

#[test]
fn a_compiler_whose_name_lies_or_that_fails_is_passed_over() {
    let programs =
        [("g++-13", "echo 15.1.0"), ("g++-12", "exit 1"), ("g++-11", "echo nothing"), ("g++-10", "echo 10")];
    let (_bin, host) = machine(&programs);
    let limits = limits(13, 17);
    let Choice::Use(chosen, _) = choose(&limits, look(&host, &limits)) else { panic!("none was chosen") };
    assert_eq!(chosen.title(), "g++-10 10");
}

#[test]
fn the_compiler_that_the_user_names_comes_before_the_search() {
    let (bin, mut host) = machine(&[("g++-10", "echo 10.2.0"), ("mine", "echo 9.1.0")]);
    let limits = limits(11, 14);
    host.vars.push((OsString::from("CUDAHOSTCXX"), bin.path().join("mine").into()));
    let Choice::Use(chosen, ccbin) = choose(&limits, look(&host, &limits)) else { panic!("none was chosen") };
    assert_eq!((chosen.version.as_str(), ccbin), ("9.1.0", Some(bin.path().join("mine"))));
}

#[test]
fn clang_is_taken_where_there_is_no_gcc() {
    let (_bin, host) = machine(&[("clang++", "echo 19.1.0"), ("clang++-15", "echo 15.0.7")]);
    let limits = limits(13, 17);
    let Choice::Use(chosen, _) = choose(&limits, look(&host, &limits)) else { panic!("none was chosen") };
    assert_eq!(chosen.title(), "clang++-15 15.0.7");
}
