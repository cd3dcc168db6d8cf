//! The programs as a user meets them: one binary for all subjects, linked once.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "tests start programs and read what tests/run hands over")]

mod adding;
mod addons;
mod asking;
mod broken;
mod brought_back;
mod build_directories;
mod choosing;
mod discovery;
mod doctor;
mod environment;
mod error_messages;
mod explaining;
#[path = "../../src/source/pypi/fake.rs"]
#[expect(dead_code, reason = "the unit tests use more of it")]
mod fake;
mod from;
mod global;
mod global_managed;
mod habits;
mod hook;
mod hook_bash;
mod hook_beside;
mod hook_elsewhere;
mod hook_fish;
mod hook_limits;
mod hook_neighbours;
mod hook_seen;
mod hook_zsh;
mod host_compilers;
mod init;
mod inspecting;
mod install;
mod installer;
mod keeping;
mod mending;
mod more;
mod net;
mod nobody;
mod odd_places;
mod other_shells;
mod pages;
mod profile;
mod readme;
mod sandbox;
mod shell_driver;
mod shims;
mod start_files;
mod system;
mod system_guards;
mod tcsh;
mod terminal;
mod traps;
mod usage;
