//! The GPUs of the machine.

pub mod process;

use super::Fact;
use super::driver::{OnBus, Smi};
use crate::compat::arch::Capability;
use crate::compat::gpu;

/// One GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// Its number, as nvidia-smi counts.
    pub index: u32,
    /// Its name without `NVIDIA `; empty where only its place on the bus is known.
    pub name: String,
    /// Its compute capability, as asked for or by its name or PCI number in the tables.
    pub capability: Option<Capability>,
    /// Its place on the bus, such as `0000:00:06.0`.
    pub bus: Option<String>,
    /// Its memory in bytes.
    pub memory: Option<u64>,
    /// How much of that is taken, in bytes.
    pub used: Option<u64>,
    /// How busy it is, in percent.
    pub busy: Option<u32>,
    /// Whether it is cut into MIG instances.
    pub mig: bool,
    /// What runs on it.
    pub processes: Vec<Process>,
}

/// A process on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its program, as nvidia-smi names it.
    pub name: String,
    /// The GPU memory that it holds, in bytes.
    pub memory: Option<u64>,
}

/// The GPUs that nvidia-smi showed, with what the tables know of their names and the bus of their numbers; without an answer
/// of nvidia-smi those on the bus.
pub fn look(smi: &Smi, shown: Vec<Gpu>, on_bus: &[OnBus]) -> Fact<Vec<Gpu>> {
    match smi {
        Smi::Said { .. } => {
            Fact::Known(shown.into_iter().map(|gpu| named(gpu, on_bus)).collect(), "nvidia-smi".to_owned())
        }
        _ if !on_bus.is_empty() => {
            let numbered = (0..).zip(on_bus);
            Fact::Known(
                numbered.map(|(index, at)| of_bus(index, at)).collect(),
                "/sys/bus/pci/devices".to_owned(),
            )
        }
        Smi::Absent => Fact::Absent,
        Smi::Failed(words) => Fact::Unknown(format!("nvidia-smi failed: {words}")),
        Smi::Silent(seconds) => Fact::Unknown(format!("nvidia-smi gave no answer in {seconds} s")),
    }
}

fn named(shown: Gpu, on_bus: &[OnBus]) -> Gpu {
    let place = on_bus.iter().find(|at| Some(&at.place) == shown.bus.as_ref());
    let by_number = || place.and_then(|at| gpu::by_number(at.device)).map(|(_, capability)| capability);
    Gpu { capability: shown.capability.or_else(by_number).or_else(|| gpu::by_name(&shown.name)), ..shown }
}

fn of_bus(index: u32, at: &OnBus) -> Gpu {
    let known = gpu::by_number(at.device);
    Gpu {
        index,
        name: known.map(|(name, _)| name.to_owned()).unwrap_or_default(),
        capability: known.map(|(_, capability)| capability),
        bus: Some(at.place.clone()),
        ..Gpu::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: Smi = Smi::Said { program: None, driver: None, cuda: None, odd: None };

    #[test]
    fn capabilities_by_answer_number_and_name() {
        let on_bus = [OnBus { place: "0000:00:06.0".into(), device: 0x2335, held_by: None }];
        let gpu = |name: &str, bus: Option<&str>, capability: Option<&str>| Gpu {
            name: name.into(),
            bus: bus.map(str::to_owned),
            capability: capability.and_then(Capability::parse),
            ..Gpu::default()
        };
        let shown = vec![
            gpu("H200", Some("0000:00:06.0"), None),
            gpu("GeForce RTX 5090", None, None),
            gpu("Odd", None, Some("9.9")),
            gpu("Odd", None, None),
        ];
        let found = look(&SAID, shown, &on_bus);
        let numbers: Vec<_> =
            found.known().unwrap().iter().map(|g| g.capability.map(Capability::number)).collect();
        assert_eq!(numbers, [Some(90), Some(120), Some(99), None]);
        assert_eq!(found.source(), Some("nvidia-smi"));
    }

    #[test]
    fn without_an_answer_the_bus_tells() {
        let on_bus = [OnBus { place: "0000:01:00.0".into(), device: 0x2335, held_by: None }];
        let found = look(&Smi::Absent, Vec::new(), &on_bus);
        assert!(
            found.known().is_some_and(|gpus| gpus.len() == 1 && gpus[0].name.contains("H200")),
            "{found:?}"
        );
        assert_eq!(look(&Smi::Absent, Vec::new(), &[]), Fact::Absent);
        assert_eq!(
            look(&Smi::Silent(10), Vec::new(), &[]),
            Fact::Unknown("nvidia-smi gave no answer in 10 s".into())
        );
        assert_eq!(look(&SAID, Vec::new(), &on_bus).known().map(Vec::len), Some(0));
    }
}
