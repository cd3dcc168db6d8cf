//! What fits what: NVIDIA's own tables, and the rules over them.

pub mod driver;
pub mod releases;
