//! Answers to words and orders of words that nothing here has the name of.

use super::{
    Back, Habit, add, addon, install, is_flag, is_request, leave, means, no, or_version, says, shown, without,
};
use crate::shell::dialect;
use std::ffi::{OsStr, OsString};

/// `add cudnn 9.8`: the version belongs to the name before it. `None` where nothing of the kind is there.
pub fn joined(rest: &[OsString]) -> Option<Vec<OsString>> {
    let mut names: Vec<OsString> = Vec::new();
    let mut after = false;
    let mut any = false;
    for arg in rest {
        match names.last_mut() {
            Some(name) if after && is_request(arg) => {
                name.push("@");
                name.push(arg);
                (after, any) = (false, true);
            }
            _ => {
                after = addon(arg).is_some_and(|(_, version)| version.is_none());
                names.push(arg.clone());
            }
        }
    }
    any.then_some(names)
}

/// `uninstall`, `rm` and `remove`: toolkits by one command, libraries by the other.
pub fn take_away(word: &str, rest: &[OsString]) -> Habit {
    const OTHERWISE: &str = "toolkits are uninstalled, libraries beside them are removed";
    let removes = word == "remove";
    if let Some(joined) = joined(rest).filter(|_| rest.first().is_some_and(|arg| addon(arg).is_some())) {
        return says("the version of a library is written with @", &[("remove", &joined)]);
    }
    let value = |at: usize| at.checked_sub(1).and_then(|at| rest.get(at)).is_some_and(|arg| arg == "--cuda");
    let named = rest.iter().enumerate().filter(|(at, arg)| !is_flag(arg) && !value(*at));
    let (libraries, toolkits): (Vec<OsString>, Vec<OsString>) =
        named.map(|(_, arg)| arg.clone()).partition(|arg| addon(arg).is_some());
    match (toolkits.is_empty(), libraries.is_empty()) {
        (false, false) => says(OTHERWISE, &[("uninstall", &toolkits), ("remove", &libraries)]),
        (false, true) if removes => {
            says("remove is for libraries beside a toolkit", &[("uninstall", &or_version(rest))])
        }
        (true, false) if !removes => says("uninstall is for toolkits", &[("remove", &libraries)]),
        _ if removes => means(&["remove"], rest),
        _ => means(&["uninstall"], &without(super::YES, rest)),
    }
}

/// `use cudnn@9.8`: a library is asked for by a line of the version file.
pub fn library_line(rest: &[OsString]) -> Option<Habit> {
    let words = joined(rest).unwrap_or_else(|| rest.to_vec());
    let named: Vec<_> = words.iter().filter(|arg| !is_flag(arg)).filter_map(|arg| addon(arg)).collect();
    let (library, _) = named.first()?;
    let line = |(library, version): &(&cudaup_core::addon::Library, Option<String>)| {
        let version = version.as_deref().unwrap_or("VERSION");
        format!("the line `{} = {version}` below the version in .cuda-version", library.name)
    };
    let lines: Vec<String> = named.iter().map(line).collect();
    Some(Habit::Says(format!(
        "{} is asked for beside a toolkit, in the version file\ntry: {}",
        library.shown,
        lines.join("\n     ")
    )))
}

/// `use none`, `use --shell off`, `use default`: what a choice is taken back by. `option` says for whom, where the word
/// that was typed does.
pub fn without_toolkit(option: Option<&str>, rest: &[OsString]) -> Option<Habit> {
    let word = rest.iter().find(|arg| !is_flag(arg)).and_then(|arg| arg.to_str())?;
    if !["none", "off", "default"].contains(&word) {
        return None;
    }
    let has = |name: &str| option == Some(name) || rest.iter().any(|arg| arg == name);
    Some(match () {
        () if has("--shell") => leave("shell"),
        () if has("--global") || has("-g") => {
            says("what all users had before comes back by", &[("use --global --undo", &[])])
        }
        () if has("--default") => Habit::TakesBack(Back::Default),
        () if word == "default" => Habit::TakesBack(Back::ToDefault),
        () => leave("use"),
    })
}

/// `env bash`, `env --fish`: the shell is the value of an option.
pub fn env(_: &str, rest: &[OsString]) -> Habit {
    let named = |arg: &OsStr| {
        let name = arg.to_str()?.trim_start_matches('-');
        dialect(name).ok().filter(|_| !name.contains('/')).map(|_| OsString::from(name))
    };
    let Some((at, shell)) = rest.iter().enumerate().find_map(|(at, arg)| Some((at, named(arg)?))) else {
        return means(&["env"], rest);
    };
    if at.checked_sub(1).and_then(|before| rest.get(before)).is_some_and(|before| before == "--shell") {
        return means(&["env"], rest);
    }
    let others: Vec<OsString> =
        rest.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, arg)| arg.clone()).collect();
    says("which shell is to read it is said by --shell", &[("env --shell", &[vec![shell], others].concat())])
}

/// `list --available`, `list installed`.
pub fn list(_: &str, rest: &[OsString]) -> Habit {
    const REMOTE: &[&str] = &["--remote", "--available", "--all", "-a", "available", "remote"];
    let remote = without(REMOTE, rest);
    if remote.len() < rest.len() {
        return means(&["list", "--remote"], &remote);
    }
    means(&["list"], &without(&["installed", "--installed", "--local"], rest))
}

/// `install --list` and the names of channels.
pub fn installed(word: &str, rest: &[OsString]) -> Habit {
    const CHANNELS: [&str; 3] = ["lts", "stable", "nightly"];
    let lists = without(&["--list", "-l"], rest);
    if lists.len() < rest.len() {
        return means(&["list", "--remote"], &lists);
    }
    if let Some(channel) = rest.iter().find(|arg| CHANNELS.iter().any(|name| arg == name)) {
        let text = format!("CUDA has no `{}`: releases are named by number", channel.display());
        return says(&text, &[("install latest", &[]), super::NEWEST]);
    }
    install(word, rest)
}

/// `which nvcc 13.0`: another toolkit than the chosen one is asked by the variable.
pub fn which(word: &str, rest: &[OsString]) -> Habit {
    let (versions, others): (Vec<OsString>, Vec<OsString>) =
        rest.iter().cloned().partition(|arg| is_request(arg));
    let Some(version) = versions.first() else { return means(&[word], rest) };
    let others: Vec<OsString> = others.into_iter().filter(|arg| arg != "--version").collect();
    let others = if others.iter().any(|arg| !is_flag(arg) || arg == "--root") {
        others
    } else {
        [vec![OsString::from("--root")], others].concat()
    };
    another(version, &others)
}

/// How `which` is asked of a toolkit that is not the chosen one.
pub fn another(version: &OsStr, rest: &[OsString]) -> Habit {
    let version = shown(&[version.to_os_string()]);
    Habit::Says(format!(
        "which answers for the toolkit that applies; of another one it is asked so\ntry: CUDAUP_VERSION={version} cudaup which {}",
        shown(rest)
    ))
}

/// rustup's `override set 12.4`.
pub fn overriding(word: &str, rest: &[OsString]) -> Habit {
    match rest.split_first() {
        Some((set, version)) if set == "set" => means(&["use"], &or_version(version)),
        Some((unset, _)) if unset == "unset" => leave(word),
        _ => means(&["current"], &[]),
    }
}

/// rustup's `component add cudnn`: beside a toolkit what is a library of its own, part of it what is not.
pub fn component(word: &str, rest: &[OsString]) -> Habit {
    let Some((verb, names)) = rest.split_first() else {
        return no(word, "the parts of a release are shown by", &[("info VERSION", &[])]);
    };
    let libraries = names.iter().all(|name| addon(name).is_some()) && !names.is_empty();
    match verb.to_str() {
        Some("add") if libraries => add("add", names),
        Some("remove") if libraries => take_away("remove", names),
        Some("add") => {
            let name = names.first().cloned().unwrap_or_else(|| "NAME".into());
            no(
                word,
                "an install with more components makes a toolkit anew",
                &[("install VERSION --components", &[name])],
            )
        }
        _ => no(word, "the parts of a release are shown by", &[("info VERSION", &[])]),
    }
}

/// `cache purge`.
pub fn cache(word: &str, rest: &[OsString]) -> Habit {
    const CLEAN: [&str; 5] = ["purge", "prune", "clear", "empty", "rm"];
    match rest.split_first() {
        Some((verb, rest)) if CLEAN.iter().any(|w| verb == w) => means(&["cache", "clean"], rest),
        _ => means(&[word], rest),
    }
}

/// conda's `create -n x cuda=12.4`.
pub fn create(word: &str, rest: &[OsString]) -> Habit {
    let version: Vec<OsString> =
        super::plain(rest).into_iter().filter(|arg| is_request(arg)).take(1).collect();
    let version = or_version(&version);
    no(word, "a project has a version and no environment", &[("install", &version), ("use", &version)])
}

/// `fetch 12.4`: for now, or for a machine without a network.
pub fn fetch(word: &str, rest: &[OsString]) -> Habit {
    let version = or_version(rest);
    no(
        word,
        "install loads and installs, mirror only loads",
        &[("install", &version), ("mirror DIR", &version)],
    )
}

/// `reinstall 12.4`.
pub fn reinstall(word: &str, rest: &[OsString]) -> Habit {
    let version = or_version(rest);
    no(word, "it is two steps", &[("uninstall", &version), ("install", &version)])
}

/// `set 12.4`.
pub fn set(word: &str, rest: &[OsString]) -> Habit {
    match rest.first() {
        Some(arg) if is_request(arg) => means(&["use"], rest),
        _ => no(word, "a version is chosen by", &[("use VERSION", &[]), ("use --default VERSION", &[])]),
    }
}

/// `completions bash`.
pub fn completions(_: &str, _: &[OsString]) -> Habit {
    Habit::Says("cudaup has no completions for shells yet\ntry: cudaup help".into())
}

/// `config`.
pub fn config(word: &str, _: &[OsString]) -> Habit {
    let text = "settings are lines of ~/.cudaup/config.toml, a project's are lines of its .cuda-version";
    Habit::Says(format!("cudaup has no `{word}`: {text}"))
}

/// `path`.
pub fn path(word: &str, _: &[OsString]) -> Habit {
    no(word, "the toolkit's directory, and what is set for it", &[("which --root", &[]), ("env", &[])])
}

/// `setup`.
pub fn setup(word: &str, _: &[OsString]) -> Habit {
    no(word, super::BY_START_FILE, &[("init --write", &[])])
}
