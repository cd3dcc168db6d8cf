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

use crate::failure::{Exit, Failure};
use std::path::PathBuf;
use std::time::Duration;

pub use body::Pace;
pub use client::Client;
pub use date::unix_seconds;
pub use error::{Error, shown};
pub use fetch::Wanted;
pub use retry::Patience;

/// How the network is used. Settings decide it; nothing here reads the environment.
#[derive(Clone, Debug)]
pub struct NetSettings {
    /// How long a connection may take to come about.
    pub connect_timeout: Duration,
    /// How long a server may be silent, before its answer or within it.
    pub stall_timeout: Duration,
    /// What is too slow to be waited for.
    pub pace: Pace,
    /// What is tried again, how often, and after how long.
    pub patience: Patience,
    /// Files loaded at once.
    pub streams: usize,
    /// PEM bundles that are trusted beside the system's store.
    pub ca_files: Vec<PathBuf>,
    /// Proxy variables that are set, as `https_proxy=http://host:port`: named where no connection comes about. The HTTP
    /// library reads the variables by itself.
    pub proxies: Vec<String>,
    /// No network at all: every request is refused before a connection is made.
    pub offline: bool,
}

impl Default for NetSettings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            pace: Pace::default(),
            patience: Patience::default(),
            streams: 8,
            ca_files: Vec::new(),
            proxies: Vec::new(),
            offline: false,
        }
    }
}

/// The proxy variables among those that `var` knows, for [`NetSettings::proxies`]; passwords are left out. One that is no
/// address of a proxy is an error: the HTTP library would pass it over, and go out directly where that is not wanted.
pub fn proxies<'a>(var: impl Fn(&str) -> Option<&'a str>) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for name in ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        let Some(value) = var(name).filter(|value| !value.is_empty()) else { continue };
        let address = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
        if !is_proxy(&address) {
            let message = format!("{name} names {}, which is no address of a proxy", shown(value));
            return Err(Failure::new(Exit::Usage, message).hint(format!("export {name}=http://HOST:PORT")));
        }
        found.push(format!("{name}={}", shown(&address)));
    }
    Ok(found)
}

fn is_proxy(address: &str) -> bool {
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];
    let fits = |url: reqwest::Url| url.has_host() && schemes.contains(&url.scheme());
    address.bytes().all(|b| b.is_ascii_graphic()) && reqwest::Url::parse(address).is_ok_and(fits)
}
