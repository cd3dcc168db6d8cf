//! What fits what: NVIDIA's own tables, and the rules over them.

pub mod addons;
pub mod arch;
pub mod compilers;
pub mod cudnn;
pub mod driver;
pub mod errors;
pub mod frameworks;
pub mod gpu;
pub mod pep440;
pub mod releases;
pub mod torch;
