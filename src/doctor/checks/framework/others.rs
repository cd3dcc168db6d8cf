//! Frameworks beside torch that run on the CPU because a part of them is missing.

use super::finding;
use super::ground::{OLDEST_OF_13, driver_cuda, gpus, short, title, uninstall};
use crate::compat::frameworks::{jax, tensorflow};
use crate::compat::pep440::Pep440;
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::machine::Machine;
use crate::facts::gpu::Gpu;
use crate::facts::python::{Build, Package, Python};
use std::cmp::Ordering;
use std::path::PathBuf;

const PLUGINS: [&str; 2] = ["jax-cuda12-plugin", "jax-cuda13-plugin"];

/// The environment and the first GPU, where both are there.
fn both(machine: &Machine) -> Option<(&Python, &Gpu)> {
    machine.python.as_ref().zip(gpus(machine).first())
}

/// JAX without the plugin that drives NVIDIA's GPUs.
pub fn jax_without_plugin(machine: &Machine) -> Vec<Finding> {
    let Some((python, gpu)) = both(machine) else { return Vec::new() };
    let Some(package) = python.package("jax") else { return Vec::new() };
    // Before 0.4.22 jaxlib itself held CUDA.
    let held = python.package("jaxlib").is_some_and(|p| p.build.cuda().is_some());
    if held || python.any(&PLUGINS).is_some() {
        return Vec::new();
    }
    let major = driver_cuda(machine).map_or(12, |(cuda, _)| cuda.major.clamp(12, 13));
    let old = gpu.capability.is_some_and(|c| c < OLDEST_OF_13);
    let known = jax(&package.version).iter().map(|row| row.cuda).max().unwrap_or(12);
    let major = if old { 12 } else { major.min(known) };
    let sentence =
        format!("jax {} has no plugin for CUDA here: it does not use the {}", package.version, title(gpu));
    let found =
        finding(Severity::Warning, "jax-without-plugin", sentence).seen(package.source.display().to_string());
    vec![found.mend(format!("{} install \"jax[cuda{major}]=={}\"", python.pip, package.version))]
}

/// A plugin of another release than JAX's, or two of them.
pub fn jax_plugins(machine: &Machine) -> Vec<Finding> {
    let Some(python) = &machine.python else { return Vec::new() };
    let found: Vec<&Package> = PLUGINS.iter().filter_map(|name| python.package(name)).collect();
    let mut all = Vec::new();
    if let [old, new] = found.as_slice() {
        let sentence = format!(
            "{} and {} are both installed, and only one of them can drive the GPU",
            old.name, new.name
        );
        let found = finding(Severity::Warning, "jax-two-plugins", sentence);
        let found = found.seen(old.source.display().to_string()).seen(new.source.display().to_string());
        let other = |name: &str| name.replace("plugin", "pjrt");
        all.push(found.mend(format!("{} {} {}", uninstall(python), old.name, other(&old.name))));
    }
    let Some(jaxlib) = python.package("jaxlib") else { return all };
    let Some(version) = Pep440::parse(&jaxlib.version) else { return all };
    for plugin in found {
        let own = Pep440::parse(&plugin.version);
        if own.is_none_or(|own| own.compare(&version, 3) == Ordering::Equal) {
            continue;
        }
        let sentence = format!(
            "{} {} does not go with jaxlib {}: JAX leaves it out and uses the CPU",
            plugin.name, plugin.version, jaxlib.version
        );
        let found = finding(Severity::Problem, "jax-plugin-mismatch", sentence)
            .seen(plugin.source.display().to_string())
            .seen(jaxlib.source.display().to_string());
        let major = plugin.build.cuda().map_or(12, |v| v.major);
        all.push(found.mend(format!(
            "{} install --upgrade \"jax[cuda{major}]=={}\"",
            python.pip,
            version.plain()
        )));
    }
    all
}

/// TensorFlow for CUDA without cuDNN anywhere: it says `Cannot dlopen some GPU libraries` and uses the CPU.
pub fn tensorflow_without_cuda(machine: &Machine) -> Vec<Finding> {
    let Some((python, gpu)) = both(machine) else { return Vec::new() };
    let Some(package) = python.any(&["tensorflow", "tf-nightly"]) else { return Vec::new() };
    let known = tensorflow(&package.version);
    let major =
        package.cudnn.as_deref().or(known.map(|row| row.cudnn.as_str())).and_then(|v| v.split('.').next());
    let (Some(major), Some(cuda)) = (major, package.build.cuda().or(known.map(|row| row.cuda))) else {
        return Vec::new();
    };
    let soname = format!("libcudnn.so.{major}");
    // Where the loader's cache was not read, it is not known what lies there.
    if machine.loader.cache.is_empty() || is_found(machine, python, &soname) {
        return Vec::new();
    }
    let sentence = format!(
        "tensorflow {} finds no {soname} here, so that it does not use the {}",
        package.version,
        title(gpu)
    );
    let found = finding(Severity::Problem, "tensorflow-without-cuda", sentence)
        .seen(package.source.display().to_string())
        .seen("neither in the environment nor in LD_LIBRARY_PATH nor in /etc/ld.so.cache");
    let extra = known.is_none_or(|row| row.extra);
    vec![if extra {
        found.mend(format!("{} install \"{}[and-cuda]=={}\"", python.pip, package.name, package.version))
    } else {
        let cuda = short(cuda);
        found.mend(format!("cudaup install {cuda} --with cudnn={major} && cudaup use {cuda}"))
    }]
}

/// Whether a library is found under a name, by what is known of the environment and the loader.
pub fn is_found(machine: &Machine, python: &Python, soname: &str) -> bool {
    let folders = machine.libraries.ahead.iter().chain(&machine.libraries.beside);
    python.bundles(soname).is_some()
        || machine.loader.cache.iter().any(|library| library.soname == soname)
        || folders.flat_map(|folder| &folder.libraries).any(|library| library.soname == soname)
}

/// `onnxruntime` beside `onnxruntime-gpu`: both are the directory `onnxruntime`, and the later one has overwritten the other.
pub fn onnxruntime_twice(machine: &Machine) -> Vec<Finding> {
    let Some((python, _)) = both(machine) else { return Vec::new() };
    let Some((gpu, cpu)) = python.package("onnxruntime-gpu").zip(python.package("onnxruntime")) else {
        return Vec::new();
    };
    let sentence = "onnxruntime and onnxruntime-gpu are both installed and overwrite each other; often only the CPU is left";
    let found = finding(Severity::Warning, "onnxruntime-twice", sentence)
        .seen(gpu.source.display().to_string())
        .seen(cpu.source.display().to_string());
    vec![found.mend(format!(
        "{} onnxruntime onnxruntime-gpu && {} install onnxruntime-gpu=={}",
        uninstall(python),
        python.pip,
        gpu.version
    ))]
}

/// llama.cpp that was configured without its CUDA backend, as it is where nobody asks for one.
pub fn llama_cpp_build(machine: &Machine) -> Vec<Finding> {
    let Some(gpu) = gpus(machine).first() else { return Vec::new() };
    let of = |directory: &PathBuf| {
        let path = directory.display();
        let sentence =
            format!("llama.cpp in {path} is configured without CUDA: it does not use the {}", title(gpu));
        let quoted = directory.to_string_lossy();
        let quoted = shell_words::quote(&quoted);
        finding(Severity::Warning, "llama-cpp-without-cuda", sentence)
            .seen(format!("{path}/CMakeCache.txt: GGML_CUDA is off"))
            .mend(format!("cmake {quoted} -DGGML_CUDA=ON && cmake --build {quoted} -j"))
    };
    machine.libraries.llama_cpp.iter().map(of).collect()
}

/// llama-cpp-python that was compiled without its CUDA backend, as it is where nobody asks for one.
pub fn llama_cpp_cpu(machine: &Machine) -> Vec<Finding> {
    let Some((python, gpu)) = both(machine) else { return Vec::new() };
    let Some(package) = python.package("llama-cpp-python").filter(|p| p.build == Build::Cpu) else {
        return Vec::new();
    };
    let sentence = format!(
        "llama-cpp-python {} was compiled without CUDA: it does not use the {}",
        package.version,
        title(gpu)
    );
    let found = finding(Severity::Warning, "llama-cpp-without-cuda", sentence)
        .seen(format!("{}: there is no libggml-cuda.so", package.source.display()));
    vec![found.mend(format!(
        "CMAKE_ARGS=-DGGML_CUDA=on {} install --force-reinstall --no-cache-dir --no-deps llama-cpp-python",
        python.pip
    ))]
}

/// vLLM that was compiled for the CPU.
pub fn vllm_cpu(machine: &Machine) -> Vec<Finding> {
    let Some((python, gpu)) = both(machine) else { return Vec::new() };
    let Some(package) = python.package("vllm").filter(|p| p.build == Build::Cpu) else { return Vec::new() };
    let sentence =
        format!("vllm {} was built for the CPU: it does not use the {}", package.version, title(gpu));
    let found =
        finding(Severity::Warning, "vllm-cpu-only", sentence).seen(package.source.display().to_string());
    let version = Pep440::parse(&package.version).map(|v| format!("=={}", v.plain())).unwrap_or_default();
    vec![found.mend(format!("{} install --force-reinstall \"vllm{version}\"", python.pip))]
}
