//! `cudaup exec [REQUEST] -- CMD`: becomes a program in a toolkit's environment.

use crate::command::typed::is_program;
use crate::command::{Context, Outcome, Program, nothing_chosen, refused};
use crate::failure::{Exit, Failure};
use clap::Args as Arguments;
use cudaup_core::activate::{Activation, Entered, Scope, activate};
use cudaup_core::disk::Disk;
use cudaup_core::layout;
use cudaup_core::list::split;
use cudaup_core::tools::part_of;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Run a program with the toolkit that applies here, or with another one.
#[derive(Debug, Arguments)]
#[command(after_help = "Examples:\n  cudaup exec -- make\n  cudaup exec 11.8 -- nvcc --version")]
pub struct Args {
    /// The toolkit: 12, 12.4, 12.4.1, latest, system or a link's name; the one that applies here where none is named
    #[arg(value_name = "VERSION")]
    request: Option<String>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let request = self.request.as_deref().map(|text| context.request(text)).transpose()?;
        let activation = activate(&context.world(), request.as_ref(), Scope::All);
        for note in &activation.notes {
            context.talk.detail(note);
        }
        let (version, shown) = match &activation.entered {
            Entered::Toolkit(choice) => (choice.exact(), choice.toolkit.identity.to_string()),
            Entered::Nothing => return Err(nothing_chosen(context)),
            Entered::Refused(refusal) => return Err(refused(refusal)),
        };
        let Some((name, arguments)) = self.command.split_first() else {
            return Err(
                Failure::new(Exit::Usage, "no program is named").hint("cudaup exec -- nvcc --version")
            );
        };
        let path = spread(name, &activation, &context.disk).or_else(|| find(name, &activation)).ok_or_else(
            || {
                Failure::new(
                    Exit::NotFound,
                    format!("there is no program {} on PATH, with CUDA {shown} or without", name.display()),
                )
            },
        )?;
        let mut changes = activation.changes;
        changes.push(("CUDAUP_VERSION".into(), Some(version.into())));
        // The function that started this serves its own shell, not the ones below.
        changes.push(("_CUDAUP_SHELL".into(), None));
        Ok(Outcome::Become(Program { path, arguments: arguments.to_vec(), changes }))
    }
}

/// A tool of a toolkit that PATH does not name, since it lies among the system's own programs. Shims before those would
/// start another process, and come to the same file.
fn spread(name: &OsStr, activation: &Activation, disk: &dyn Disk) -> Option<PathBuf> {
    let Entered::Toolkit(choice) = &activation.entered else { return None };
    let root = &choice.toolkit.root;
    let tool = name.to_str().filter(|name| layout::is_spread(root, disk) && part_of(name).is_some())?;
    layout::tool(root, tool, disk).filter(|path| is_program(path))
}

/// The program as the entered PATH finds it; a name with a slash is taken as it is.
fn find(name: &OsStr, activation: &Activation) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return Some(PathBuf::from(name));
    }
    split(activation.vars.get("PATH")?)
        .into_iter()
        .map(|entry| if entry.is_empty() { PathBuf::from(".") } else { PathBuf::from(entry) })
        .map(|directory| directory.join(name))
        .find(|path| is_program(path))
}
