//! GPUs that programs see, do not see, or find full.

use super::*;
use crate::compat::arch::Capability;
use crate::facts::driver::{Module, OnBus};
use crate::facts::gpu::Process;

const MIB: u64 = 1024 * 1024;

fn machine(gpus: usize) -> Machine {
    let mut machine = Machine::with_toolkit("13.0.2");
    machine.driver.module =
        Fact::Known(Module { version: Some("580.95.05".into()), open: Some(true) }, String::new());
    machine.driver.smi = Smi::Said { program: None, driver: Some("580.95.05".into()), cuda: None, odd: None };
    let place = |n: usize| format!("0000:0{n}:00.0");
    machine.driver.on_bus = (0..gpus)
        .map(|n| OnBus { place: place(n), device: 0x2335, held_by: Some("nvidia".into()) })
        .collect();
    let gpu = |n: usize| Gpu {
        index: u32::try_from(n).unwrap(),
        name: "H200".into(),
        capability: Capability::parse("9.0"),
        bus: Some(place(n)),
        memory: Some(100 * MIB),
        used: Some(0),
        ..Gpu::default()
    };
    machine.gpus = Fact::Known((0..gpus).map(gpu).collect(), "nvidia-smi".into());
    machine
}

fn gpus(machine: &mut Machine) -> &mut Vec<Gpu> {
    match &mut machine.gpus {
        Fact::Known(gpus, _) => gpus,
        _ => panic!("no GPUs"),
    }
}

fn codes(machine: &Machine) -> Vec<(&'static str, Severity)> {
    check(machine).into_iter().map(|found| (found.code, found.severity)).collect()
}

#[test]
fn healthy_machines_have_no_finding() {
    assert_eq!(codes(&machine(2)), []);
    assert_eq!(codes(&Machine::bare()), []);
}

#[test]
fn no_gpu_is_visible() {
    let mut none = machine(0);
    none.driver.smi = Smi::Failed("No devices were found".into());
    none.gpus = Fact::Unknown(String::new());
    assert_eq!(codes(&none), [("gpu-none-visible", Severity::Problem)]);
    assert_eq!(codes(&machine(0)), [("gpu-none-shown", Severity::Note)]);
}

#[test]
fn visible_devices() {
    for (value, expected) in [
        ("", Some(("gpu-hidden", Severity::Problem))),
        ("-1", Some(("gpu-hidden", Severity::Problem))),
        ("5", Some(("gpu-hidden", Severity::Problem))),
        ("NoDevFiles", Some(("gpu-hidden", Severity::Problem))),
        ("0,7,1", Some(("gpu-hidden-in-part", Severity::Warning))),
        ("1", Some(("gpu-hidden-in-part", Severity::Note))),
        ("0, 1", None),
        ("GPU-1234", None),
    ] {
        let mut machine = machine(2);
        machine.vars.put("CUDA_VISIBLE_DEVICES", Some(value.into()));
        assert_eq!(codes(&machine), expected.into_iter().collect::<Vec<_>>(), "{value:?}");
    }
    let mut without = Machine::bare();
    without.vars.put("CUDA_VISIBLE_DEVICES", Some("".into()));
    assert_eq!(codes(&without), []);
}

#[test]
fn one_of_several_does_not_work() {
    let mut machine = machine(2);
    gpus(&mut machine).pop();
    let found = check(&machine);
    assert_eq!(found[0].code, "gpu-not-started");
    assert!(
        found[0].sentence.contains("1 of 2") && found[0].sentence.contains("0000:01:00.0"),
        "{}",
        found[0].sentence
    );
    machine.platform.container = Some("docker".into());
    assert_eq!(codes(&machine), []);
}

#[test]
fn old_unknown_and_cut_gpus() {
    let mut volta = machine(1);
    gpus(&mut volta)[0].capability = Capability::parse("7.0");
    assert_eq!(codes(&volta), []);
    volta.driver.module =
        Fact::Known(Module { version: Some("590.48.01".into()), open: Some(true) }, String::new());
    assert_eq!(codes(&volta), [("gpu-dropped-by-driver", Severity::Problem)]);
    let mut odd = machine(1);
    gpus(&mut odd)[0].capability = None;
    assert_eq!(codes(&odd), [("gpu-not-known", Severity::Note)]);
    let mut cut = machine(1);
    gpus(&mut cut)[0].mig = true;
    assert_eq!(codes(&cut), [("gpu-mig", Severity::Note)]);
}

#[test]
fn memory_that_others_hold() {
    let mut machine = machine(2);
    let gpu = &mut gpus(&mut machine)[1];
    gpu.used = Some(95 * MIB);
    gpu.processes = vec![
        Process { pid: 7, name: "small".into(), memory: Some(MIB) },
        Process { pid: 8, name: "python3".into(), memory: Some(94 * MIB) },
    ];
    let found = check(&machine);
    assert_eq!((found.len(), found[0].code, found[0].severity), (1, "gpu-memory-taken", Severity::Warning));
    assert_eq!(found[0].evidence[0], "process 8 python3 holds 94 MiB");
}
