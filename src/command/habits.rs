//! What users of rustup, pyenv, nvm, mise and conda type by habit: it works, or the answer is the full right command.
//! Asked ahead of the parser's own guess, which knows spellings and not what a word means elsewhere.

use cudaup_core::addon::{Library, library};
use cudaup_core::tools::part_of;
use std::ffi::{OsStr, OsString};

/// What is to be made of words that cudaup does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Habit {
    /// They mean these arguments: go on with them.
    Means(Vec<OsString>),
    /// They mean something else here than elsewhere, or nothing yet: say this and exit with the code for usage.
    Says(String),
    /// They take a choice back: what decides here is looked up, and the answer names what ends it.
    TakesBack(Back),
}

/// Whose choice is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// This shell's.
    Shell,
    /// Whatever holds in this directory.
    Here,
    /// The same, so that the user's default holds.
    ToDefault,
    /// The user's default.
    Default,
}

const YOURS_OR_ALL: &str = "elsewhere it means what holds wherever no directory says otherwise; here that is your default, and the global one is the machine's, for all users";
const PART_OF_USE: &str = "it is an option of `use`";
const BY_START_FILE: &str = "the shell's start file does it, once set up";
const A_NAME: &str = "a name is given to a toolkit's directory";
const TWO_QUESTIONS: &str = "ask whether this shell runs what it should, or what there is to install";
const NEWEST: (&str, &[OsString]) = ("list --remote", &[]);
const UPDATE_BY_SCRIPT: &str =
    "cudaup cannot update itself yet: fetch the newer source and run its ./install.sh again";
const UNINSTALL_BY_HAND: &str =
    "cudaup cannot uninstall itself yet: take it out of the shell, then delete ~/.cudaup";

/// Answers that agree: these commands ask nothing.
const YES: &[&str] = &["-y", "--yes"];

/// Gets the word and what follows it. Where nothing is to be changed, it gives the same words back.
type Answer = fn(&str, &[OsString]) -> Habit;

/// The first word of a command line, and what the whole line means.
const HABITS: &[(&[&str], Answer)] = &[
    (&["ls", "versions"], answers::list),
    (&["ls-remote", "list-remote", "list-all", "search", "available", "remote"], |_, rest| {
        let kept = |arg: &&OsString| is_request(arg) || is_flag(arg);
        let releases: Vec<_> = rest.iter().filter(kept).cloned().collect();
        means(&["list", "--remote"], &releases)
    }),
    (&["run", "x", "exec"], run),
    (&["switch", "pin", "select"], |_, rest| means(&["use"], rest)),
    (&["use"], choose),
    (&["local"], local),
    (&["shell"], shell),
    (&["global"], global),
    (&["default"], default),
    (&["alias"], alias),
    (&["install", "i", "instal"], answers::installed),
    (&["uninstall", "rm", "delete", "remove"], answers::take_away),
    (&["add"], add),
    (&["env"], answers::env),
    (&["list"], answers::list),
    (&["which"], answers::which),
    (&["cache"], answers::cache),
    (&["override"], answers::overriding),
    (&["component"], answers::component),
    (&["completions", "completion"], answers::completions),
    (&["create"], answers::create),
    (&["fetch", "download"], answers::fetch),
    (&["reinstall"], answers::reinstall),
    (&["set"], answers::set),
    (&["config"], answers::config),
    (&["path"], answers::path),
    (&["setup"], answers::setup),
    (&["unuse"], |word, _| leave(word)),
    (&["update", "upgrade"], update),
    (&["show", "status", "version"], |_, rest| means(&["current"], &flags(rest))),
    (&["check"], |word, _| no(word, TWO_QUESTIONS, &[("current --check", &[]), NEWEST])),
    (&["clean", "prune"], |_, _| means(&["cache", "clean"], &[])),
    (&["where", "prefix", "root"], place),
    (&["activate"], activate),
    (&["deactivate"], |word, _| leave(word)),
    (&["toolchain"], toolchain),
    (&["self"], itself),
];

/// What these arguments (without the program's own name) mean, where they are somebody else's.
pub fn habit(args: &[OsString]) -> Option<Habit> {
    let at = command_at(args)?;
    let (before, rest) = args.split_at_checked(at + 1)?;
    let (word, before) = before.split_last()?;
    let word = word.to_str()?;
    let (_, answer) = HABITS.iter().find(|(words, _)| words.contains(&word))?;
    match answer(word, rest) {
        Habit::Means(meant) => Some([before, &meant].concat()).filter(|line| line != args).map(Habit::Means),
        said @ (Habit::Says(_) | Habit::TakesBack(_)) => Some(said),
    }
}

/// Where the command stands: behind the options that every command has.
fn command_at(args: &[OsString]) -> Option<usize> {
    let mut value = false;
    args.iter().position(|arg| {
        let word = !value && !is_flag(arg);
        value = arg == "--color";
        word
    })
}

fn run(word: &str, rest: &[OsString]) -> Habit {
    let requests = usize::from(rest.first().is_some_and(|arg| is_request(arg)));
    let (request, command) = rest.split_at_checked(requests).unwrap_or((&[], rest));
    // A name in front of `--` is a link's, which cannot be told from a program's.
    let separated = word == "exec" && command.iter().any(|arg| arg == "--");
    if separated || command.first().is_none_or(|arg| is_flag(arg)) {
        return means(&["exec"], rest);
    }
    means(&["exec"], &[&plain(request), &["--".into()][..], command].concat())
}

fn choose(word: &str, rest: &[OsString]) -> Habit {
    if rest.iter().any(|arg| arg == "--unset") {
        return leave(if rest.iter().any(|arg| arg == "--shell") { "shell" } else { word });
    }
    if let Some(said) = answers::without_toolkit(None, rest).or_else(|| answers::library_line(rest)) {
        return said;
    }
    if rest.iter().any(|arg| arg == "-g") {
        return yours_or_all("use -g", &without(&["-g"], rest));
    }
    means(&["use"], &plain(&without(&["--local", "-l"], rest)))
}

/// Nobody's guess: one changes a file of the user's, the other what all users of the machine get.
fn yours_or_all(word: &str, rest: &[OsString]) -> Habit {
    let version = or_version(rest);
    no(word, YOURS_OR_ALL, &[("use --default", &version), ("use --global", &version)])
}

fn global(word: &str, rest: &[OsString]) -> Habit {
    match rest.first() {
        None => means(&["list"], &[]),
        Some(arg) if arg == "--undo" => means(&["use", "--global"], rest),
        Some(_) => {
            answers::without_toolkit(Some("--global"), rest).unwrap_or_else(|| yours_or_all(word, rest))
        }
    }
}

fn local(word: &str, rest: &[OsString]) -> Habit {
    match rest.first() {
        None => means(&["current"], &[]),
        Some(arg) if arg == "--unset" => leave(word),
        Some(_) => answers::without_toolkit(None, rest).unwrap_or_else(|| means(&["use"], rest)),
    }
}

fn shell(word: &str, rest: &[OsString]) -> Habit {
    match rest.first() {
        None => means(&["current"], &[]),
        Some(arg) if arg == "--unset" => leave(word),
        Some(_) => answers::without_toolkit(Some("--shell"), rest)
            .unwrap_or_else(|| no(word, PART_OF_USE, &[("use --shell", rest)])),
    }
}

fn default(_: &str, rest: &[OsString]) -> Habit {
    match rest {
        [] => means(&["list"], &[]),
        _ => answers::without_toolkit(Some("--default"), rest)
            .unwrap_or_else(|| means(&["use", "--default"], rest)),
    }
}

fn alias(word: &str, rest: &[OsString]) -> Habit {
    match rest.split_first() {
        Some((name, rest)) if name == "default" => default(word, rest),
        Some((name, _)) => no(word, A_NAME, &[("link", &[name.clone(), "DIRECTORY".into()])]),
        None => means(&["list"], &[]),
    }
}

fn install(_: &str, rest: &[OsString]) -> Habit {
    // `--with cudnn` is how it is written here.
    let beside = |i: usize| i.checked_sub(1).and_then(|i| rest.get(i)).is_some_and(|arg| arg == "--with");
    let named: Vec<_> =
        rest.iter().enumerate().filter(|(i, _)| !beside(*i)).filter_map(|(_, arg)| addon(arg)).collect();
    if !named.is_empty() {
        let versions: Vec<_> = rest.iter().filter(|arg| is_request(arg)).cloned().collect();
        return with_addons(&named, &versions);
    }
    if rest.iter().any(|arg| arg == "driver" || arg == "nvidia-driver") {
        return Habit::Says(
            "cudaup never installs or changes the NVIDIA driver: that is the system's own".into(),
        );
    }
    let named = without(&["cuda", "cuda-toolkit", "toolkit"], rest);
    if named.len() < rest.len() && !named.iter().any(|arg| is_request(arg)) {
        return says("which version of CUDA is not said", &[("install latest", &[])]);
    }
    means(&["install"], &plain(&without(YES, &named)))
}

fn add(word: &str, rest: &[OsString]) -> Habit {
    let (versions, libraries): (Vec<_>, Vec<_>) =
        rest.iter().filter(|arg| !is_flag(arg)).cloned().partition(|arg| is_request(arg));
    if !rest.first().is_some_and(|arg| is_request(arg)) {
        return match answers::joined(rest) {
            Some(names) => says("the version of a library is written with @", &[("add", &names)]),
            None => means(&[word], rest),
        };
    }
    let with: Vec<_> = libraries.iter().flat_map(|name| ["--with".into(), name.clone()]).collect();
    says("add is for libraries beside a toolkit", &[("install", &[versions, with].concat())])
}

fn update(word: &str, rest: &[OsString]) -> Habit {
    let version = if rest.is_empty() { &["latest".into()][..] } else { rest };
    no(word, "a newer toolkit is installed beside the others", &[("install --upgrade", version)])
}

fn place(_: &str, rest: &[OsString]) -> Habit {
    let Some(version) = rest.first() else { return means(&["which", "--root"], &[]) };
    if version.to_str().is_some_and(|name| part_of(name).is_some()) {
        return answers::which("which", rest);
    }
    answers::another(version, &["--root".into()])
}

fn activate(word: &str, rest: &[OsString]) -> Habit {
    match rest.first() {
        Some(arg) if ["bash", "zsh", "fish", "tcsh"].iter().any(|shell| arg == shell) => {
            means(&["init"], rest)
        }
        None => no(word, BY_START_FILE, &[("init --write", &[])]),
        Some(_) => no(word, PART_OF_USE, &[("use --shell", rest)]),
    }
}

fn toolchain(word: &str, rest: &[OsString]) -> Habit {
    const SAME: [&str; 8] = ["list", "ls", "install", "add", "uninstall", "remove", "link", "update"];
    match rest.first() {
        None => means(&["list"], &[]),
        Some(same) if SAME.iter().any(|w| same == w) => habit(rest).unwrap_or_else(|| means(&[], rest)),
        Some(_) => means(&[word], rest),
    }
}

fn itself(word: &str, rest: &[OsString]) -> Habit {
    match rest.first().and_then(|arg| arg.to_str()) {
        Some("update") => Habit::Says(UPDATE_BY_SCRIPT.into()),
        Some("uninstall") => says(UNINSTALL_BY_HAND, &[("init --remove", &[])]),
        _ => means(&[word], rest),
    }
}

/// The library that `cudnn`, `--cudnn` or `cudnn=9.8` names, and what it says of a version.
fn addon(arg: &OsStr) -> Option<(&'static Library, Option<String>)> {
    let text = arg.to_str()?.trim_start_matches('-');
    let (name, version) = text.split_once(['=', '@']).map_or((text, None), |(n, v)| (n, Some(v)));
    let version = version.map(|v| v.trim_start_matches('=').to_owned());
    Some((library(&name.to_ascii_lowercase())?, version))
}

fn with_addons(named: &[(&'static Library, Option<String>)], versions: &[OsString]) -> Habit {
    let typed = |between: &str| -> Vec<String> {
        let one = |(library, version): &(&Library, Option<String>)| match version {
            Some(version) => format!("{}{between}{version}", library.name),
            None => library.name.to_owned(),
        };
        named.iter().map(one).collect()
    };
    let shown_names: Vec<&str> = named.iter().map(|(library, _)| library.shown).collect();
    let text = format!("{} goes beside a toolkit and not into it", shown_names.join(", "));
    let add = format!("cudaup add {}", typed("@").join(" "));
    Habit::Says(if versions.is_empty() {
        format!("{text}\ntry: {add}")
    } else {
        format!("{text}\ntry: cudaup install {} --with {}", shown(versions), typed("=").join(","))
    })
}

fn leave(word: &str) -> Habit {
    Habit::TakesBack(if ["shell", "deactivate"].contains(&word) { Back::Shell } else { Back::Here })
}

/// Whether a word asks for a toolkit by its version. A link's name is not told from a program's.
fn is_request(arg: &OsStr) -> bool {
    arg.to_str().is_some_and(|text| {
        let number =
            ["cuda-", "cuda@", "cuda=", "v", "cu"].iter().find_map(|p| text.strip_prefix(p)).unwrap_or(text);
        number.trim_start_matches('=').starts_with(|c: char| c.is_ascii_digit())
            || ["latest", "system"].contains(&text)
    })
}

/// What conda's and mise's users write as `cuda=12.4` and `cuda@12.4`, as it is written here.
fn plain(rest: &[OsString]) -> Vec<OsString> {
    let version = |arg: &OsString| {
        let version = arg.to_str().and_then(|text| text.strip_prefix("cuda@").or(text.strip_prefix("cuda=")));
        version.map_or_else(|| arg.clone(), |v| v.trim_start_matches('=').into())
    };
    rest.iter().map(version).collect()
}

fn without(words: &[&str], rest: &[OsString]) -> Vec<OsString> {
    rest.iter().filter(|arg| !words.iter().any(|w| arg == w)).cloned().collect()
}

fn is_flag(arg: &OsStr) -> bool {
    arg.as_encoded_bytes().starts_with(b"-")
}

fn flags(rest: &[OsString]) -> Vec<OsString> {
    rest.iter().filter(|arg| is_flag(arg)).cloned().collect()
}

fn or_version(rest: &[OsString]) -> Vec<OsString> {
    if rest.is_empty() { vec!["VERSION".into()] } else { rest.to_vec() }
}

fn means(words: &[&str], rest: &[OsString]) -> Habit {
    Habit::Means(words.iter().map(OsString::from).chain(rest.iter().cloned()).collect())
}

fn no(word: &str, why: &str, commands: &[(&str, &[OsString])]) -> Habit {
    says(&format!("cudaup has no `{word}`: {why}"), commands)
}

fn says(text: &str, commands: &[(&str, &[OsString])]) -> Habit {
    let line = |(command, rest): &(&str, &[OsString])| {
        format!("cudaup {command} {}", shown(rest)).trim_end().to_owned()
    };
    let lines: Vec<_> = commands.iter().map(line).collect();
    Habit::Says(format!("{text}\ntry: {}", lines.join("\n     ")))
}

/// Arguments as they can be typed again.
fn shown(args: &[OsString]) -> String {
    shell_words::join(args.iter().map(|arg| arg.to_string_lossy()))
}

mod answers;
#[cfg(test)]
mod tests;
