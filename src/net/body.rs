//! The body of an answer: read with a limit, its end told apart from a cut.

use super::NetSettings;
use super::client::{Tail, text};
use super::error::{self, Error};
use reqwest::blocking::Response;
use reqwest::header::{self, HeaderMap};
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The least that has to come: a server that sends a byte now and then is never silent, and never done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// So many bytes.
    pub bytes: u64,
    /// In each stretch of time as long as this.
    pub within: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { bytes: 60_000, within: Duration::from_secs(60) }
    }
}

/// A body that is being read.
pub(super) struct Body<'a> {
    response: Response,
    url: &'a str,
    settings: &'a NetSettings,
    got: u64,
    wanted: Option<u64>,
    /// When the stretch began in which the pace is measured, and how many bytes had come by then.
    stretch: (Instant, u64),
}

impl<'a> Body<'a> {
    /// The body of `response`, asked for at `url`.
    pub fn new(response: Response, url: &'a str, settings: &'a NetSettings) -> Self {
        let wanted = response.content_length();
        Self { response, url, settings, got: 0, wanted, stretch: (Instant::now(), 0) }
    }

    /// Reads some bytes; 0 is the end.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.response.read(buffer) {
                Ok(count) => {
                    self.got += count as u64;
                    return self.fast_enough().map(|()| count);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failed(&e)),
            }
        }
    }

    fn fast_enough(&mut self) -> Result<(), Error> {
        let Pace { bytes, within } = self.settings.pace;
        let (start, had) = self.stretch;
        if start.elapsed() < within {
            return Ok(());
        }
        let got = self.got - had;
        self.stretch = (Instant::now(), self.got);
        // The last bytes of a file may be few.
        if got >= bytes || self.wanted == Some(self.got) {
            return Ok(());
        }
        Err(Error::Slow { url: error::shown(self.url), got, seconds: start.elapsed().as_secs() })
    }

    /// All of it, if that is at most `limit` bytes.
    pub fn whole(mut self, limit: u64) -> Result<Vec<u8>, Error> {
        let too_large = |url: &str| Error::TooLarge { url: error::shown(url), limit };
        if self.wanted.is_some_and(|wanted| wanted > limit) {
            return Err(too_large(self.url));
        }
        let mut bytes = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = self.read(&mut buffer)?;
            if count == 0 {
                return Ok(bytes);
            }
            if bytes.len() as u64 + count as u64 > limit {
                return Err(too_large(self.url));
            }
            bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
        }
    }

    /// Reads through the whole and keeps the last `keep` bytes.
    pub fn tail(mut self, keep: u64, limit: u64) -> Result<Tail, Error> {
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        let mut bytes: Vec<u8> = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = self.read(&mut buffer)?;
            if self.got > limit || self.wanted.is_some_and(|wanted| wanted > limit) {
                return Err(Error::TooLarge { url: error::shown(self.url), limit });
            }
            bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let spare = bytes.len().saturating_sub(keep);
            if count == 0 || spare >= 1 << 20 {
                bytes.drain(..spare);
            }
            if count == 0 {
                let offset = self.got - bytes.len() as u64;
                return Ok(Tail { bytes, offset, total: self.got });
            }
        }
    }

    fn failed(&self, error: &io::Error) -> Error {
        let url = error::shown(self.url);
        let timed_out = error
            .get_ref()
            .and_then(|e| e.downcast_ref::<reqwest::Error>())
            .is_some_and(reqwest::Error::is_timeout);
        if timed_out || error.kind() == io::ErrorKind::TimedOut {
            return Error::Stalled { url, seconds: self.settings.stall_timeout.as_secs() };
        }
        let why = error.get_ref().map_or_else(|| crate::failure::plain_io(error), |e| error::deepest(e));
        Error::Cut { url, got: self.got, wanted: self.wanted, why }
    }
}

/// Refuses a body that was packed on the way: its length and its ranges are not the file's.
pub(super) fn plain(url: &str, headers: &HeaderMap) -> Result<(), Error> {
    match text(headers, &header::CONTENT_ENCODING) {
        Some(encoding) if !encoding.eq_ignore_ascii_case("identity") => {
            Err(Error::Encoding { url: error::shown(url), encoding })
        }
        _ => Ok(()),
    }
}

/// A document as it was before a server packed it unasked; only gzip is met in practice.
pub(super) fn unpacked(
    url: &str,
    body: Vec<u8>,
    encoding: Option<String>,
    limit: u64,
) -> Result<Vec<u8>, Error> {
    match encoding {
        None => Ok(body),
        Some(encoding) if encoding.eq_ignore_ascii_case("identity") => Ok(body),
        Some(encoding) if matches!(encoding.as_str(), "gzip" | "x-gzip") => {
            let mut plain = Vec::new();
            let read =
                flate2::read::MultiGzDecoder::new(body.as_slice()).take(limit + 1).read_to_end(&mut plain);
            let shown = error::shown(url);
            if let Err(why) = read {
                let why = format!("the packed document is broken: {why}");
                return Err(Error::Cut { url: shown, got: body.len() as u64, wanted: None, why });
            }
            if plain.len() as u64 > limit {
                return Err(Error::TooLarge { url: shown, limit });
            }
            Ok(plain)
        }
        Some(encoding) => Err(Error::Encoding { url: error::shown(url), encoding }),
    }
}
