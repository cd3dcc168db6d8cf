//! version.json, by which other programs (and cudaup itself) name the release of a tree. NVIDIA's installer writes it; no
//! archive and no wheel has it.

use std::fmt::Write;

use cudaup_core::version::Version;

/// What NVIDIA calls its components.
const NAMES: [(&str, &str); 33] = [
    ("cccl", "CXX Core Compute Libraries"),
    ("cuda_cccl", "CXX Core Compute Libraries"),
    ("cuda_crt", "CUDA CRT"),
    ("cuda_cudart", "CUDA Runtime (cudart)"),
    ("cuda_culibos", "CUDA MATH Library (cuda culibos)"),
    ("cuda_cuobjdump", "cuobjdump"),
    ("cuda_cupti", "CUPTI"),
    ("cuda_cuxxfilt", "CUDA cuxxfilt (demangler)"),
    ("cuda_gdb", "CUDA GDB"),
    ("cuda_memcheck", "CUDA Memcheck"),
    ("cuda_nvcc", "CUDA NVCC"),
    ("cuda_nvdisasm", "CUDA nvdisasm"),
    ("cuda_nvml_dev", "CUDA NVML Headers"),
    ("cuda_nvprof", "CUDA nvprof"),
    ("cuda_nvprune", "CUDA nvprune"),
    ("cuda_nvrtc", "CUDA NVRTC"),
    ("cuda_nvtx", "CUDA NVTX"),
    ("cuda_opencl", "CUDA OpenCL"),
    ("cuda_profiler_api", "CUDA Profiler API"),
    ("cuda_sanitizer_api", "CUDA Compute Sanitizer API"),
    ("libcublas", "CUDA cuBLAS"),
    ("libcudla", "cuDLA"),
    ("libcufft", "CUDA cuFFT"),
    ("libcufile", "CUDA cuFile"),
    ("libcurand", "CUDA cuRAND"),
    ("libcusolver", "CUDA cuSOLVER"),
    ("libcusparse", "CUDA cuSPARSE"),
    ("libnpp", "CUDA NPP"),
    ("libnvfatbin", "NVIDIA compiler library for fatbin interaction"),
    ("libnvjitlink", "NVIDIA compiler library for JIT LTO functionality"),
    ("libnvjpeg", "CUDA nvJPEG"),
    ("libnvptxcompiler", "CUDA libnvptxcompiler"),
    ("libnvvm", "CUDA NVVM"),
];

/// The file's text, spaced as NVIDIA spaces it; components in the order of their names.
pub fn text(version: Version, components: &[(String, String)]) -> String {
    let mut components: Vec<(&str, &str)> =
        components.iter().map(|(name, version)| (&**name, &**version)).collect();
    components.sort_unstable();
    components.dedup_by_key(|(name, _)| *name);
    let toolkit = version.to_string();
    let mut text = String::from("{\n");
    entry(&mut text, "cuda", "CUDA SDK", &toolkit);
    for (component, version) in components {
        let name = NAMES.iter().find(|(known, _)| *known == component).map_or(component, |(_, name)| name);
        text.push_str(",\n");
        entry(&mut text, component, name, version);
    }
    text.push_str("\n}\n");
    text
}

fn entry(text: &mut String, key: &str, name: &str, version: &str) {
    let [key, name, version] = [key, name, version].map(|value| serde_json::Value::from(value).to_string());
    let _ = write!(text, "   {key} : {{\n      \"name\" : {name},\n      \"version\" : {version}\n   }}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_nvidias() {
        let components = [("libx\"y", "1.0"), ("cuda_nvcc", "13.0.88"), ("cccl", "13.3.5.0.6")];
        let components = components.map(|(name, version)| (name.to_owned(), version.to_owned()));
        let text = text(Version::exact(13, 0, 2), &components);
        let start = "{\n   \"cuda\" : {\n      \"name\" : \"CUDA SDK\",\n      \"version\" : \"13.0.2\"\n   },\n   \"cccl\" : {\n";
        assert!(text.starts_with(start), "{text}");
        assert!(text.ends_with("      \"version\" : \"1.0\"\n   }\n}\n"), "{text}");
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["cuda_nvcc"]["version"], "13.0.88");
        assert_eq!(parsed["cuda_nvcc"]["name"], "CUDA NVCC");
        assert_eq!(parsed["libx\"y"]["name"], "libx\"y");
    }

    #[test]
    fn the_table_is_sorted_and_names_each_component_once() {
        assert!(NAMES.is_sorted_by(|one, next| one.0 < next.0));
    }
}
