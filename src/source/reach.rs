//! The way to the sources: the client and the index, as the settings want them.

use crate::failure::Failure;
use crate::host::Host;
use crate::net::{self, Client, NetSettings};
use crate::settings::{self, Indexes, Place};
use std::path::Path;
use std::time::Duration;

/// The network, ready to be asked. Nothing is connected yet.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The client.
    pub client: Client,
    /// The package index.
    pub indexes: Indexes,
    /// The server that has NVIDIA's redistributable archives.
    pub dist: Place,
    /// Whether archives stay after an install.
    pub keep: bool,
}

/// Reads the settings of the home and of the machine.
pub fn reach(host: &Host, home: &Path) -> Result<Reach, Failure> {
    let config = settings::config(home)?;
    let indexes = settings::indexes(host)?;
    let usual = NetSettings::default();
    let seconds = |set: Option<u64>, usual| set.map_or(usual, Duration::from_secs);
    let network = NetSettings {
        connect_timeout: seconds(config.network.connect_timeout, usual.connect_timeout),
        stall_timeout: seconds(config.network.stall_timeout, usual.stall_timeout),
        streams: config.network.streams.filter(|s| *s > 0).unwrap_or(usual.streams),
        ca_files: indexes.certificates.clone(),
        proxies: net::proxies(|name| host.text(name))?,
        offline: config.network.offline || host.offline,
        ..usual
    };
    Ok(Reach {
        client: Client::new(&network)?,
        indexes,
        dist: settings::dist_server(host, &config)?,
        keep: config.cache.keep,
    })
}
