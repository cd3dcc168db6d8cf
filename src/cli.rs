//! The command line: one line for each command.

use crate::command::{self, Context, Outcome};
use crate::failure::Failure;
use crate::host::Host;
use crate::install::share;
use clap::{Parser, Subcommand, ValueEnum};
use std::ffi::OsString;

const OF_EVERY_COMMAND: &str = "Options of every command";

const EXAMPLES: &str = "\
Examples:
  cudaup install 12.4           next to the others, without root
  cudaup init --write           once: your shell follows .cuda-version from directory to directory
  cudaup use 12.4               in a project: writes .cuda-version there
  cudaup current                which toolkit applies here, and what says so
  cudaup exec 11.8 -- make      one command with another toolkit

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no such version, 4 network, 5 wrong bytes, 6 busy";

/// Install CUDA toolkits side by side and use the right one in every project.
#[derive(Debug, Parser)]
#[command(name = "cudaup", version, arg_required_else_help = true, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    /// Print one JSON object instead of text
    #[arg(long, global = true, help_heading = OF_EVERY_COMMAND)]
    pub json: bool,
    /// Say nothing but errors
    #[arg(short, long, global = true, help_heading = OF_EVERY_COMMAND)]
    pub quiet: bool,
    /// Say more
    #[arg(short, long, global = true, help_heading = OF_EVERY_COMMAND, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Ask nothing of the network; CUDAUP_OFFLINE=1 says the same
    #[arg(long, global = true, help_heading = OF_EVERY_COMMAND)]
    pub offline: bool,
    /// When to use colour; NO_COLOR is honoured
    #[arg(long, global = true, help_heading = OF_EVERY_COMMAND, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What the shells start by themselves, read without building the whole parser: that would take as long as the rest.
pub fn quick(arguments: &[OsString]) -> Option<Cli> {
    let words: Vec<&str> = arguments.iter().map(|a| a.to_str()).collect::<Option<_>>()?;
    let command = match words.as_slice() {
        [_, "hook", shell] => Command::Hook(command::hook::Args { shell: (*shell).to_owned(), mend: false }),
        [_, "hook", shell, "--mend"] => {
            Command::Hook(command::hook::Args { shell: (*shell).to_owned(), mend: true })
        }
        [_, "init", shell] if !shell.starts_with('-') => Command::Init(command::init::Args::of(shell)),
        _ => return None,
    };
    Some(Cli { json: false, quiet: false, verbose: false, offline: false, color: When::Auto, command })
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands; the help of each stands with its arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    Install(command::install::Args),
    Uninstall(command::uninstall::Args),
    Add(command::add::Args),
    Remove(command::remove::Args),
    Use(command::use_::Args),
    List(command::list::Args),
    Info(command::info::Args),
    Current(command::current::Args),
    Which(command::which::Args),
    Exec(command::exec::Args),
    Env(command::env::Args),
    Doctor(command::doctor::Args),
    Explain(command::explain::Args),
    Inspect(command::inspect::Args),
    Compat(command::compat::Args),
    Verify(command::verify::Args),
    Gpu(command::gpu::Args),
    Cache(command::cache::Args),
    Mirror(command::mirror::Args),
    Link(command::link::Args),
    Unlink(command::unlink::Args),
    Init(command::init::Args),
    Rehash(command::rehash::Args),
    /// Only by `quick`: nobody types it.
    #[command(skip)]
    Hook(command::hook::Args),
}

impl Command {
    /// Runs the command.
    pub fn run(&self, context: &Context, json: bool) -> Result<Outcome, Failure> {
        let outcome = self.outcome(context, json);
        let fills_the_home = !matches!(
            self,
            Self::Gpu(_)
                | Self::Current(_)
                | Self::Which(_)
                | Self::Exec(_)
                | Self::Env(_)
                | Self::Init(_)
                | Self::Hook(_)
        );
        if fills_the_home {
            share::open_to_all(&context.host, &context.home);
        }
        outcome
    }

    /// What a shell that evaluates this command's output is given where the command fails. A person on a terminal is not a shell.
    pub fn fails(&self, host: &Host, json: bool) -> &'static str {
        let named = match self {
            _ if json => None,
            Self::Env(args) => args.read_by(host),
            Self::Use(args) => args.read_by(host),
            _ => None,
        };
        named.filter(|_| !host.terminal.stdout).map_or("", |dialect| dialect.fails())
    }

    fn outcome(&self, context: &Context, json: bool) -> Result<Outcome, Failure> {
        match self {
            Self::Install(args) => args.run(context),
            Self::Uninstall(args) => args.run(context),
            Self::Add(args) => args.run(context),
            Self::Remove(args) => args.run(context),
            Self::Use(args) => args.run(context),
            Self::List(args) => args.run(context),
            Self::Info(args) => args.run(context),
            Self::Current(args) => args.run(context),
            Self::Which(args) => args.run(context),
            Self::Exec(args) => args.run(context),
            Self::Env(args) => args.run(context, json),
            Self::Doctor(args) => args.run(context),
            Self::Explain(args) => args.run(context),
            Self::Inspect(args) => args.run(context),
            Self::Compat(args) => args.run(context),
            Self::Verify(args) => args.run(context),
            Self::Gpu(args) => args.run(context),
            Self::Cache(args) => args.run(context),
            Self::Mirror(args) => args.run(context),
            Self::Link(args) => args.run(context),
            Self::Unlink(args) => args.run(context),
            Self::Init(args) => args.run(context, json),
            Self::Rehash(args) => args.run(context),
            Self::Hook(args) => args.run(context),
        }
    }
}
