//! NVIDIA's wheels of several CUDA majors, which overwrite each other's files.

use super::finding;
use super::ground::uninstall;
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::machine::Machine;
use crate::facts::python::{Package, Python};
use std::collections::BTreeMap;

/// The same library for two majors in one environment: `nvidia-cudnn-cu11` and `nvidia-cudnn-cu12` share a directory. The wheels
/// of CUDA 13 without an ending have one of their own.
pub fn mixed(machine: &Machine) -> Vec<Finding> {
    let Some(python) = &machine.python else { return Vec::new() };
    let mut by_library: BTreeMap<&str, Vec<(u32, &Package)>> = BTreeMap::new();
    for package in &python.packages {
        // Names that are only held have this version.
        if let Some((library, major)) = parts(&package.name).filter(|_| package.version != "0.0.1") {
            by_library.entry(library).or_default().push((major, package));
        }
    }
    by_library.retain(|_, of| of.len() > 1);
    let clashing: Vec<(u32, &Package)> = by_library.into_values().flatten().collect();
    let Some(keep) = kept(python, &clashing) else { return Vec::new() };
    let (right, wrong): (Vec<_>, Vec<_>) = clashing.into_iter().partition(|(major, _)| *major == keep);
    let (Some((_, one)), Some((_, other))) = (right.first(), wrong.first()) else { return Vec::new() };
    let sentence = format!(
        "{} and {} put their files into one directory and overwrite each other; {} belongs here",
        one.name,
        other.name,
        why(python, keep)
    );
    let start = finding(Severity::Warning, "cuda-wheels-mixed", sentence);
    let found = right.iter().chain(&wrong).fold(start, |f, (_, p)| f.seen(p.source.display().to_string()));
    let list = |of: &[(u32, &Package)], version: bool| -> String {
        let one = |p: &Package| {
            if version { format!(" {}=={}", p.name, p.version) } else { format!(" {}", p.name) }
        };
        of.iter().map(|(_, p)| one(p)).collect()
    };
    // Removing one takes files of the other with it.
    let (away, again) = (list(&wrong, false), list(&right, true));
    let remove = uninstall(python);
    vec![found.mend(format!("{remove}{away} && {} install --force-reinstall --no-deps{again}", python.pip))]
}

/// `nvidia-cudnn-cu12` is cudnn for 12.
fn parts(name: &str) -> Option<(&str, u32)> {
    let (library, major) = name.strip_prefix("nvidia-")?.rsplit_once("-cu")?;
    Some((library, major.parse().ok()?))
}

/// The major that is to stay: torch's, else that of JAX's plugin, else the newest.
fn kept(python: &Python, clashing: &[(u32, &Package)]) -> Option<u32> {
    let of = python
        .any(&["torch", "jax-cuda12-plugin", "jax-cuda13-plugin", "tensorflow"])
        .and_then(|p| p.build.cuda());
    let wanted = of.map(|v| v.major).filter(|major| clashing.iter().any(|(m, _)| m == major));
    wanted.or_else(|| clashing.iter().map(|(major, _)| *major).max())
}

fn why(python: &Python, major: u32) -> String {
    let user = python.packages.iter().find(|p| {
        parts(&p.name).is_none()
            && p.build.cuda().is_some_and(|v| v.major == major)
            && !p.name.starts_with("nvidia-")
    });
    match user {
        Some(user) => format!("-cu{major}, by {} {},", user.name, user.version),
        None => format!("-cu{major}, the newest,"),
    }
}
