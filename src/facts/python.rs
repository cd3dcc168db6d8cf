//! The active Python environment, read from its files; Python is never started.

use crate::host::Host;
use cudaup_core::version::Version;
use std::fs;
use std::path::{Path, PathBuf};

/// A framework that brings CUDA libraries of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Framework {
    /// Its version, such as `2.5.1+cu124`.
    pub version: String,
    /// The CUDA release it was built for.
    pub cuda: Version,
    /// The environment it lies in.
    pub environment: PathBuf,
}

/// torch in the environment that is active here, or in `.venv` beside the pin.
pub fn torch(host: &Host) -> Option<Framework> {
    let named = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|n| host.var(n)).map(PathBuf::from);
    let beside = host.cwd.as_ref().map(|cwd| cwd.join(".venv"));
    named.chain(beside).find_map(|environment| torch_in(&environment))
}

fn torch_in(environment: &Path) -> Option<Framework> {
    let mut pythons: Vec<PathBuf> =
        fs::read_dir(environment.join("lib")).ok()?.flatten().map(|e| e.path()).collect();
    pythons.sort();
    let read = |python: &PathBuf| fs::read_to_string(python.join("site-packages/torch/version.py")).ok();
    let (version, cuda) = pythons.iter().find_map(read).and_then(|text| from_version_py(&text))?;
    Some(Framework { version, cuda, environment: environment.to_path_buf() })
}

/// The version and the CUDA release that torch's version.py holds; `None` for builds without CUDA.
fn from_version_py(text: &str) -> Option<(String, Version)> {
    let value = |name: &str| {
        let line = text
            .lines()
            .find(|l| l.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', ':'])))?;
        let quoted = line.split_once('=')?.1.trim();
        quoted.trim_matches(['\'', '"']).to_owned().into()
    };
    let version: Option<String> = value("__version__");
    let cuda: Option<String> = value("cuda");
    Some((version?, Version::parse(&cuda?)?))
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
