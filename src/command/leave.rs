//! What other managers' words for "no version" come to here: which choice it is that holds, and what takes it back.

use crate::command::habits::Back;
use crate::command::this_shell::end_of_shell;
use crate::command::{Context, refused};
use crate::failure::{Exit, Failure};
use crate::ui::view::Style;
use cudaup_core::environment::Vars;
use cudaup_core::pin::{parse_default, without_request};
use cudaup_core::refusal::Rule;
use cudaup_core::resolve::{Asked, World, asked, nearest_file};
use std::path::Path;

/// The answer; nothing is changed.
pub fn answer(context: &Context, back: Back) -> Failure {
    match (back, context.host.text("CUDAUP_VERSION")) {
        (Back::Default, _) => default(context),
        (_, Some(version)) => usage(format!("CUDAUP_VERSION={version} decides here, above every file"))
            .hint(end_of_shell(&context.host)),
        (Back::Shell, None) => {
            let here = here(context, false);
            Failure {
                message: format!(
                    "CUDAUP_VERSION is not set: nothing is chosen for this shell alone; {}",
                    here.message
                ),
                ..here
            }
        }
        (Back::Here, None) => here(context, false),
        (Back::ToDefault, None) => here(context, true),
    }
}

fn usage(message: impl Into<String>) -> Failure {
    Failure::new(Exit::Usage, message)
}

fn style(context: &Context) -> Style {
    Style { color: false, user_home: context.host.user_home.clone() }
}

/// The user's default, and the file that holds it.
fn default(context: &Context) -> Failure {
    let file = context.home.default_file();
    let held = std::fs::read(&file).ok();
    let request = held
        .as_ref()
        .and_then(|bytes| parse_default(bytes).ok())
        .and_then(|pin| Some((pin.request?, pin.line)));
    match (request, held) {
        (Some((request, line)), Some(bytes)) => {
            let message =
                format!("your default is the version in {} ({request})", style(context).path(&file));
            let alone = without_request(&bytes).is_ok_and(|rest| rest.is_none());
            usage(message).hint(if alone {
                removal(&file)
            } else {
                format!("sed -i {line}d {}", typed(&file))
            })
        }
        (None, Some(bytes)) if parse_default(&bytes).is_err() => {
            usage(format!("{} cannot be read as a default", style(context).path(&file))).hint(removal(&file))
        }
        _ => usage("you have no default").hint("cudaup use --default VERSION"),
    }
}

/// What decides in this directory where no variable does.
fn here(context: &Context, to_default: bool) -> Failure {
    let world = context.world();
    let style = style(context);
    let pin = match nearest_file(&world) {
        Ok(found) => found.map(|(file, _)| file),
        Err(refusal) => match refusal.rule {
            Rule::Pin(file, _) => Some(file),
            _ => None,
        },
    };
    if let Some(file) = pin {
        return pinned(context, &world, &file);
    }
    match asked(&world, None) {
        Err(refusal) => refused(&refusal),
        Ok(Some(Asked { request, rule: Rule::Default(file, _), .. })) => {
            let whose =
                if file == context.home.default_file() { "your default" } else { "the default of all users" };
            let message = format!(
                "no .cuda-version holds here: what does is {whose} ({request}), in {}",
                style.path(&file)
            );
            let failure = usage(message);
            if to_default {
                return failure.hint("cudaup current   (shows it)");
            }
            let failure =
                failure.hint("cudaup use VERSION   (another for this project; `system`: the machine's own)");
            match whose {
                "your default" => {
                    Failure { tries: [failure.tries, default(context).tries].concat(), ..failure }
                }
                _ => failure.hint("cudaup use --default VERSION   (another for you)"),
            }
        }
        Ok(_) if to_default => {
            usage("no .cuda-version holds here, and you have no default").hint("cudaup use --default VERSION")
        }
        Ok(_) => usage("no .cuda-version holds here, and no default: nothing asks for a toolkit")
            .hint("cudaup current"),
    }
}

/// Where a version file decides.
fn pinned(context: &Context, world: &World, file: &Path) -> Failure {
    let style = style(context);
    let of =
        asked(world, None).ok().flatten().map_or_else(String::new, |asked| format!(" ({})", asked.request));
    let directory = file.parent().unwrap_or(file);
    let is_here = world.cwd == Some(directory);
    let reach =
        if is_here { String::new() } else { format!(" and everywhere below {}", style.path(directory)) };
    let message =
        format!("{}{of} decides here{reach}{}", style.path(file), after(context, world.vars, directory));
    usage(message).hint(if is_here { "rm .cuda-version".to_owned() } else { removal(file) })
}

/// What decides once the version file of this directory is gone.
fn after(context: &Context, vars: &Vars, directory: &Path) -> String {
    let world = World { vars, cwd: directory.parent(), ..context.world() };
    let Ok(next) = asked(&world, None) else { return String::new() };
    match next {
        Some(Asked { request, rule: Rule::Pin(file, _), .. }) => {
            format!("; without it {} ({request}) does", style(context).path(&file))
        }
        Some(Asked { request, rule: Rule::Default(file, _), .. }) if file == context.home.default_file() => {
            format!("; without it your default ({request}) holds")
        }
        Some(Asked { request, .. }) => format!("; without it the default of all users ({request}) holds"),
        None => "; without it nothing asks for a toolkit here".to_owned(),
    }
}

fn removal(file: &Path) -> String {
    format!("rm {}", typed(file))
}

fn typed(file: &Path) -> String {
    shell_words::quote(&file.to_string_lossy()).into_owned()
}
