//! The toolkits that the machine has, looked for where installers, distributions, HPC software and environments put them.
//! Nothing is started, and no tree is known by its directory's name but those of another cudaup home.

use crate::debian;
use crate::disk::{Disk, Entry};
use crate::environment::{Vars, leave};
use crate::fitness::{Broken, broken, broken_managed, dead_end, is_odd, unreachable};
use crate::foreign::ROOT_VARIABLES;
use crate::home::Home;
use crate::identity::{Identity, Tree, identify};
use crate::inventory::{Found, Kind, MACHINE, is_toolkit_name};
use crate::list::{components, split};
use crate::origin::{Origin, loaded_module};
use crate::version::Version;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What decides about where toolkits are looked for.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The home, whose own toolkits are not the machine's.
    pub home: &'a Home,
    /// The roots that the default files list.
    pub roots: &'a [PathBuf],
    /// The environment; an empty one where only what stays beyond this process counts.
    pub vars: &'a Vars,
}

/// What the machine has, each tree once: in `/usr/local`, in `/opt`, among the system's own files, in the HPC SDK, below the
/// listed roots, and what the environment brings.
pub fn machine(search: Search, disk: &dyn Disk) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (parent, origin) in [("/usr/local", Origin::Local), ("/opt", Origin::Opt)] {
        let parent = disk.system(parent);
        for (name, kind) in sorted_names(&parent, disk).unwrap_or_default() {
            if name.to_str().is_some_and(is_toolkit_name) {
                let path = parent.join(name);
                add(&mut found, &path, &Kind::System, &origin, disk);
                dangling(&mut found, &path, kind, &origin, disk);
            }
        }
    }
    found.extend(debian::find(disk));
    hpc_sdk(&mut found, disk);
    for root in search.roots {
        let root = disk.system(&root.to_string_lossy());
        if root != search.home.path() {
            below_root(&mut found, &root, disk);
        }
    }
    of_environment(&mut found, search, disk);
    found
}

/// The toolkits of NVIDIA's HPC SDK: `/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/12.3`.
fn hpc_sdk(found: &mut Vec<Found>, disk: &dyn Disk) {
    let parent = disk.system("/opt/nvidia/hpc_sdk").join(format!("Linux_{MACHINE}"));
    for (release, _) in sorted_names(&parent, disk).unwrap_or_default() {
        let cuda = parent.join(&release).join("cuda");
        let release = release.to_string_lossy().into_owned();
        for (name, _) in sorted_names(&cuda, disk).unwrap_or_default() {
            if name.to_str().and_then(Version::parse).is_some() {
                add(found, &cuda.join(name), &Kind::System, &Origin::HpcSdk(release.clone()), disk);
            }
        }
    }
}

/// What lies below a listed root: another home of cudaup, a folder of toolkits, or one toolkit.
fn below_root(found: &mut Vec<Found>, root: &Path, disk: &dyn Disk) {
    let home = Home::new(root);
    if disk.is_dir(&home.toolkits()) {
        return of_other_home(found, &home, disk);
    }
    let Some(names) = sorted_names(root, disk) else {
        let broken = match disk.real(root) {
            Some(_) => broken(root, disk),
            None => unreachable(root, disk),
        };
        found.push(Found { broken, ..gone(root.to_path_buf(), Kind::Shared, Origin::Root) });
        return;
    };
    add(found, root, &Kind::Shared, &Origin::Root, disk);
    for (name, kind) in names {
        let path = root.join(name);
        add(found, &path, &Kind::Shared, &Origin::Root, disk);
        if is_toolkit_name(path.file_name().and_then(OsStr::to_str).unwrap_or_default()) {
            dangling(found, &path, kind, &Origin::Root, disk);
        }
    }
}

/// Toolkits of another home are what their names say; what is being unpacked there lies elsewhere.
fn of_other_home(found: &mut Vec<Found>, home: &Home, disk: &dyn Disk) {
    let other = home.machine(disk).filter(|machine| *machine != MACHINE);
    let mut toolkits = Vec::new();
    let Some(names) = sorted_names(&home.toolkits(), disk) else {
        let shut = gone(home.toolkits(), Kind::Shared, Origin::OtherHome);
        return found.push(Found { broken: Some(Broken::Closed), ..shut });
    };
    for (name, kind) in &names {
        let path = home.toolkits().join(name);
        let exact = name.to_str().and_then(Version::parse);
        let exact = exact.filter(|v| v.is_exact() && *kind == Entry::Directory);
        match (exact, disk.real(&path)) {
            (Some(version), Some(root)) if !found.iter().any(|f| f.root == root) => toolkits.push((
                version,
                Found {
                    broken: Some(Broken::OddPath)
                        .filter(|_| is_odd(&root))
                        .or_else(|| broken_managed(&root, disk)),
                    root,
                    aliases: Vec::new(),
                    kind: Kind::Shared,
                    origin: Origin::OtherHome,
                    tree: Some(match &other {
                        Some(machine) => Tree::OtherMachine(machine),
                        None => Tree::Toolkit(Identity::certain(version)),
                    }),
                },
            )),
            _ => {}
        }
    }
    toolkits.sort_by_key(|(version, _)| *version);
    found.extend(toolkits.into_iter().map(|(_, toolkit)| toolkit));
    // Behind them, since a link may name one of them.
    for (name, kind) in names.into_iter().filter(|(_, kind)| *kind == Entry::Link) {
        let path = home.toolkits().join(name);
        add(found, &path, &Kind::Shared, &Origin::OtherHome, disk);
        dangling(found, &path, kind, &Origin::OtherHome, disk);
    }
}

/// Variables that only a module of EasyBuild or of the HPC SDK sets.
const MODULE_VARIABLES: [&str; 2] = ["EBROOTCUDA", "NVHPC_CUDA_HOME"];

/// What the environment brings: an environment module, the active environment of conda, a root variable of the user's.
fn of_environment(found: &mut Vec<Found>, search: Search, disk: &dyn Disk) {
    // What we made of the variables is no news.
    let base = leave(search.vars).vars;
    let module = base.get("LOADEDMODULES").and_then(loaded_module);
    let by_easybuild = base.get("EBROOTCUDA").is_some();
    let first = first_on_path(&base, search.home, disk);
    for name in MODULE_VARIABLES.into_iter().chain(ROOT_VARIABLES) {
        let Some(value) = base.get(name) else { continue };
        let Some(path) = named_root(value, &base, search.home, disk) else { continue };
        // EasyBuild's variable says which of them is the module's. Where it is not set, the one whose programs come first is:
        // a CUDA_HOME of somebody's own may stand beside it. Where none is on PATH, all are taken for it.
        let origin = match &module {
            _ if by_easybuild && name != "EBROOTCUDA" => Origin::of_variable(name, Path::new(value)),
            Some(module) if first.as_ref().is_none_or(|first| *first == path) => {
                Origin::Module(module.clone())
            }
            None if by_easybuild => Origin::Module("CUDA".to_owned()),
            Some(_) | None => Origin::of_variable(name, Path::new(value)),
        };
        // Whoever loaded the module waits for it.
        if matches!(origin, Origin::Module(_))
            && disk.real(&path).is_none()
            && !found.iter().any(|f| f.root == path)
        {
            found.push(Found { broken: unreachable(&path, disk), ..gone(path, Kind::System, origin) });
            continue;
        }
        add(found, &path, &Kind::System, &origin, disk);
    }
    if let Some(prefix) = base.get("CONDA_PREFIX").and_then(|value| absolute(value, disk)) {
        // Many environments hold a runtime library for what they run, and no toolkit.
        let nvcc = prefix.join("bin/nvcc");
        if disk.is_file(&nvcc) || disk.target(&nvcc).is_some() {
            add(found, &prefix, &Kind::System, &Origin::Conda, disk);
        }
    }
}

/// The root among those that variables name whose programs come first on PATH.
fn first_on_path(base: &Vars, home: &Home, disk: &dyn Disk) -> Option<PathBuf> {
    let values = ROOT_VARIABLES.into_iter().filter_map(|name| base.get(name));
    let roots: Vec<PathBuf> = values.filter_map(|value| named_root(value, base, home, disk)).collect();
    split(base.get("PATH")?).into_iter().find_map(|entry| {
        let bin = absolute(&entry, disk)?;
        roots.iter().find(|root| bin == root.join("bin")).cloned()
    })
}

/// What somebody waits for and is not there.
fn gone(root: PathBuf, kind: Kind, origin: Origin) -> Found {
    Found { root, aliases: Vec::new(), kind, origin, tree: None, broken: None }
}

/// The directory that a root variable names, where that can be the root of a toolkit and is not ours.
fn named_root(value: &OsStr, base: &Vars, home: &Home, disk: &dyn Disk) -> Option<PathBuf> {
    let path = absolute(value, disk)?;
    let whole_systems = ["/", "/usr", "/usr/local", "/opt"].map(|p| disk.system(p));
    let users = base.get("HOME").map(Path::new);
    let is_one = whole_systems.contains(&path)
        || users.is_some_and(|user| path == user || path == user.join(".local"))
        || path.starts_with(home.path());
    (!is_one).then_some(path)
}

/// A path without `:`, `..` and doubled slashes, below the sysroot.
fn absolute(value: &OsStr, disk: &dyn Disk) -> Option<PathBuf> {
    let parts = components(value).filter(|parts| !parts.is_empty())?;
    if value.as_bytes().contains(&b':') {
        return None;
    }
    let parts = parts.into_iter().map(OsStr::from_bytes);
    let folded: PathBuf = std::iter::once(OsStr::new("/")).chain(parts).collect();
    Some(match folded.to_str() {
        Some(text) => disk.system(text),
        None => folded,
    })
}

fn sorted_names(directory: &Path, disk: &dyn Disk) -> Option<Vec<(OsString, Entry)>> {
    let mut names = disk.names(directory)?;
    names.retain(|(name, _)| !name.as_encoded_bytes().starts_with(b"."));
    names.sort_by(|a, b| a.0.cmp(&b.0));
    Some(names)
}

/// Adds the tree at a path where there is one, or its other name where it is known already.
fn add(found: &mut Vec<Found>, path: &Path, kind: &Kind, origin: &Origin, disk: &dyn Disk) {
    let Some(root) = disk.real(path) else { return };
    let alias = (root != path).then(|| path.to_path_buf());
    if let Some(known) = found.iter_mut().find(|f| f.root == root) {
        known.aliases.extend(alias.filter(|alias| !known.aliases.contains(alias)));
        // A module says more of a tree than that it lies in a folder.
        if matches!(origin, Origin::Module(_)) {
            known.origin = origin.clone();
        }
        return;
    }
    if !disk.is_dir(&root) {
        return;
    }
    let broken = broken(&root, disk);
    let tree = identify(&root, MACHINE, disk);
    let named = root.file_name().and_then(OsStr::to_str);
    let plausible = named.is_some_and(|name| is_toolkit_name(name) || Version::parse(name).is_some());
    let closed = broken == Some(Broken::Closed) && plausible;
    // An nvcc that leads nowhere makes no toolkit, and somebody may wait for it.
    if tree != Tree::NotAToolkit || closed || matches!(broken, Some(Broken::NvccGone(_))) {
        found.push(Found {
            root,
            aliases: alias.into_iter().collect(),
            kind: kind.clone(),
            origin: origin.clone(),
            tree: Some(tree),
            broken,
        });
    }
}

/// Adds a link that leads to nothing.
fn dangling(found: &mut Vec<Found>, path: &Path, kind: Entry, origin: &Origin, disk: &dyn Disk) {
    if kind != Entry::Link || disk.real(path).is_some() {
        return;
    }
    let Some(broken) = dead_end(path, disk) else { return };
    let kind = if matches!(origin, Origin::Root | Origin::OtherHome) { Kind::Shared } else { Kind::System };
    found.push(Found { broken: Some(broken), ..gone(path.to_path_buf(), kind, origin.clone()) });
}
