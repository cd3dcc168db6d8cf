//! `cudaup env [REQUEST]`: the environment of a toolkit as text for a shell, as JSON, for a Dockerfile, or for GitHub's runners.

mod explain;

use crate::command::{Context, Outcome, nothing_chosen, refused};
use crate::failure::Failure;
use crate::host::Host;
use crate::shell::{self, docker};
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use cudaup_core::activate::{Activation, Entered, Scope, activate};
use cudaup_core::dialect::Unheld;
use cudaup_core::environment::Change;
use cudaup_core::resolve::{Choice, World};
use cudaup_core::state::{self, State};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const READ_BY: &str = "\
How a shell reads it:
  bash, zsh, ksh, sh   eval \"$(cudaup env)\"
  fish                 cudaup env | source
  tcsh                 eval \"`cudaup env`\"
  elvish               eval (cudaup env | slurp)
  xonsh                execx($(cudaup env --shell xonsh))
  powershell           cudaup env | Out-String | Invoke-Expression
  nushell              cudaup env | save -f env.nu, and then: source env.nu";

/// Print the environment of the toolkit that applies here, for a shell to read.
#[derive(Debug, Arguments)]
#[command(after_help = READ_BY)]
pub struct Args {
    /// The toolkit: 12, 12.4, 12.4.1, latest, system or a link's name; the one that applies here where none is named
    #[arg(value_name = "VERSION")]
    request: Option<String>,
    /// The shell that reads it, such as bash, fish or nushell; the one that runs cudaup where this is left out
    #[arg(long, conflicts_with_all = ["github", "docker"])]
    shell: Option<String>,
    /// ENV lines for a Dockerfile
    #[arg(long, conflicts_with = "github")]
    docker: bool,
    /// Append to the files that GITHUB_ENV and GITHUB_PATH name
    #[arg(long)]
    github: bool,
    /// Say for each variable what it was, what it becomes and why
    #[arg(long, conflicts_with_all = ["github", "shell"])]
    explain: bool,
}

struct Shown {
    choice: Choice,
    variables: Map<String, Value>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context, as_json: bool) -> Result<Outcome, Failure> {
        let request = self.request.as_deref().map(|text| context.request(text)).transpose()?;
        let named = self.shell.as_deref().map(shell::dialect).transpose()?;
        let image = docker::image(&context.vars);
        let world = context.world();
        let world = if self.docker { World { vars: &image, ..world } } else { world };
        let activation = activate(&world, request.as_ref(), Scope::All);
        let changes = activation.whole(world.vars);
        for note in &activation.notes {
            context.talk.say(&format!("note: {note}"));
        }
        let choice = match &activation.entered {
            Entered::Toolkit(choice) => choice.as_ref().clone(),
            Entered::Nothing => return Err(nothing_chosen(context)),
            Entered::Refused(refusal) => return Err(refused(refusal)),
        };
        if self.explain {
            return Ok(Outcome::View(Box::new(explain::Explanation::of(&world, &activation, choice))));
        }
        if self.github {
            return github(context, &activation, &changes, &choice);
        }
        if self.docker {
            let values = docker::values(&changes).map_err(|unheld| not_told(unheld, "an ENV line"))?;
            return Ok(if as_json {
                let variables = values.into_iter().map(|(name, value)| (name, json!(value))).collect();
                Outcome::View(Box::new(Shown { choice, variables }))
            } else {
                Outcome::Bytes(docker::lines(&values))
            });
        }
        if as_json {
            let value = |v: &Option<OsString>| v.as_ref().map(|v| v.to_string_lossy().into_owned());
            let variables = changes.iter().map(|(n, v)| (n.clone(), json!(value(v)))).collect();
            return Ok(Outcome::View(Box::new(Shown { choice, variables })));
        }
        let dialect = match named {
            Some(named) => named,
            None => shell::parent::of_parent(&context.host, |_| true)?,
        };
        let text = dialect.render(&changes);
        text.map(Outcome::Bytes).map_err(|unheld| not_told(unheld, dialect.name()))
    }
}

impl Args {
    /// The shell that evaluates what is printed, where one does.
    pub fn read_by(&self, host: &Host) -> Option<&'static shell::Dialect> {
        if self.explain || self.github || self.docker {
            return None;
        }
        shell::of_name_or_parent(self.shell.as_deref(), host)
    }
}

fn not_told(Unheld { name, what }: Unheld, whom: &str) -> Failure {
    Failure::failed(format!("{name} would hold {what}, which {whom} cannot carry"))
        .hint("cudaup exec -- COMMAND, which hands the value on as it is")
}

impl View for Shown {
    fn json(&self) -> Value {
        json!({
            "version": self.choice.toolkit.identity.to_string(),
            "root": self.choice.toolkit.root.to_string_lossy(),
            "variables": self.variables,
        })
    }

    fn human(&self, _style: &Style) -> String {
        String::new()
    }
}

/// Later steps of a job get PATH entries by one file and variables by another. Neither can unset: what has to go is set
/// to nothing. The way back is left out, since no later step leaves.
fn github(
    context: &Context,
    activation: &Activation,
    changes: &[Change],
    choice: &Choice,
) -> Result<Outcome, Failure> {
    let file = |name: &str| {
        context.host.var(name).map(Path::new).ok_or_else(|| {
            Failure::failed(format!("{name} is not set; --github is for steps of GitHub Actions"))
                .hint("eval \"$(cudaup env)\"")
        })
    };
    let (env_file, path_file) = (file("GITHUB_ENV")?, file("GITHUB_PATH")?);
    let mut lines = Vec::new();
    for (name, value) in changes.iter().filter(|(n, _)| n != "PATH" && n != state::VARIABLE) {
        let value = value.clone().unwrap_or_default();
        let value = value.as_bytes();
        if value.contains(&b'\n') {
            return Err(Failure::failed(format!(
                "{name} would hold a line end, which {} cannot carry",
                env_file.display()
            )));
        }
        lines.extend_from_slice(name.as_bytes());
        lines.push(b'=');
        lines.extend_from_slice(value);
        lines.push(b'\n');
    }
    lines.extend_from_slice(format!("CUDAUP_VERSION={}\n", choice.exact()).as_bytes());
    // What lies among the system's own programs has no entry of its own.
    let state = activation.vars.get(state::VARIABLE).and_then(State::decode).unwrap_or_default();
    let first = state.lists.iter().find(|l| l.name == "PATH").and_then(|l| l.front.first().cloned());
    let entry = first.map(|first| [first.as_bytes(), b"\n"].concat()).unwrap_or_default();
    append(env_file, &lines)?;
    append(path_file, &entry)?;
    context.talk.say(&format!("CUDA {} is there for the steps that follow", choice.toolkit.identity));
    Ok(Outcome::Done)
}

fn append(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened.and_then(|mut f| f.write_all(bytes)).map_err(|e| Failure::io("write", file, &e))
}
