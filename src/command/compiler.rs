//! The C++ compiler that a toolkit's nvcc is about to take, and what to do where that is none that it accepts.

use crate::command::Context;
use crate::prove::{Proof, diagnosis};
use crate::toolkit::host_compiler::{self, Choice, Compiler, Family, Limits, Verdict};
use crate::ui::view::Style;
use cudaup_core::refusal::Rule;
use cudaup_core::resolve;
use cudaup_core::version::Version;
use std::path::Path;

/// What a person has to know before nvcc fails over the host compiler, as lines; none where it fits or nothing tells.
pub fn lines(context: &Context, choice: &resolve::Choice) -> Vec<String> {
    let pinned = choice.settings.host_compiler.as_deref();
    let style = Style { color: false, user_home: context.host.user_home.clone() };
    // The keys of a version file go with its request: where another one is chosen, those of the user's default hold.
    let place = match &choice.rule {
        Rule::Pin(file, _) => format!("below the version in {}", style.path(file)),
        _ => format!("in {}", style.path(&context.home.default_file())),
    };
    of_root(context, &choice.toolkit.root, choice.toolkit.identity.version, pinned, &place)
}

/// The same for a tree that nothing has chosen yet.
pub fn of_tree(context: &Context, root: &Path, version: Version) -> Vec<String> {
    of_root(context, root, version, None, TO_BE_PINNED)
}

/// Where the key goes, for a toolkit that may be chosen later.
const TO_BE_PINNED: &str = "below the version in .cuda-version";

/// `pinned` is what the key `host_compiler` says, `place` where it has to stand to hold.
fn of_root(
    context: &Context,
    root: &Path,
    version: Version,
    pinned: Option<&str>,
    place: &str,
) -> Vec<String> {
    let Ok(Some(limits)) = Limits::of(root) else { return Vec::new() };
    let choose = || host_compiler::choose(&limits, host_compiler::look(&context.host, &limits));
    let Some(name) = pinned else { return of_machine(&choose(), version, place) };
    let found = host_compiler::called(&context.host, name);
    let mut lines = of_pinned(name, found.as_ref(), &limits, version);
    if !lines.is_empty() {
        lines.push(instead(&choose(), &limits, place));
    }
    lines
}

/// Where the key names the compiler.
fn of_pinned(name: &str, found: Option<&Compiler>, limits: &Limits, version: Version) -> Vec<String> {
    let Some(compiler) = found else {
        return vec![format!(
            "warning: host_compiler = {name}: there is no such compiler on PATH, and nvcc fails without it"
        )];
    };
    let title = if compiler.version.is_empty() { name.to_owned() } else { compiler.title() };
    let takes = match limits.judge(compiler.family, compiler.major) {
        Verdict::Fits => return Vec::new(),
        Verdict::TooNew(most) => format!("up to {most}"),
        Verdict::TooOld(least) => format!("from {least} on"),
    };
    let family = compiler.family.program();
    vec![format!(
        "warning: host_compiler = {name}: CUDA {version} takes {family} {takes}, and this is {title}"
    )]
}

/// What to do where the compiler of the key does not serve: another that the machine has, or one to install.
fn instead(choice: &Choice, limits: &Limits, place: &str) -> String {
    match choice {
        Choice::Use(compiler, _) if !compiler.name.contains('/') => {
            format!("try: `host_compiler = {}` {place}; this machine has it and it fits", compiler.name)
        }
        _ => format!("try: install g++-{}, or another that it takes", limits.most(Family::Gcc)),
    }
}

/// Where nvcc takes what the machine has.
fn of_machine(choice: &Choice, version: Version, place: &str) -> Vec<String> {
    match choice {
        Choice::Use(compiler, _) if compiler.name != "g++" && !compiler.name.contains('/') => {
            vec![format!("note: {}", other(&format!("nvcc of CUDA {version}"), &compiler.name, place))]
        }
        Choice::Use(..) => Vec::new(),
        unfit => match diagnosis::no_compiler(unfit, version) {
            Proof::Unproved { reason, remedy } => {
                vec![format!("warning: {reason}"), format!("try: {remedy}")]
            }
            _ => Vec::new(),
        },
    }
}

/// What a user has to do where nvcc does not take the `g++` that it would take by itself.
fn other(nvcc: &str, name: &str, place: &str) -> String {
    format!(
        "{nvcc} does not take this machine's g++: write `host_compiler = {name}` {place}, or say nvcc -ccbin {name}"
    )
}

/// The same for a toolkit that was just installed.
pub fn other_installed(name: &str) -> String {
    other("its nvcc", name, TO_BE_PINNED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "#if __GNUC__ > 11\n#error -- unsupported GNU version! gcc versions later than 11 are not supported!\n#endif\n";

    fn gcc(name: &str, major: u32) -> Compiler {
        let path = Path::new("/usr/bin").join(name);
        Compiler { name: name.into(), path, family: Family::Gcc, version: format!("{major}.2.0"), major }
    }

    #[test]
    fn the_compiler_of_the_key_is_looked_for_and_judged() {
        let version = Version::parse("11.8").unwrap();
        let limits = Limits::parse(HEADER);
        let said = |found: Option<&Compiler>| of_pinned("g++-12", found, &limits, version).join("|");
        assert!(
            said(None).contains("host_compiler = g++-12: there is no such compiler on PATH"),
            "{}",
            said(None)
        );
        let newer = gcc("g++-12", 12);
        assert!(
            said(Some(&newer)).ends_with("CUDA 11.8 takes g++ up to 11, and this is g++-12 12.2.0"),
            "{}",
            said(Some(&newer))
        );
        assert_eq!(said(Some(&gcc("g++-11", 11))), "");
    }

    #[test]
    fn the_machines_compiler_is_named_where_another_is_to_be_taken() {
        let version = Version::parse("11.8").unwrap();
        let found = |choice| of_machine(&choice, version, "in ~/x").join("|");
        assert_eq!(found(Choice::Use(gcc("g++", 11), None)), "");
        let other = found(Choice::Use(gcc("g++-11", 11), Some("/usr/bin/g++-11".into())));
        assert!(
            other.starts_with("note: nvcc of CUDA 11.8 does not take")
                && other.contains("write `host_compiler = g++-11` in ~/x, or say nvcc -ccbin g++-11"),
            "{other}"
        );
        let unfit = found(Choice::Unfit(gcc("g++", 12), Verdict::TooNew(11)));
        assert!(
            unfit.starts_with("warning: g++ 12.2.0 is too new for CUDA 11.8")
                && unfit.contains("|try: install g++-11"),
            "{unfit}"
        );
    }
}
