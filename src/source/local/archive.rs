//! One archive: of a toolkit's tree, or NVIDIA's own installer.

use super::{NAME, agreed, folder, nothing_here, other_machine, peek, whole};
use crate::archive::format::Format;
use crate::archive::stream::Stream;
use crate::failure::{Exit, Failure};
use crate::source::plan::{Part, Placement, Plan, Rule};
use crate::source::query::Query;
use crate::source::runfile;
use cudaup_core::identity::{Identity, Tree};
use std::fs::File;
use std::path::Path;

/// What looking into an archive may take.
const MEMORY: u64 = 128 << 20;

/// What unpacking the archive comes to.
pub fn plan(query: &Query<'_>, path: &Path, size: u64) -> Result<Plan, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(part) = folder::Name::read(&name) {
        let why = format!(
            "it is one part ({}), and a toolkit has several; name the folder that has them",
            part.component
        );
        return Err(nothing_here(path, &why));
    }
    if let Some(plan) = installer(query, path, size) {
        let here = |part: Part| Part { local: Some(path.to_path_buf()), ..part };
        return plan.map(|plan| Plan { parts: plan.parts.into_iter().map(here).collect(), ..plan });
    }
    let Some(format @ (Format::Tar | Format::Run)) = Format::of(&name) else {
        return Err(nothing_here(path, "its name has no ending of an archive of a toolkit"));
    };
    let file = File::open(path).map_err(|e| Failure::io("read", path, &e))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let stream = Stream::open(file, format, cores, MEMORY).map_err(|why| {
        Failure::new(Exit::BadBytes, format!("{} cannot be read as an archive: {why}", path.display()))
    })?;
    let Some(seen) = peek::look(stream, path, query.platform.machine())? else {
        return Err(nothing_here(path, "there is no bin/nvcc in it"));
    };
    let identity = match seen.tree {
        Tree::Toolkit(identity) => identity,
        Tree::OtherMachine(machine) => return Err(other_machine(path, machine, query)),
        Tree::Unnamed | Tree::NotAToolkit => {
            return Err(nothing_here(path, "nothing in it tells which release it is"));
        }
    };
    let version = agreed(query.request, &identity, path)?;
    if seen.top.starts_with("builds/") {
        let placement = runfile::placement(query.wish, version, query.platform);
        let plan = whole(query, version, path, (size, None), placement);
        return Ok(Plan { profile: query.wish.profile, notes: Vec::new(), ..plan });
    }
    let strip = seen.top.matches('/').count();
    let rule = |from: &str, to: Option<&str>| Rule { from: from.to_owned(), to: to.map(str::to_owned) };
    let rules = vec![rule(crate::disk::record::RECEIPT, None), rule("", Some(""))];
    Ok(whole(query, version, path, (size, None), Placement { strip, rules }))
}

/// The plan of an installer of NVIDIA's whose name is known, wherever it is; `None`: it has another name.
pub fn installer(query: &Query<'_>, at: &Path, size: u64) -> Option<Result<Plan, Failure>> {
    let (runfile, platform) = runfile::known(at.file_name()?.to_str()?)?;
    if platform != query.platform {
        return Some(Err(other_machine(at, platform.machine(), query)));
    }
    let version = agreed(query.request, &Identity::certain(runfile.version), at);
    Some(version.map(|_| {
        let plan = runfile::of(query, runfile, at.to_string_lossy().into_owned(), size);
        Plan { source: NAME, ..plan }
    }))
}
