//! Checks of the GPUs: which of them programs see, and how much of them is free.

use crate::compat::gpu;
use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::Machine;
use crate::facts::Fact;
use crate::facts::driver::Smi;
use crate::facts::gpu::Gpu;

/// All checks of this layer.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 7] =
        [none, fewer_than_on_bus, hidden, dropped, unnamed, instances, full];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Gpu, code, sentence)
}

/// The GPUs that nvidia-smi showed; none where it was not asked or did not answer.
fn shown(machine: &Machine) -> &[Gpu] {
    match &machine.driver.smi {
        Smi::Said { .. } => machine.gpus.known().map_or(&[], Vec::as_slice),
        _ => &[],
    }
}

/// The driver answers and shows no GPU.
fn none(machine: &Machine) -> Vec<Finding> {
    match &machine.driver.smi {
        Smi::Failed(words) if words.contains("No devices were found") => {
            let found = finding(
                Severity::Problem,
                "gpu-none-visible",
                "the driver works, and no GPU is visible to it",
            )
            .seen(format!("nvidia-smi: {words}"));
            let found = match machine.driver.on_bus.len() {
                0 => found.seen("no NVIDIA GPU in /sys/bus/pci/devices"),
                n => found.seen(format!("{n} on the PCI bus: the driver could not start it")),
            };
            vec![if machine.platform.container.is_some() {
                found.mend("start the container with --gpus all, or ask its scheduler for a GPU")
            } else {
                found.mend("sudo dmesg | grep -i -e nvrm -e xid   (why the driver could not start it)")
            }]
        }
        Smi::Said { .. } if machine.gpus.known().is_some_and(Vec::is_empty) => {
            vec![
                finding(
                    Severity::Note,
                    "gpu-none-shown",
                    "nvidia-smi shows no GPU, so that nothing was checked against one",
                )
                .seen("nvidia-smi: a driver, and no row for a GPU"),
            ]
        }
        _ => Vec::new(),
    }
}

/// More GPUs are on the bus than the driver shows.
fn fewer_than_on_bus(machine: &Machine) -> Vec<Finding> {
    let (shown, on_bus) = (shown(machine), &machine.driver.on_bus);
    // A container sees the whole bus, and was given some of the GPUs only.
    if shown.is_empty() || machine.platform.container.is_some() || machine.platform.wsl {
        return Vec::new();
    }
    let missing: Vec<&str> = on_bus
        .iter()
        .filter(|at| at.held_by.as_deref() != Some("vfio-pci"))
        .map(|at| at.place.as_str())
        .filter(|place| !shown.iter().any(|gpu| gpu.bus.as_deref() == Some(place)))
        .collect();
    if missing.is_empty() || shown.iter().any(|gpu| gpu.bus.is_none()) {
        return Vec::new();
    }
    let sentence = format!(
        "{} of {} GPUs work: the driver does not show {}",
        shown.len(),
        on_bus.len(),
        missing.join(", ")
    );
    vec![
        finding(Severity::Warning, "gpu-not-started", sentence)
            .seen("/sys/bus/pci/devices against nvidia-smi")
            .mend("sudo dmesg | grep -i -e nvrm -e xid   (a GPU that fell off the bus, or one that this driver no longer runs)"),
    ]
}

/// CUDA_VISIBLE_DEVICES shows programs fewer GPUs than there are. A number that does not exist ends the list: what follows it is
/// not seen either. Source: NVIDIA's CUDA C++ Programming Guide, "CUDA Environment Variables".
fn hidden(machine: &Machine) -> Vec<Finding> {
    const NAME: &str = "CUDA_VISIBLE_DEVICES";
    let (Some(value), gpus) = (machine.vars.get(NAME), shown(machine)) else { return Vec::new() };
    if gpus.is_empty() {
        return Vec::new();
    }
    let value = value.to_string_lossy();
    let words: Vec<&str> = value.split(',').map(str::trim).collect();
    // Names (`GPU-...`, `MIG-...`) are not looked up.
    if words.iter().any(|word| word.starts_with("GPU-") || word.starts_with("MIG-")) {
        return Vec::new();
    }
    let exists = |word: &&str| word.parse::<u32>().is_ok_and(|n| gpus.iter().any(|gpu| gpu.index == n));
    let seen = words.iter().take_while(|word| exists(word)).count();
    let shown = format!("{NAME}={value}");
    let all = gpus.len();
    if seen == 0 {
        let why = match value.trim() {
            "" => "it is empty".to_owned(),
            "-1" => "-1 stands for none".to_owned(),
            _ => format!("there is no GPU {}", words.first().unwrap_or(&"")),
        };
        return vec![
            finding(Severity::Problem, "gpu-hidden", format!("{NAME} hides every GPU from programs: {why}"))
                .seen(shown)
                .mend(format!("unset {NAME}")),
        ];
    }
    if let Some(odd) = words.get(seen) {
        let sentence = format!(
            "{NAME} names GPU {odd}, which does not exist, and hides it and what follows: programs see {seen} of {all}"
        );
        return vec![
            finding(Severity::Warning, "gpu-hidden-in-part", sentence)
                .seen(shown)
                .mend(format!("unset {NAME}")),
        ];
    }
    if seen < all {
        let sentence = format!("{NAME} shows programs {seen} of {all} GPUs");
        return vec![finding(Severity::Note, "gpu-hidden-in-part", sentence).seen(shown)];
    }
    Vec::new()
}

/// A GPU that the driver's branch no longer runs.
fn dropped(machine: &Machine) -> Vec<Finding> {
    let branch = machine.driver.version().and_then(|v| v.split('.').next()?.parse::<u32>().ok());
    let Some(branch) = branch.filter(|_| !machine.platform.wsl) else { return Vec::new() };
    let ended = |gpu: &&Gpu| gpu.capability.and_then(gpu::last_branch).is_some_and(|last| branch > last);
    let Some(gpu) = machine.gpus.known().and_then(|gpus| gpus.iter().find(ended)) else { return Vec::new() };
    let last = gpu.capability.and_then(gpu::last_branch).unwrap_or(branch);
    vec![
        finding(
            Severity::Problem,
            "gpu-dropped-by-driver",
            format!("driver {branch} no longer runs the {}: {last} is the last branch that does", gpu.name),
        )
        .seen(machine.gpus.source().unwrap_or_default().to_owned())
        .mend(format!("install the driver's branch {last}"))
        .explaining(&["smi-failed", "gpu-none-visible"]),
    ]
}

/// A GPU whose compute capability nobody told: what depends on it was not checked.
fn unnamed(machine: &Machine) -> Vec<Finding> {
    let without = |gpu: &&Gpu| gpu.capability.is_none();
    match &machine.gpus {
        Fact::Known(gpus, source) => gpus
            .iter()
            .find(without)
            .map(|gpu| {
                let name = if gpu.name.is_empty() { gpu.bus.as_deref().unwrap_or("of this machine") } else { &gpu.name };
                finding(Severity::Note, "gpu-not-known", format!("the GPU {name} is not known to this version of cudaup: nothing was checked against its compute capability"))
                    .seen(source.clone())
                    .mend("nvidia-smi --query-gpu=compute_cap --format=csv   (drivers from 510 on)")
            })
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// A GPU that is cut into instances.
fn instances(machine: &Machine) -> Vec<Finding> {
    let cut = shown(machine).iter().filter(|gpu| gpu.mig).count();
    if cut == 0 {
        return Vec::new();
    }
    vec![
        finding(Severity::Note, "gpu-mig", format!("{cut} GPU(s) are cut into MIG instances: a program sees one instance, and none where none was made"))
            .seen("nvidia-smi: MIG mode enabled")
            .mend("nvidia-smi -L   (shows the instances)"),
    ]
}

/// So much of a GPU's memory taken leaves most programs no room, in percent.
const NEARLY_FULL: u64 = 90;

/// Other programs hold nearly all of a GPU's memory.
fn full(machine: &Machine) -> Vec<Finding> {
    let taken = |gpu: &&Gpu| {
        gpu.used
            .zip(gpu.memory)
            .is_some_and(|(used, all)| all > 0 && used.saturating_mul(100) / all >= NEARLY_FULL)
    };
    let found = shown(machine).iter().filter(taken).map(|gpu| {
        let mib = |bytes: Option<u64>| bytes.unwrap_or(0) / (1024 * 1024);
        let sentence = format!(
            "GPU {} ({}) is nearly full: {} of {} MiB are taken, and programs may end with `out of memory`",
            gpu.index,
            gpu.name,
            mib(gpu.used),
            mib(gpu.memory)
        );
        let found = finding(Severity::Warning, "gpu-memory-taken", sentence);
        let mut processes: Vec<_> = gpu.processes.iter().collect();
        processes.sort_by_key(|process| std::cmp::Reverse(process.memory));
        if processes.is_empty() {
            return found
                .seen("nvidia-smi names no process: it may be another user's, or in another container")
                .mend("sudo fuser -v /dev/nvidia*");
        }
        let rows = processes
            .iter()
            .take(3)
            .map(|p| format!("process {} {} holds {} MiB", p.pid, p.name, mib(p.memory)));
        let found = rows.fold(found, Finding::seen);
        found.mend("end what is not needed, or take another GPU with CUDA_VISIBLE_DEVICES")
    });
    found.collect()
}

#[cfg(test)]
mod tests;
