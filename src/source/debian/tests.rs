//! The source from end to end.
