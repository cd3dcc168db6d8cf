//! NVIDIA's tools that people and builds start by name, each with the part of a toolkit that brings it. Source: the
//! redistributable archives of 11.4 to 13.0.

/// A tool and its part.
pub const TOOLS: [(&str, &str); 25] = [
    ("__nvcc_device_query", "cuda_nvcc"),
    ("bin2c", "cuda_nvcc"),
    ("compute-sanitizer", "cuda_sanitizer_api"),
    ("cu++filt", "cuda_cuxxfilt"),
    ("cuda-gdb", "cuda_gdb"),
    ("cuda-gdbserver", "cuda_gdb"),
    ("cuda-memcheck", "cuda_memcheck"),
    ("cudafe++", "cuda_nvcc"),
    ("cuobjdump", "cuda_cuobjdump"),
    ("fatbinary", "cuda_nvcc"),
    ("ncu", "nsight_compute"),
    ("ncu-ui", "nsight_compute"),
    ("nsight", "cuda_nsight"),
    ("nsight-sys", "nsight_systems"),
    ("nsys", "nsight_systems"),
    ("nsys-exporter", "nsight_systems"),
    ("nsys-ui", "nsight_systems"),
    ("nvcc", "cuda_nvcc"),
    ("nvdisasm", "cuda_nvdisasm"),
    ("nvlink", "cuda_nvcc"),
    ("nvprof", "cuda_nvprof"),
    ("nvprune", "cuda_nvprune"),
    ("nvvp", "cuda_nvvp"),
    ("ptxas", "cuda_nvcc"),
    ("tileiras", "cuda_tileiras"),
];

/// The part that brings a tool.
pub fn part_of(tool: &str) -> Option<&'static str> {
    TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, part)| *part)
}
