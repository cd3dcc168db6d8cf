//! A mirror of made-up packages for the tests.
