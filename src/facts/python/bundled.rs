//! NVIDIA's libraries that wheels put below `site-packages/nvidia`, and whether torch finds its own before others.

use super::{Bundled, Search, read};
use crate::elf::header;
use std::path::PathBuf;

/// All libraries below `nvidia/*/lib`.
pub fn libraries(directories: &[PathBuf]) -> Vec<Bundled> {
    let mut found: Vec<Bundled> = Vec::new();
    for nvidia in directories.iter().map(|d| d.join("nvidia")) {
        for part in read::names(&nvidia) {
            let lib = nvidia.join(part).join("lib");
            let names = read::names(&lib).into_iter().filter(|name| is_soname(name));
            found.extend(names.map(|soname| Bundled { file: lib.join(&soname), soname }));
        }
    }
    found
}

/// Whether a name is what programs ask for: `libcudnn.so.9`, `libcudart.so.11.0`, and not `libcudnn.so` or `libcudnn.so.9.1.0`.
fn is_soname(name: &str) -> bool {
    let Some((_, number)) = name.split_once(".so.") else { return false };
    let parts: Vec<&str> = number.split('.').collect();
    parts.len() <= 2 && parts.iter().all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
}

/// How torch's CUDA library finds others; `None` where that cannot be read.
pub fn search(directories: &[PathBuf]) -> Option<Search> {
    let of = |directory: &PathBuf| {
        ["libtorch_cuda.so", "libtorch_python.so"]
            .iter()
            .find_map(|name| header::read(&mut read::open(&directory.join("torch/lib").join(name))?).ok())
    };
    let image = directories.iter().find_map(of)?;
    let own = image.rpath.is_some() && image.runpath.is_none();
    Some(if own { Search::OwnFirst } else { Search::PathFirst })
}
