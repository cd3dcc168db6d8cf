//! The compiler that nvcc hands C++ to, as things stand, and which other would do.
//!
//! Measured with nvcc 11.8, 12.4, 13.0 and 13.5: left to itself it compiles with `gcc` and links with `g++` of PATH; `-ccbin` in
//! NVCC_APPEND_FLAGS and NVCC_PREPEND_FLAGS is read by all, the last one counts; NVCC_CCBIN is read by 13.0 and newer only;
//! CC, CXX and CUDAHOSTCXX never are; where a directory is named it takes the `gcc` in it.

use super::Scene;
use crate::doctor::machine::{HostCompiler, Toolkits, Unread};
use crate::host::Host;
use crate::toolkit::host_compiler::{self, Choice, Compiler, Limits, Verdict};
use cudaup_core::disk::Disk;
use cudaup_core::list::split;
use cudaup_core::refusal::Rule;
use cudaup_core::resolve;
use cudaup_core::version::Version;
use std::path::{Path, PathBuf};
use std::thread;

/// Variables that people name a compiler in, and whether CMake reads them.
const NEVER_READ: [(&str, bool); 3] = [("CUDAHOSTCXX", true), ("CXX", false), ("CC", false)];

/// What names the compiler.
struct Named {
    value: String,
    by: String,
    unsure: bool,
}

/// Looks for the compiler of the toolkit in use.
pub fn look(scene: &Scene, toolkits: &Toolkits) -> HostCompiler {
    let choice = toolkits.chosen.as_ref().ok().and_then(Option::as_ref);
    let release = choice.map(|choice| choice.toolkit.identity.version);
    let limits = choice.and_then(|choice| Limits::of(&choice.toolkit.root).ok().flatten());
    // Debian's nvcc is a script that names a compiler of its own.
    let wrapped = toolkits.inside.is_some_and(|inside| inside.mixed && !inside.program);
    let mut compiler = match named(scene, choice, release) {
        Some(named) => of_name(scene, &named),
        None => HostCompiler { unsure: wrapped && limits.is_some(), ..of_path(scene) },
    };
    compiler.limits = limits;
    let fits = |compiler: &Compiler| {
        limits.is_none_or(|limits| limits.judge(compiler.family, compiler.major) == Verdict::Fits)
    };
    // One that gave no answer is not waited for again.
    if !compiler.taken.as_ref().is_some_and(fits) && !compiler.unsure && compiler.silent.is_none() {
        let found =
            limits.map(|limits| host_compiler::choose(&limits, host_compiler::look(scene.host, &limits)));
        compiler.fitting = match found {
            Some(Choice::Use(other, _)) => Some(by_name(scene, other)),
            _ => None,
        };
        compiler.unread = unread(scene, release);
    }
    compiler
}

/// The compiler that something names for nvcc.
fn named(scene: &Scene, choice: Option<&resolve::Choice>, release: Option<Version>) -> Option<Named> {
    let flag = |name: &'static str| {
        let value = of_flags(scene.host.text(name)?)?;
        Some(Named { value, by: format!("-ccbin in {name}"), unsure: false })
    };
    let pinned = || {
        let choice = choice?;
        let value = choice.settings.host_compiler.clone()?;
        let file = match &choice.rule {
            Rule::Pin(file, _) | Rule::Default(file, _) => file.clone(),
            _ => scene.home.default_file(),
        };
        Some(Named { value, by: format!("host_compiler of {}", file.display()), unsure: false })
    };
    let variable = || {
        let value = scene.host.text("NVCC_CCBIN")?.to_owned();
        let release = release?;
        let reads = release >= Version::release(13, 0);
        let untried = !reads && release >= Version::release(12, 5);
        (reads || untried).then(|| Named { value, by: "NVCC_CCBIN".into(), unsure: untried })
    };
    flag("NVCC_APPEND_FLAGS").or_else(pinned).or_else(|| flag("NVCC_PREPEND_FLAGS")).or_else(variable)
}

/// The value of the last `-ccbin` among flags.
fn of_flags(flags: &str) -> Option<String> {
    let words = shell_words::split(flags).ok()?;
    let is_flag = |word: &str| matches!(word, "-ccbin" | "--compiler-bindir" | "-compiler-bindir");
    (0..words.len()).rev().find_map(|at| {
        let word = words.get(at)?;
        match word.split_once('=') {
            Some((name, value)) if is_flag(name) => Some(value.to_owned()),
            _ if is_flag(word) => words.get(at + 1).cloned(),
            _ => None,
        }
    })
}

fn of_name(scene: &Scene, named: &Named) -> HostCompiler {
    let directory = Path::new(&named.value).is_dir() && named.value.contains('/');
    let name =
        if directory { format!("{}/gcc", named.value.trim_end_matches('/')) } else { named.value.clone() };
    let base = HostCompiler { by: named.by.clone(), unsure: named.unsure, ..HostCompiler::default() };
    match program(scene, &name) {
        None => HostCompiler { missing: Some(name), ..base },
        Some(path) => match host_compiler::called(scene.host, &name) {
            None => HostCompiler { silent: Some(path), ..base },
            taken => HostCompiler { taken, ..base },
        },
    }
}

/// Nothing names one: `gcc` compiles, `g++` links.
fn of_path(scene: &Scene) -> HostCompiler {
    let by = "gcc on PATH".to_owned();
    let (gcc, links) = thread::scope(|threads| {
        let links = threads.spawn(|| called(scene.host, "g++"));
        (called(scene.host, "gcc"), links.join().unwrap_or_default())
    });
    let silent = if gcc.is_none() { program(scene, "gcc") } else { None };
    HostCompiler { taken: gcc, links, by, silent, ..HostCompiler::default() }
}

fn called(host: &Host, name: &str) -> Option<Compiler> {
    host_compiler::called(host, name)
}

/// A compiler that something names by its path, by the name that PATH has it under, which a version file can hold.
fn by_name(scene: &Scene, compiler: Compiler) -> Compiler {
    let name = compiler.path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    match name.filter(|name| program(scene, name).as_ref() == Some(&compiler.path)) {
        Some(name) => Compiler { name, ..compiler },
        None => compiler,
    }
}

/// The program of a name or path.
fn program(scene: &Scene, name: &str) -> Option<PathBuf> {
    let is_one = |path: &PathBuf| scene.disk.is_program(path);
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(is_one);
    }
    let path = split(scene.vars.get("PATH")?).into_iter().map(PathBuf::from);
    path.filter(|entry| entry.is_absolute()).map(|entry| entry.join(name)).find(is_one)
}

/// The variables that are set and that this nvcc does not read.
fn unread(scene: &Scene, release: Option<Version>) -> Vec<Unread> {
    let old = release.is_some_and(|release| release < Version::release(12, 5));
    let first = [("NVCC_CCBIN", false)].into_iter().filter(|_| old);
    first
        .chain(NEVER_READ)
        .filter_map(|(name, by_cmake)| {
            let value = scene.host.text(name)?.to_owned();
            let compiler = called(scene.host, &value).filter(|_| by_cmake);
            Some(Unread { name, value, by_cmake, compiler })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::of_flags;

    #[test]
    fn the_last_flag_counts() {
        for (flags, value) in [
            ("-ccbin g++-11", Some("g++-11")),
            ("-ccbin=/opt/x/c++ -O2", Some("/opt/x/c++")),
            ("-ccbin a --compiler-bindir b", Some("b")),
            ("--compiler-bindir='/a b/g++'", Some("/a b/g++")),
            (" -ccbin=/env/bin/x86_64-conda-linux-gnu-c++", Some("/env/bin/x86_64-conda-linux-gnu-c++")),
            ("-O2 -allow-unsupported-compiler", None),
            ("-ccbin", None),
            ("'", None),
            ("", None),
        ] {
            assert_eq!(of_flags(flags).as_deref(), value, "{flags}");
        }
    }
}
