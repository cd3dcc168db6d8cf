//! `cudaup hook SHELL`: what the shells' hooks run when something changed. The shim program answers the same, sooner.

use crate::command::{Context, Outcome};
use crate::failure::Failure;
use crate::shell;
use cudaup_core::follow;

/// What the hooks ask.
#[derive(Debug)]
pub struct Args {
    /// The shell.
    pub shell: String,
    /// Directory and version files are as before; only the environment changed.
    pub mend: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let dialect = shell::dialect(&self.shell)?;
        let world = context.world();
        let steps = if self.mend { follow::mend(&world) } else { follow::enter(&world) };
        for line in &steps.lines {
            context.talk.say(line);
        }
        Ok(Outcome::Bytes(steps.render(dialect.words(), &context.vars)))
    }
}
