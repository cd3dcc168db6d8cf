//! Build directories of llama.cpp that were configured without its CUDA backend.

use crate::disk::text;
use std::fs;
use std::path::{Path, PathBuf};

/// So many names of a project are read.
const NAMES: usize = 4096;

/// The options by which llama.cpp was told to build for CUDA, the newest first.
const OPTIONS: [&str; 3] = ["GGML_CUDA:BOOL=", "LLAMA_CUDA:BOOL=", "LLAMA_CUBLAS:BOOL="];

/// Options for other GPUs; who set one of them wants no CUDA.
const OTHERS: [&str; 4] = ["GGML_VULKAN:BOOL=", "GGML_HIP:BOOL=", "GGML_SYCL:BOOL=", "GGML_OPENCL:BOOL="];

/// Those of a project: the directory itself, `build*` in it, and `llama.cpp/build*`.
pub fn without_cuda(project: &Path) -> Vec<PathBuf> {
    let mut places = vec![project.to_path_buf()];
    for parent in [project.to_path_buf(), project.join("llama.cpp")] {
        let entries = fs::read_dir(&parent).map(|e| e.take(NAMES).flatten().map(|e| e.file_name()));
        let mut names: Vec<_> = entries.map(Iterator::collect).unwrap_or_default();
        names.retain(|name: &std::ffi::OsString| name.to_string_lossy().starts_with("build"));
        names.sort();
        places.extend(names.into_iter().map(|name| parent.join(name)));
    }
    places.retain(|path| text::read(&path.join("CMakeCache.txt")).is_ok_and(|cache| is_without(&cache)));
    places
}

/// Whether a CMakeCache.txt says so.
fn is_without(cache: &str) -> bool {
    let value = |option: &&str| cache.lines().find_map(|line| line.strip_prefix(option)).map(is_on);
    let asked = OPTIONS.iter().find_map(value);
    asked == Some(false) && !OTHERS.iter().any(|option| value(option) == Some(true))
}

fn is_on(value: &str) -> bool {
    ["ON", "1", "TRUE", "YES", "Y"].iter().any(|on| value.trim().eq_ignore_ascii_case(on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_of_builds() {
        assert!(is_without("# x\r\nGGML_CUDA:BOOL=OFF\r\nGGML_METAL:BOOL=OFF\r\n"));
        assert!(is_without("LLAMA_CUBLAS:BOOL=0\n"));
        assert!(!is_without("GGML_CUDA:BOOL=ON\nLLAMA_CUDA:BOOL=OFF\n"), "the newest name counts");
        assert!(!is_without("GGML_CUDA:BOOL=OFF\nGGML_VULKAN:BOOL=1\n"));
        assert!(!is_without("") && !is_without("CMAKE_CUDA_COMPILER:FILEPATH=/usr/bin/nvcc\n"));
    }

    #[test]
    fn directories_of_a_project() {
        let dir = tempfile::TempDir::new().unwrap();
        for name in ["build-cpu", "llama.cpp/build", "other"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("CMakeCache.txt"), "GGML_CUDA:BOOL=OFF\n").unwrap();
        }
        let found = without_cuda(dir.path());
        assert_eq!(found, [dir.path().join("build-cpu"), dir.path().join("llama.cpp/build")]);
        assert!(without_cuda(&dir.path().join("none")).is_empty());
    }
}
