//! How far a download is.
