//! What is known of the machine and the project, gathered without changing anything.

pub mod build_directory;
pub mod driver;
