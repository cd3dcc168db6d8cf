//! What the loader finds through the machine's link, and what it will miss once that leads elsewhere.

use crate::disk::text;
use crate::elf::cache::{self, Library};
use crate::global::state::LINK;
use crate::host::Host;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A cache of more bytes is none.
const MOST_BYTES: u64 = 64 << 20;

/// What becomes of the names in the loader's cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loader {
    /// Names that no file stands for any more.
    pub lost: Vec<String>,
    /// Whether the loader looks below the link at all, so that its cache has to be made anew.
    pub concerned: bool,
}

/// Looks at the cache and at what it is made from. `to` is the tree that the link will lead to.
pub fn look(host: &Host, to: Option<&Path>) -> Loader {
    let cache = host.system("/etc/ld.so.cache");
    let small = fs::metadata(&cache).is_ok_and(|found| found.is_file() && found.len() < MOST_BYTES);
    let bytes = if small { fs::read(&cache).unwrap_or_default() } else { Vec::new() };
    let libraries = cache::read(&bytes).unwrap_or_default();
    let there = |below: &Path| to.is_some_and(|root| root.join(below).exists());
    Loader {
        lost: lost(&libraries, &there),
        concerned: libraries.iter().any(|l| below_link(l).is_some()) || is_configured(host),
    }
}

/// Names that are only found through the link, and that have no file there in the tree that it will lead to.
fn lost(libraries: &[Library], there: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut names: BTreeMap<&str, bool> = BTreeMap::new();
    for library in libraries {
        let kept = below_link(library).is_none_or(there);
        *names.entry(&library.soname).or_default() |= kept;
    }
    let gone: BTreeSet<String> =
        names.into_iter().filter(|(_, kept)| !kept).map(|(name, _)| name.to_owned()).collect();
    gone.into_iter().collect()
}

fn below_link(library: &Library) -> Option<&Path> {
    library.file.strip_prefix(LINK).ok()
}

/// Whether a directory below the link is among those that ldconfig looks into.
fn is_configured(host: &Host) -> bool {
    let folder = fs::read_dir(host.system("/etc/ld.so.conf.d")).into_iter().flatten().flatten();
    let files = folder.map(|entry| entry.path()).chain([host.system("/etc/ld.so.conf")]);
    let mut lines: Vec<PathBuf> = Vec::new();
    for file in files {
        let text = text::read(&file).unwrap_or_default();
        lines.extend(text.lines().map(|line| PathBuf::from(line.trim())));
    }
    lines.iter().any(|line| line.starts_with(LINK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_lost_only_where_nothing_else_stands_for_it() {
        let library = |soname: &str, file: &str| Library { soname: soname.into(), file: file.into() };
        let libraries = [
            library("libcudart.so.11.0", "/usr/local/cuda/lib64/libcudart.so.11.0"),
            library("libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.12"),
            library("libcublas.so.11", "/usr/local/cuda/lib64/libcublas.so.11"),
            library("libcublas.so.11", "/usr/local/cuda-11.8/lib64/libcublas.so.11"),
            library("libcufft.so.10", "/usr/local/cuda/lib64/libcufft.so.10"),
            library("libcufft.so.10", "/usr/local/cuda/lib64/glibc-hwcaps/x86-64-v3/libcufft.so.10"),
            library("libfoo.so.1", "/usr/local/cuda-11/lib64/libfoo.so.1"),
            library("libz.so.1", "/lib/libz.so.1"),
        ];
        let there = |below: &Path| below == Path::new("lib64/libnvrtc.so.12");
        assert_eq!(lost(&libraries, &there), ["libcudart.so.11.0", "libcufft.so.10"]);
        assert_eq!(lost(&libraries, &|_| true), [""; 0]);
    }

    #[test]
    fn a_configured_directory_concerns_the_loader_before_there_is_a_cache() {
        let root = tempfile::tempdir().unwrap();
        let host = Host { sysroot: Some(root.path().to_path_buf()), ..Host::bare() };
        let folder = host.system("/etc/ld.so.conf.d");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.conf"), "# /usr/local/cuda/lib64\n/usr/local/cuda-12/lib64\n").unwrap();
        assert_eq!(look(&host, None), Loader::default());
        fs::write(folder.join("b.conf"), "  /usr/local/cuda/lib64\n").unwrap();
        assert!(look(&host, None).concerned);
    }
}
