//! Checks of cuDNN, NCCL and of what the loader finds for a framework.

#[cfg(test)]
mod tests;

use crate::compat::addons::last;
use crate::compat::cudnn::{Release, is_made_for, release};
use crate::compat::frameworks::tensorflow;
use crate::compat::pep440::Pep440;
use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::Machine;
use crate::facts::cudnn::Place;
use crate::facts::driver::Smi;
use crate::facts::python::{Package, Python, Requirement, Search};
use cudaup_core::addon::Number;
use cudaup_core::identity::Tree;
use std::path::Path;

/// All checks of this layer.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 8] =
        [copied, headers, other_cuda, other_cudnn, gpu_too_old, libcuda_missing, libcudart_missing, shadowed];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Libraries, code, sentence)
}

fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// Copies where links are to be: the next update leaves them behind. What Windows mounts into WSL2 looks so, too, and is no
/// library that is looked at here.
fn copied(machine: &Machine) -> Vec<Finding> {
    let mut all = Vec::new();
    for copy in machine.libraries.installed.iter().filter(|copy| !copy.copied.is_empty()) {
        let name = copy.kind.shown;
        let sentence =
            format!("files of {name} are copies where links belong, and stay old when {name} is updated");
        let mut found = finding(Severity::Warning, "library-copied", sentence);
        for path in &copy.copied {
            found = found.seen(format!("{} is a file of its own", path.display()));
            let own = |(number, file): &&(Number, std::path::PathBuf)| {
                let named = path.extension().and_then(|e| e.to_str()).and_then(Number::parse);
                file.parent() == path.parent() && named.is_none_or(|n| n.accepts(number))
            };
            let target = copy.libraries.iter().rev().find(own).and_then(|(_, file)| file.file_name());
            if let Some(target) = target {
                found = found.mend(format!("ln -sf {} {}", quoted(Path::new(target)), quoted(path)));
            }
        }
        all.push(found);
    }
    all
}

/// Headers of one release beside libraries of another.
fn headers(machine: &Machine) -> Vec<Finding> {
    let mut all = Vec::new();
    for copy in &machine.libraries.installed {
        let Some(((header, file), (newest, library))) = copy.header.as_ref().zip(copy.libraries.last())
        else {
            continue;
        };
        if copy.libraries.iter().any(|(number, _)| number.first(2) == header.first(2)) {
            continue;
        }
        let name = copy.kind.shown;
        // Within a major, programs built with an older header run with a newer library.
        let severity =
            if header.at(0) == newest.at(0) && header < newest { Severity::Note } else { Severity::Warning };
        let sentence = format!(
            "the headers of {name} are of {header}, its libraries of {newest}: what is built here may not load"
        );
        let found = finding(severity, "library-headers-mismatch", sentence);
        let found = found.seen(file.display().to_string()).seen(library.display().to_string());
        all.push(found.mend(format!(
            "install the headers (the -dev or -devel package) and libraries of {name} from one place"
        )));
    }
    all
}

/// A cuDNN in a toolkit of a CUDA major that it was never made for.
fn other_cuda(machine: &Machine) -> Vec<Finding> {
    let mut all = Vec::new();
    for copy in machine.libraries.installed.iter().filter(|copy| copy.kind.shown == "cuDNN") {
        let Place::Toolkit(root) = &copy.place else { continue };
        let toolkit = machine.toolkits.found.iter().find(|f| f.root == *root || f.aliases.contains(root));
        let Some(Tree::Toolkit(identity)) = toolkit.and_then(|f| f.tree.as_ref()) else { continue };
        let (Some(version), cuda) = (copy.version(), identity.version.major) else { continue };
        if is_made_for(version, cuda) != Some(false) {
            continue;
        }
        let sentence =
            format!("cuDNN {version} lies in CUDA {}, and it was not made for CUDA {cuda}", identity.version);
        let found = finding(Severity::Warning, "cudnn-other-cuda", sentence);
        let files = copy.header.iter().chain(&copy.libraries).map(|(_, file)| file.display().to_string());
        let last = last("cudnn", cuda).map_or_else(String::new, |last| format!("={last}"));
        all.push(
            files
                .fold(found, Finding::seen)
                .mend(format!("cudaup install {} --with cudnn{last}", identity.version)),
        );
    }
    all
}

/// The cuDNN that a framework was built with, and who says so.
fn needed_cudnn(package: &Package) -> Option<(Number, String)> {
    let lowest = |r: &Requirement| {
        let text = r.exact().or_else(|| r.versions.split(',').find_map(|v| v.strip_prefix(">=")))?;
        Some((Number::parse(text)?, package.source.display().to_string()))
    };
    let asked = package.requires.iter().filter(|r| r.name.starts_with("nvidia-cudnn")).find_map(lowest);
    let known = || {
        let row = tensorflow(&package.version).filter(|_| package.name == "tensorflow")?;
        Some((Number::parse(&row.cudnn)?, "the table of TensorFlow's releases".to_owned()))
    };
    asked.or_else(known)
}

/// The numbers of a wheel's version, without `.post1` behind them.
fn of_wheel(wheel: &Package) -> Option<Number> {
    Number::parse(&Pep440::parse(&wheel.version)?.plain())
}

/// The wheel of cuDNN in an environment.
fn cudnn_wheel(python: &Python) -> Option<(&Package, Number)> {
    let wheel = python.any(&["nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "nvidia-cudnn-cu11"])?;
    Some((wheel, of_wheel(wheel)?))
}

/// Frameworks that were built with another major or a newer release of cuDNN than the one that their environment has.
fn other_cudnn(machine: &Machine) -> Vec<Finding> {
    let Some((python, (wheel, here))) = machine.python.as_ref().and_then(|p| Some((p, cudnn_wheel(p)?)))
    else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for package in ["torch", "tensorflow", "jax-cuda12-plugin", "jax-cuda13-plugin"]
        .iter()
        .filter_map(|n| python.package(n))
    {
        let Some((needed, who)) = needed_cudnn(package) else { continue };
        let (code, how) = if needed.at(0) != here.at(0) {
            ("cudnn-other-major", "they do not stand in for each other")
        } else if here.at(1) < needed.at(1) {
            ("cudnn-older-than-built", "frameworks ask for the same or a newer one")
        } else {
            continue;
        };
        let sentence = format!(
            "{} {} was built with cuDNN {}, and its environment has {}: {how}",
            package.name,
            package.version,
            needed.first(2),
            here.first(3)
        );
        let found =
            finding(Severity::Warning, code, sentence).seen(who).seen(wheel.source.display().to_string());
        let major = needed.at(0).unwrap_or(9).saturating_add(1);
        all.push(found.mend(format!("{} install \"{}>={needed},<{major}\"", python.pip, wheel.name)));
    }
    all
}

/// A cuDNN that no longer serves a GPU.
fn gpu_too_old(machine: &Machine) -> Vec<Finding> {
    let Some(python) = &machine.python else { return Vec::new() };
    let Some((wheel, version)) = cudnn_wheel(python) else { return Vec::new() };
    let Some(oldest) = release(&version).and_then(Release::oldest) else { return Vec::new() };
    let gpus = machine.gpus.known().map(Vec::as_slice).unwrap_or_default();
    let Some(gpu) = gpus.iter().find(|g| g.capability.is_some_and(|c| c < oldest)) else { return Vec::new() };
    let sentence = format!(
        "cuDNN {} serves GPUs from sm_{} on, and the {} is older: convolutions may fail",
        version.first(3),
        oldest.number(),
        gpu.name
    );
    let found =
        finding(Severity::Warning, "cudnn-gpu-too-old", sentence).seen(wheel.source.display().to_string());
    vec![found.mend(format!("{} install \"{}<9.11\"", python.pip, wheel.name))]
}

/// The driver without the library that programs start it with.
fn libcuda_missing(machine: &Machine) -> Vec<Finding> {
    let driver = &machine.driver;
    let is_there = driver.module.known().is_some() || matches!(driver.smi, Smi::Said { .. });
    // The CUDA release that nvidia-smi prints comes from that very library.
    let was_found = matches!(driver.smi, Smi::Said { cuda: Some(_), .. });
    // Without the loader's cache (NixOS, a mounted image) nothing tells where it would be looked for.
    let unknown = machine.loader.cache.is_empty() || machine.platform.jetson.is_some();
    if !driver.library.is_absent() || was_found || !is_there || unknown {
        return Vec::new();
    }
    let sentence =
        "the driver runs, and its library libcuda.so.1 is not found: no CUDA program reaches the GPU";
    let found = finding(Severity::Problem, "libcuda-missing", sentence)
        .seen(driver.module.source().unwrap_or("nvidia-smi").to_owned())
        .seen("no libcuda.so.1 in LD_LIBRARY_PATH or /etc/ld.so.cache");
    let may = machine.vars.get("NVIDIA_DRIVER_CAPABILITIES").map(|v| v.to_string_lossy().into_owned());
    vec![match (&machine.platform.container, may) {
        (Some(_), Some(may)) if !may.contains("compute") && !may.contains("all") => found
            .seen(format!("NVIDIA_DRIVER_CAPABILITIES={may}"))
            .mend("start the container with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
        (Some(_), _) => found.mend("start the container with --gpus all, with NVIDIA's container toolkit on the host"),
        (None, _) => found.mend("the driver's package with libcuda: libnvidia-compute-... (Ubuntu), libcuda1 (Debian), nvidia-driver-cuda-libs (Fedora)"),
    }]
}

/// Packages that ask the loader for the runtime where nothing has it.
fn libcudart_missing(machine: &Machine) -> Vec<Finding> {
    let Some(python) = machine.python.as_ref().filter(|_| !machine.loader.cache.is_empty()) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for package in ["onnxruntime-gpu", "llama-cpp-python"].iter().filter_map(|name| python.package(name)) {
        let Some(cuda) = package.build.cuda() else { continue };
        let soname = if cuda.major == 11 {
            "libcudart.so.11.0".to_owned()
        } else {
            format!("libcudart.so.{}", cuda.major)
        };
        let folders = machine.libraries.ahead.iter().chain(&machine.libraries.beside);
        let found = python.bundles(&soname).is_some()
            || machine.loader.cache.iter().any(|l| l.soname == soname)
            || folders.flat_map(|f| &f.libraries).any(|l| l.soname == soname);
        if found {
            continue;
        }
        let sentence =
            format!("{} {} needs {soname}, and nothing here has it", package.name, package.version);
        let found = finding(Severity::Warning, "libcudart-missing", sentence)
            .seen(package.source.display().to_string())
            .seen("neither in the environment nor in LD_LIBRARY_PATH nor in /etc/ld.so.cache");
        let major = cuda.major;
        all.push(found.mend(format!("cudaup install {major} && cudaup use {major}")));
    }
    all
}

/// Libraries in LD_LIBRARY_PATH that torch finds before its own, where it was linked so that this matters.
fn shadowed(machine: &Machine) -> Vec<Finding> {
    let Some(python) = machine.python.as_ref().filter(|p| p.search == Some(Search::PathFirst)) else {
        return Vec::new();
    };
    let mut seen = Vec::new();
    let mut all = Vec::new();
    for folder in &machine.libraries.ahead {
        let mut older = Vec::new();
        for library in &folder.libraries {
            if python.bundles(&library.soname).is_none() || seen.contains(&&library.soname) {
                continue;
            }
            seen.push(&library.soname);
            let own = |p: &&Package| {
                let name = p.name.strip_prefix("nvidia-").unwrap_or_default();
                name.split_once("-cu").is_some_and(|(n, major)| n == library.wheel && major.len() == 2)
                    || name == library.wheel
            };
            let wheel = python.packages.iter().find(own).and_then(|p| Some((p, of_wheel(p)?)));
            let Some(((wheel, new), old)) = wheel.zip(library.version.as_ref()) else { continue };
            if old.first(3) < new.first(3) {
                older.push(format!("{} is {old}, {} brings {new}", library.soname, wheel.name));
            }
        }
        if let Some(first) = older.first() {
            let path = folder.path.display();
            let sentence = format!(
                "LD_LIBRARY_PATH puts {path} before the libraries that torch brings, and those there are older: {first}"
            );
            let start = finding(Severity::Warning, "library-shadowed", sentence)
                .seen(format!("LD_LIBRARY_PATH: {path}"));
            let found = older.iter().skip(1).fold(start, |f, line| f.seen(line.clone()));
            let managed = machine.vars.get("CUDAUP_STATE").is_some();
            let mend = if managed {
                "add `ld_library_path = off` to .cuda-version"
            } else {
                "unset LD_LIBRARY_PATH"
            };
            all.push(found.mend(mend));
        }
    }
    all
}
