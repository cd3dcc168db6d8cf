//! The checks, one file for each layer of the chain: pure functions from what is known to what does not fit.

mod framework;
mod libraries;

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;

/// A check of one layer.
pub type Check = fn(&Machine) -> Vec<Finding>;

/// All checks, in the order of the chain.
pub const CHECKS: [Check; 2] = [framework::check, libraries::check];
