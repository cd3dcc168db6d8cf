//! Which entries of a search list belong to some CUDA toolkit, by their text alone: no file is looked at.

use crate::home::Home;
use crate::inventory::is_toolkit_name;
use crate::layout::is_hpc_sdk;
use crate::list::{components, split};
use crate::origin::{is_nix, is_spack};
use crate::state::State;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// The variables that name a toolkit's root.
pub const ROOT_VARIABLES: [&str; 5] =
    ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDAToolkit_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];

/// Further variables that name a root and that cudaup does not set.
const OTHER_ROOT_VARIABLES: [&str; 3] = ["EBROOTCUDA", "NVHPC_CUDA_HOME", "CUDA_BIN_PATH"];

/// Variables whose directories are environments of their own; they never count as toolkits.
const ENVIRONMENTS: [&str; 3] = ["CONDA_PREFIX", "VIRTUAL_ENV", "PIXI_PROJECT_ROOT"];

/// How an entry was told to belong to a toolkit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Its root has the name of a toolkit, such as `cuda-12.4`.
    Name(String),
    /// A variable names its root.
    Variable(&'static str),
    /// Its root lies in a cudaup home.
    Home,
    /// Its root lies below a root that a default file lists.
    Listed,
    /// It was one's when a toolkit was entered here.
    Before,
    /// Its root lies where Debian's package, the HPC SDK, Spack or Nix put theirs; whose.
    Place(&'static str),
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "its directory is named {name}"),
            Self::Variable(name) => write!(f, "{name} names it"),
            Self::Home => f.write_str("it lies in a cudaup home"),
            Self::Listed => f.write_str("it lies below a root of the default file"),
            Self::Before => f.write_str("it was one's when cudaup took it out"),
            Self::Place(whose) => write!(f, "it lies where {whose} has its toolkits"),
        }
    }
}

/// What follows a toolkit's root in search lists.
const BELOW_ROOT: &[&[&str]] = &[
    &["bin"],
    &["nvvm", "bin"],
    &["libnvvp"],
    &["open64", "bin"],
    &["compute-sanitizer"],
    &["extras", "demo_suite"],
    &["lib64"],
    &["lib"],
    &["lib64", "stubs"],
    &["stubs", "lib64"],
    &["lib", "stubs"],
    &["nvvm", "lib64"],
    &["nvvm", "lib"],
    &["extras", "CUPTI", "lib64"],
    &["extras", "CUPTI", "lib"],
    &["extras", "CUPTI", "include"],
    &["include"],
    &["include", "cccl"],
    &["nvvm", "include"],
    &["lib64", "pkgconfig"],
    &["lib", "pkgconfig"],
    &["pkgconfig"],
    &["pkg-config"],
];

/// Knows toolkits by the text of their paths.
pub struct Foreign {
    /// Roots named by variables.
    named: Vec<(&'static str, Vec<Vec<u8>>)>,
    /// Directories whose children are roots.
    parents: Vec<Vec<Vec<u8>>>,
    /// Directories whose grandchildren are roots: those of add-ons.
    grandparents: Vec<Vec<Vec<u8>>>,
    /// Directories below which everything is a toolkit's.
    above: Vec<Vec<Vec<u8>>>,
    /// Prefixes that never count.
    never: Vec<Vec<Vec<u8>>>,
    /// Entries that were told to be a toolkit's before.
    before: Vec<OsString>,
}

impl Foreign {
    /// Takes in the home, the listed roots and what the variables name.
    pub fn new<'v>(home: &Home, roots: &[PathBuf], get: impl Fn(&str) -> Option<&'v OsStr>) -> Self {
        let of = |name: &str| get(name).and_then(owned);
        let mut never: Vec<Vec<Vec<u8>>> =
            ENVIRONMENTS.iter().chain(&["HOME"]).filter_map(|name| of(name)).collect();
        never.extend(["/usr", "/usr/local", "/opt", "/"].iter().filter_map(|p| owned(OsStr::new(p))));
        if let Some(home) = get("HOME") {
            never.extend(owned(Path::new(home).join(".local").as_os_str()));
        }
        let variables = ROOT_VARIABLES.into_iter().chain(OTHER_ROOT_VARIABLES);
        // Some write a list where one directory is meant: `CUDA_HOME=$CUDA_HOME:/opt/cuda`.
        let all = |name: &'static str| {
            let entries = get(name).map(split).unwrap_or_default();
            entries.into_iter().filter_map(move |entry| Some((name, owned(&entry)?)))
        };
        let mut named: Vec<(&'static str, Vec<Vec<u8>>)> = variables.flat_map(all).collect();
        named.retain(|(_, root)| !never.contains(root));
        Self {
            named,
            parents: owned(home.toolkits().as_os_str()).into_iter().collect(),
            grandparents: owned(home.addons().as_os_str()).into_iter().collect(),
            above: roots.iter().filter_map(|r| owned(r.as_os_str())).collect(),
            never,
            before: Vec::new(),
        }
    }

    /// Knows what was a toolkit's when one was entered, too: the variable that told may be gone since.
    #[must_use]
    pub fn and_before(mut self, state: Option<&State>) -> Self {
        let removed = state.iter().flat_map(|s| &s.lists).flat_map(|l| &l.removed);
        self.before.extend(removed.map(|r| r.entry.clone()).filter(|e| !e.is_empty()));
        self
    }

    /// Whether an entry of a list is a directory of some toolkit.
    pub fn owns_entry(&self, entry: &OsStr) -> bool {
        self.how(entry).is_some()
    }

    /// Whether a program's path (`/usr/local/cuda/bin/nvcc`) lies in some toolkit.
    pub fn owns_program(&self, path: &OsStr) -> bool {
        Path::new(path).parent().is_some_and(|directory| self.owns_entry(directory.as_os_str()))
    }

    /// Whether a directory is the root of some toolkit.
    pub fn owns_root(&self, root: &OsStr) -> bool {
        components(root).is_some_and(|parts| self.how_root(&parts).is_some())
    }

    /// How an entry of a list is told to be a directory of some toolkit; `None` where it is not one.
    pub fn how(&self, entry: &OsStr) -> Option<How> {
        let parts = components(entry)?;
        let by_root = (1..parts.len()).find_map(|i| {
            let (root, below) = parts.split_at(i);
            is_below_root(below).then(|| self.how_root(root)).flatten()
        });
        by_root.or_else(|| self.before.iter().any(|known| known == entry).then_some(How::Before))
    }

    fn how_root(&self, root: &[&[u8]]) -> Option<How> {
        if self.never.iter().any(|n| same(n, root)) || is_conda_environment(root) {
            return None;
        }
        let (name, parent) = root.split_last()?;
        let listed = |above: &Vec<Vec<u8>>| {
            root.len() > above.len() && root.iter().zip(above).all(|(x, y)| *x == y.as_slice())
        };
        let of_an_addon =
            || parent.split_last().is_some_and(|(_, above)| self.grandparents.iter().any(|g| same(g, above)));
        let variable = self.named.iter().find(|(_, named)| same(named, root)).map(|(name, _)| *name);
        match std::str::from_utf8(name) {
            _ if self.parents.iter().any(|p| same(p, parent)) || of_an_addon() => Some(How::Home),
            _ if is_a_homes_toolkit(parent) => Some(How::Home),
            Ok(name) if is_toolkit_name(name) => Some(How::Name(name.to_owned())),
            _ if variable.is_some() => variable.map(How::Variable),
            _ if self.above.iter().any(listed) => Some(How::Listed),
            _ if is_hpc_sdk(root) => Some(How::Place("the HPC SDK")),
            _ if is_spack(root) => Some(How::Place("Spack")),
            _ if is_nix(root) => Some(How::Place("Nix")),
            Ok("nvidia-cuda-toolkit") if parent == [b"usr", b"lib".as_slice()] => {
                Some(How::Place("Debian's package"))
            }
            _ => None,
        }
    }
}

/// Whether the parent is the `toolkits`, or a folder of the `addons`, of a home in its usual place, another user's or an
/// earlier `CUDAUP_HOME`.
fn is_a_homes_toolkit(parent: &[&[u8]]) -> bool {
    let above = parent.split_last().map_or(parent, |(_, above)| above);
    parent.ends_with(&[b".cudaup".as_slice(), b"toolkits".as_slice()])
        || above.ends_with(&[b".cudaup".as_slice(), b"addons".as_slice()])
}

/// conda keeps environments in folders named `envs`; one of them may be called `cuda`.
fn is_conda_environment(root: &[&[u8]]) -> bool {
    root.len() >= 2 && root.get(root.len() - 2) == Some(&b"envs".as_slice())
}

/// Whether an entry is a directory of the toolkit of this root, or of one of these where they are written as a list.
pub fn lies_in(roots: &OsStr, entry: &OsStr) -> bool {
    let Some(entry) = components(entry) else { return false };
    let roots = split(roots);
    let mut roots = roots.iter().filter_map(|root| components(root));
    roots.any(|root| entry.strip_prefix(root.as_slice()).is_some_and(is_below_root))
}

fn is_below_root(below: &[&[u8]]) -> bool {
    let below = match below {
        [targets, machine, rest @ ..] if *targets == b"targets" && machine.ends_with(b"-linux") => rest,
        _ => below,
    };
    match below {
        [first, ..] if first.starts_with(b"nsight") || first.starts_with(b"Nsight") => true,
        _ => BELOW_ROOT.iter().any(|known| {
            known.len() == below.len() && known.iter().zip(below).all(|(k, b)| k.as_bytes() == *b)
        }),
    }
}

fn same(known: &[Vec<u8>], root: &[&[u8]]) -> bool {
    known.len() == root.len() && known.iter().zip(root).all(|(k, r)| k.as_slice() == *r)
}

fn owned(path: &OsStr) -> Option<Vec<Vec<u8>>> {
    components(path).map(|parts| parts.into_iter().map(<[u8]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreign(vars: &'static [(&'static str, &'static str)], roots: &[&str]) -> Foreign {
        let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
        Foreign::new(&Home::new("/home/u/.cudaup"), &roots, |name| {
            vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsStr::new(*v))
        })
    }

    fn owns(f: &Foreign, entry: &str) -> bool {
        f.owns_entry(OsStr::new(entry))
    }

    #[test]
    fn names_of_toolkits() {
        let f = foreign(&[("HOME", "/home/u")], &[]);
        for entry in [
            "/usr/local/cuda/bin",
            "/usr/local/cuda-12.4/bin/",
            "/usr/local/cuda-11/lib64",
            "//usr/local//cuda-12.4.1/./lib64/stubs",
            "/usr/local/cuda-11.8/extras/CUPTI/lib64",
            "/usr/local/cuda/targets/x86_64-linux/include",
            "/usr/local/cuda-12.2/nsight-compute-2023.2.2",
            "/opt/cuda/bin",
            "/home/u/cuda-11.1/nvvm/bin",
            "/home/u/.cudaup/toolkits/12.4.1/bin",
            "/home/other/.cudaup/toolkits/mine/lib64",
            "/home/u/.cudaup/addons/cudnn/9.8.0.87-cuda12/include",
            "/home/other/.cudaup/addons/nccl/2.21.5-cuda11/lib",
            "/usr/local/cuda/bin/../lib64",
        ] {
            assert!(owns(&f, entry), "{entry}");
        }
    }

    #[test]
    fn what_only_looks_like_one() {
        let f = foreign(
            &[
                ("HOME", "/home/u"),
                ("CUDA_HOME", "/usr"),
                ("CONDA_PREFIX", "/opt/conda"),
                ("VIRTUAL_ENV", "/home/u/venvs/cuda"),
            ],
            &[],
        );
        for entry in [
            "",
            "bin",
            "cuda/bin",
            "/usr/bin",
            "/usr/lib/x86_64-linux-gnu",
            "/usr/lib/x86_64-linux-gnu/stubs",
            "/opt/conda/bin",
            "/opt/conda/envs/cuda/bin",
            "/home/u/venvs/cuda/bin",
            "/usr/lib/wsl/lib",
            "/usr/local/cuda/compat",
            "/usr/local/cuda-12.4/compat",
            "/usr/local/cudatools/bin",
            "/usr/local/cuda-samples/bin",
            "/home/u/src/cuda/build/bin",
            "/home/u/scripts/cuda",
            "/usr/local/cuda-12.x/bin",
            "/home/u/.cudaup/bin",
            "/home/u/.cudaup/shims",
            "/home/u/.cudaup/addons/cudnn",
        ] {
            assert!(!owns(&f, entry), "{entry}");
        }
    }

    #[test]
    fn inherited_roots_and_listed_roots() {
        let f = foreign(
            &[("EBROOTCUDA", "/apps/CUDA/11.7.0"), ("CUDA_PATH", "/sw/nv/")],
            &["/shared/cudaup", "/opt/nvidia"],
        );
        for entry in [
            "/apps/CUDA/11.7.0/bin",
            "/sw/nv/lib64",
            "/shared/cudaup/toolkits/12.4.1/bin",
            "/opt/nvidia/12.1/lib64",
        ] {
            assert!(owns(&f, entry), "{entry}");
        }
        for entry in ["/apps/CUDA/11.8.0/bin", "/sw/bin", "/shared/bin", "/opt/nvidia/bin"] {
            assert!(!owns(&f, entry), "{entry}");
        }
    }

    #[test]
    fn a_root_written_as_a_list_names_each() {
        let f = foreign(&[("HOME", "/home/u"), ("CUDA_HOME", ":/apps/nv11:/usr:/apps/nv12/")], &[]);
        for entry in ["/apps/nv11/bin", "/apps/nv12/lib64"] {
            assert!(owns(&f, entry), "{entry}");
        }
        for entry in ["/usr/bin", "/apps/bin", "", "bin"] {
            assert!(!owns(&f, entry), "{entry}");
        }
    }

    #[test]
    fn roots_that_are_whole_systems_never_count() {
        let f = foreign(
            &[("CUDA_HOME", "/usr/local"), ("CUDA_PATH", "/home/u/.local"), ("HOME", "/home/u")],
            &[],
        );
        assert!(!owns(&f, "/usr/local/bin") && !owns(&f, "/home/u/.local/bin"));
    }
}
