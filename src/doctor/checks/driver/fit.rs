//! The driver against what is to run on it: the toolkit in use, and the image that a container was made from.

use super::finding;
use crate::compat::driver::{self as branches, Fit};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::machine::Machine;
use cudaup_core::version::Version;

/// How the driver stands to a toolkit, by its own word where its number is that of Windows.
fn fit(machine: &Machine, toolkit: Version) -> Option<Fit> {
    let driver = &machine.driver;
    let version = driver.version().filter(|_| !machine.platform.wsl);
    match version {
        Some(version) if branches::is_before_the_table(version) => {
            branches::first_branch(toolkit).map(Fit::Never)
        }
        Some(version) => branches::fit(version, toolkit),
        None => branches::fit_by_reach(driver.said_cuda()?, toolkit),
    }
}

fn upgrade(machine: &Machine, branch: u32) -> String {
    if machine.platform.wsl {
        format!("update the NVIDIA driver in Windows ({branch} or newer)")
    } else {
        format!("update the driver to {branch} or newer, where you may (on a rented machine: another image)")
    }
}

/// The image that the container was made from is for a newer driver.
pub(super) fn image(machine: &Machine) -> Vec<Finding> {
    let Some(text) = &machine.platform.image else { return Vec::new() };
    let (Some(release), Some(version)) = (Version::parse(text), machine.driver.version()) else {
        return Vec::new();
    };
    let Some(Fit::Never(branch)) = fit(machine, release) else { return Vec::new() };
    vec![
        finding(
            Severity::Problem,
            "container-needs-newer-driver",
            format!(
                "this container was made for CUDA {release}, which the host's driver {version} does not run"
            ),
        )
        .seen(format!("CUDA_VERSION={text}"))
        .mend("take an image of an older CUDA (nvidia/cuda:X.Y.Z-...)")
        .mend(upgrade(machine, branch)),
    ]
}

/// The driver against the toolkit in use; and the two numbers that puzzle everybody.
pub(super) fn toolkit(machine: &Machine) -> Vec<Finding> {
    let (Some((root, release)), Some(version)) = (machine.toolkit(), machine.driver.version()) else {
        return Vec::new();
    };
    let seen = format!("toolkit {release}: {}", root.display());
    let reach = machine.driver.said_cuda().or_else(|| branches::reach(version));
    match fit(machine, release) {
        Some(Fit::Never(branch)) => {
            let sentence =
                format!("driver {version} is too old to run what CUDA {release} makes; compiling works");
            let found = finding(Severity::Problem, "driver-too-old", sentence).seen(seen);
            let found = match reach {
                Some(reach) => found
                    .seen(format!("driver {version} is for CUDA {reach}"))
                    .mend(format!("cudaup install {reach} && cudaup use {reach}")),
                None => found,
            };
            vec![found.mend(upgrade(machine, branch)).explaining(&["smi-nvcc-differ"])]
        }
        Some(Fit::WithoutPtx) => {
            let sentence = format!(
                "driver {version} runs programs of CUDA {release} that hold machine code for the GPU, but does not compile its PTX (minor-version compatibility)"
            );
            vec![
                finding(Severity::Note, "driver-without-ptx", sentence)
                    .seen(seen)
                    .mend("compile for the GPU that is here: nvcc -arch=native")
                    .explaining(&["smi-nvcc-differ"]),
            ]
        }
        _ => differ(release, machine.driver.said_cuda())
            .into_iter()
            .map(|found| found.seen(seen.clone()))
            .collect(),
    }
}

/// nvidia-smi shows what the driver can do at most, nvcc which toolkit it is: they need not be equal.
fn differ(release: Version, said: Option<Version>) -> Option<Finding> {
    let said = said?;
    let sentence = format!(
        "nvidia-smi shows CUDA {said} and nvcc {release}: that is no fault; the first is the newest that the driver runs, the second the toolkit in use"
    );
    let differ = said.major != release.major || said.minor != release.minor;
    differ.then(|| {
        finding(Severity::Note, "smi-nvcc-differ", sentence).seen(format!("nvidia-smi: CUDA {said}"))
    })
}
