//! `cudaup cache [size|clean]`: what lies in the cache, and taking it away.

use crate::command::{Context, Outcome};
use crate::failure::Failure;
use crate::install::cache::{self, Amount, Cleaned, Kind};
use crate::ui::view::{Style, View, size, table};
use clap::{Args as Arguments, Subcommand};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Say how much the cache takes, or empty it.
///
/// Archives go by themselves once their toolkit is installed, unless config.toml says `keep = true` under [cache].
#[derive(Debug, Arguments)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Action {
    /// Say how much there is of each kind (what `cudaup cache` alone does)
    Size,
    /// Remove all that no running cudaup uses
    Clean {
        /// Ask nothing (clean never asks; taken for the habit's sake)
        #[arg(short, long, hide = true)]
        yes: bool,
    },
}

struct Size {
    path: PathBuf,
    amounts: BTreeMap<Kind, Amount>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        match self.action {
            None | Some(Action::Size) => {
                let amounts = cache::size(&context.home)?;
                Ok(Outcome::View(Box::new(Size { path: context.home.cache(), amounts })))
            }
            Some(Action::Clean { .. }) => {
                Ok(Outcome::View(Box::new(cache::clean(&context.home, &context.talk)?)))
            }
        }
    }
}

fn total(amounts: &BTreeMap<Kind, Amount>) -> u64 {
    amounts.values().map(|amount| amount.bytes).sum()
}

fn rows(amounts: &BTreeMap<Kind, Amount>) -> Vec<Value> {
    let row = |kind: &Kind| {
        let Amount { files, bytes } = amounts.get(kind).copied().unwrap_or_default();
        json!({ "kind": kind.words(), "files": files, "bytes": bytes })
    };
    Kind::ALL.iter().map(row).collect()
}

impl View for Size {
    fn json(&self) -> Value {
        let path = self.path.to_string_lossy();
        json!({ "path": path, "kinds": rows(&self.amounts), "bytes": total(&self.amounts) })
    }

    fn human(&self, style: &Style) -> String {
        let path = style.path(&self.path);
        if self.amounts.is_empty() {
            return format!("the cache is empty: {path}\n");
        }
        let row = |(kind, amount): (&Kind, &Amount)| {
            let files =
                if amount.files == 1 { "1 file".to_owned() } else { format!("{} files", amount.files) };
            let files = if *kind == Kind::Unfinished { String::new() } else { files };
            vec![kind.words().to_owned(), size(amount.bytes), files]
        };
        let mut rows: Vec<Vec<String>> = self.amounts.iter().map(row).collect();
        rows.push(vec!["total".to_owned(), size(total(&self.amounts)), path]);
        format!("{}next: cudaup cache clean\n", table(&rows))
    }
}

impl View for Cleaned {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({ "freed": rows(&self.freed), "bytes": total(&self.freed), "kept": self.kept })
    }

    fn human(&self, _style: &Style) -> String {
        let mut text = match total(&self.freed) {
            0 if self.freed.is_empty() => "there was nothing to remove\n".to_owned(),
            bytes => {
                let kinds: Vec<&str> = self.freed.keys().map(|kind| kind.words()).collect();
                format!("{} freed: {}\n", size(bytes), kinds.join(", "))
            }
        };
        for kept in &self.kept {
            text.push_str(&format!("left {kept}\n"));
        }
        text
    }
}
