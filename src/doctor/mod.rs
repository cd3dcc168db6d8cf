//! The doctor: gathers what is known of the machine, finds what does not fit, and puts the cause before its consequences.

pub mod chain;
pub mod checks;
pub mod codes;
pub mod diagnose;
pub mod explain;
pub mod finding;
pub mod inspect;
pub mod look;
pub mod machine;
pub mod verify;
