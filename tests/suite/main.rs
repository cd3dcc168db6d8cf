//! The programs as a user meets them: one binary for all subjects, linked once.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "tests start programs and read what tests/run hands over")]

mod choosing;
mod environment;
mod installer;
mod sandbox;
