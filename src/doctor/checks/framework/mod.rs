//! Checks of the Python frameworks: whether they were built for this driver, these GPUs, this nvcc, and for each other.

mod companions;
#[cfg(test)]
mod field;
mod ground;
mod others;
#[cfg(test)]
mod tests;
mod torch;
mod wheels;

use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::Machine;

/// All checks of this layer.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 20] = [
        torch::cpu_only,
        torch::rocm,
        torch::driver_too_old,
        torch::newer_than_driver,
        torch::no_kernel_image,
        torch::dropped_by_cuda_13,
        torch::nvcc_major,
        torch::nvcc_minor,
        torch::nvcc_too_old,
        companions::of_another_torch,
        companions::of_another_backend,
        companions::bitsandbytes,
        wheels::mixed,
        others::jax_without_plugin,
        others::jax_plugins,
        others::tensorflow_without_cuda,
        others::onnxruntime_twice,
        others::llama_cpp_build,
        others::llama_cpp_cpu,
        others::vllm_cpu,
    ];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Framework, code, sentence)
}
