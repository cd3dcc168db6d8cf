//! A suite on a mirror: found, believed, and its lists of packages fetched.

use super::packages::{self, Package};
use super::release::Release;
use super::signature;
use crate::disk::digest::sha256;
use crate::failure::{Exit, Failure};
use crate::net::{self, Client, Error};
use crate::settings::Mirror;
use crate::source::plan::Platform;
use crate::source::query::{Miss, Query};
use cudaup_core::version::Version;
use std::time::{SystemTime, UNIX_EPOCH};

/// A release of Debian that carries a toolkit.
#[derive(Debug, PartialEq, Eq)]
pub struct Suite {
    /// Its name, which is a directory below `dists`.
    pub name: &'static str,
    /// The toolkit's release. Its update stands in the packages.
    pub release: Version,
    /// Whether it has it for Arm servers.
    pub arm: bool,
}

/// The suites, the newest toolkit first. Later ones have none.
pub const SUITES: [Suite; 3] = [
    Suite { name: "trixie", release: Version::release(12, 4), arm: true },
    Suite { name: "bookworm", release: Version::release(11, 8), arm: true },
    Suite { name: "bullseye", release: Version::release(11, 2), arm: false },
];

/// A Release file is a seventh of this.
const RELEASE_LIMIT: u64 = 4 << 20;

/// The largest list of packages is a seventh of this.
const LIST_LIMIT: u64 = 64 << 20;

/// A suite that was found and may be believed.
pub struct Archive<'a> {
    client: &'a Client,
    mirror: &'a Mirror,
    suite: &'static Suite,
    machine: &'static str,
    release: Release,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// Asks the mirrors one after another; the first that has the suite is it. One whose answer is not what Debian signed is
/// passed over, and that is said. Where none has it, that weighs most, else the first one's no is told.
pub fn open<'a>(
    query: &Query<'a>,
    mirrors: &'a [Mirror],
    suite: &'static Suite,
) -> Result<Archive<'a>, Miss> {
    let mut misses = Vec::new();
    let is_bad = |miss: &Miss| miss.failure.exit == Exit::BadBytes;
    for mirror in mirrors {
        match open_at(query, mirror, suite) {
            Ok(mut archive) => {
                let bad = misses.iter().filter(|miss| is_bad(miss));
                archive.notes.extend(bad.map(|miss| format!("passed over: {}", miss.failure)));
                return Ok(archive);
            }
            Err(miss) => misses.push(miss),
        }
    }
    let worst = misses.iter().position(is_bad).unwrap_or(0);
    Err(misses.into_iter().nth(worst).unwrap_or_else(no_mirror))
}

/// The no of a machine on which no mirror is set.
pub fn no_mirror() -> Miss {
    let message = "no Debian mirror is set: apt names none here, and neither does CUDAUP_DEBIAN_MIRROR";
    let failure = Failure::new(Exit::NoVersion, message)
        .hint("CUDAUP_DEBIAN_MIRROR=http://HOST/debian cudaup install ... (www.debian.org/mirror/list)");
    Miss::new("no mirror set", failure)
}

fn open_at<'a>(query: &Query<'a>, mirror: &'a Mirror, suite: &'static Suite) -> Result<Archive<'a>, Miss> {
    let client = &query.reach.client;
    let url = format!("{}/dists/{}/InRelease", mirror.place.url, suite.name);
    let shown = net::shown(&url);
    let document = client.get(&url, None, RELEASE_LIMIT).map_err(|error| match error {
        Error::Status { code: 403 | 404 | 410, .. } => not_there(mirror, suite),
        error => unreached(error, mirror),
    })?;
    if document.body.trim_ascii_start().first() == Some(&b'<') {
        return Err(unreached(Error::Html { url: shown }, mirror));
    }
    let checked = signature::check(query.host, mirror, &document.body, &shown)
        .map_err(|failure| Miss::new("not signed by Debian", with_origin(failure, mirror)))?;
    let release = Release::parse(&checked.text);
    if release.origin != "Debian" {
        let message =
            format!("{} is an archive of {:?}, not of Debian", mirror.place.shown(), release.origin);
        return Err(Miss::new(
            "no mirror of Debian",
            with_origin(Failure::new(Exit::NoVersion, message), mirror),
        ));
    }
    if release.codename != suite.name {
        // Signed, but for another suite: an answer that was put in the wrong place.
        let message = format!("{shown} is the Release file of {:?}", release.codename);
        return Err(Miss::new("bad Release file", Failure::new(Exit::BadBytes, message)));
    }
    let mut notes: Vec<String> = checked.unchecked.into_iter().collect();
    notes.extend(past(&release, now()));
    let machine = match query.platform {
        Platform::LinuxX86_64 => "amd64",
        Platform::LinuxSbsa | Platform::LinuxAarch64 => "arm64",
    };
    Ok(Archive { client, mirror, suite, machine, release, notes })
}

impl Archive<'_> {
    /// The packages of a section that `wanted` takes.
    pub fn packages(&self, section: &str, wanted: impl Fn(&Package) -> bool) -> Result<Vec<Package>, Miss> {
        let path = format!("{section}/binary-{}/Packages.xz", self.machine);
        let url = format!("{}/dists/{}/{path}", self.mirror.place.url, self.suite.name);
        let shown = net::shown(&url);
        let bad = |why: &str| {
            let failure = Failure::new(Exit::BadBytes, format!("{shown} {why}"));
            Miss::new("bad list of packages", with_origin(failure, self.mirror))
        };
        let Some((hash, size)) = self.release.file(&path) else {
            let message = format!("Debian {} has no {path}", self.suite.name);
            return Err(Miss::new("does not have it", Failure::new(Exit::NoVersion, message)));
        };
        let document =
            self.client.get(&url, None, LIST_LIMIT).map_err(|error| unreached(error, self.mirror))?;
        if sha256(&document.body) != hash || document.body.len() as u64 != size {
            return Err(bad(
                "is not the file that the signed Release file names (a mirror that is being updated?)",
            ));
        }
        packages::read(&document.body, wanted).map_err(|why| bad(&format!("cannot be read: {why}")))
    }

    /// A package's address.
    pub fn address(&self, package: &Package) -> String {
        format!("{}/{}", self.mirror.place.url, package.path)
    }
}

/// A Release file of an archived suite is old, and still what Debian signed.
fn past(release: &Release, now: u64) -> Option<String> {
    let until = release.valid_until.as_deref()?;
    let seconds = net::unix_seconds(&until.replace("UTC", "GMT"))?;
    (seconds < now).then(|| format!("Debian's {} was to be believed until {until}", release.codename))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn not_there(mirror: &Mirror, suite: &Suite) -> Miss {
    let (shown, name, release) = (mirror.place.shown(), suite.name, suite.release);
    let message = format!("{shown} does not have the Debian release {name}, which has CUDA {release}");
    Miss::new(
        format!("the mirror has no {name}"),
        with_origin(Failure::new(Exit::NoVersion, message), mirror),
    )
}

fn unreached(error: Error, mirror: &Mirror) -> Miss {
    if matches!(error, Error::Offline { .. }) {
        return Miss::unreached(error);
    }
    let miss = Miss::unreached(error);
    Miss { failure: with_origin(miss.failure, mirror), ..miss }
}

fn with_origin(failure: Failure, mirror: &Mirror) -> Failure {
    let (shown, origin) = (mirror.place.shown(), &mirror.place.origin);
    failure.hint(format!(
        "the Debian mirror {shown} is set by {origin}; CUDAUP_DEBIAN_MIRROR=http://HOST/debian names another"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_release_file_is_named() {
        let text = "Origin: Debian\nCodename: trixie\nValid-Until: Sat, 18 Jul 2026 10:16:37 UTC\n";
        let until = 1_784_369_797;
        assert_eq!(past(&Release::parse(text), until), None);
        let note = past(&Release::parse(text), until + 1).unwrap();
        assert_eq!(note, "Debian's trixie was to be believed until Sat, 18 Jul 2026 10:16:37 UTC");
        assert_eq!(past(&Release::parse("Codename: trixie\n"), u64::MAX), None);
    }
}
