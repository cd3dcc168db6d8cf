//! The HTTP client: how connections are made, and the two small requests, a document and the end of a file.

use super::NetSettings;
use super::body::{self, Body};
use super::error::{self, Error};
use super::retry::{Next, Tries, retry_after};
use crate::failure::{Exit, Failure};
use reqwest::blocking::{RequestBuilder, Response};
use reqwest::header::{self, HeaderMap};
use reqwest::{StatusCode, redirect};
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Redirects that are followed in a row.
const REDIRECTS: usize = 10;

/// How much of a file is read to get at its end, where a server knows no ranges.
const WHOLE_FOR_TAIL: u64 = 64 << 20;

/// Requests over kept connections. Clones share them.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::blocking::Client,
    pub(super) settings: NetSettings,
    /// The machine has no store of certificates, and no bundle was named: said when an https address fails.
    rootless: bool,
}

/// A small document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its bytes, unpacked where the server packed them.
    pub body: Vec<u8>,
    /// What the server says it is.
    pub content_type: Option<String>,
    /// The address that gave it in the end, after redirects: what relative links in it start from.
    pub url: String,
}

/// The last bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where in the file they start.
    pub offset: u64,
    /// The length of the file.
    pub total: u64,
}

impl Client {
    /// Whether nothing is to be asked of the network.
    pub fn offline(&self) -> bool {
        self.settings.offline
    }

    /// Reads the bundles and prepares the client. No connection is made yet.
    pub fn new(settings: &NetSettings) -> Result<Self, Failure> {
        let mut extra = Vec::new();
        for file in &settings.ca_files {
            extra.extend(read_bundle(file)?);
        }
        let builder = || {
            reqwest::blocking::Client::builder()
                .user_agent(concat!("cudaup/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(settings.connect_timeout)
                .timeout(settings.stall_timeout)
                .pool_max_idle_per_host(settings.streams)
                .redirect(redirect::Policy::custom(follow))
        };
        let (http, rootless) = match builder().tls_certs_merge(extra).build() {
            Ok(http) => (http, false),
            // Without any certificate on the machine the library refuses to be built, yet http:// needs none.
            Err(_) if settings.ca_files.is_empty() => {
                let http = builder().tls_certs_only([]).build().map_err(|e| unusable(&e))?;
                (http, true)
            }
            Err(error) => return Err(unusable(&error)),
        };
        Ok(Self { http, settings: settings.clone(), rootless })
    }

    /// A small document of at most `limit` bytes. `accept` is the kind that is wanted.
    pub fn get(&self, url: &str, accept: Option<&str>, limit: u64) -> Result<Document, Error> {
        self.retried(|| {
            let mut request = self.request(url)?;
            if let Some(accept) = accept {
                request = request.header(header::ACCEPT, accept);
            }
            let response = good(url, self.send(url, request)?)?;
            let content_type = text(response.headers(), &header::CONTENT_TYPE);
            let address = response.url().to_string();
            let packed = text(response.headers(), &header::CONTENT_ENCODING);
            let body = Body::new(response, url, &self.settings).whole(limit)?;
            Ok(Document { body: body::unpacked(url, body, packed, limit)?, content_type, url: address })
        })
    }

    /// The last `bytes` bytes of a file, or all of it where it is shorter.
    pub fn get_tail(&self, url: &str, bytes: u64) -> Result<Tail, Error> {
        self.retried(|| {
            let request = self.request(url)?.header(header::RANGE, format!("bytes=-{bytes}"));
            let response = good(url, self.send(url, request)?)?;
            body::plain(url, response.headers())?;
            let range = content_range(response.headers());
            let partial = response.status() == StatusCode::PARTIAL_CONTENT;
            let body = Body::new(response, url, &self.settings);
            match range {
                Some(Range { start, total: Some(total) }) if partial => {
                    let tail = body.whole(bytes)?;
                    let shown = error::shown(url);
                    let end = start + tail.len() as u64;
                    if end != total {
                        let why = "the answer is not the end of the file".to_owned();
                        return Err(Error::Cut { url: shown, got: end, wanted: Some(total), why });
                    }
                    Ok(Tail { bytes: tail, offset: start, total })
                }
                _ => body.tail(bytes, WHOLE_FOR_TAIL),
            }
        })
    }

    /// The length of a file, where the server says it. Nothing of it is read.
    pub fn length(&self, url: &str) -> Result<Option<u64>, Error> {
        self.retried(|| {
            // Whoever knows ranges has less to send in vain.
            let request = self.request(url)?.header(header::RANGE, "bytes=-1");
            let response = good(url, self.send(url, request)?)?;
            let kind = text(response.headers(), &header::CONTENT_TYPE).unwrap_or_default();
            if kind.trim_start().to_ascii_lowercase().starts_with("text/html") {
                return Err(Error::Html { url: error::shown(url) });
            }
            body::plain(url, response.headers())?;
            let partial = response.status() == StatusCode::PARTIAL_CONTENT;
            let range = content_range(response.headers()).filter(|_| partial);
            Ok(range.map_or_else(|| response.content_length(), |range| range.total))
        })
    }

    /// How many files the settings want to be loaded at once.
    pub fn streams(&self) -> usize {
        self.settings.streams.max(1)
    }

    /// A request that has only what all have. `Accept-Encoding` is explicit: some servers pack when it is absent.
    pub(super) fn request(&self, url: &str) -> Result<RequestBuilder, Error> {
        if self.settings.offline {
            return Err(Error::Offline { url: error::shown(url) });
        }
        match reqwest::Url::parse(url) {
            Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => {
                Ok(self.http.get(parsed).header(header::ACCEPT_ENCODING, "identity"))
            }
            Ok(_) => Err(Error::Address {
                url: error::shown(url),
                why: "it starts with neither http:// nor https://".into(),
            }),
            Err(why) => Err(Error::Address { url: error::shown(url), why: why.to_string() }),
        }
    }

    /// Sends a request; any answer is an answer.
    pub(super) fn send(&self, url: &str, request: RequestBuilder) -> Result<Response, Error> {
        request.send().map_err(|e| match error::from_request(url, &e, self.settings.stall_timeout) {
            Error::Tls { url, why } if self.rootless => {
                let why = format!("{why} (this machine has no certificates: install ca-certificates)");
                Error::Tls { url, why }
            }
            Error::Connect { url, why } if !self.settings.proxies.is_empty() => {
                let why = format!("{why} (set here: {})", self.settings.proxies.join(", "));
                Error::Connect { url, why }
            }
            other => other,
        })
    }

    fn retried<T>(&self, mut ask: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        let mut tries = Tries::default();
        loop {
            let error = match ask() {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match tries.after(&self.settings.patience, &error, 0) {
                Next::Again(wait) => std::thread::sleep(wait),
                Next::GiveUp => return Err(error),
            }
        }
    }
}

/// The answer, if it is one of success.
pub(super) fn good(url: &str, response: Response) -> Result<Response, Error> {
    let code = response.status();
    if code == StatusCode::OK || code == StatusCode::PARTIAL_CONTENT {
        return Ok(response);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let asked = text(response.headers(), &header::RETRY_AFTER);
    let retry_after = asked.and_then(|asked| retry_after(&asked, now));
    Err(Error::Status { url: error::reached(url, response.url().as_str()), code: code.as_u16(), retry_after })
}

/// A header as text.
pub(super) fn text(headers: &HeaderMap, name: &header::HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// `Content-Range: bytes 5-9/10`, or `*/10` as status 416 has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The first byte; 0 where there is none.
    pub start: u64,
    /// The length of the file, where the server knows it.
    pub total: Option<u64>,
}

/// Reads the answer's range.
pub(super) fn content_range(headers: &HeaderMap) -> Option<Range> {
    parse_range(&text(headers, &header::CONTENT_RANGE)?)
}

fn parse_range(text: &str) -> Option<Range> {
    let (range, total) = text.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
    let total = total.parse().ok();
    if range == "*" {
        return Some(Range { start: 0, total });
    }
    let (start, end) = range.split_once('-')?;
    let (start, end) = (start.parse().ok()?, end.parse::<u64>().ok()?);
    (start <= end).then_some(Range { start, total })
}

fn read_bundle(file: &Path) -> Result<Vec<reqwest::Certificate>, Failure> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).and_then(|f| f.take(64 << 20).read_to_end(&mut bytes));
    opened.map_err(|e| Failure::io("read the certificates in", file, &e))?;
    let certificates = reqwest::Certificate::from_pem_bundle(&bytes).unwrap_or_default();
    if certificates.is_empty() {
        return Err(Failure::failed(format!("{} holds no certificate in PEM form", file.display())));
    }
    Ok(certificates)
}

fn unusable(error: &reqwest::Error) -> Failure {
    Failure::new(Exit::Network, format!("could not set up the network client: {}", error::deepest(error)))
}

/// Why a redirect is not followed.
#[derive(Clone, Debug)]
pub(super) enum RefusedRedirect {
    /// From https to http.
    Downgrade(String),
    /// Back to an address of the same chain.
    Circle(String),
    /// A chain without end.
    Endless(String),
}

impl fmt::Display for RefusedRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Downgrade(to) => write!(f, "redirected from https to {to}, which is not encrypted"),
            Self::Circle(to) => write!(f, "redirected in a circle, back to {to}"),
            Self::Endless(to) => write!(f, "redirected {REDIRECTS} times, last to {to}"),
        }
    }
}

impl std::error::Error for RefusedRedirect {}

fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let to = error::shown(attempt.url().as_str());
    let encrypted = attempt.previous().last().is_some_and(|from| from.scheme() == "https");
    if encrypted && attempt.url().scheme() != "https" {
        return attempt.error(RefusedRedirect::Downgrade(to));
    }
    if attempt.previous().contains(attempt.url()) {
        return attempt.error(RefusedRedirect::Circle(to));
    }
    if attempt.previous().len() > REDIRECTS {
        return attempt.error(RefusedRedirect::Endless(to));
    }
    attempt.follow()
}

#[cfg(test)]
mod tests {
    use super::{Range, parse_range};

    #[test]
    fn ranges_are_read_and_nonsense_is_not() {
        assert_eq!(parse_range("bytes 5-9/10"), Some(Range { start: 5, total: Some(10) }));
        assert_eq!(parse_range("bytes 5-9/*"), Some(Range { start: 5, total: None }));
        assert_eq!(parse_range("bytes */10"), Some(Range { start: 0, total: Some(10) }));
        for bad in ["", "bytes", "bytes 5-9", "items 5-9/10", "bytes 9-5/10", "bytes -9/10", "bytes a-b/10"] {
            assert_eq!(parse_range(bad), None, "{bad}");
        }
    }
}
