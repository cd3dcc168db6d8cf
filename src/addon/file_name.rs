//! What the name of an archive says: which library, which version, for which CUDA and which machine.

use crate::addon::{ORIGINS, Origin};
use cudaup_core::addon::Number;

/// What a name says; what it leaves open is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The library.
    pub origin: &'static Origin,
    /// Its version.
    pub version: Option<Number>,
    /// The CUDA major that it is built for.
    pub cuda: Option<u32>,
    /// The machine that it is built for, as `uname -m` spells it.
    pub machine: Option<&'static str>,
}

/// Endings of archives, longest first.
const ENDINGS: [&str; 7] = [".tar.xz", ".tar.gz", ".tgz", ".txz", ".whl", ".zip", ".tar"];

/// Reads a name in any of the forms that NVIDIA has given to archives of its libraries:
/// `cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz`, `cudnn-11.2-linux-x64-v8.1.0.77.tgz`,
/// `nccl_2.21.5-1+cuda12.4_x86_64.txz`, `nvidia_cudnn_cu12-9.8.0.87-py3-none-manylinux_2_27_x86_64.whl`.
pub fn read(file: &str) -> Option<FileName> {
    let stem = ENDINGS.iter().find_map(|e| file.strip_suffix(e)).unwrap_or(file);
    let stem = stem.strip_suffix("-archive").unwrap_or(stem);
    let origin = ORIGINS.iter().find(|o| {
        let begins = |name: &str| {
            let rest = stem.strip_prefix(name).or_else(|| stem.strip_prefix(&name.replace('-', "_")));
            rest.is_some_and(|rest| rest.starts_with(['-', '_']))
        };
        begins(o.component) || begins(o.project) || begins(o.name)
    })?;
    let words: Vec<&str> = stem.split(['-', '_', '+']).collect();
    let major = |text: &str| text.split('.').next().and_then(|n| n.parse::<u32>().ok()).filter(|n| *n < 100);
    let marked = words.iter().find_map(|w| {
        let number = w.strip_prefix("cuda").or_else(|| w.strip_prefix("cu"))?;
        major(number)
    });
    // The old form: `cudnn-11.2-linux-x64-v8.1.0.77`, the CUDA release first, the version behind a v.
    let behind_v = words.iter().find_map(|w| Number::parse(w.strip_prefix('v')?));
    let plain = words.iter().find(|w| w.contains('.')).and_then(|w| Number::parse(w));
    let (version, cuda) = match behind_v {
        Some(version) => (Some(version), marked.or_else(|| words.get(1).and_then(|w| major(w)))),
        None => (plain, marked),
    };
    let machine = words.iter().find_map(|w| match *w {
        "x64" | "x86" => Some("x86_64"),
        "sbsa" | "aarch64" | "aarch64sbsa" => Some("aarch64"),
        "ppc64le" => Some("ppc64le"),
        _ => None,
    });
    let windows = words.iter().any(|w| w.starts_with("windows") || w.starts_with("win"));
    let machine = if windows { Some("windows") } else { machine };
    Some(FileName { origin, version, cuda, machine })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(file: &str) -> Option<String> {
        let name = read(file)?;
        let show = |x: Option<String>| x.unwrap_or_else(|| "?".into());
        let version = show(name.version.map(|v| v.to_string()));
        let cuda = show(name.cuda.map(|c| c.to_string()));
        Some(format!("{} {version} {cuda} {}", name.origin.name, name.machine.unwrap_or("?")))
    }

    #[test]
    fn the_forms_that_nvidia_has_used() {
        for (file, what) in [
            ("cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz", "cudnn 8.9.7.29 12 x86_64"),
            ("cudnn-linux-sbsa-9.14.0.64_cuda13-archive.tar.xz", "cudnn 9.14.0.64 13 aarch64"),
            ("cudnn-linux-x86_64-8.9.7.29_cuda12-archive", "cudnn 8.9.7.29 12 x86_64"),
            ("cudnn-11.2-linux-x64-v8.1.0.77.tgz", "cudnn 8.1.0.77 11 x86_64"),
            ("cudnn-11.4-linux-aarch64sbsa-v8.2.4.15.tgz", "cudnn 8.2.4.15 11 aarch64"),
            ("cudnn-10.2-linux-x64-v7.6.5.32.tgz", "cudnn 7.6.5.32 10 x86_64"),
            ("cudnn-windows-x86_64-8.9.7.29_cuda12-archive.zip", "cudnn 8.9.7.29 12 windows"),
            ("nccl_2.21.5-1+cuda12.4_x86_64.txz", "nccl 2.21.5 12 x86_64"),
            ("libcutensor-linux-x86_64-2.2.0.0-archive.tar.xz", "cutensor 2.2.0.0 ? x86_64"),
            ("libcusparse_lt-linux-x86_64-0.7.1.0-archive.tar.xz", "cusparselt 0.7.1.0 ? x86_64"),
            ("libnvshmem-linux-x86_64-3.2.5_cuda12-archive.tar.xz", "nvshmem 3.2.5 12 x86_64"),
            ("nvidia_cudnn_cu12-9.8.0.87-py3-none-manylinux_2_27_x86_64.whl", "cudnn 9.8.0.87 12 x86_64"),
            ("cutensor_cu12-2.2.0-py3-none-manylinux2014_aarch64.whl", "cutensor 2.2.0 12 aarch64"),
            ("cudnn-mine.tar.xz", "cudnn ? ? ?"),
        ] {
            assert_eq!(said(file).as_deref(), Some(what), "{file}");
        }
        for file in [
            "cudnnx-1.tar.xz",
            "cuda_12.1.0_530.30.02_linux.run",
            "libcublas-linux-x86_64-1-archive.tar.xz",
            "",
        ] {
            assert_eq!(said(file), None, "{file}");
        }
    }
}
