//! NVIDIA's server, or one that is laid out like it: the list of releases and their manifests, with what was seen of them
//! before.

use super::manifest::{self, Manifest, NoManifest};
use super::page;
use crate::disk::digest::sha256;
use crate::disk::{atomic, text};
use crate::failure::{Exit, Failure};
use crate::net::{Client, Error};
use crate::settings::{NVIDIA_CN, Place};
use crate::source::query::{Miss, Query};
use cudaup_core::version::Version;
use std::path::PathBuf;

/// Where the archives of toolkits stand below the server's root.
const TREE: &str = "compute/cuda/redist";

/// The server, and the directory that remembers its manifests.
#[derive(Clone, Debug)]
pub struct Server<'a> {
    client: &'a Client,
    dist: &'a Place,
    memory: Option<PathBuf>,
}

/// A manifest, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it says.
    pub manifest: Manifest,
    /// The address that was asked.
    pub asked: String,
    /// The address that answered, from which the archives' paths go.
    pub answered: String,
    /// Whether it is another one than was seen before.
    pub changed: bool,
    /// Its sha256.
    pub sha256: String,
}

/// What a server says of its releases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The releases, newest first; `None` where it has no list.
    pub versions: Option<Vec<Version>>,
    /// Why what it has in the list's place is none.
    pub unread: Option<String>,
}

/// Why there is no manifest of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// The server does not have it.
    Absent,
    /// It is a list of the driver's parts.
    Stub,
    /// The server did not answer as it should.
    Miss(Miss),
}

impl<'a> Server<'a> {
    /// The server that the settings name.
    pub fn of(query: &Query<'a>) -> Self {
        let dist = &query.reach.dist;
        let home = query.host.home.as_ref();
        let memory = home.map(|home| home.join("cache/manifests").join(folder(&dist.shown())));
        Self { client: &query.reach.client, dist, memory }
    }

    /// The address without what is nobody's to know.
    pub fn shown(&self) -> String {
        self.dist.shown()
    }

    /// Whether this is NVIDIA's own server, whose manifests are the published ones.
    pub fn is_nvidias(&self) -> bool {
        let shown = self.dist.shown();
        let host = shown.split("://").nth(1).unwrap_or_default();
        ["developer.download.nvidia.com", "developer.download.nvidia.cn"].contains(&host)
    }

    /// The releases that the server lists. Without a network those whose manifests were seen before.
    pub fn versions(&self) -> Result<Listed, Miss> {
        let url = self.list();
        let unread = |why: &str| Listed { versions: None, unread: Some(why.to_owned()) };
        match self.page(&url) {
            Ok(page) => match page::versions(&page) {
                versions if versions.is_empty() => Ok(unread("it names no release")),
                versions => Ok(Listed { versions: Some(versions), unread: None }),
            },
            // A mirror need not have a list.
            Err(Error::Status { code: 404 | 410, .. }) => Ok(Listed::default()),
            Err(Error::Status { code: 403, .. }) => Ok(unread("status 403")),
            Err(error @ Error::Offline { .. }) => match self.remembered_versions() {
                versions if versions.is_empty() => Err(Miss::unreached(error)),
                versions => Ok(Listed { versions: Some(versions), unread: None }),
            },
            Err(error) => Err(self.unreached(error)),
        }
    }

    /// Where the list of releases is.
    pub fn list(&self) -> String {
        format!("{}/{TREE}/", self.dist.url)
    }

    /// The list's page. One whose end is missing is asked for once more.
    fn page(&self, url: &str) -> Result<String, Error> {
        let ask = || {
            let answer = self.client.get(url, None, page::LIMIT)?;
            Ok(String::from_utf8_lossy(&answer.body).into_owned())
        };
        let page = ask()?;
        let page = if page::is_cut(&page) { ask()? } else { page };
        if page::is_cut(&page) {
            let why = "the page has no end".to_owned();
            return Err(Error::Cut {
                url: crate::net::shown(url),
                got: page.len() as u64,
                wanted: None,
                why,
            });
        }
        Ok(page)
    }

    /// The manifest of a release as the server has it now. Without a network the one that was seen before.
    pub fn manifest(&self, version: Version) -> Result<Found, NotFound> {
        match self.ask(version) {
            // What came may have been hurt on its way.
            Err(NotFound::Miss(miss)) if miss.failure.exit == Exit::BadBytes => self.ask(version),
            answer => answer,
        }
    }

    fn ask(&self, version: Version) -> Result<Found, NotFound> {
        let asked = self.address(version);
        let (bytes, answered) = match self.client.get(&asked, None, manifest::LIMIT) {
            Ok(answer) => (answer.body, answer.url),
            Err(Error::Status { code: 404 | 410, .. }) => return Err(NotFound::Absent),
            Err(error @ Error::Offline { .. }) => {
                return self.remembered(version).ok_or_else(|| NotFound::Miss(Miss::unreached(error)));
            }
            Err(error) => return Err(NotFound::Miss(self.unreached(error))),
        };
        let text = String::from_utf8_lossy(&bytes);
        let manifest = Manifest::read(&text).map_err(|why| self.unreadable(version, &text, why))?;
        let before = self.file(version).and_then(|f| text::read(&f).ok());
        let changed = before.as_ref().is_some_and(|before| *before != text);
        if before.is_none() || changed {
            self.remember(version, &text);
        }
        let hash = sha256(&bytes);
        Ok(Found { manifest, asked, answered, changed, sha256: hash })
    }

    /// The manifest of a release as it was seen before, without asking.
    pub fn remembered(&self, version: Version) -> Option<Found> {
        let text = text::read(&self.file(version)?).ok()?;
        let asked = self.address(version);
        let hash = sha256(text.as_bytes());
        let manifest = Manifest::read(&text).ok()?;
        Some(Found { manifest, answered: asked.clone(), asked, changed: false, sha256: hash })
    }

    fn address(&self, version: Version) -> String {
        format!("{}/{TREE}/redistrib_{version}.json", self.dist.url)
    }

    fn file(&self, version: Version) -> Option<PathBuf> {
        Some(self.memory.as_ref()?.join(format!("redistrib_{version}.json")))
    }

    fn remembered_versions(&self) -> Vec<Version> {
        let entries = self.memory.as_ref().and_then(|folder| std::fs::read_dir(folder).ok());
        let names = entries.into_iter().flatten().flatten().filter_map(|e| e.file_name().into_string().ok());
        page::versions(&names.collect::<Vec<_>>().join("\n"))
    }

    /// A manifest that cannot be kept is only asked for again. A home that is not there yet is not made for it.
    fn remember(&self, version: Version, text: &str) {
        let Some((folder, file)) = self.memory.as_ref().zip(self.file(version)) else { return };
        let home = folder.ancestors().nth(3).is_some_and(std::path::Path::is_dir);
        if home && std::fs::create_dir_all(folder).is_ok() {
            let _ = atomic::write(&file, text.as_bytes());
        }
    }

    fn unreached(&self, error: Error) -> Miss {
        unreached(self.dist, error)
    }

    fn unreadable(&self, version: Version, text: &str, why: NoManifest) -> NotFound {
        let url = crate::net::shown(&self.address(version));
        if text.trim_start().starts_with('<') {
            return NotFound::Miss(Miss::unreached(Error::Html { url }));
        }
        match why {
            NoManifest::Stub => NotFound::Stub,
            NoManifest::Unreadable(why) => NotFound::Miss(Miss::new(
                "its manifest cannot be read",
                Failure::new(Exit::BadBytes, format!("could not read {url}: {why}")),
            )),
        }
    }
}

/// The no of a server that does not answer as it should. Who has set none can be told of another one.
pub fn unreached(dist: &Place, error: Error) -> Miss {
    let offline = matches!(error, Error::Offline { .. });
    let miss = Miss::unreached(error);
    if offline {
        // No server helps then, whatever its address.
        return miss;
    }
    let failure = match dist.origin.as_str() {
        "default" => miss.failure.hint(format!("CUDAUP_DIST_SERVER={NVIDIA_CN} cudaup ...")),
        origin => miss.failure.hint(format!("the server {} is set by {origin}", dist.shown())),
    };
    Miss { failure, ..miss }
}

/// The name of a directory for a server: what stays of its address as plain letters.
fn folder(address: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-".contains(c) { c } else { '_' };
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    let name: String = address.chars().map(plain).take(200).collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_directories_of_their_own() {
        assert_eq!(folder("https://developer.download.nvidia.com"), "developer.download.nvidia.com");
        assert_eq!(folder("http://127.0.0.1:8123/a/../b"), "127.0.0.1_8123_a_.._b");
        assert_eq!(folder(".."), "");
    }
}
