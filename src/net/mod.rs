//! The network: small documents, ends of files, and whole files that resume. Every failure is named; nothing is retried
//! for ever.

mod body;
mod client;
mod date;
mod error;
mod fetch;
mod part;
mod retry;

#[cfg(test)]
pub mod fault_server;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

pub use client::Client;
pub use error::{Error, shown};
pub use fetch::Wanted;
pub use retry::Patience;

/// How the network is used: settings decide it, nothing below reads the environment but the proxy variables, which the
/// HTTP library reads by itself.
#[derive(Clone, Debug)]
pub struct NetSettings {
    /// How long a connection may take to come about.
    pub connect_timeout: Duration,
    /// How long a server may be silent, before its answer or within it.
    pub stall_timeout: Duration,
    /// What is tried again, how often, and after how long.
    pub patience: Patience,
    /// Files loaded at once.
    pub streams: usize,
    /// PEM bundles that are trusted beside the system's store.
    pub ca_files: Vec<PathBuf>,
    /// No network at all: every request is refused before a connection is made.
    pub offline: bool,
}

impl Default for NetSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            patience: Patience::default(),
            streams: 8,
            ca_files: Vec::new(),
            offline: false,
        }
    }
}
