//! `cudaup current`: the toolkit that applies here, and why.

use crate::command::typed::other_than;
use crate::command::{Context, Outcome, compiler, nothing_chosen, refused};
use crate::failure::Failure;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use cudaup_core::bundled;
use cudaup_core::follow::of_a_stranger;
use cudaup_core::pin::meant_key;
use cudaup_core::refusal::Rule;
use cudaup_core::resolve::{Choice, nearest_pin, resolve};
use cudaup_core::state::State;
use serde_json::{Value, json};

/// Show the toolkit that applies here, and why.
#[derive(Debug, Arguments)]
pub struct Args {
    /// Exit 1 where typing nvcc here would run another one
    #[arg(long)]
    check: bool,
}

/// A file with more unknown keys than this is no version file; the rest of them says nothing new.
const MOST_WARNINGS: usize = 5;

struct Current {
    choice: Choice,
    active: bool,
    verbose: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let world = context.world();
        let choice =
            resolve(&world, None).map_err(|r| refused(&r))?.ok_or_else(|| nothing_chosen(context))?;
        if let (Rule::Pin(..), Ok(Some((file, pin)))) = (&choice.rule, nearest_pin(&world)) {
            for (line, key) in pin.unknown.iter().take(MOST_WARNINGS) {
                let meant =
                    meant_key(key).map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
                let at = file.display();
                context.talk.say(&format!("warning: {at}:{line}: {key} is no key of a version file{meant}"));
            }
        }
        let bundle = bundled::active(&world).and_then(|bundle| bundled::note(&world, &choice, &bundle));
        let libraries = bundle.map(|(text, _)| text);
        let notes = of_a_stranger(&world, &choice.rule).into_iter().chain(libraries);
        for line in notes.chain(compiler::lines(context, &choice)) {
            context.talk.say(&line);
        }
        let nvcc = choice.toolkit.root.join("bin/nvcc");
        let other = other_than(context, "nvcc", &nvcc);
        if let Some(other) = &other {
            context.talk.say(&other.note("nvcc"));
        }
        let state = context.vars.get(cudaup_core::state::VARIABLE).and_then(State::decode);
        let root = choice.toolkit.root.as_os_str();
        let active = state.is_some_and(|s| s.root == root) && context.vars.get("CUDA_HOME") == Some(root);
        let view = Box::new(Current { choice, active, verbose: context.talk.verbose });
        Ok(if self.check && other.is_some() { Outcome::Unmet(view) } else { Outcome::View(view) })
    }
}

impl View for Current {
    fn json(&self) -> Value {
        let (file, line) = match &self.choice.rule {
            Rule::Pin(file, line) | Rule::Default(file, line) => {
                (Some(file.to_string_lossy().into_owned()), Some(*line))
            }
            _ => (None, None),
        };
        json!({
            "version": self.choice.toolkit.identity.to_string(),
            "root": self.choice.toolkit.root.to_string_lossy(),
            "kind": self.choice.toolkit.kind.word(),
            "rule": self.choice.rule.word(),
            "request": self.choice.request.to_string(),
            "file": file,
            "line": line,
            "active": self.active,
            "addons": self.choice.addons.iter().map(|a| json!({
                "name": a.library.name,
                "version": a.version.to_string(),
                "cuda": a.cuda,
                "root": a.root.to_string_lossy(),
            })).collect::<Vec<_>>(),
        })
    }

    fn human(&self, style: &Style) -> String {
        let Choice { toolkit, rule, request, settings, addons } = &self.choice;
        let why = match rule {
            Rule::Pin(file, line) => format!("pinned by {}:{line} ({request})", style.path(file)),
            Rule::Default(file, line) => format!("default of {}:{line} ({request})", style.path(file)),
            Rule::Variable => format!("by CUDAUP_VERSION ({request})"),
            Rule::Argument => format!("by the command line ({request})"),
            Rule::Machine => "the machine's own, since nothing here asks for a toolkit".to_owned(),
        };
        let active = if self.active { "active in this shell" } else { "not active in this shell" };
        let mut text = format!(
            "{}  {}  {why}  {active}\n",
            style.strong(&toolkit.identity.to_string()),
            style.path(&toolkit.root)
        );
        for addon in addons {
            let (name, root) = (addon.library.name, style.path(&addon.root));
            text.push_str(&format!("  {name} {}  {root}\n", addon.version));
        }
        if self.verbose {
            let switch = |name: &str, on: Option<bool>| {
                let value = if on == Some(false) { "off" } else { "on" };
                format!("  {name} = {value}\n")
            };
            text.push_str(&switch("ld_library_path", settings.ld_library_path));
            text.push_str(&switch("cpath", settings.cpath));
            if let Some(compiler) = &settings.host_compiler {
                text.push_str(&format!("  host_compiler = {compiler}\n"));
            }
        }
        text
    }
}
