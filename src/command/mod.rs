//! One file for each subcommand: its arguments, its run, its view. A command sequences what stands on lower floors and
//! calls no other command.

pub mod add;
pub mod as_root;
pub mod builds;
pub mod cache;
pub mod compat;
pub mod compiler;
pub mod current;
pub mod doctor;
pub mod env;
pub mod exec;
pub mod explain;
pub mod gpu;
pub mod habits;
pub mod hook;
pub mod info;
pub mod init;
pub mod inspect;
pub mod install;
pub mod leave;
pub mod library;
pub mod link;
pub mod list;
pub mod mirror;
pub mod order;
pub mod rehash;
pub mod remove;
pub mod system;
pub mod this_shell;
pub mod typed;
pub mod uninstall;
pub mod unlink;
pub mod usage;
pub mod use_;
pub mod use_global;
pub mod verify;
pub mod which;

use crate::failure::{Exit, Failure, Line};
use crate::host::Host;
use crate::install::apply::Site;
use crate::install::decide::roots_files;
use crate::install::look::other_owner;
use crate::ui::talk::Talk;
use crate::ui::view::View;
use cudaup_core::disk::Disk;
use cudaup_core::environment::{Change, Vars};
use cudaup_core::home::Home;
use cudaup_core::identity::{Tree, identify};
use cudaup_core::inventory::{self, Kind, MACHINE};
use cudaup_core::refusal::{Refusal, Why};
use cudaup_core::request::Request;
use cudaup_core::resolve::{self, World, unusable};
use cudaup_shim::RealDisk;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

/// What every command is given.
#[derive(Clone)]
pub struct Context {
    /// The world as it was at the start.
    pub host: Host,
    /// The environment.
    pub vars: Vars,
    /// The file system.
    pub disk: RealDisk,
    /// The cudaup home.
    pub home: Home,
    /// Where lines for the person go.
    pub talk: Talk,
    /// The command line, to be written out again in advice.
    pub line: Line,
}

impl Context {
    /// What the rules look at.
    pub fn world(&self) -> World<'_> {
        World { vars: &self.vars, cwd: self.host.cwd.as_deref(), home: &self.home, disk: &self.disk }
    }

    /// What an install is given.
    pub fn site(&self) -> Site<'_> {
        Site { host: &self.host, home: &self.home, disk: &self.disk, talk: &self.talk }
    }

    /// Warns root before it leaves files of its own in another user's home.
    pub fn warn_root(&self, home: &Path) {
        if let Some(owner) = other_owner(home) {
            self.talk.say(&roots_files(owner));
        }
        self.warn_relative();
    }

    /// Warns, once, whoever will not find the home again from another directory.
    pub fn warn_relative(&self) {
        static SAID: Once = Once::new();
        let named = self.host.var("CUDAUP_HOME").map(Path::new);
        if let Some(named) = named.filter(|named| named.is_relative()) {
            let home = self.home.path().to_string_lossy();
            let (named, home) = (named.display(), shell_words::quote(&home));
            SAID.call_once(|| {
                self.talk.say(&format!(
                    "note: CUDAUP_HOME is {named}, which is another place in another directory; for this one: export CUDAUP_HOME={home}"
                ));
            });
        }
    }

    /// What is said where a directory was typed for a request: by which word its toolkit is asked for.
    fn of_directory(&self, text: &str) -> Option<Failure> {
        if !text.contains('/') && !text.starts_with('.') {
            return None;
        }
        let typed = self.host.cwd.as_deref().unwrap_or(Path::new("/")).join(text);
        let root = self.disk.real(&typed).filter(|root| root.is_dir())?;
        let shown = shell_words::quote(&root.to_string_lossy()).into_owned();
        let what =
            format!("{} is a directory; a toolkit is asked for by its version or by a name", root.display());
        let failure = Failure::new(Exit::Usage, what);
        if self.line.has("install") {
            return Some(
                failure
                    .hint(format!("cudaup install --from {shown}"))
                    .hint(format!("cudaup link NAME {shown}   (any name)")),
            );
        }
        let world = self.world();
        let is_it = |request: &Request| {
            resolve::toolkit(&world, Some(request))
                .is_ok_and(|found| found.is_some_and(|c| c.toolkit.root == root))
        };
        let links =
            inventory::links(&self.home, &self.disk).into_iter().filter_map(|found| match found.kind {
                Kind::Link(name) => Some(Request::Link(name)),
                _ => None,
            });
        let release = match identify(&root, MACHINE, &self.disk) {
            Tree::Toolkit(identity) => Some(Request::Version(identity.version)),
            _ => None,
        };
        Some(match links.chain(release).find(is_it) {
            Some(request) => failure.hint(self.line.with(text, &request.to_string())),
            None => failure
                .hint(format!("cudaup link NAME {shown}   (any name)"))
                .hint(self.line.with(text, "NAME")),
        })
    }

    /// Reads a request as it was typed, and says where it was spelled otherwise.
    pub fn request(&self, text: &str) -> Result<Request, Failure> {
        let (request, spelled) = Request::parse_typed(text).map_err(|bad| {
            if let Some(failure) = self.of_directory(text) {
                return failure;
            }
            let meant = bad.meant.clone();
            let failure = Failure::new(Exit::Usage, bad.to_string());
            match meant {
                Some(meant) => failure.hint(self.line.with(text, &meant)),
                None => failure,
            }
        })?;
        if let Some(spelled) = spelled {
            self.talk.say(&format!("{text} is read as {spelled}"));
        }
        Ok(request)
    }
}

/// What a command came to.
pub enum Outcome {
    /// Something to show.
    View(Box<dyn View>),
    /// Bytes for stdout as they are, such as text for a shell to run.
    Bytes(Vec<u8>),
    /// Something to show, and the exit code of a check that did not pass.
    Unmet(Box<dyn View>),
    /// Something to show again and again, until the user ends it.
    Watch(Watch),
    /// A program to become.
    Become(Program),
    /// Nothing to show.
    Done,
}

/// Something to show again and again.
pub struct Watch {
    /// How long to wait in between.
    pub every: Duration,
    /// Looks anew.
    pub next: Box<dyn FnMut() -> Result<Box<dyn View>, Failure>>,
}

/// A program to become.
pub struct Program {
    /// Its path; also what it sees as its own name.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What changes in its environment.
    pub changes: Vec<Change>,
}

/// A refusal of the rules as a failure of a command.
pub fn refused(refusal: &Refusal) -> Failure {
    let exit = match refusal.why {
        Why::Request(_) if refusal.rule == cudaup_core::refusal::Rule::Argument => Exit::Usage,
        Why::OddRoot(_) | Why::StateTooLong(_) => Exit::Failed,
        _ => Exit::NoVersion,
    };
    refusal.tries().into_iter().fold(Failure::new(exit, refusal.to_string()), Failure::hint)
}

/// The failure of a command that needs a toolkit where nobody asks for one and the machine has none.
pub fn nothing_chosen(context: &Context) -> Failure {
    let broken = unusable(&context.world());
    let of_the_machine = match broken.as_slice() {
        [] => "the machine has none of its own".to_owned(),
        broken => format!("the machine has none that serves: {}", broken.join(", ")),
    };
    let message = format!("no CUDA toolkit is chosen here, and {of_the_machine}");
    let failure = Failure::new(Exit::NoVersion, message);
    match inventory::managed(&context.home, &context.disk).first() {
        Some(newest) => failure.hint(format!("cudaup use --default {}", newest.identity)),
        None => failure.hint("cudaup install latest"),
    }
    .hint("cudaup use VERSION (this project)   cudaup use --default VERSION (you)")
}

/// What an add-on that is asked for with the toolkit and is not installed keeps from happening, and how to get it.
pub fn lacking<T>(met: &Result<T, Refusal>) -> Vec<String> {
    match met {
        Err(refusal @ Refusal { why: Why::AddonAbsent(_), .. }) => {
            let warning = format!("warning: {refusal}; until it is, no toolkit is entered here");
            let next = refusal.tries().into_iter().map(|next| format!("next: {next}"));
            std::iter::once(warning).chain(next).collect()
        }
        _ => Vec::new(),
    }
}
