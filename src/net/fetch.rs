//! One whole file: resumed where an earlier try stopped, hashed while it is written, and only then given its name.

use super::body::{self, Body};
use super::client::{Client, content_range, good, text};
use super::error::{self, Error};
use super::part::{self, Origin, Part};
use super::retry::{Next, Tries};
use reqwest::StatusCode;
use reqwest::blocking::Response;
use reqwest::header;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// A file as the plan knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where it is.
    pub url: String,
    /// How long it is.
    pub size: Option<u64>,
    /// Its sha256 in lower-case hex.
    pub sha256: Option<String>,
}

/// Told the length reached so far, it says whether to go on.
pub type Watch<'a> = &'a dyn Fn(u64) -> ControlFlow<()>;

/// How a pause notices that it is to stop.
const TICK: Duration = Duration::from_millis(50);

impl Client {
    /// Loads a file to `file`. A whole one that is there already is checked and kept; what an earlier run began is gone
    /// on with. Only one caller at a time may load to the same path.
    pub fn fetch(&self, wanted: &Wanted, file: &Path, seen: Watch<'_>) -> Result<(), Error> {
        if let Some((sha256, size)) = part::digest_of(file)? {
            if wanted.judge(&sha256, size, None).is_ok() {
                let _ = seen(size);
                return Ok(());
            }
            std::fs::remove_file(file)
                .map_err(|e| Error::Disk(crate::failure::Failure::io("remove", file, &e)))?;
        }
        match self.load(wanted, file, seen) {
            // Bytes that are wrong may come of a part that never fitted, or of one bad transfer: once more, from nothing.
            Err(Error::Hash { .. } | Error::Size { .. }) => self.load(wanted, file, seen),
            done => done,
        }
    }

    /// Tries until the file is whole, wrong, or out of reach. A part with bytes in it that may be right stays.
    fn load(&self, wanted: &Wanted, file: &Path, seen: Watch<'_>) -> Result<(), Error> {
        let mut part = Part::open(file)?;
        let done = self.try_often(wanted, &mut part, seen);
        let judged = done.and_then(|total| wanted.judge(&part.sha256(), part.length(), total));
        match judged {
            Ok(()) => part.finish(file),
            Err(error) => {
                if part.length() == 0 || matches!(error, Error::Hash { .. } | Error::Size { .. }) {
                    part.discard();
                }
                Err(error)
            }
        }
    }

    fn try_often(&self, wanted: &Wanted, part: &mut Part, seen: Watch<'_>) -> Result<Option<u64>, Error> {
        let mut tries = Tries::default();
        loop {
            let error = match self.attempt(wanted, part, seen) {
                Ok(total) => return Ok(total),
                Err(error) => error,
            };
            match tries.after(&self.settings.patience, &error, part.length()) {
                Next::Again(wait) => pause(wait, wanted, part.length(), seen)?,
                Next::GiveUp => return Err(error),
            }
        }
    }

    /// One request that brings the part further, up to the file's end. Returns the length that the server claims.
    fn attempt(&self, wanted: &Wanted, part: &mut Part, seen: Watch<'_>) -> Result<Option<u64>, Error> {
        if wanted.size.is_some_and(|size| part.length() > size) {
            part.restart(Origin::default())?;
        }
        if part.length() > 0 && wanted.size == Some(part.length()) {
            return Ok(None);
        }
        let Some((response, total)) = self.open(wanted, part)? else { return Ok(None) };
        let mut body = Body::new(response, &wanted.url, &self.settings);
        let mut buffer = part::buffer();
        loop {
            if seen(part.length()).is_break() {
                return Err(Error::Stopped { url: error::shown(&wanted.url) });
            }
            let count = body.read(&mut buffer)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            if part.length() == 0 && looks_like_html(bytes) {
                return Err(Error::Html { url: error::shown(&wanted.url) });
            }
            if let (Some(size), Some(total)) = (wanted.size, total)
                && total < size
            {
                return Err(Error::Size { url: error::shown(&wanted.url), wanted: size, got: total });
            }
            // Whatever the server sends beyond the file's length is not read: the hash decides over what is there.
            let room = wanted.size.map_or(u64::MAX, |size| size - part.length());
            let fitting = usize::try_from(room).unwrap_or(usize::MAX).min(count);
            part.append(bytes.get(..fitting).unwrap_or_default())?;
            let whole = wanted.size.is_some_and(|size| part.length() == size);
            if whole {
                let _ = seen(part.length());
                return Ok(total);
            }
            if count == 0 {
                return match wanted.size.or(total) {
                    Some(size) if part.length() < size => Err(cut(wanted, part.length(), size)),
                    _ => Ok(total),
                };
            }
        }
    }

    /// Asks for the missing bytes and prepares the part for what the server gives instead. `None`: nothing is missing.
    fn open(&self, wanted: &Wanted, part: &mut Part) -> Result<Option<(Response, Option<u64>)>, Error> {
        let validator =
            part.origin().validator.clone().filter(|_| part.origin().url == error::shown(&wanted.url));
        let resumable = part.length() > 0 && (validator.is_some() || wanted.sha256.is_some());
        let mut request = self.request(&wanted.url)?;
        if resumable {
            request = request.header(header::RANGE, format!("bytes={}-", part.length()));
            if let Some(validator) = validator {
                request = request.header(header::IF_RANGE, validator);
            }
        }
        let response = self.send(&wanted.url, request)?;
        let range = content_range(response.headers());
        if resumable && response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            // No byte lies behind ours: it is whole where the server's length says so, else it is a part of nothing.
            if wanted.size.is_none() && range.and_then(|r| r.total) == Some(part.length()) {
                return Ok(None);
            }
            part.restart(Origin::default())?;
            return self.open(wanted, part);
        }
        let response = good(&wanted.url, response)?;
        body::plain(&wanted.url, response.headers())?;
        let kind = text(response.headers(), &header::CONTENT_TYPE).unwrap_or_default();
        if kind.trim_start().to_ascii_lowercase().starts_with("text/html") {
            return Err(Error::Html { url: error::shown(&wanted.url) });
        }
        if response.status() == StatusCode::PARTIAL_CONTENT {
            let fits = resumable && range.is_some_and(|r| r.start == part.length());
            if !fits {
                let why = "the server sent another range than was asked for".to_owned();
                let got = part.length();
                part.restart(Origin::default())?;
                return Err(Error::Cut { url: error::shown(&wanted.url), got, wanted: wanted.size, why });
            }
            return Ok(Some((response, range.and_then(|r| r.total))));
        }
        part.restart(origin(&wanted.url, &response))?;
        let total = response.content_length();
        Ok(Some((response, total)))
    }
}

impl Wanted {
    /// Whether a file of this hash and length is the wanted one. `total` is the length that the server named.
    fn judge(&self, sha256: &str, size: u64, total: Option<u64>) -> Result<(), Error> {
        let url = || error::shown(&self.url);
        let hash_fits = self.sha256.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(sha256));
        match self.size {
            Some(wanted) if size != wanted => Err(Error::Size { url: url(), wanted, got: size }),
            _ if hash_fits => Ok(()),
            // The length tells more than the hash, where both are wrong.
            Some(wanted) if total.is_some_and(|total| total != wanted) => {
                Err(Error::Size { url: url(), wanted, got: total.unwrap_or(size) })
            }
            _ => {
                let wanted = self.sha256.clone().unwrap_or_default();
                Err(Error::Hash { url: url(), wanted, got: sha256.to_owned() })
            }
        }
    }
}

/// What `If-Range` may name: an `ETag` only if it is strong, else the date.
fn origin(url: &str, response: &Response) -> Origin {
    let etag = text(response.headers(), &header::ETAG).filter(|etag| etag.starts_with('"'));
    let validator = etag.or_else(|| text(response.headers(), &header::LAST_MODIFIED));
    Origin { url: error::shown(url), validator }
}

fn cut(wanted: &Wanted, got: u64, size: u64) -> Error {
    Error::Cut { url: error::shown(&wanted.url), got, wanted: Some(size), why: String::new() }
}

/// A page that comes under a wrong or no type.
fn looks_like_html(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    let begins =
        |with: &str| start.get(..with.len()).is_some_and(|s| s.eq_ignore_ascii_case(with.as_bytes()));
    begins("<!doctype html") || begins("<html")
}

fn pause(wait: Duration, wanted: &Wanted, length: u64, seen: Watch<'_>) -> Result<(), Error> {
    let start = Instant::now();
    loop {
        if seen(length).is_break() {
            return Err(Error::Stopped { url: error::shown(&wanted.url) });
        }
        let left = wait.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(TICK));
    }
}
