//! `cudaup list --remote`: the releases that can be installed here, and what this machine's driver makes of them.

use crate::command::{Context, Outcome};
use crate::compat::{driver, releases};
use crate::facts;
use crate::failure::{Exit, Failure};
use crate::source::catalogue::{self, Catalogue, Listed};
use crate::source::plan::Platform;
use crate::source::profile::{Profile, Wish};
use crate::source::query::Query;
use crate::source::reach::reach;
use crate::source::unknown;
use crate::ui::view::{Style, View, size, table};
use cudaup_core::builds::{RELEASES, is_installable};
use cudaup_core::inventory;
use cudaup_core::request::Request;
use cudaup_core::version::Version;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

struct Remote {
    catalogue: Catalogue,
    driver: Option<String>,
    installed: Vec<Version>,
}

/// Lists the releases that `only` means, or all.
pub fn run(context: &Context, only: Option<&str>, refresh: bool) -> Result<Outcome, Failure> {
    let only = match only.map(|text| context.request(text)).transpose()? {
        Some(Request::Version(version)) => Some(version),
        None | Some(Request::Latest) => None,
        Some(request) => {
            return Err(Failure::new(Exit::Usage, format!("`{request}` is no release"))
                .hint("cudaup list --remote 13"));
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // What nobody will ever have is no matter of what is reached.
    let never = only.filter(|o| !is_installable(*o) && !RELEASES.iter().any(|r| o.accepts(r.version)));
    let mut catalogue = match (catalogue_now(context, refresh, now), never) {
        (Err(failure), Some(wanted)) if failure.exit == Exit::Network => {
            return Err(unknown::refuse(wanted, &[]));
        }
        (catalogue, _) => catalogue?,
    };
    if let Some(wanted) = never.filter(|o| !catalogue.versions().any(|v| o.accepts(v))) {
        return Err(unknown::refuse(wanted, &catalogue.versions().collect::<Vec<_>>()));
    }
    catalogue.releases.retain(|r| only.is_none_or(|o| r.version().is_some_and(|v| o.accepts(v))));
    if let (true, Some(only)) = (catalogue.releases.is_empty(), only) {
        let message = format!("no source has a toolkit {only} here{}", silent(&catalogue, ": "));
        // It may be just what the source has that was not reached.
        let exit = if catalogue.silent.is_empty() { Exit::NoVersion } else { Exit::Network };
        return Err(Failure::new(exit, message).hint("cudaup list --remote"));
    }
    let remote = Remote {
        catalogue,
        driver: facts::driver::version(&context.host),
        installed: inventory::managed(&context.home, &context.disk)
            .iter()
            .map(|t| t.identity.version)
            .collect(),
    };
    for line in remote.lines(now) {
        context.talk.say(&line);
    }
    Ok(Outcome::View(Box::new(remote)))
}

/// The list that is remembered while it is current, else a new one; an old one where no source answers.
fn catalogue_now(context: &Context, refresh: bool, now: u64) -> Result<Catalogue, Failure> {
    let platform = Platform::here().ok_or_else(|| {
        Failure::failed("NVIDIA builds no toolkit for this machine")
            .hint("cudaup list   (what is here already)")
    })?;
    let home = context.home.path();
    let key = catalogue::key(&context.host, home, platform)?;
    let before = catalogue::remembered(home, &key);
    if let Some(before) = before.as_ref().filter(|b| !refresh && (b.is_current(now) || context.host.offline))
    {
        return Ok(before.clone());
    }
    let reach = reach(&context.host, home)?;
    let wish = Wish::of(Profile::Default);
    let query = Query { host: &context.host, reach: &reach, request: None, wish: &wish, platform };
    match (catalogue::ask(&query, key, now), before) {
        (Ok(catalogue), _) => {
            catalogue::remember(home, &catalogue);
            Ok(catalogue)
        }
        (Err(failure), Some(before)) if !refresh => {
            context.talk.say(&format!("warning: {failure}"));
            Ok(before)
        }
        (Err(failure), _) => Err(failure),
    }
}

fn silent(catalogue: &Catalogue, before: &str) -> String {
    let each = catalogue.silent.iter().map(|(name, why)| format!("{name} ({why})"));
    let all = each.collect::<Vec<_>>().join(", ");
    if all.is_empty() { all } else { format!("{before}{all}") }
}

impl Remote {
    /// What a person should know beside the table.
    fn lines(&self, now: u64) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(driver) = &self.driver {
            lines.extend(driver::reach(driver).map(|newest| {
                let major = newest.major;
                format!("driver {driver}: up to {newest}; later {major}.x without PTX")
            }));
        }
        if !self.catalogue.silent.is_empty() {
            lines.push(format!("without {}", silent(&self.catalogue, "")));
        }
        let minutes = now.saturating_sub(self.catalogue.asked_at) / 60;
        let ago = match minutes {
            0 => return lines,
            1..120 => format!("{minutes} min"),
            120..2880 => format!("{} h", minutes / 60),
            _ => format!("{} days", minutes / 1440),
        };
        lines.push(format!("asked {ago} ago (--refresh asks anew)"));
        lines
    }

    fn row(&self, listed: &Listed) -> Row {
        let version = listed.version();
        Row {
            installed: version.is_some_and(|v| self.installed.contains(&v)),
            oldest_driver: version.and_then(releases::oldest_driver),
            fit: version.zip(self.driver.as_deref()).and_then(|(v, d)| driver::words(d, v)),
        }
    }
}

/// What this machine adds to a release.
struct Row {
    installed: bool,
    oldest_driver: Option<&'static str>,
    fit: Option<&'static str>,
}

impl View for Remote {
    fn json(&self) -> Value {
        let release = |listed: &Listed| {
            let row = self.row(listed);
            json!({
                "version": listed.version,
                "date": listed.date,
                "sources": listed.sources,
                "minimal": listed.minimal,
                "default": listed.default,
                "oldest_driver": row.oldest_driver,
                "driver_fit": row.fit,
                "installed": row.installed,
            })
        };
        let silent = |(source, why): &(String, String)| json!({ "source": source, "why": why });
        json!({
            "releases": self.catalogue.releases.iter().map(release).collect::<Vec<_>>(),
            "silent": self.catalogue.silent.iter().map(silent).collect::<Vec<_>>(),
            "driver": self.driver,
            "asked_at": self.catalogue.asked_at,
        })
    }

    fn human(&self, _style: &Style) -> String {
        let named = |name: &str, bytes: Option<u64>| {
            bytes.map_or_else(String::new, |b| format!("{name} {}", size(b)))
        };
        let row = |listed: &Listed| {
            let row = self.row(listed);
            let needs = row.oldest_driver.map_or_else(String::new, |d| format!("driver {d}"));
            let end = [row.fit, row.installed.then_some("installed")];
            vec![
                format!("  {}", listed.version),
                listed.date.clone().unwrap_or_default(),
                listed.sources.join(", "),
                named("minimal", listed.minimal),
                named("default", listed.default),
                needs,
                end.into_iter().flatten().collect::<Vec<_>>().join("  "),
            ]
        };
        table(&self.catalogue.releases.iter().map(row).collect::<Vec<_>>())
    }
}
