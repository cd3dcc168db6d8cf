//! What is known of a toolkit tree beyond the rules of core: its receipt, the host compilers it takes, what its nvcc says.

pub mod ask;
pub mod host_compiler;
pub mod receipt;
