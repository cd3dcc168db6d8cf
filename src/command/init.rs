//! `cudaup init [SHELL]`: the text that makes a shell follow `.cuda-version`, and the start files that load it.

use crate::command::{Context, Outcome};
use crate::failure::Failure;
use crate::shell::files::{self, Edit};
use crate::shell::setup::{self, Places, Wanted};
use crate::shell::{self, Dialect, parent};
use crate::shims;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use cudaup_core::follow;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Set up the shell: with --write in its start files; else the text for a start file to evaluate is printed.
#[derive(Debug, Arguments)]
pub struct Args {
    /// bash, zsh, fish or tcsh; the one that runs cudaup where none is named
    shell: Option<String>,
    /// Write the lines into the shell's start files, once
    #[arg(long, conflicts_with_all = ["remove", "profile"])]
    write: bool,
    /// Take the lines out of the start files: of all shells where none is named
    #[arg(long, conflicts_with = "profile")]
    remove: bool,
    /// Print the lines for what has no hook: cron, CI, editors
    #[arg(long)]
    profile: bool,
    /// With --profile: for all users of the machine, as a file for /etc/profile.d
    #[arg(long, requires = "profile", conflicts_with = "shell")]
    system: bool,
}

impl Args {
    /// `cudaup init SHELL`, the line of a start file.
    pub fn of(shell: &str) -> Self {
        Self { shell: Some(shell.to_owned()), write: false, remove: false, profile: false, system: false }
    }

    /// Runs the command.
    pub fn run(&self, context: &Context, json: bool) -> Result<Outcome, Failure> {
        if self.remove {
            return self.remove(context);
        }
        if self.system {
            return Ok(Outcome::Bytes(shell::FOR_ALL_USERS.as_bytes().to_vec()));
        }
        if self.profile {
            let dialect = shell::dialect(self.shell.as_deref().unwrap_or("sh"))?;
            return Ok(Outcome::Bytes(setup::shims_lines(dialect, &places(context)?)));
        }
        let dialect = match &self.shell {
            Some(name) => shell::following(name)?,
            None => self.parents(context)?,
        };
        if self.write {
            return write(context, dialect);
        }
        if json || context.host.terminal.stdout {
            let places = places(context)?;
            let wanted = setup::wanted(dialect, &places, &files::content);
            return Ok(Outcome::View(Box::new(How {
                dialect,
                line: setup::hook_line(dialect, &places),
                wanted,
            })));
        }
        Ok(Outcome::Bytes(text(context, dialect)))
    }

    /// The shell that runs this. What is to be evaluated is for the nearest one, and no other.
    fn parents(&self, context: &Context) -> Result<&'static Dialect, Failure> {
        let named = |e: Failure| e.hint(format!("cudaup init {}", names(" or ")));
        if self.write || context.host.terminal.stdout {
            return parent::of_parent(&context.host, |d| d.hook().is_some()).map_err(named);
        }
        let nearest = parent::of_parent(&context.host, |_| true).map_err(named)?;
        shell::following(nearest.name())
    }

    fn remove(&self, context: &Context) -> Result<Outcome, Failure> {
        let places = places(context)?;
        let candidates: Vec<PathBuf> = match &self.shell {
            Some(name) => setup::files(shell::following(name)?, &places),
            None => shell::all_following().flat_map(|d| setup::files(d, &places)).collect(),
        };
        let edits = files::removing(&distinct(candidates))?;
        files::apply(&edits)?;
        Ok(Outcome::View(Box::new(Removed { files: changed(&edits) })))
    }
}

/// The hook, and the variables of this directory: a shell without a prompt needs them at once.
fn text(context: &Context, dialect: &Dialect) -> Vec<u8> {
    let system = context.host.sysroot.as_deref().unwrap_or(Path::new(""));
    let header = [
        dialect.keep("_cudaup_bin", program(context).as_os_str().as_bytes()),
        dialect.keep("_cudaup_asked_of", asked_of(context).as_os_str().as_bytes()),
        dialect.keep("_cudaup_home", context.home.path().as_os_str().as_bytes()),
        dialect.keep("_cudaup_system", system.as_os_str().as_bytes()),
    ];
    let steps = follow::enter(&context.world());
    for line in &steps.lines {
        context.talk.say(line);
    }
    // The hook comes last: it ends by taking what is there now as seen. Comments and indentation are for its readers, and a
    // shell takes its time for them.
    let hook = dialect.hook().unwrap_or_default();
    let code = hook
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with('#'))
        .collect::<Vec<_>>()
        .join("\n");
    // bash is slow enough at looking by itself for that to be felt when it starts.
    let seen = match dialect.name() {
        "bash" => {
            let key = follow::seen(&context.world()).unwrap_or_else(|| b"?".to_vec());
            dialect.keep("_cudaup_asked", key)
        }
        _ => Vec::new(),
    };
    [&header.concat(), &steps.render(dialect.words(), &context.vars), &seen, code.as_bytes(), b"\n"].concat()
}

/// The path by which a start file finds this program: the one in the home, where it is this one, since that stays.
fn program(context: &Context) -> PathBuf {
    let own = context.host.program.clone().unwrap_or_else(|| "cudaup".into());
    let home = context.home.bin().join("cudaup");
    if fs::canonicalize(&home).is_ok_and(|real| real == own) { home } else { own }
}

/// The program that the hook asks: the small one, which answers the same in half the time, where it is there.
fn asked_of(context: &Context) -> PathBuf {
    let small = context.home.bin().join(shims::PROGRAM);
    if small.is_file() { small } else { program(context) }
}

fn places(context: &Context) -> Result<Places, Failure> {
    let host = &context.host;
    let user_home = host.user_home.clone().ok_or_else(|| {
        Failure::failed("HOME names no directory, so there are no start files")
            .hint("export HOME=/some/directory")
    })?;
    let directory = |name: &str| host.var(name).map(PathBuf::from).filter(|d| d.is_absolute());
    Ok(Places {
        user_home,
        home: context.home.path().to_path_buf(),
        program: program(context),
        zdotdir: directory("ZDOTDIR"),
        config: directory("XDG_CONFIG_HOME"),
    })
}

fn write(context: &Context, dialect: &'static Dialect) -> Result<Outcome, Failure> {
    let places = places(context)?;
    context.warn_root(&places.user_home);
    let wanted = setup::wanted(dialect, &places, &files::content);
    let line = setup::hook_line(dialect, &places);
    let edits = files::writing(&wanted)?;
    files::apply(&edits).map_err(|failure| {
        failure.hint(format!(
            "by hand, where {} reads it: {}",
            dialect.name(),
            String::from_utf8_lossy(&line)
        ))
    })?;
    Ok(Outcome::View(Box::new(Written { dialect, changed: changed(&edits), wanted })))
}

fn changed(edits: &[Edit]) -> Vec<PathBuf> {
    edits.iter().filter(|e| e.is_change()).map(|e| e.file.clone()).collect()
}

fn distinct(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.sort();
    files.dedup();
    files
}

fn names(between: &str) -> String {
    shell::all_following().map(|d| d.name()).collect::<Vec<_>>().join(between)
}

/// How to set the shell up, for a person who would be shown code.
struct How {
    dialect: &'static Dialect,
    line: Vec<u8>,
    wanted: Vec<Wanted>,
}

impl View for How {
    fn json(&self) -> Value {
        json!({ "shell": self.dialect.name(), "line": String::from_utf8_lossy(&self.line), "files": rows(&self.wanted) })
    }

    fn human(&self, style: &Style) -> String {
        let name = self.dialect.name();
        format!(
            "to make {name} follow .cuda-version, once: {}\nit adds marked lines (`cudaup init --remove` takes them out) to\n{}\
             or by hand, as the last line of the start file: {}\nfor cron, CI and editors: cudaup init --profile\n",
            style.strong(&format!("cudaup init {name} --write")),
            self.wanted.iter().map(|w| format!("  {}\n", described(w, style))).collect::<Vec<_>>().concat(),
            String::from_utf8_lossy(&self.line),
        )
    }
}

/// What was written.
struct Written {
    dialect: &'static Dialect,
    wanted: Vec<Wanted>,
    changed: Vec<PathBuf>,
}

impl View for Written {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({ "shell": self.dialect.name(), "changed": paths(&self.changed), "files": rows(&self.wanted) })
    }

    fn human(&self, style: &Style) -> String {
        let line = |w: &Wanted| {
            let verb = if self.changed.contains(&w.file) { "written" } else { "as it was" };
            format!("{verb}: {}\n", described(w, style))
        };
        let lines: String = self.wanted.iter().map(line).collect();
        if self.changed.is_empty() {
            return lines;
        }
        format!("{lines}next: exec {}   (or open a new terminal)\n", self.dialect.name())
    }
}

/// What was taken out.
struct Removed {
    files: Vec<PathBuf>,
}

impl View for Removed {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({ "changed": paths(&self.files) })
    }

    fn human(&self, style: &Style) -> String {
        if self.files.is_empty() {
            return "no start file has lines of cudaup\n".to_owned();
        }
        self.files.iter().map(|f| format!("taken out of {}\n", style.path(f))).collect::<Vec<_>>().concat()
    }
}

fn described(wanted: &Wanted, style: &Style) -> String {
    let what = |block: &shell::rc::Block| match block.name {
        "hook" => "the hook",
        _ => "shims first in PATH",
    };
    let blocks: Vec<_> = wanted.blocks.iter().map(what).collect();
    format!("{}: {} (read by {})", style.path(&wanted.file), blocks.join(" and "), wanted.read_by)
}

fn rows(wanted: &[Wanted]) -> Value {
    let row = |w: &Wanted| {
        let blocks: Vec<_> = w.blocks.iter().map(|b| b.name).collect();
        json!({ "file": w.file.to_string_lossy(), "blocks": blocks, "read_by": w.read_by })
    };
    wanted.iter().map(row).collect()
}

fn paths(files: &[PathBuf]) -> Value {
    files.iter().map(|f| f.to_string_lossy().into_owned()).collect()
}
