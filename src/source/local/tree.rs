//! A directory that is an unpacked toolkit: copied as it is.

use super::{agreed, nothing_here, other_machine, whole};
use crate::archive::guard;
use crate::disk::tree;
use crate::failure::Failure;
use crate::source::plan::{Placement, Plan, Rule};
use crate::source::query::Query;
use cudaup_core::disk::Disk;
use cudaup_core::identity::{Tree, identify};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a directory that holds far more than a toolkit has: a root of a system, an environment of conda.
const NO_TOOLKIT_HAS: [(&str, &str); 3] = [
    ("conda-meta", "a conda environment"),
    ("etc/passwd", "a system's root"),
    ("bin/sh", "a system's own directory"),
];

/// What copying the tree comes to.
pub fn plan(query: &Query<'_>, root: &Path, disk: &dyn Disk) -> Result<Plan, Failure> {
    if let Some((_, what)) = NO_TOOLKIT_HAS.iter().find(|(name, _)| root.join(name).exists()) {
        return Err(nothing_here(
            root,
            &format!("it is {what}, in which a toolkit is mixed with other things"),
        ));
    }
    let identity = match identify(root, query.platform.machine(), disk) {
        Tree::Toolkit(identity) => identity,
        Tree::OtherMachine(machine) => return Err(other_machine(root, machine, query)),
        Tree::Unnamed => return Err(nothing_here(root, "nothing in it tells which release it is")),
        Tree::NotAToolkit => {
            return Err(nothing_here(
                root,
                "it has neither bin/nvcc nor a CUDA runtime library, and no archives",
            ));
        }
    };
    let version = agreed(query.request, &identity, root)?;
    let mut links = Vec::new();
    leaving(root, root, &mut links).map_err(|e| Failure::io("read", root, &e))?;
    let mut rules: Vec<Rule> = links.iter().map(|link| Rule { from: link.clone(), to: None }).collect();
    // It is written anew for the copy.
    rules.push(Rule { from: crate::disk::record::RECEIPT.to_owned(), to: None });
    rules.push(Rule { from: String::new(), to: Some(String::new()) });
    let bytes = tree::size(root)?;
    let mut plan = whole(query, version, root, (bytes, Some(bytes)), Placement { strip: 0, rules });
    if !links.is_empty() {
        plan.notes.push(format!("left out, since these lead out of the directory: {}", links.join(", ")));
    }
    Ok(plan)
}

/// The links that lead out of the tree, as some packages have them for the profilers. They go by their whole name and the
/// rules by its beginning: one whose name begins others' names stays, and is refused when it is copied.
fn leaving(root: &Path, folder: &Path, found: &mut Vec<String>) -> io::Result<()> {
    let mut names = Vec::new();
    let mut out = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned) else {
            continue;
        };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            leaving(root, &path, found)?;
        } else if kind.is_symlink() {
            let target = fs::read_link(&path)?;
            if guard::link(&name, target.as_os_str().as_bytes()).is_err() {
                out.push(name.clone());
            }
        }
        names.push(name);
    }
    let alone = |link: &String| names.iter().filter(|name| name.starts_with(link.as_str())).count() == 1;
    out.retain(alone);
    out.sort();
    found.extend(out);
    Ok(())
}
