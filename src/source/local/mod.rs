//! What `--from` names on this machine: an unpacked toolkit, an archive of one, a folder of NVIDIA's redistributable
//! archives, a mirror, or NVIDIA's own installer. Only looked at: nothing of it is ever written to.

mod archive;
mod folder;
mod peek;
mod tree;

#[cfg(test)]
mod tests;

pub use archive::installer;

use crate::failure::{Exit, Failure};
use crate::source::plan::{Part, Placement, Plan, WHOLE};
use crate::source::profile::{Profile, Wish};
use crate::source::query::Query;
use cudaup_core::builds::RELEASES;
use cudaup_core::disk::Disk;
use cudaup_core::identity::Identity;
use cudaup_core::version::Version;
use std::fs;
use std::path::{Path, PathBuf};

/// The source's name.
pub const NAME: &str = "local";

/// What `--from` was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file or a directory, absolute.
    Path(PathBuf),
    /// An address of an archive, loaded before it is looked at.
    Url(String),
}

impl Origin {
    /// Reads what was typed in the directory `cwd`.
    pub fn read(typed: &std::ffi::OsStr, cwd: Option<&Path>) -> Self {
        if let Some(text) = typed.to_str() {
            let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
            if matches!(scheme.as_deref(), Some("http" | "https")) {
                return Self::Url(text.to_owned());
            }
            if let Some(path) = text.strip_prefix("file://").filter(|path| path.starts_with('/')) {
                return Self::Path(path.into());
            }
        }
        Self::Path(cwd.map_or_else(|| PathBuf::from(typed), |cwd| cwd.join(typed)))
    }
}

/// What installing from a path would unpack or copy. `disk` answers as the rules want it.
pub fn plan(query: &Query<'_>, path: &Path, disk: &dyn Disk) -> Result<Plan, Failure> {
    let real = fs::canonicalize(path).map_err(|e| Failure::io("read", path, &e))?;
    let found = fs::metadata(&real).map_err(|e| Failure::io("read", path, &e))?;
    if found.is_dir() {
        return match folder::plan(query, &real)? {
            Some(plan) => Ok(plan),
            None => tree::plan(query, &real, disk),
        };
    }
    if !found.is_file() {
        return Err(nothing_here(path, "it is neither a file nor a directory"));
    }
    archive::plan(query, &real, found.len())
}

/// The failure of a path that holds no toolkit in any form.
fn nothing_here(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("{} is nothing to install from: {why}", path.display()))
        .hint("cudaup install --from PATH: an unpacked toolkit, a .tar.xz or .tar.gz of one, NVIDIA's .run file,")
        .hint("a folder of NVIDIA's redistributable archives, or what `cudaup mirror` made")
}

/// Puts one archive or directory that holds the whole toolkit into a plan.
fn whole(
    query: &Query<'_>,
    version: Version,
    path: &Path,
    sizes: (u64, Option<u64>),
    placement: Placement,
) -> Plan {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let part = Part {
        name: WHOLE.to_owned(),
        version: version.to_string(),
        url: path.to_string_lossy().into_owned(),
        local: Some(path.to_path_buf()),
        file,
        sha256: String::new(),
        size: sizes.0,
        unpacked: sizes.1,
        placement,
    };
    let mut notes = Vec::new();
    if *query.wish != Wish::of(Profile::Default) {
        notes.push("it is taken whole: --profile and --components choose among separate parts".to_owned());
    }
    Plan {
        version,
        platform: query.platform,
        source: NAME,
        profile: Profile::Full,
        parts: vec![part],
        missing: Vec::new(),
        notes,
        passed: Vec::new(),
    }
}

/// The exact version of what was found, which what was asked for has to agree with. Where the contents fit several updates,
/// what was asked for decides.
fn agreed(asked: Option<Version>, found: &Identity, path: &Path) -> Result<Version, Failure> {
    let shown = path.display();
    let fitting: Vec<Version> = match found.either.as_slice() {
        [] if found.version.is_exact() => vec![found.version],
        [] => {
            let known = RELEASES.iter().map(|r| r.version);
            let mut fitting: Vec<Version> = known.filter(|v| found.version.accepts(*v)).collect();
            // A release newer than the table: what was asked for is taken, if the contents do not speak against it.
            fitting
                .extend(asked.filter(|a| a.is_exact() && found.version.accepts(*a) && !fitting.contains(a)));
            fitting
        }
        several => several.to_vec(),
    };
    let wanted: Vec<Version> =
        fitting.iter().copied().filter(|v| asked.is_none_or(|asked| asked.accepts(*v))).collect();
    match (wanted.as_slice(), asked) {
        ([one], _) => Ok(*one),
        ([], Some(asked)) => {
            let failure = Failure::new(
                Exit::NoVersion,
                format!("{shown} holds CUDA {found}, and {asked} was asked for"),
            );
            Err(failure.hint(format!("cudaup install {} --from {shown}", found.version)))
        }
        (several, _) => {
            let list: Vec<String> = several.iter().map(ToString::to_string).collect();
            let which = if list.is_empty() { found.version.to_string() } else { list.join(" or ") };
            let failure = Failure::new(
                Exit::Usage,
                format!("what {shown} holds does not tell its update: it is CUDA {which}"),
            );
            let example = several.last().copied().unwrap_or(found.version);
            Err(failure
                .hint(format!("cudaup install {example} --from {shown}   (if you know that it is that)")))
        }
    }
}

/// The failure of a toolkit for other machines.
fn other_machine(path: &Path, machine: &str, query: &Query<'_>) -> Failure {
    Failure::failed(format!(
        "{} holds a toolkit for {machine}, and one for {} is wanted",
        path.display(),
        query.platform.machine()
    ))
}
