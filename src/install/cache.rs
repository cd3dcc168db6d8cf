//! What lies in the cache, and taking it away: archives, part-finished downloads, manifests, logs, and what killed installs
//! left half unpacked.

use crate::disk::lock::Lock;
use crate::disk::{staging, tree};
use crate::failure::{Exit, Failure};
use crate::install::look::downloads;
use crate::ui::talk::Talk;
use cudaup_core::home::Home;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a file of the cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A whole archive: one that `cache.keep` keeps, or that waits for an install to be tried again.
    Archive,
    /// The beginning of one, to be gone on with.
    Begun,
    /// What sources say of their releases.
    Lists,
    /// What compilers said in a proof that failed.
    Log,
    /// A toolkit that was being put together, or removed, when that was killed.
    Unfinished,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Archive, Self::Begun, Self::Lists, Self::Log, Self::Unfinished];

    /// For tables and JSON.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Archive => "archives",
            Self::Begun => "part-finished downloads",
            Self::Lists => "lists of releases",
            Self::Log => "logs",
            Self::Unfinished => "unfinished installs",
        }
    }
}

/// How much there is of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Files, or directories of unfinished installs.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What came of cleaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// What went.
    pub freed: BTreeMap<Kind, Amount>,
    /// What stayed because it is in use, each in words.
    pub kept: Vec<String>,
}

/// One file or directory, and what it is.
struct Item {
    kind: Kind,
    path: PathBuf,
    /// The lock that whoever uses it holds.
    lock: Option<PathBuf>,
}

/// How much there is of each kind.
pub fn size(home: &Home) -> Result<BTreeMap<Kind, Amount>, Failure> {
    let mut amounts = BTreeMap::new();
    for item in items(home)? {
        add(&mut amounts, item.kind, &item.path)?;
    }
    Ok(amounts)
}

/// Removes all that no running process uses.
pub fn clean(home: &Home, talk: &Talk) -> Result<Cleaned, Failure> {
    let mut cleaned = Cleaned::default();
    // An install that has loaded its archives holds no lock of theirs any more, and would have to load them again.
    let mut running = None;
    for folder in names(&home.staging())? {
        if staging::is_lock(&folder) {
            running = running.or(taken(&home.staging().join(&folder), "the staging area", talk)?.err());
        }
    }
    for item in items(home)? {
        let download = matches!(item.kind, Kind::Archive | Kind::Begun);
        if let Some(busy) = running.as_ref().filter(|_| download) {
            cleaned.kept.push(format!("{}: {busy}", shown(&item.path)));
            continue;
        }
        let held = match &item.lock {
            None => None,
            Some(lock) => match taken(lock, "it", talk)? {
                Ok(lock) => Some(lock),
                Err(busy) => {
                    cleaned.kept.push(format!("{}: {busy}", shown(&item.path)));
                    continue;
                }
            },
        };
        let mut amount = BTreeMap::new();
        add(&mut amount, item.kind, &item.path)?;
        tree::remove(&item.path)?;
        drop(held);
        for (kind, gone) in amount {
            let freed = cleaned.freed.entry(kind).or_default();
            freed.files += gone.files;
            freed.bytes += gone.bytes;
        }
    }
    Ok(cleaned)
}

/// A lock, or in words who holds it.
fn taken(lock: &Path, what: &str, talk: &Talk) -> Result<Result<Lock, String>, Failure> {
    match Lock::acquire(lock, what, Duration::ZERO, &|line| talk.say(line)) {
        Ok(lock) => Ok(Ok(lock)),
        Err(busy) if busy.exit == Exit::Busy => {
            Ok(Err(busy.message.split(", waited").next().unwrap_or_default().to_owned()))
        }
        Err(failure) => Err(failure),
    }
}

fn shown(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn items(home: &Home) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    let folder = downloads(home);
    for name in names(&folder)? {
        let (whole, kind) = match name.strip_suffix(".part").or_else(|| name.strip_suffix(".part.json")) {
            Some(whole) => (whole, Kind::Begun),
            // Whoever holds it removes it; one that nobody holds goes when it is asked for.
            None if name.strip_suffix(".lock").is_some() => continue,
            None => (name.as_str(), Kind::Archive),
        };
        let lock = Some(folder.join(format!("{whole}.lock")));
        items.push(Item { kind, path: folder.join(&name), lock });
    }
    for name in names(&home.cache())? {
        let path = home.cache().join(&name);
        if path == folder {
            continue;
        }
        let kind = name.strip_suffix(".log").map_or(Kind::Lists, |_| Kind::Log);
        items.push(Item { kind, path, lock: None });
    }
    let left = staging::left_in(home).map_err(|e| Failure::io("list", home.path(), &e))?;
    items.extend(left.into_iter().map(|left| Item {
        kind: Kind::Unfinished,
        path: left.path,
        lock: left.lock,
    }));
    Ok(items)
}

/// The names in a directory, sorted; none where there is none.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    match tree::names(folder) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        names => names.map_err(|e| Failure::io("list", folder, &e)),
    }
}

/// Counts a file, or the files of a directory. One that another process has just removed is none.
fn add(amounts: &mut BTreeMap<Kind, Amount>, kind: Kind, path: &Path) -> Result<(), Failure> {
    let bytes = match tree::size(path) {
        Ok(bytes) => bytes,
        Err(_) if !path.exists() => return Ok(()),
        Err(failure) => return Err(failure),
    };
    let amount = amounts.entry(kind).or_default();
    amount.files += 1;
    amount.bytes += bytes;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    const QUIET: Talk = Talk { quiet: true, verbose: false, terminal: false };

    fn home() -> (TempDir, Home) {
        let root = TempDir::new().unwrap();
        let home = Home::new(root.path().join("home"));
        for (name, bytes) in [
            ("cache/downloads/a.tar.xz", 100),
            ("cache/downloads/b.whl", 20),
            ("cache/downloads/c.whl.part", 7),
            ("cache/downloads/c.whl.part.json", 2),
            ("cache/manifests/redistrib_12.4.1.json", 40),
            ("cache/12.4.1-proof.log", 3),
            ("staging/installing-12.4.1/bin/nvcc", 1000),
            ("staging/removed-11.8.0-4711/bin/nvcc", 500),
            ("staging/mine/thesis", 9),
            ("toolkits/13.0.2/bin/nvcc", 5),
        ] {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![0; bytes]).unwrap();
        }
        (root, home)
    }

    fn amounts(map: &BTreeMap<Kind, Amount>) -> Vec<(Kind, u64, u64)> {
        map.iter().map(|(kind, amount)| (*kind, amount.files, amount.bytes)).collect()
    }

    #[test]
    fn all_of_it_is_counted_and_goes_and_nothing_else() {
        let (_root, home) = home();
        let all = [
            (Kind::Archive, 2, 120),
            (Kind::Begun, 2, 9),
            (Kind::Lists, 1, 40),
            (Kind::Log, 1, 3),
            (Kind::Unfinished, 2, 1500),
        ];
        assert_eq!(amounts(&size(&home).unwrap()), all);
        let cleaned = clean(&home, &QUIET).unwrap();
        assert_eq!((amounts(&cleaned.freed), cleaned.kept.len()), (all.to_vec(), 0));
        assert_eq!(size(&home).unwrap(), BTreeMap::new());
        assert!(home.path().join("staging/mine/thesis").exists() && home.toolkit("13.0.2").exists());
        assert!(names(&downloads(&home)).unwrap().is_empty(), "no lock stays");
        assert_eq!(clean(&home, &QUIET).unwrap(), Cleaned::default());
    }

    #[test]
    fn an_empty_home_has_nothing() {
        let root = TempDir::new().unwrap();
        let home = Home::new(root.path().join("none"));
        assert_eq!(size(&home).unwrap(), BTreeMap::new());
        assert_eq!(clean(&home, &QUIET).unwrap(), Cleaned::default());
        assert!(!home.path().exists());
    }

    #[test]
    fn what_is_being_loaded_stays() {
        let (_root, home) = home();
        let lock = downloads(&home).join("c.whl.lock");
        let _held = Lock::acquire(&lock, "c", Duration::ZERO, &|_| {}).unwrap();
        let cleaned = clean(&home, &QUIET).unwrap();
        assert_eq!(names(&downloads(&home)).unwrap(), ["c.whl.lock", "c.whl.part", "c.whl.part.json"]);
        assert!(cleaned.kept[0].starts_with("c.whl.part: it is in use by pid "), "{:?}", cleaned.kept);
    }

    #[test]
    fn a_running_install_keeps_its_archives_and_its_tree() {
        let (_root, home) = home();
        let lock = home.staging().join("installing-12.4.1.lock");
        let _held = Lock::acquire(&lock, "toolkit 12.4.1", Duration::ZERO, &|_| {}).unwrap();
        let cleaned = clean(&home, &QUIET).unwrap();
        assert!(downloads(&home).join("a.tar.xz").exists());
        assert!(home.staging().join("installing-12.4.1/bin/nvcc").exists());
        assert!(!home.staging().join("removed-11.8.0-4711").exists());
        assert_eq!(amounts(&cleaned.freed).len(), 3);
        assert!(
            cleaned.kept[0].starts_with("a.tar.xz: the staging area is in use by pid "),
            "{:?}",
            cleaned.kept
        );
    }
}
