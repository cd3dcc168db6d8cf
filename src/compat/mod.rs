//! What fits what: NVIDIA's own tables, and the rules over them.

pub mod addons;
pub mod arch;
pub mod driver;
pub mod gpu;
pub mod releases;
