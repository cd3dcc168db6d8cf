//! cudaup: install CUDA toolkits side by side and use the right one in every project.

mod failure;
mod host;
mod net;
mod settings;
mod source;

fn main() {}
