//! Which release a tree is, without starting a program and never by the directory's name.

use crate::builds::releases_of;
use crate::disk::{Disk, Entry};
use crate::json;
use crate::layout::{INCLUDE, LIB};
use crate::version::Version;
use std::path::{Path, PathBuf};

/// Which release a tree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The release; without an update where the contents fit several.
    pub version: Version,
    /// The releases that the contents fit, where they fit more than one.
    pub either: Vec<Version>,
}

impl Identity {
    /// A release that is known for certain.
    pub const fn certain(version: Version) -> Self {
        Self { version, either: Vec::new() }
    }

    fn of(releases: Vec<Version>) -> Option<Self> {
        match releases.as_slice() {
            [] => None,
            [one] => Some(Self::certain(*one)),
            [first, rest @ ..] => {
                let minor = first.minor.filter(|_| rest.iter().all(|v| v.minor == first.minor));
                let version = Version { major: first.major, minor, update: None };
                Some(Self { version, either: releases })
            }
        }
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.either.as_slice() {
            [] => self.version.fmt(f),
            [first, rest @ ..] => {
                first.fmt(f)?;
                rest.iter().try_for_each(|v| write!(f, " or {v}"))
            }
        }
    }
}

/// What a directory turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A toolkit of a known release.
    Toolkit(Identity),
    /// A toolkit whose release nothing in it names.
    Unnamed,
    /// A toolkit whose programs are for another machine; the word is the machine's name.
    OtherMachine(&'static str),
    /// Neither nvcc nor a CUDA runtime library is in it.
    NotAToolkit,
}

/// The files that say which release a toolkit is.
#[derive(Clone, Debug)]
pub struct Files {
    /// The directory that may hold version.json and version.txt.
    pub about: Option<PathBuf>,
    /// The compiler.
    pub nvcc: PathBuf,
    /// Directories of libraries.
    pub lib: Vec<PathBuf>,
    /// Where cuda.h may be.
    pub headers: Vec<PathBuf>,
}

/// Looks at a tree.
pub fn identify(root: &Path, machine: &str, disk: &dyn Disk) -> Tree {
    let files = Files {
        about: Some(root.to_path_buf()),
        nvcc: root.join("bin/nvcc"),
        lib: LIB.iter().map(|place| root.join(place)).collect(),
        headers: INCLUDE.iter().map(|place| root.join(place).join("cuda.h")).collect(),
    };
    examine(&files, machine, disk)
}

/// Looks at version.json, version.txt, the runtime library's file name, cuda.h, and what nvcc would print, in this order.
/// The last is read out of the program, which is not started.
pub fn examine(files: &Files, machine: &str, disk: &dyn Disk) -> Tree {
    let libraries = library_names(&files.lib, disk);
    if !disk.is_file(&files.nvcc) && !libraries.iter().any(|n| n.starts_with("libcudart")) {
        return Tree::NotAToolkit;
    }
    let other = disk.head(&files.nvcc, 20).and_then(|head| machine_of(&head));
    if let Some(other) = other.filter(|m| *m != machine) {
        return Tree::OtherMachine(other);
    }
    let cudart = build_of(&libraries, "libcudart.so.");
    let cublas = build_of(&libraries, "libcublas.so.");
    let read = |name: &str| {
        let file = files.about.as_ref()?.join(name);
        disk.read(&file, 1024 * 1024).ok().map(|b| String::from_utf8_lossy(&b).into_owned())
    };
    let about = read("version.json");
    let named = about.as_ref().and_then(|text| from_json(text, cudart.as_deref()));
    let named = named.or_else(|| read("version.txt").and_then(|text| from_version_txt(&text)));
    let named = named.or_else(|| from_builds(None, cudart.as_deref(), cublas.as_deref()));
    let header = || {
        let text = files.headers.iter().find_map(|header| disk.head(header, 64 * 1024))?;
        from_header(&text)
    };
    let program = || {
        let bytes = disk.read(&files.nvcc, MOST_OF_NVCC).ok()?;
        from_builds(Some(build_in_program(&bytes)?), cudart.as_deref(), cublas.as_deref())
    };
    // The program says the update that a build date in place of it does not.
    let dated = || about.as_ref().and_then(|text| from_date(text));
    named.or_else(header).or_else(program).or_else(dated).map_or(Tree::Unnamed, Tree::Toolkit)
}

/// nvcc of 13.0 has 30 MB.
const MOST_OF_NVCC: usize = 256 * 1024 * 1024;

/// The build number in nvcc itself, which holds the text that it prints: `release 12.4, V12.4.131`.
fn build_in_program(bytes: &[u8]) -> Option<&str> {
    const BEFORE: &[u8] = b"release ";
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|b| *b == b'r') {
        rest = rest.get(at..)?;
        if rest.starts_with(BEFORE) {
            let line = rest.get(..rest.len().min(48))?;
            let end = line.iter().position(|b| !(b' '..=b'~').contains(b)).unwrap_or(line.len());
            let found = line.get(..end).and_then(|l| std::str::from_utf8(l).ok()).and_then(nvcc_build);
            if found.is_some() {
                return found;
            }
        }
        rest = rest.get(1..)?;
    }
    None
}

/// What `nvcc --version` says of the tree, as a build number such as 12.4.131, with what the libraries' names say.
pub fn from_nvcc(build: &str, root: &Path, disk: &dyn Disk) -> Option<Identity> {
    let lib: Vec<PathBuf> = LIB.iter().map(|place| root.join(place)).collect();
    let libraries = library_names(&lib, disk);
    from_builds(
        Some(build),
        build_of(&libraries, "libcudart.so.").as_deref(),
        build_of(&libraries, "libcublas.so.").as_deref(),
    )
}

/// The build number in the text that `nvcc --version` prints: what follows `, V` on the line with `release`.
pub fn nvcc_build(text: &str) -> Option<&str> {
    let line = text.lines().find(|l| l.contains("release ") && l.contains(", V"))?;
    let build = line.split(", V").nth(1)?.trim();
    let build = build.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    Version::parse(build).filter(Version::is_exact).map(|_| build)
}

/// A file that names an older major names no release.
const OLDEST: u32 = 5;

fn from_json(text: &str, cudart_file: Option<&str>) -> Option<Identity> {
    let versions = json::versions(text);
    let of = |name: &str| versions.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let is_release = |v: &Version| v.is_exact() && v.update < Some(10) && v.major >= OLDEST;
    if let Some(version) = of("cuda").and_then(Version::parse).filter(is_release) {
        return Some(Identity::certain(version));
    }
    // Some files name a component's build there, as 12.2.140; a date has more digits.
    let build =
        of("cuda").filter(|text| Version::parse(text).is_some_and(|v| v.is_exact() && v.major >= OLDEST));
    from_builds(of("cuda_nvcc").or(build), of("cuda_cudart").or(cudart_file), of("libcublas"))
}

/// As much of a release as a build date in the place of the update leaves: 12.1 of 12.1.20230222.
fn from_date(text: &str) -> Option<Identity> {
    let versions = json::versions(text);
    let (_, text) = versions.iter().find(|(name, _)| name == "cuda")?;
    let mut numbers = text.split('.').map(|number| number.parse::<u32>().ok());
    let (major, minor) = (numbers.next()??, numbers.next()??);
    (major >= OLDEST).then(|| Identity::certain(Version::release(major, minor)))
}

fn from_version_txt(text: &str) -> Option<Identity> {
    let build = text.trim().strip_prefix("CUDA Version ")?.split_whitespace().next()?;
    from_builds(Some(build), None, None)
}

fn from_builds(nvcc: Option<&str>, cudart: Option<&str>, cublas: Option<&str>) -> Option<Identity> {
    let known = Identity::of(releases_of(nvcc, cudart, cublas));
    known.or_else(|| {
        let build = Version::parse(nvcc.or(cudart)?)?;
        Some(Identity::certain(Version { update: None, ..build })).filter(|_| build.minor.is_some())
    })
}

fn from_header(bytes: &[u8]) -> Option<Identity> {
    let text = String::from_utf8_lossy(bytes);
    let number =
        text.lines().find_map(|l| l.strip_prefix("#define CUDA_VERSION "))?.trim().parse::<u32>().ok()?;
    Some(Identity::certain(Version::release(number / 1000, number % 1000 / 10)))
        .filter(|_| number >= OLDEST * 1000)
}

fn library_names(lib: &[PathBuf], disk: &dyn Disk) -> Vec<String> {
    let mut names: Vec<String> = lib
        .iter()
        .filter_map(|directory| disk.names(directory))
        .flatten()
        .filter(|(_, kind)| *kind != Entry::Directory)
        .filter_map(|(name, _)| name.into_string().ok())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The numbers after `prefix` in the name that has at least three: `libcudart.so.12.4.127` gives 12.4.127.
fn build_of(names: &[String], prefix: &str) -> Option<String> {
    let build = |name: &String| name.strip_prefix(prefix).map(str::to_owned);
    names
        .iter()
        .filter_map(build)
        .find(|b| b.split('.').count() >= 3 && b.bytes().all(|c| c.is_ascii_digit() || c == b'.'))
}

/// The machine that an ELF file's first 20 bytes name, as `uname -m` spells it.
pub fn machine_of(head: &[u8]) -> Option<&'static str> {
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    Some(match (head.get(18)?, head.get(19)?) {
        (0x3e, 0) => "x86_64",
        (0xb7, 0) => "aarch64",
        (0x15, 0) => "ppc64le",
        _ => ANOTHER,
    })
}

const ANOTHER: &str = "another machine";

/// The name of a machine as `uname -m` spells it, where it is one that toolkits are made for.
pub fn machine_word(name: &[u8]) -> &'static str {
    ["x86_64", "aarch64", "ppc64le"].into_iter().find(|known| known.as_bytes() == name).unwrap_or(ANOTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_dates_in_version_json_are_not_versions() {
        let text = |cuda: &str, cudart: &str, nvcc: &str| {
            format!(
                r#"{{"cuda":{{"version":"{cuda}"}},"cuda_cudart":{{"version":"{cudart}"}},"cuda_nvcc":{{"version":"{nvcc}"}}}}"#
            )
        };
        let named = |t: String| from_json(&t, None).unwrap().to_string();
        assert_eq!(named(text("12.6.20241114", "12.6.77", "12.6.85")), "12.6.3");
        assert_eq!(named(text("11.8.20220929", "11.8.89", "11.8.89")), "11.8.0");
        assert_eq!(named(text("12.2.140", "12.2.140", "12.2.140")), "12.2.2");
        assert_eq!(named(text("12.4.1", "1", "1")), "12.4.1");
        let bare = r#"{"cuda":{"name":"CUDA SDK","version":"12.1.20230222"}}"#;
        assert_eq!(from_json(bare, None), None, "what else is in the tree may say more");
        assert_eq!(from_date(bare), Some(Identity::certain(Version::release(12, 1))));
        for no_release in ["0.0.0", "../../etc", "4294967296.1.1", "12", "", "12.4\n"] {
            let text = format!(r#"{{"cuda":{{"version":"{no_release}"}}}}"#);
            assert_eq!(from_json(&text, None).or_else(|| from_date(&text)), None, "{no_release}");
        }
    }

    #[test]
    fn what_nvcc_prints() {
        let four = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 10.1, V10.1.243\n";
        let five =
            "Cuda compilation tools, release 12.4, V12.4.131\nBuild cuda_12.4.r12.4/compiler.34097967_0\n";
        assert_eq!((nvcc_build(four), nvcc_build(five)), (Some("10.1.243"), Some("12.4.131")));
        assert_eq!(nvcc_build("nvcc-Error-CUDA version 10.2 was not installed with this HPC SDK:"), None);
    }

    #[test]
    fn what_nvcc_holds() {
        let program = b"\x7fELF rrelease  reloc release candidate\0Cuda compilation tools, release 12.4, V12.4.131\0more";
        assert_eq!(build_in_program(program), Some("12.4.131"));
        assert_eq!(build_in_program(b"release 12.4 without a build, r"), None);
        assert_eq!(build_in_program(b""), None);
    }

    #[test]
    fn other_sources() {
        assert_eq!(from_version_txt("CUDA Version 10.2.89\n").unwrap().to_string(), "10.2.0");
        assert_eq!(from_header(b"x\n#define CUDA_VERSION 12040\n").unwrap().to_string(), "12.4");
        assert_eq!(from_builds(Some("11.2.152"), None, None).unwrap().to_string(), "11.2");
        assert_eq!(from_builds(None, Some("11.5.117"), None).unwrap().to_string(), "11.5.1 or 11.5.2");
        assert_eq!(from_builds(None, Some("11.5.117"), None).unwrap().version, Version::release(11, 5));
    }

    #[test]
    fn machines() {
        let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\xb7\0".to_vec();
        assert_eq!(machine_of(&head), Some("aarch64"));
        head[18] = 0x3e;
        assert_eq!(machine_of(&head), Some("x86_64"));
        assert_eq!(machine_of(b"#!/bin/sh\nexec nvcc\n"), None);
    }
}
