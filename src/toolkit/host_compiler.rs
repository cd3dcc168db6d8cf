//! Which C++ compiler a toolkit's nvcc takes, and which of the machine's compilers fits.
//!
//! The toolkit's own `crt/host_config.h` is the authority: it is what stops the compilation.

mod limits;
#[cfg(test)]
mod tests;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use limits::{Family, Limits, Verdict};

use crate::host::Host;
use crate::process;

/// A compiler answers for its version in milliseconds; one behind a slow network drive may take longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many versions below the newest accepted one are looked for.
const VERSIONS_BACK: u32 = 12;

/// A C++ compiler of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// How it was asked for: `g++`, `g++-11`.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Whose it is.
    pub family: Family,
    /// Its version as it says it, such as `12.2.0`.
    pub version: String,
    /// The first number of that.
    pub major: u32,
}

impl Compiler {
    /// Name and version, for people.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

/// What the machine offers an nvcc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// `g++` on PATH.
    pub default: Option<Compiler>,
    /// Whether nvcc left to itself uses that one: it compiles with `gcc` and links with `g++`.
    pub agrees: bool,
    /// Others, the better first; only looked for where the default does not fit.
    pub others: Vec<Compiler>,
}

/// The compiler to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This one; with the path for `-ccbin` where nvcc would take another by itself.
    Use(Compiler, Option<PathBuf>),
    /// There is only this one, and it does not fit.
    Unfit(Compiler, Verdict),
    /// There is none.
    Absent,
}

/// Looks for compilers on PATH.
pub fn look(host: &Host, limits: &Limits) -> Found {
    let default = named(host, "g++", Family::Gcc);
    if let Some(default) = &default
        && limits.judge(default.family, default.major) == Verdict::Fits
    {
        let agrees = named(host, "gcc", Family::Gcc).is_some_and(|gcc| gcc.version == default.version);
        return Found { agrees, default: Some(default.clone()), others: Vec::new() };
    }
    let newest_first = |family: Family| {
        let newest = limits.most(family);
        (newest.saturating_sub(VERSIONS_BACK)..=newest)
            .rev()
            .map(move |n| format!("{}-{n}", family.program()))
    };
    let wished = ["NVCC_CCBIN", "CUDAHOSTCXX"].iter().filter_map(|variable| host.text(variable));
    let mut others: Vec<Compiler> =
        wished.filter_map(|name| named(host, name, Family::of_program(name))).collect();
    others.extend(newest_first(Family::Gcc).find_map(|name| fitting(host, limits, &name, Family::Gcc)));
    if others.is_empty() {
        others.extend(named(host, Family::Clang.program(), Family::Clang));
        others
            .extend(newest_first(Family::Clang).find_map(|name| fitting(host, limits, &name, Family::Clang)));
    }
    Found { default, agrees: false, others }
}

/// Chooses: the default where the toolkit takes it, else the first of the others that it takes.
pub fn choose(limits: &Limits, found: Found) -> Choice {
    let verdict = |compiler: &Compiler| limits.judge(compiler.family, compiler.major);
    if let Some(default) = &found.default
        && verdict(default) == Verdict::Fits
    {
        let ccbin = (!found.agrees).then(|| default.path.clone());
        return Choice::Use(default.clone(), ccbin);
    }
    if let Some(other) = found.others.iter().find(|other| verdict(other) == Verdict::Fits) {
        return Choice::Use(other.clone(), Some(other.path.clone()));
    }
    match found.default.or_else(|| found.others.into_iter().next()) {
        Some(unfit) => Choice::Unfit(unfit.clone(), verdict(&unfit)),
        None => Choice::Absent,
    }
}

/// The compiler that the key `host_compiler` names.
pub fn called(host: &Host, name: &str) -> Option<Compiler> {
    named(host, name, Family::of_program(name))
}

fn fitting(host: &Host, limits: &Limits, name: &str, family: Family) -> Option<Compiler> {
    named(host, name, family).filter(|compiler| limits.judge(family, compiler.major) == Verdict::Fits)
}

/// The compiler of a name or path, asked for its version.
fn named(host: &Host, name: &str, family: Family) -> Option<Compiler> {
    let path =
        if name.contains('/') { Some(PathBuf::from(name)).filter(|p| runs(p)) } else { on_path(host, name) }?;
    let questions: &[&str] = match family {
        Family::Gcc => &["-dumpfullversion", "-dumpversion"],
        Family::Clang => &["-dumpversion"],
    };
    #[expect(clippy::disallowed_methods, reason = "only the compiler itself knows its version")]
    let mut command = Command::new(&path);
    command.args(questions).env_clear().envs(host.vars.iter().map(|(name, value)| (name, value)));
    let answer = process::run(&mut command, PATIENCE).ok().filter(process::Finished::succeeded)?;
    let (version, major) = answer.output.lines().rev().find_map(version)?;
    Some(Compiler { name: name.to_owned(), path, family, version, major })
}

/// `12.2.0`, and 12.
fn version(line: &str) -> Option<(String, u32)> {
    let line = line.trim();
    let plain = line.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let major = line.split('.').next()?.parse().ok()?;
    plain.then(|| (line.to_owned(), major))
}

fn on_path(host: &Host, name: &str) -> Option<PathBuf> {
    let path = host.var("PATH")?;
    std::env::split_paths(path)
        .filter(|entry| entry.is_absolute())
        .map(|entry| entry.join(name))
        .find(|p| runs(p))
}

fn runs(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
