//! Which toolkit a project wants: the framework first, then the CUDA that it was built for, then what the driver and the GPU can.

mod wish;

pub use wish::{Wish, in_line, in_project};

use crate::compat::{arch, driver as branches, frameworks, torch};
use crate::doctor::machine::Machine;
use crate::facts::python::Python;
use cudaup_core::architecture::Capability;
use cudaup_core::version::Version;

/// The toolkit to pin, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The release.
    pub toolkit: Version,
    /// Why this one.
    pub reason: String,
    /// How the framework is installed for it.
    pub pip: Option<String>,
    /// What the driver and the GPU here make of it.
    pub notes: Vec<String>,
}

/// The newest release that a driver runs in full; `None` where there is no driver or it is newer than the tables.
fn reach(machine: &Machine) -> Option<Version> {
    machine.driver.said_cuda().or_else(|| machine.driver.version().and_then(branches::reach))
}

fn oldest_gpu(machine: &Machine) -> Option<Capability> {
    machine.gpus.known()?.iter().filter_map(|gpu| gpu.capability).min()
}

/// What the environment in use has installed, as a wish.
pub fn installed(python: &Python) -> Option<Wish> {
    let package = ["torch", "tensorflow", "jax"].iter().find_map(|name| python.package(name))?;
    Some(Wish {
        framework: package.name.clone(),
        version: Some(package.version.split('+').next().unwrap_or_default().to_owned()),
        cuda: package.build.cuda(),
        from: format!("{} {} in {}", package.name, package.version, python.root.display()),
    })
}

/// Chooses. `None`: a framework is wished whose CUDA is not known to this version.
pub fn suggest(wish: Option<&Wish>, machine: &Machine) -> Option<Suggestion> {
    let found = match wish {
        Some(wish) => of_wish(wish, machine)?,
        None => of_machine(machine),
    };
    Some(Suggestion { notes: notes(found.toolkit, machine), ..found })
}

fn of_wish(wish: &Wish, machine: &Machine) -> Option<Suggestion> {
    let plain =
        |toolkit: Version, reason: String| Suggestion { toolkit, reason, pip: None, notes: Vec::new() };
    if let Some(cuda) = wish.cuda {
        return Some(plain(cuda, format!("{}, which is built for CUDA {cuda}", wish.from)));
    }
    let version = wish.version.as_deref();
    match wish.framework.as_str() {
        "torch" => {
            let minor = version.and_then(minor_of);
            let wanted = torch::Wanted { driver: reach(machine), gpu: oldest_gpu(machine) };
            let wheel = torch::best(minor, wanted)?;
            let other = minor.is_some_and(|minor| wheel.minor() != minor);
            let instead = if other { ", the nearest that fits the driver and the GPU here" } else { "" };
            let reason =
                format!("{}: torch {} has a wheel for CUDA {}{instead}", wish.from, wheel.torch, wheel.cuda);
            let pip = format!("pip install \"torch=={}.*\" --index-url {}", wheel.torch, wheel.address());
            Some(Suggestion { pip: Some(pip), ..plain(wheel.cuda, reason) })
        }
        "tensorflow" => {
            let known = match version {
                Some(version) => frameworks::tensorflow(version)?,
                None => frameworks::tensorflow_releases().last()?,
            };
            let reason =
                format!("{}: TensorFlow {} is built for CUDA {}", wish.from, known.version, known.cuda);
            let pip = known.extra.then(|| format!("pip install \"tensorflow[and-cuda]=={}\"", known.version));
            Some(Suggestion { pip, ..plain(known.cuda, reason) })
        }
        "jax" => {
            let majors: Vec<u32> = match version {
                Some(version) => frameworks::jax(version).iter().map(|row| row.cuda).collect(),
                None => frameworks::jax_releases().last().map(|row| row.cuda).into_iter().collect(),
            };
            let able = |major: &&u32| reach(machine).is_none_or(|reach| reach.major >= **major);
            let major = *majors.iter().rfind(able).or_else(|| majors.first())?;
            let reason = format!("{}: its plugin is for CUDA {major}", wish.from);
            let pip = format!("pip install -U \"jax[cuda{major}]\"");
            Some(Suggestion { pip: Some(pip), ..plain(newest_of(major, reach(machine))?, reason) })
        }
        _ => None,
    }
}

/// `2.5` of `2.5.1`.
fn minor_of(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|n| n.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// The newest release of a major, no newer than what a driver runs in full where that is of the same major.
fn newest_of(major: u32, reach: Option<Version>) -> Option<Version> {
    let most = reach.filter(|reach| reach.major == major);
    let fits = |release: &&arch::Release| {
        release.cuda.major == major && most.is_none_or(|most| release.cuda <= most)
    };
    arch::releases().iter().rfind(fits).map(|release| release.cuda)
}

/// Nothing is wished: the newest that the driver runs in full and that compiles for the GPU.
fn of_machine(machine: &Machine) -> Suggestion {
    let (reach, gpu) = (reach(machine), oldest_gpu(machine));
    let runs = |release: &&arch::Release| reach.is_none_or(|reach| release.cuda <= reach);
    let compiles = |release: &&arch::Release| {
        gpu.is_none_or(|gpu| {
            release.architectures.iter().any(|code| code.variant.is_none() && code.runs_on(gpu))
        })
    };
    let newest = arch::releases().iter().rfind(|release| runs(release) && compiles(release));
    let newest = newest.or_else(|| arch::releases().last()).map(|release| release.cuda);
    let reason = match (reach, gpu) {
        (Some(reach), Some(gpu)) => format!(
            "the newest that the driver (CUDA {reach}) runs in full and that compiles for the GPU (sm_{})",
            gpu.number()
        ),
        (Some(reach), None) => format!("the newest that the driver (CUDA {reach}) runs in full"),
        (None, _) => "the newest: there is no driver here to go by".to_owned(),
    };
    Suggestion { toolkit: newest.unwrap_or(Version::release(13, 0)), reason, pip: None, notes: Vec::new() }
}

fn notes(toolkit: Version, machine: &Machine) -> Vec<String> {
    let mut notes = Vec::new();
    let fit = match (machine.platform.wsl, machine.driver.version(), machine.driver.said_cuda()) {
        (false, Some(version), _) => branches::fit(version, toolkit),
        (_, _, Some(cuda)) => branches::fit_by_reach(cuda, toolkit),
        _ => None,
    };
    let of_driver = fit.map(|fit| match fit {
        branches::Fit::Full => "the driver here runs it".to_owned(),
        branches::Fit::WithoutPtx => "the driver here runs its machine code, not its PTX".to_owned(),
        branches::Fit::Never(branch) => format!("the driver here does not run it: {branch} or newer does"),
    });
    notes.extend(of_driver);
    if let (Some(gpu), Some(codes)) = (oldest_gpu(machine), arch::compiled_by(toolkit))
        && !codes.iter().any(|code| code.variant.is_none() && code.runs_on(gpu))
    {
        notes.push(format!("its nvcc does not compile for the GPU here (sm_{})", gpu.number()));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Fact;
    use crate::facts::driver::Smi;
    use crate::facts::gpu::Gpu;

    fn machine(cuda: &str, gpu: &str) -> Machine {
        let mut machine = Machine::bare();
        let driver = match cuda {
            "12.2" => "535.183.01",
            "12.4" => "550.90.07",
            _ => "580.95.05",
        };
        machine.driver.smi =
            Smi::Said { program: None, driver: Some(driver.into()), cuda: Version::parse(cuda), odd: None };
        machine.gpus = Fact::Known(
            vec![Gpu { capability: Capability::parse(gpu), ..Gpu::default() }],
            "nvidia-smi".into(),
        );
        machine
    }

    fn wish(line: &str) -> Wish {
        in_line(line, "requirements.txt").unwrap()
    }

    fn toolkit(wish: &Wish, machine: &Machine) -> String {
        suggest(Some(wish), machine).map_or_else(|| "none".into(), |found| found.toolkit.to_string())
    }

    #[test]
    fn the_framework_comes_first() {
        let at = machine("13.0", "9.0");
        assert_eq!(toolkit(&wish("torch==2.5.1+cu124"), &at), "12.4");
        let found = suggest(Some(&wish("torch==2.5.1")), &machine("12.2", "8.0")).unwrap();
        assert_eq!(found.toolkit.to_string(), "12.1");
        assert!(found.pip.unwrap().contains("whl/cu121"));
        assert_eq!(found.notes, ["the driver here runs it"]);
        assert_eq!(toolkit(&wish("tensorflow==2.18.0"), &at), "12.5");
        assert_eq!(
            suggest(Some(&wish("jax==0.4.35")), &machine("12.4", "8.0")).unwrap().toolkit.to_string(),
            "12.4"
        );
        assert_eq!(toolkit(&wish("tensorflow==99.0"), &at), "none");
    }

    #[test]
    fn without_a_framework_the_machine_says() {
        let found = |at: &Machine| suggest(None, at).unwrap();
        assert_eq!(found(&machine("12.4", "8.0")).toolkit.to_string(), "12.4");
        assert_eq!(found(&machine("13.0", "7.0")).toolkit.to_string(), "12.9");
        let bare = found(&Machine::bare());
        assert!(
            bare.reason.contains("no driver here") && bare.toolkit >= Version::release(13, 5),
            "{bare:?}"
        );
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let found = suggest(Some(&wish("torch==2.11.0+cu130")), &machine("12.4", "7.0")).unwrap();
        assert_eq!(
            found.notes,
            [
                "the driver here does not run it: 580 or newer does",
                "its nvcc does not compile for the GPU here (sm_70)"
            ]
        );
    }
}
