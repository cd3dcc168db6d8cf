//! The small program behind every shim: works out which toolkit applies here and becomes its tool.

use cudaup_core::activate::{Entered, Scope, activate};
use cudaup_core::dialect;
use cudaup_core::environment::{Change, Vars};
use cudaup_core::follow;
use cudaup_core::foreign::Foreign;
use cudaup_core::home::Home;
use cudaup_core::inventory::{self, Kind, Toolkit};
use cudaup_core::list::split;
use cudaup_core::refusal::Rule;
use cudaup_core::resolve::{Choice, World};
use cudaup_core::text::plain;
use cudaup_core::tools::part_of;
use cudaup_shim::RealDisk;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// How many shims have gone on to another program in a row, each started by the one before, and to which the last did:
/// `2;/usr/lib/ccache/nvcc`. ccache under the name nvcc calls the next nvcc on PATH that is not ccache: the shim again.
const PASSED: &str = "_CUDAUP_PASSED";

/// So often a program that was gone on to may start its own name once more, as `nsys profile sh -c 'nsys export'` does. After
/// that a shim looks only behind the last one.
const ROUNDS: u32 = 4;

/// Exit codes of a shim's own failures, as shells give them.
const NOT_FOUND: u8 = 127;
const CANNOT_RUN: u8 = 126;

/// What to become, or what to say.
enum Outcome {
    Run { program: PathBuf, changes: Vec<Change> },
    Say(Vec<String>),
}

fn main() -> ExitCode {
    let mut arguments = read::arguments();
    let name = arguments.next().unwrap_or_default();
    let tool = Path::new(&name).file_name().unwrap_or(&name).to_os_string();
    let vars = read::vars();
    let Some(home) = home(&vars) else {
        return say(
            &["cudaup: neither CUDAUP_HOME nor HOME is set, so there is no place to look for toolkits"
                .into()],
            NOT_FOUND,
        );
    };
    let sysroot = vars.get("CUDAUP_SYSROOT").filter(|v| !v.is_empty()).map(PathBuf::from);
    let disk = RealDisk::new(sysroot, &home);
    let cwd = read::working_directory(vars.get("PWD"));
    let world = World { vars: &vars, cwd: cwd.as_deref(), home: &home, disk: &disk };
    if tool == "cudaup-shim" {
        return hook(&world, &arguments.collect::<Vec<_>>());
    }
    match choose(&world, &tool) {
        Outcome::Run { program, changes } => run(&program, arguments, changes),
        Outcome::Say(lines) => say(&lines, NOT_FOUND),
    }
}

/// `cudaup-shim hook SHELL [--mend]`: the answer of `cudaup hook`, from the program that starts in half the time.
fn hook(world: &World, arguments: &[OsString]) -> ExitCode {
    let words: Vec<Option<&str>> = arguments.iter().map(|a| a.to_str()).collect();
    let (shell, mend) = match words.as_slice() {
        [Some("hook"), Some(shell)] => (*shell, false),
        [Some("hook"), Some(shell), Some("--mend")] => (*shell, true),
        _ => return say(&["cudaup-shim is what stands behind the shims; you want cudaup".into()], 2),
    };
    let Some(dialect) = dialect::following(OsStr::new(shell)) else {
        return say(&[format!("cudaup-shim: no shell {shell} is known here")], 2);
    };
    let steps = if mend { follow::mend(world) } else { follow::enter(world) };
    say(&steps.lines, 0);
    match std::io::stdout().write_all(&steps.render(dialect, world.vars)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn choose(world: &World, tool: &OsStr) -> Outcome {
    let activation = activate(world, None, Scope::All);
    match &activation.entered {
        Entered::Toolkit(choice) => {
            let theirs = choice.toolkit.root.join("bin").join(tool);
            let before = activation.before.as_ref();
            let foreign =
                || cudaup_core::activate::foreign(world, &activation.vars, before, &choice.settings.roots);
            let mut changes = activation.changes;
            let program = if is_another_program(&theirs) {
                Some(theirs)
            } else {
                let next = next_on_path(world, tool, Some(&foreign()));
                changes.extend(next.as_deref().map(|next| passed(world, next)));
                next
            };
            let Some(program) = program else { return Outcome::Say(lacks(world, choice, tool)) };
            changes.push(("CUDAUP_VERSION".into(), Some(choice.exact().into())));
            Outcome::Run { program, changes }
        }
        Entered::Nothing => match next_on_path(world, tool, None) {
            Some(program) => Outcome::Run { changes: vec![passed(world, &program)], program },
            None => Outcome::Say(vec![
                format!("cudaup: no CUDA toolkit is chosen here and no other {} is on PATH", tool.display()),
                "try: cudaup use VERSION (this project)   cudaup use --default VERSION (you)".into(),
            ]),
        },
        Entered::Refused(refusal) => {
            let mut lines = vec![format!("cudaup: {refusal}")];
            lines.extend(refusal.tries().first().map(|next| format!("try: {next}")));
            Outcome::Say(lines)
        }
    }
}

/// What the program that a shim goes on to is told.
fn passed(world: &World, program: &Path) -> Change {
    let (rounds, _) = rounds(world);
    let mut text = OsString::from(format!("{};", rounds.saturating_add(1)));
    text.push(program);
    (PASSED.into(), Some(text))
}

/// How often it went on already, and to which program the last time.
fn rounds<'a>(world: &World<'a>) -> (u32, Option<&'a Path>) {
    let bytes = world.vars.get(PASSED).map(OsStr::as_bytes).unwrap_or_default();
    let Some(end) = bytes.iter().position(|b| *b == b';') else { return (0, None) };
    let (number, place) = bytes.split_at(end);
    let number = std::str::from_utf8(number).ok().and_then(|n| n.parse().ok());
    let place = place.get(1..).unwrap_or_default();
    number.map_or((0, None), |n| (n, Some(Path::new(OsStr::from_bytes(place)))))
}

/// The tool's next place on PATH behind this shim's own; with `outside`, only places outside every CUDA root. In the end only
/// ever onwards, so that nothing that calls shims is called by them for ever.
fn next_on_path(world: &World, tool: &OsStr, outside: Option<&Foreign>) -> Option<PathBuf> {
    let shims = world.home.shims();
    let mut seen = HashSet::new();
    let places: Vec<PathBuf> = split(world.vars.get("PATH")?)
        .into_iter()
        .filter(|entry| !entry.is_empty() && seen.insert(entry.clone()))
        .map(|entry| Path::new(&entry).join(tool))
        .collect();
    let behind = |at: Option<usize>| at.map_or(0, |at| at + 1);
    let own = behind(places.iter().position(|place| is_this_program(place)));
    let (rounds, last) = rounds(world);
    let passed = behind(places.iter().position(|place| last == Some(place)));
    let first = if rounds < ROUNDS { own } else { own.max(passed) };
    places.into_iter().skip(first).find(|place| {
        let directory = place.parent().unwrap_or(place);
        directory != shims
            && outside.is_none_or(|foreign| !foreign.owns_entry(directory.as_os_str()))
            && is_another_program(place)
    })
}

fn lacks(world: &World, choice: &Choice, tool: &OsStr) -> Vec<String> {
    let has = |t: &Toolkit| is_another_program(&t.root.join("bin").join(tool));
    let managed = inventory::managed(world.home, world.disk).into_iter().map(|t| (t.identity.to_string(), t));
    let linked = inventory::usable(inventory::links(world.home, world.disk)).into_iter().filter_map(|t| {
        match &t.kind {
            Kind::Link(name) => Some((name.clone(), t)),
            _ => None,
        }
    });
    let having: Vec<String> = managed.chain(linked).filter(|(_, t)| has(t)).map(|(name, _)| name).collect();
    let by = match &choice.rule {
        Rule::Machine => String::new(),
        rule => format!(", chosen by {rule}"),
    };
    let tool = tool.display();
    let part = part_of(&tool.to_string()).map(|p| format!(" (it comes with {p})")).unwrap_or_default();
    let mut lines = vec![format!("cudaup: CUDA {}{by}, has no {tool}{part}", choice.toolkit.identity)];
    match having.first() {
        Some(first) => {
            lines.push(format!("try: cudaup exec {first} -- {tool}   (installed: {})", having.join(", ")));
        }
        None => lines.push("no other toolkit here has it".into()),
    }
    lines
}

fn run(program: &Path, arguments: impl Iterator<Item = OsString>, changes: Vec<Change>) -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "becoming the tool is what a shim is for")]
    let mut command = Command::new(program);
    command.args(arguments);
    for (name, value) in changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let error = command.exec();
    say(&[format!("cudaup: cannot run {}: {error}", program.display())], CANNOT_RUN)
}

fn home(vars: &Vars) -> Option<Home> {
    let set = |name: &str| vars.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let absolute = |home: PathBuf| std::path::absolute(&home).unwrap_or(home);
    let named = set("CUDAUP_HOME").map(absolute).or_else(|| set("HOME").map(|h| h.join(".cudaup")));
    let own = || Home::around(&std::fs::read_link("/proc/self/exe").ok()?);
    named.map(Home::new).or_else(own)
}

/// Whether a path is a program that can be run and is not this very shim, under whatever name or link: that would go
/// round for ever.
fn is_another_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
        && !is_this_program(path)
}

fn is_this_program(path: &Path) -> bool {
    let place = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    place(path).is_some_and(|there| place(Path::new("/proc/self/exe")) == Some(there))
}

fn say(lines: &[String], code: u8) -> ExitCode {
    let mut err = std::io::stderr().lock();
    for line in lines {
        // Where nobody can be told, the exit code still tells.
        let _ = writeln!(err, "{}", plain(line));
    }
    ExitCode::from(code)
}

/// The one place that reads the world.
mod read {
    use super::{MetadataExt, OsStr, OsString, Path, PathBuf, Vars};

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the world")]
    pub(crate) fn arguments() -> impl Iterator<Item = OsString> {
        std::env::args_os()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the world")]
    pub(crate) fn vars() -> Vars {
        std::env::vars_os().collect()
    }

    /// `$PWD` where it is the same directory as `.`, else the real path; `$PWD` alone where the directory is gone.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the world")]
    pub(crate) fn working_directory(pwd: Option<&OsStr>) -> Option<PathBuf> {
        let pwd = pwd.map(Path::new).filter(|p| p.is_absolute());
        let same = |path: &Path| {
            let (here, there) = (std::fs::metadata(".").ok()?, std::fs::metadata(path).ok()?);
            (here.dev() == there.dev() && here.ino() == there.ino()).then(|| path.to_path_buf())
        };
        match pwd.and_then(same) {
            Some(path) => Some(path),
            None => std::env::current_dir().ok().or_else(|| pwd.map(Path::to_path_buf)),
        }
    }
}
