//! cudaup: install CUDA toolkits side by side and use the right one in every project.

mod archive;
mod compat;
mod disk;
mod elf;
mod failure;
mod host;
mod install;
mod net;
mod process;
mod prove;
mod settings;
mod source;
mod toolkit;
mod ui;

fn main() {}
