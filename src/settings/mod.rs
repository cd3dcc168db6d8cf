//! What the user and the machine have set: `config.toml`, and the package index that pip and uv are set to use.

mod apt;
mod config;
mod ini;
mod pip;
mod uv;

use crate::disk;
use crate::failure::{Exit, Failure};
use crate::host::Host;
use std::path::{Path, PathBuf};

pub use config::Config;

/// Where PyPI is, when nothing says otherwise.
pub const PYPI: &str = "https://pypi.org/simple";

/// NVIDIA's download server.
pub const NVIDIA: &str = "https://developer.download.nvidia.com";
/// The same in China.
pub const NVIDIA_CN: &str = "https://developer.download.nvidia.cn";

/// The server that has NVIDIA's redistributable archives: `CUDAUP_DIST_SERVER`, `dist_server` in `config.toml`, NVIDIA's.
pub fn dist_server(host: &Host, config: &Config) -> Result<Place, Failure> {
    let variable = host.text("CUDAUP_DIST_SERVER").map(|url| (url.to_owned(), "CUDAUP_DIST_SERVER"));
    let set = variable.or_else(|| config.network.dist_server.clone().map(|url| (url, "config.toml")));
    let (url, origin) = set.unwrap_or_else(|| (NVIDIA.to_owned(), "default"));
    let url = if url.trim() == "cn" { NVIDIA_CN.to_owned() } else { url };
    place(&url, origin).ok_or_else(|| {
        let message = format!("{origin} names {} as NVIDIA's server, which is no web address", shown(&url));
        Failure::new(Exit::Usage, message).hint(format!("export CUDAUP_DIST_SERVER={NVIDIA_CN}"))
    })
}

/// Where Debian's own keys lie, under the names of old and new releases.
const DEBIAN_KEYS: [&str; 2] =
    ["/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"];

/// A mirror of Debian's archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The address of the directory that holds `dists` and `pool`, and what named it.
    pub place: Place,
    /// The files of keys by which the archive's signature is checked; none where this machine has none.
    pub keys: Vec<PathBuf>,
}

/// Debian's mirrors, the best first: `CUDAUP_DEBIAN_MIRROR` or `mirror` in `config.toml` alone, else those that apt uses.
/// None where nothing is set.
pub fn debian_mirrors(host: &Host, config: &Config) -> Result<Vec<Mirror>, Failure> {
    let own: Vec<PathBuf> =
        DEBIAN_KEYS.iter().map(|k| host.system(k)).filter(|k| k.is_file()).take(1).collect();
    let variable = host.text("CUDAUP_DEBIAN_MIRROR").map(|url| (url.to_owned(), "CUDAUP_DEBIAN_MIRROR"));
    let set = variable.or_else(|| config.debian.mirror.clone().map(|url| (url, "config.toml")));
    if let Some((url, origin)) = set {
        let place = place(&url, origin).ok_or_else(|| {
            let message =
                format!("{origin} names {} as the Debian mirror, which is no web address", shown(&url));
            Failure::new(Exit::Usage, message).hint("export CUDAUP_DEBIAN_MIRROR=http://HOST/debian")
        })?;
        return Ok(vec![Mirror { place, keys: own }]);
    }
    Ok(apt::mirrors(host, &own))
}

/// The index and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexes {
    /// The index, then the further ones that are asked for what it does not have.
    pub places: Vec<Place>,
    /// Files of certificates that are trusted besides the system's.
    pub certificates: Vec<PathBuf>,
    /// Settings that were passed over, and why.
    pub notes: Vec<String>,
}

/// One package index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its address without a slash at the end; may hold a password.
    pub url: String,
    /// What named it: a variable, a file or `default`.
    pub origin: String,
}

impl Place {
    /// The address without user name, password and query, for people to read.
    pub fn shown(&self) -> String {
        shown(&self.url)
    }

    /// The address of a project's page.
    pub fn project(&self, name: &str) -> String {
        format!("{}/{name}/", self.url)
    }
}

/// An address without user name, password and query. A password with a slash, a hash or a question mark in it makes no
/// proper address, but it is a password: everything up to the last `@` goes.
fn shown(url: &str) -> String {
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['@', ':']) => (format!("{scheme}://"), rest),
        _ => (String::new(), url),
    };
    let host = rest.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{}", host.split(['?', '#']).next().unwrap_or_default())
}

/// What one place says about indexes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    index: Option<String>,
    extra: Vec<String>,
    certificate: Option<PathBuf>,
}

/// Reads `config.toml` in a cudaup home; one that is absent says nothing.
pub fn config(home: &Path) -> Result<Config, Failure> {
    config::read(&home.join("config.toml"))
}

/// Finds the index as pip and uv would, the first that is set: pip's variable, uv's, pip's files, uv's files, PyPI itself.
pub fn indexes(host: &Host) -> Result<Indexes, Failure> {
    let mut notes = Vec::new();
    let pip = pip::files(host, &mut notes);
    let uv = uv::files(host, &mut notes);
    let variable = |name: &str| host.text(name).map(|v| (v.to_owned(), name.to_owned()));
    let named = |name: &str| variable(name).map(|(v, n)| (uv::address(&v), n));

    let mut chosen =
        variable("PIP_INDEX_URL").or_else(|| named("UV_DEFAULT_INDEX")).or_else(|| named("UV_INDEX_URL"));
    for (said, origin) in pip.iter().chain(&uv) {
        chosen = chosen.or_else(|| said.index.clone().map(|url| (url, origin.clone())));
    }
    let (url, origin) = chosen.unwrap_or_else(|| (PYPI.to_owned(), "default".to_owned()));
    let first = place(&url, &origin).ok_or_else(|| {
        Failure::failed(format!(
            "{origin} names {} as the package index, which is no web address",
            shown(&url)
        ))
    })?;

    let mut further = Vec::new();
    for name in ["PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL"] {
        let value = host.text(name).unwrap_or_default();
        further.extend(value.split_whitespace().map(|v| (uv::address(v), name.to_owned())));
    }
    for (said, origin) in pip.iter().chain(&uv) {
        further.extend(said.extra.iter().map(|url| (url.clone(), origin.clone())));
    }
    let mut places = vec![first];
    for (url, origin) in further {
        match place(&url, &origin) {
            Some(place) if places.iter().any(|p| p.url == place.url) => {}
            Some(place) => places.push(place),
            None => notes.push(format!("{origin} names {}, which is no web address", shown(&url))),
        }
    }
    let certificates = certificates(host, &pip, &mut notes);
    Ok(Indexes { places, certificates, notes })
}

fn place(url: &str, origin: &str) -> Option<Place> {
    let url = url.trim().trim_end_matches('/');
    let scheme = url.split_once("://")?.0.to_ascii_lowercase();
    let web = matches!(scheme.as_str(), "http" | "https");
    web.then(|| Place { url: url.to_owned(), origin: origin.to_owned() })
}

fn certificates(host: &Host, pip: &[(Said, String)], notes: &mut Vec<String>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let variables = ["PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
    let set = variables.iter().filter_map(|n| Some((PathBuf::from(host.var(n)?), (*n).to_owned())));
    let in_files = pip.iter().filter_map(|(said, origin)| Some((said.certificate.clone()?, origin.clone())));
    for (path, origin) in set.chain(in_files.take(1)) {
        if !path.is_file() {
            notes.push(format!("{origin} names {} for certificates, which is no file", path.display()));
        } else if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// A settings file's text; one that is absent is `None`, one that cannot be read is also said.
fn text(path: &Path, notes: &mut Vec<String>) -> Option<String> {
    if path == Path::new("/dev/null") {
        return None;
    }
    match disk::text::read(path) {
        Ok(text) => Some(text),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            None
        }
        Err(e) => {
            notes.push(format!("could not read {}: {}", path.display(), crate::failure::plain_io(&e)));
            None
        }
    }
}

#[cfg(test)]
mod tests;
