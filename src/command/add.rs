//! `cudaup add NAME[@VERSION]...`: libraries beside the toolkits, for the one that applies here.

use crate::command::library::{self, Typed, carry_out, typed};
use crate::command::{Context, Outcome, order};
use crate::failure::{Exit, Failure};
use crate::install::addon::{AddonAnswer, AddonOrder};
use crate::source::addon::names;
use crate::source::select::AUTO;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use clap::builder::PossibleValuesParser;
use cudaup_core::version::Version;
use serde_json::{Value, json};

/// Add cuDNN, NCCL, cuTENSOR, cuSPARSELt or NVSHMEM, for the toolkit that applies here.
#[derive(Debug, Arguments)]
pub struct Args {
    /// cudnn, cudnn@9.8, nccl, cutensor, cusparselt, nvshmem
    #[arg(value_name = "NAME[@VERSION]", required_unless_present = "from")]
    names: Vec<String>,
    /// For this CUDA major, whatever toolkit applies here
    #[arg(long, value_name = "MAJOR")]
    cuda: Option<String>,
    /// From an archive, a directory or an address, such as cudnn-linux-x86_64-8.9.7.29_cuda12-archive.tar.xz
    #[arg(long, value_name = "PATH_OR_URL", conflicts_with = "source")]
    from: Option<String>,
    /// Where from
    #[arg(long, value_parser = PossibleValuesParser::new(names()), default_value = AUTO)]
    source: String,
    /// Install a newer one that fits, where one is there already
    #[arg(long)]
    upgrade: bool,
    /// Only say what would be loaded
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing (add never asks; taken for the habit's sake)
    #[arg(short, long, hide = true)]
    yes: bool,
}

struct Added {
    answers: Vec<AddonAnswer>,
    next: Vec<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let style = Style { color: false, user_home: context.host.user_home.clone() };
        let mut added = Added { answers: Vec::new(), next: Vec::new() };
        let mut failed = None;
        for order in self.orders(context)? {
            match carry_out(context, &order) {
                Ok(answer) => {
                    added.next.extend(library::next(context, &answer, &style));
                    added.answers.push(answer);
                }
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            }
        }
        let Some(failure) = failed else { return Ok(Outcome::View(Box::new(added))) };
        for line in added.human(&style).lines() {
            context.talk.say(line);
        }
        Err(failure)
    }

    fn orders(&self, context: &Context) -> Result<Vec<AddonOrder>, Failure> {
        if self.from.as_deref().is_some_and(str::is_empty) {
            return Err(order::empty("--from", "an archive, a directory or an address"));
        }
        let wanted: Vec<Typed> = self.names.iter().map(|text| typed(text)).collect::<Result<_, _>>()?;
        let cuda = self.cuda.as_deref().map(major).transpose()?;
        let here = match (&cuda, library::cuda_here(context)) {
            (Some(_), _) => None,
            (None, Ok(here)) => here,
            // An archive says by itself what it is for.
            (None, Err(_)) if self.from.is_some() => None,
            (None, Err(failure)) => return Err(failure),
        };
        let order = |(library, version): (Option<_>, _)| AddonOrder {
            library,
            version,
            cuda,
            here,
            source: names().find(|name| *name == self.source).unwrap_or(AUTO),
            from: self.from.clone(),
            platform: None,
            upgrade: self.upgrade,
            dry_run: self.dry_run,
        };
        if self.from.is_none() {
            return Ok(wanted
                .into_iter()
                .map(|(library, version)| order((Some(library), version)))
                .collect());
        }
        match wanted.as_slice() {
            [] => Ok(vec![order((None, None))]),
            [(library, version)] => Ok(vec![order((Some(*library), version.clone()))]),
            _ => Err(Failure::new(Exit::Usage, "--from gives one library, and several are named")),
        }
    }
}

/// The major of `12`, `12.4` or `cuda12`.
fn major(text: &str) -> Result<u32, Failure> {
    let number = text.trim_start_matches("cuda").trim_start_matches("cu");
    Version::parse(number).map(|v| v.major).ok_or_else(|| {
        Failure::new(Exit::Usage, format!("`{text}` is no CUDA major"))
            .hint("the same command with --cuda 12")
    })
}

impl View for Added {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({ "addons": self.answers.iter().map(library::row).collect::<Vec<_>>() })
    }

    fn human(&self, style: &Style) -> String {
        let mut text: String = self.answers.iter().map(|answer| library::text(answer, style)).collect();
        text.extend(self.next.iter().map(|line| format!("{line}\n")));
        text
    }
}
