//! Files and directories: written whole or not at all, locked, measured, staged and removed. No link is ever followed
//! out of a tree.

pub mod access;
pub mod atomic;
pub mod digest;
pub mod lock;
pub mod record;
pub mod space;
pub mod staging;
pub mod text;
pub mod tree;
