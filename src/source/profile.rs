//! How much of a toolkit is wanted: profiles, components by name, and what these need in turn.

use crate::source::component::{self, COMPONENTS, Component};
use cudaup_core::version::Version;
use std::fmt;

/// How much of a toolkit is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// What compiling and linking needs.
    Minimal,
    /// And the libraries and small tools of NVIDIA's own installer, without static archives of the math libraries.
    Default,
    /// And everything else that the source has.
    Full,
    /// Only the components that were named, and what they need.
    Chosen,
}

impl Profile {
    /// Reads `minimal`, `default` or `full`.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Minimal, Self::Default, Self::Full].into_iter().find(|p| p.to_string() == text)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Minimal => "minimal",
            Self::Default => "default",
            Self::Full => "full",
            Self::Chosen => "chosen parts",
        })
    }
}

/// What a user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The profile.
    pub profile: Profile,
    /// Components by name, besides those of the profile.
    pub components: Vec<&'static Component>,
}

impl Wish {
    /// A profile and nothing else.
    pub const fn of(profile: Profile) -> Self {
        Self { profile, components: Vec::new() }
    }

    /// Reads the two options: components alone mean just these. The error is the name that nobody knows.
    pub fn read<'a>(profile: Option<Profile>, names: &[&'a str]) -> Result<Self, &'a str> {
        let mut components = Vec::new();
        for name in names {
            components.push(component::named(name).ok_or(*name)?);
        }
        let nothing_named = components.is_empty();
        let fallback = if nothing_named { Profile::Default } else { Profile::Chosen };
        Ok(Self { profile: profile.unwrap_or(fallback), components })
    }

    /// What asks for it on the command line, with a blank before each option.
    pub fn options(&self) -> String {
        let profile = Some(self.profile).filter(|p| *p != Profile::Chosen);
        let profile = profile.map_or_else(String::new, |p| format!(" --profile {p}"));
        let names: Vec<&str> = self.components.iter().map(|component| component.name).collect();
        match names.as_slice() {
            [] => profile,
            names => format!("{profile} --components {}", names.join(",")),
        }
    }

    /// Whether a compiler is asked for, and not just the headers that come in its archive.
    pub fn compiler(&self) -> bool {
        self.profile != Profile::Chosen || self.components.iter().any(|c| c.name == "cuda_nvcc")
    }
}

/// The components that a wish means in one release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Without these the install is refused.
    pub must: Vec<&'static str>,
    /// Those of these that the source does not have are named.
    pub may: Vec<&'static str>,
    /// Whether everything else that the source has is wanted too.
    pub rest: bool,
}

impl Selection {
    /// Whether a component is wanted. What is to be had by name only is not among the rest.
    pub fn has(&self, name: &str) -> bool {
        let rest = self.rest && component::exact(name).is_none_or(|c| c.profile.is_some());
        rest || self.must.contains(&name) || self.may.contains(&name)
    }
}

/// What a wish means in a release.
pub fn select(wish: &Wish, version: Version) -> Selection {
    let mut selection = Selection { rest: wish.profile == Profile::Full, ..Selection::default() };
    for named in &wish.components {
        add(&mut selection, named, version, true);
    }
    if wish.profile != Profile::Chosen {
        for component in COMPONENTS.iter().filter(|c| c.profile.is_some_and(|p| p <= wish.profile)) {
            if exists(component, version) {
                add(&mut selection, component, version, component.must);
            }
        }
    }
    selection.may.retain(|name| !selection.must.contains(name));
    selection
}

fn exists(component: &Component, version: Version) -> bool {
    component.since.is_none_or(|since| version >= since) && component.before.is_none_or(|end| version < end)
}

/// Adds a component and what it needs; what a must-part needs in order to compile is one too.
fn add(selection: &mut Selection, component: &'static Component, version: Version, must: bool) {
    if !exists(component, version)
        && let Some(whole) = component.inside.and_then(component::named)
    {
        return add(selection, whole, version, must);
    }
    let list = if must { &mut selection.must } else { &mut selection.may };
    if list.contains(&component.name) {
        return;
    }
    list.push(component.name);
    for need in component.needs.iter().filter_map(|n| component::named(n)) {
        let optional = need.profile == Some(Profile::Minimal) && !need.must;
        if exists(need, version) || need.inside.is_some() {
            add(selection, need, version, must && !optional);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&'static str], version: Version) -> Selection {
        select(&Wish::read(None, names).unwrap(), version)
    }

    const V13: Version = Version::exact(13, 0, 2);
    const V12: Version = Version::exact(12, 4, 1);

    #[test]
    fn minimal_is_the_compile_and_link_closure() {
        let got = select(&Wish::of(Profile::Minimal), V13);
        assert_eq!(got.must, ["cuda_nvcc", "cuda_crt", "libnvvm", "cuda_cudart", "cuda_cccl"]);
        assert_eq!(got.may, ["cuda_culibos"]);
        let old = select(&Wish::of(Profile::Minimal), V12);
        assert_eq!(old.must, ["cuda_nvcc", "cuda_cudart", "cuda_cccl"]);
        assert!(old.may.is_empty() && !old.rest);
    }

    #[test]
    fn nvcc_alone_brings_what_it_cannot_compile_without() {
        let got = chosen(&["nvcc"], V13);
        assert_eq!(got.must, ["cuda_nvcc", "cuda_crt", "libnvvm", "cuda_cudart", "cuda_cccl"]);
        assert_eq!(got.may, ["cuda_culibos"]);
    }

    #[test]
    fn libraries_bring_the_libraries_that_they_load() {
        assert_eq!(
            chosen(&["cusolver"], V13).must,
            ["libcusolver", "libcublas", "libcusparse", "libnvjitlink"]
        );
        assert_eq!(chosen(&["cufft"], Version::exact(11, 8, 0)).must, ["libcufft"]);
    }

    #[test]
    fn before_13_the_runtime_takes_its_headers_from_the_compilers_archive() {
        assert_eq!(chosen(&["cudart"], V12).must, ["cuda_cudart", "cuda_nvcc", "cuda_cccl"]);
        assert_eq!(chosen(&["cudart"], V13).must, ["cuda_cudart", "cuda_crt", "cuda_cccl"]);
        assert!(!Wish::read(None, &["cudart"]).unwrap().compiler());
        assert!(Wish::read(None, &["cudart", "nvcc"]).unwrap().compiler());
    }

    #[test]
    fn profiles_grow_and_names_come_on_top() {
        let default = select(&Wish::of(Profile::Default), V13);
        assert!(default.has("libcublas") && default.has("cuda_gdb") && !default.has("libnvptxcompiler"));
        assert!(!default.must.contains(&"libcublas") && !default.rest);
        let full = select(&Wish::of(Profile::Full), V13);
        assert!(full.has("a component of tomorrow") && full.has("cuda_ctadvisor"));
        assert!(!full.has("nsight_systems") && !full.has("cuda_documentation") && !full.has("libcudla"));
        assert!(!full.may.contains(&"cuda_nvprof"), "it ended with 12.9");
        assert!(select(&Wish::of(Profile::Full), V12).may.contains(&"cuda_nvprof"));
        assert_eq!(chosen(&["nsys"], V13).must, ["nsight_systems"]);
        let both = select(&Wish::read(Some(Profile::Minimal), &["cublas"]).unwrap(), V13);
        assert!(
            both.must.contains(&"libcublas") && both.must.contains(&"cuda_nvcc") && !both.has("libcufft")
        );
        assert!(!select(&Wish::of(Profile::Default), Version::exact(12, 3, 2)).has("libnvfatbin"));
    }

    #[test]
    fn unknown_names_are_given_back() {
        assert_eq!(Wish::read(None, &["nvcc", "cudnn"]), Err("cudnn"));
        assert_eq!(Wish::read(None, &[]).unwrap().profile, Profile::Default);
        assert_eq!(Profile::parse("chosen parts"), None);
    }
}
