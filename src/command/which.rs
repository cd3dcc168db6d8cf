//! `cudaup which TOOL`: the file that runs here by the rules.

use crate::command::typed::{is_program, other_than};
use crate::command::{Context, Outcome, nothing_chosen, refused};
use crate::failure::Failure;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use cudaup_core::activate::summary;
use cudaup_core::inventory;
use cudaup_core::layout;
use cudaup_core::resolve::{Choice, resolve};
use cudaup_core::spelling::nearest;
use cudaup_core::tools::TOOLS;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Print the path of a tool in the toolkit that applies here.
#[derive(Debug, Arguments)]
pub struct Args {
    /// A tool of the toolkit, such as nvcc
    #[arg(required_unless_present = "root")]
    tool: Option<String>,
    /// Print the toolkit's directory
    #[arg(long, conflicts_with = "tool")]
    root: bool,
}

struct Found {
    path: PathBuf,
    choice: Choice,
    why: Option<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let choice = resolve(&context.world(), None)
            .map_err(|r| refused(&r))?
            .ok_or_else(|| nothing_chosen(context))?;
        let why = context.talk.verbose.then(|| summary(&choice));
        let Some(tool) = &self.tool else {
            return Ok(Outcome::View(Box::new(Found { path: choice.toolkit.root.clone(), choice, why })));
        };
        let path = layout::tool(&choice.toolkit.root, tool, &context.disk).filter(|path| is_program(path));
        let Some(path) = path else { return Err(lacking(context, &choice, tool)) };
        if let Some(other) = other_than(context, tool, &path) {
            context.talk.say(&other.note(tool));
        }
        Ok(Outcome::View(Box::new(Found { path, choice, why })))
    }
}

fn lacking(context: &Context, choice: &Choice, tool: &str) -> Failure {
    let having: Vec<String> = inventory::managed(&context.home, &context.disk)
        .into_iter()
        .filter(|t| !tool.contains('/') && is_program(&t.root.join("bin").join(tool)))
        .map(|t| t.identity.to_string())
        .collect();
    let failure = Failure::failed(format!(
        "CUDA {} has no {tool} ({})",
        choice.toolkit.identity,
        choice.toolkit.root.display()
    ));
    if having.is_empty() {
        let here = |name: &&str| {
            let path = layout::tool(&choice.toolkit.root, name, &context.disk);
            path.is_some_and(|path| is_program(&path))
        };
        let names = TOOLS.iter().map(|(name, _)| *name).filter(here);
        return match nearest(tool, names) {
            Some(meant) => Failure {
                message: format!("{}; did you mean {meant}?", failure.message),
                ..failure.hint(context.line.with(tool, meant))
            },
            None => failure,
        };
    }
    failure.hint(format!("cudaup exec {} -- {tool}", having.first().map_or("VERSION", String::as_str)))
}

impl View for Found {
    fn json(&self) -> Value {
        json!({
            "path": self.path.to_string_lossy(),
            "root": self.choice.toolkit.root.to_string_lossy(),
            "version": self.choice.toolkit.identity.to_string(),
            "rule": self.choice.rule.word(),
            "request": self.choice.request.to_string(),
        })
    }

    fn human(&self, _style: &Style) -> String {
        let path = self.path.display();
        match &self.why {
            Some(why) => format!("{path}\n{why}\n"),
            None => format!("{path}\n"),
        }
    }
}
