//! The pure rules of cudaup: what a version request means, which toolkit it chooses, and what the environment of that
//! toolkit is. Nothing here reads a file, a variable or a clock: callers hand in what was read.

pub mod version;
