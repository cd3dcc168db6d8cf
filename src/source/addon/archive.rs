//! An archive that the user gives: a file or a directory on this machine, or an address.

use super::{AddonPlan, archive_placement, wheel_placement};
use crate::addon::{Origin, file_name, origin};
use crate::failure::{Exit, Failure};
use crate::source::plan::{Part, Placement, Platform, Rule};
use crate::source::pypi::WheelName;
use cudaup_core::addon::{Library, Number, library};
use std::path::Path;

/// What was given, and what was said of it on the command line.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// A path or an address.
    pub from: &'a str,
    /// The current directory.
    pub cwd: &'a Path,
    /// The library, where it was named.
    pub library: Option<&'static Library>,
    /// The version, where it was named.
    pub version: Option<&'a Number>,
    /// The CUDA major, where it was named.
    pub cuda: Option<u32>,
    /// The CUDA major of the toolkit that applies here, for an archive that says none.
    pub here: Option<u32>,
    /// This machine.
    pub platform: Platform,
}

/// The plan for what was given. What its name says and what was said have to agree.
pub fn given(given: &Given<'_>) -> Result<AddonPlan, Failure> {
    let is_address = given.from.starts_with("http://") || given.from.starts_with("https://");
    let path = given.cwd.join(given.from);
    let file = if is_address { given.from.split(['?', '#']).next().unwrap_or_default() } else { given.from };
    let file = file.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let found = if is_address { None } else { Some(size(&path)?) };
    let is_directory = found.is_some_and(|(is_directory, _)| is_directory);
    let said = file_name::read(&file);
    let named = given.library.or_else(|| library(said.as_ref()?.origin.name));
    let Some((library, origin)) = named.and_then(|l| Some((l, origin(l)?))) else {
        return Err(usage(format!("{file} is named like none of the libraries that cudaup knows"))
            .hint(format!("cudaup add cudnn@VERSION --cuda MAJOR --from {}", quoted(given.from))));
    };
    agree(given, &file, origin, said.as_ref())?;
    let version = said.as_ref().and_then(|s| s.version.clone()).or_else(|| given.version.cloned());
    let Some(version) = version else {
        return Err(usage(format!("{file} does not say its version in its name")).hint(format!(
            "cudaup add {}@VERSION --from {}",
            library.name,
            quoted(given.from)
        )));
    };
    let cuda = said.as_ref().and_then(|s| s.cuda).or(given.cuda).or(given.here);
    let Some(cuda) = cuda else {
        return Err(usage(format!(
            "{file} does not say in its name for which CUDA it is, and no toolkit applies here"
        ))
        .hint(format!("cudaup add {} --cuda MAJOR --from {}", library.name, quoted(given.from))));
    };
    Ok(AddonPlan {
        library,
        cuda,
        platform: given.platform,
        source: if is_address { "address" } else { "file" },
        part: Part {
            name: library.name.to_owned(),
            version: version.to_string(),
            url: given.from.to_owned(),
            local: (!is_address).then(|| path.clone()),
            placement: placement(library, &file, cuda, is_directory),
            file,
            sha256: String::new(),
            size: found.map_or(0, |(_, bytes)| bytes),
            unpacked: None,
        },
        version,
        notes: if is_address {
            vec!["nothing says its hash, so it is not checked".into()]
        } else {
            Vec::new()
        },
        passed: Vec::new(),
    })
}

fn placement(library: &'static Library, file: &str, cuda: u32, is_directory: bool) -> Placement {
    match WheelName::parse(file) {
        Some(name) => wheel_placement(library, cuda, &name.records),
        // NVIDIA's archives have one directory around everything; an unpacked one is that directory.
        None if is_directory => with_own_directory(cuda),
        None => archive_placement(cuda, 1),
    }
}

/// The rules for a directory: what it holds, and the folder `cuda` that older archives unpack to.
fn with_own_directory(cuda: u32) -> Placement {
    let mut placement = archive_placement(cuda, 0);
    let older: Vec<Rule> = placement
        .rules
        .iter()
        .filter(|rule| !rule.from.is_empty())
        .map(|rule| Rule { from: format!("cuda/{}", rule.from), to: rule.to.clone() })
        .chain([Rule { from: "cuda/".into(), to: Some(String::new()) }])
        .collect();
    placement.rules.splice(0..0, older);
    placement
}

/// Whether it is a directory, and its bytes.
fn size(path: &Path) -> Result<(bool, u64), Failure> {
    let found = std::fs::metadata(path).map_err(|e| Failure::io("read", path, &e))?;
    match () {
        () if found.is_dir() => Ok((true, crate::disk::tree::size(path)?)),
        () if found.is_file() => Ok((false, found.len())),
        () => Err(Failure::failed(format!("{} is neither a file nor a directory", path.display()))),
    }
}

/// Refuses what contradicts itself, and what is for another machine.
fn agree(
    given: &Given<'_>,
    file: &str,
    origin: &Origin,
    said: Option<&file_name::FileName>,
) -> Result<(), Failure> {
    let Some(said) = said else { return Ok(()) };
    let contradicts = |what: String, asked: String| {
        Err(Failure::failed(format!("{file} is {what} by its name, and {asked} was asked for")))
    };
    if said.origin.name != origin.name {
        return contradicts(said.origin.name.to_owned(), origin.name.to_owned());
    }
    if let (Some(is), Some(asked)) = (&said.version, given.version)
        && !asked.accepts(is)
    {
        return contradicts(is.to_string(), asked.to_string());
    }
    if let (Some(is), Some(asked)) = (said.cuda, given.cuda)
        && is != asked
    {
        return contradicts(format!("for CUDA {is}"), format!("CUDA {asked}"));
    }
    match said.machine.filter(|m| *m != given.platform.machine()) {
        Some(other) => Err(Failure::failed(format!(
            "{file} is for {other}, and this machine is {}",
            given.platform.machine()
        ))),
        None => Ok(()),
    }
}

fn usage(message: String) -> Failure {
    Failure::new(Exit::Usage, message)
}

fn quoted(text: &str) -> String {
    shell_words::quote(text).into_owned()
}
