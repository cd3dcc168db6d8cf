//! What is said of a command line that the parser cannot read: in the words of every other message, with the line that
//! was probably meant.

use crate::failure::{Exit, Failure, typed};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use cudaup_core::spelling::nearest;
use std::ffi::OsString;

/// What is wrong with the arguments (the program's own name first), and what to type; `None` where it is help or the version
/// that was asked for.
pub fn failure(error: &Error, arguments: &[OsString], parser: &Command) -> Option<Failure> {
    let words: Vec<String> = arguments.iter().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let (name, command) = commanded(&words, parser);
    let wrong = Wrong { error, words, name, command };
    let (message, tries) = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::UnknownArgument => wrong.unknown(),
        ErrorKind::InvalidSubcommand => wrong.no_command(),
        ErrorKind::InvalidValue => wrong.value(),
        ErrorKind::MissingRequiredArgument => wrong.missing(),
        ErrorKind::ArgumentConflict => wrong.conflict(),
        ErrorKind::TooManyValues => wrong.too_many(),
        _ => wrong.else_(),
    };
    Some(tries.into_iter().fold(Failure::new(Exit::Usage, message), Failure::hint))
}

/// A message, and what to type.
type Told = (String, Vec<String>);

struct Wrong<'a> {
    error: &'a Error,
    words: Vec<String>,
    /// `cudaup use`.
    name: String,
    command: &'a Command,
}

/// The command that the words name, and its full name.
fn commanded<'a>(words: &[String], parser: &'a Command) -> (String, &'a Command) {
    let (mut name, mut command) = (parser.get_name().to_owned(), parser);
    for word in words.iter().take_while(|word| !["--", "help"].contains(&word.as_str())) {
        if let Some(next) = command.find_subcommand(word) {
            name = format!("{name} {word}");
            command = next;
        }
    }
    (name, command)
}

impl Wrong<'_> {
    fn text(&self, kind: ContextKind) -> Option<&str> {
        match self.error.get(kind)? {
            ContextValue::String(text) => Some(text),
            ContextValue::Strings(texts) => texts.last().map(String::as_str),
            _ => None,
        }
    }

    fn texts(&self, kind: ContextKind) -> Vec<&str> {
        match self.error.get(kind) {
            Some(ContextValue::String(text)) => vec![text],
            Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    fn help(&self) -> String {
        format!("{} --help", self.name)
    }

    /// The line with one word, or what stands after its `=`, as another one; `None` where it is not there.
    fn with(&self, word: &str, other: &[&str]) -> Option<String> {
        let at = self.words.iter().position(|w| w == word);
        let at = at.or_else(|| {
            self.words.iter().position(|w| split(w).is_some_and(|(k, v)| k == word || v == word))
        })?;
        let found = self.words.get(at)?;
        let new: Vec<String> = match split(found) {
            Some((key, value)) if key == word => vec![format!("{}={value}", other.first()?)],
            Some((key, value)) if value == word => vec![format!("{key}={}", other.first()?)],
            _ => other.iter().map(|w| (*w).to_owned()).collect(),
        };
        let mut words = self.words.clone();
        words.splice(at..=at, new);
        Some(typed(&words))
    }

    fn unknown(&self) -> Told {
        let word = self.text(ContextKind::InvalidArg).unwrap_or_default();
        if !word.starts_with('-') {
            let takes = positionals(self.command);
            let message = match takes.as_slice() {
                [] => format!("{} takes no `{word}`", self.name),
                takes => format!("{} takes {} and no more: `{word}` is too much", self.name, takes.join(" ")),
            };
            return (message, self.with(word, &[]).into_iter().collect());
        }
        let options: Vec<String> =
            self.command.get_arguments().filter_map(|a| Some(format!("--{}", a.get_long()?))).collect();
        // `-default` is read as five options of one letter.
        let found = self.words.iter().find(|w| w.starts_with(word));
        let long = found.map_or(word, |found| split(found).map_or(found.as_str(), |(key, _)| key));
        let single = format!("-{long}");
        let exact = options.iter().find(|option| **option == single).map(String::as_str);
        let meant = exact
            .or_else(|| self.text(ContextKind::SuggestedArg))
            .or_else(|| nearest(word, options.iter().map(String::as_str)));
        let shown = if exact.is_some() { long } else { word };
        match meant {
            Some(meant) => (
                format!("{} has no option {shown}; did you mean {meant}?", self.name),
                self.with(shown, &[meant]).into_iter().collect(),
            ),
            None => (format!("{} has no option {word}", self.name), vec![self.help()]),
        }
    }

    fn no_command(&self) -> Told {
        let word = self.text(ContextKind::InvalidSubcommand).unwrap_or_default();
        let names = self.command.get_subcommands().map(Command::get_name);
        let meant = nearest(word, names).or_else(|| self.text(ContextKind::SuggestedSubcommand));
        match meant {
            Some(meant) => (
                format!("{} has no command `{word}`; did you mean {meant}?", self.name),
                self.with(word, &[meant]).into_iter().collect(),
            ),
            None => (format!("{} has no command `{word}`", self.name), vec![self.help()]),
        }
    }

    fn value(&self) -> Told {
        let option = bare(self.text(ContextKind::InvalidArg).unwrap_or_default());
        let value = self.text(ContextKind::InvalidValue).unwrap_or_default();
        let known = self.texts(ContextKind::ValidValue);
        if value.is_empty() {
            let placeholder = placeholder(self.text(ContextKind::InvalidArg).unwrap_or_default());
            let what = if known.is_empty() { self.meaning(&placeholder) } else { known.join(", ") };
            let example = known.first().map_or(placeholder.as_str(), |first| *first);
            let next = self.with("", &[example]).or_else(|| self.with(&option, &[&option, example]));
            return (format!("{option} needs a value: {what}"), next.into_iter().collect());
        }
        let meant = self.text(ContextKind::SuggestedValue).or_else(|| nearest(value, known.iter().copied()));
        let of = format!("`{value}` is no value of {option} ({})", known.join(", "));
        match meant {
            Some(meant) => {
                (format!("{of}; did you mean {meant}?"), self.with(value, &[meant]).into_iter().collect())
            }
            None => (of, vec![self.help()]),
        }
    }

    fn missing(&self) -> Told {
        let missing: Vec<String> = self.texts(ContextKind::InvalidArg).into_iter().map(placeholder).collect();
        let mut needs = missing.join(" and ");
        if let [one] = missing.as_slice() {
            let what = self.meaning(one);
            if what != *one {
                needs = format!("{one}: {what}");
            }
        }
        let mut words = self.words.clone();
        if missing.iter().any(|m| m == "CMD") && !words.iter().any(|w| w == "--") {
            words.push("--".to_owned());
        }
        words.extend(missing);
        (format!("{} needs {needs}", self.name), vec![typed(&words)])
    }

    fn conflict(&self) -> Told {
        let one = bare(self.text(ContextKind::InvalidArg).unwrap_or_default());
        let others: Vec<String> = self.texts(ContextKind::PriorArg).into_iter().map(bare).collect();
        if others.is_empty() || others == [one.clone()] {
            return (format!("{one} is given twice"), vec![self.help()]);
        }
        let switches = || self.command.get_arguments().filter(|a| !a.get_action().takes_values());
        let without = |name: &String| {
            let switch =
                switches().find(|a| a.get_long().is_some() && a.get_long() == name.strip_prefix("--"))?;
            let short = switch.get_short().map(|letter| format!("-{letter}"));
            self.with(name, &[]).or_else(|| self.with(&short?, &[]))
        };
        let tries: Vec<String> = std::iter::once(&one).chain(&others).filter_map(without).collect();
        let tries = if tries.is_empty() { vec![self.help()] } else { tries };
        (format!("{one} and {} do not go together", others.join(", ")), tries)
    }

    fn too_many(&self) -> Told {
        let option = bare(self.text(ContextKind::InvalidArg).unwrap_or_default());
        let value = self.text(ContextKind::InvalidValue).unwrap_or_default();
        let next = self.with(&format!("{option}={value}"), &[&option]);
        (format!("{option} takes no value, and `{value}` is given"), next.into_iter().collect())
    }

    fn else_(&self) -> Told {
        let text = self.error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        (first.strip_prefix("error: ").unwrap_or(first).to_owned(), vec![self.help()])
    }

    /// What the help says of a value, else its name.
    fn meaning(&self, placeholder: &str) -> String {
        let is_it = |a: &&clap::Arg| {
            a.get_value_names().unwrap_or_default().iter().any(|n| n.starts_with(placeholder))
        };
        let help = self.command.get_arguments().find(is_it).and_then(clap::Arg::get_help);
        let Some(text) = help.map(ToString::to_string) else { return placeholder.to_owned() };
        let mut letters = text.chars();
        let first = letters.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
        // A name at the start keeps its letters.
        if letters.clone().next().is_some_and(char::is_uppercase) { text } else { first + letters.as_str() }
    }
}

/// The names of what a command takes besides options.
fn positionals(command: &Command) -> Vec<String> {
    let names =
        command.get_positionals().filter_map(|a| a.get_value_names()?.first().map(|n| placeholder(n)));
    names.collect()
}

/// `--profile` of `--profile <PROFILE>`, `TOOL` of `[TOOL]`.
fn bare(argument: &str) -> String {
    match argument.split_once([' ', '=']) {
        Some((option, _)) if option.starts_with('-') => option.to_owned(),
        _ => placeholder(argument),
    }
}

/// `PROFILE` of `--profile <PROFILE>`, `CMD` of `<CMD>...`, `NAME` of `<NAME[@VERSION]>...`; an option without a value as it is.
fn placeholder(argument: &str) -> String {
    let value = argument.split_once(['<', '[']).map_or(argument, |(_, value)| value);
    let value = value.split(['>', ']', '[']).next().unwrap_or(value);
    // One is enough where several may stand.
    if argument.ends_with("...") { value.trim_end_matches('S') } else { value }.to_owned()
}

fn split(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(key, _)| key.starts_with('-'))
}
