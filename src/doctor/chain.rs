//! The chain in one line: each layer with its version, and whether it fits what it stands on.

use super::diagnose::Diagnosis;
use super::finding::{Layer, Severity};
use super::machine::Machine;
use crate::facts::python::{Build, Package};

/// The frameworks that are shown, the first that is there.
const FRAMEWORKS: [&str; 5] = ["torch", "tensorflow", "jax", "onnxruntime-gpu", "cupy"];

/// The line, such as `driver 580.159 (CUDA 13.0) ok > H200 sm_90 ok > toolkit 13.0.2 ok > g++ 13.3 ok > torch 2.11.0 ok`.
pub fn line(machine: &Machine, diagnosis: &Diagnosis) -> String {
    let links = [
        (driver(machine), vec![Layer::Driver]),
        (gpu(machine), vec![Layer::Gpu]),
        (toolkit(machine), vec![Layer::Toolkit, Layer::Environment]),
        (compiler(machine), vec![Layer::Compiler]),
        (framework(machine), vec![Layer::Framework, Layer::Libraries]),
    ];
    let marked = links.into_iter().filter_map(|(text, layers)| {
        let worst = layers.iter().filter_map(|layer| diagnosis.worst(*layer)).max();
        Some(match (text, worst) {
            (None, Some(Severity::Problem)) => format!("{} X", layers.first()?.word()),
            (None, _) => return None,
            (Some((text, there)), worst) => match worst {
                Some(Severity::Problem) => format!("{text} X"),
                Some(Severity::Warning) => format!("{text} *"),
                _ if there => format!("{text} ok"),
                _ => text,
            },
        })
    });
    marked.collect::<Vec<_>>().join(" > ")
}

/// What a link says, and whether it is there to be judged.
type Link = Option<(String, bool)>;

fn driver(machine: &Machine) -> Link {
    let Some(version) = machine.driver.version() else {
        let there = machine.driver.is_there();
        return Some((if there { "driver of an unknown version" } else { "no driver" }.to_owned(), false));
    };
    let reach = machine.driver.said_cuda().or_else(|| crate::compat::driver::reach(version));
    let reach = reach.map_or_else(String::new, |cuda| format!(" (CUDA {cuda})"));
    Some((format!("driver {version}{reach}"), true))
}

fn gpu(machine: &Machine) -> Link {
    let gpus = machine.gpus.known()?;
    let first = gpus.first()?;
    let name = if first.name.is_empty() { "GPU" } else { &first.name };
    let capability = first.capability.map_or_else(String::new, |c| format!(" sm_{}", c.number()));
    let alike = gpus.iter().filter(|gpu| gpu.name == first.name).count();
    let times = if alike > 1 { format!("{alike} x ") } else { String::new() };
    let others = gpus.len() - alike;
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    Some((format!("{times}{name}{capability}{others}"), first.capability.is_some()))
}

fn toolkit(machine: &Machine) -> Link {
    // What is asked for cannot be had: whatever else typing nvcc runs is no link of this chain.
    machine.toolkits.chosen.as_ref().ok()?;
    Some(match (machine.choice(), machine.toolkits.nvcc.first()) {
        (Some(choice), _) => (format!("toolkit {}", choice.toolkit.identity), true),
        (None, Some(nvcc)) => match &nvcc.identity {
            Some(identity) => (format!("toolkit {identity}"), true),
            None => ("toolkit of an unknown release".to_owned(), false),
        },
        (None, None) => ("no toolkit".to_owned(), false),
    })
}

fn compiler(machine: &Machine) -> Link {
    let taken = machine.compiler.taken.as_ref()?;
    let program =
        taken.path.file_name().map_or_else(|| taken.name.clone().into(), |name| name.to_string_lossy());
    Some((format!("{program} {}", taken.version), machine.compiler.limits.is_some()))
}

fn framework(machine: &Machine) -> Link {
    let python = machine.python.as_ref()?;
    let package = FRAMEWORKS.iter().find_map(|name| python.package(name))?;
    Some((title(package), true))
}

/// `torch 2.5.1+cu124`, with the CUDA release where the version does not say it.
fn title(package: &Package) -> String {
    let Package { name, version, .. } = package;
    match &package.build {
        Build::Cuda(cuda) if !version.contains("+cu") => format!("{name} {version} (CUDA {cuda})"),
        Build::Cpu if !version.contains("+cpu") => format!("{name} {version} (CPU only)"),
        _ => format!("{name} {version}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::arch::Capability;
    use crate::doctor::diagnose::{diagnose, order};
    use crate::doctor::finding::Finding;
    use crate::facts::Fact;
    use crate::facts::driver::{Module, Smi};
    use crate::facts::gpu::Gpu;
    use crate::facts::python::Python;
    use cudaup_core::version::Version;

    #[test]
    fn a_machine_with_everything() {
        let mut machine = Machine::with_toolkit("13.0.2");
        machine.driver.module =
            Fact::Known(Module { version: Some("580.159.04".into()), open: Some(true) }, String::new());
        let cuda = Version::parse("13.0");
        machine.driver.smi = Smi::Said { program: None, driver: Some("580.159.04".into()), cuda, odd: None };
        let gpu = Gpu { name: "H200".into(), capability: Capability::parse("9.0"), ..Gpu::default() };
        machine.gpus = Fact::Known(vec![gpu.clone(), Gpu { index: 1, ..gpu }], "nvidia-smi".into());
        let torch = Package {
            name: "torch".into(),
            version: "2.11.0".into(),
            build: Build::Cuda(Version::release(13, 0)),
            ..Package::default()
        };
        machine.python = Some(Python { packages: vec![torch], ..Python::default() });
        let nothing = order(&[], &[]);
        assert_eq!(
            line(&machine, &nothing),
            "driver 580.159.04 (CUDA 13.0) ok > 2 x H200 sm_90 ok > toolkit 13.0.2 ok > gcc 12.2.0 ok > torch 2.11.0 (CUDA 13.0) ok"
        );
        let found = vec![
            Finding::new(Severity::Problem, Layer::Environment, "a", "a"),
            Finding::new(Severity::Warning, Layer::Libraries, "b", "b"),
        ];
        let text = line(&machine, &order(&found, &[]));
        assert!(
            text.contains("toolkit 13.0.2 X > gcc") && text.ends_with("torch 2.11.0 (CUDA 13.0) *"),
            "{text}"
        );
    }

    #[test]
    fn a_machine_with_nothing() {
        let machine = Machine::bare();
        assert_eq!(line(&machine, &diagnose(&machine, &[])), "no driver > no toolkit");
    }
}
