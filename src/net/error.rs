//! What can go wrong on the network, each with the address, so that a person knows which server to look at.

use crate::failure::{Exit, Failure};
use std::error::Error as StdError;
use std::io;
use std::time::Duration;

/// A failed request. Addresses are shown without user names, passwords and queries.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is no address.
    #[error("{url} is not an address: {why}")]
    Address {
        /// The text.
        url: String,
        /// The parser's words.
        why: String,
    },
    /// The network is switched off.
    #[error("could not load {url}: the network is switched off (offline)")]
    Offline {
        /// The address.
        url: String,
    },
    /// The host's name leads nowhere.
    #[error("could not load {url}: name not found")]
    Resolve {
        /// The address.
        url: String,
    },
    /// No connection, to the host or to the proxy.
    #[error("could not load {url}: {why}")]
    Connect {
        /// The address.
        url: String,
        /// The system's words.
        why: String,
    },
    /// The certificate, or the encryption altogether, is not to be trusted.
    #[error("could not load {url}: {why}")]
    Tls {
        /// The address.
        url: String,
        /// The library's words.
        why: String,
    },
    /// A redirect that leads in a circle or out of encryption.
    #[error("could not load {url}: {why}")]
    Redirect {
        /// The address that was asked for.
        url: String,
        /// Where it led and why that was not followed.
        why: String,
    },
    /// An answer other than the file.
    #[error("could not load {url}: the server answered {}", status_words(*code, *retry_after))]
    Status {
        /// The address.
        url: String,
        /// The HTTP status.
        code: u16,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// A web page where a file was asked for.
    #[error(
        "could not load {url}: got a web page instead of the file (a login page of this network, or a proxy's error?)"
    )]
    Html {
        /// The address.
        url: String,
    },
    /// The connection ended before the file did.
    #[error("could not load {url}: the connection ended after {got} bytes{}{}", of_bytes(*wanted), because(why))]
    Cut {
        /// The address.
        url: String,
        /// Bytes that came.
        got: u64,
        /// Bytes that should have come, where the server said it.
        wanted: Option<u64>,
        /// The system's words, or nothing.
        why: String,
    },
    /// The server fell silent.
    #[error("could not load {url}: nothing came for {seconds} s")]
    Stalled {
        /// The address.
        url: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The server sends next to nothing.
    #[error("could not load {url}: too slow, {got} bytes came in {seconds} s")]
    Slow {
        /// The address.
        url: String,
        /// Bytes that came.
        got: u64,
        /// In how long.
        seconds: u64,
    },
    /// A file of another length than the plan says.
    #[error("{url} has {got} bytes and should have {wanted}")]
    Size {
        /// The address.
        url: String,
        /// The plan's number.
        wanted: u64,
        /// The server's number.
        got: u64,
    },
    /// A document that grows beyond all sense.
    #[error("{url} is larger than the {limit} bytes that such a document can have")]
    TooLarge {
        /// The address.
        url: String,
        /// The limit.
        limit: u64,
    },
    /// An encoding that was not asked for.
    #[error("could not load {url}: it came packed as {encoding}, which was not asked for")]
    Encoding {
        /// The address.
        url: String,
        /// The encoding's name.
        encoding: String,
    },
    /// Wrong bytes, twice.
    #[error("{url} does not have the sha256 that it should have, in two tries: wanted {wanted}, got {got}")]
    Hash {
        /// The address.
        url: String,
        /// The plan's hash.
        wanted: String,
        /// The file's hash.
        got: String,
    },
    /// The file could not be written.
    #[error("{0}")]
    Disk(Failure),
    /// Another part of the work failed, or the user gave up; this one was told to stop.
    #[error("stopped loading {url}")]
    Stopped {
        /// The address.
        url: String,
    },
}

impl Error {
    /// The failure that a person sees: exit 4 for the network, 5 for bytes that are not what they should be.
    pub fn into_failure(self) -> Failure {
        let exit = match &self {
            Self::Disk(failure) => return failure.clone(),
            Self::Hash { .. } | Self::Size { .. } => Exit::BadBytes,
            _ => Exit::Network,
        };
        let advice = match &self {
            Self::Tls { .. } => Some(
                "if this network inspects encrypted traffic: SSL_CERT_FILE=/path/to/its/ca.pem cudaup ...",
            ),
            Self::Status { code: 407, .. } => {
                Some("the proxy wants a name and a password: https_proxy=http://NAME:PASSWORD@HOST:PORT")
            }
            Self::Html { .. } => {
                Some("open any web page in a browser on this network, log in, then run the command again")
            }
            Self::Cut { .. } | Self::Stalled { .. } | Self::Slow { .. } => {
                Some("run the same command again: it goes on where it stopped")
            }
            _ => None,
        };
        let failure = Failure::new(exit, self.to_string());
        match advice {
            Some(advice) => failure.hint(advice),
            None => failure,
        }
    }
}

/// An address without what must not be shown: user, password, query (signed addresses carry their key there).
pub fn shown(url: &str) -> String {
    // `me:password@host` is read as an address of the kind `me`, with nothing to take out.
    let Some(mut parsed) = reqwest::Url::parse(url).ok().filter(reqwest::Url::has_host) else {
        return shown_text(url);
    };
    // Both fail only for addresses that cannot have a user at all.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.set_query(None);
    parsed.set_fragment(None);
    parsed.to_string()
}

/// The same for a text that is no address, where a password may hold anything: all up to the last `@` goes.
fn shown_text(text: &str) -> String {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['@', ':']) => (format!("{scheme}://"), rest),
        _ => (String::new(), text),
    };
    let host = rest.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{}", host.split(['?', '#']).next().unwrap_or_default())
}

/// Both addresses where a redirect led from one to another: it is the other that failed.
pub fn reached(asked: &str, at: &str) -> String {
    let (asked, at) = (shown(asked), shown(at));
    if asked == at { asked } else { format!("{at} (redirected from {asked})") }
}

/// A failed request in our words. `waited` is the stall timeout, which the library does not keep.
pub fn from_request(url: &str, error: &reqwest::Error, waited: Duration) -> Error {
    let url = error.url().map_or_else(|| shown(url), |at| reached(url, at.as_str()));
    if let Some(refused) = cause::<super::client::RefusedRedirect>(error) {
        return Error::Redirect { url, why: refused.to_string() };
    }
    if error.is_dns() {
        return Error::Resolve { url };
    }
    if error.is_connect() {
        return from_connect(url, error);
    }
    if error.is_timeout() {
        return Error::Stalled { url, seconds: waited.as_secs() };
    }
    if error.is_builder() {
        return Error::Address { url, why: deepest(error) };
    }
    Error::Cut { url, got: 0, wanted: None, why: deepest(error) }
}

/// A connection that did not come about: not there, not to be trusted, or cut while it was being made.
fn from_connect(url: String, error: &reqwest::Error) -> Error {
    let why = deepest(error);
    match io_kind(error) {
        // The TLS library's verdicts arrive as data that is invalid.
        Some(io::ErrorKind::InvalidData) => Error::Tls { url, why: tls_words(&why) },
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof) => {
            Error::Cut { url, got: 0, wanted: None, why }
        }
        _ if error.is_timeout() => Error::Connect { url, why: "no connection: timed out".to_owned() },
        _ => Error::Connect { url, why: format!("no connection: {why}") },
    }
}

/// The TLS library's verdict for a person: the two that are met, and the rest as they are.
fn tls_words(verdict: &str) -> String {
    let plain = if verdict.contains("UnknownIssuer") {
        "its certificate is signed by nobody that this machine trusts"
    } else if verdict.contains("CaUsedAsEndEntity") {
        "its certificate is made for signing others (CA:TRUE), not for a server"
    } else {
        verdict
    };
    format!("no trusted connection: {plain}")
}

/// The kind of the innermost system error; those around it are only "other".
fn io_kind(error: &(dyn StdError + 'static)) -> Option<io::ErrorKind> {
    let io = cause::<io::Error>(error)?;
    let inner = io.get_ref().and_then(|e| io_kind(e)).or_else(|| io.source().and_then(io_kind));
    Some(inner.unwrap_or_else(|| io.kind()))
}

/// The outermost cause of a type.
fn cause<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        // An io error hides the error it was made from behind its own kind.
        if let Some(inner) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref)
            && let Some(found) = cause::<T>(inner)
        {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The words of the innermost cause, which is the only one that says something.
pub fn deepest(error: &(dyn StdError + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    match deepest.downcast_ref::<io::Error>() {
        Some(io) => crate::failure::plain_io(io),
        None => deepest.to_string(),
    }
}

fn status_words(code: u16, retry_after: Option<Duration>) -> String {
    let name = reqwest::StatusCode::from_u16(code).ok().and_then(|s| s.canonical_reason()).unwrap_or("");
    let asked =
        retry_after.map_or_else(String::new, |wait| format!(" and asks to wait {} s", wait.as_secs()));
    format!("{code} {name}{asked}").replace("  ", " ").trim_end().to_owned()
}

fn of_bytes(wanted: Option<u64>) -> String {
    wanted.map_or_else(String::new, |wanted| format!(" of {wanted}"))
}

fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_addresses_are_not_shown() {
        assert_eq!(
            shown("https://me:secret@pypi.corp/simple/x/?sig=abc#sha256=00"),
            "https://pypi.corp/simple/x/"
        );
        assert_eq!(shown("https://me@pypi.corp:8443/x"), "https://pypi.corp:8443/x");
        assert_eq!(shown("no address"), "no address");
        for (text, plain) in [
            ("http://me:secret@[bad/simple", "http://[bad/simple"),
            ("http://me:sec#re?t@host:x/simple", "http://host:x/simple"),
            ("me:secret@host/simple?sig=abc", "host/simple"),
            ("me:http://secret@host/simple", "host/simple"),
            ("http://[bad?sig=abc", "http://[bad"),
        ] {
            assert_eq!(shown(text), plain);
        }
    }

    #[test]
    fn a_status_says_its_name_and_what_the_server_asks_for() {
        let error =
            Error::Status { url: "http://x/y".into(), code: 503, retry_after: Some(Duration::from_secs(90)) };
        let text = error.to_string();
        assert_eq!(
            text,
            "could not load http://x/y: the server answered 503 Service Unavailable and asks to wait 90 s"
        );
        let odd = Error::Status { url: "http://x/y".into(), code: 599, retry_after: None };
        assert_eq!(odd.to_string(), "could not load http://x/y: the server answered 599");
    }

    #[test]
    fn wrong_bytes_and_a_bad_network_have_their_exit_codes() {
        let url = || String::from("http://x/y");
        let hash = Error::Hash { url: url(), wanted: "aa".into(), got: "bb".into() };
        assert_eq!(hash.into_failure().exit, Exit::BadBytes);
        assert_eq!(Error::Size { url: url(), wanted: 1, got: 2 }.into_failure().exit, Exit::BadBytes);
        assert_eq!(Error::Resolve { url: url() }.into_failure().exit, Exit::Network);
        assert_eq!(Error::Html { url: url() }.into_failure().exit, Exit::Network);
        let full = Failure::failed("could not write /x: no space left on device");
        assert_eq!(Error::Disk(full.clone()).into_failure(), full);
    }
}
