//! The small program behind every shim.

fn main() {}
