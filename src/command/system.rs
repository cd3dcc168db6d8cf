//! The machine's toolkits that cudaup has put there, for all users: who may change them, and taking one away.

use crate::command::{Context, as_root};
use crate::disk::access::{self, Access};
use crate::disk::staging;
use crate::failure::{Exit, Failure};
use crate::global::alternatives::{self, Call};
use crate::global::state::LINK;
use crate::install::place::{self, Place, SYSTEM};
use crate::install::remove;
use crate::shims;
use crate::toolkit::receipt::Receipt;
use cudaup_core::discovery::{self, Search};
use cudaup_core::disk::{Disk, Entry};
use cudaup_core::environment::Vars;
use cudaup_core::inventory;
use cudaup_core::request::Request;
use cudaup_core::version::Version;
use std::path::{Path, PathBuf};

/// Whether the caller may write where they are; else the exact command for one who may.
pub fn allowed(context: &Context, words: &[String]) -> Result<(), Failure> {
    let site = context.site();
    let folder = Place::System.folder(&site).display().to_string();
    match Place::System.access(&site) {
        Access::Allowed => Ok(()),
        Access::ReadOnly => Err(Failure::failed(format!("{folder} is on a read-only file system"))
            .hint(format!("findmnt -T {}   (what is mounted there)", shell_words::quote(&folder)))),
        Access::Denied => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Err(Failure::failed(format!("{folder} is not yours to write, so that nothing was changed"))
                .hint(as_root::sudo(&context.host, None, &words)))
        }
    }
}

/// A toolkit of cudaup's under /usr/local.
struct Ours {
    version: Version,
    root: PathBuf,
    receipt: Receipt,
}

/// What went, with the bytes freed, and what is to be said about it.
pub type Gone = (Vec<(String, u64)>, Vec<String>);

/// Removes those that these texts name.
pub fn uninstall(context: &Context, texts: &[String], force: bool) -> Result<Gone, Failure> {
    let mut words = vec!["uninstall".to_owned(), "--system".to_owned()];
    words.extend(texts.iter().cloned());
    words.extend(force.then(|| "--force".to_owned()));
    let site = context.site();
    access::inside(&context.host, SYSTEM)?;
    if access::hidden(&Place::System.folder(&site)) {
        allowed(context, &words)?;
    }
    let chosen = texts.iter().map(|text| one(context, text, force)).collect::<Result<Vec<_>, _>>()?;
    allowed(context, &words)?;
    let global = inventory::global(&context.disk);
    let mut removed: Vec<(String, u64)> = Vec::new();
    for Ours { version, root, .. } in chosen {
        if removed.iter().any(|(name, _)| *name == version.to_string()) {
            continue;
        }
        let bytes = remove::system(&site, version, &root);
        staging::sweep(&Place::System.staging(&site));
        Place::System.tidy(&site);
        removed.push((version.to_string(), bytes?));
        let path = format!("/usr/local/{}", root.file_name().unwrap_or_default().to_string_lossy());
        let known = alternatives::group(&context.host, "cuda").is_some_and(|g| g.choices.contains(&path));
        if known {
            let call = Call::remove("cuda", &path).line();
            context.talk.say(&format!("update-alternatives still knows {path}: sudo {call}"));
        }
    }
    if context.home.shims().is_dir() {
        shims::renew(&context.home, &context.host, &context.disk)?;
    }
    Ok((removed, dangling(context, global.as_deref()).into_iter().collect()))
}

/// What is to be said where the machine's link leads nowhere any more. `before` is where it led.
pub fn dangling(context: &Context, before: Option<&Path>) -> Option<String> {
    let gone = before.is_some() && inventory::global(&context.disk).is_none();
    let other = || as_root::again(&context.host, &["use", "--global", "VERSION"]);
    gone.then(|| format!("{LINK} leads nowhere now, for all users\nnext: {}", other()))
}

/// The one toolkit that a text names.
fn one(context: &Context, text: &str, force: bool) -> Result<Ours, Failure> {
    let Request::Version(wanted) = context.request(text)? else {
        return Err(Failure::new(
            Exit::Usage,
            format!("`{text}` is no version of a toolkit of this machine"),
        )
        .hint("cudaup uninstall --system 12.4"));
    };
    let mut fitting: Vec<Ours> = ours(context).into_iter().filter(|o| wanted.accepts(o.version)).collect();
    let versions: Vec<String> = fitting.iter().map(|ours| ours.version.to_string()).collect();
    let Some(found) = fitting.pop() else { return Err(absent(context, wanted)) };
    if !fitting.is_empty() {
        let what = format!("{wanted} fits several toolkits: {}", versions.join(", "));
        let force = if force { "--force " } else { "" };
        let each = versions.iter().map(|version| format!("cudaup uninstall --system {force}{version}"));
        return Err(each.fold(Failure::new(Exit::Usage, what), Failure::hint));
    }
    if !force && inventory::global(&context.disk).is_some_and(|root| root == found.root) {
        return Err(Failure::failed(format!(
            "{LINK} leads to CUDA {}: another one has to take its place first",
            found.version
        ))
        .hint("cudaup use --global VERSION")
        .hint(format!("cudaup uninstall --system --force {}", found.version)));
    }
    let added = if force { Vec::new() } else { place::added(&found.root, &found.receipt)? };
    if !added.is_empty() {
        let shown = place::shown(&added);
        let root = found.root.display();
        let what = format!(
            "{root} has files that cudaup did not put there, and was left alone (--force removes them, too): {shown}"
        );
        let words = ["uninstall", "--system", "--force", &found.version.to_string()].join(" ");
        return Err(Failure::failed(what).hint(format!("cudaup {words}")));
    }
    Ok(found)
}

/// All of them, the oldest first. A copy under another name is whose it may be: cudaup has one place for a release.
fn ours(context: &Context) -> Vec<Ours> {
    let site = context.site();
    let folder = Place::System.folder(&site);
    let directories = context
        .disk
        .names(&folder)
        .unwrap_or_default()
        .into_iter()
        .filter(|(_, kind)| *kind == Entry::Directory);
    let named = directories.filter_map(|(name, _)| name.into_string().ok());
    let roots = named.filter(|name| inventory::is_toolkit_name(name)).map(|name| folder.join(name));
    let mut all: Vec<Ours> = roots
        .filter_map(|root| {
            let receipt = Receipt::read(&root).ok().flatten()?;
            Some(Ours { version: Version::parse(&receipt.version)?, root, receipt })
        })
        .filter(|ours| ours.root == Place::System.target(&site, ours.version))
        .collect();
    all.sort_by_key(|ours| ours.version);
    all
}

fn absent(context: &Context, wanted: Version) -> Failure {
    let machines = inventory::usable(discovery::machine(
        Search { home: &context.home, roots: &[], vars: &Vars::default() },
        &context.disk,
    ));
    match machines.into_iter().find(|t| wanted.accepts(t.identity.version)) {
        Some(t) => Failure::failed(format!(
            "CUDA {} was not installed by cudaup and is left alone: {}",
            t.identity,
            t.root.display()
        ))
        .hint("cudaup list   (says who has put it there)"),
        None => Failure::new(Exit::NoVersion, format!("this machine has no CUDA {wanted} of its own"))
            .hint("cudaup list"),
    }
}
