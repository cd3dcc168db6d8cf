//! Which cause of an error this machine shows.

use super::search::Hit;
use crate::compat::arch::{self, Capability};
use crate::compat::errors::Cause;
use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;
use cudaup_core::identity::Tree;
use cudaup_core::version::Version;

/// How a cause stands here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The doctor finds it: what it says.
    Seen(String),
    /// Nothing speaks for or against it.
    Possible,
    /// It cannot be so here.
    NotHere,
}

/// A cause, with what was caught put into its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// The cause, in a sentence.
    pub text: String,
    /// What mends it.
    pub mend: String,
    /// How it stands here.
    pub standing: Standing,
}

/// An error with its causes, the likeliest first.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The error, and where it stands.
    pub hit: Hit,
    /// Its causes.
    pub causes: Vec<Ranked>,
}

/// Ranks the causes of what was found: those that the doctor sees here first, those that cannot be so last.
pub fn explain(hits: Vec<Hit>, machine: &Machine, findings: &[Finding]) -> Vec<Explained> {
    let ranked = |hit: Hit| {
        let mut causes: Vec<Ranked> =
            hit.error.causes.iter().map(|cause| rank(cause, &hit, machine, findings)).collect();
        causes.sort_by_key(|cause| match cause.standing {
            Standing::Seen(_) => 0,
            Standing::Possible => 1,
            Standing::NotHere => 2,
        });
        Explained { hit, causes }
    };
    hits.into_iter().map(ranked).collect()
}

fn rank(cause: &Cause, hit: &Hit, machine: &Machine, findings: &[Finding]) -> Ranked {
    let seen = findings.iter().find(|finding| cause.findings.iter().any(|code| code == finding.code));
    let holds = cause.when.as_deref().and_then(|name| holds(name, machine, hit));
    let standing = match (holds, seen) {
        (Some(false), _) => Standing::NotHere,
        (_, Some(finding)) => Standing::Seen(finding.sentence.clone()),
        (_, None) => Standing::Possible,
    };
    Ranked { text: filled(&cause.text, hit), mend: filled(&cause.mend, hit), standing }
}

/// Puts what was caught in the place of `{1}`.
fn filled(text: &str, hit: &Hit) -> String {
    (1..=3).fold(text.to_owned(), |text, n| {
        let caught = hit.caught.get(n - 1).filter(|caught| !caught.is_empty());
        text.replace(
            &format!("{{{n}}}"),
            &caught.map_or_else(|| "VERSION".to_owned(), |caught| release(caught)),
        )
    })
}

/// All of CUDA 11 has the SONAME libcudart.so.11.0.
fn release(caught: &str) -> String {
    if caught == "11.0" { "11".to_owned() } else { caught.to_owned() }
}

/// Whether what a cause asks for is so; `None` where that is not known.
fn holds(name: &str, machine: &Machine, hit: &Hit) -> Option<bool> {
    match name {
        "container" => Some(machine.platform.container.is_some()),
        "not-container" => Some(machine.platform.container.is_none()),
        "wsl" => Some(machine.platform.wsl),
        "toolkit" => Some(has_toolkit(machine)),
        "no-toolkit" => Some(!has_toolkit(machine)),
        "soname-major-present" => Some(has_major(machine, caught_major(hit)?)),
        "soname-major-absent" => Some(!has_major(machine, caught_major(hit)?)),
        "arch-newer-than-toolkit" => {
            let (able, asked) = able_and_asked(machine, hit)?;
            Some(
                able.iter().max().is_some_and(|most| asked > *most)
                    || (!able.contains(&asked) && able.iter().any(|a| *a < asked)),
            )
        }
        "arch-older-than-toolkit" => {
            let (able, asked) = able_and_asked(machine, hit)?;
            Some(able.iter().min().is_some_and(|least| asked < *least))
        }
        _ => None,
    }
}

fn releases(machine: &Machine) -> impl Iterator<Item = Version> {
    let on_path = machine
        .toolkits
        .nvcc
        .iter()
        .filter_map(|nvcc| nvcc.identity.as_ref())
        .map(|identity| identity.version);
    let found =
        machine.toolkits.found.iter().filter(|found| found.broken.is_none()).filter_map(|found| match &found
            .tree
        {
            Some(Tree::Toolkit(identity)) => Some(identity.version),
            _ => None,
        });
    on_path.chain(found).chain(machine.choice().map(|choice| choice.toolkit.identity.version))
}

fn has_toolkit(machine: &Machine) -> bool {
    releases(machine).next().is_some()
}

fn has_major(machine: &Machine, major: u32) -> bool {
    releases(machine).any(|release| release.major == major)
}

fn caught_major(hit: &Hit) -> Option<u32> {
    hit.caught.first()?.split('.').next()?.parse().ok()
}

/// What the toolkit in use compiles for, and what was asked of it.
fn able_and_asked(machine: &Machine, hit: &Hit) -> Option<(Vec<Capability>, Capability)> {
    let (_, release) = machine.toolkit()?;
    let able = arch::compiled_by(release)?.iter().map(|code| code.capability).collect();
    let number: u32 = hit.caught.first()?.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    Some((able, Capability { major: number / 10, minor: number % 10 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::explain::search::search;
    use crate::doctor::finding::{Layer, Severity};

    fn explained(line: &str, machine: &Machine, findings: &[Finding]) -> Vec<Explained> {
        explain(search(line.as_bytes()).unwrap(), machine, findings)
    }

    #[test]
    fn what_the_doctor_sees_comes_first() {
        let line = "RuntimeError: CUDA driver version is insufficient for CUDA runtime version\n";
        let plain = explained(line, &Machine::bare(), &[]);
        assert_eq!(plain[0].causes[0].standing, Standing::Possible);
        assert!(plain[0].causes[0].text.contains("older CUDA major"));
        let found = [Finding::new(
            Severity::Problem,
            Layer::Environment,
            "stubs-in-library-path",
            "a stub is in the way",
        )];
        let seen = explained(line, &Machine::bare(), &found);
        assert_eq!(seen[0].causes[0].standing, Standing::Seen("a stub is in the way".into()));
        assert!(seen[0].causes[0].mend.contains("stubs"));
    }

    #[test]
    fn what_cannot_be_here_comes_last() {
        let line = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory";
        let mut machine = Machine::bare();
        let standings = |machine: &Machine| {
            let found = explained(line, machine, &[]);
            found[0]
                .causes
                .iter()
                .map(|cause| (cause.text.clone(), cause.standing.clone()))
                .collect::<Vec<_>>()
        };
        let last = standings(&machine).pop().unwrap();
        assert!(last.1 == Standing::NotHere && last.0.contains("WSL2"), "{last:?}");
        machine.platform.container = Some("docker".into());
        assert!(standings(&machine)[0].0.contains("container"));
        assert!(standings(&machine).pop().unwrap().1 == Standing::NotHere);
    }

    #[test]
    fn sonames_name_the_major_to_install() {
        let line = "libcudart.so.11.0: cannot open shared object file";
        let without = explained(line, &Machine::with_toolkit("12.4.1"), &[]);
        assert_eq!(
            without[0].causes[0].mend,
            "Install one beside the others: cudaup install 11; or take the program's build for another CUDA."
        );
        let with = explained(line, &Machine::with_toolkit("11.8.0"), &[]);
        assert!(with[0].causes[0].text.contains("not where the loader looks"), "{:?}", with[0].causes);
    }

    #[test]
    fn architectures_are_held_against_the_toolkit() {
        let first = |arch: &str, toolkit: &str| {
            let line = format!("nvcc fatal   : Unsupported gpu architecture 'compute_{arch}'");
            explained(&line, &Machine::with_toolkit(toolkit), &[])[0].causes[0].text.clone()
        };
        assert!(first("120", "12.4.1").contains("older than the architecture"));
        assert!(first("70", "13.0.2").contains("newer and dropped"));
        assert!(first("90a", "11.0.3").contains("older than the architecture"));
    }

    #[test]
    fn every_condition_is_known() {
        let hit = search("libcudart.so.12: cannot open shared object file".as_bytes()).unwrap().remove(0);
        let machine = Machine::with_toolkit("12.4.1");
        for cause in crate::compat::errors::all().iter().flat_map(|error| &error.causes) {
            if let Some(name) = &cause.when {
                assert!(holds(name, &machine, &hit).is_some(), "{name}");
            }
            for code in &cause.findings {
                assert!(crate::doctor::codes::page(code).is_some(), "{code}");
            }
        }
    }
}
