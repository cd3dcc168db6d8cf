//! cudaup: install CUDA toolkits side by side and use the right one in every project.

mod elf;
mod failure;
mod host;
mod install;
mod process;
mod prove;
mod toolkit;

fn main() {}
