//! Whether a tree that was found can serve, by its files alone: what is broken in it, in words. Nothing is started.

use crate::disk::Disk;
use crate::layout;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a tree cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A link that leads to nothing; where it leads.
    Dangling(PathBuf),
    /// Its directory cannot be read.
    Closed,
    /// It has libraries and no nvcc.
    NoNvcc,
    /// Its nvcc is a link that leads to nothing, or a script for a program that is not there; where it leads.
    NvccGone(PathBuf),
    /// Its nvcc may not be executed.
    NotExecutable,
    /// Its nvcc is a script that prints something and fails; what it prints.
    OnlyFails(String),
    /// It has no headers.
    NoHeaders,
}

impl Broken {
    /// One word for JSON.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Dangling(_) => "dangling-link",
            Self::Closed => "not-readable",
            Self::NoNvcc => "no-nvcc",
            Self::NvccGone(_) => "nvcc-gone",
            Self::NotExecutable => "nvcc-not-executable",
            Self::OnlyFails(_) => "nvcc-fails",
            Self::NoHeaders => "no-headers",
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dangling(target) => {
                write!(f, "it is a link to {}, which is not there", target.display())
            }
            Self::Closed => f.write_str("its directory cannot be read"),
            Self::NoNvcc => f.write_str("it has no nvcc"),
            Self::NvccGone(target) => write!(f, "its nvcc leads to {}, which is not there", target.display()),
            Self::NotExecutable => f.write_str("its nvcc may not be executed"),
            Self::OnlyFails(said) if said.is_empty() => f.write_str("its nvcc fails without a word"),
            Self::OnlyFails(said) => write!(f, "its nvcc says: {said}"),
            Self::NoHeaders => f.write_str("it has no headers"),
        }
    }
}

/// What is broken in the toolkit at a root.
pub fn broken(root: &Path, disk: &dyn Disk) -> Option<Broken> {
    if disk.names(root).is_none() {
        return Some(Broken::Closed);
    }
    let headers = || layout::INCLUDE.iter().any(|place| has_headers(&root.join(place), disk));
    broken_nvcc(&root.join("bin/nvcc"), disk).or_else(|| (!headers()).then_some(Broken::NoHeaders))
}

/// What is broken in an nvcc.
pub fn broken_nvcc(nvcc: &Path, disk: &dyn Disk) -> Option<Broken> {
    if !disk.is_file(nvcc) {
        let target = disk.target(nvcc);
        return Some(target.map_or(Broken::NoNvcc, Broken::NvccGone));
    }
    if !disk.is_program(nvcc) {
        return Some(Broken::NotExecutable);
    }
    let script =
        disk.head(nvcc, 2).is_some_and(|head| head == b"#!").then(|| disk.head(nvcc, 4096)).flatten();
    script.and_then(|text| only_fails(&String::from_utf8_lossy(&text))).map(Broken::OnlyFails)
}

/// Whether a directory holds the headers of CUDA: those of the driver, the runtime or the compiler.
pub fn has_headers(include: &Path, disk: &dyn Disk) -> bool {
    ["cuda.h", "cuda_runtime.h"].iter().any(|name| disk.is_file(&include.join(name)))
        || disk.is_dir(&include.join("crt"))
}

/// What a script prints that does nothing but print and fail, as NVIDIA's HPC SDK has it for a release that was not
/// installed with it.
fn only_fails(script: &str) -> Option<String> {
    let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let lines: Vec<&str> = lines.flat_map(commands).collect();
    let (last, before) = lines.split_last()?;
    let fails = *last == "false" || last.strip_prefix("exit ").is_some_and(|code| code.trim() != "0");
    let prints = |line: &&str| line.starts_with("echo ") || line.starts_with("printf ");
    // A line that starts something as well is more than printing.
    let plain = |line: &&str| {
        let line = line.replace(">&2", "");
        !line.contains("$(") && !line.contains(['`', '&', '|'])
    };
    (fails && before.iter().all(|line| prints(line) && plain(line))).then(|| {
        let first = before.first().copied().unwrap_or_default();
        let said = first.trim_start_matches("echo ").trim_start_matches("printf ");
        let said = said.split(" >").next().unwrap_or(said).trim();
        said.trim_matches(['"', '\'']).trim_end_matches("\\n").to_owned()
    })
}

/// The commands of a line, which `;` outside quotes parts.
fn commands(line: &str) -> Vec<&str> {
    let mut quote = None;
    let parts = line.split(|c: char| {
        match quote {
            Some(open) if open == c => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        c == ';' && quote.is_none()
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_only_fails_is_told_from_one_that_works() {
        let hpc = "#!/bin/sh\necho \"nvcc-Error-CUDA version 10.2 was not installed with this HPC SDK:\"\necho \"/opt/x\"\nexit 1\n";
        let said = "nvcc-Error-CUDA version 10.2 was not installed with this HPC SDK:";
        assert_eq!(only_fails(hpc).as_deref(), Some(said));
        assert_eq!(
            only_fails("#!/bin/bash\n# no\n\nprintf 'no nvcc\\n' >&2\nexit 127").as_deref(),
            Some("no nvcc")
        );
        assert_eq!(only_fails("#!/bin/sh\necho gone\nfalse").as_deref(), Some("gone"));
        assert_eq!(only_fails("#!/bin/sh\nexit 1\n").as_deref(), Some(""));
        assert_eq!(only_fails("#!/bin/sh\necho 'gone; for good'; exit 1").as_deref(), Some("gone; for good"));
        for works in [
            "#!/bin/sh\n\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n",
            "#!/bin/sh\necho starting\nexec nvcc.real \"$@\"\n",
            "#!/bin/sh\necho \"$(nvcc.real \"$@\")\"\nexit 1\n",
            "#!/bin/sh\necho x && nvcc.real\nexit 1\n",
            "#!/bin/sh\necho 'release 11.8, V11.8.89'\nexit 0\n",
            "#!/bin/sh\necho 'release 11.8, V11.8.89'\n",
            "#!/bin/sh\nexit 0\n",
            "#!/bin/sh\n",
            "",
        ] {
            assert_eq!(only_fails(works), None, "{works}");
        }
    }
}
