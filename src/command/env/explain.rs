//! `cudaup env --explain`: for each variable what it was, what it becomes and why.

use crate::ui::view::{Style, View, table};
use cudaup_core::activate::{Activation, summary};
use cudaup_core::explain::{Explained, Fate, explain};
use cudaup_core::resolve::{Choice, World};
use cudaup_core::state;
use cudaup_core::text::plain;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// What there is to say of an environment.
pub struct Explanation {
    choice: Choice,
    variables: Vec<Explained>,
}

impl Explanation {
    /// Of an activation in which a toolkit was entered.
    pub fn of(world: &World, activation: &Activation, choice: Choice) -> Self {
        Self { variables: explain(world, activation), choice }
    }
}

impl View for Explanation {
    fn json(&self) -> Value {
        let text = |value: &Option<OsString>| value.as_ref().map(|v| v.to_string_lossy().into_owned());
        let variable = |v: &Explained| {
            let entries: Vec<Value> = v
                .entries
                .iter()
                .map(|e| json!({ "entry": e.entry.to_string_lossy(), "fate": e.fate.word(), "why": e.why }))
                .collect();
            json!({
                "name": v.name,
                "before": text(&v.before),
                "after": text(&v.after),
                "why": v.why,
                "entries": entries,
            })
        };
        json!({
            "version": self.choice.toolkit.identity.to_string(),
            "root": self.choice.toolkit.root.to_string_lossy(),
            "rule": self.choice.rule.word(),
            "variables": self.variables.iter().map(variable).collect::<Vec<_>>(),
        })
    }

    fn human(&self, style: &Style) -> String {
        let (what, root) = (plain(&summary(&self.choice)), style.path(&self.choice.toolkit.root));
        let mut text = format!("CUDA {what}: {root}\n");
        for variable in &self.variables {
            if variable.entries.is_empty() {
                text.push_str(&scalar(variable, style));
            } else {
                text.push_str(&list(variable, style));
            }
        }
        text
    }
}

/// `CUDA_HOME: was unset, becomes ~/x   the toolkit's directory`.
fn scalar(variable: &Explained, style: &Style) -> String {
    let Explained { name, before, after, why, .. } = variable;
    let value = |value: &Option<OsString>| match value {
        None => "unset".to_owned(),
        Some(value) if value.is_empty() => "set to nothing".to_owned(),
        // Nobody reads it as it is.
        Some(_) if name == state::VARIABLE => "set".to_owned(),
        Some(value) => shown(value, style),
    };
    let values = if before == after {
        format!("stays {}", value(after))
    } else {
        format!("was {}, becomes {}", value(before), value(after))
    };
    format!("{}: {values}   {}\n", style.strong(name), plain(why))
}

/// The entries one below another: `+` comes in, `-` goes out.
fn list(variable: &Explained, style: &Style) -> String {
    let Explained { name, before, after, why, entries } = variable;
    let from = if before.is_none() { "was unset" } else { "" };
    let to = if after.is_none() { "becomes unset" } else { "" };
    let said: Vec<&str> = [from, to, why].into_iter().filter(|text| !text.is_empty()).collect();
    let rows: Vec<Vec<String>> = entries
        .iter()
        .map(|e| {
            let mark = match e.fate {
                Fate::Added => '+',
                Fate::Removed => '-',
                Fate::Kept => ' ',
            };
            vec![format!("  {mark} {}", shown(&e.entry, style)), plain(&e.why)]
        })
        .collect();
    let said = if said.is_empty() { String::new() } else { format!(" {}", plain(&said.join("; "))) };
    format!("{}:{said}\n{}", style.strong(name), table(&rows))
}

fn shown(value: &OsStr, style: &Style) -> String {
    style.path(Path::new(value)).replace('\n', "\\n")
}
