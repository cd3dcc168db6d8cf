//! Gives the tree of an add-on what it needs to be compiled and linked with: the names by which the linker asks for its
//! libraries, `lib64` beside `lib`, pkg-config files that hold wherever the tree is.

use super::{Work, libraries, modes};
use crate::failure::{Exit, Failure};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Mends a tree and gives the paths of what it made. A tree without the library's `header`, or without a library, is none.
pub fn mend(tree: &Path, name: &str, header: &str, file: &str) -> Result<Vec<String>, Failure> {
    let mut work = Work { tree, made: BTreeSet::new() };
    for place in ["", "lib"] {
        for name in work.names(place)? {
            // What the archive called otherwise leaves its directory behind. One with something in it stays.
            let _ = fs::remove_dir(tree.join(place).join(name));
        }
    }
    let names = work.names("lib")?;
    let no = |what: String| Failure::new(Exit::BadBytes, format!("{file} is no {name}: {what} is not in it"));
    if !work.is_there(&format!("include/{header}")) {
        return Err(no(format!("include/{header}")));
    }
    if !names.iter().any(|n| n.starts_with("lib") && (n.contains(".so") || has_ending(n, "a"))) {
        return Err(no("a library for this CUDA".to_owned()));
    }
    for (link, target) in libraries::unversioned(&names) {
        work.link(&format!("lib/{link}"), &target)?;
    }
    work.link("lib64", "lib")?;
    for pc in work.names("lib/pkgconfig")?.iter().filter(|n| has_ending(n, "pc")) {
        let place = format!("lib/pkgconfig/{pc}");
        if let Some(moved) = from_its_own_place(&work.text(&place)?) {
            work.file(&place, moved.as_bytes())?;
        }
    }
    modes::settle(tree)?;
    Ok(work.made.into_iter().collect())
}

fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|e| e == ending)
}

/// A pkg-config file with its prefix taken from where the file is; `None` where no prefix is an absolute path.
fn from_its_own_place(text: &str) -> Option<String> {
    let is_absolute =
        |line: &&str| line.strip_prefix("prefix=").is_some_and(|p| p.trim_start().starts_with('/'));
    text.lines().find(is_absolute)?;
    let lines = text.lines().map(|l| if is_absolute(&l) { "prefix=${pcfiledir}/../.." } else { l });
    Some(lines.map(|l| format!("{l}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = tree.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }

    #[test]
    fn links_are_made_where_they_lack_and_kept_where_they_are() {
        let at =
            tree(&[("include/cudnn.h", ""), ("lib/libcudnn.so.8.9.7", "x"), ("lib/libcudnn_ops.so.9", "")]);
        fs::create_dir_all(at.path().join("lib64")).unwrap();
        fs::create_dir_all(at.path().join("lib/12")).unwrap();
        symlink("libcudnn.so.8.9.7", at.path().join("lib/libcudnn.so.8")).unwrap();
        symlink("libcudnn.so.8", at.path().join("lib/libcudnn.so")).unwrap();
        let made = mend(at.path(), "cudnn", "cudnn.h", "x.tar.xz").unwrap();
        assert_eq!(made, ["lib/libcudnn_ops.so", "lib64"]);
        let link = |name: &str| fs::read_link(at.path().join(name)).unwrap();
        assert_eq!(link("lib/libcudnn.so"), Path::new("libcudnn.so.8"));
        assert_eq!(link("lib/libcudnn_ops.so"), Path::new("libcudnn_ops.so.9"));
        assert_eq!(fs::read_to_string(at.path().join("lib64/libcudnn.so")).unwrap(), "x");
        assert!(!at.path().join("lib/12").exists());
        assert!(mend(at.path(), "cudnn", "cudnn.h", "x").unwrap().is_empty(), "a second time makes nothing");
    }

    #[test]
    fn a_tree_without_header_or_library_is_refused() {
        let at = tree(&[("lib/libcudnn.so.8", "")]);
        let failure = mend(at.path(), "cudnn", "cudnn.h", "x.tar.xz").unwrap_err();
        assert_eq!(failure.message, "x.tar.xz is no cudnn: include/cudnn.h is not in it");
        let at = tree(&[("include/cudnn.h", ""), ("lib/12/libcudnn.so.8", "")]);
        assert_eq!(mend(at.path(), "cudnn", "cudnn.h", "x").unwrap_err().exit, Exit::BadBytes);
    }

    #[test]
    fn pkg_config_files_move_with_the_tree() {
        let text = "prefix=/build/nccl\nlibdir=${prefix}/lib\n";
        assert_eq!(from_its_own_place(text).unwrap(), "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\n");
        assert_eq!(from_its_own_place("prefix=${pcfiledir}/../..\n"), None);
    }
}
