//! What a package was built for, by the files that it brings.

use super::distributions::by_local;
use super::{Build, Package, architectures, read};
use crate::compat::arch::Architecture;
use crate::elf::header;
use cudaup_core::version::Version;
use std::path::Path;

/// A version.py has some lines.
const SMALL: u64 = 64 * 1024;

/// Adds what the files of a package say. `directory` holds the packages, `info` is its own `.dist-info`.
pub fn complete(package: &mut Package, directory: &Path, info: &Path) {
    match package.name.as_str() {
        "torch" => torch(package, directory),
        "torchvision" | "torchaudio" => with_version_file(package, directory),
        "tensorflow" | "tf-nightly" | "tensorflow-gpu" => tensorflow(package, directory),
        "onnxruntime-gpu" => onnxruntime(package, directory),
        "onnxruntime" | "tensorflow-cpu" => package.build = Build::Cpu,
        "xformers" => xformers(package, directory),
        "flash-attn" => flash_attn(package, directory, info),
        "bitsandbytes" => bitsandbytes(package, directory),
        "llama-cpp-python" => llama_cpp(package, directory),
        name => package.build = by_name(name).map_or_else(|| by_local(&package.version), Build::Cuda),
    }
}

/// `cupy-cuda12x`, `jax-cuda13-plugin` and `nvidia-cudnn-cu12` carry the CUDA major in their names.
fn by_name(name: &str) -> Option<Version> {
    let digits = name.split('-').find_map(|part| {
        let digits = part.strip_prefix("cuda").or_else(|| part.strip_prefix("cu"))?.trim_end_matches('x');
        (digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit())).then_some(digits)
    })?;
    Some(Version { major: digits.parse().ok()?, minor: None, update: None })
}

/// Digits without a dot: `124` is 12.4, `92` is 9.2; `12` alone is a major.
pub fn squeezed(digits: &str) -> Option<Version> {
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let all: u32 = digits.parse().ok()?;
    match all {
        10..=19 => Some(Version { major: all, minor: None, update: None }),
        70..=299 => Some(Version::release(all / 10, all % 10)),
        _ => None,
    }
}

/// torch that no `.dist-info` tells of.
pub fn torch_alone(directory: &Path) -> Option<Package> {
    let source = directory.join("torch/version.py");
    let version = read::assigned(&read::head(&source, SMALL)?, "__version__")?.to_owned();
    let mut package = Package { name: "torch".into(), version, source, ..Package::default() };
    torch(&mut package, directory);
    Some(package)
}

/// torch says all in its version.py; the version's own end is not relied on, since nightlies and other people's builds put
/// there what they like.
fn torch(package: &mut Package, directory: &Path) {
    let file = directory.join("torch/version.py");
    let Some(text) = read::head(&file, SMALL) else { return };
    if let Some(version) = read::assigned(&text, "__version__") {
        version.clone_into(&mut package.version);
    }
    package.source = file;
    let said = |name: &str| read::assigned(&text, name).filter(|v| *v != "None" && !v.is_empty());
    package.build = match (said("cuda").and_then(Version::parse), said("hip"), read::assigned(&text, "cuda"))
    {
        (Some(version), _, _) => Build::Cuda(version),
        (None, Some(hip), _) => Build::Rocm(hip.to_owned()),
        (None, None, Some("None")) => Build::Cpu,
        _ => Build::Unknown,
    };
    if package.build.cuda().is_some() {
        package.architectures = architectures::of(&directory.join("torch/lib/libtorch_python.so"));
    }
}

/// On PyPI the version of the `.dist-info` has no `+cu124`, and the one in version.py has.
fn with_version_file(package: &mut Package, directory: &Path) {
    let file = directory.join(&package.name).join("version.py");
    let stated = read::head(&file, SMALL).and_then(|t| read::assigned(&t, "__version__").map(str::to_owned));
    if let Some(version) = stated.filter(|v| v.starts_with(|c: char| c.is_ascii_digit())) {
        package.version = version;
        package.source = file;
    }
    package.build = by_local(&package.version);
}

fn tensorflow(package: &mut Package, directory: &Path) {
    let file = directory.join("tensorflow/python/platform/build_info.py");
    let Some(text) = read::head(&file, SMALL) else { return };
    package.source = file;
    let value = |key: &str| text.split_once(&format!("('{key}', ")).map(|(_, rest)| rest);
    let quoted = |key: &str| value(key)?.split('\'').nth(1);
    let is = |key: &str| value(key).map(|rest| rest.starts_with("True"));
    package.build =
        match (quoted("cuda_version").and_then(Version::parse), is("is_cuda_build"), is("is_rocm_build")) {
            (Some(version), Some(true), _) => Build::Cuda(version),
            (_, _, Some(true)) => Build::Rocm(String::new()),
            (_, Some(false), _) => Build::Cpu,
            _ => Build::Unknown,
        };
    package.cudnn = quoted("cudnn_version").map(str::to_owned);
    let list = value("cuda_compute_capabilities").and_then(|rest| rest.strip_prefix('[')?.split(']').next());
    let list = list.unwrap_or_default().split('\'');
    package.architectures = list.filter_map(Architecture::parse).collect();
}

fn onnxruntime(package: &mut Package, directory: &Path) {
    let file = directory.join("onnxruntime/capi/build_and_package_info.py");
    let text = read::head(&file, SMALL).unwrap_or_default();
    let cuda = read::assigned(&text, "cuda_version").and_then(Version::parse);
    package.build = cuda.map_or(Build::Unknown, Build::Cuda);
    // It is written by whichever of the two packages came last.
    if read::assigned(&text, "package_name") == Some("onnxruntime") {
        package.build = Build::Cpu;
    }
    if package.build != Build::Unknown {
        package.source = file;
    }
}

/// xformers writes down what it was built with.
fn xformers(package: &mut Package, directory: &Path) {
    package.build = by_local(&package.version);
    let file = directory.join("xformers/cpp_lib.json");
    let Some(text) = read::head(&file, SMALL) else { return };
    let Ok(said) = serde_json::from_str::<serde_json::Value>(&text) else { return };
    let field = |name: &str| said.get("version").and_then(|v| v.get(name));
    // 1206 is 12.6.
    let cuda = field("cuda").and_then(serde_json::Value::as_u64).and_then(|n| u32::try_from(n).ok());
    if let Some(number) = cuda.filter(|n| (900..10_000).contains(n)) {
        package.build = Build::Cuda(Version::release(number / 100, number % 100));
    }
    package.for_torch = field("torch").and_then(|t| t.as_str()).map(|torch| (torch.to_owned(), file));
}

/// flash-attn's own wheels name their torch in the file's name, which pip notes where they were installed by address.
fn flash_attn(package: &mut Package, directory: &Path, info: &Path) {
    let torch = |text: &str| {
        let (_, rest) = text.split_once("torch")?;
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        Some(rest.get(..end)?.trim_end_matches('.').to_owned()).filter(|v| v.contains('.'))
    };
    let note = info.join("direct_url.json");
    let address = read::head(&note, SMALL).unwrap_or_default();
    let name = address.rsplit('/').next().unwrap_or_default();
    package.for_torch = torch(&package.version)
        .map(|t| (t, package.source.clone()))
        .or_else(|| torch(name).map(|t| (t, note)));
    let names = read::names(directory);
    let library = names.iter().find(|n| n.starts_with("flash_attn_2_cuda") && n.contains(".so"));
    let needed = library.and_then(|name| image(&directory.join(name)));
    let cudart = needed.iter().flat_map(|image| &image.needed).find_map(|n| n.strip_prefix("libcudart.so."));
    package.build = cudart
        .and_then(Version::parse)
        .map_or(Build::Unknown, |v| Build::Cuda(Version { major: v.major, minor: None, update: None }));
}

fn bitsandbytes(package: &mut Package, directory: &Path) {
    let names = read::names(&directory.join("bitsandbytes"));
    let digits = |name: &String| {
        let rest = name.strip_prefix("libbitsandbytes_cuda")?;
        rest.split(['.', '_']).next().and_then(squeezed)
    };
    package.variants = names.iter().filter_map(digits).collect();
    package.variants.sort_unstable();
    package.variants.dedup();
}

/// llama.cpp's backends are libraries of their own; older releases held all in one.
fn llama_cpp(package: &mut Package, directory: &Path) {
    let lib = directory.join("llama_cpp/lib");
    let names = read::names(&lib);
    let has = |part: &str| names.iter().any(|n| n.starts_with(part) && n.contains(".so"));
    let needed = |name: &str| image(&lib.join(name)).map(|image| image.needed).unwrap_or_default();
    let other = ["libggml-vulkan", "libggml-hip", "libggml-sycl", "libggml-opencl"].iter().any(|n| has(n));
    let cudart =
        |name: &str| needed(name).iter().find_map(|n| n.strip_prefix("libcudart.so.").map(str::to_owned));
    let cuda = cudart("libggml-cuda.so").or_else(|| cudart("libllama.so")).and_then(|n| Version::parse(&n));
    package.build = match cuda {
        Some(v) => Build::Cuda(Version { major: v.major, minor: None, update: None }),
        None if has("libggml-cpu") && !has("libggml-cuda") && !other => Build::Cpu,
        None => Build::Unknown,
    };
    if package.build == Build::Cpu {
        package.source = lib;
    }
}

fn image(path: &Path) -> Option<header::Image> {
    header::read(&mut read::open(path)?).ok()
}
