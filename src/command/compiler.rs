//! The C++ compiler that a toolkit's nvcc is about to take, and what to do where that is none that it accepts.

use crate::command::Context;
use crate::prove::{Proof, diagnosis};
use crate::toolkit::host_compiler::{self, Choice, Compiler, Family, Limits, Verdict};
use cudaup_core::resolve;
use cudaup_core::version::Version;
use std::path::Path;

/// What a person has to know before nvcc fails over the host compiler, as lines; none where it fits or nothing tells.
pub fn lines(context: &Context, choice: &resolve::Choice) -> Vec<String> {
    let pinned = choice.settings.host_compiler.as_deref();
    of_tree(context, &choice.toolkit.root, choice.toolkit.identity.version, pinned)
}

/// The same for a tree; `pinned` is what the key `host_compiler` says.
pub fn of_tree(context: &Context, root: &Path, version: Version, pinned: Option<&str>) -> Vec<String> {
    let Ok(Some(limits)) = Limits::of(root) else { return Vec::new() };
    match pinned {
        Some(name) => {
            let found = host_compiler::called(&context.host, name);
            let mut lines = of_pinned(name, found.as_ref(), &limits, version);
            if !lines.is_empty() {
                let choice = host_compiler::choose(&limits, host_compiler::look(&context.host, &limits));
                lines.push(instead(&choice, &limits));
            }
            lines
        }
        None => {
            of_machine(&host_compiler::choose(&limits, host_compiler::look(&context.host, &limits)), version)
        }
    }
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
fn instead(choice: &Choice, limits: &Limits) -> String {
    match choice {
        Choice::Use(compiler, _) if !compiler.name.contains('/') => {
            format!("try: host_compiler = {} in that file; this machine has it and it fits", compiler.name)
        }
        _ => format!("try: install g++-{}, or another that it takes", limits.most(Family::Gcc)),
    }
}

/// Where nvcc takes what the machine has.
fn of_machine(choice: &Choice, version: Version) -> Vec<String> {
    match choice {
        Choice::Use(compiler, _) if compiler.name != "g++" && !compiler.name.contains('/') => {
            vec![format!("note: {}", other(&compiler.name))]
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
pub fn other(name: &str) -> String {
    format!(
        "its nvcc does not take this machine's g++: write `host_compiler = {name}` below the version in .cuda-version, or say nvcc -ccbin {name}"
    )
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
        let found = |choice| of_machine(&choice, version).join("|");
        assert_eq!(found(Choice::Use(gcc("g++", 11), None)), "");
        let other = found(Choice::Use(gcc("g++-11", 11), Some("/usr/bin/g++-11".into())));
        assert!(other.contains("write `host_compiler = g++-11`"), "{other}");
        let unfit = found(Choice::Unfit(gcc("g++", 12), Verdict::TooNew(11)));
        assert!(
            unfit.starts_with("warning: g++ 12.2.0 is too new for CUDA 11.8")
                && unfit.contains("|try: install g++-11"),
            "{unfit}"
        );
    }
}
