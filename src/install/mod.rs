//! From downloaded parts to a toolkit that works.

pub mod headers;
pub mod mend;
#[cfg(test)]
mod real_wheels;
