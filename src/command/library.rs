//! Add-ons on the command line: how they are typed, and what is said of one that was asked for.

use crate::command::{Context, refused};
use crate::failure::{Exit, Failure};
use crate::install::addon::{self, AddonAnswer, AddonOrder, InstalledAddon};
use crate::source::component;
use crate::source::unknown::near;
use crate::ui::view::{Style, size};
use cudaup_core::addon::{Addon, LIBRARIES, Library, Number, library};
use cudaup_core::resolve::{default_settings, resolve, toolkit};
use serde_json::{Value, json};

/// A library, and the version that was typed with it.
pub type Typed = (&'static Library, Option<Number>);

/// Reads `cudnn`, `cudnn@9.8` or `cudnn=9.8`.
pub fn typed(text: &str) -> Result<Typed, Failure> {
    let (name, version) = match text.split_once(['@', '=']) {
        Some((name, version)) => (name, Some(version.trim_start_matches(['=', 'v']))),
        None => (text, None),
    };
    let Some(library) = library(&name.trim().to_ascii_lowercase()) else { return Err(unknown(name)) };
    let version = match version {
        None | Some("latest") => None,
        Some(version) => Some(Number::parse(version.trim()).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("`{version}` is no version of {}", library.name)).hint(format!(
                "cudaup add {}@9.8   (or without a version: the newest that fits)",
                library.name
            ))
        })?),
    };
    Ok((library, version))
}

/// The name that means this add-on and no other.
pub fn exact(addon: &Addon) -> String {
    format!("{}@{}-cuda{}", addon.library.name, addon.version, addon.cuda)
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = LIBRARIES.iter().map(|l| l.name).collect();
    if component::named(name).is_some() {
        return Failure::new(
            Exit::Usage,
            format!("{name} is a component of a toolkit, and no library of its own"),
        )
        .hint(format!("cudaup install VERSION --components {name}"));
    }
    let what = format!("`{name}` is none of the libraries that cudaup knows: {}", names.join(", "));
    let lower = name.trim().to_ascii_lowercase();
    if let Some(meant) = near(&lower, names.iter().copied()) {
        return Failure::new(Exit::Usage, format!("{what}; did you mean {meant}?"))
            .hint(format!("cudaup add {meant}"));
    }
    if let Some(meant) = near(&lower, component::spellings()) {
        return Failure::new(Exit::Usage, format!("{what}; did you mean {meant}, a component of a toolkit?"))
            .hint(format!("cudaup install VERSION --components {meant}"));
    }
    match lower.as_str() {
        "tensorrt" | "trt" => Failure::new(Exit::Usage, what)
            .hint("pip install tensorrt   (NVIDIA's wheels have it, for one Python environment)"),
        _ => Failure::new(Exit::Usage, what).hint("cudaup add cudnn"),
    }
}

/// The CUDA major of the toolkit that applies here; `None` where none does.
pub fn cuda_here(context: &Context) -> Result<Option<u32>, Failure> {
    let choice = toolkit(&context.world(), None).map_err(|r| refused(&r))?;
    Ok(choice.map(|c| c.toolkit.identity.version.major))
}

/// Carries an order out.
pub fn carry_out(context: &Context, order: &AddonOrder) -> Result<AddonAnswer, Failure> {
    addon::run(&context.site(), &default_settings(&context.world()).roots, order)
}

/// One object of an answer.
pub fn row(answer: &AddonAnswer) -> Value {
    match answer {
        AddonAnswer::Present(addon) => json!({
            "state": "present",
            "name": addon.library.name,
            "version": addon.version.to_string(),
            "cuda": addon.cuda,
            "root": addon.root.to_string_lossy(),
        }),
        AddonAnswer::Planned(plan, _) => json!({
            "state": "planned",
            "name": plan.library.name,
            "version": plan.version.to_string(),
            "cuda": plan.cuda,
            "source": plan.source,
            "load": plan.part.size,
            "url": plan.part.public_url(),
            "sha256": plan.part.sha256,
            "notes": plan.notes,
        }),
        AddonAnswer::Installed(installed) => {
            let InstalledAddon { addon, receipt, took } = installed.as_ref();
            json!({
                "state": "installed",
                "name": addon.library.name,
                "version": addon.version.to_string(),
                "cuda": addon.cuda,
                "root": addon.root.to_string_lossy(),
                "source": receipt.source,
                "bytes": receipt.bytes,
                "seconds": took.as_secs_f64(),
            })
        }
    }
}

/// An answer for a person, each line ended.
pub fn text(answer: &AddonAnswer, style: &Style) -> String {
    match answer {
        AddonAnswer::Present(addon) => format!("{addon} is installed: {}\n", style.path(&addon.root)),
        AddonAnswer::Planned(plan, lines) => {
            format!("{}\n  {}\nnothing was loaded\n", lines.join("\n"), plan.part.file)
        }
        AddonAnswer::Installed(installed) => {
            let InstalledAddon { addon, receipt, took } = installed.as_ref();
            let root = style.strong(&style.path(&addon.root));
            format!("installed {addon} in {:.1} s: {root}   {}\n", took.as_secs_f64(), size(receipt.bytes))
        }
    }
}

/// What puts an add-on into the environment, where nothing does so yet.
pub fn next(context: &Context, answer: &AddonAnswer, style: &Style) -> Option<String> {
    let addon = match answer {
        AddonAnswer::Present(addon) => addon,
        AddonAnswer::Installed(installed) => &installed.addon,
        AddonAnswer::Planned(..) => return None,
    };
    let choice = resolve(&context.world(), None).ok().flatten();
    if choice.as_ref().is_some_and(|c| c.addons.contains(addon)) {
        return None;
    }
    Some(next_line(context, addon, style))
}

fn next_line(context: &Context, addon: &Addon, style: &Style) -> String {
    let pin = cudaup_core::resolve::nearest_pin(&context.world()).ok().flatten();
    let default = style.path(&context.home.default_file());
    let line = format!("{} = {}", addon.library.name, addon.version.first(2));
    let other = cuda_here(context).ok().flatten().is_some_and(|major| major != addon.cuda);
    match pin {
        _ if other => {
            format!("next: the line `{line}` in the .cuda-version of a project with CUDA {}", addon.cuda)
        }
        Some((file, _)) => {
            format!("next: the line `{line}` in {} (this project) or in {default} (you)", style.path(&file))
        }
        None => format!("next: the line `{line}` in a project's .cuda-version, or in {default} (you)"),
    }
}
