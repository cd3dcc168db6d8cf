//! Checks of the NVIDIA driver: whether it is there and whole, and whether it runs what the toolkit in use makes.

mod fit;

use crate::compat::driver as branches;
use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::Machine;
use crate::facts::driver::Smi;

/// All checks of this layer.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 10] = [
        absent,
        linux_driver_in_wsl,
        mismatch,
        unreadable,
        answer,
        without_libcuda,
        devices,
        module_flavour,
        fit::image,
        fit::toolkit,
    ];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Driver, code, sentence)
}

/// What goes without saying where there is no driver at all.
const FOLLOW_FROM_NONE: [&str; 4] =
    ["smi-failed", "gpu-none-visible", "libcuda-missing", "torch-without-driver"];

/// How the driver is got, for people: cudaup never installs one.
fn how_to_install(machine: &Machine) -> &'static str {
    match machine.platform.release.as_ref().map(|(id, _)| id.as_str()) {
        Some("ubuntu") => {
            "install NVIDIA's driver: sudo ubuntu-drivers install, then restart (a rented machine: take an image that has it)"
        }
        Some("debian") => {
            "install NVIDIA's driver: sudo apt install nvidia-driver (non-free), then restart (a rented machine: take an image that has it)"
        }
        _ => {
            "install NVIDIA's driver as your distribution does, then restart (a rented machine: take an image that has it)"
        }
    }
}

/// Nothing of a driver is to be seen.
fn absent(machine: &Machine) -> Vec<Finding> {
    let (driver, platform) = (&machine.driver, &machine.platform);
    if driver.is_there() || !matches!(driver.smi, Smi::Absent | Smi::Failed(_)) || platform.jetson.is_some() {
        return Vec::new();
    }
    let node = driver.devices.iter().any(|name| name.starts_with("nvidia"));
    if let Some(kind) = &platform.container {
        if node {
            return Vec::new();
        }
        let sentence = format!(
            "no driver is visible in this container ({kind}): compiling works, running CUDA programs does not"
        );
        let found = finding(Severity::Note, "container-without-gpu", sentence)
            .seen("no /dev/nvidia* and no /proc/driver/nvidia here")
            .explaining(&FOLLOW_FROM_NONE);
        return vec![match kind.as_str() {
            "kubernetes" => found.mend("ask for a GPU in the pod's resources: nvidia.com/gpu: 1"),
            "apptainer" => found.mend("start it with --nv"),
            _ => found.mend("start it with --gpus all, on a host with a driver and nvidia-container-toolkit"),
        }];
    }
    if platform.wsl {
        return vec![
            finding(
                Severity::Warning,
                "wsl-without-driver",
                "WSL2 shows no NVIDIA driver: CUDA programs cannot run here",
            )
            .seen("no nvidia-smi on PATH nor in /usr/lib/wsl/lib")
            .mend("update the NVIDIA driver in Windows, then in Windows: wsl --update, wsl --shutdown")
            .explaining(&FOLLOW_FROM_NONE),
        ];
    }
    if driver.on_bus.is_empty() {
        return match driver.smi {
            Smi::Absent => vec![
                finding(
                    Severity::Note,
                    "no-gpu",
                    "there is no NVIDIA GPU and no driver here: CUDA programs can be compiled, not run",
                )
                .seen("no NVIDIA device in /sys/bus/pci/devices, no /proc/driver/nvidia, no nvidia-smi")
                .explaining(&FOLLOW_FROM_NONE),
            ],
            _ => Vec::new(),
        };
    }
    vec![why_not_loaded(machine).explaining(&FOLLOW_FROM_NONE)]
}

/// There is a GPU, and no module of NVIDIA's runs it: the likeliest reason.
fn why_not_loaded(machine: &Machine) -> Finding {
    let (driver, platform) = (&machine.driver, &machine.platform);
    let kernel = platform.kernel.known().map_or("the running kernel", String::as_str);
    let on_bus = driver.on_bus.first().map_or("", |at| at.place.as_str());
    let seen = format!("/sys/bus/pci/devices/{on_bus} is an NVIDIA GPU; /sys/module/nvidia does not exist");
    let problem = |code, sentence: String| finding(Severity::Problem, code, sentence).seen(seen.clone());
    if driver.on_bus.iter().any(|at| at.held_by.as_deref() == Some("nouveau")) || driver.nouveau {
        return problem("driver-nouveau", "the GPU is held by the free driver nouveau, which knows no CUDA".to_owned())
            .mend(how_to_install(machine))
            .mend("where NVIDIA's driver is installed: blacklist nouveau (modprobe.d), renew the initramfs, restart");
    }
    if driver.on_bus.iter().any(|at| at.held_by.as_deref() == Some("vfio-pci")) {
        return problem(
            "driver-passed-through",
            "the GPU is handed on to virtual machines (vfio-pci), so this system cannot use it".to_owned(),
        )
        .mend("use it in the virtual machine, or take the device from vfio-pci");
    }
    if let Some(file) = driver.built.known() {
        if platform.secure_boot.known() == Some(&true) {
            return problem("driver-refused-by-secure-boot", "the driver's module is installed and not loaded, and Secure Boot is on: it is most likely not signed with a key that this machine knows".to_owned())
                .seen(format!("{} is there", file.display()))
                .seen(platform.secure_boot.source().unwrap_or_default().to_owned())
                .mend("sudo dmesg | grep -i 'key was rejected'   (says whether that is it)")
                .mend("enrol the key that signed the module (sudo mokutil --import, then restart), or install the driver's signed package");
        }
        let sentence = "the driver's module is installed for this kernel and not loaded";
        return problem("driver-not-loaded", sentence.to_owned())
            .seen(format!("{} is there", file.display()))
            .mend("sudo modprobe nvidia   (sudo dmesg | tail says why where it fails)");
    }
    let built_for: Vec<&str> = driver.dkms.iter().map(|(kernel, _)| kernel.as_str()).collect();
    if !built_for.is_empty() && !built_for.contains(&kernel) {
        let sentence =
            format!("the kernel was updated to {kernel}, and the driver's module was not built for it");
        return problem("driver-not-built-for-kernel", sentence)
            .seen(format!("/var/lib/dkms has it for {}", built_for.join(", ")))
            .mend("install the headers of this kernel, then: sudo dkms autoinstall && sudo modprobe nvidia");
    }
    problem("driver-missing", "there is an NVIDIA GPU and no driver for it".to_owned())
        .mend(how_to_install(machine))
}

/// WSL2 uses the driver of Windows; one installed inside stands in its way.
fn linux_driver_in_wsl(machine: &Machine) -> Vec<Finding> {
    let library = &machine.driver.library;
    let (Some(version), true) = (library.known(), machine.platform.wsl) else { return Vec::new() };
    let sentence = format!(
        "a Linux driver ({version}) is installed inside WSL2, where the driver of Windows is the only one that works"
    );
    vec![
        finding(Severity::Problem, "wsl-linux-driver", sentence)
            .seen(library.source().unwrap_or_default().to_owned())
            .mend("sudo apt remove --purge 'libnvidia-*' 'nvidia-driver-*' 'nvidia-utils-*', then in Windows: wsl --shutdown")
            .explaining(&["driver-library-mismatch", "smi-failed"]),
    ]
}

/// The loaded module and the libraries on the disk are of two versions: the driver was updated, the machine not restarted.
fn mismatch(machine: &Machine) -> Vec<Finding> {
    let driver = &machine.driver;
    if machine.platform.wsl || machine.platform.jetson.is_some() {
        return Vec::new();
    }
    let module = driver.module.known().and_then(|m| m.version.as_deref());
    let differ = module.zip(driver.library.known()).filter(|(module, library)| module != library);
    let said = match &driver.smi {
        Smi::Failed(words) if words.contains("Driver/library version mismatch") => Some(words),
        _ => None,
    };
    if differ.is_none() && said.is_none() {
        return Vec::new();
    }
    let sentence = match differ {
        Some((module, library)) => {
            format!("the driver's libraries are {library}, but the kernel still runs its module {module}: the driver was updated and the machine not restarted")
        }
        None => "the driver's libraries and its kernel module are of two versions: it was updated and the machine not restarted".to_owned(),
    };
    let mut found = finding(Severity::Problem, "driver-library-mismatch", sentence);
    for source in [driver.module.source(), driver.library.source()].into_iter().flatten() {
        found = found.seen(source.to_owned());
    }
    if let Some(words) = said {
        found = found.seen(format!("nvidia-smi: {words}"));
    }
    let mend = if machine.platform.container.is_some() {
        "restart this container; where the host was updated, restart the host"
    } else {
        "sudo reboot"
    };
    vec![found.mend(mend).explaining(&["smi-failed", "gpu-none-visible"])]
}

/// A module is loaded whose version cannot be read.
fn unreadable(machine: &Machine) -> Vec<Finding> {
    let Some(module) = machine.driver.module.known() else { return Vec::new() };
    if module.version.is_some() || machine.platform.jetson.is_some() || machine.driver.version().is_some() {
        return Vec::new();
    }
    let source = machine.driver.module.source().unwrap_or_default();
    vec![
        finding(
            Severity::Note,
            "driver-version-unknown",
            "a driver is present, and its version cannot be read: what depends on it was not checked",
        )
        .seen(source.to_owned()),
    ]
}

/// nvidia-smi failed, hung or said what is not understood.
fn answer(machine: &Machine) -> Vec<Finding> {
    match &machine.driver.smi {
        Smi::Silent(seconds) => vec![
            finding(Severity::Problem, "smi-hangs", format!("nvidia-smi gave no answer in {seconds} s: the driver hangs, and CUDA programs most likely do, too"))
                .mend("sudo dmesg | grep -i -e nvrm -e xid   (what the driver last said)")
                .mend("restart the machine; where it comes back, the GPU or its power may be at fault")
                .explaining(&["gpu-none-visible"]),
        ],
        Smi::Failed(words) if !words.contains("No devices were found") => {
            let severity = if machine.driver.module.known().is_some() { Severity::Problem } else { Severity::Warning };
            let old = older_than_the_driver_runs(machine);
            let found = finding(severity, "smi-failed", "nvidia-smi is here and cannot reach the driver").seen(format!("nvidia-smi: {words}"));
            vec![match old {
                Some(place) => found
                    .seen(format!("the GPU {place} is older than Turing, which drivers from 590 on no longer run"))
                    .mend("install the driver's branch 580, the last for Maxwell, Pascal and Volta"),
                None => found.mend("sudo dmesg | grep -i nvrm   (what the driver said)").mend(how_to_install(machine)),
            }]
        }
        Smi::Said { odd: Some(line), cuda: None, .. } => vec![
            finding(Severity::Note, "smi-not-understood", "a line of nvidia-smi was not understood, so the CUDA release of the driver comes from a table")
                .seen(format!("nvidia-smi: {line}")),
        ],
        _ => Vec::new(),
    }
}

/// The first device number of Turing; those below are Volta and older. Source: the list of the open kernel modules.
const FIRST_TURING: u16 = 0x1e00;

fn older_than_the_driver_runs(machine: &Machine) -> Option<&str> {
    let branch: u32 = machine.driver.version()?.split('.').next()?.parse().ok()?;
    let old = machine.driver.on_bus.iter().find(|at| (1..FIRST_TURING).contains(&at.device))?;
    (branch >= 590).then_some(old.place.as_str())
}

/// The driver answers and has no CUDA to speak of: libcuda is not to be seen.
fn without_libcuda(machine: &Machine) -> Vec<Finding> {
    let Smi::Said { driver: Some(version), cuda: None, odd: None, .. } = &machine.driver.smi else {
        return Vec::new();
    };
    if branches::is_before_the_table(version) {
        let sentence =
            format!("driver {version} is older than CUDA 10.0 and runs nothing that a newer toolkit makes");
        return vec![
            finding(Severity::Note, "driver-before-cuda-10", sentence)
                .seen("drivers before 410 print no CUDA version; this comes from NVIDIA's table")
                .mend(how_to_install(machine)),
        ];
    }
    let Some(reach) = branches::reach(version) else { return Vec::new() };
    if machine.platform.container.is_none() {
        return Vec::new();
    }
    let sentence = format!(
        "driver {version} is there, but its library libcuda is not visible in this container: CUDA programs cannot run"
    );
    let found = finding(Severity::Problem, "container-without-libcuda", sentence)
        .seen(format!("nvidia-smi prints no CUDA version; by its table the driver is for CUDA {reach}"));
    let found = match machine.vars.get("NVIDIA_DRIVER_CAPABILITIES") {
        Some(value) => found.seen(format!("NVIDIA_DRIVER_CAPABILITIES={}", value.to_string_lossy())),
        None => found,
    };
    vec![
        found
            .mend("start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility")
            .mend("install nvidia-container-toolkit on the host and start it with --gpus all")
            .explaining(&["libcuda-missing"]),
    ]
}

/// The driver runs and its device files are not all there.
fn devices(machine: &Machine) -> Vec<Finding> {
    let driver = &machine.driver;
    let loaded =
        driver.module.known().is_some() && !machine.platform.wsl && machine.platform.jetson.is_none();
    if !loaded || driver.devices.is_empty() || driver.devices.iter().any(|name| name == "nvidia-uvm") {
        return Vec::new();
    }
    if !driver.devices.iter().any(|name| name == "nvidiactl") {
        return Vec::new();
    }
    let found = finding(
        Severity::Warning,
        "device-uvm-missing",
        "/dev/nvidia-uvm is missing: CUDA programs may fail with `unknown error` or find no device until it is there",
    )
    .seen(format!("/dev has {}", driver.devices.join(", ")));
    vec![if machine.platform.container.is_some() {
        found.mend("start the container with --gpus all, or with --device /dev/nvidia-uvm besides the others")
    } else {
        found.mend("sudo nvidia-modprobe -u -c 0   (or: sudo modprobe nvidia_uvm)")
    }]
}

/// GPUs from Blackwell on are run by the open kernel module only.
fn module_flavour(machine: &Machine) -> Vec<Finding> {
    let closed = machine.driver.module.known().is_some_and(|module| module.open == Some(false));
    let numbers = machine.driver.on_bus.iter().filter_map(|at| crate::compat::gpu::by_number(at.device));
    let Some((name, _)) =
        numbers.clone().find(|(_, c)| crate::compat::gpu::needs_open_module(*c)).filter(|_| closed)
    else {
        return Vec::new();
    };
    vec![
        finding(
            Severity::Problem,
            "driver-open-module-needed",
            format!("{name} is run by the driver's open kernel module only, and the closed one is loaded"),
        )
        .seen(machine.driver.module.source().unwrap_or_default().to_owned())
        .mend("install the driver's -open package (Ubuntu: nvidia-driver-NNN-open), then restart")
        .explaining(&["smi-failed", "gpu-none-visible"]),
    ]
}

#[cfg(test)]
mod tests;
