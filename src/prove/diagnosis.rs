//! Why a proof failed: for a cause outside the toolkit, or because the toolkit is broken. Pure: from what was seen to words.

use std::io;
use std::path::Path;

use cudaup_core::version::Version;

use super::Proof;
use crate::elf::Machine;
use crate::process::Finished;
use crate::toolkit::host_compiler::{Choice, Compiler, Verdict};

/// Functions that a newer glibc declares otherwise than the headers of an older toolkit: the function, the first glibc
/// that has it, the first toolkit that knows of it.
const CLASHES: [(&str, &str, &str); 3] =
    [("rsqrt", "2.42", "13.2"), ("cospi", "2.41", "13.0"), ("sinpi", "2.41", "13.0")];

fn unproved(reason: impl Into<String>, remedy: impl Into<String>) -> Proof {
    Proof::Unproved { reason: reason.into(), remedy: remedy.into() }
}

/// nvcc is for another machine than this one.
pub fn other_machine(machine: Option<Machine>) -> Proof {
    let name = |machine: Option<Machine>| machine.map_or("another machine", Machine::name);
    let reason =
        format!("its programs are for {}, this machine is {}", name(machine), std::env::consts::ARCH);
    unproved(reason, format!("use it on {}", name(machine)))
}

/// The loader that nvcc is started by is not on this system.
pub fn no_loader(loader: &str) -> Proof {
    let reason = format!("its programs need glibc ({loader}), which this system does not have");
    unproved(reason, "use a distribution with glibc, or install glibc beside this system's C library")
}

/// The system refused to start nvcc.
pub fn not_started(nvcc: &Path, may_run: bool, error: &io::Error) -> Proof {
    if error.kind() == io::ErrorKind::PermissionDenied && may_run {
        let reason = format!("programs cannot be started here: {}: permission denied", nvcc.display());
        return unproved(
            reason,
            "keep toolkits on a file system that is not mounted noexec: set CUDAUP_HOME",
        );
    }
    let reason = format!("{} could not be started: {}", nvcc.display(), crate::failure::plain_io(error));
    Proof::Broken { reason, log: String::new() }
}

/// nvcc hands its own path and that of its temporary files to a shell between double quotes, where these characters mean
/// something: at best it fails, at worst the shell runs what the path says.
pub fn path_for_a_shell(path: &Path) -> Option<Proof> {
    let text = path.to_string_lossy();
    let sign = text.chars().find(|sign| matches!(sign, '"' | '$' | '`' | '\n'))?;
    let reason = format!("nvcc cannot work below a path that holds {sign:?}: {text}");
    Some(unproved(reason, "keep toolkits below a path without such signs: set CUDAUP_HOME"))
}

/// What is wrong with nvcc's answer to `--version`, if anything.
pub fn wrong_answer(answer: &Finished, version: Version) -> Option<Proof> {
    let wanted = Version { update: None, ..version };
    if answer.succeeded() && release(&answer.output).is_some_and(|found| wanted.accepts(found)) {
        return None;
    }
    if let Some(glibc) =
        answer.output.split_once("version `GLIBC_").and_then(|(_, rest)| rest.split('\'').next())
    {
        let reason = format!("its programs need glibc {glibc}, newer than this system's");
        return Some(unproved(reason, "use a newer distribution, or an older toolkit"));
    }
    let reason = match (answer.status, release(&answer.output)) {
        (None, _) => "nvcc --version did not end".to_owned(),
        (Some(status), Some(found)) if status.success() => {
            format!("nvcc answers that it is {found}, not {wanted}")
        }
        (Some(status), _) => format!("nvcc --version failed ({status})"),
    };
    Some(Proof::Broken { reason, log: format!("nvcc --version\n{}", answer.output) })
}

/// `..., release 12.4, V12.4.131` is 12.4.
fn release(answer: &str) -> Option<Version> {
    let (_, rest) = answer.split_once("release ")?;
    Version::parse(rest.split([',', '\n', ' ']).next()?.trim())
}

/// No compiler of this machine fits.
pub fn no_compiler(choice: &Choice, version: Version) -> Proof {
    let release = Version { update: None, ..version };
    match choice {
        Choice::Unfit(compiler, Verdict::TooNew(most)) => {
            let (family, title) = (compiler.family.program(), compiler.title());
            let package = format!("{}-{most}", family.replace("clang++", "clang"));
            unproved(
                format!("{title} is too new for CUDA {release}, which takes {family} up to {most}"),
                format!(
                    "install {family}-{most} beside it (Debian, Ubuntu: apt install {package}); it is then found by its name"
                ),
            )
        }
        Choice::Unfit(compiler, Verdict::TooOld(least)) => {
            let (family, title) = (compiler.family.program(), compiler.title());
            unproved(
                format!("{title} is too old for CUDA {release}, which takes {family} from {least} on"),
                format!("install a newer {family}; {family}-N on PATH is found by its name"),
            )
        }
        _ => unproved(
            "there is no g++ on PATH",
            "install g++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)",
        ),
    }
}

/// Whether it was for want of room, which says nothing of the toolkit.
pub fn out_of_room(output: &str) -> Option<io::ErrorKind> {
    let said = |words: &str| output.contains(words);
    if said("No space left on device") {
        return Some(io::ErrorKind::StorageFull);
    }
    said("Disk quota exceeded").then_some(io::ErrorKind::QuotaExceeded)
}

/// nvcc did not compile the program; `alone` is what the host compiler made of one that needs no toolkit.
pub fn not_compiled(command: &str, trial: &Finished, compiler: &Compiler, alone: &Finished) -> Proof {
    let said = trial.output.as_str();
    let title = compiler.title();
    if !alone.succeeded() {
        let why = first_error(&alone.output).map_or_else(String::new, |line| format!(": {line}"));
        let remedy =
            "install the whole C++ compiler with its headers and libraries (Debian, Ubuntu: apt install g++)";
        return unproved(format!("{title} does not compile a plain C++ program here{why}"), remedy);
    }
    if let Some(clash) = said.lines().find(|line| line.contains("exception specification is incompatible"))
        && let Some((function, glibc, fixed)) = CLASHES.iter().find(|(function, ..)| clash.contains(function))
    {
        let reason = format!(
            "this system's glibc ({glibc} or newer) and the toolkit's headers declare {function} differently"
        );
        return unproved(
            reason,
            format!("use CUDA {fixed} or newer here, or a container with glibc older than {glibc}"),
        );
    }
    if let Some(refusal) = said.lines().find(|line| line.contains("unsupported") && line.contains("version!"))
    {
        let words = refusal.split("-- ").nth(1).unwrap_or(refusal);
        let words = words.split(" The nvcc flag").next().unwrap_or(words).trim();
        return unproved(format!("nvcc does not take {title}: {words}"), "install an older g++-N beside it");
    }
    let reason = match trial.status {
        None => "compiling a small program did not end".to_owned(),
        Some(status) => {
            let why = first_error(said).map_or_else(|| status.to_string(), str::to_owned);
            format!("nvcc did not compile a small program with {title}: {why}")
        }
    };
    Proof::Broken { reason, log: format!("{command}\n{said}") }
}

/// The line of a compiler's output that says what was wrong.
fn first_error(output: &str) -> Option<&str> {
    let telling =
        ["error", "fatal", "cannot find", "not found", "undefined reference", "No such file", "denied"];
    let line = output.lines().find(|line| telling.iter().any(|word| line.contains(word)));
    line.or_else(|| output.lines().find(|line| !line.trim().is_empty())).map(str::trim)
}
