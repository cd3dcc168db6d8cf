//! What is known of a toolkit tree beyond the rules of core: its receipt and the host compilers it takes.

pub mod host_compiler;
pub mod receipt;
