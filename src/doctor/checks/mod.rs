//! The checks, one file for each layer of the chain: pure functions from what is known to what does not fit.

mod architecture;
mod builds;
mod compiler;
mod driver;
mod environment;
mod framework;
mod gpu;
mod libraries;
mod toolkit;

use crate::doctor::finding::Finding;
use crate::doctor::machine::Machine;

/// A check of one layer.
pub type Check = fn(&Machine) -> Vec<Finding>;

/// All checks, in the order of the chain.
pub const CHECKS: [Check; 9] = [
    driver::check,
    gpu::check,
    toolkit::check,
    architecture::check,
    environment::check,
    compiler::check,
    framework::check,
    libraries::check,
    builds::check,
];
