//! Whether a tree that was found can serve, by its files alone: what is broken in it, in words. Nothing is started.

use crate::disk::{Disk, Entry, Unread};
use crate::layout;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a tree cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A link that leads to nothing; where it leads in the end.
    Dangling(PathBuf),
    /// A link to what this user cannot reach; where it leads.
    Unreachable(PathBuf),
    /// A link that leads back to itself.
    Circle,
    /// Its directory cannot be read.
    Closed,
    /// A file stands in its place.
    NoDirectory,
    /// No search list can name it.
    OddPath,
    /// It has libraries and no nvcc.
    NoNvcc,
    /// Its nvcc is a link that leads to nothing, or a script for a program that is not there; where it leads.
    NvccGone(PathBuf),
    /// Its nvcc may not be executed.
    NotExecutable,
    /// Its nvcc is neither a program nor a script: empty, for one.
    NoProgram,
    /// Its nvcc is the beginning of a program: a full disk or a broken copy left the rest out.
    CutShort,
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
            Self::Unreachable(_) => "not-reachable",
            Self::Circle => "link-circle",
            Self::Closed => "not-readable",
            Self::NoDirectory => "no-directory",
            Self::OddPath => "odd-path",
            Self::NoNvcc => "no-nvcc",
            Self::NvccGone(_) => "nvcc-gone",
            Self::NotExecutable => "nvcc-not-executable",
            Self::NoProgram => "nvcc-no-program",
            Self::CutShort => "nvcc-cut-short",
            Self::OnlyFails(_) => "nvcc-fails",
            Self::NoHeaders => "no-headers",
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dangling(target) => write!(f, "it leads to {}, which is not there", target.display()),
            Self::Unreachable(target) => {
                write!(f, "it leads to {}, which this user cannot reach", target.display())
            }
            Self::Circle => f.write_str("it is a link that leads back to itself"),
            Self::Closed => f.write_str("its directory cannot be read"),
            Self::NoDirectory => f.write_str("it is no directory"),
            Self::OddPath => {
                f.write_str("its path has `:` or a line end in it, so that no search list can name it")
            }
            Self::NoNvcc => f.write_str("it has no nvcc"),
            Self::NvccGone(target) => write!(f, "its nvcc leads to {}, which is not there", target.display()),
            Self::NotExecutable => f.write_str("its nvcc may not be executed"),
            Self::NoProgram => f.write_str("its nvcc is no program"),
            Self::CutShort => f.write_str("its nvcc is cut short"),
            Self::OnlyFails(said) if said.is_empty() => f.write_str("its nvcc fails without a word"),
            Self::OnlyFails(said) => write!(f, "its nvcc says: {said}"),
            Self::NoHeaders => f.write_str("it has no headers"),
        }
    }
}

/// What is broken in the toolkit at a root.
pub fn broken(root: &Path, disk: &dyn Disk) -> Option<Broken> {
    if is_odd(root) {
        return Some(Broken::OddPath);
    }
    if disk.names(root).is_none() {
        return Some(if disk.is_dir(root) { Broken::Closed } else { Broken::NoDirectory });
    }
    let places = || layout::INCLUDE.iter().map(|place| root.join(place));
    let headers = || places().any(|place| has_headers(&place, disk));
    let hidden = || places().find_map(|place| unreachable(&place.join("cuda.h"), disk));
    broken_nvcc(&root.join("bin/nvcc"), disk)
        .or_else(|| (!headers()).then(|| hidden().unwrap_or(Broken::NoHeaders)))
}

/// What is broken in a toolkit of a home of cudaup: never its headers, since it may have been put together part by part. What has
/// a receipt, which is not read here, needs no nvcc either.
pub fn broken_managed(root: &Path, disk: &dyn Disk) -> Option<Broken> {
    match broken_nvcc(&root.join("bin/nvcc"), disk)? {
        Broken::NoNvcc if disk.is_file(&root.join(RECEIPT)) => None,
        Broken::NoNvcc if disk.names(root).is_none() => {
            Some(if disk.is_dir(root) { Broken::Closed } else { Broken::NoDirectory })
        }
        broken => Some(broken),
    }
}

/// What marks a tree that cudaup has put together.
pub const RECEIPT: &str = "receipt.json";

/// Whether what lies at a path is hidden by a directory that this user may not search.
pub fn unreachable(path: &Path, disk: &dyn Disk) -> Option<Broken> {
    matches!(disk.read(path, 0), Err(Unread::Unreachable)).then_some(Broken::Closed)
}

/// Whether no search list can name a directory.
pub fn is_odd(directory: &Path) -> bool {
    directory.as_os_str().as_encoded_bytes().iter().any(|b| matches!(b, b':' | b'\n'))
}

/// What a link leads to that leads to nothing.
pub fn dead_end(link: &Path, disk: &dyn Disk) -> Option<Broken> {
    let mut at = disk.target(link).map(|target| beside(link, &target, disk))?;
    // As many as the kernel follows.
    for _ in 0..40 {
        match disk.target(&at) {
            Some(target) => at = beside(&at, &target, disk),
            None if unreachable(&at, disk).is_some() => return Some(Broken::Unreachable(at)),
            None => return Some(Broken::Dangling(at)),
        }
    }
    Some(Broken::Circle)
}

/// What a link means by its target.
fn beside(link: &Path, target: &Path, disk: &dyn Disk) -> PathBuf {
    match target.to_str().filter(|_| target.is_absolute()) {
        Some(target) => disk.system(target),
        None => link.parent().unwrap_or(link).join(target),
    }
}

/// What is broken in an nvcc.
pub fn broken_nvcc(nvcc: &Path, disk: &dyn Disk) -> Option<Broken> {
    match disk.kind(nvcc) {
        Some(Entry::File) => {}
        Some(_) => return Some(Broken::NoProgram),
        None => {
            return Some(match dead_end(nvcc, disk) {
                Some(Broken::Dangling(target)) => Broken::NvccGone(target),
                Some(Broken::Unreachable(_)) => Broken::Closed,
                Some(_) => Broken::NvccGone(nvcc.to_path_buf()),
                None => unreachable(nvcc, disk).unwrap_or(Broken::NoNvcc),
            });
        }
    }
    if !disk.is_program(nvcc) {
        return Some(Broken::NotExecutable);
    }
    // One that may be run and not read says nothing of itself.
    let head = disk.head(nvcc, HEAD)?;
    if head.starts_with(ELF) {
        return is_cut(&head, nvcc, disk).then_some(Broken::CutShort);
    }
    if !head.starts_with(b"#!") {
        return Some(Broken::NoProgram);
    }
    let script = String::from_utf8_lossy(&head);
    only_fails(&script).map(Broken::OnlyFails).or_else(|| behind(&script, disk))
}

/// What is wrong with the program of a wrapper that names one by its path.
fn behind(wrapper: &str, disk: &dyn Disk) -> Option<Broken> {
    let line = wrapper.lines().find_map(|line| line.trim().strip_prefix("exec /"))?;
    let program = format!("/{}", line.split_whitespace().next()?);
    // What the shell makes of it is not known here.
    let plain = !program.contains(['$', '"', '\'', '`', '\\', '*', '~']);
    if !plain {
        return None;
    }
    let place = disk.system(&program);
    if !disk.is_file(&place) {
        return Some(Broken::NvccGone(program.into()));
    }
    let head = disk.head(&place, HEAD).filter(|head| head.starts_with(ELF))?;
    is_cut(&head, &place, disk).then_some(Broken::CutShort)
}

/// How an ELF file begins.
const ELF: &[u8] = b"\x7fELF";

/// As much of a program as tells whether it is whole: its header and the table of its segments.
const HEAD: usize = 4096;

/// The kind of a segment that is loaded out of the file.
const LOADED: u64 = 1;

/// Whether an ELF file is shorter than its own tables say: the last thing in it is the table of its sections, which only
/// few programs lack.
fn is_cut(head: &[u8], file: &Path, disk: &dyn Disk) -> bool {
    disk.length(file).is_some_and(|length| needs(head).is_none_or(|needed| needed > length))
}

/// The bytes that an ELF file has to have by its header and segments; `None` where not even the header is whole. One that
/// is not of 64 bits and little-endian is for no machine of these days, and is not judged.
fn needs(head: &[u8]) -> Option<u64> {
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let bytes = head.get(at..at.checked_add(bytes)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    if head.get(4..6)? != [2, 1] {
        return Some(0);
    }
    let end = |at: u64, size: u64, count: u64| at.saturating_add(size.saturating_mul(count));
    let segments = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let (sections, section, count) = (number(40, 8)?, number(58, 2)?, number(60, 2)?);
    let mut needed = end(segments.0, segments.1, segments.2);
    if sections != 0 {
        // Where there are too many to count, the first one says how many.
        needed = needed.max(end(sections, section, count.max(1)));
    }
    let each = (0..segments.2).map_while(|n| usize::try_from(end(segments.0, segments.1, n)).ok());
    // Those behind the beginning that was read are left out.
    let ends = each.map_while(|at| {
        let field = |offset: usize, bytes| number(at.checked_add(offset)?, bytes);
        let (kind, from, size) = (field(0, 4)?, field(8, 8)?, field(32, 8)?);
        Some(if kind == LOADED { end(from, size, 1) } else { 0 })
    });
    Some(ends.fold(needed, u64::max))
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
    fn an_elf_file_says_how_long_it_is() {
        let mut head = vec![0; 120];
        head[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        head[32] = 64;
        head[54] = 56;
        head[56] = 1;
        assert_eq!(needs(&head), Some(120), "the table of segments itself");
        head[64 + 8] = 16;
        assert_eq!(needs(&head), Some(120), "a segment that is not loaded");
        head[64] = 1;
        head[64 + 33] = 4;
        assert_eq!(needs(&head), Some(16 + 1024), "a segment");
        head[41] = 16;
        head[58] = 64;
        assert_eq!(needs(&head), Some(4096 + 64), "sections without a count are at least one");
        head[60] = 30;
        assert_eq!(needs(&head), Some(4096 + 30 * 64));
        assert_eq!(needs(&head[..100]), Some(4096 + 30 * 64), "what was not read is not judged");
        assert_eq!(needs(&head[..60]), None);
        head[64 + 8..64 + 16].fill(0xff);
        assert_eq!(needs(&head), Some(u64::MAX), "no sum that wraps");
        head[4] = 1;
        assert_eq!(needs(&head), Some(0), "32 bits");
        assert_eq!(needs(b"\x7fELF"), None);
    }

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
