//! Links that lead nowhere: those to libraries that were not asked for, and those to where a package would have been.

use super::Work;
use crate::failure::Failure;
use std::fs;
use std::path::Path;

/// Removes the links below `places` that lead nowhere; also one that leads out of the tree is of no use in it.
pub fn remove(work: &Work, places: &[&str]) -> Result<(), Failure> {
    // A link may lead to another that is removed.
    while places.iter().try_fold(0, |sum, place| Ok(sum + sweep(&work.path(place), work.tree)?))? > 0 {}
    Ok(())
}

fn sweep(directory: &Path, tree: &Path) -> Result<usize, Failure> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(0) };
    let mut removed = 0;
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            removed += sweep(&path, tree)?;
        } else if kind.is_symlink() && leads_nowhere(&path, tree) {
            fs::remove_file(&path).map_err(|error| Failure::io("remove", &path, &error))?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn leads_nowhere(link: &Path, tree: &Path) -> bool {
    let (Ok(end), Ok(tree)) = (link.canonicalize(), tree.canonicalize()) else { return true };
    !end.starts_with(tree)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_links_that_lead_to_a_file_of_the_tree_stay() {
        let tree = tempfile::tempdir().unwrap();
        let lib = tree.path().join("lib");
        fs::create_dir_all(lib.join("deep")).unwrap();
        fs::write(lib.join("liba.so.1.2"), "").unwrap();
        for (to, name) in [
            ("liba.so.1.2", "liba.so.1"),
            ("liba.so.1", "liba.so"),
            ("libb.so.1", "libb.so"),
            ("libb.so", "libc.so"),
            ("/etc/passwd", "deep/profile"),
            ("../liba.so.1", "deep/a"),
            ("loop", "loop"),
        ] {
            symlink(to, lib.join(name)).unwrap();
        }
        let work = Work { tree: tree.path(), made: BTreeSet::new() };
        remove(&work, &["lib", "absent"]).unwrap();
        assert_eq!(work.names("lib").unwrap(), ["deep", "liba.so", "liba.so.1", "liba.so.1.2"]);
        assert_eq!(work.names("lib/deep").unwrap(), ["a"]);
    }
}
