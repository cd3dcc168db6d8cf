//! The programs as a user meets them: one binary for all subjects, linked once.
#![cfg(test)]

mod installer;
