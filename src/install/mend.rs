//! Gives a merged tree what NVIDIA's own installer gives it and the downloaded parts lack: links, stubs for the driver's
//! libraries, nvcc.profile, modes, pkg-config files and version.json. Links that lead nowhere are taken out.
//!
//! All links are relative, so that the tree can be moved. What is there already stays, and a second run makes nothing.

pub mod addon;
mod dangling;
mod libraries;
mod modes;
mod pkg_config;
mod profile;
#[cfg(test)]
mod tests;
mod version_json;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cudaup_core::version::Version;

use crate::disk::{atomic, tree};
use crate::elf::{Machine, stub};
use crate::failure::Failure;
use crate::install::headers;

/// What mending has to know of a tree.
#[derive(Clone, Debug)]
pub struct MendFacts<'a> {
    /// The toolkit's exact version.
    pub version: Version,
    /// The directory below `targets/`: `x86_64-linux` or `sbsa-linux`.
    pub target: &'a str,
    /// Name and version of each redist component in the tree.
    pub components: &'a [(String, String)],
}

/// Mends a tree and gives the paths of the files and links that it made, relative to the tree and sorted.
pub fn mend(tree: &Path, facts: &MendFacts) -> Result<Vec<String>, Failure> {
    let mut work = Work { tree, made: BTreeSet::new() };
    let (include, lib) =
        (format!("targets/{}/include", facts.target), format!("targets/{}/lib", facts.target));
    dangling::remove(&work, &["bin", "nvvm", "compute-sanitizer", &include, &lib])?;
    for (root, place) in [("include", &include), ("lib64", &lib), ("lib", &lib)] {
        work.link(root, place)?;
    }
    compiler_library(&mut work, &include, &lib)?;
    drivers_stubs(&mut work, facts, &include, &lib)?;
    for (name, file) in libraries::unversioned(&work.names(&lib)?) {
        work.link(&format!("{lib}/{name}"), &file)?;
    }
    for (name, file) in libraries::unversioned(&work.names("nvvm/lib64")?) {
        work.link(&format!("nvvm/lib64/{name}"), &file)?;
    }
    if work.is_there(&format!("{include}/cupti.h")) {
        work.link("extras/CUPTI/include", &format!("../../{include}"))?;
        work.link("extras/CUPTI/lib64", &format!("../../{lib}"))?;
    }
    work.link("bin/compute-sanitizer", "../compute-sanitizer/compute-sanitizer")?;
    profile::write(&mut work, &include)?;
    pkg_config::write(&mut work, facts.version, &lib)?;
    if !facts.components.is_empty() {
        work.file("version.json", version_json::text(facts.version, facts.components).as_bytes())?;
    }
    modes::settle(tree)?;
    Ok(work.made.into_iter().collect())
}

/// nvlink opens `nvvm/lib64/libnvvm.so` and looks nowhere else; the wheels have the library beside the others.
fn compiler_library(work: &mut Work, include: &str, lib: &str) -> Result<(), Failure> {
    for name in work.names(lib)? {
        if name.starts_with("libnvvm.so.") {
            work.link(&format!("nvvm/lib64/{name}"), &format!("../../{lib}/{name}"))?;
        }
    }
    work.link("nvvm/include/nvvm.h", &format!("../../{include}/nvvm.h"))
}

/// What a stub's functions return: that it is a stub, and that the library was not found.
const CUDA_ERROR_STUB_LIBRARY: u8 = 34;
const NVML_ERROR_LIBRARY_NOT_FOUND: u8 = 12;

/// These are declared in a header that a small toolkit may lack.
const PROFILER: [&str; 3] = ["cuProfilerInitialize", "cuProfilerStart", "cuProfilerStop"];

fn drivers_stubs(work: &mut Work, facts: &MendFacts, include: &str, lib: &str) -> Result<(), Failure> {
    let Some(machine) = Machine::of_target(facts.target) else { return Ok(()) };
    let cuda = ["cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h"];
    let stubs = [
        ("libcuda.so", cuda.as_slice(), "cu", PROFILER.as_slice(), CUDA_ERROR_STUB_LIBRARY),
        ("libnvidia-ml.so", &["nvml.h"], "nvml", &[], NVML_ERROR_LIBRARY_NOT_FOUND),
    ];
    for (name, files, prefix, always, answer) in stubs {
        let place = format!("{lib}/stubs/{name}");
        let mut functions = BTreeSet::new();
        for file in files {
            functions.append(&mut headers::functions(&work.text(&format!("{include}/{file}"))?, prefix));
        }
        if functions.is_empty() || work.is_there(&place) {
            continue;
        }
        functions.extend(always.iter().map(|&name| name.to_owned()));
        let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
        work.file(&place, &stub::write(&format!("{name}.1"), &functions, machine, answer))?;
    }
    Ok(())
}

/// The tree, and what was made in it.
struct Work<'a> {
    tree: &'a Path,
    made: BTreeSet<String>,
}

impl Work<'_> {
    fn path(&self, place: &str) -> PathBuf {
        self.tree.join(place)
    }

    fn is_there(&self, place: &str) -> bool {
        self.path(place).exists()
    }

    /// The names in a directory, sorted; none where there is no such directory.
    fn names(&self, place: &str) -> Result<Vec<String>, Failure> {
        let path = self.path(place);
        match tree::names(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            names => names.map_err(|error| Failure::io("list", &path, &error)),
        }
    }

    /// The text of a file; empty where there is no such file.
    fn text(&self, place: &str) -> Result<String, Failure> {
        match fs::read(self.path(place)) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(Failure::io("read", &self.path(place), &error)),
        }
    }

    /// A link to what `target` names from the link's own directory, where that is there and nothing is in the way. A link
    /// that leads nowhere is replaced.
    fn link(&mut self, place: &str, target: &str) -> Result<(), Failure> {
        let path = self.path(place);
        let aim = self.path(place.rsplit_once('/').map_or("", |(directory, _)| directory)).join(target);
        // `extras/CUPTI/..` can only be looked up once the directory is there.
        if !plain(&aim).exists() || path.exists() {
            return Ok(());
        }
        directory_of(&path)?;
        if path.is_symlink() {
            fs::remove_file(&path).map_err(|error| Failure::io("remove", &path, &error))?;
        }
        std::os::unix::fs::symlink(target, &path).map_err(|error| Failure::io("link", &path, &error))?;
        self.made.insert(place.to_owned());
        Ok(())
    }

    /// A file with these contents, put in place by a rename: the tree may be in use when a part is added.
    fn file(&mut self, place: &str, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.path(place);
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        directory_of(&path)?;
        // Writing would go to where the link leads, to nvcc for instance.
        if path.is_symlink() {
            fs::remove_file(&path).map_err(|error| Failure::io("remove", &path, &error))?;
        }
        atomic::write(&path, bytes)?;
        self.made.insert(place.to_owned());
        Ok(())
    }
}

fn directory_of(path: &Path) -> Result<(), Failure> {
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(|error| Failure::io("create", directory, &error))
}

/// The path with its `..` taken out by text; the directories before them are none of the links that are made here.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}
