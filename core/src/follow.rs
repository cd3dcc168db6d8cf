//! What a shell that follows its directory has to do when something changed.

use crate::activate::{Entered, Scope, activate_left, newcomer, shims_last};
use crate::bundled;
use crate::dialect::Dialect;
use crate::disk::Unread;
use crate::environment::{Change, Left, Vars, changes, is_intact, leave, without_stale};
use crate::foreign::ROOT_VARIABLES;
use crate::home::MACHINE_DEFAULT;
use crate::list::split;
use crate::memory::Memory;
use crate::refusal::Rule;
use crate::resolve::{Choice, World, asked, meet, nearest_file};
use crate::state::{self, State};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The most that the hook of bash reads of a file.
const LONGEST_SEEN: usize = 4096;

/// What a shell has to do, and what its user is told.
#[derive(Debug, Default)]
pub struct Steps {
    /// Variables to set and unset.
    pub changes: Vec<Change>,
    /// Where the hook lets go until the directory or a version file changes: what it needs to know whether that still holds.
    pub yields: Option<OsString>,
    /// What this shell has been told, where that changed.
    pub told: Option<String>,
    /// Lines for the user.
    pub lines: Vec<String>,
}

impl Steps {
    /// The steps as text for a shell that has these variables in its environment.
    pub fn render(&self, dialect: &Dialect, vars: &Vars) -> Vec<u8> {
        let mut text = dialect.render_own(&self.changes, vars);
        if let Some(yielded) = &self.yields {
            text.extend_from_slice(&dialect.keep("_cudaup_yield", "1"));
            text.extend_from_slice(&dialect.keep("_cudaup_yielded", yielded.as_bytes()));
        }
        if let Some(told) = &self.told {
            text.extend_from_slice(&dialect.keep("_cudaup_told", told));
        }
        text
    }
}

/// Enters the current directory, whatever is entered now.
pub fn enter(world: &World) -> Steps {
    settled(world, |world, _| entered(world))
}

fn entered(world: &World) -> Steps {
    let left = leave(world.vars);
    let damaged = left.damaged;
    let mut steps = enter_from(world, left, true);
    if damaged {
        let line = "cudaup: CUDAUP_STATE could not be read and was dropped; what it remembered is lost";
        steps.lines.insert(0, line.to_owned());
    }
    steps
}

/// What a shell at its start would find that decides about the toolkit, as the hook of bash writes it down: the version file and
/// what it holds, what the user's and the machine's default files hold, and `CUDAUP_VERSION`. With it the first prompt need not
/// ask again. `None` where the shell could read something else there: a file that is long, is none, or holds zeros.
pub fn seen(world: &World) -> Option<Vec<u8>> {
    world.cwd?;
    let (file, pin) = nearest_file(world).ok()?.unwrap_or_default();
    let text = |file: &Path| match world.disk.read(file, LONGEST_SEEN) {
        Err(Unread::Absent) => Some(Vec::new()),
        read => read.ok(),
    };
    let [own, machine] = [text(&world.home.default_file())?, text(&world.disk.system(MACHINE_DEFAULT))?];
    let version = world.vars.get("CUDAUP_VERSION").unwrap_or_default();
    let alike = |text: &Vec<u8>| text.len() < LONGEST_SEEN && !text.contains(&0);
    let parts = [file.into_os_string().into_vec(), pin, own, machine, version.as_bytes().to_vec()];
    parts.iter().all(alike).then(|| parts.join(&b';'))
}

/// Directory and version files are as before: puts back what was lost of ours; lets go where another hand brought a
/// toolkit of its own.
pub fn mend(world: &World) -> Steps {
    settled(
        world,
        |world, undone| if undone { again(world, leave(world.vars), false) } else { mended(world) },
    )
}

/// The steps from an environment in which nothing is left of what was entered elsewhere in this shell.
fn settled(world: &World, steps: impl Fn(&World, bool) -> Steps) -> Steps {
    let (vars, undone) = Told::of(world).memory.settled(world.vars, world.home);
    let mut steps = steps(&World { vars: &vars, ..*world }, undone);
    for change in changes(world.vars, &vars) {
        if steps.changes.iter().all(|(name, _)| *name != change.0) {
            steps.changes.push(change);
        }
    }
    steps
}

/// Enters anew, over what an old value may have brought back of ours.
fn again(world: &World, left: Left, say: bool) -> Steps {
    let vars = without_stale(&left.vars, world.home);
    enter_from(world, Left { vars, ..left }, say)
}

fn mended(world: &World) -> Steps {
    let left = leave(world.vars);
    let Some(state) = &left.state else {
        let yields = still_yielded(world);
        return if yields.is_some() {
            Steps { yields, ..Steps::default() }
        } else {
            again(world, left, false)
        };
    };
    if let Some(newer) = newcomer(world, state) {
        let line = format!(
            "cudaup: {} came into this shell and is left in charge until the directory or its version file changes",
            newer.display()
        );
        // The way back is one word.
        let mut yielded = world.vars.get(state::VARIABLE).unwrap_or_default().to_os_string();
        yielded.push(" ");
        yielded.push(newer);
        let changes = changes(world.vars, &left.vars);
        return Steps { changes, yields: Some(yielded), lines: vec![line], ..Steps::default() };
    }
    if !state.root.is_empty() && !world.disk.is_dir(Path::new(&state.root)) {
        return again(world, left, true);
    }
    if is_intact(world.vars, state, world.home) { activated(world) } else { again(world, left, false) }
}

/// What a hook that let go was told then, if what came is still there, or another of its kind is in its place (`module swap`).
/// Else it has gone again (`deactivate`, `module unload`).
fn still_yielded(world: &World) -> Option<OsString> {
    let yielded = world.vars.get("_CUDAUP_YIELDED")?;
    let bytes = yielded.as_bytes();
    let (way_back, newer) = bytes.split_at(bytes.iter().position(|b| *b == b' ')?);
    let newer = OsStr::from_bytes(newer.get(1..)?);
    let is_root = ROOT_VARIABLES.iter().any(|name| world.vars.get(name) == Some(newer));
    let in_path = || world.vars.get("PATH").is_some_and(|path| split(path).iter().any(|e| e == newer));
    let another =
        || State::decode(OsStr::from_bytes(way_back)).is_some_and(|s| newcomer(world, &s).is_some());
    (is_root || in_path() || another()).then(|| yielded.to_os_string())
}

/// All of ours is in place. What changed may be that a Python environment was activated.
fn activated(world: &World) -> Steps {
    let mut told = Told::of(world);
    if bundled::active(world).is_some()
        && let Ok(Some(asked)) = asked(world, None)
        && let Ok(choice) = meet(world, asked)
    {
        told.of_libraries(world, &choice);
    }
    Steps { told: told.kept(), lines: told.lines, ..Steps::default() }
}

/// Enters the current directory from an environment in which nothing is entered.
fn enter_from(world: &World, mut left: Left, say: bool) -> Steps {
    if let Some(path) = shims_last(world, &left.vars) {
        left.vars.put("PATH", Some(path));
    }
    let base = left.vars.clone();
    let left = Left { damaged: false, ..left };
    let activation = activate_left(&World { vars: &base, ..*world }, left, None, Scope::Asked);
    let mut lines = Vec::new();
    if say {
        lines.extend(activation.notes.iter().map(|note| format!("cudaup: {note}")));
    }
    let mut told = Told::of(world);
    match &activation.entered {
        Entered::Refused(refusal) => {
            let text = refusal.to_string();
            told.tell(&text, &text, refusal.tries().into_iter().next());
        }
        Entered::Toolkit(choice) => {
            if let Some(note) = of_a_stranger(world, &choice.rule) {
                told.tell(&note, &note, None);
            }
            if let Some(warning) = of_an_absent_compiler(world, choice) {
                told.tell(
                    &format!("{}: {warning}", choice.rule),
                    &warning,
                    Some("cudaup current".to_owned()),
                );
            }
            told.of_libraries(world, choice);
        }
        Entered::Nothing => {}
    }
    told.memory.enter(&activation.vars);
    let kept = told.kept();
    lines.extend(told.lines);
    Steps { changes: changes(world.vars, &activation.vars), yields: None, told: kept, lines }
}

/// A word where the pin that counts is neither the user's nor root's: it is read and never run, and whoever can write it chooses
/// among the toolkits that are there.
pub fn of_a_stranger(world: &World, rule: &Rule) -> Option<String> {
    let Rule::Pin(file, _) = rule else { return None };
    let owner = world.disk.stranger(file)?;
    Some(format!("note: {} is a file of user {owner}, neither yours nor root's", file.display()))
}

/// A word where the compiler that the key `host_compiler` names is not there: nvcc would not say whose wish it was.
fn of_an_absent_compiler(world: &World, choice: &Choice) -> Option<String> {
    let name = choice.settings.host_compiler.as_ref()?;
    let path = world.vars.get("PATH").map(split).unwrap_or_default();
    let mut directories = path.iter().map(Path::new).filter(|directory| directory.is_absolute());
    let there = directories.any(|directory| world.disk.is_program(&directory.join(name)));
    (!there).then(|| {
        format!(
            "warning: host_compiler = {name}: there is no such compiler on PATH, and nvcc fails without it"
        )
    })
}

/// What is said once in each shell.
struct Told {
    /// As the shell keeps it.
    before: String,
    marks: Vec<String>,
    memory: Memory,
    lines: Vec<String>,
}

impl Told {
    fn of(world: &World) -> Self {
        let before = world.vars.get("_CUDAUP_TOLD").and_then(OsStr::to_str).unwrap_or_default().to_owned();
        let mut memory = Memory::default();
        let words = before.split(' ').filter(|word| !word.is_empty());
        let marks = words.filter(|word| !memory.read(word)).map(str::to_owned).collect();
        memory.meet(world.vars);
        Self { before, marks, memory, lines: Vec::new() }
    }

    /// What the shell is to keep, where that is something else than before.
    fn kept(&self) -> Option<String> {
        let words: Vec<String> = self.marks.iter().cloned().chain(self.memory.words()).collect();
        Some(words.join(" ")).filter(|kept| *kept != self.before)
    }

    /// Says a text, if nothing of this mark was said before.
    fn tell(&mut self, of: &str, text: &str, next: Option<String>) {
        let mark = format!("{:x}", state::hash(Some(OsStr::new(of))));
        if self.marks.contains(&mark) {
            return;
        }
        self.lines.push(format!("cudaup: {text}"));
        self.lines.extend(next.map(|next| format!("try: {next}")));
        self.marks.push(mark);
    }

    /// The libraries of the active Python environment, where the toolkit's go before them.
    fn of_libraries(&mut self, world: &World, choice: &Choice) {
        let note = bundled::active(world).and_then(|bundle| bundled::note(world, choice, &bundle));
        if let Some((text, mark)) = note {
            self.tell(&mark, &text, None);
        }
    }
}
