//! `cudaup info VERSION`: what a release is made of, from the source that would serve.

use crate::command::{Context, Outcome};
use crate::compat::{driver, releases};
use crate::facts;
use crate::failure::{Exit, Failure};
use crate::source::plan::{Part, Plan, Platform};
use crate::source::profile::{Profile, Selection, Wish, select as selected};
use crate::source::query::Query;
use crate::source::reach::reach;
use crate::source::select;
use crate::ui::view::{Style, View, size, table};
use clap::Args as Arguments;
use clap::builder::PossibleValuesParser;
use cudaup_core::inventory;
use cudaup_core::request::Request;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Show the parts of a release and their sizes, from the source that would serve.
#[derive(Debug, Arguments)]
pub struct Args {
    /// 12, 12.4, 12.4.1 or latest
    version: String,
    /// Where from
    #[arg(long, value_parser = PossibleValuesParser::new(select::names()), default_value = select::AUTO)]
    source: String,
    /// For another machine than this one: linux-x86_64, linux-sbsa (Arm servers), linux-aarch64 (Jetson)
    #[arg(long, value_parser = PossibleValuesParser::new(Platform::ALL.map(Platform::name)))]
    platform: Option<String>,
}

struct Info {
    plan: Plan,
    driver: Option<String>,
    installed: Option<PathBuf>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let request = match context.request(&self.version)? {
            Request::Version(version) => Some(version),
            Request::Latest => None,
            other => {
                return Err(Failure::new(Exit::Usage, format!("`{other}` is no release"))
                    .hint("cudaup info 12.4")
                    .hint("cudaup list --remote"));
            }
        };
        let here =
            || Platform::here().ok_or_else(|| Failure::failed("NVIDIA builds no toolkit for this machine"));
        let platform = self.platform.as_deref().and_then(Platform::parse).map_or_else(here, Ok)?;
        let reach = reach(&context.host, context.home.path())?;
        let wish = Wish::of(Profile::Full);
        let query = Query { host: &context.host, reach: &reach, request, wish: &wish, platform };
        let plan = select::plan(&query, &self.source)?;
        let installed = inventory::managed(&context.home, &context.disk)
            .into_iter()
            .find(|t| t.identity.version == plan.version)
            .map(|t| t.root);
        let info = Info { plan, driver: facts::driver::version(&context.host), installed };
        if !info.plan.passed.is_empty() {
            let passed = info.plan.passed.join(", ");
            context.talk.say(&format!("from {}, since these do not serve: {passed}", info.plan.source));
        }
        for note in &info.plan.notes {
            context.talk.say(note);
        }
        Ok(Outcome::View(Box::new(info)))
    }
}

const PROFILES: [Profile; 3] = [Profile::Minimal, Profile::Default, Profile::Full];

impl Info {
    /// The smallest profile that a part belongs to.
    fn profile(&self, part: &Part) -> Profile {
        let version = self.plan.version;
        let has = |profile: &Profile| Selection::has(&selected(&Wish::of(*profile), version), &part.name);
        PROFILES.into_iter().find(has).unwrap_or(Profile::Full)
    }

    /// Number, bytes to load and bytes on disk of the parts of a profile.
    fn amount(&self, profile: Profile) -> (usize, u64, u64) {
        let parts = self.plan.parts.iter().filter(|p| self.profile(p) <= profile);
        parts.fold((0, 0, 0), |(n, load, disk), p| (n + 1, load + p.size, disk + p.on_disk()))
    }

    fn date(&self) -> Option<&'static str> {
        releases::of(self.plan.version).and_then(|r| r.date.as_deref())
    }
}

impl View for Info {
    fn json(&self) -> Value {
        let version = self.plan.version;
        let amount = |profile: Profile| {
            let (parts, load, bytes) = self.amount(profile);
            json!({ "profile": profile.to_string(), "parts": parts, "load": load, "bytes": bytes })
        };
        let part = |p: &Part| {
            json!({
                "name": p.name, "version": p.version, "size": p.size, "sha256": p.sha256, "url": p.public_url(),
                "profile": self.profile(p).to_string(),
            })
        };
        json!({
            "version": version.to_string(),
            "date": self.date(),
            "source": self.plan.source,
            "passed": self.plan.passed,
            "platform": self.plan.platform.name(),
            "profiles": PROFILES.map(amount),
            "parts": self.plan.parts.iter().map(part).collect::<Vec<_>>(),
            "missing": self.plan.missing,
            "notes": self.plan.notes,
            "oldest_driver": releases::oldest_driver(version),
            "driver": self.driver,
            "driver_fit": self.driver.as_deref().and_then(|d| driver::words(d, version)),
            "installed": self.installed.as_ref().map(|p| p.to_string_lossy()),
        })
    }

    fn human(&self, style: &Style) -> String {
        let version = self.plan.version;
        let date = self.date().map_or_else(String::new, |d| format!(" of {d}"));
        let mut text =
            format!("{version}{date}, from {}, for {}\n", self.plan.source, self.plan.platform.name());
        let amounts = PROFILES.map(|profile| {
            let (parts, load, bytes) = self.amount(profile);
            let parts = if parts == 1 { "1 part".to_owned() } else { format!("{parts} parts") };
            vec![
                format!("  {profile}"),
                parts,
                format!("{} to load", size(load)),
                format!("about {} on disk", size(bytes)),
            ]
        });
        text.push_str(&table(&amounts));
        let row = |p: &Part| {
            vec![format!("  {}", p.name), p.version.clone(), size(p.size), self.profile(p).to_string()]
        };
        text.push_str(&table(&self.plan.parts.iter().map(row).collect::<Vec<_>>()));
        if !self.plan.missing.is_empty() {
            text.push_str(&format!("{} does not have {}\n", self.plan.source, self.plan.missing.join(", ")));
        }
        if let Some(oldest) = releases::oldest_driver(version) {
            text.push_str(&format!("its programs need driver {oldest} or newer\n"));
        }
        if let Some(line) = self.driver.as_deref().and_then(|d| driver::line(d, version)) {
            text.push_str(&format!("{line}\n"));
        }
        match &self.installed {
            Some(root) => text.push_str(&format!("installed: {}\n", style.path(root))),
            None if Some(self.plan.platform.machine()) != Platform::here().map(Platform::machine) => {}
            None => text.push_str(&format!("next: cudaup install {version}\n")),
        }
        text
    }
}
