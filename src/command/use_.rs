//! `cudaup use VERSION`: chooses a toolkit for this project, this shell, this user or this machine.

use crate::command::this_shell::{self, end_of_shell, hooked};
use crate::command::{Context, Outcome, builds, compiler, lacking, order, refused, use_global};
use crate::disk::atomic;
use crate::failure::Failure;
use crate::host::Host;
use crate::install::Answer;
use crate::install::decide::Order;
use crate::shell;
use crate::ui::view::{Style, View, size};
use clap::Args as Arguments;
use cudaup_core::builds::is_installable;
use cudaup_core::bundled;
use cudaup_core::pin::{FILE_NAME, parse_default, with_request};
use cudaup_core::refusal::{Refusal, Rule, Why};
use cudaup_core::request::Request;
use cudaup_core::resolve::{Asked, Choice, World, default_settings, meet_toolkit, nearest_pin, resolve};
use cudaup_core::version::Version;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Choose the toolkit of this project (writes .cuda-version), of this shell, of yours everywhere, or of the whole machine.
#[derive(Debug, Arguments)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub struct Args {
    /// 12, 12.4, 12.4.1, latest, system or a link's name
    #[arg(required_unless_present = "undo")]
    version: Option<String>,
    /// Only this shell, until it ends; needs the hook (cudaup init --write), or eval "$(cudaup use --shell VERSION)"
    #[arg(long, conflicts_with_all = ["default", "pin"])]
    shell: bool,
    /// Your default, for wherever no .cuda-version says otherwise
    #[arg(long, conflicts_with = "pin")]
    default: bool,
    /// The machine's, for all users: what /usr/local/cuda leads to
    #[arg(long, conflicts_with_all = ["shell", "default", "pin", "yes", "no_install"])]
    global: bool,
    /// With --global: put back what was there before cudaup's last change
    #[arg(long, requires = "global", conflicts_with = "version")]
    undo: bool,
    /// With --global: only say what would be done
    #[arg(long, requires = "global")]
    dry_run: bool,
    /// Write .cuda-version also in your home directory and in /, where `use` sets your default instead
    #[arg(long)]
    pin: bool,
    /// Install the version where it is missing, without asking
    #[arg(short, long, conflicts_with = "no_install")]
    yes: bool,
    /// Write the version down although it is missing
    #[arg(long)]
    no_install: bool,
}

/// Where a choice is written.
enum Place {
    Pin(PathBuf),
    Default(PathBuf),
}

struct Chosen {
    text: String,
    file: PathBuf,
    is_default: bool,
    choice: Option<Choice>,
    before: Option<Choice>,
    follows: bool,
    lines: Vec<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let version = match &self.version {
            Some(version) if self.global => return use_global::point(context, version, self.dry_run),
            Some(version) => version,
            None => return use_global::undo(context, self.dry_run),
        };
        context.warn_root(context.home.path());
        let request = context.request(version)?;
        let choice = self.choice(context, &request)?;
        let text = match (&request, &choice) {
            (Request::Latest, Some(choice)) => choice.toolkit.identity.version.to_string(),
            _ => request.to_string(),
        };
        let before = resolve(&context.world(), None).ok().flatten();
        if self.shell {
            return match choice {
                Some(choice) => this_shell::choose(context, before.as_ref(), &choice),
                None => this_shell::unmet(context, &text),
            };
        }
        let place = self.place(context)?;
        let (file, is_default) = match &place {
            Place::Pin(file) => (file, false),
            Place::Default(file) => (file, true),
        };
        let mut lines = said(context, &place);
        lines.extend(write(file, &text)?);
        let written = by_file(context, is_default);
        lines.extend(lacking(&written));
        if let Ok(Some(choice)) = &written {
            lines.extend(compiler::lines(context, choice));
            lines.extend(libraries(context, choice, file));
        }
        if let Ok(Some(now)) = resolve(&context.world(), None)
            && let Some(note) = builds::note(context, before.as_ref(), &now)
        {
            context.talk.say(&note);
        }
        Ok(Outcome::View(Box::new(Chosen {
            text,
            file: file.clone(),
            is_default,
            choice,
            before,
            follows: hooked(context) && context.host.var("CUDAUP_VERSION").is_none(),
            lines,
        })))
    }

    /// The toolkit that the request means; installs it where that is wanted, `None` where it is to be written all the same.
    fn choice(&self, context: &Context, request: &Request) -> Result<Option<Choice>, Failure> {
        let world = context.world();
        let asked = asked_by(context, request);
        let refusal = match meet_toolkit(&world, asked.clone()) {
            Ok(choice) => return Ok(Some(choice)),
            Err(refusal) => refusal,
        };
        let installable = matches!((&refusal.why, request), (Why::NotInstalled(..), Request::Version(_)));
        // What can never be installed is not pinned to wait for that.
        if self.no_install && installable && is_offered(request) {
            return Ok(None);
        }
        if let (Request::Version(version), true) = (request, installable && is_offered(request))
            && (self.yes || self.agrees(context, *version, &refusal)?)
        {
            Self::install(context, *version)?;
            return meet_toolkit(&world, asked).map(Some).map_err(|r| refused(&r));
        }
        Err(refused(&refusal))
    }

    fn install(context: &Context, version: Version) -> Result<(), Failure> {
        let style = Style { color: false, user_home: context.host.user_home.clone() };
        if let Answer::Installed(installed) = order::carry_out(context, &Order::usual(version))? {
            context.talk.say(order::installed(&installed, &style).trim_end());
        }
        Ok(())
    }

    /// Asks on a terminal; elsewhere nobody is asked and the answer is no.
    fn agrees(&self, context: &Context, version: Version, refusal: &Refusal) -> Result<bool, Failure> {
        let terminal = &context.host.terminal;
        if !terminal.stdin || !terminal.stderr || context.host.var("CI").is_some() {
            return Ok(false);
        }
        context.talk.say(&refusal.to_string());
        let order = Order { dry_run: true, ..Order::usual(version) };
        let Answer::Planned(plan, _) = order::carry_out(context, &order)? else { return Ok(true) };
        let (load, disk) = (size(plan.size()), size(plan.unpacked()));
        let what = format!(
            "{} with the {} profile, {load} to load, about {disk} on disk",
            plan.version, plan.profile
        );
        Ok(context.talk.ask(&format!("install {what}? [Y/n] ")))
    }

    fn place(&self, context: &Context) -> Result<Place, Failure> {
        let default = || Place::Default(context.home.default_file());
        if self.default {
            return Ok(default());
        }
        let cwd = context.host.cwd.as_ref().ok_or_else(|| {
            Failure::failed("the current directory is gone, so there is nowhere to write a version file")
        })?;
        if !cwd.is_dir() {
            return Err(Failure::failed(format!("this directory no longer exists: {}", cwd.display())));
        }
        let home = context.host.user_home.as_ref();
        let everywhere = home.is_some_and(|home| is_same(cwd, home)) || cwd == Path::new("/");
        if everywhere && !self.pin {
            context.talk.say(&format!(
                "{} is no project: this sets your default (--pin writes the file)",
                cwd.display()
            ));
            return Ok(default());
        }
        Ok(Place::Pin(cwd.join(FILE_NAME)))
    }
}

/// Whether two names are one directory: a home is often reached through a link, and some file systems take `Ada` for `ada`.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    one == other || place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one))
}

fn asked_by(context: &Context, request: &Request) -> Asked {
    let settings = default_settings(&context.world());
    Asked { request: request.clone(), rule: Rule::Argument, settings }
}

/// What the file that was written comes to by itself, whatever outranks it here.
fn by_file(context: &Context, is_default: bool) -> Result<Option<Choice>, Refusal> {
    let mut vars = context.vars.clone();
    vars.put("CUDAUP_VERSION", None);
    let world = context.world();
    let cwd = world.cwd.filter(|_| !is_default);
    resolve(&World { vars: &vars, cwd, ..world }, None)
}

impl Args {
    /// The shell that evaluates what is printed, where one does.
    pub fn read_by(&self, host: &Host) -> Option<&'static shell::Dialect> {
        let named = host.text("_CUDAUP_SHELL");
        self.shell.then(|| shell::of_name_or_parent(named, host)).flatten()
    }
}

/// Writes the request into a file, keeping what else stands there.
/// Returns what is wrong with the rest of it.
fn write(file: &Path, text: &str) -> Result<Option<String>, Failure> {
    let old = match std::fs::metadata(file) {
        Ok(found) if found.is_file() => std::fs::read(file).map_err(|e| Failure::io("read", file, &e))?,
        Ok(_) => {
            return Err(Failure::failed(format!("{} is there and is no file", file.display()))
                .hint(format!("move it away: mv {0} {0}.old", shell_words::quote(&file.to_string_lossy()))));
        }
        Err(_) if file.is_symlink() => {
            return Err(Failure::failed(format!("{} is a link that leads nowhere", file.display()))
                .hint(format!("rm {}", shell_words::quote(&file.to_string_lossy()))));
        }
        Err(_) => Vec::new(),
    };
    let new = with_request(&old, text).map_err(|bad| {
        Failure::failed(format!("{} is left as it is: {bad}", file.display()))
            .hint(format!("rm {}", shell_words::quote(&file.to_string_lossy())))
    })?;
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).map_err(|e| Failure::io("create", parent, &e))?;
    }
    atomic::write(file, new.as_bytes())?;
    let at = |line: Option<usize>| line.map_or_else(String::new, |l| format!(":{l}"));
    Ok(parse_default(new.as_bytes()).err().map(|bad| {
        format!(
            "warning: {}{}: {bad}; until that is mended the file counts for nothing",
            file.display(),
            at(bad.line())
        )
    }))
}

/// Whether installing is worth an offer: some source has it with its compiler.
fn is_offered(request: &Request) -> bool {
    matches!(request, Request::Version(version) if is_installable(*version))
}

/// What else a person has to know of this choice.
fn said(context: &Context, place: &Place) -> Vec<String> {
    let mut lines = Vec::new();
    let pin = nearest_pin(&context.world()).ok().flatten();
    let request =
        |pin: &cudaup_core::pin::Pin| pin.request.as_ref().map_or_else(String::new, ToString::to_string);
    match (place, &pin) {
        (Place::Pin(file), Some((above, pin))) if above != file => {
            lines.push(format!("{} ({}) no longer holds here", above.display(), request(pin)));
        }
        (Place::Default(_), Some((file, pin))) => {
            lines.push(format!("here {} ({}) holds all the same", file.display(), request(pin)));
        }
        _ => {}
    }
    if let Some(version) = context.host.text("CUDAUP_VERSION") {
        let end = end_of_shell(&context.host);
        lines.push(format!("CUDAUP_VERSION={version} outranks it in this shell; to end that: {end}"));
    }
    if !hooked(context) {
        lines.push("this shell did not switch: it has no hook; for one command: cudaup exec -- CMD".into());
        lines.push("next: cudaup init bash --write   (or zsh, fish, tcsh) and a new shell".into());
    }
    lines
}

/// What the libraries of a Python environment come to. Where the environment is active the hook says so itself.
fn libraries(context: &Context, choice: &Choice, file: &Path) -> Option<String> {
    let world = context.world();
    let is_of = |rule: &Rule| matches!(rule, Rule::Pin(of, _) | Rule::Default(of, _) if of == file);
    let bundle = match bundled::active(&world) {
        Some(_) if hooked(context) => None,
        active => active.or_else(|| bundled::beside(&world)),
    };
    let note = bundled::note(&world, choice, &bundle.filter(|_| is_of(&choice.rule))?);
    note.map(|(text, _)| text)
}

impl View for Chosen {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({
            "request": self.text,
            "file": self.file.to_string_lossy(),
            "default": self.is_default,
            "version": self.choice.as_ref().map(|c| c.toolkit.identity.to_string()),
            "root": self.choice.as_ref().map(|c| c.toolkit.root.to_string_lossy().into_owned()),
            "notes": self.lines,
        })
    }

    fn human(&self, style: &Style) -> String {
        let what = match &self.choice {
            Some(choice) if choice.toolkit.identity.to_string() != self.text => {
                format!("{} -> {}", self.text, choice.toolkit.identity)
            }
            Some(_) => self.text.clone(),
            None => format!("{} (not installed)", self.text),
        };
        let was =
            self.before.as_ref().filter(|b| self.choice.as_ref().is_some_and(|c| c.toolkit != b.toolkit));
        let by = |rule: &Rule| match rule {
            Rule::Pin(file, _) if *file == self.file => String::new(),
            Rule::Default(file, _) if *file == self.file => ", your default".to_owned(),
            Rule::Machine => ", the machine's own".to_owned(),
            Rule::Variable | Rule::Argument => ", by CUDAUP_VERSION".to_owned(),
            Rule::Pin(file, _) => format!(", by {}", style.path(file)),
            Rule::Default(..) => ", the default".to_owned(),
        };
        let was =
            was.map(|b| format!(" (here was {}{})", b.toolkit.identity, by(&b.rule))).unwrap_or_default();
        let file = style.path(&self.file);
        let place =
            if self.is_default { format!("your default, in {file}") } else { format!("written to {file}") };
        let missing = match &self.choice {
            None => format!("next: cudaup install {}\n", self.text),
            Some(_) => String::new(),
        };
        let lines: String = self.lines.iter().map(|l| format!("{l}\n")).collect();
        let follows = if self.follows && !self.is_default { "; this shell follows" } else { "" };
        format!("{}, {place}{follows}{was}\n{lines}{missing}", style.strong(&what))
    }
}
