//! Which Python environment is in use, and where its packages are.

use super::{Python, read};
use crate::host::Host;
use std::fs;
use std::path::{Path, PathBuf};

/// A pyvenv.cfg has a dozen lines.
const CONFIG: u64 = 16 * 1024;

/// The environment in use, without its packages.
pub fn in_use(host: &Host) -> Option<Python> {
    let named = |name: &str| {
        let root = PathBuf::from(host.var(name)?);
        let found = at(&root)?;
        Some(Python { how: name.to_owned(), pip: pip(&found, "pip"), ..found })
    };
    named("VIRTUAL_ENV")
        .or_else(|| named("CONDA_PREFIX"))
        .or_else(|| of_project(host))
        .or_else(|| on_path(host))
}

/// The environment in a directory, without its packages.
pub fn at(root: &Path) -> Option<Python> {
    let config = read::head(&root.join("pyvenv.cfg"), CONFIG);
    let interpreter = ["python3", "python"].map(|n| root.join("bin").join(n)).into_iter().find(|p| lstat(p));
    let version =
        config.as_deref().and_then(configured_version).or_else(|| named_version(interpreter.as_deref()?));
    let mut packages_in = of_prefix(root, version);
    if packages_in.is_empty() && config.is_none() && interpreter.is_none() {
        return None;
    }
    let version = version.or_else(|| packages_in.iter().find_map(|path| version_of_directory(path)));
    let wide = config.as_deref().is_some_and(|c| {
        value(c, "include-system-site-packages").is_some_and(|v| v.eq_ignore_ascii_case("true"))
    });
    let base = config.as_deref().and_then(|c| value(c, "home")).map(PathBuf::from);
    if let Some(prefix) = base.as_deref().and_then(Path::parent).filter(|_| wide) {
        packages_in.extend(of_prefix(prefix, version));
    }
    let uv = config.as_deref().is_some_and(|c| value(c, "uv").is_some());
    let own = format!("{}/bin/python -m pip", shell_words::quote(&root.to_string_lossy()));
    let pip =
        if uv { format!("VIRTUAL_ENV={} uv pip", shell_words::quote(&root.to_string_lossy())) } else { own };
    let how = "as given".to_owned();
    Some(Python {
        root: root.to_path_buf(),
        how,
        version,
        pip,
        packages_in: distinct(packages_in),
        ..Python::default()
    })
}

/// What installs packages into an environment that needs not be named.
fn pip(found: &Python, plain: &str) -> String {
    if found.uses_uv() { "uv pip".to_owned() } else { plain.to_owned() }
}

/// The `.venv` in the current directory, or above it up to the one that holds the project's pin or a repository.
fn of_project(host: &Host) -> Option<Python> {
    for directory in host.cwd.as_deref()?.ancestors() {
        if host.user_home.as_deref() == Some(directory) && host.cwd.as_deref() != Some(directory) {
            return None;
        }
        let root = directory.join(".venv");
        if let Some(found) = root.is_dir().then(|| at(&root)).flatten() {
            let here = host.cwd.as_deref() == Some(directory);
            let how =
                if here { ".venv here".to_owned() } else { format!(".venv in {}", directory.display()) };
            let short = if here { ".venv/bin/python -m pip".to_owned() } else { found.pip.clone() };
            return Some(Python { how, pip: pip(&found, &short), ..found });
        }
        if lstat(&directory.join(".cuda-version")) || lstat(&directory.join(".git")) {
            return None;
        }
    }
    None
}

/// The environment of the first python3 on PATH that is a program and no shim of pyenv's.
fn on_path(host: &Host) -> Option<Python> {
    let path = host.var("PATH")?;
    let below = |entry: PathBuf| match &host.sysroot {
        Some(root) if !entry.starts_with(root) => host.system(&entry.to_string_lossy()),
        _ => entry,
    };
    for directory in std::env::split_paths(path).filter(|p| p.is_absolute()).map(below) {
        let program = directory.join("python3");
        if !program.is_file() {
            continue;
        }
        let (root, program) = match of_pyenv(host, &directory) {
            Some(root) => (root.clone(), root.join("bin/python3")),
            // Another shim is a script; what it would start is not known.
            None if directory.file_name().is_some_and(|n| n == "shims") => continue,
            None => (prefix(&directory)?, program),
        };
        let mut found = at(&root)?;
        found.version = named_version(&program).or(found.version);
        if !root.join("pyvenv.cfg").exists() {
            let mut places = of_user(host, found.version);
            places.extend(std::mem::take(&mut found.packages_in));
            if directory.ends_with("usr/bin") {
                places.extend(of_prefix(&root.join("local"), found.version));
            }
            found.packages_in = distinct(places);
        }
        return Some(Python {
            how: "the python3 on PATH".to_owned(),
            pip: pip(&found, "python3 -m pip"),
            ..found
        });
    }
    None
}

/// The prefix of the programs in a directory: `/usr` for `/usr/bin`, and for `/bin` where that is a link to it.
fn prefix(directory: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(directory).ok()?;
    Some(real.parent()?.to_path_buf())
}

/// The prefix that pyenv's shims stand for: by `PYENV_VERSION`, `.python-version`, or its own file `version`.
fn of_pyenv(host: &Host, directory: &Path) -> Option<PathBuf> {
    let pyenv = directory.parent().filter(|_| directory.file_name().is_some_and(|n| n == "shims"))?;
    let first = |path: PathBuf| read::head(&path, 4096)?.split_whitespace().next().map(str::to_owned);
    let above = || host.cwd.as_deref()?.ancestors().find_map(|d| first(d.join(".python-version")));
    let own = || first(pyenv.join("version"));
    let version = host.text("PYENV_VERSION").map(str::to_owned).or_else(above).or_else(own)?;
    let plain = !version.contains('/') && version != "..";
    plain.then(|| pyenv.join("versions").join(version)).filter(|root| root.is_dir())
}

/// The user's own packages, which an interpreter outside virtual environments looks into first.
fn of_user(host: &Host, version: Option<(u32, u32)>) -> Vec<PathBuf> {
    let home = host.user_home.as_deref().filter(|_| host.var("PYTHONNOUSERSITE").is_none());
    home.map(|home| of_prefix(&home.join(".local"), version)).unwrap_or_default()
}

/// The directories of packages below a prefix: of this release of Python, or of the newest there where it is not known.
fn of_prefix(prefix: &Path, version: Option<(u32, u32)>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for lib in ["lib", "lib64", "local/lib"] {
        let lib = prefix.join(lib);
        let mut releases: Vec<(u32, u32)> = match version {
            Some(version) => vec![version],
            None => read::names(&lib).iter().filter_map(|name| release(name)).collect(),
        };
        releases.sort_unstable();
        let own = releases.pop().map(|(major, minor)| lib.join(format!("python{major}.{minor}")));
        let debian = lib.join("python3");
        for directory in own.into_iter().chain(Some(debian)) {
            found.extend(["site-packages", "dist-packages"].map(|name| directory.join(name)));
        }
    }
    found.retain(|path| path.is_dir());
    found
}

/// The same directory under several names (`lib64` is often a link) counts once.
fn distinct(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    let is_new = |path: &PathBuf| {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let new = !seen.contains(&real);
        seen.push(real);
        new
    };
    paths.into_iter().filter(is_new).collect()
}

/// `python3.11` is (3, 11).
fn release(name: &str) -> Option<(u32, u32)> {
    numbers(name.strip_prefix("python")?)
}

fn numbers(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn version_of_directory(path: &Path) -> Option<(u32, u32)> {
    release(path.parent()?.file_name()?.to_str()?)
}

/// The release that the name behind the link `python3` tells.
fn named_version(interpreter: &Path) -> Option<(u32, u32)> {
    let target = fs::read_link(interpreter).ok()?;
    let of = |path: &Path| path.file_name()?.to_str().and_then(release);
    of(&target).or_else(|| of(&fs::canonicalize(interpreter).ok()?))
}

fn configured_version(config: &str) -> Option<(u32, u32)> {
    numbers(value(config, "version_info").or_else(|| value(config, "version"))?)
}

/// A value of a pyvenv.cfg: lines of `key = value`.
fn value<'a>(config: &'a str, key: &str) -> Option<&'a str> {
    config.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim().eq_ignore_ascii_case(key)).then(|| value.trim())
    })
}

/// Whether there is something of that name, be it a link that leads nowhere.
fn lstat(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
