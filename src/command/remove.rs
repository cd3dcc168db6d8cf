//! `cudaup remove NAME[@VERSION]...`: takes add-ons away that cudaup installed.

use crate::command::library::{exact, typed};
use crate::command::{Context, Outcome};
use crate::failure::{Exit, Failure};
use crate::install::remove;
use crate::ui::view::{Style, View, size};
use clap::Args as Arguments;
use cudaup_core::addon::{Addon, Library, Number, all};
use cudaup_core::resolve::{default_settings, resolve};
use serde_json::{Value, json};

/// Remove add-ons that cudaup installed.
#[derive(Debug, Arguments)]
pub struct Args {
    /// cudnn@9.8; each has to name one installed library
    #[arg(value_name = "NAME[@VERSION]", required = true)]
    names: Vec<String>,
    /// Those for this CUDA major
    #[arg(long, value_name = "MAJOR")]
    cuda: Option<u32>,
    /// Also what the version file here or your default names
    #[arg(long)]
    force: bool,
    /// Ask nothing (remove never asks; taken for the habit's sake)
    #[arg(short, long, hide = true)]
    yes: bool,
}

struct Removed(Vec<(Addon, u64)>);

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let there = all(&context.home, &[], &context.disk);
        let mut chosen: Vec<Addon> = Vec::new();
        for text in &self.names {
            let addon = self.one(context, &there, text)?;
            if !chosen.contains(&addon) {
                chosen.push(addon);
            }
        }
        let mut removed = Removed(Vec::new());
        for addon in chosen {
            match remove::addon(&context.home, &addon, &context.disk, &context.talk) {
                Ok(bytes) => removed.0.push((addon, bytes)),
                Err(failure) => {
                    let style = Style { color: false, user_home: None };
                    removed.human(&style).lines().for_each(|line| context.talk.say(line));
                    return Err(failure);
                }
            }
        }
        Ok(Outcome::View(Box::new(removed)))
    }

    /// The one add-on that a text names, checked before anything is removed.
    fn one(&self, context: &Context, there: &[Addon], text: &str) -> Result<Addon, Failure> {
        // As the directory is called, too.
        let (text, cuda) = match text.rsplit_once("-cuda") {
            Some((rest, major)) => (rest, major.parse().ok()),
            None => (text, self.cuda),
        };
        let (library, version) = typed(text)?;
        let of_library: Vec<&Addon> = there.iter().filter(|a| a.library == library).collect();
        let accepts = |a: &&&Addon| {
            version.as_ref().is_none_or(|v| v.accepts(&a.version)) && cuda.is_none_or(|c| c == a.cuda)
        };
        let fitting: Vec<&Addon> = of_library.iter().filter(accepts).copied().collect();
        match fitting.as_slice() {
            [one] if !self.force && is_wanted(context, there, one) => Err(wanted(one)),
            [one] => Ok((*one).clone()),
            [] => Err(absent(library, version.as_ref(), &of_library)),
            many => {
                let names: Vec<String> = many.iter().map(|a| exact(a)).collect();
                let failure = Failure::new(Exit::Usage, format!("{text} fits several: {}", names.join(", ")));
                // Each on a line of its own: one line with all of them would remove all.
                Err(names.iter().fold(failure, |f, name| f.hint(format!("cudaup remove {name}"))))
            }
        }
    }
}

/// Whether the version file here takes it, or the default names it and nothing else would do.
fn is_wanted(context: &Context, there: &[Addon], addon: &Addon) -> bool {
    let world = context.world();
    if resolve(&world, None).ok().flatten().is_some_and(|choice| choice.addons.contains(addon)) {
        return true;
    }
    let wishes = default_settings(&world).addons;
    let wish = wishes.into_iter().filter(|w| w.library == addon.library).find_map(|w| w.version);
    wish.is_some_and(|version| {
        let fits =
            |a: &Addon| a.library == addon.library && a.cuda == addon.cuda && version.accepts(&a.version);
        fits(addon) && !there.iter().any(|other| other != addon && fits(other))
    })
}

fn wanted(addon: &Addon) -> Failure {
    Failure::failed(format!("{addon} is what the version file here or your default asks for"))
        .hint(format!("cudaup remove --force {}", exact(addon)))
}

fn absent(library: &Library, version: Option<&Number>, there: &[&Addon]) -> Failure {
    let version = version.map_or_else(String::new, |v| format!(" {v}"));
    let installed: Vec<String> = there.iter().map(|a| format!("{} for CUDA {}", a.version, a.cuda)).collect();
    let installed =
        if installed.is_empty() { String::new() } else { format!("; installed: {}", installed.join(", ")) };
    Failure::new(Exit::NoVersion, format!("{}{version} is not installed{installed}", library.name))
        .hint("cudaup list")
}

impl View for Removed {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        let row = |(addon, bytes): &(Addon, u64)| {
            json!({
                "name": addon.library.name, "version": addon.version.to_string(), "cuda": addon.cuda, "freed": bytes,
            })
        };
        json!({ "removed": self.0.iter().map(row).collect::<Vec<_>>() })
    }

    fn human(&self, _style: &Style) -> String {
        self.0.iter().map(|(addon, bytes)| format!("removed {addon}, {} freed\n", size(*bytes))).collect()
    }
}
