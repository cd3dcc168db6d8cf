//! `cudaup mirror DIRECTORY VERSION...`: a directory to be served in the place of NVIDIA's server.

use crate::command::{Context, Outcome, order};
use crate::failure::{Exit, Failure};
use crate::install::apply::LICENCE;
use crate::install::mirror::{self, Mirrored, Order};
use crate::source::plan::Platform;
use crate::source::reach::reach;
use crate::ui::view::{Style, View, size, table};
use clap::Args as Arguments;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Make a directory that any web server can serve in the place of NVIDIA's.
///
/// For machines without a network, and for clusters: with CUDAUP_DIST_SERVER set to the server's address cudaup installs from
/// there, and `cudaup install VERSION --from DIRECTORY` does without a server. A second run adds to what is there.
#[derive(Debug, Arguments)]
pub struct Args {
    /// The directory
    directory: PathBuf,
    /// 12.4, 12.4.1 or latest
    #[arg(required = true)]
    versions: Vec<String>,
    /// For these machines: linux-x86_64, linux-sbsa (Arm servers), linux-aarch64 (Jetson); this one where none is given
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(Platform::ALL.map(Platform::name)))]
    platform: Vec<String>,
    /// How much of each
    #[arg(long, value_parser = PossibleValuesParser::new(["minimal", "default", "full"]))]
    profile: Option<String>,
    /// Only these and what they need; with --profile: these too
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    components: Vec<String>,
}

struct Made {
    directory: PathBuf,
    releases: Vec<Mirrored>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let requests = self.versions.iter().map(|text| order::version(context.request(text)?));
        let requests = requests.collect::<Result<Vec<_>, Failure>>()?;
        let mut platforms: Vec<Platform> =
            self.platform.iter().filter_map(|name| Platform::parse(name)).collect();
        if platforms.is_empty() {
            platforms.extend(Platform::here());
        }
        if platforms.is_empty() {
            let message = "NVIDIA builds no toolkit for this machine, and none was named";
            return Err(
                Failure::new(Exit::Usage, message).hint("the same command with --platform linux-x86_64")
            );
        }
        let wish = order::wish(self.profile.as_deref(), &self.components)?;
        let directory =
            context.host.cwd.as_ref().map_or_else(|| self.directory.clone(), |cwd| cwd.join(&self.directory));
        let reach = reach(&context.host, context.home.path())?;
        let order = Order { root: &directory, requests: &requests, platforms: &platforms, wish: &wish };
        let releases = mirror::run(&context.host, &reach, &context.talk, &order)?;
        Ok(Outcome::View(Box::new(Made { directory, releases })))
    }
}

impl View for Made {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        let row = |m: &Mirrored| {
            json!({
                "version": m.version.to_string(),
                "platform": m.platform.name(),
                "archives": m.archives,
                "bytes": m.bytes,
                "missing": m.missing,
            })
        };
        let releases: Vec<Value> = self.releases.iter().map(row).collect();
        json!({ "directory": self.directory.to_string_lossy(), "releases": releases, "licence": LICENCE })
    }

    fn human(&self, style: &Style) -> String {
        let row = |m: &Mirrored| {
            vec![
                m.version.to_string(),
                m.platform.name().to_owned(),
                format!("{} archives", m.archives),
                size(m.bytes),
                if m.missing.is_empty() {
                    String::new()
                } else {
                    format!("without {}", m.missing.join(", "))
                },
            ]
        };
        let rows: Vec<Vec<String>> = self.releases.iter().map(row).collect();
        let path = style.path(&self.directory);
        let version = self.releases.first().map_or_else(String::new, |m| m.version.to_string());
        format!(
            "in {path}, under NVIDIA's licence ({}):\n{}next: serve it, then CUDAUP_DIST_SERVER=http://HOST:PORT cudaup install {version}\n      \
             or without a server: cudaup install {version} --from {path}\n",
            LICENCE.trim_start_matches("https://"),
            table(&rows),
        )
    }
}
