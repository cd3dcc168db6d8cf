//! A file system that is a map.

use cudaup_core::disk::{Disk, Entry, Unread};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What lies at a path.
#[derive(Clone, Debug)]
pub enum Node {
    /// A file and its bytes.
    File(Vec<u8>),
    /// A link and its absolute target.
    Link(PathBuf),
    /// A file that cannot be opened.
    Closed,
    /// A FIFO.
    Fifo,
    /// A file that may not be executed.
    NoProgram,
    /// A directory that cannot be read.
    Locked,
}

/// Files and links by path; directories are what lies above them.
#[derive(Clone, Debug, Default)]
pub struct MapDisk(pub BTreeMap<PathBuf, Node>);

impl MapDisk {
    pub fn with(mut self, path: &str, content: &str) -> Self {
        self.0.insert(path.into(), Node::File(content.into()));
        self
    }

    pub fn node(mut self, path: &str, node: Node) -> Self {
        self.0.insert(path.into(), node);
        self
    }

    /// An add-on at a directory.
    pub fn addon(self, root: &str) -> Self {
        self.with(&format!("{root}/include/x.h"), "").with(&format!("{root}/lib/libx.so"), "")
    }

    /// A toolkit of NVIDIA's layout.
    pub fn toolkit(self, root: &str, version: &str) -> Self {
        self.with(&format!("{root}/bin/nvcc"), "#!/bin/sh\n")
            .with(&format!("{root}/lib64/libcudart.so"), "")
            .with(&format!("{root}/lib64/stubs/libcuda.so"), "")
            .with(&format!("{root}/include/cuda.h"), "")
            .with(&format!("{root}/extras/CUPTI/lib64/libcupti.so"), "")
            .with(&format!("{root}/version.json"), &format!(r#"{{"cuda":{{"version":"{version}"}}}}"#))
    }
}

impl MapDisk {
    /// Debian's package of 11.5, beside other programs and libraries of the system.
    pub fn debian(self) -> Self {
        self.with("/usr/bin/nvcc", "#!/bin/sh\n\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n")
            .with("/usr/lib/nvidia-cuda-toolkit/bin/nvcc", "release 11.5, V11.5.119")
            .with("/usr/lib/x86_64-linux-gnu/libcudart.so.11.5.117", "")
            .with("/usr/lib/cuda/include/cuda.h", "")
            .with("/usr/include/cuda.h", "#define CUDA_VERSION 11050\n")
            .with("/usr/bin/python3", "")
    }
}

impl Disk for MapDisk {
    fn read(&self, path: &Path, limit: usize) -> Result<Vec<u8>, Unread> {
        let Some(path) = self.real(path) else { return Err(Unread::Absent) };
        match self.0.get(&path) {
            Some(Node::File(bytes)) if bytes.len() > limit => Err(Unread::TooLarge),
            Some(Node::File(bytes)) => Ok(bytes.clone()),
            Some(Node::Closed) => Err(Unread::Refused("permission denied".into())),
            Some(Node::Fifo) => Err(Unread::NotAFile("a FIFO")),
            Some(Node::NoProgram) => Ok(Vec::new()),
            Some(Node::Link(_)) => Err(Unread::Absent),
            Some(Node::Locked) | None => Err(Unread::NotAFile("a directory")),
        }
    }

    fn head(&self, path: &Path, length: usize) -> Option<Vec<u8>> {
        let mut bytes = self.read(path, usize::MAX).ok()?;
        bytes.truncate(length);
        Some(bytes)
    }

    fn names(&self, directory: &Path) -> Option<Vec<(OsString, Entry)>> {
        let directory = self.real(directory)?;
        if self.0.contains_key(&directory) {
            return None;
        }
        let mut names: BTreeMap<OsString, Entry> = BTreeMap::new();
        for (path, node) in self.0.range(directory.clone()..) {
            let Ok(below) = path.strip_prefix(&directory) else { break };
            let mut parts = below.components();
            let Some(first) = parts.next() else { continue };
            let kind = match (parts.next(), node) {
                (Some(_), _) | (None, Node::Locked) => Entry::Directory,
                (None, Node::Link(_)) => Entry::Link,
                (None, Node::Fifo) => Entry::Other,
                (None, _) => Entry::File,
            };
            names.insert(first.as_os_str().into(), kind);
        }
        Some(names.into_iter().collect())
    }

    fn kind(&self, path: &Path) -> Option<Entry> {
        let path = self.real(path)?;
        match self.0.get(&path) {
            Some(Node::File(_) | Node::Closed | Node::NoProgram) => Some(Entry::File),
            Some(Node::Locked) | None => Some(Entry::Directory),
            Some(_) => Some(Entry::Other),
        }
    }

    fn is_program(&self, path: &Path) -> bool {
        self.is_file(path)
            && !self.real(path).is_some_and(|p| matches!(self.0.get(&p), Some(Node::NoProgram)))
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.follow(path, 40)
    }

    fn target(&self, link: &Path) -> Option<PathBuf> {
        match self.0.get(link) {
            Some(Node::Link(target)) => Some(target.clone()),
            _ => None,
        }
    }

    fn system(&self, path: &str) -> PathBuf {
        path.into()
    }
}

impl MapDisk {
    /// A path without any link in it, of which so many are followed.
    fn follow(&self, path: &Path, links: usize) -> Option<PathBuf> {
        for above in path.ancestors() {
            if let Some(Node::Link(target)) = self.0.get(above) {
                let below = path.strip_prefix(above).ok()?;
                let next = if below.as_os_str().is_empty() { target.clone() } else { target.join(below) };
                return self.follow(&next, links.checked_sub(1)?);
            }
        }
        // What lies below a path comes next behind it.
        let (next, _) = self.0.range(path.to_path_buf()..).next()?;
        next.starts_with(path).then(|| path.to_path_buf())
    }
}

/// A map that remembers its answers.
pub struct Remembered {
    map: MapDisk,
    reads: RefCell<HashMap<OsString, Result<Vec<u8>, Unread>>>,
    names: RefCell<HashMap<OsString, Names>>,
    kinds: RefCell<HashMap<OsString, Option<Entry>>>,
    programs: RefCell<HashMap<OsString, bool>>,
    reals: RefCell<HashMap<OsString, Option<PathBuf>>>,
    targets: RefCell<HashMap<OsString, Option<PathBuf>>>,
}

type Names = Option<Vec<(OsString, Entry)>>;

impl Remembered {
    pub fn of(map: MapDisk) -> Self {
        Self {
            map,
            reads: RefCell::default(),
            names: RefCell::default(),
            kinds: RefCell::default(),
            programs: RefCell::default(),
            reals: RefCell::default(),
            targets: RefCell::default(),
        }
    }
}

fn remembered<T: Clone>(
    known: &RefCell<HashMap<OsString, T>>,
    path: &Path,
    ask: impl FnOnce(&Path) -> T,
) -> T {
    if let Some(answer) = known.borrow().get(path.as_os_str()) {
        return answer.clone();
    }
    let answer = ask(path);
    known.borrow_mut().insert(path.as_os_str().to_owned(), answer.clone());
    answer
}

impl Disk for Remembered {
    fn read(&self, path: &Path, limit: usize) -> Result<Vec<u8>, Unread> {
        match remembered(&self.reads, path, |p| self.map.read(p, usize::MAX)) {
            Ok(bytes) if bytes.len() > limit => Err(Unread::TooLarge),
            answer => answer,
        }
    }

    fn head(&self, path: &Path, length: usize) -> Option<Vec<u8>> {
        let mut bytes = self.read(path, usize::MAX).ok()?;
        bytes.truncate(length);
        Some(bytes)
    }

    fn names(&self, directory: &Path) -> Option<Vec<(OsString, Entry)>> {
        remembered(&self.names, directory, |p| self.map.names(p))
    }

    fn kind(&self, path: &Path) -> Option<Entry> {
        remembered(&self.kinds, path, |p| self.map.kind(p))
    }

    fn is_program(&self, path: &Path) -> bool {
        remembered(&self.programs, path, |p| self.map.is_program(p))
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        remembered(&self.reals, path, |p| self.map.real(p))
    }

    fn target(&self, link: &Path) -> Option<PathBuf> {
        remembered(&self.targets, link, |p| self.map.target(p))
    }

    fn system(&self, path: &str) -> PathBuf {
        path.into()
    }
}
