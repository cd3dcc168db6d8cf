//! Checks of what builds leave behind and are given: build directories, caches, copies of CCCL, room on the disk.

use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::{Build, Machine, Place};
use crate::facts::build_directory::With;
use crate::ui::view::size;
use std::path::Path;

/// All checks of this layer.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 5] = [cmake, extensions, kernels, cccl, room];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Builds, code, sentence)
}

fn typed(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// Build directories that CMake configured with another toolkit, or with one that is gone.
fn cmake(machine: &Machine) -> Vec<Finding> {
    machine.builds.cmake.iter().filter_map(|build| stale(machine, build)).collect()
}

fn stale(machine: &Machine, build: &Build) -> Option<Finding> {
    let cache = build.path.join("CMakeCache.txt").display().to_string();
    let gone = build.with.iter().find_map(|with| match with {
        With::Gone(nvcc) => Some(nvcc),
        _ => None,
    });
    let found = if let Some(nvcc) = gone {
        let sentence = format!(
            "the build directory {} was configured with {}, which is gone",
            build.path.display(),
            nvcc.display()
        );
        finding(Severity::Problem, "build-directory-toolkit-gone", sentence).seen(cache)
    } else {
        let (root, version) = machine.toolkit()?;
        let other = build.with.iter().find_map(|with| match with {
            With::Toolkit(other, release) if other != root => Some((other, release)),
            _ => None,
        });
        let (other, release) = other?;
        let title =
            release.as_ref().map_or_else(|| other.display().to_string(), |release| format!("CUDA {release}"));
        let sentence = format!(
            "the build directory {} was configured with {title} and goes on with it, while CUDA {version} serves here",
            build.path.display()
        );
        finding(Severity::Warning, "build-directory-other-toolkit", sentence)
            .seen(cache)
            .seen(other.display().to_string())
    };
    let source = build.source.as_deref().map_or_else(String::new, |source| format!("-S {} ", typed(source)));
    Some(found.mend(format!("cmake --fresh {source}-B {}", typed(&build.path))))
}

/// Extensions that torch compiled with another nvcc.
fn extensions(machine: &Machine) -> Vec<Finding> {
    let root = machine.toolkit().map(|(root, _)| root);
    let of = |extension: &crate::doctor::machine::ExtensionCache| {
        let (path, nvcc) = (extension.path.display(), extension.nvcc.display());
        let found = if !extension.exists {
            let sentence = format!("torch compiled the extension {path} with {nvcc}, which is gone");
            finding(Severity::Warning, "torch-extension-toolkit-gone", sentence)
        } else if root.is_some() && extension.root.as_deref() != root {
            let sentence = format!(
                "torch compiled the extension {path} with {nvcc}, not with the toolkit that serves here"
            );
            finding(Severity::Note, "torch-extension-other-toolkit", sentence)
        } else {
            return None;
        };
        Some(
            found
                .seen(format!("{path}/build.ninja"))
                .mend(format!("rm -r {}   (torch compiles it again)", typed(&extension.path))),
        )
    };
    machine.builds.extensions.iter().filter_map(of).collect()
}

/// The driver's cache of compiled PTX.
fn kernels(machine: &Machine) -> Vec<Finding> {
    let Some(cache) = machine.builds.kernels.as_ref().filter(|cache| !cache.writable) else {
        return Vec::new();
    };
    let path = cache.path.display();
    let sentence = format!(
        "{path} cannot be written: what the driver compiles from PTX is compiled again at every start"
    );
    let found = finding(Severity::Warning, "jit-cache-unwritable", sentence).seen(format!("ls -ld {path}"));
    vec![found.mend("export CUDA_CACHE_PATH=/a/directory/of/yours")]
}

/// A copy of CCCL in the project that the compiler does not reach: CPATH comes before what `-isystem` names.
fn cccl(machine: &Machine) -> Vec<Finding> {
    let Some(copy) = machine.builds.cccl.first() else { return Vec::new() };
    let entries = machine.list("CPATH").map(|list| list.entries.as_slice()).unwrap_or_default();
    let Some(entry) = entries.iter().find(|entry| entry.root.is_some()) else { return Vec::new() };
    let text = entry.text.to_string_lossy();
    let sentence = format!(
        "the project brings its own Thrust and CUB in {}, and CPATH puts those of {text} before it where it is included as a system directory",
        copy.display()
    );
    let found = finding(Severity::Warning, "cccl-shadowed", sentence)
        .seen(format!("CPATH has {text}"))
        .seen(copy.display().to_string());
    vec![
        found
            .mend("write `cpath = off` below the version in .cuda-version")
            .mend("unset CPATH   (for this shell)"),
    ]
}

/// Disks with little room left.
fn room(machine: &Machine) -> Vec<Finding> {
    let full: Vec<&Place> = machine.places.iter().filter(|place| place.is_nearly_full()).collect();
    let of = |place: &&Place| {
        let sentence = format!(
            "the disk of {} ({}) is nearly full: {} free of {}",
            place.path.display(),
            place.what,
            size(place.free),
            size(place.size)
        );
        let severity = if place.free < NOTHING { Severity::Problem } else { Severity::Warning };
        let found =
            finding(severity, "disk-nearly-full", sentence).seen(format!("df {}", typed(&place.path)));
        let sizes = &machine.builds.sizes;
        let found = sizes
            .iter()
            .map(|(path, bytes, _)| format!("{} holds {}", path.display(), size(*bytes)))
            .fold(found, Finding::seen);
        let mut commands: Vec<&str> = sizes.iter().map(|(_, _, command)| *command).collect();
        commands.dedup();
        let found = commands.into_iter().fold(found, Finding::mend);
        if sizes.is_empty() {
            found.mend(format!("du -xh {} | sort -h | tail   (what fills it)", typed(&place.path)))
        } else {
            found
        }
    };
    full.iter().map(of).collect()
}

/// With less than this not even an object file has room.
const NOTHING: u64 = 16_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::machine::{Entry, ExtensionCache, KernelCache, SearchList};
    use std::path::PathBuf;

    fn codes(machine: &Machine) -> Vec<(&'static str, Severity)> {
        check(machine).into_iter().map(|found| (found.code, found.severity)).collect()
    }

    fn built(with: With) -> Machine {
        let mut machine = Machine::with_toolkit("12.4.1");
        machine.builds.cmake =
            vec![Build { path: "/p/my build".into(), source: Some("/p".into()), with: vec![with] }];
        machine
    }

    #[test]
    fn build_directories() {
        assert_eq!(codes(&built(With::Toolkit("/usr/local/cuda-12.4".into(), None))), []);
        assert_eq!(codes(&built(With::Shim)), []);
        let other = check(&built(With::Toolkit("/opt/cuda-11.8".into(), Some("11.8.0".into()))));
        assert_eq!((other[0].code, other[0].severity), ("build-directory-other-toolkit", Severity::Warning));
        assert!(other[0].sentence.contains("CUDA 11.8.0"), "{}", other[0].sentence);
        assert_eq!(other[0].remedy, ["cmake --fresh -S /p -B '/p/my build'"]);
        let gone = built(With::Gone("/opt/gone/bin/nvcc".into()));
        assert_eq!(codes(&gone), [("build-directory-toolkit-gone", Severity::Problem)]);
        let bare = Machine { builds: built(With::Toolkit("/opt/x".into(), None)).builds, ..Machine::bare() };
        assert_eq!(codes(&bare), [], "nothing serves here that it could differ from");
    }

    #[test]
    fn caches_of_extensions_and_kernels() {
        let extension = |root: &str, exists: bool| {
            let mut machine = Machine::with_toolkit("12.4.1");
            let root = PathBuf::from(root);
            let nvcc = root.join("bin/nvcc");
            machine.builds.extensions =
                vec![ExtensionCache { path: "/c/x".into(), nvcc, exists, root: Some(root) }];
            codes(&machine)
        };
        assert_eq!(extension("/usr/local/cuda-12.4", true), []);
        assert_eq!(extension("/opt/cuda-11.8", true), [("torch-extension-other-toolkit", Severity::Note)]);
        assert_eq!(extension("/opt/cuda-11.8", false), [("torch-extension-toolkit-gone", Severity::Warning)]);
        let mut machine = Machine::bare();
        machine.builds.kernels =
            Some(KernelCache { path: "/home/u/.nv/ComputeCache".into(), writable: true });
        assert_eq!(codes(&machine), []);
        machine.builds.kernels =
            Some(KernelCache { path: "/home/u/.nv/ComputeCache".into(), writable: false });
        assert_eq!(codes(&machine), [("jit-cache-unwritable", Severity::Warning)]);
    }

    #[test]
    fn a_copy_of_cccl_behind_cpath() {
        let mut machine = Machine::with_toolkit("12.4.1");
        machine.builds.cccl = vec!["/p/third_party/cccl".into()];
        assert_eq!(codes(&machine), []);
        let root = Some("/usr/local/cuda-12.4".into());
        let entry = Entry { text: "/usr/local/cuda/include".into(), exists: true, root, ..Entry::default() };
        machine.lists = vec![SearchList { name: "CPATH", entries: vec![entry] }];
        assert_eq!(codes(&machine), [("cccl-shadowed", Severity::Warning)]);
    }

    #[test]
    fn little_room() {
        let with = |free: u64, size: u64| {
            let mut machine = Machine::bare();
            machine.places = vec![Place { what: "home", path: "/home/u".into(), free, size }];
            machine.builds.sizes = vec![("/home/u/.cache/pip".into(), 3_000_000_000, "pip cache purge")];
            check(&machine)
        };
        assert_eq!(with(50_000_000_000, 100_000_000_000), []);
        assert_eq!(with(1_900_000_000, 2_000_000_000), [], "a small one that is empty");
        let full = with(900_000_000, 100_000_000_000);
        assert_eq!((full[0].code, full[0].severity), ("disk-nearly-full", Severity::Warning));
        assert!(full[0].sentence.contains("900 MB free of 100 GB"), "{}", full[0].sentence);
        assert!(
            full[0].evidence.contains(&"/home/u/.cache/pip holds 3.00 GB".to_owned()),
            "{:?}",
            full[0].evidence
        );
        assert_eq!(full[0].remedy, ["pip cache purge"]);
        assert_eq!(with(1_000, 100_000_000_000)[0].severity, Severity::Problem);
    }
}
