//! no tests yet
