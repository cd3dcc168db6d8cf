//! The one tree that several archives make: who has which place, and what becomes of a file that two of them bring.
//!
//! What comes second to a place is written aside, never over or through what is there, and compared at the end: the same
//! bytes are no matter, else the part that comes first in the plan has it, in whatever order the archives were unpacked.

use super::guard::{Claimed, Claims, Kind, Print, Refusal};
use super::target::{self, Target};
use crate::failure::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// A tree in the making.
#[derive(Debug)]
pub struct Merge {
    target: Target,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    claims: Claims,
    links: BTreeMap<String, String>,
    rivals: Vec<Rival>,
    aside: Option<TempDir>,
}

/// What came second to a place.
#[derive(Debug)]
struct Rival {
    part: usize,
    path: String,
    body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Body {
    File(PathBuf),
    Link(String),
}

/// Where a file is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// To its place in the tree.
    Place(String),
    /// Aside.
    Aside(PathBuf),
    /// Nowhere: it is there.
    There,
}

/// A file or link that another part's was preferred to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its place.
    pub path: String,
    /// The part that brought it.
    pub part: usize,
    /// The part whose file is there.
    pub to: usize,
}

/// What an archive brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Its files and links in the tree, each once.
    pub files: BTreeSet<String>,
    /// The bytes of its files.
    pub bytes: u64,
}

impl Merge {
    /// For a directory that exists and that nobody else writes.
    pub fn new(root: &Path) -> Self {
        Self { target: Target::new(root), state: Mutex::default() }
    }

    /// Makes a directory.
    pub fn directory(&self, path: &str) -> Result<(), Failure> {
        self.target.directory(path)
    }

    /// Takes the place of a directory; making it is for later.
    pub fn claim_directory(&self, part: usize, path: &str) -> Result<(), Refusal> {
        self.state().claims.claim(part, path, &Kind::Directory, None).map(drop)
    }

    /// Takes the place of a file. `print` is what its archive says of it beforehand.
    pub fn claim_file(&self, part: usize, path: &str, print: Option<Print>) -> Result<Claimed, Refusal> {
        self.state().claims.claim(part, path, &Kind::File { executable: false }, print)
    }

    /// Where a file goes that has claimed its place.
    pub fn spot(&self, part: usize, path: &str, claimed: Claimed) -> Result<Spot, Failure> {
        match claimed {
            Claimed::New => Ok(Spot::Place(path.to_owned())),
            Claimed::Same => Ok(Spot::There),
            Claimed::Rival => {
                let mut state = self.state();
                let number = state.rivals.len().to_string();
                let aside = state.aside(self.target.root())?.join(number);
                let body = Body::File(aside.clone());
                state.rivals.push(Rival { part, path: path.to_owned(), body });
                Ok(Spot::Aside(aside))
            }
        }
    }

    /// Takes the place of a link, which is made after every file. `print` as for files.
    pub fn link(&self, part: usize, path: &str, to: String, print: Option<Print>) -> Result<(), Refusal> {
        let mut state = self.state();
        if state.claims.claim(part, path, &Kind::Link, print)? == Claimed::New {
            state.links.insert(path.to_owned(), to);
        } else {
            state.rivals.push(Rival { part, path: path.to_owned(), body: Body::Link(to) });
        }
        Ok(())
    }

    /// A new file at its spot, and where that is; `None`: there is nothing to write.
    pub fn create(&self, spot: &Spot, executable: bool) -> Result<Option<(File, PathBuf)>, Failure> {
        let Some(full) = self.full(spot)? else { return Ok(None) };
        Ok(Some((target::create(&full, executable)?, full)))
    }

    /// A second name for a file of the same archive; where it is.
    pub fn second(&self, spot: &Spot, first: &Path) -> Result<Option<PathBuf>, Failure> {
        let Some(full) = self.full(spot)? else { return Ok(None) };
        target::second(first, &full)?;
        Ok(Some(full))
    }

    fn full(&self, spot: &Spot) -> Result<Option<PathBuf>, Failure> {
        match spot {
            Spot::Place(path) => self.target.prepare(path).map(Some),
            Spot::Aside(full) => Ok(Some(full.clone())),
            Spot::There => Ok(None),
        }
    }

    /// Settles what came twice, then makes the links: after every file, so that none can have been written through one.
    pub fn finish(self) -> Result<Vec<Lost>, Failure> {
        let Self { target, state } = self;
        let mut state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut contests: BTreeMap<String, Vec<(usize, Body)>> = BTreeMap::new();
        for rival in std::mem::take(&mut state.rivals) {
            contests.entry(rival.path).or_default().push((rival.part, rival.body));
        }
        let mut lost = Vec::new();
        for (path, mut all) in contests {
            let full = target.root().join(&path);
            let there =
                state.links.get(&path).map_or_else(|| Body::File(full.clone()), |to| Body::Link(to.clone()));
            all.insert(0, (state.claims.owner(&path).unwrap_or_default(), there.clone()));
            // Stable: of one part, what came first.
            all.sort_by_key(|(part, _)| *part);
            let mut all = all.into_iter();
            let Some((to, winner)) = all.next() else { continue };
            for (part, body) in all {
                if !same(&winner, &body)? {
                    lost.push(Lost { path: path.clone(), part, to });
                }
            }
            if winner != there {
                if let Body::File(old) = &there {
                    fs::remove_file(old).map_err(|e| Failure::io("remove", old, &e))?;
                }
                state.links.remove(&path);
                match winner {
                    Body::Link(to) => drop(state.links.insert(path, to)),
                    Body::File(aside) => {
                        fs::rename(&aside, &full).map_err(|e| Failure::io("create", &full, &e))?;
                    }
                }
            }
        }
        if let Some(aside) = state.aside {
            let path = aside.path().to_path_buf();
            aside.close().map_err(|e| Failure::io("remove", &path, &e))?;
        }
        for (path, to) in &state.links {
            target.link(path, to)?;
        }
        Ok(lost)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A directory with a name that no archive can know.
    fn aside(&mut self, root: &Path) -> Result<PathBuf, Failure> {
        if let Some(aside) = &self.aside {
            return Ok(aside.path().to_path_buf());
        }
        let made = TempDir::with_prefix_in(".aside-", root);
        let made = made.map_err(|e| Failure::io("create a directory in", root, &e))?;
        let path = made.path().to_path_buf();
        self.aside = Some(made);
        Ok(path)
    }
}

fn same(one: &Body, other: &Body) -> Result<bool, Failure> {
    match (one, other) {
        (Body::Link(one), Body::Link(other)) => Ok(one == other),
        (Body::File(one), Body::File(other)) => {
            same_bytes(one, other).map_err(|e| Failure::io("read", one, &e))
        }
        _ => Ok(false),
    }
}

fn same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let count = one.read(&mut left)?;
        let (Some(left), Some(right)) = (left.get(..count), right.get_mut(..count)) else { return Ok(false) };
        other.read_exact(right)?;
        if left != right || count == 0 {
            return Ok(count == 0);
        }
    }
}

#[cfg(test)]
mod tests;
