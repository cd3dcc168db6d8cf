//! cudaup: install CUDA toolkits side by side and use the right one in every project.

mod archive;
mod disk;
mod failure;
mod host;
mod net;
mod ui;

fn main() {}
