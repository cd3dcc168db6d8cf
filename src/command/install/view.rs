//! What is shown of an install: an object for programs, lines for a person.

use crate::command::order;
use crate::disk::record::RECEIPT;
use crate::install::place::Place;
use crate::install::{Answer, Installed};
use crate::source::plan::Part;
use crate::toolkit::receipt::Receipt;
use crate::ui::view::{Style, size, table};
use cudaup_core::inventory::{Kind, Toolkit};
use serde_json::{Value, json};

/// One object of an answer.
pub fn row(answer: &Answer) -> Value {
    match answer {
        Answer::Present(toolkit) => json!({
            "state": "present",
            "version": toolkit.identity.to_string(),
            "kind": toolkit.kind.word(),
            "root": toolkit.root.to_string_lossy(),
        }),
        Answer::Planned(plan, _) => json!({
            "state": "planned",
            "version": plan.version.to_string(),
            "source": plan.source,
            "passed": plan.passed,
            "platform": plan.platform.name(),
            "profile": plan.profile.to_string(),
            "load": plan.size(),
            "bytes": plan.unpacked(),
            "missing": plan.missing,
            "notes": plan.notes,
            "parts": plan.parts.iter().map(|p| json!({
                "name": p.name, "version": p.version, "url": p.public_url(), "sha256": p.sha256, "size": p.size,
            })).collect::<Vec<_>>(),
        }),
        Answer::Installed(installed) => {
            let Installed { root, receipt, took, default, place } = installed.as_ref();
            let kind = if *place == Place::System { Kind::System } else { Kind::Managed };
            json!({
                "state": "installed",
                "version": receipt.version,
                "kind": kind.word(),
                "root": root.to_string_lossy(),
                "source": receipt.source,
                "profile": receipt.profile,
                "bytes": receipt.bytes,
                "seconds": took.as_secs_f64(),
                "default": default,
                "proof": receipt.proof,
                "licence": receipt.eula,
            })
        }
    }
}

/// An answer for a person, each line ended.
pub fn text(answer: &Answer, style: &Style) -> String {
    match answer {
        Answer::Present(toolkit) => present(toolkit, style),
        Answer::Planned(plan, lines) => {
            let cells =
                |p: &Part| vec![format!("  {}", named(p, &plan.parts)), p.version.clone(), size(p.size)];
            let parts = table(&plan.parts.iter().map(cells).collect::<Vec<_>>());
            format!("{}\n{parts}nothing was loaded\n", lines.join("\n"))
        }
        Answer::Installed(installed) => {
            let version = &installed.receipt.version;
            let next = match installed.place {
                Place::Home => next(version, installed.default),
                Place::System => format!(
                    "/usr/local/cuda stays as it is\nnext: cudaup use {version} (this project)   cudaup use --global {version} (all users)\n"
                ),
            };
            format!("{}{next}", order::installed(installed, style))
        }
    }
}

/// The name of a part in a list; where several archives are of one component, with the archive's.
fn named(part: &Part, all: &[Part]) -> String {
    let file = part.file.split('_').next().unwrap_or_default();
    match all.iter().filter(|other| other.name == part.name).count() {
        0 | 1 => part.name.clone(),
        _ => format!("{} ({file})", part.name),
    }
}

fn present(toolkit: &Toolkit, style: &Style) -> String {
    let (version, root) = (&toolkit.identity, style.path(&toolkit.root));
    let place = match &toolkit.kind {
        Kind::Managed => match Receipt::read(&toolkit.root) {
            Ok(Some(receipt)) => format!("{version} is installed{}: {root}", amount(&receipt)),
            // By its place it is chosen all the same; whole it may not be.
            Ok(None) => {
                format!("{version} is there, and cudaup did not install it (it has no {RECEIPT}): {root}")
            }
            Err(failure) => format!("{version} is there: {root}\nwarning: {failure}"),
        },
        Kind::Link(name) => format!("{version} is here under the name {name}: {root}"),
        Kind::System | Kind::Shared => format!("{version} is on this machine: {root}"),
    };
    format!("{place}\n{}", next(&toolkit.identity.version.to_string(), false))
}

/// How much of a toolkit there is, where that is less than the usual: who asked for all is not to take it for that.
fn amount(receipt: &Receipt) -> String {
    match (receipt.profile.as_str(), receipt.missing.as_slice()) {
        ("minimal", []) => " (minimal profile; --profile default adds the libraries)".to_owned(),
        (_, []) => String::new(),
        (_, missing) => format!(" without {}, which {} did not have", missing.join(", "), receipt.source),
    }
}

fn next(version: &str, is_default: bool) -> String {
    if is_default {
        return format!("{version} is your default now\nnext: cudaup use {version} (this project)\n");
    }
    format!("next: cudaup use {version} (this project)   cudaup use --default {version} (you)\n")
}
