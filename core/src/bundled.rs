//! Python environments that bring CUDA libraries of their own: what stands in LD_LIBRARY_PATH is loaded before those.

use crate::activate::goes_before_libraries;
use crate::disk::{Disk, Entry};
use crate::refusal::Rule;
use crate::resolve::{Choice, World};
use crate::version::Version;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What names the environment that is active.
const ACTIVE: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];

/// A file that says a version is small.
const LONGEST: usize = 4096;

/// An environment with CUDA libraries of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Its directory.
    pub environment: PathBuf,
    /// Where the libraries lie; `None` where only torch tells of them.
    pub place: Option<PathBuf>,
    /// The version of its torch, and the CUDA release that this was built for.
    pub torch: Option<(String, Version)>,
}

/// The Python environment that is active here and has CUDA libraries of its own.
pub fn active(world: &World) -> Option<Bundle> {
    let named = ACTIVE.iter().filter_map(|name| world.vars.get(name)).filter(|value| !value.is_empty());
    named.map(Path::new).find_map(|environment| of(environment, world.disk))
}

/// The one in `.venv` of the current directory, which many activate without a word.
pub fn beside(world: &World) -> Option<Bundle> {
    of(&world.cwd?.join(".venv"), world.disk)
}

/// Looks into an environment. No Python is started.
fn of(environment: &Path, disk: &dyn Disk) -> Option<Bundle> {
    let library = environment.join("lib");
    let mut pythons = sorted(&library, disk);
    pythons.retain(|name| name.as_encoded_bytes().starts_with(b"python"));
    pythons.iter().map(|python| library.join(python).join("site-packages")).find_map(|packages| {
        let place = libraries(&packages, disk);
        let torch = disk.head(&packages.join("torch/version.py"), LONGEST);
        let torch = torch.and_then(|text| from_version_py(&String::from_utf8_lossy(&text)));
        let found = place.is_some() || torch.is_some();
        found.then(|| Bundle { environment: environment.to_path_buf(), place, torch })
    })
}

/// NVIDIA's wheels have their libraries in `nvidia/cublas/lib`, from 13 on in `nvidia/cu13/lib`; old ones of torch in `torch/lib`.
fn libraries(packages: &Path, disk: &dyn Disk) -> Option<PathBuf> {
    let nvidia = packages.join("nvidia");
    let of_wheels = sorted(&nvidia, disk).into_iter().map(|name| nvidia.join(name).join("lib"));
    let torch = packages.join("torch/lib");
    let has_runtime = |directory: &PathBuf| {
        let names = disk.names(directory).unwrap_or_default();
        names.iter().any(|(name, _)| name.as_encoded_bytes().starts_with(b"libcudart"))
    };
    of_wheels.into_iter().find(|lib| disk.is_dir(lib)).or_else(|| Some(torch).filter(has_runtime))
}

/// What lies in a directory and may be one itself.
fn sorted(directory: &Path, disk: &dyn Disk) -> Vec<OsString> {
    let names = disk.names(directory).unwrap_or_default();
    let mut names: Vec<_> = names
        .into_iter()
        .filter(|(_, kind)| matches!(kind, Entry::Directory | Entry::Link))
        .map(|(name, _)| name)
        .collect();
    names.sort();
    names
}

/// The version and the CUDA release that torch's version.py holds; `None` for builds without CUDA.
fn from_version_py(text: &str) -> Option<(String, Version)> {
    let value = |name: &str| {
        let is_its = |line: &&str| {
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', ':']))
        };
        let quoted = text.lines().find(is_its)?.split_once('=')?.1.trim();
        Some(quoted.trim_matches(['\'', '"']))
    };
    Some((value("__version__")?.to_owned(), Version::parse(value("cuda")?)?))
}

/// A word for the person in whose environment the libraries of this choice go before those of the bundle, and what marks it as
/// said. `None` where they do not, or where it is no file of the user's that asks for the toolkit.
pub fn note(world: &World, choice: &Choice, bundle: &Bundle) -> Option<(String, String)> {
    let file = match &choice.rule {
        Rule::Pin(file, _) | Rule::Default(file, _) => file.display().to_string(),
        Rule::Variable => ".cuda-version".to_owned(),
        Rule::Argument | Rule::Machine => return None,
    };
    if !goes_before_libraries(world, choice) {
        return None;
    }
    let (toolkit, environment) = (&choice.toolkit.identity, bundle.environment.display());
    let release = (toolkit.version.major, toolkit.version.minor.unwrap_or(0));
    if let Some((torch, cuda)) = &bundle.torch
        && (cuda.major, cuda.minor.unwrap_or(0)) > release
    {
        let text = format!(
            "note: torch {torch} in {environment} brings CUDA {cuda}, newer than {toolkit}: if `import torch` fails, add `ld_library_path = off` to {file}"
        );
        return Some((text.clone(), text));
    }
    let place = bundle.place.as_ref()?;
    let place = place.strip_prefix(&bundle.environment).unwrap_or(place).display();
    let text = format!(
        "note: {environment} has CUDA libraries of its own ({place}), and LD_LIBRARY_PATH puts those of {toolkit} before them: if Python loads the wrong ones, add `ld_library_path = off` to {file}"
    );
    Some((text, format!("libraries of {environment}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_version_py() {
        let new = "from typing import Optional\n__version__ = '2.5.1+cu124'\ndebug = False\ncuda: Optional[str] = '12.4'\n";
        let old = "__version__ = '1.12.1+cu116'\ncuda = '11.6'\n";
        let cpu = "__version__ = '2.5.1+cpu'\ncuda: Optional[str] = None\n";
        assert_eq!(from_version_py(new), Some(("2.5.1+cu124".into(), Version::release(12, 4))));
        assert_eq!(from_version_py(old), Some(("1.12.1+cu116".into(), Version::release(11, 6))));
        assert_eq!(from_version_py(cpu), None);
    }
}
