//! Packages with machine code of their own beside torch: it was compiled for one torch and one backend.

use super::finding;
use super::ground::{index, short};
use crate::compat::frameworks::{goes_with_torch, torch_of};
use crate::compat::pep440::Pep440;
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::machine::Machine;
use crate::facts::python::{Build, Package, Python};
use std::cmp::Ordering;
use std::path::PathBuf;

/// Packages that were compiled for one torch.
const COMPANIONS: [&str; 5] = ["torchvision", "torchaudio", "xformers", "vllm", "flash-attn"];

fn pairs(machine: &Machine) -> Option<(&Python, &Package, Vec<&Package>)> {
    let python = machine.python.as_ref()?;
    let torch = python.package("torch")?;
    Some((python, torch, COMPANIONS.iter().filter_map(|name| python.package(name)).collect()))
}

/// The torch that a package belongs to, and the file that says so; the table's word where no file has one.
fn belongs_to(package: &Package) -> Option<(Pep440, Option<PathBuf>)> {
    let own = package.for_torch.as_ref().map(|(torch, file)| (torch.as_str(), Some(file.clone())));
    let asked = || package.requires.iter().find(|r| r.name == "torch" && r.extra.is_none())?.exact();
    let known = || torch_of(&package.name, &package.version).map(|torch| (torch, None));
    let (torch, file) = own.or_else(|| asked().map(|t| (t, Some(package.source.clone())))).or_else(known)?;
    Some((Pep440::parse(torch)?, file))
}

/// Packages that were compiled for another torch than the one that is here.
pub fn of_another_torch(machine: &Machine) -> Vec<Finding> {
    let Some((python, torch, companions)) = pairs(machine) else { return Vec::new() };
    // A nightly's numbers do not tell what it goes with.
    let Some(here) = Pep440::parse(&torch.version).filter(|v| !v.unfinished) else { return Vec::new() };
    let mut all = Vec::new();
    for package in companions {
        let Some((wanted, file)) = belongs_to(package).filter(|(v, _)| !v.unfinished) else { continue };
        let severity = if here.compare(&wanted, 2) != Ordering::Equal {
            Severity::Warning
        } else if wanted.numbers.len() > 2 && here.compare(&wanted, 3) != Ordering::Equal {
            // They run, and pip complains of them.
            Severity::Note
        } else {
            continue;
        };
        let (name, version) = (&package.name, &package.version);
        let sentence = format!(
            "{name} {version} was built for torch {}, and torch here is {}",
            wanted.plain(),
            torch.version
        );
        let says =
            file.map_or_else(|| "the table of releases on PyPI".to_owned(), |f| f.display().to_string());
        let found = finding(severity, "torch-companion-mismatch", sentence).seen(says);
        all.push(
            found.seen(torch.source.display().to_string()).mend(matching(python, package, torch, &here)),
        );
    }
    all
}

/// The command that installs the release of a package that goes with the torch that is here.
fn matching(python: &Python, package: &Package, torch: &Package, here: &Pep440) -> String {
    let (pip, name) = (&python.pip, &package.name);
    if name == "flash-attn" {
        return format!(
            "{pip} install --force-reinstall --no-deps --no-cache-dir --no-build-isolation flash-attn"
        );
    }
    let what = goes_with_torch(name, &here.plain()).map_or_else(
        || format!("--upgrade {name} \"torch=={}\"", here.plain()),
        |version| format!("--no-deps \"{name}=={version}\""),
    );
    let from_index = matches!(name.as_str(), "torchvision" | "torchaudio" | "xformers");
    let index = index(torch).filter(|_| from_index).map(|index| format!(" --index-url {index}"));
    format!("{pip} install {what}{}", index.unwrap_or_default())
}

/// Packages that were compiled for another backend than torch: ROCm, the CPU, or another CUDA.
pub fn of_another_backend(machine: &Machine) -> Vec<Finding> {
    let Some((python, torch, companions)) = pairs(machine) else { return Vec::new() };
    let mut all = Vec::new();
    for package in companions {
        let differs = match (&package.build, &torch.build) {
            (Build::Unknown, _)
            | (_, Build::Unknown)
            | (Build::Cpu, Build::Cpu)
            | (Build::Rocm(_), Build::Rocm(_)) => false,
            (Build::Cuda(own), Build::Cuda(torch)) => {
                // torchaudio compares both numbers when it is imported, the others only the first.
                let minor = own.minor.is_some() && torch.minor.is_some() && own.minor != torch.minor;
                own.major != torch.major || (package.name == "torchaudio" && minor)
            }
            _ => true,
        };
        if !differs {
            continue;
        }
        let (name, version) = (&package.name, &package.version);
        let sentence = format!(
            "{name} {version} was built for {}, torch {} for {}",
            words(&package.build),
            torch.version,
            words(&torch.build)
        );
        let found = finding(Severity::Warning, "torch-companion-backend", sentence)
            .seen(package.source.display().to_string())
            .seen(torch.source.display().to_string());
        all.push(match index(torch).filter(|_| name != "flash-attn") {
            Some(index) => found.mend(format!(
                "{} install --force-reinstall --no-deps {name} --index-url {index}",
                python.pip
            )),
            None => found.mend(format!(
                "{} install --force-reinstall --no-deps {name}, from where torch came",
                python.pip
            )),
        });
    }
    all
}

fn words(build: &Build) -> String {
    match build {
        Build::Cuda(version) => format!("CUDA {version}"),
        Build::Rocm(version) if version.is_empty() => "ROCm".to_owned(),
        Build::Rocm(version) => format!("ROCm {version}"),
        Build::Cpu => "the CPU".to_owned(),
        Build::Unknown => "something that its files do not say".to_owned(),
    }
}

/// bitsandbytes has a library for each CUDA release, and takes the one of torch's.
pub fn bitsandbytes(machine: &Machine) -> Vec<Finding> {
    let Some(python) = &machine.python else { return Vec::new() };
    let found =
        python.package("bitsandbytes").filter(|p| !p.variants.is_empty()).zip(python.package("torch"));
    let Some((package, cuda)) = found.and_then(|(p, torch)| Some((p, torch.build.cuda()?))) else {
        return Vec::new();
    };
    if package.variants.iter().any(|v| v.major == cuda.major) {
        return Vec::new();
    }
    let list: Vec<String> = package.variants.iter().map(ToString::to_string).collect();
    let sentence = format!(
        "bitsandbytes {} has no library for CUDA {}, which torch was built for; it has {}",
        package.version,
        short(cuda),
        list.join(", ")
    );
    let found = finding(Severity::Warning, "torch-companion-backend", sentence)
        .seen(package.source.display().to_string());
    vec![found.mend(format!("{} install --upgrade bitsandbytes", python.pip))]
}
