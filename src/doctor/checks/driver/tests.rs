//! Drivers that are whole, missing, half updated or too old.

use super::*;
use crate::facts::Fact;
use crate::facts::driver::{Module, OnBus};
use cudaup_core::version::Version;

fn codes(machine: &Machine) -> Vec<(&'static str, Severity)> {
    check(machine).into_iter().map(|found| (found.code, found.severity)).collect()
}

fn said(driver: &str, cuda: &str) -> Smi {
    Smi::Said {
        program: Some(driver.into()),
        driver: Some(driver.into()),
        cuda: Version::parse(cuda),
        odd: None,
    }
}

fn known<T>(value: T) -> Fact<T> {
    Fact::Known(value, "a file".into())
}

/// A machine with an H200, driver 580 and a toolkit.
fn healthy(toolkit: &str) -> Machine {
    let mut machine = Machine::with_toolkit(toolkit);
    machine.driver.module = known(Module { version: Some("580.159.04".into()), open: Some(true) });
    machine.driver.library = known("580.159.04".into());
    machine.driver.smi = said("580.159.04", "13.0");
    machine.driver.devices = ["nvidia0", "nvidiactl", "nvidia-uvm"].map(String::from).to_vec();
    machine.driver.on_bus =
        vec![OnBus { place: "0000:00:06.0".into(), device: 0x2335, held_by: Some("nvidia".into()) }];
    machine
}

fn with_gpu_and_no_driver() -> Machine {
    let mut machine = healthy("13.0.2");
    machine.driver = crate::facts::driver::Driver { on_bus: machine.driver.on_bus, ..Default::default() };
    machine.driver.on_bus[0].held_by = None;
    machine.platform.kernel = known("6.8.0-45-generic".into());
    machine
}

#[test]
fn healthy_machines_have_no_problem() {
    assert_eq!(codes(&healthy("13.0.2")), []);
    assert_eq!(codes(&healthy("12.4.1")), [("smi-nvcc-differ", Severity::Note)]);
    assert_eq!(codes(&healthy("13.5.0")), [("driver-without-ptx", Severity::Note)]);
    assert_eq!(codes(&Machine::bare()), [("no-gpu", Severity::Note)]);
    let mut container = Machine::bare();
    container.platform.container = Some("docker".into());
    assert_eq!(codes(&container), [("container-without-gpu", Severity::Note)]);
}

#[test]
fn why_a_gpu_has_no_driver() {
    let missing = with_gpu_and_no_driver();
    assert_eq!(codes(&missing), [("driver-missing", Severity::Problem)]);
    let mut nouveau = missing.clone();
    nouveau.driver.on_bus[0].held_by = Some("nouveau".into());
    assert_eq!(codes(&nouveau)[0].0, "driver-nouveau");
    let mut handed_on = missing.clone();
    handed_on.driver.on_bus[0].held_by = Some("vfio-pci".into());
    assert_eq!(codes(&handed_on)[0].0, "driver-passed-through");
    let mut old_kernel = missing.clone();
    old_kernel.driver.dkms = vec![("6.8.0-44-generic".into(), "550.90.07".into())];
    let found = check(&old_kernel);
    assert_eq!(found[0].code, "driver-not-built-for-kernel");
    assert!(
        found[0].sentence.contains("6.8.0-45-generic")
            && found[0].evidence.iter().any(|e| e.contains("6.8.0-44-generic"))
    );
    let mut idle = missing.clone();
    idle.driver.built = known("/lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko".into());
    assert_eq!(codes(&idle)[0].0, "driver-not-loaded");
    idle.platform.secure_boot = known(true);
    assert_eq!(codes(&idle)[0].0, "driver-refused-by-secure-boot");
}

#[test]
fn an_update_without_a_restart() {
    let mut updated = healthy("13.0.2");
    updated.driver.library = known("580.173.02".into());
    updated.driver.smi = Smi::Failed(
        "Failed to initialize NVML: Driver/library version mismatch NVML library version: 580.173".into(),
    );
    let found = check(&updated);
    assert_eq!(found[0].code, "driver-library-mismatch");
    assert!(
        found[0].sentence.contains("580.173.02") && found[0].sentence.contains("580.159.04"),
        "{}",
        found[0].sentence
    );
    assert_eq!(found[0].remedy, ["sudo reboot"]);
    assert!(found[0].explains.contains(&"smi-failed"));
    let mut jetson = healthy("12.6.3");
    jetson.platform.jetson = Some("Orin".into());
    jetson.driver.library = known("540.4.0".into());
    assert!(!codes(&jetson).iter().any(|(code, _)| *code == "driver-library-mismatch"));
}

#[test]
fn answers_of_nvidia_smi() {
    let mut machine = healthy("13.0.2");
    machine.driver.smi = Smi::Silent(10);
    assert_eq!(codes(&machine)[0], ("smi-hangs", Severity::Problem));
    machine.driver.smi =
        Smi::Failed("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.".into());
    assert_eq!(codes(&machine)[0], ("smi-failed", Severity::Problem));
    machine.driver.smi = Smi::Failed("No devices were found".into());
    assert_eq!(codes(&machine), []);
    machine.driver.smi = Smi::Said {
        program: None,
        driver: Some("580.159.04".into()),
        cuda: None,
        odd: Some("CUDA Version: soon".into()),
    };
    assert_eq!(codes(&machine), [("smi-not-understood", Severity::Note)]);
    let mut volta = healthy("12.9.1");
    volta.driver.module = known(Module { version: Some("590.48.01".into()), open: Some(true) });
    volta.driver.library = known("590.48.01".into());
    volta.driver.smi = Smi::Failed("couldn't communicate with the NVIDIA driver".into());
    volta.driver.on_bus[0].device = 0x1db1;
    let found = check(&volta);
    assert!(found[0].remedy[0].contains("580"), "{found:?}");
    let mut cut = Machine::bare();
    cut.driver.module = known(Module::default());
    assert_eq!(codes(&cut), [("driver-version-unknown", Severity::Note)]);
}

#[test]
fn containers() {
    let mut machine = healthy("12.4.1");
    machine.platform.container = Some("docker".into());
    machine.driver.smi = Smi::Said { program: None, driver: Some("470.57.02".into()), cuda: None, odd: None };
    machine.driver.module = Fact::Absent;
    machine.driver.library = Fact::Absent;
    machine.toolkits.chosen = Ok(None);
    machine.vars.put("NVIDIA_DRIVER_CAPABILITIES", Some("utility".into()));
    let found = check(&machine);
    assert_eq!(found[0].code, "container-without-libcuda");
    assert!(
        found[0].evidence.iter().any(|e| e.contains("CUDA 11.4"))
            && found[0].evidence.iter().any(|e| e.ends_with("=utility")),
        "{found:?}"
    );
    let mut image = healthy("13.0.2");
    image.platform.image = Some("13.0.2".into());
    assert_eq!(codes(&image), []);
    image.driver.module = known(Module { version: Some("535.183.01".into()), open: Some(false) });
    image.driver.library = known("535.183.01".into());
    image.driver.smi = said("535.183.01", "12.2");
    assert!(codes(&image).contains(&("container-needs-newer-driver", Severity::Problem)));
}

#[test]
fn windows_numbers_are_not_in_the_table() {
    let mut wsl = healthy("12.4.1");
    wsl.platform.wsl = true;
    wsl.driver.module = Fact::Absent;
    wsl.driver.library = Fact::Unknown("libcuda.so.1 names no version".into());
    wsl.driver.devices = vec!["dxg".into()];
    wsl.driver.on_bus.clear();
    wsl.driver.smi = Smi::Said {
        program: Some("530.46".into()),
        driver: Some("531.61".into()),
        cuda: Version::parse("12.1"),
        odd: None,
    };
    assert_eq!(codes(&wsl), [("driver-without-ptx", Severity::Note)]);
    wsl.driver.smi = said("528.33", "12.0");
    assert_eq!(codes(&wsl), [("driver-without-ptx", Severity::Note)]);
    wsl.driver.library = known("550.90.07".into());
    assert_eq!(codes(&wsl)[0], ("wsl-linux-driver", Severity::Problem));
    wsl.driver.library = Fact::Absent;
    wsl.driver.smi = Smi::Absent;
    assert_eq!(codes(&wsl)[0], ("wsl-without-driver", Severity::Warning));
}

#[test]
fn drivers_and_toolkits() {
    let mut machine = healthy("13.0.2");
    let mut at = |version: &str, cuda: &str| {
        machine.driver.module = known(Module { version: Some(version.into()), open: Some(false) });
        machine.driver.library = known(version.into());
        machine.driver.smi = said(version, cuda);
        check(&machine)
    };
    let old = at("535.183.01", "12.2");
    assert_eq!((old[0].code, old[0].severity), ("driver-too-old", Severity::Problem));
    assert_eq!(old[0].remedy[0], "cudaup install 12.2 && cudaup use 12.2");
    assert!(old[0].remedy[1].contains("580"));
    let ancient = at("384.66", "");
    assert!(
        ancient.iter().any(|f| f.code == "driver-before-cuda-10")
            && ancient.iter().any(|f| f.code == "driver-too-old"),
        "{ancient:?}"
    );
}

#[test]
fn device_files_and_module_flavours() {
    let mut machine = healthy("13.0.2");
    machine.driver.devices.retain(|name| name != "nvidia-uvm");
    assert_eq!(codes(&machine), [("device-uvm-missing", Severity::Warning)]);
    let mut blackwell = healthy("13.0.2");
    blackwell.driver.on_bus[0].device = 0x2b85;
    assert_eq!(codes(&blackwell), []);
    blackwell.driver.module = known(Module { version: Some("580.159.04".into()), open: Some(false) });
    assert_eq!(codes(&blackwell), [("driver-open-module-needed", Severity::Problem)]);
}
