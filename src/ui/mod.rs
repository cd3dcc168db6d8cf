//! What a person sees.

pub mod progress;
pub mod talk;
