//! `cudaup unlink NAME`: forgets a link. What it points to stays as it is.

use crate::command::{Context, Outcome};
use crate::failure::{Exit, Failure};
use crate::install::remove;
use crate::shims;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Forget a linked toolkit; its directory stays as it is.
#[derive(Debug, Arguments)]
pub struct Args {
    /// The link's name
    name: String,
}

struct Unlinked {
    name: String,
    target: PathBuf,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        context.warn_root(context.home.path());
        let target = remove::unlink(&context.home, &self.name, &context.disk)?.ok_or_else(|| {
            let name = cudaup_core::request::printable(&self.name);
            Failure::new(Exit::NoVersion, format!("there is no linked toolkit named `{name}`"))
                .hint("cudaup list")
        })?;
        shims::renew(&context.home, &context.host, &context.disk)?;
        Ok(Outcome::View(Box::new(Unlinked { name: self.name.clone(), target })))
    }
}

impl View for Unlinked {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({ "name": self.name, "target": self.target.to_string_lossy() })
    }

    fn human(&self, style: &Style) -> String {
        format!("{} is forgotten; {} stays as it is\n", self.name, style.path(&self.target))
    }
}
