//! `cudaup suggest`: which toolkit a project wants, by its framework, the driver and the GPU.

use crate::command::{Context, Outcome, Program};
use crate::doctor::look::{Scene, look};
use crate::doctor::suggest::{Suggestion, Wish, in_line, in_project, installed, suggest};
use crate::failure::{Exit, Failure};
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use serde_json::{Value, json};

/// Say which toolkit this project wants: by its framework, then by the driver and the GPU here.
#[derive(Debug, Arguments)]
pub struct Args {
    /// A framework: torch, torch==2.5.1, tensorflow==2.18, jax; else what the project's lists and its environment say
    #[arg(value_name = "FRAMEWORK")]
    framework: Option<String>,
    /// Write it into .cuda-version, as `cudaup use` does
    #[arg(long)]
    write: bool,
}

struct Suggested {
    suggestion: Suggestion,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let scene =
            Scene { host: &context.host, vars: &context.vars, home: &context.home, disk: &context.disk };
        let machine = look(&scene);
        let listed = || context.host.cwd.as_deref().and_then(in_project);
        // What is installed is what runs: its CUDA is known for certain.
        let in_use = || machine.python.as_ref().and_then(installed).filter(|wish| wish.cuda.is_some());
        let wish = self.framework.as_deref().map(typed).transpose()?.or_else(in_use).or_else(listed);
        let Some(suggestion) = suggest(wish.as_ref(), &machine) else {
            let from = wish.map_or_else(String::new, |wish| wish.from);
            return Err(Failure::failed(format!(
                "{from}, and its CUDA is not known to this version of cudaup"
            ))
            .hint("cudaup compat --torch"));
        };
        if self.write {
            let (Some(program), version) = (context.host.program.clone(), suggestion.toolkit.to_string())
            else {
                return Err(Failure::failed("the path of this program is not known"));
            };
            context.talk.say(&format!("{version}: {}", suggestion.reason));
            let arguments = ["use", &version, "--no-install"].map(Into::into).to_vec();
            return Ok(Outcome::Become(Program { path: program, arguments, changes: Vec::new() }));
        }
        Ok(Outcome::View(Box::new(Suggested { suggestion })))
    }
}

fn typed(text: &str) -> Result<Wish, Failure> {
    let text = text.replacen('@', "==", 1);
    in_line(&text, "you").map(|wish| Wish { from: format!("you ask for {text}"), ..wish }).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("{text} is no framework that cudaup knows: torch, tensorflow or jax"),
        )
        .hint("cudaup suggest torch==2.5.1")
    })
}

impl View for Suggested {
    fn json(&self) -> Value {
        let Suggestion { toolkit, reason, pip, notes } = &self.suggestion;
        json!({ "toolkit": toolkit.to_string(), "reason": reason, "pip": pip, "notes": notes })
    }

    fn human(&self, style: &Style) -> String {
        let Suggestion { toolkit, reason, pip, notes } = &self.suggestion;
        let mut text = format!("{}: {reason}\n", style.strong(&toolkit.to_string()));
        for note in notes {
            text.push_str(&format!("  {note}\n"));
        }
        if let Some(pip) = pip {
            text.push_str(&format!("  {pip}\n"));
        }
        text.push_str(&format!(
            "next: cudaup install {toolkit} && cudaup use {toolkit}   (or: cudaup suggest --write)\n"
        ));
        text
    }
}
