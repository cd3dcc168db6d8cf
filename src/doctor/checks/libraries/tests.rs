//! Each check with a machine that has the fault and with one that is healthy.

use super::check;
use crate::compat::arch::Capability;
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::machine::Machine;
use crate::elf::cache;
use crate::facts::Fact;
use crate::facts::cudnn::{Installed, KINDS, Place};
use crate::facts::driver::{Module, Smi};
use crate::facts::gpu::Gpu;
use crate::facts::libraries::{Folder, Library};
use crate::facts::python::{Build, Bundled, Package, Python, Requirement, Search};
use cudaup_core::addon::Number;
use cudaup_core::identity::{Identity, Tree};
use cudaup_core::inventory::{Found, Kind};
use cudaup_core::origin::Origin;
use cudaup_core::version::Version;
use std::path::PathBuf;

fn number(text: &str) -> Number {
    Number::parse(text).unwrap()
}

fn package(name: &str, version: &str, wants: &[(&str, &str)]) -> Package {
    let requires = wants.iter().map(|(name, versions)| Requirement {
        name: (*name).into(),
        versions: (*versions).into(),
        extra: None,
    });
    let source = format!("/v/{name}-{version}.dist-info/METADATA").into();
    Package {
        name: name.into(),
        version: version.into(),
        source,
        requires: requires.collect(),
        ..Package::default()
    }
}

fn machine(packages: Vec<Package>) -> Machine {
    let python = Python { root: "/v".into(), pip: "pip".into(), packages, ..Python::default() };
    Machine { python: Some(python), ..Machine::bare() }
}

fn copy(lib: &str, header: Option<&str>, libraries: &[&str], copied: &[&str]) -> Installed {
    let at = |name: String| PathBuf::from(lib).join(name);
    Installed {
        kind: &KINDS[0],
        place: Place::System,
        header: header.map(|h| (number(h), "/usr/include/cudnn_version.h".into())),
        libraries: libraries.iter().map(|v| (number(v), at(format!("libcudnn.so.{v}")))).collect(),
        copied: copied.iter().map(|name| at((*name).to_owned())).collect(),
    }
}

fn with_copy(copy: Installed) -> Machine {
    let mut machine = Machine::bare();
    machine.libraries.installed.push(copy);
    machine
}

fn codes(machine: &Machine) -> Vec<&'static str> {
    check(machine).iter().map(|f| f.code).collect()
}

fn only(machine: &Machine) -> Finding {
    let found = check(machine);
    assert!(found.len() == 1 && !found[0].evidence.is_empty() && !found[0].remedy.is_empty(), "{found:#?}");
    let found = found.into_iter().next().unwrap();
    let page = format!("id = \"{}\"\n", found.code);
    assert!(include_str!("../../codes/libraries.toml").contains(&page), "{page}");
    found
}

#[test]
fn copies_where_links_belong() {
    let found = only(&with_copy(copy(
        "/usr/local/cuda-9.1/lib64",
        Some("7.0.5"),
        &["7.0.5"],
        &["libcudnn.so", "libcudnn.so.7"],
    )));
    assert_eq!((found.code, found.severity), ("library-copied", Severity::Warning));
    assert_eq!(
        found.remedy,
        [
            "ln -sf libcudnn.so.7.0.5 /usr/local/cuda-9.1/lib64/libcudnn.so",
            "ln -sf libcudnn.so.7.0.5 /usr/local/cuda-9.1/lib64/libcudnn.so.7"
        ]
    );
    assert_eq!(codes(&with_copy(copy("/usr/lib", Some("7.0.5"), &["7.0.5"], &[]))), [""; 0]);
    let two = only(&with_copy(copy("/usr/lib", None, &["8.9.7", "9.1.0"], &["libcudnn.so.8"])));
    assert_eq!(two.remedy, ["ln -sf libcudnn.so.8.9.7 /usr/lib/libcudnn.so.8"]);
}

#[test]
fn headers_of_one_release_and_libraries_of_another() {
    let at = |header, libraries: &[&str]| check(&with_copy(copy("/usr/lib", Some(header), libraries, &[])));
    assert_eq!(at("8.9.7", &["9.1.0"])[0].severity, Severity::Warning);
    assert_eq!(at("9.3.0", &["9.1.0"])[0].severity, Severity::Warning);
    assert_eq!(at("9.1.0", &["9.3.0"])[0].severity, Severity::Note);
    assert!(at("9.1.0", &["8.9.7", "9.1.1"]).is_empty());
    assert_eq!(codes(&with_copy(copy("/usr/lib", None, &["9.1.0"], &[]))), [""; 0]);
}

#[test]
fn a_cudnn_in_a_toolkit_of_another_major() {
    let at = |cuda: &str, cudnn: &str| {
        let root = PathBuf::from("/usr/local/cuda-x");
        let place = Place::Toolkit(root.clone());
        let mut machine =
            with_copy(Installed { place, ..copy("/usr/local/cuda-x/lib64", Some(cudnn), &[], &[]) });
        machine.toolkits.found.push(Found {
            root,
            aliases: Vec::new(),
            kind: Kind::System,
            origin: Origin::Local,
            tree: Some(Tree::Toolkit(Identity::certain(Version::parse(cuda).unwrap()))),
            broken: None,
        });
        machine
    };
    let found = only(&at("11.8.0", "9.11.0"));
    assert_eq!(
        (found.code, found.remedy[0].as_str()),
        ("cudnn-other-cuda", "cudaup install 11.8.0 --with cudnn=9.10.2")
    );
    assert_eq!(codes(&at("13.0.2", "8.9.7")), ["cudnn-other-cuda"]);
    for (cuda, cudnn) in [
        ("11.8.0", "9.10.2"),
        ("12.4.1", "9.28.1"),
        ("13.0.2", "9.14.0"),
        ("9.1.85", "7.0.5"),
        ("14.0.0", "9.14.0"),
    ] {
        assert_eq!(codes(&at(cuda, cudnn)), [""; 0], "{cuda} {cudnn}");
    }
}

#[test]
fn the_cudnn_that_a_framework_was_built_with() {
    let wheel = |version: &str| package("nvidia-cudnn-cu12", version, &[]);
    let torch = package("torch", "2.5.1+cu124", &[("nvidia-cudnn-cu12", "==9.1.0.70")]);
    assert_eq!(codes(&machine(vec![torch.clone(), wheel("9.1.0.70")])), [""; 0]);
    assert_eq!(codes(&machine(vec![torch.clone(), wheel("9.5.1.17")])), [""; 0], "a newer one serves");
    let both = machine(vec![torch.clone(), wheel("9.1.0.70"), package("tensorflow", "2.19.0", &[])]);
    let found = only(&both);
    assert_eq!((found.code, found.severity), ("cudnn-older-than-built", Severity::Warning));
    assert!(
        found.sentence.starts_with("tensorflow 2.19.0 was built with cuDNN 9.3,")
            && !found.sentence.contains("broken")
    );
    let other = only(&machine(vec![torch.clone(), wheel("8.9.2.26")]));
    assert_eq!(
        (other.code, other.remedy[0].as_str()),
        ("cudnn-other-major", "pip install \"nvidia-cudnn-cu12>=9.1.0.70,<10\"")
    );
    let jax = package("jax-cuda12-plugin", "0.5.0", &[("nvidia-cudnn-cu12", "<10.0,>=9.1")]);
    assert_eq!(codes(&machine(vec![jax, wheel("9.0.0.312")])), ["cudnn-older-than-built"]);
    assert_eq!(codes(&machine(vec![torch, package("tensorflow", "9.9.9", &[])])), [""; 0]);
}

#[test]
fn a_gpu_that_cudnn_left_behind() {
    let mut at = machine(vec![package("nvidia-cudnn-cu12", "9.11.0.98", &[])]);
    let gpu = |capability: &str| Gpu {
        name: "GPU".into(),
        capability: Capability::parse(capability),
        ..Gpu::default()
    };
    at.gpus = Fact::Known(vec![gpu("6.1")], "nvidia-smi".into());
    assert_eq!(only(&at).code, "cudnn-gpu-too-old");
    at.gpus = Fact::Known(vec![gpu("7.5")], "nvidia-smi".into());
    assert_eq!(codes(&at), [""; 0]);
}

#[test]
fn the_library_of_the_driver() {
    let mut at = Machine::bare();
    assert_eq!(codes(&at), [""; 0], "no driver at all is another matter");
    at.driver.module = Fact::Known(
        Module { version: Some("470.57.02".into()), open: None },
        "/proc/driver/nvidia/version".into(),
    );
    assert_eq!(codes(&at), [""; 0], "what the loader goes by is not known");
    at.loader.cache = vec![cache::Library { soname: "libc.so.6".into(), file: "/lib/libc.so.6".into() }];
    assert_eq!((only(&at).code, only(&at).severity), ("libcuda-missing", Severity::Problem));
    at.platform.container = Some("docker".into());
    at.vars.put("NVIDIA_DRIVER_CAPABILITIES", Some("utility".into()));
    let found = only(&at);
    assert!(found.evidence.iter().any(|e| e == "NVIDIA_DRIVER_CAPABILITIES=utility"));
    assert!(found.remedy[0].contains("compute,utility"));
    let said = |cuda| Smi::Said { program: None, driver: Some("470.57.02".into()), cuda, odd: None };
    at.driver.smi = said(Some(Version::release(11, 4)));
    assert_eq!(codes(&at), [""; 0], "nvidia-smi asked it for its CUDA");
    at.driver.smi = said(None);
    assert_eq!(only(&at).code, "libcuda-missing");
    for library in [Fact::Known("470.57.02".into(), "x".into()), Fact::Unknown("could not read it".into())] {
        at.driver.library = library;
        assert_eq!(codes(&at), [""; 0]);
    }
}

#[test]
fn the_runtime_that_a_package_asks_for() {
    let mut at = machine(vec![Package {
        build: Build::Cuda(Version::release(12, 2)),
        ..package("onnxruntime-gpu", "1.20.1", &[])
    }]);
    assert_eq!(codes(&at), [""; 0], "the loader's cache was not read");
    let library = |name: &str| cache::Library { soname: name.into(), file: "/x".into() };
    at.loader.cache = vec![library("libcudart.so.13")];
    assert_eq!(only(&at).code, "libcudart-missing");
    at.loader.cache.push(library("libcudart.so.12"));
    assert_eq!(codes(&at), [""; 0]);
}

#[test]
fn an_older_library_before_the_one_that_torch_brings() {
    let mut at =
        machine(vec![package("torch", "2.4.1", &[]), package("nvidia-cublas-cu12", "12.4.5.8", &[])]);
    let ahead = |version: &str| {
        let library =
            Library { soname: "libcublas.so.12".into(), version: Some(number(version)), wheel: "cublas" };
        vec![Folder { path: "/usr/local/cuda-12.1/lib64".into(), libraries: vec![library] }]
    };
    let python = at.python.as_mut().unwrap();
    python.bundled = vec![Bundled {
        soname: "libcublas.so.12".into(),
        file: "/v/nvidia/cublas/lib/libcublas.so.12".into(),
    }];
    python.search = Some(Search::PathFirst);
    at.libraries.ahead = ahead("12.1.3.1");
    let found = only(&at);
    assert_eq!(
        (found.code, found.severity, found.remedy[0].as_str()),
        ("library-shadowed", Severity::Warning, "unset LD_LIBRARY_PATH")
    );
    at.libraries.ahead = ahead("12.4.5.8");
    assert_eq!(codes(&at), [""; 0]);
    at.libraries.ahead = ahead("12.9.1.4");
    assert_eq!(codes(&at), [""; 0]);
    at.libraries.ahead = ahead("12.1.3.1");
    at.python.as_mut().unwrap().search = Some(Search::OwnFirst);
    assert_eq!(codes(&at), [""; 0], "its own list comes first");
}
