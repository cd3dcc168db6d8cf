//! `config.toml`: network and cache. What changes which toolkit is chosen, or its environment, stands in `default`.

use crate::disk::text;
use crate::failure::Failure;
use serde::Deserialize;
use std::path::Path;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How the network is used.
    pub network: Network,
    /// What is kept.
    pub cache: Cache,
    /// Where Debian's packages are.
    pub debian: Debian,
}

/// How the network is used; what is absent has cudaup's own value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Seconds that a connection may take to come about.
    pub connect_timeout: Option<u64>,
    /// Seconds that a server may be silent.
    pub stall_timeout: Option<u64>,
    /// Files loaded at once.
    pub streams: Option<usize>,
    /// Whether no connection is made at all.
    pub offline: bool,
    /// The root of the server that has NVIDIA's redistributable archives; `cn` is NVIDIA's own in China.
    pub dist_server: Option<String>,
}

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// Whether archives stay after an install.
    pub keep: bool,
}

/// Where Debian's packages are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Debian {
    /// The mirror's address, the directory that holds `dists` and `pool`.
    pub mirror: Option<String>,
}

/// Reads the file; an absent one says nothing.
pub fn read(path: &Path) -> Result<Config, Failure> {
    match text::read(path) {
        Ok(text) => parse(&text).map_err(|why| Failure::failed(format!("{}: {why}", path.display()))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Config::default()),
        Err(e) => Err(Failure::io("read", path, &e)),
    }
}

fn parse(text: &str) -> Result<Config, String> {
    toml::from_str(text).map_err(|e: toml::de::Error| {
        let line = e.span().and_then(|s| text.get(..s.start)).map(|t| t.matches('\n').count() + 1);
        let place = line.map_or_else(String::new, |l| format!("line {l}: "));
        format!("{place}{}", e.message().lines().next().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_as_much_as_it_likes() {
        assert_eq!(parse("").unwrap(), Config::default());
        let config = parse("[network]\nstreams = 4\noffline = true\n[cache]\nkeep = true").unwrap();
        assert!(config.network.offline && config.cache.keep && config.network.streams == Some(4));
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let why = parse("[network]\nstreams = 4\nstraems = 4").unwrap_err();
        assert!(why.starts_with("line 3: ") && why.contains("straems"), "{why}");
        assert!(parse("[cache]\nkeep = 'yes'").unwrap_err().starts_with("line 2: "));
    }
}
