//! The packages of an environment that have to do with CUDA, by their `.dist-info` and the files that they bring.

use super::{Build, Package, Requirement, built, read};
use std::path::{Path, PathBuf};

/// Packages that have to do with CUDA; beside them all whose names begin with `nvidia-`.
const NAMES: [&str; 48] = [
    "torch",
    "torchvision",
    "torchaudio",
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tf-nightly",
    "jax",
    "jaxlib",
    "jax-cuda12-plugin",
    "jax-cuda13-plugin",
    "jax-cuda12-pjrt",
    "jax-cuda13-pjrt",
    "cupy",
    "cupy-cuda11x",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "onnxruntime",
    "onnxruntime-gpu",
    "vllm",
    "sglang",
    "flash-attn",
    "flash-attn-3",
    "xformers",
    "bitsandbytes",
    "triton",
    "pytorch-triton",
    "numba",
    "numba-cuda",
    "cuda-python",
    "cuda-bindings",
    "cuda-toolkit",
    "llama-cpp-python",
    "ctranslate2",
    "faster-whisper",
    "tensorrt",
    "tensorrt-cu11",
    "tensorrt-cu12",
    "tensorrt-cu13",
    "transformer-engine",
    "deepspeed",
    "apex",
    "flashinfer-python",
    "cudf-cu12",
    "mxnet",
    "paddlepaddle",
    "paddlepaddle-gpu",
    "auto-gptq",
];

/// Packages whose requirements matter: they name the torch or the CUDA libraries that they go with.
const WITH_REQUIREMENTS: [&str; 10] = [
    "torch",
    "torchvision",
    "torchaudio",
    "tensorflow",
    "xformers",
    "vllm",
    "jax-cuda12-plugin",
    "jax-cuda13-plugin",
    "onnxruntime-gpu",
    "sglang",
];

/// The head of a METADATA; the long description follows it.
const METADATA: u64 = 256 * 1024;

/// All such packages in directories, of several with one name the first.
pub fn packages(directories: &[PathBuf]) -> Vec<Package> {
    let mut found: Vec<Package> = Vec::new();
    for directory in directories {
        let names = read::names(directory);
        for name in &names {
            let Some(package) = package(directory, name) else { continue };
            if !found.iter().any(|p| p.name == package.name) {
                found.push(package);
            }
        }
        // An environment that was put together by hand, or by a build from source, may hold torch alone.
        if !found.iter().any(|p| p.name == "torch") && names.iter().any(|n| n == "torch") {
            found.extend(built::torch_alone(directory));
        }
    }
    found
}

/// A package by the name of its `.dist-info` or `.egg-info`.
fn package(directory: &Path, entry: &str) -> Option<Package> {
    let wheel = entry.strip_suffix(".dist-info");
    let stem = wheel.or_else(|| entry.strip_suffix(".egg-info"))?;
    let mut parts = stem.split('-');
    let name = normalized(parts.next()?);
    if !NAMES.contains(&name.as_str()) && !name.starts_with("nvidia-") {
        return None;
    }
    let version = parts.next().unwrap_or_default().to_owned();
    let info = directory.join(entry);
    let source = match wheel {
        Some(_) => info.join("METADATA"),
        None if info.is_file() => info,
        None => info.join("PKG-INFO"),
    };
    let mut package = Package { name, version, source, ..Package::default() };
    if package.version.is_empty() || WITH_REQUIREMENTS.contains(&package.name.as_str()) {
        with_metadata(&mut package);
    }
    built::complete(&mut package, directory, &directory.join(entry));
    Some(package)
}

fn with_metadata(package: &mut Package) {
    let Some(text) = read::head(&package.source, METADATA) else { return };
    for line in text.lines().take_while(|line| !line.trim().is_empty()) {
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim() {
            "Version" => value.trim().clone_into(&mut package.version),
            "Requires-Dist" => package.requires.extend(requirement(value)),
            _ => {}
        }
    }
}

/// Reads `nvidia-cudnn-cu12 (==9.1.0.70) ; platform_system == "Linux"`, for packages of interest only.
fn requirement(text: &str) -> Option<Requirement> {
    let (what, marker) = text.split_once(';').unwrap_or((text, ""));
    let what = what.trim();
    let end = what
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(what.len());
    let (name, versions) = what.split_at_checked(end)?;
    let name = normalized(name);
    let of_interest = NAMES.contains(&name.as_str()) || name.starts_with("nvidia-");
    // What holds on other systems only says nothing here.
    let elsewhere =
        ["Windows", "Darwin", "win32", "darwin"].iter().any(|w| marker.contains(&format!("== \"{w}\"")));
    let versions = versions.trim_start();
    let versions = if versions.starts_with('[') { versions.split_once(']')?.1 } else { versions };
    let versions: String = versions.chars().filter(|c| !matches!(c, '(' | ')' | ' ')).collect();
    let extra = marker.split_once("extra ==").and_then(|(_, rest)| rest.trim().split(['\'', '"']).nth(1));
    (of_interest && !elsewhere).then(|| Requirement { name, versions, extra: extra.map(str::to_owned) })
}

/// A name as PyPI compares it: `Flash_Attn` is `flash-attn`.
fn normalized(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '.'], "-")
}

/// What the part of a version behind the `+` says: `cu124`, `cpu`, `rocm6.2`.
pub fn by_local(version: &str) -> Build {
    let Some((_, local)) = version.split_once('+') else { return Build::Unknown };
    let local = local.split('.').next().filter(|_| !local.starts_with("rocm")).unwrap_or(local);
    if let Some(rocm) = local.strip_prefix("rocm") {
        return Build::Rocm(rocm.to_owned());
    }
    if local == "cpu" {
        return Build::Cpu;
    }
    let digits = local.strip_prefix("cuda").or_else(|| local.strip_prefix("cu")).unwrap_or_default();
    built::squeezed(digits).map_or(Build::Unknown, Build::Cuda)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cudaup_core::version::Version;

    #[test]
    fn requirements_in_both_spellings() {
        let at = |text: &str| requirement(text).map(|r| (r.name, r.versions, r.extra));
        let of = |name: &str, versions: &str, extra: Option<&str>| {
            Some((name.to_owned(), versions.to_owned(), extra.map(str::to_owned)))
        };
        let linux = r#"platform_system == "Linux" and platform_machine == "x86_64""#;
        assert_eq!(
            at(&format!(" nvidia-cudnn-cu12 (==9.1.0.70) ; {linux}")),
            of("nvidia-cudnn-cu12", "==9.1.0.70", None)
        );
        assert_eq!(
            at(" nvidia-cudnn-cu12==9.3.0.75 ; extra == 'and-cuda'"),
            of("nvidia-cudnn-cu12", "==9.3.0.75", Some("and-cuda"))
        );
        assert_eq!(at("torch[opt]>=2.0,<3"), of("torch", ">=2.0,<3", None));
        assert_eq!(at("torch==2.5.1; platform_system == \"Windows\""), None);
        assert_eq!((at("numpy>=1"), at(""), at("é")), (None, None, None));
        assert_eq!(requirement("torch (==2.5.1)").unwrap().exact(), Some("2.5.1"));
        assert_eq!(requirement("torch==2.5.*").unwrap().exact(), None);
    }

    #[test]
    fn what_stands_behind_the_plus() {
        assert_eq!(by_local("0.20.1+cu124"), Build::Cuda(Version::release(12, 4)));
        assert_eq!(by_local("0.11.1+cu102"), Build::Cuda(Version::release(10, 2)));
        assert_eq!(
            by_local("0.4.20+cuda12.cudnn89"),
            Build::Cuda(Version { major: 12, minor: None, update: None })
        );
        assert_eq!(by_local("0.11.3+rocm4.2"), Build::Rocm("4.2".into()));
        assert_eq!(by_local("2.5.1+cpu"), Build::Cpu);
        for none in ["2.5.1", "2.7.0a0+gitc88b85b.aml", "2.3.0a0+40ec155e58.nv24.03", "1+cu", "1+cu1"] {
            assert_eq!(by_local(none), Build::Unknown, "{none}");
        }
    }
}
