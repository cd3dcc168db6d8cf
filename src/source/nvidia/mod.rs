//! NVIDIA's redistributable archives: every toolkit since 11.4.2, a manifest for each.

pub mod manifest;
