//! From downloaded parts to a toolkit that works.

pub mod engine;
pub mod headers;
pub mod mend;
pub mod remove;
