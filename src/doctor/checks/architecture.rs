//! Checks of the toolkit's nvcc against the GPUs here, and against the architectures that variables ask it for.

use crate::compat::arch::{self, Architecture, Capability};
use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::Machine;
use cudaup_core::version::Version;

/// All checks of this file.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 3] = [asked, gpus, unknown];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Toolkit, code, sentence)
}

/// The capabilities that the nvcc of a release compiles for; `None` for a release that the tables do not know.
fn compiled_by(release: Version) -> Option<Vec<Capability>> {
    let codes = arch::compiled_by(release)?.iter().filter(|code| code.variant.is_none());
    Some(codes.map(|code| code.capability).collect())
}

/// What is in use, with what it compiles for.
fn in_use(machine: &Machine) -> Option<(Version, Vec<Capability>)> {
    let (_, version) = machine.toolkit()?;
    machine.toolkits.inside.filter(|inside| inside.nvcc)?;
    Some((version, compiled_by(Version { update: None, ..version })?))
}

/// A variable asks for what this nvcc does not compile.
fn asked(machine: &Machine) -> Vec<Finding> {
    let Some((version, able)) = in_use(machine) else { return Vec::new() };
    let mut all = Vec::new();
    for (name, architectures) in &machine.builds.asked {
        let beyond: Vec<&Architecture> =
            architectures.iter().filter(|a| !able.contains(&a.capability)).collect();
        let Some(first) = beyond.first() else { continue };
        let mut numbers: Vec<String> = beyond.iter().map(|a| a.capability.to_string()).collect();
        numbers.dedup();
        let sentence =
            format!("{name} asks for {}, which nvcc of CUDA {version} does not compile", numbers.join(", "));
        let found = finding(Severity::Problem, "architecture-beyond-nvcc", sentence);
        let found = match machine.vars.get(name) {
            Some(value) => found.seen(format!("{name}={}", value.to_string_lossy())),
            None => found,
        };
        let found = found.seen(format!("nvcc of CUDA {version} compiles for {}", span(&able)));
        all.push(with_releases(found, first.capability, version).explaining(&["nvcc-older-than-gpu"]));
    }
    all
}

fn span(able: &[Capability]) -> String {
    match (able.iter().min(), able.iter().max()) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "nothing".to_owned(),
    }
}

/// The releases that do.
fn with_releases(found: Finding, capability: Capability, version: Version) -> Finding {
    match arch::first_and_last(capability) {
        Some((first, _)) if version < first => found.mend(format!(
            "cudaup install {first} && cudaup use {first}   (the first that compiles for {capability})"
        )),
        Some((_, last)) => found.mend(format!(
            "cudaup install {last} && cudaup use {last}   (the last that compiles for {capability})"
        )),
        None => found.seen(format!("no release is known to this version that compiles for {capability}")),
    }
}

/// A GPU here is older or newer than what this nvcc compiles for.
fn gpus(machine: &Machine) -> Vec<Finding> {
    let (Some((version, able)), Some(gpus)) = (in_use(machine), machine.gpus.known()) else {
        return Vec::new();
    };
    let mut seen = Vec::new();
    let mut all = Vec::new();
    for gpu in gpus {
        let Some(capability) = gpu.capability.filter(|c| !able.contains(c) && !seen.contains(c)) else {
            continue;
        };
        seen.push(capability);
        let title = if gpu.name.is_empty() { format!("GPU {}", gpu.index) } else { gpu.name.clone() };
        let number = capability.number();
        let oldest = able.iter().min().copied().unwrap_or_default();
        let runs = able.iter().filter(|a| a.major == capability.major && **a <= capability).max();
        let found = if capability < oldest {
            let sentence = format!(
                "nvcc of CUDA {version} no longer compiles for the {title} here (sm_{number}): nothing that it makes runs on it"
            );
            finding(Severity::Problem, "nvcc-newer-than-gpu", sentence)
        } else if let Some(runs) = runs {
            let other = runs.number();
            if asks_for_what_runs(machine, capability) {
                continue;
            }
            let sentence = format!(
                "nvcc of CUDA {version} does not know the {title} here (sm_{number}) by name; code for sm_{other} runs on it"
            );
            finding(Severity::Note, "nvcc-older-than-gpu", sentence)
        } else {
            let sentence = format!(
                "nvcc of CUDA {version} does not compile for the {title} here (sm_{number}), which is newer"
            );
            finding(Severity::Problem, "nvcc-older-than-gpu", sentence)
        };
        let found = found.seen(format!(
            "{title}: compute capability {capability} ({})",
            machine.gpus.source().unwrap_or("the driver")
        ));
        let found = found.seen(format!("nvcc of CUDA {version} compiles for {}", span(&able)));
        all.push(with_releases(found, capability, version));
    }
    // Where another GPU here is served, it is a choice and may be meant.
    let served = gpus.iter().any(|gpu| gpu.capability.is_some_and(|c| able.contains(&c)));
    for found in all.iter_mut().filter(|found| served && found.severity == Severity::Problem) {
        found.severity = Severity::Warning;
    }
    all
}

/// Whether a variable asks for code that runs on a GPU.
fn asks_for_what_runs(machine: &Machine, gpu: Capability) -> bool {
    machine.builds.asked.iter().flat_map(|(_, all)| all).any(|architecture| architecture.runs_on(gpu))
}

/// The toolkit's release is not in the tables.
fn unknown(machine: &Machine) -> Vec<Finding> {
    let unknown = |version: &Version| compiled_by(Version { update: None, ..*version }).is_none();
    let newest = arch::releases().last().map(|release| release.cuda);
    let (Some((root, version)), Some(newest)) = (machine.toolkit().filter(|(_, v)| unknown(v)), newest)
    else {
        return Vec::new();
    };
    let sentence = format!(
        "CUDA {version} is not known to this version of cudaup, whose tables end with {newest}: what it compiles for was not checked"
    );
    vec![finding(Severity::Note, "release-not-known", sentence).seen(root.display().to_string())]
}
