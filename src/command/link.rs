//! `cudaup link NAME DIRECTORY`: gives a name to a toolkit that lies elsewhere. The directory is never written to.

use crate::command::{Context, Outcome, compiler};
use crate::failure::{Exit, Failure};
use crate::shims;
use crate::toolkit::ask;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use cudaup_core::debian;
use cudaup_core::disk::Disk;
use cudaup_core::fitness::{Broken, broken};
use cudaup_core::identity::{Identity, Tree, identify};
use cudaup_core::inventory::MACHINE;
use cudaup_core::request::{Request, is_link_name, printable, respelled};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Give a name to a toolkit that lies elsewhere.
#[derive(Debug, Arguments)]
pub struct Args {
    /// Its name: a lower-case letter, then lower-case letters, digits, `.`, `_`, `-`
    name: String,
    /// The toolkit's directory, such as /usr/local/cuda-11.8
    directory: PathBuf,
}

struct Linked {
    name: String,
    target: PathBuf,
    identity: Identity,
    replaced: Option<PathBuf>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        context.warn_root(context.home.path());
        let name = checked_name(&self.name)?;
        let target = self.target(context)?;
        let identity = toolkit_at(context, &target)?;
        let link = context.home.toolkit(name);
        let replaced = put(&link, &target)?;
        let linked = Linked { name: name.to_owned(), target, identity, replaced };
        shims::renew(&context.home, &context.host, &context.disk)?;
        for line in compiler::of_tree(context, &linked.target, linked.identity.version) {
            context.talk.say(&line);
        }
        Ok(Outcome::View(Box::new(linked)))
    }

    fn target(&self, context: &Context) -> Result<PathBuf, Failure> {
        let typed = match &context.host.cwd {
            Some(cwd) => cwd.join(&self.directory),
            None => self.directory.clone(),
        };
        let target = context.disk.real(&typed);
        let target = target.ok_or_else(|| Failure::failed(format!("{} does not exist", typed.display())))?;
        if target.as_os_str().as_encoded_bytes().iter().any(|b| matches!(b, b':' | b'\n')) {
            return Err(Failure::failed(format!(
                "{target:?} has `:` or a line end in its name, so that no search list can name it"
            )));
        }
        if target.starts_with(context.home.toolkits()) {
            return Err(Failure::failed(format!(
                "{} is a toolkit of cudaup's own already",
                target.display()
            )));
        }
        Ok(target)
    }
}

fn checked_name(name: &str) -> Result<&str, Failure> {
    if is_link_name(name) {
        return Ok(name);
    }
    let failure = Failure::new(Exit::Usage, format!("`{}` cannot be the name of a toolkit", printable(name)));
    let reserved = Request::parse(name).is_ok();
    Err(match respelled(name) {
        None if reserved => failure.hint("that word means something already; any other name"),
        Some(version) => {
            failure.hint(format!("a name that is no version: cudaup link my-{version} DIRECTORY"))
        }
        None => failure.hint("a lower-case letter first, then lower-case letters, digits, `.`, `_` and `-`"),
    })
}

fn toolkit_at(context: &Context, target: &Path) -> Result<Identity, Failure> {
    let no = |why: String| Failure::failed(format!("{} cannot be linked: {why}", target.display()));
    let insides = [debian::INSIDE, debian::LOOKS_LIKE_A_ROOT].map(|path| context.disk.system(path));
    if insides.iter().any(|inside| inside == target) {
        let failure = no("it is one piece of Debian's package, which serves as a whole and by itself".into());
        return Err(failure.hint("cudaup list").hint("cudaup use system"));
    }
    match identify(target, MACHINE, &context.disk) {
        Tree::Toolkit(identity) => {
            // A tree whose nvcc refuses to run is known by its files alone and still of no use.
            match ask::nvcc(target) {
                Ok(_) | Err(ask::Silent::Absent | ask::Silent::Said(_)) => {}
                Err(silent) => return Err(no(silent.to_string())),
            }
            match broken(target, &context.disk) {
                None => {}
                Some(half @ (Broken::NoNvcc | Broken::NoHeaders)) => {
                    context
                        .talk
                        .say(&format!("note: {half}; it serves only where it is asked for by its name"));
                }
                Some(broken) => return Err(no(broken.to_string())),
            }
            Ok(identity)
        }
        Tree::Unnamed => ask::release(target, &context.disk).map_err(|said| no(said.to_string())),
        Tree::OtherMachine(machine) => {
            Err(no(format!("its programs are for {machine}, this machine is {MACHINE}")))
        }
        Tree::NotAToolkit => {
            let above = [target.parent(), target.parent().and_then(Path::parent)];
            let parent = above.into_iter().flatten().find(|p| p.join("bin/nvcc").is_file());
            let failure = no("neither bin/nvcc nor a CUDA runtime library is in it".into());
            Err(match parent {
                Some(parent) => failure.hint(format!("cudaup link NAME {}", parent.display())),
                None => failure,
            })
        }
    }
}

/// Makes the link by a rename. Returns what it pointed to before.
fn put(link: &Path, target: &Path) -> Result<Option<PathBuf>, Failure> {
    let before = match fs::symlink_metadata(link) {
        Ok(found) if found.is_symlink() => fs::read_link(link).ok(),
        Ok(_) => return Err(Failure::failed(format!("{} is there and is no link", link.display()))),
        Err(_) => None,
    };
    let failed = |e: std::io::Error| Failure::io("create", link, &e);
    if let Some(parent) = link.parent() {
        fs::create_dir_all(parent).map_err(|e| Failure::io("create", parent, &e))?;
    }
    // Of two at once each makes a link of its own.
    let (name, process) = (link.file_name().unwrap_or_default().display(), std::process::id());
    let fresh = link.with_file_name(format!(".{name}.{process}.new"));
    let _ = fs::remove_file(&fresh);
    symlink(target, &fresh).map_err(failed)?;
    fs::rename(&fresh, link).map_err(failed)?;
    Ok(before.filter(|b| b != target))
}

impl View for Linked {
    fn is_report(&self) -> bool {
        true
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "target": self.target.to_string_lossy(),
            "version": self.identity.to_string(),
            "replaced": self.replaced.as_ref().map(|r| r.to_string_lossy().into_owned()),
        })
    }

    fn human(&self, style: &Style) -> String {
        let was = self.replaced.as_ref().map(|r| format!(" (was {})", style.path(r))).unwrap_or_default();
        let (name, target) = (&self.name, style.path(&self.target));
        format!("{name} -> {target}{was}: CUDA {}\nnext: cudaup use {name}\n", self.identity)
    }
}
