//! `/usr/local/cuda`, the toolkit of the whole machine: look at it, decide, repoint it, and put it back.
//!
//! Only this link is ever changed, or, where it belongs to the alternatives system, what that system's own program changes.

pub mod alternatives;
pub mod apply;
pub mod decide;
pub mod loader;
pub mod look;
pub mod state;
