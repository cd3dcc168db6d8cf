//! Frameworks against the machine below them: the driver, the GPUs, and the nvcc that builds their extensions.

use super::finding;
use super::ground::{
    OLDEST_OF_13, driver_cuda, gpus, is_x86, nvcc, runs, short, title, torch_here, uninstall, use_toolkit,
};
use crate::compat::arch::Architecture;
use crate::compat::frameworks::oldest_nvcc;
use crate::compat::pep440::Pep440;
use crate::compat::releases::oldest_driver;
use crate::compat::torch::wheel;
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::machine::Machine;
use crate::facts::gpu::Gpu;
use crate::facts::python::{Build, Package, Python};
use cudaup_core::version::Version;

/// The packages that start the GPU by themselves.
const FRAMEWORKS: [&str; 10] = [
    "torch",
    "tensorflow",
    "jax-cuda12-plugin",
    "jax-cuda13-plugin",
    "cupy-cuda11x",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "onnxruntime-gpu",
    "vllm",
    "llama-cpp-python",
];

fn frameworks(python: &Python) -> impl Iterator<Item = &Package> {
    FRAMEWORKS.iter().filter_map(|name| python.package(name))
}

fn named(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}

fn torch(machine: &Machine) -> Option<(&Python, &Package)> {
    let python = machine.python.as_ref()?;
    Some((python, python.package("torch")?))
}

/// torch without CUDA on a machine with a GPU.
pub fn cpu_only(machine: &Machine) -> Vec<Finding> {
    let found = torch(machine).filter(|(_, t)| t.build == Build::Cpu).zip(gpus(machine).first());
    let of = |((python, torch), gpu): ((&Python, &Package), &Gpu)| {
        let sentence =
            format!("torch {} was built for the CPU only: it does not use the {}", torch.version, title(gpu));
        finding(Severity::Problem, "torch-cpu-only", sentence)
            .seen(format!("{}: cuda is None", torch.source.display()))
            .mend(torch_here(machine, python, torch))
            .explaining(&["torch-companion-backend"])
    };
    found.map(of).into_iter().collect()
}

/// torch for AMD's GPUs on a machine with one of NVIDIA's.
pub fn rocm(machine: &Machine) -> Vec<Finding> {
    let Some(((python, torch), gpu)) = torch(machine).zip(gpus(machine).first()) else { return Vec::new() };
    let Build::Rocm(rocm) = &torch.build else { return Vec::new() };
    let sentence =
        format!("torch {} was built for AMD's ROCm: it does not use the {}", torch.version, title(gpu));
    let found = finding(Severity::Problem, "torch-rocm", sentence)
        .seen(format!("{}: hip is {rocm}", torch.source.display()))
        .mend(torch_here(machine, python, torch))
        .explaining(&["torch-companion-backend"]);
    vec![found]
}

/// Frameworks whose CUDA major is newer than the driver's.
pub fn driver_too_old(machine: &Machine) -> Vec<Finding> {
    let Some((python, (driver, who))) = machine.python.as_ref().zip(driver_cuda(machine)) else {
        return Vec::new();
    };
    let beyond = |p: &&Package| p.build.cuda().is_some_and(|built| !runs(driver, built));
    let mut found = frameworks(python).filter(beyond);
    let Some((first, built)) = found.next().and_then(|p| Some((p, p.build.cuda()?))) else {
        return Vec::new();
    };
    let sentence = format!(
        "{} was built for CUDA {}, and the driver runs CUDA {driver} and older: it finds no usable GPU",
        named(first),
        short(built)
    );
    let start = finding(Severity::Problem, "driver-too-old-for-framework", sentence)
        .seen(who)
        .seen(format!("{}: CUDA {built}", first.source.display()));
    let mut all = found.fold(start, |f, p| f.seen(format!("{} needs a newer driver, too", named(p))));
    if first.name == "torch" {
        all = all.mend(torch_here(machine, python, first));
    }
    if let Some(instead) = for_cuda_12(python, first).filter(|_| driver.major == 12) {
        all = all.mend(instead);
    }
    let oldest = oldest_driver(built).map_or_else(String::new, |oldest| format!(": {oldest} or newer"));
    vec![all.mend(format!("or a newer driver, by the way this system installs it{oldest}"))]
}

/// Frameworks whose CUDA is newer than the driver's within one major: their machine code runs, PTX does not.
pub fn newer_than_driver(machine: &Machine) -> Vec<Finding> {
    let Some((python, (driver, who))) = machine.python.as_ref().zip(driver_cuda(machine)) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for package in frameworks(python) {
        let Some(built) = package.build.cuda().filter(|b| runs(driver, *b) && short(*b) > driver) else {
            continue;
        };
        let by_ptx = |gpu: &&Gpu| by_ptx_only(&architectures(machine, package), gpu);
        let (name, cuda) = (named(package), short(built));
        let found = if let Some(gpu) = gpus(machine).iter().find(by_ptx) {
            let sentence = format!(
                "{name} has only PTX for the {}, and a driver of CUDA {driver} does not compile PTX of CUDA {cuda} (error 222)",
                title(gpu)
            );
            let found = finding(Severity::Problem, "ptx-newer-than-driver", sentence);
            let found = if package.name == "torch" {
                found.mend(torch_here(machine, python, package))
            } else {
                found
            };
            found.mend(format!("a driver for CUDA {cuda}, by the way this system installs it"))
        } else {
            let sentence = format!(
                "{name} brings CUDA {cuda}, newer than the driver's {driver}: its machine code runs, PTX of CUDA {cuda} does not"
            );
            finding(Severity::Note, "framework-newer-than-driver", sentence)
        };
        all.push(found.seen(who.clone()).seen(format!("{}: CUDA {built}", package.source.display())));
    }
    all
}

/// What a package has for GPUs: what its files say, and for torch what its wheels are known to hold, since the list in the file
/// leaves PTX out.
fn architectures(machine: &Machine, package: &Package) -> Vec<Architecture> {
    let mut all = package.architectures.clone();
    let version = Pep440::parse(&package.version)
        .filter(|v| package.name == "torch" && !v.unfinished && is_x86(machine));
    if let Some(known) = version.zip(package.build.cuda()).and_then(|(v, cuda)| wheel(v.minor(), cuda)) {
        let more: Vec<Architecture> =
            known.architectures.iter().filter(|a| !all.contains(a)).copied().collect();
        // What was compiled for a GPU of one's own is not what the wheels hold; of them only PTX is missing in the list.
        let own = !all.is_empty();
        all.extend(more.into_iter().filter(|a| !own || a.ptx && all_of_wheel(package, &known.architectures)));
    }
    all
}

fn all_of_wheel(package: &Package, known: &[Architecture]) -> bool {
    known.iter().filter(|a| !a.ptx).all(|a| package.architectures.contains(a))
}

fn by_ptx_only(architectures: &[Architecture], gpu: &Gpu) -> bool {
    let Some(capability) = gpu.capability else { return false };
    let runs = |ptx: bool| architectures.iter().any(|a| a.ptx == ptx && a.runs_on(capability));
    runs(true) && !runs(false)
}

/// Frameworks without code for a GPU.
pub fn no_kernel_image(machine: &Machine) -> Vec<Finding> {
    let Some(python) = &machine.python else { return Vec::new() };
    let mut all = Vec::new();
    for package in ["torch", "tensorflow"].iter().filter_map(|name| python.package(name)) {
        let code = architectures(machine, package);
        let lacks = |gpu: &&Gpu| gpu.capability.is_some_and(|c| !code.iter().any(|a| a.runs_on(c)));
        let without: Vec<&Gpu> = gpus(machine).iter().filter(lacks).collect();
        let (Some(gpu), false) = (without.first(), code.is_empty()) else { continue };
        let (oldest, newest) =
            (code.iter().map(|a| a.capability).min(), code.iter().map(|a| a.capability).max());
        let reach = match (oldest, newest) {
            (Some(oldest), _) if gpu.capability < Some(oldest) => {
                format!("its code begins at sm_{}", oldest.number())
            }
            (_, Some(newest)) if gpu.capability > Some(newest) => {
                format!("its code ends at sm_{}", newest.number())
            }
            _ => "none of its code runs there".to_owned(),
        };
        let severity =
            if without.len() == gpus(machine).len() { Severity::Problem } else { Severity::Warning };
        let sentence = format!(
            "{} has no code for the {}: {reach}. Another toolkit does not help, since it brings its own CUDA",
            named(package),
            title(gpu)
        );
        let list: Vec<String> = code.iter().map(ToString::to_string).collect();
        let found = finding(severity, "no-kernel-image", sentence)
            .seen(format!("{}: {}", package.source.display(), list.join(" ")))
            .explaining(&["cudnn-gpu-too-old"]);
        all.push(match package.name.as_str() {
            "torch" => found.mend(torch_here(machine, python, package)),
            _ => found.mend(format!(
                "another release of {} that has code for this GPU, or one built for it",
                package.name
            )),
        });
    }
    all
}

/// The command that puts a package's release for CUDA 12 in the place of that for 13. Source: the packages on PyPI; from 1.27 on
/// onnxruntime-gpu is built for CUDA 13.
fn for_cuda_12(python: &Python, package: &Package) -> Option<String> {
    let instead = match package.name.as_str() {
        "jax-cuda13-plugin" => "\"jax[cuda12]\"",
        "cupy-cuda13x" => "cupy-cuda12x",
        "onnxruntime-gpu" => "\"onnxruntime-gpu<1.27\"",
        _ => return None,
    };
    Some(format!("{} {} && {} install {instead}", uninstall(python), package.name, python.pip))
}

/// Packages of CUDA 13 on GPUs that CUDA 13 no longer knows.
pub fn dropped_by_cuda_13(machine: &Machine) -> Vec<Finding> {
    let Some(python) = &machine.python else { return Vec::new() };
    let old = gpus(machine).iter().find(|g| g.capability.is_some_and(|c| c < OLDEST_OF_13));
    // The two whose code can be listed have a check of their own.
    let of_13 = |p: &&Package| {
        p.build.cuda().is_some_and(|c| c.major >= 13) && !matches!(p.name.as_str(), "torch" | "tensorflow")
    };
    let Some(gpu) = old else { return Vec::new() };
    let of = |package: &Package| {
        let sentence = format!(
            "{} was built for CUDA 13, which has no code for the {}: CUDA 13 begins at sm_{}",
            named(package),
            title(gpu),
            OLDEST_OF_13.number()
        );
        let found = finding(Severity::Problem, "no-kernel-image", sentence)
            .seen(package.source.display().to_string());
        let instead = for_cuda_12(python, package);
        found.mend(instead.unwrap_or_else(|| format!("a build of {} for CUDA 12", package.name)))
    };
    frameworks(python).filter(of_13).map(of).collect()
}

/// torch and the nvcc here, where both are known.
fn pair(machine: &Machine) -> Option<(&Package, Version, Version, String)> {
    let (_, torch) = torch(machine)?;
    let (nvcc, path) = nvcc(machine)?;
    Some((torch, torch.build.cuda()?, nvcc, path))
}

/// Extensions that would be built with another CUDA major than torch's: torch refuses that.
pub fn nvcc_major(machine: &Machine) -> Vec<Finding> {
    let Some((torch, cuda, nvcc, path)) = pair(machine).filter(|(_, c, n, _)| c.major != n.major) else {
        return Vec::new();
    };
    let (cuda, nvcc) = (short(cuda), short(nvcc));
    let sentence = format!("torch was built for CUDA {cuda}, extensions here compile with nvcc {nvcc}");
    let found = finding(Severity::Problem, "nvcc-major-mismatch", sentence)
        .seen(path)
        .seen(torch.source.display().to_string());
    let found = driver_cuda(machine).into_iter().fold(found, |f, (_, who)| f.seen(who));
    vec![found.mend(use_toolkit(machine, cuda)).explaining(&["nvcc-too-old-for-package"])]
}

/// Extensions that would be built with another minor release of the same major: torch only warns.
pub fn nvcc_minor(machine: &Machine) -> Vec<Finding> {
    let differs = |(_, cuda, nvcc, _): &(&Package, Version, Version, String)| {
        cuda.major == nvcc.major && nvcc.minor.is_some() && cuda.minor.is_some() && cuda.minor != nvcc.minor
    };
    let of = |(torch, cuda, nvcc, path): (&Package, Version, Version, String)| {
        let (cuda, nvcc) = (short(cuda), short(nvcc));
        let sentence = format!(
            "torch was built for CUDA {cuda}, extensions here compile with nvcc {nvcc}: that works within one major"
        );
        finding(Severity::Note, "nvcc-minor-mismatch", sentence)
            .seen(path)
            .seen(torch.source.display().to_string())
    };
    pair(machine).filter(differs).map(of).into_iter().collect()
}

/// Packages that are built with nvcc where it is older than they ask for.
pub fn nvcc_too_old(machine: &Machine) -> Vec<Finding> {
    let Some((python, (nvcc, path))) = machine.python.as_ref().zip(nvcc(machine)) else { return Vec::new() };
    let mut all = Vec::new();
    for package in &python.packages {
        let Some(oldest) = oldest_nvcc(&package.name, &package.version).filter(|o| short(nvcc) < *o) else {
            continue;
        };
        let wanted = python.package("torch").and_then(|t| t.build.cuda()).map_or(oldest, short);
        let sentence = format!(
            "building {} needs nvcc {oldest} or newer, and nvcc here is {}",
            named(package),
            short(nvcc)
        );
        let found = finding(Severity::Warning, "nvcc-too-old-for-package", sentence).seen(path.clone());
        all.push(
            found.seen(package.source.display().to_string()).mend(use_toolkit(machine, wanted.max(oldest))),
        );
    }
    all
}
