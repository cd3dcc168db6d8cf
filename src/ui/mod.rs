//! What a person sees: lines and bars on stderr, views on stdout.

pub mod progress;
pub mod talk;
pub mod view;
