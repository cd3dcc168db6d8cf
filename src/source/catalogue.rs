//! All releases that all sources have, asked for at once and remembered, so that looking again needs no network.

use crate::compat::releases;
use crate::disk::{atomic, text};
use crate::failure::Failure;
use crate::host::Host;
use crate::settings;
use crate::source::plan::Platform;
use crate::source::query::{Miss, Offer, Query};
use crate::source::select::{SOURCES, Source};
use cudaup_core::version::Version;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A list is taken for current for so many seconds; for fewer where a source was not reached, which may be back.
const CURRENT: u64 = 24 * 3600;
const CURRENT_IN_PART: u64 = 3600;

/// What the sources have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// What it was asked of: another one was asked of others.
    key: String,
    /// When, in seconds since 1970.
    pub asked_at: u64,
    /// The releases, newest first.
    pub releases: Vec<Listed>,
    /// The sources that have no list, each with why in a few words.
    pub silent: Vec<(String, String)>,
}

/// A release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The release.
    pub version: String,
    /// The day, or the month, in which it came out.
    pub date: Option<String>,
    /// The sources that have it, the one that is asked first in front.
    pub sources: Vec<String>,
    /// The bytes to load for the minimal profile, from the first source that says.
    pub minimal: Option<u64>,
    /// The bytes to load for the default profile, from the same.
    pub default: Option<u64>,
}

impl Listed {
    /// The release as a version.
    pub fn version(&self) -> Option<Version> {
        Version::parse(&self.version)
    }
}

/// What a list depends on: the program, the machine and the addresses of the sources. Asks nothing.
pub fn key(host: &Host, home: &Path, platform: Platform) -> Result<String, Failure> {
    let config = settings::config(home)?;
    let dist = settings::dist_server(host, &config)?.shown();
    let indexes = settings::indexes(host)?;
    let places: Vec<String> = indexes.places.iter().map(settings::Place::shown).collect();
    let mirrors = settings::debian_mirrors(host, &config)?;
    let places = places.into_iter().chain(mirrors.iter().map(|mirror| mirror.place.shown()));
    let places: Vec<String> = places.collect();
    let names: Vec<&str> = SOURCES.iter().map(|s| s.name).collect();
    let (program, machine) = (env!("CARGO_PKG_VERSION"), platform.name());
    Ok(format!("{program} {machine} {} {dist} {}", names.join(","), places.join(" ")))
}

/// The list that is remembered, however old.
pub fn remembered(home: &Path, key: &str) -> Option<Catalogue> {
    let catalogue: Catalogue = serde_json::from_str(&text::read(&file(home)).ok()?).ok()?;
    (catalogue.key == key).then_some(catalogue)
}

/// Keeps a list; one that cannot be kept is only asked for again.
pub fn remember(home: &Path, catalogue: &Catalogue) {
    let file = file(home);
    if file.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok())
        && let Ok(text) = serde_json::to_vec(catalogue)
    {
        let _ = atomic::write(&file, &text);
    }
}

fn file(home: &Path) -> PathBuf {
    home.join("cache/releases.json")
}

impl Catalogue {
    /// The releases as versions.
    pub fn versions(&self) -> impl Iterator<Item = Version> {
        self.releases.iter().filter_map(Listed::version)
    }

    /// Whether it need not be asked for again.
    pub fn is_current(&self, now: u64) -> bool {
        let lasts = if self.silent.is_empty() { CURRENT } else { CURRENT_IN_PART };
        // A clock that was set back makes no list current for ever.
        (self.asked_at..self.asked_at.saturating_add(lasts)).contains(&now)
    }
}

/// Asks all sources at once. The error is that of the first where none answers.
pub fn ask(query: &Query<'_>, key: String, now: u64) -> Result<Catalogue, Failure> {
    let answers = std::thread::scope(|scope| {
        let asked: Vec<_> =
            SOURCES.iter().map(|source| (source, scope.spawn(|| (source.offers)(query)))).collect();
        let ended = asked.into_iter().filter_map(|(source, thread)| Some((source, thread.join().ok()?)));
        ended.collect::<Vec<(&Source, Result<Vec<Offer>, Miss>)>>()
    });
    merged(answers, key, now)
}

/// One list of what each source answered.
fn merged(
    answers: Vec<(&Source, Result<Vec<Offer>, Miss>)>,
    key: String,
    now: u64,
) -> Result<Catalogue, Failure> {
    let mut releases: BTreeMap<Version, Listed> = BTreeMap::new();
    let mut silent = Vec::new();
    let mut failure = None;
    let none_answered = answers.iter().all(|(_, answer)| answer.is_err());
    for (source, answer) in answers {
        match answer {
            Ok(offers) => {
                for offer in offers {
                    add(releases.entry(offer.version).or_default(), source.name, offer);
                }
            }
            Err(miss) => {
                silent.push((source.name.to_owned(), miss.words));
                failure = failure.or(Some(miss.failure));
            }
        }
    }
    match failure {
        Some(failure) if none_answered => {
            let words =
                silent.iter().map(|(name, why)| format!("{name} ({why})")).collect::<Vec<_>>().join(", ");
            let message = format!("no source answers here: {words}");
            Err(failure.tries.into_iter().take(1).fold(Failure::new(failure.exit, message), Failure::hint))
        }
        _ => Ok(Catalogue { key, asked_at: now, releases: releases.into_values().rev().collect(), silent }),
    }
}

fn add(listed: &mut Listed, source: &str, offer: Offer) {
    listed.version = offer.version.to_string();
    let known = || releases::of(offer.version).and_then(|r| r.date.clone());
    listed.date = listed.date.take().or(offer.date).or_else(known);
    listed.sources.push(source.to_owned());
    if listed.minimal.is_none() {
        (listed.minimal, listed.default) = (offer.minimal, offer.default);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;
    use tempfile::TempDir;

    fn offer(version: &str, minimal: Option<u64>, date: Option<&str>) -> Offer {
        let version = Version::parse(version).unwrap();
        Offer { version, date: date.map(str::to_owned), minimal, default: minimal.map(|m| m * 10) }
    }

    fn miss(words: &str) -> Miss {
        Miss::new(words, Failure::new(Exit::Network, "could not load").hint("a hint").hint("another"))
    }

    fn source(name: &'static str) -> Source {
        Source { name, plan: |_| Err(Miss::new("", Failure::failed(""))), offers: |_| Ok(Vec::new()) }
    }

    #[test]
    fn what_several_have_is_one_row_and_the_first_tells_sizes() {
        let (a, b, c) = (source("a"), source("b"), source("c"));
        let answers = vec![
            (&a, Ok(vec![offer("12.4.1", Some(5), Some("2024-04-03")), offer("13.5.0", None, None)])),
            (
                &b,
                Ok(vec![
                    offer("12.10.0", None, None),
                    offer("12.4.1", Some(7), None),
                    offer("13.5.0", Some(9), None),
                ]),
            ),
            (&c, Err(miss("name not found"))),
        ];
        let got = merged(answers, "k".into(), 100).unwrap();
        let rows: Vec<_> = got
            .releases
            .iter()
            .map(|r| {
                (
                    r.version.as_str(),
                    r.date.as_deref().unwrap_or(""),
                    r.sources.join("+"),
                    r.minimal,
                    r.default,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("13.5.0", "2026-11", "a+b".to_owned(), Some(9), Some(90)),
                ("12.10.0", "", "b".to_owned(), None, None),
                ("12.4.1", "2024-04-03", "a+b".to_owned(), Some(5), Some(50)),
            ]
        );
        assert_eq!(got.silent, [("c".to_owned(), "name not found".to_owned())]);
        assert!(got.is_current(100) && got.is_current(3699) && !got.is_current(3700) && !got.is_current(99));
        let whole = Catalogue { silent: Vec::new(), ..got };
        assert!(whole.is_current(86_499) && !whole.is_current(86_500));
    }

    #[test]
    fn where_none_answers_all_are_named() {
        let (a, b) = (source("a"), source("b"));
        let failure = merged(vec![(&a, Err(miss("refused"))), (&b, Err(miss("offline")))], String::new(), 0)
            .unwrap_err();
        assert_eq!(failure.message, "no source answers here: a (refused), b (offline)");
        assert_eq!((failure.exit, failure.tries.len()), (Exit::Network, 1));
    }

    #[test]
    fn a_list_is_kept_for_what_it_was_asked_of() {
        let home = TempDir::new().unwrap();
        assert_eq!(remembered(home.path(), "k"), None);
        let kept = Catalogue { key: "k".into(), asked_at: 7, ..Catalogue::default() };
        remember(home.path(), &kept);
        assert_eq!(remembered(home.path(), "k"), Some(kept));
        assert_eq!(remembered(home.path(), "another"), None);
        std::fs::write(file(home.path()), "{").unwrap();
        assert_eq!(remembered(home.path(), "k"), None);
    }
}
