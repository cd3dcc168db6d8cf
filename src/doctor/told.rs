//! The facts of a machine as JSON: what is known, and where it was read.

use crate::doctor::machine::Machine;
use crate::facts::Fact;
use crate::facts::driver::Smi;
use crate::facts::gpu::Gpu;
use crate::facts::python::{Build, Package};
use serde_json::{Value, json};

/// All facts.
pub fn json(machine: &Machine) -> Value {
    json!({
        "platform": platform(machine),
        "driver": driver(machine),
        "gpus": machine.gpus.known().map(|gpus| gpus.iter().map(gpu).collect::<Vec<_>>()),
        "toolkit": toolkit(machine),
        "nvcc": machine.toolkits.nvcc.iter().map(|nvcc| json!({
            "path": nvcc.path.to_string_lossy(),
            "version": nvcc.identity.as_ref().map(ToString::to_string),
        })).collect::<Vec<_>>(),
        "compiler": machine.compiler.taken.as_ref().map(|compiler| json!({
            "name": compiler.name,
            "version": compiler.version,
            "path": compiler.path.to_string_lossy(),
            "by": machine.compiler.by,
        })),
        "python": machine.python.as_ref().map(|python| json!({
            "root": python.root.to_string_lossy(),
            "by": python.how,
            "version": python.version.map(|(major, minor)| format!("{major}.{minor}")),
            "packages": python.packages.iter().map(package).collect::<Vec<_>>(),
        })),
    })
}

/// All facts as lines of a name and a value, such as `driver.version` and `580.95.05`; what is not known is left out.
pub fn lines(machine: &Machine) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    flatten("", &json(machine), &mut lines);
    lines
}

fn flatten(name: &str, value: &Value, lines: &mut Vec<(String, String)>) {
    let below = |part: &str| if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
    match value {
        Value::Null => {}
        Value::Object(fields) => match (fields.get("name"), fields.get("version")) {
            // A package is one line.
            (Some(Value::String(package)), Some(version)) if name.contains("packages") => {
                let build = fields
                    .get("cuda")
                    .and_then(Value::as_str)
                    .map_or_else(String::new, |cuda| format!(" (CUDA {cuda})"));
                let version = version.as_str().unwrap_or_default();
                lines.push((format!("python.{package}"), format!("{version}{build}")));
            }
            _ => fields.iter().for_each(|(part, value)| flatten(&below(part), value, lines)),
        },
        Value::Array(all) => {
            for (n, value) in all.iter().enumerate() {
                flatten(&below(&n.to_string()), value, lines);
            }
        }
        Value::String(text) => lines.push((name.to_owned(), text.clone())),
        other => lines.push((name.to_owned(), other.to_string())),
    }
}

/// A fact's value, or `null` with the reason beside it.
fn of<T: ToString>(fact: &Fact<T>) -> Value {
    match fact {
        Fact::Known(value, source) => json!({ "value": value.to_string(), "source": source }),
        Fact::Absent => Value::Null,
        Fact::Unknown(why) => json!({ "value": null, "unknown": why }),
    }
}

fn platform(machine: &Machine) -> Value {
    let platform = &machine.platform;
    json!({
        "machine": platform.machine,
        "kernel": of(&platform.kernel),
        "distribution": of(&platform.distribution),
        "glibc": platform.glibc.known().map(|(major, minor)| format!("{major}.{minor}")),
        "wsl": platform.wsl,
        "jetson": platform.jetson,
        "container": platform.container,
        "secure_boot": platform.secure_boot.known(),
    })
}

fn driver(machine: &Machine) -> Value {
    let driver = &machine.driver;
    let version = driver.version();
    let derived = version.and_then(crate::compat::driver::reach).filter(|_| driver.said_cuda().is_none());
    json!({
        "version": version,
        "cuda": driver.said_cuda().or(derived).map(|cuda| cuda.to_string()),
        "cuda_derived": derived.is_some(),
        "open": driver.module.known().and_then(|module| module.open),
        "present": driver.is_there(),
        "module": driver.module.known().and_then(|module| module.version.clone()),
        "library": of(&driver.library),
        "nvidia_smi": match &driver.smi {
            Smi::Absent => Value::Null,
            Smi::Said { program, .. } => json!({ "program": program }),
            Smi::Failed(words) => json!({ "failed": words }),
            Smi::Silent(seconds) => json!({ "silent_s": seconds }),
        },
    })
}

fn gpu(gpu: &Gpu) -> Value {
    json!({
        "index": gpu.index,
        "name": gpu.name,
        "compute_capability": gpu.capability.map(|c| c.to_string()),
        "memory_bytes": gpu.memory,
        "used_bytes": gpu.used,
    })
}

fn toolkit(machine: &Machine) -> Value {
    match &machine.toolkits.chosen {
        Ok(Some(choice)) => json!({
            "version": choice.toolkit.identity.to_string(),
            "root": choice.toolkit.root.to_string_lossy(),
            "kind": choice.toolkit.kind.word(),
            "rule": choice.rule.word(),
        }),
        Ok(None) => Value::Null,
        Err(refusal) => json!({ "refused": refusal.to_string() }),
    }
}

fn package(package: &Package) -> Value {
    json!({
        "name": package.name,
        "version": package.version,
        "cuda": match &package.build {
            Build::Cuda(cuda) => Some(cuda.to_string()),
            Build::Cpu | Build::Rocm(_) | Build::Unknown => None,
        },
        "build": match &package.build {
            Build::Cuda(_) => "cuda",
            Build::Cpu => "cpu",
            Build::Rocm(_) => "rocm",
            Build::Unknown => "unknown",
        },
        "architectures": package.architectures.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
