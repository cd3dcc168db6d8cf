//! What a source is asked, and how it says no.

use crate::failure::{Exit, Failure};
use crate::host::Host;
use crate::net;
use crate::source::plan::Platform;
use crate::source::profile::Wish;
use crate::source::reach::Reach;
use cudaup_core::version::Version;

/// What a source needs in order to answer.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The world.
    pub host: &'a Host,
    /// The network, and the settings of the sources.
    pub reach: &'a Reach,
    /// The version that is asked for; `None`: the newest.
    pub request: Option<Version>,
    /// How much of it.
    pub wish: &'a Wish,
    /// The machine that it is for.
    pub platform: Platform,
}

/// A release that a source has, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The release.
    pub version: Version,
    /// When it came out, as `2024-04-03`, where the source says.
    pub date: Option<String>,
    /// The bytes to load for the minimal profile, where they are known.
    pub minimal: Option<u64>,
    /// The bytes to load for the default profile, where they are known.
    pub default: Option<u64>,
}

/// A source's no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Why, in a few words for a list: `name not found`, `has no nvcc for 12.x`.
    pub words: String,
    /// The whole failure, for when no other source is asked.
    pub failure: Failure,
    /// Whether it has the release, and only parts of it are not there.
    pub lacks: bool,
}

impl Miss {
    /// The release is there, without these parts, and what is wished for does not go without them.
    pub fn lacking(source: &str, version: Version, query: (&Wish, Platform), absent: &[&str]) -> Self {
        let (wish, platform) = query;
        let names = absent.join(", ");
        let message = format!("{source} does not have {names} of CUDA {version} for {}", platform.name());
        let failure = Failure::new(Exit::NoVersion, message);
        let mut rest = wish.clone();
        rest.components.retain(|component| !absent.contains(&component.name));
        // What only others need cannot be left out.
        let failure = if rest == *wish {
            failure
        } else {
            failure.hint(format!("cudaup install {version}{}   (without {names})", rest.options()))
        };
        Self { lacks: true, ..Self::new(format!("has no {names}"), failure) }
    }

    /// A server that did not answer as it should, with what it did in a few words.
    pub fn unreached(error: net::Error) -> Self {
        let words = match &error {
            net::Error::Offline { .. } => "offline".to_owned(),
            net::Error::Resolve { .. } => "name not found".to_owned(),
            net::Error::Connect { why, .. } => {
                let why = why.trim_start_matches("no connection: ");
                why.split(" (").next().unwrap_or(why).to_owned()
            }
            net::Error::Tls { .. } => "no trusted connection".to_owned(),
            net::Error::Status { code, .. } => format!("answers {code}"),
            net::Error::Html { .. } => "answers with a web page".to_owned(),
            net::Error::Stalled { .. } | net::Error::Slow { .. } => "too slow".to_owned(),
            net::Error::Address { .. } => "its address is wrong".to_owned(),
            net::Error::Redirect { .. } => "its redirects lead nowhere".to_owned(),
            _ => "not reached".to_owned(),
        };
        Self::new(words, error.into_failure())
    }

    /// A no with its few words.
    pub fn new(words: impl Into<String>, failure: Failure) -> Self {
        Self { words: words.into(), failure, lacks: false }
    }
}
