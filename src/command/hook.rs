//! `cudaup hook SHELL`: what the shells' hooks run when something changed. Prints text for the shell; always succeeds.

use crate::command::{Context, Outcome};
use crate::failure::Failure;
use crate::shell::{self, Dialect};
use clap::Args as Arguments;
use cudaup_core::activate::{Entered, Scope, activate, newcomer, shims_last};
use cudaup_core::environment::{Change, Vars, changes, is_intact, leave, without_stale};
use cudaup_core::refusal::Refusal;
use cudaup_core::resolve::World;
use cudaup_core::state;
use std::ffi::OsStr;
use std::path::Path;

/// Print what this shell has to change (for the hooks).
#[derive(Debug, Arguments)]
pub struct Args {
    /// The shell
    pub shell: String,
    /// Directory and version files are as before; only the environment changed
    #[arg(long)]
    pub mend: bool,
}

/// What a shell has to do.
pub struct Steps {
    /// Variables to set and unset.
    pub changes: Vec<Change>,
    /// Whether the hook lets go until the directory or a version file changes.
    pub yields: bool,
    /// What this shell has been told, where that grew.
    pub told: Option<String>,
}

impl Steps {
    /// The steps as text for a shell.
    pub fn render(&self, dialect: &Dialect) -> Vec<u8> {
        let mut text = dialect.render_own(&self.changes);
        if self.yields {
            text.extend_from_slice(&dialect.keep("_cudaup_yield", "1"));
        }
        if let Some(told) = &self.told {
            text.extend_from_slice(&dialect.keep("_cudaup_told", told));
        }
        text
    }
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let dialect = shell::dialect(&self.shell)?;
        let steps = if self.mend { mend(context) } else { enter(context, true) };
        Ok(Outcome::Bytes(steps.render(dialect)))
    }
}

/// Enters the current directory, whatever is entered now.
pub fn enter(context: &Context, say: bool) -> Steps {
    let left = leave(&context.vars);
    if left.damaged && say {
        context
            .talk
            .say("cudaup: CUDAUP_STATE could not be read and was dropped; what it remembered is lost");
    }
    enter_from(context, left.vars, say)
}

/// Enters the current directory from an environment in which nothing is entered.
fn enter_from(context: &Context, mut base: Vars, say: bool) -> Steps {
    if let Some(path) = shims_last(&context.world(), &base) {
        base.put("PATH", Some(path));
    }
    let world = World { vars: &base, ..context.world() };
    let activation = activate(&world, None, Scope::Asked);
    for note in activation.notes.iter().filter(|_| say) {
        context.talk.say(&format!("cudaup: {note}"));
    }
    let told = match &activation.entered {
        Entered::Refused(refusal) => tell(context, refusal),
        _ => None,
    };
    Steps { changes: changes(&context.vars, &activation.vars), yields: false, told }
}

/// Says why a request cannot be met, once in each shell. Returns what the shell has been told, where that grew.
fn tell(context: &Context, refusal: &Refusal) -> Option<String> {
    let text = refusal.to_string();
    let mark = format!("{:x}", state::hash(Some(OsStr::new(&text))));
    let before = context.host.text("_CUDAUP_TOLD").unwrap_or_default();
    if before.split(' ').any(|m| m == mark) {
        return None;
    }
    context.talk.say(&format!("cudaup: {text}"));
    if let Some(next) = refusal.tries().first() {
        context.talk.say(&format!("try: {next}"));
    }
    Some(format!("{before} {mark}").trim_start().to_owned())
}

/// Puts back what was lost of ours; lets go where another hand brought a toolkit of its own.
fn mend(context: &Context) -> Steps {
    let left = leave(&context.vars);
    let again = |say| enter_from(context, without_stale(&left.vars, &context.home), say);
    let Some(state) = &left.state else { return again(false) };
    if let Some(newer) = newcomer(&context.world(), state) {
        let newer = newer.display();
        context.talk.say(&format!(
            "cudaup: {newer} came into this shell and is left in charge until the directory or its version file changes"
        ));
        return Steps { changes: changes(&context.vars, &left.vars), yields: true, told: None };
    }
    if !state.root.is_empty() && !Path::new(&state.root).is_dir() {
        return again(true);
    }
    if is_intact(&context.vars, state) {
        return Steps { changes: Vec::new(), yields: false, told: None };
    }
    again(false)
}
