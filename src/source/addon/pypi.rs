//! NVIDIA's wheels of its libraries: one project for each CUDA major.

use super::{AddonPlan, Wanted, absent, unasked, wheel_placement};
use crate::failure::{Exit, Failure};
use crate::source::plan::Part;
use crate::source::pypi::{Build, Index, Pin, WheelName, wheel};
use crate::source::query::Miss;
use cudaup_core::addon::Number;

/// The source's name.
pub const NAME: &str = crate::source::pypi::NAME;

/// The newest wheel that fits.
pub fn plan(wanted: &Wanted<'_>) -> Result<AddonPlan, Miss> {
    let index = Index { client: &wanted.reach.client, indexes: &wanted.reach.indexes };
    let project = format!("{}-cu{}", wanted.origin.project, wanted.cuda);
    let files = index.files(&project).map_err(|failure| unasked(wanted, failure))?.unwrap_or_default();
    let mut versions: Vec<(bool, Number)> = files
        .iter()
        .filter_map(|file| {
            let name = WheelName::parse(&file.file)?;
            name.rank(wanted.platform).filter(|_| !name.build.early())?;
            Some((!file.yanked, Number::parse(&name.build.numbers())?))
        })
        .collect();
    versions.sort();
    // A withdrawn version only where nothing else fits.
    let chosen = versions.iter().rfind(|(_, version)| wanted.accepts(version));
    let Some((_, version)) = chosen else {
        return Err(absent(wanted, NAME, versions.last().map(|(_, version)| version)));
    };
    let build = Build::parse(&version.to_string());
    let found = build.and_then(|build| wheel(&files, &Pin { project, build }, wanted.platform));
    let Some((file, name)) = found else { return Err(absent(wanted, NAME, Some(version))) };
    let sha256 = file.sha256.clone().ok_or_else(|| {
        let why = format!("the package index names no sha256 for {}, so it cannot be checked", file.file);
        unasked(wanted, Failure::new(Exit::BadBytes, why))
    })?;
    let withdrawn = format!("{} was withdrawn by NVIDIA, and there is no other", file.file);
    let size = file.size.unwrap_or_else(|| index.sizes(&[&file.url]).first().copied().unwrap_or(0));
    Ok(AddonPlan {
        library: wanted.library,
        version: version.clone(),
        cuda: wanted.cuda,
        platform: wanted.platform,
        source: NAME,
        part: Part {
            name: wanted.library.name.to_owned(),
            version: name.build.to_string(),
            url: file.url.clone(),
            local: None,
            file: file.file.clone(),
            sha256,
            size,
            unpacked: None,
            placement: wheel_placement(wanted.library, wanted.cuda, &name.records),
        },
        notes: if file.yanked { vec![withdrawn] } else { Vec::new() },
        passed: Vec::new(),
    })
}
