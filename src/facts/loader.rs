//! Which file the dynamic loader would take for a library's name.

use crate::elf::cache::{self, Library};
use crate::elf::header::{self, Image};
use crate::host::Host;
use std::path::{Path, PathBuf};

/// What the loader goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loader {
    /// The directories of LD_LIBRARY_PATH, in order; an empty element is the current directory.
    pub path: Vec<PathBuf>,
    /// The libraries of LD_PRELOAD.
    pub preload: Vec<PathBuf>,
    /// /etc/ld.so.cache, in its own order: of two entries for one name the first counts.
    pub cache: Vec<Library>,
    /// Where it looks last.
    pub last: Vec<PathBuf>,
}

/// What led the loader to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// RPATH in the file that asks.
    Rpath,
    /// LD_LIBRARY_PATH.
    Variable,
    /// RUNPATH in the file that asks.
    Runpath,
    /// /etc/ld.so.cache.
    Cache,
    /// The directories that it looks in last.
    Default,
}

impl By {
    /// For people and JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rpath => "RPATH",
            Self::Variable => "LD_LIBRARY_PATH",
            Self::Runpath => "RUNPATH",
            Self::Cache => "ld.so.cache",
            Self::Default => "default directories",
        }
    }
}

const LAST: [&str; 6] =
    ["/lib64", "/usr/lib64", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib", "/usr/lib"];

/// Reads what the loader goes by.
pub fn look(host: &Host) -> Loader {
    let list =
        |name: &str| host.var(name).map(|value| std::env::split_paths(value).collect()).unwrap_or_default();
    let cache = std::fs::read(host.system("/etc/ld.so.cache")).ok();
    let in_system =
        |library: Library| Library { file: host.system(&library.file.to_string_lossy()), ..library };
    Loader {
        path: list("LD_LIBRARY_PATH"),
        preload: list("LD_PRELOAD"),
        cache: cache
            .and_then(|bytes| cache::read(&bytes))
            .unwrap_or_default()
            .into_iter()
            .map(in_system)
            .collect(),
        last: LAST.map(|path| host.system(path)).to_vec(),
    }
}

impl Loader {
    /// The file that is taken for a name that `asking` needs, which lies in `origin`. Files for another machine are passed over.
    /// Source: ld.so(8).
    pub fn find(&self, name: &str, asking: &Image, origin: &Path) -> Option<(PathBuf, By)> {
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|file| file.is_file()).map(|file| (file, By::Default));
        }
        let expanded = |list: &Option<String>| -> Vec<PathBuf> {
            let text = list.as_deref().unwrap_or_default();
            let here = origin.to_string_lossy();
            let expand =
                |entry: &str| PathBuf::from(entry.replace("${ORIGIN}", &here).replace("$ORIGIN", &here));
            text.split(':').filter(|entry| !entry.is_empty()).map(expand).collect()
        };
        let fits = |file: PathBuf| {
            // A FIFO would be waited for.
            let file = Some(file).filter(|file| file.is_file())?;
            let image = header::open(&file).ok()?;
            (image.machine == asking.machine).then_some(file)
        };
        let within = |directories: &[PathBuf], by: By| {
            directories.iter().map(|directory| directory.join(name)).find_map(fits).map(|file| (file, by))
        };
        let cached = || {
            let files = self
                .cache
                .iter()
                .filter(|library| library.soname == name)
                .map(|library| library.file.clone());
            files.into_iter().find_map(fits).map(|file| (file, By::Cache))
        };
        let rpath = if asking.runpath.is_none() { expanded(&asking.rpath) } else { Vec::new() };
        within(&rpath, By::Rpath)
            .or_else(|| within(&self.path, By::Variable))
            .or_else(|| within(&expanded(&asking.runpath), By::Runpath))
            .or_else(cached)
            .or_else(|| within(&self.last, By::Default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::Machine;
    use std::fs;

    #[test]
    fn places_are_asked_in_the_loaders_order() {
        let root = tempfile::tempdir().unwrap();
        let put = |place: &str| {
            let directory = root.path().join(place);
            fs::create_dir_all(&directory).unwrap();
            fs::copy("/proc/self/exe", directory.join("libx.so.1")).unwrap();
            directory
        };
        let (own, variable, cached, last) = (put("app/lib"), put("variable"), put("cached"), put("last"));
        let mut loader = Loader {
            path: vec![root.path().join("nosuch"), variable.clone()],
            cache: vec![Library { soname: "libx.so.1".into(), file: cached.join("libx.so.1") }],
            last: vec![last.clone()],
            ..Loader::default()
        };
        let origin = root.path().join("app");
        let runpath =
            Image { runpath: Some("$ORIGIN/lib".into()), machine: Machine::here(), ..Image::default() };
        let rpath = Image { rpath: Some("${ORIGIN}/lib".into()), ..runpath.clone() };
        let only_rpath = Image { runpath: None, ..rpath.clone() };
        let found = |loader: &Loader, image: &Image| loader.find("libx.so.1", image, &origin);
        let at = |directory: &Path, by| Some((directory.join("libx.so.1"), by));
        assert_eq!(found(&loader, &only_rpath), at(&own, By::Rpath));
        assert_eq!(found(&loader, &rpath), at(&variable, By::Variable));
        loader.path.clear();
        assert_eq!(found(&loader, &runpath), at(&own, By::Runpath));
        let plain = Image { runpath: None, ..runpath };
        assert_eq!(found(&loader, &plain), at(&cached, By::Cache));
        loader.cache.clear();
        assert_eq!(found(&loader, &plain), at(&last, By::Default));
        fs::write(last.join("libx.so.1"), "no ELF").unwrap();
        assert_eq!(found(&loader, &plain), None);
    }
}
