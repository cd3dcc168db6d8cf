//! `cudaup list`: the toolkits at hand, or the releases to be had.

mod remote;

use crate::addon;
use crate::command::{Context, Outcome};
use crate::disk::record::RECEIPT;
use crate::failure::{Exit, Failure};
use crate::toolkit::receipt::Receipt;
use crate::ui::view::{Style, View, size, table};
use clap::Args as Arguments;
use cudaup_core::addon::{Addon, all};
use cudaup_core::discovery::{self, Search};
use cudaup_core::fitness::Broken;
use cudaup_core::identity::{Identity, Tree};
use cudaup_core::inventory::{self, Found, Kind, Toolkit};
use cudaup_core::origin::{Origin, installer};
use cudaup_core::refusal::Rule;
use cudaup_core::request::Request;
use cudaup_core::resolve::{World, default_settings, resolve};
use cudaup_core::text::plain;
use cudaup_core::version::Version;
use serde_json::{Value, json};
use std::path::PathBuf;

/// List the toolkits at hand: installed, linked, and the machine's own.
#[derive(Debug, Arguments)]
pub struct Args {
    /// List the releases that can be installed instead
    #[arg(long)]
    remote: bool,
    /// Ask the sources anew; otherwise what they said within a day is shown
    #[arg(long, requires = "remote")]
    refresh: bool,
    /// Only these releases: 13, 13.0
    release: Option<String>,
}

struct Row {
    version: String,
    kind: Kind,
    root: PathBuf,
    aliases: Vec<PathBuf>,
    source: Option<String>,
    bytes: Option<u64>,
    problem: Option<String>,
    origin: Option<&'static str>,
    by: Option<String>,
    broken: Option<&'static str>,
    chosen: Option<String>,
    default: bool,
}

struct List {
    rows: Vec<Row>,
    addons: Vec<AddonRow>,
    /// Whether only those of a release are shown.
    filtered: bool,
}

/// What stands at the toolkit of the user's default.
const YOURS: &str = "your default";

struct AddonRow {
    addon: Addon,
    receipt: Option<addon::receipt::Receipt>,
    chosen: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        if self.remote {
            return remote::run(context, self.release.as_deref(), self.refresh);
        }
        let world = context.world();
        let chosen = resolve(&world, None);
        let mut rows: Vec<Row> = inventory::managed(&context.home, &context.disk)
            .into_iter()
            .map(|t| {
                let read = Receipt::read(&t.root);
                let problem = read.is_err().then(|| format!("its {RECEIPT} cannot be read"));
                let receipt = read.ok().flatten();
                Row {
                    problem,
                    version: t.identity.to_string(),
                    origin: Some(Origin::Home.key()),
                    source: receipt.as_ref().map(|r| r.source.clone()),
                    bytes: receipt.as_ref().map(|r| r.bytes),
                    ..row(t.kind, t.root)
                }
            })
            .collect();
        let roots = default_settings(&world).roots;
        let search = Search { home: &context.home, roots: &roots, vars: &context.vars };
        let mut found = inventory::links(&context.home, &context.disk);
        found.extend(discovery::machine(search, &context.disk));
        rows.extend(all_of(context, &found));
        match &chosen {
            Ok(Some(choice)) => {
                let why = match &choice.rule {
                    Rule::Pin(..) => "pinned here",
                    Rule::Default(file, _) if *file == context.home.default_file() => YOURS,
                    Rule::Default(..) => "the machine's default",
                    Rule::Variable => "by CUDAUP_VERSION",
                    Rule::Argument | Rule::Machine => "in use here",
                };
                let of_choice = |r: &&mut Row| r.root == choice.toolkit.root && r.kind == choice.toolkit.kind;
                if let Some(row) = rows.iter_mut().find(of_choice) {
                    row.chosen = Some(why.to_owned());
                }
            }
            Ok(None) => {}
            Err(refusal) => context.talk.say(&format!("warning: {refusal}")),
        }
        if let Some(default) = default_elsewhere(context)
            && let Some(row) = rows.iter_mut().find(|r| r.root == default.root && r.kind == default.kind)
        {
            row.default = true;
        }
        let entered = chosen.as_ref().ok().and_then(Option::as_ref).map_or(&[][..], |c| c.addons.as_slice());
        let mut addons: Vec<AddonRow> = all(&context.home, &roots, &context.disk)
            .into_iter()
            .map(|addon| AddonRow {
                receipt: addon::receipt::Receipt::read(&addon.root).ok().flatten(),
                chosen: entered.contains(&addon),
                addon,
            })
            .collect();
        if let Some(only) = self.release.as_deref().map(|text| context.request(text)).transpose()? {
            rows.retain(|row| match &only {
                // What fits two releases is listed for either.
                Request::Version(wanted) => {
                    row.version.split(" or ").filter_map(Version::parse).any(|v| wanted.accepts(v))
                }
                Request::Link(name) => row.name() == *name,
                _ => true,
            });
            addons.retain(|row| match &only {
                Request::Version(wanted) => wanted.major == row.addon.cuda,
                _ => false,
            });
            if rows.is_empty() && addons.is_empty() {
                let failure = Failure::new(Exit::NoVersion, format!("no {only} is here"));
                return Err(failure.hint("cudaup list").hint(format!("cudaup list --remote {only}")));
            }
        }
        Ok(Outcome::View(Box::new(List { rows, addons, filtered: self.release.is_some() })))
    }
}

/// The toolkit of the user's default, whatever is chosen here.
fn default_elsewhere(context: &Context) -> Option<Toolkit> {
    let mut vars = context.vars.clone();
    vars.put("CUDAUP_VERSION", None);
    let choice = resolve(&World { vars: &vars, cwd: None, ..context.world() }, None).ok()??;
    let own = matches!(&choice.rule, Rule::Default(file, _) if *file == context.home.default_file());
    own.then_some(choice.toolkit)
}

fn row(kind: Kind, root: PathBuf) -> Row {
    Row {
        version: String::new(),
        kind,
        root,
        aliases: Vec::new(),
        source: None,
        bytes: None,
        problem: None,
        origin: None,
        by: None,
        broken: None,
        chosen: None,
        default: false,
    }
}

/// The rows of what was found. A tree that only its nvcc can name may hang: all of those are asked at once, or one after
/// the other where no more threads are to be had.
fn all_of(context: &Context, found: &[Found]) -> Vec<Row> {
    let waits = |f: &Found| f.broken.is_none() && f.tree == Some(Tree::Unnamed);
    std::thread::scope(|scope| {
        let ask = |f| {
            std::thread::Builder::new().spawn_scoped(scope, move || of_found(context, Found::clone(f))).ok()
        };
        let asked: Vec<_> = found.iter().map(|f| waits(f).then(|| ask(f)).flatten()).collect();
        let rows = found.iter().zip(asked).filter_map(|(f, asked)| match asked {
            Some(row) => row.join().ok(),
            None => Some(of_found(context, f.clone())),
        });
        rows.collect()
    })
}

fn of_found(context: &Context, found: Found) -> Row {
    let named = |identity: &Identity| (identity.to_string(), None);
    let mut silent = None;
    let (version, problem) = match (&found.tree, &found.broken) {
        (Some(Tree::OtherMachine(machine)), _) => ("?".to_owned(), Some(format!("for {machine}"))),
        (Some(Tree::Toolkit(identity)), None) => named(identity),
        (Some(Tree::Toolkit(identity)), Some(broken)) => {
            (identity.to_string(), Some(format!("broken: {broken}")))
        }
        (_, Some(broken)) => ("?".to_owned(), Some(format!("broken: {broken}"))),
        (Some(Tree::Unnamed), None) => match crate::toolkit::ask::release(&found.root, &context.disk) {
            Ok(identity) => named(&identity),
            Err(said) => {
                silent = Some(said.key());
                ("?".to_owned(), Some(format!("broken: {said}")))
            }
        },
        (Some(Tree::NotAToolkit), None) => {
            ("?".to_owned(), Some("broken: neither nvcc nor a CUDA runtime library is in it".into()))
        }
        (None, None) => ("?".to_owned(), Some("missing: the directory is gone".into())),
    };
    // What is under /usr/local may be cudaup's own, for all users.
    let receipt = Some(&found.root).filter(|_| found.kind == Kind::System);
    let receipt = receipt.and_then(|root| Receipt::read(root).ok().flatten());
    let by = match found.origin {
        Origin::Local | Origin::Opt => installer(&found.root, &context.disk).map(str::to_owned),
        ref origin => Some(origin.to_string()).filter(|by| !by.is_empty()),
    };
    Row {
        version,
        problem,
        by,
        origin: Some(found.origin.key()),
        broken: match (&found.tree, &found.broken) {
            (Some(Tree::OtherMachine(_)), _) => Some("other-machine"),
            (None, None) => Some("gone"),
            (Some(Tree::NotAToolkit), None) => Some("no-toolkit"),
            (_, broken) => broken.as_ref().map(Broken::key).or(silent),
        },
        aliases: found.aliases,
        source: receipt.as_ref().map(|r| r.source.clone()),
        bytes: receipt.as_ref().map(|r| r.bytes),
        ..row(found.kind, found.root)
    }
}

impl Row {
    /// What a person calls it: a link by its name.
    fn name(&self) -> String {
        match &self.kind {
            Kind::Link(name) => name.clone(),
            _ => self.version.clone(),
        }
    }
}

impl View for List {
    fn json(&self) -> Value {
        let paths =
            |paths: &[PathBuf]| paths.iter().map(|p| p.to_string_lossy().into_owned()).collect::<Vec<_>>();
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|r| {
                json!({
                    "name": r.name(),
                    "version": r.version,
                    "kind": r.kind.word(),
                    "root": r.root.to_string_lossy(),
                    "aliases": paths(&r.aliases),
                    "source": r.source,
                    "bytes": r.bytes,
                    "origin": r.origin,
                    "origin_name": r.by,
                    "broken": r.broken,
                    "problem": r.problem,
                    "chosen": r.chosen,
                    "default": r.default,
                })
            })
            .collect();
        let addons: Vec<Value> = self
            .addons
            .iter()
            .map(|r| {
                json!({
                    "name": r.addon.library.name,
                    "version": r.addon.version.to_string(),
                    "cuda": r.addon.cuda,
                    "root": r.addon.root.to_string_lossy(),
                    "source": r.receipt.as_ref().map(|receipt| &receipt.source),
                    "bytes": r.receipt.as_ref().map(|receipt| receipt.bytes),
                    "chosen": r.chosen,
                })
            })
            .collect();
        let bytes: u64 = self.bytes().iter().sum();
        json!({ "toolkits": rows, "addons": addons, "bytes": bytes })
    }

    fn human(&self, style: &Style) -> String {
        let none = match (self.rows.is_empty(), self.filtered) {
            (true, true) => "no such toolkit is installed, linked or found here\n",
            (true, false) => "no toolkit is installed, linked or found here\ntry: cudaup install latest\n",
            (false, _) => "",
        };
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|r| {
                let mark = if r.chosen.is_some() { "*" } else { " " };
                let version = if matches!(r.kind, Kind::Link(_)) { r.version.clone() } else { String::new() };
                let aliases: Vec<String> = r.aliases.iter().map(|a| style.path(a)).collect();
                let also =
                    if aliases.is_empty() { String::new() } else { format!("also {}", aliases.join(", ")) };
                let end = [
                    Some(version),
                    r.source.clone(),
                    r.bytes.map(size),
                    r.chosen.clone(),
                    (r.default && r.chosen.as_deref() != Some(YOURS)).then(|| YOURS.to_owned()),
                    r.problem.clone(),
                    Some(also),
                ];
                let end: Vec<String> = end.into_iter().flatten().filter(|t| !t.is_empty()).collect();
                vec![
                    format!("{mark} {}", r.name()),
                    match &r.by {
                        Some(by) => format!("{} ({})", r.kind.word(), plain(by)),
                        None => r.kind.word().to_owned(),
                    },
                    style.path(&r.root),
                    end.join("  "),
                ]
            })
            .collect();
        let addons: Vec<Vec<String>> = self.addons.iter().map(|r| addon_cells(r, style)).collect();
        let sizes = self.bytes();
        let total = size(sizes.iter().sum());
        let total = match (sizes.len(), self.addons.len()) {
            (0 | 1, _) => String::new(),
            (toolkits, 0) => format!("{total} in {toolkits} toolkits\n"),
            (all, _) => format!("{total} in {all} toolkits and add-ons\n"),
        };
        format!("{none}{}{}{total}", table(&rows), table(&addons))
    }
}

impl List {
    /// The sizes that are known.
    fn bytes(&self) -> Vec<u64> {
        let addons = self.addons.iter().filter_map(|r| r.receipt.as_ref()).map(|receipt| receipt.bytes);
        self.rows.iter().filter_map(|r| r.bytes).chain(addons).collect()
    }
}

fn addon_cells(row: &AddonRow, style: &Style) -> Vec<String> {
    let AddonRow { addon, receipt, chosen } = row;
    let mark = if *chosen { "*" } else { " " };
    let from = receipt.as_ref().map(|r| format!("{}  {}", r.source, size(r.bytes)));
    let end: Vec<String> = from.into_iter().chain(chosen.then(|| "in use here".to_owned())).collect();
    vec![
        format!("{mark} {} {}", addon.library.name, addon.version),
        format!("for CUDA {}", addon.cuda),
        style.path(&addon.root),
        end.join("  "),
    ]
}
