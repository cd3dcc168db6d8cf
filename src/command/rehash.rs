//! `cudaup rehash`: makes the shims anew. Nobody needs it after install, uninstall or link.

use crate::command::{Context, Outcome};
use crate::failure::Failure;
use crate::shims;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use serde_json::{Value, json};

/// Make the shims anew (install, uninstall and link do so by themselves).
#[derive(Debug, Arguments)]
pub struct Args {}

struct Made {
    names: Vec<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        context.warn_root(context.home.path());
        let names = shims::renew(&context.home, &context.host, &context.disk)?;
        Ok(Outcome::View(Box::new(Made { names })))
    }
}

impl View for Made {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({ "shims": self.names })
    }

    fn human(&self, _style: &Style) -> String {
        match self.names.len() {
            0 => "no shims: no toolkit is installed or linked\n".to_owned(),
            n => format!("{n} shims: {}\n", self.names.join(" ")),
        }
    }
}
