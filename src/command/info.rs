//! `cudaup info VERSION`: what a release is made of, from the source that would serve.

use crate::command::{Context, Outcome};
use crate::compat::{driver, releases};
use crate::facts;
use crate::failure::{Exit, Failure};
use crate::source::plan::{Part, Plan, Platform};
use crate::source::profile::{Profile, Wish};
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
    /// The plans of the profiles, the smallest first. The same archive may have more to give to a larger one.
    plans: [Plan; 3],
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
        let planned = |profile, request, source: &str| {
            let wish = Wish::of(profile);
            select::plan(
                &Query { host: &context.host, reach: &reach, request, wish: &wish, platform },
                source,
            )
        };
        let plan = planned(Profile::Full, request, &self.source).map_err(of_lists)?;
        let smaller = |profile| planned(profile, Some(plan.version), plan.source);
        let (minimal, default) = std::thread::scope(|scope| {
            let minimal = scope.spawn(|| smaller(Profile::Minimal));
            let default = smaller(Profile::Default);
            (minimal.join().unwrap_or_else(|_| smaller(Profile::Minimal)), default)
        });
        let (minimal, default) = (minimal?, default?);
        let installed = inventory::managed(&context.home, &context.disk)
            .into_iter()
            .find(|t| t.identity.version == plan.version)
            .map(|t| t.root);
        if !plan.passed.is_empty() {
            let passed = plan.passed.join(", ");
            context.talk.say(&format!("from {}, since these do not serve: {passed}", plan.source));
        }
        for note in &plan.notes {
            context.talk.say(note);
        }
        let plans = [minimal, default, plan];
        let info = Info { plans, driver: facts::driver::version(&context.host), installed };
        Ok(Outcome::View(Box::new(info)))
    }
}

/// What there is, instead of what could be installed: nobody asked for that.
fn of_lists(failure: Failure) -> Failure {
    let unknown = failure.exit == Exit::NoVersion;
    let list = unknown.then(|| "cudaup list --remote".to_owned());
    let others = failure.tries.into_iter().filter(|t| !unknown && !t.starts_with("cudaup install"));
    Failure { tries: others.chain(list).collect(), ..failure }
}

impl Info {
    /// The whole release.
    fn whole(&self) -> &Plan {
        let [_, _, whole] = &self.plans;
        whole
    }

    /// The smallest profile that a part belongs to.
    fn profile(&self, part: &Part) -> Profile {
        let has = |plan: &&Plan| plan.parts.iter().any(|p| p.file == part.file);
        self.plans.iter().find(has).map_or(Profile::Full, |plan| plan.profile)
    }

    fn date(&self) -> Option<&'static str> {
        releases::of(self.whole().version).and_then(|r| r.date.as_deref())
    }
}

impl View for Info {
    fn json(&self) -> Value {
        let version = self.whole().version;
        let amount = |plan: &Plan| {
            let (profile, parts) = (plan.profile.to_string(), plan.parts.len());
            json!({ "profile": profile, "parts": parts, "load": plan.size(), "bytes": plan.unpacked() })
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
            "source": self.whole().source,
            "passed": self.whole().passed,
            "platform": self.whole().platform.name(),
            "profiles": self.plans.iter().map(amount).collect::<Vec<_>>(),
            "parts": self.whole().parts.iter().map(part).collect::<Vec<_>>(),
            "missing": self.whole().missing,
            "notes": self.whole().notes,
            "oldest_driver": releases::oldest_driver(version),
            "driver": self.driver,
            "driver_fit": self.driver.as_deref().and_then(|d| driver::words(d, version)),
            "installed": self.installed.as_ref().map(|p| p.to_string_lossy()),
        })
    }

    fn human(&self, style: &Style) -> String {
        let version = self.whole().version;
        let date = self.date().map_or_else(String::new, |d| format!(" of {d}"));
        let mut text =
            format!("{version}{date}, from {}, for {}\n", self.whole().source, self.whole().platform.name());
        let amount = |plan: &Plan| {
            let parts = if plan.parts.len() == 1 {
                "1 part".to_owned()
            } else {
                format!("{} parts", plan.parts.len())
            };
            let load = format!("{} to load", size(plan.size()));
            vec![
                format!("  {}", plan.profile),
                parts,
                load,
                format!("about {} on disk", size(plan.unpacked())),
            ]
        };
        let amounts: Vec<Vec<String>> = self.plans.iter().map(amount).collect();
        text.push_str(&table(&amounts));
        let row = |p: &Part| {
            vec![format!("  {}", p.name), p.version.clone(), size(p.size), self.profile(p).to_string()]
        };
        text.push_str(&table(&self.whole().parts.iter().map(row).collect::<Vec<_>>()));
        if !self.whole().missing.is_empty() {
            text.push_str(&format!(
                "{} does not have {}\n",
                self.whole().source,
                self.whole().missing.join(", ")
            ));
        }
        if let Some(oldest) = releases::oldest_driver(version) {
            text.push_str(&format!("its programs need driver {oldest} or newer\n"));
        }
        if let Some(line) = self.driver.as_deref().and_then(|d| driver::line(d, version)) {
            text.push_str(&format!("{line}\n"));
        }
        match &self.installed {
            Some(root) => text.push_str(&format!("installed: {}\n", style.path(root))),
            None if Some(self.whole().platform.machine()) != Platform::here().map(Platform::machine) => {}
            None => text.push_str(&format!("next: cudaup install {version}\n")),
        }
        text
    }
}
