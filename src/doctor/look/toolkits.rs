//! The toolkits: what the rules choose, what there is, what typing nvcc runs.

use super::Scene;
use crate::doctor::machine::{Follows, Inside, Math, Nvcc, Toolkits};
use crate::facts::global_link;
use crate::facts::platform::Platform;
use crate::toolkit::ask;
use cudaup_core::discovery::{self, Search};
use cudaup_core::disk::Disk;
use cudaup_core::foreign::ROOT_VARIABLES;
use cudaup_core::identity::{Identity, Tree, identify};
use cudaup_core::inventory::{self, Found, Kind, MACHINE, Toolkit};
use cudaup_core::layout::{INCLUDE, LIB, is_conda, is_spread};
use cudaup_core::list::split;
use cudaup_core::refusal::Rule;
use cudaup_core::request::Request;
use cudaup_core::resolve::{Choice, default_settings, resolve};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The first C library that clashes with some toolkit's headers.
const CLASHING: (u32, u32) = (2, 41);

/// The header with the declarations that clash has about 200 KB.
const MOST_OF_MATH: usize = 4 << 20;

/// Looks at the toolkits.
pub fn look(scene: &Scene) -> Toolkits {
    let world = scene.world();
    let settings = default_settings(&world);
    let search = Search { home: scene.home, roots: &settings.roots, vars: scene.vars };
    let mut found = inventory::in_home(scene.home, scene.disk);
    found.extend(inventory::links(scene.home, scene.disk));
    found.extend(discovery::machine(search, scene.disk));
    let nvcc = on_path(scene, &found);
    let mut chosen = resolve(&world, None);
    // Where nobody asks for one the shell is left as it is, with a toolkit that no place of the machine's has, too.
    let nobody_asks = match &chosen {
        Ok(Some(choice)) => choice.rule == Rule::Machine,
        Ok(None) => true,
        Err(_) => false,
    };
    if nobody_asks && let Some(toolkit) = first(scene, &nvcc, &found) {
        let (rule, request) = (Rule::Machine, Request::System);
        chosen = Ok(Some(Choice { toolkit, rule, request, settings, addons: Vec::new() }));
    }
    let root = chosen.as_ref().ok().and_then(Option::as_ref).map(|choice| choice.toolkit.root.clone());
    let inside = root.as_ref().map(|root| inside(root, scene.disk));
    let root = root.map(|root| scene.disk.real(&root).unwrap_or(root));
    let shim_first = entries(scene).find_map(|entry| {
        let shims = entry == scene.home.shims() && scene.disk.is_program(&entry.join("nvcc"));
        (shims || nvcc.first().is_some_and(|first| first.path == entry.join("nvcc"))).then_some(shims)
    });
    let follows = Follows {
        hook: scene.host.var("_CUDAUP_SHELL").is_some() || scene.host.var("CUDAUP_STATE").is_some(),
        shims: entries(scene).any(|entry| entry == scene.home.shims()),
        shim_first: shim_first == Some(true),
        useful: found.iter().any(|f| matches!(f.kind, Kind::Managed | Kind::Link(_)) && f.broken.is_none()),
    };
    let moved = global_link::moved(scene.host);
    Toolkits { chosen, found, nvcc, root, inside, follows, moved }
}

/// The directories of PATH.
fn entries<'a>(scene: &Scene<'a>) -> impl Iterator<Item = PathBuf> + use<'a> {
    let path = scene.vars.get("PATH").map(split).unwrap_or_default();
    path.into_iter().filter(|entry| !entry.is_empty()).map(PathBuf::from)
}

/// The toolkit whose programs are typed here; where none is on PATH, the one that builds take by a variable.
fn first(scene: &Scene, nvcc: &[Nvcc], found: &[Found]) -> Option<Toolkit> {
    if let Some(first) = nvcc.first() {
        let (root, identity) = (first.root.clone()?, first.identity.clone()?);
        return Some(Toolkit { kind: kind(&root, found), root, identity });
    }
    let named = ROOT_VARIABLES.iter().find_map(|name| scene.vars.get(name).filter(|v| !v.is_empty()))?;
    let root = scene.disk.real(Path::new(named))?;
    match identify(&root, MACHINE, scene.disk) {
        Tree::Toolkit(identity) => Some(Toolkit { kind: kind(&root, found), root, identity }),
        _ => None,
    }
}

fn kind(root: &Path, found: &[Found]) -> Kind {
    found.iter().find(|f| f.root == root).map_or(Kind::System, |f| f.kind.clone())
}

/// Each nvcc on PATH that is no shim, each file once.
fn on_path(scene: &Scene, found: &[Found]) -> Vec<Nvcc> {
    let number = |path: &Path| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    let shim = number(&scene.home.bin().join("cudaup-shim"));
    let mut seen = Vec::new();
    let mut all = Vec::new();
    for entry in entries(scene).filter(|entry| *entry != scene.home.shims()) {
        let path = entry.join("nvcc");
        if !scene.disk.is_program(&path) || (shim.is_some() && number(&path) == shim) {
            continue;
        }
        let Some(real) = scene.disk.real(&path) else { continue };
        if real.file_name().is_some_and(|name| name == "cudaup-shim") || seen.contains(&real) {
            continue;
        }
        all.push(named(path, &real, scene, found));
        seen.push(real);
    }
    all
}

fn named(path: PathBuf, real: &Path, scene: &Scene, found: &[Found]) -> Nvcc {
    let above = |path: &Path| {
        path.parent().filter(|p| p.ends_with("bin")).and_then(Path::parent).map(Path::to_path_buf)
    };
    // A link beside other programs leads to the tree that it is a part of.
    let root = above(real).or_else(|| above(&path));
    let Some(root) = root else { return Nvcc { path, root: None, identity: None, other_machine: None } };
    let known = found.iter().find(|f| f.root == root).and_then(|f| f.tree.clone());
    let (identity, other_machine): (Option<Identity>, _) =
        match known.unwrap_or_else(|| identify(&root, MACHINE, scene.disk)) {
            Tree::Toolkit(identity) => (Some(identity), None),
            Tree::OtherMachine(machine) => (None, Some(machine)),
            Tree::Unnamed | Tree::NotAToolkit => (ask::release(&root, scene.disk).ok(), None),
        };
    Nvcc { path, root: Some(root), identity, other_machine }
}

/// What a tree holds.
fn inside(root: &Path, disk: &dyn Disk) -> Inside {
    let conda = is_conda(root, disk);
    let runtime =
        |name: &str| name.starts_with("libcudart") && [".so", ".a"].iter().any(|end| name.ends_with(end));
    let names = |place: &&str| disk.names(&root.join(place)).unwrap_or_default();
    Inside {
        nvcc: disk.is_file(&root.join("bin/nvcc")),
        program: disk.head(&root.join("bin/nvcc"), 4).is_some_and(|head| head == *b"\x7fELF"),
        header: INCLUDE.iter().any(|place| disk.is_file(&root.join(place).join("cuda_runtime.h"))),
        runtime: LIB
            .iter()
            .any(|place| names(place).iter().any(|(name, _)| name.to_str().is_some_and(runtime))),
        mixed: conda || is_spread(root, disk),
        math: None,
    }
}

/// Reads the header that newer C libraries clash with, where this machine has one of those.
pub fn with_math(mut toolkits: Toolkits, platform: &Platform, scene: &Scene) -> Toolkits {
    if platform.glibc.known().is_some_and(|glibc| *glibc >= CLASHING)
        && let Ok(Some(choice)) = &toolkits.chosen
        && let Some(inside) = &mut toolkits.inside
    {
        let header = |place: &&str| choice.toolkit.root.join(place).join("crt/math_functions.h");
        let text = INCLUDE.iter().find_map(|place| scene.disk.read(&header(place), MOST_OF_MATH).ok());
        inside.math = text.map(|bytes| math(&String::from_utf8_lossy(&bytes)));
    }
    toolkits
}

fn math(header: &str) -> Math {
    Math {
        knows_cospi: header.contains("__NV_IEC_60559_FUNCS_EXCEPTION_SPECIFIER"),
        knows_rsqrt: header.contains("_NV_RSQRT_SPECIFIER"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_headers_know_of_newer_c_libraries() {
        let old = "extern __DEVICE_FUNCTIONS_DECL__ __device_builtin__ double rsqrt(double x);\n";
        let newer = "#define __NV_IEC_60559_FUNCS_EXCEPTION_SPECIFIER noexcept(true)\n";
        let newest = format!("{newer}#define _NV_RSQRT_SPECIFIER noexcept(true)\n");
        assert_eq!(math(old), Math { knows_cospi: false, knows_rsqrt: false });
        assert_eq!(math(newer), Math { knows_cospi: true, knows_rsqrt: false });
        assert_eq!(math(&newest), Math { knows_cospi: true, knows_rsqrt: true });
    }
}
