//! What a change of toolkit means for the build directories of a project: CMake goes on with what it was configured with.

use crate::command::Context;
use crate::facts::build_directory::{BuildDirectory, With, of_project, real};
use crate::ui::view::Style;
use cudaup_core::resolve::Choice;
use std::path::{Path, PathBuf};

/// So many build directories are named one by one.
const NAMED: usize = 3;

/// One build directory.
#[derive(Debug)]
struct Build {
    path: PathBuf,
    source: Option<PathBuf>,
    with: Vec<With>,
}

/// The one line about build directories here that were configured with another toolkit than the one that applies now;
/// `before` applied until now.
pub fn note(context: &Context, before: Option<&Choice>, now: &Choice) -> Option<String> {
    let here = context.host.cwd.as_ref()?;
    let builds: Vec<Build> = of_project(here).into_iter().map(|build| look(context, build)).collect();
    let style = Style { color: false, user_home: context.host.user_home.clone() };
    let root = real(&now.toolkit.root);
    let is_new = before.is_some_and(|before| real(&before.toolkit.root) != root);
    think(&builds, &root, is_new, here, &style)
}

fn look(context: &Context, build: BuildDirectory) -> Build {
    let with = build.cached.with(&context.home.shims(), &context.disk);
    Build { path: build.path, source: build.cached.source, with }
}

/// The line, if there is anything to say. A shim alone is worth a word only where it means another toolkit than before.
fn think(builds: &[Build], root: &Path, is_new: bool, here: &Path, style: &Style) -> Option<String> {
    let is_other = |with: &With| match with {
        With::Toolkit(other, _) => other != root,
        With::Gone(_) => true,
        With::Shim => false,
    };
    let other = |build: &Build| {
        let shim = || build.with.iter().find(|with| is_new && **with == With::Shim && build.with.len() == 1);
        build.with.iter().find(|with| is_other(with)).or_else(shim).map(|with| words(with, style))
    };
    let stale: Vec<(&Build, String)> = builds.iter().filter_map(|b| Some((b, other(b)?))).collect();
    let name = |build: &Build| name(&build.path, here, style);
    let (first, what) = stale.first()?;
    if stale.len() == 1 {
        let cache = if first.path == here {
            "CMakeCache.txt".to_owned()
        } else {
            format!("{}/CMakeCache.txt", name(first))
        };
        let said = format!("note: {} was configured with {what} ({cache})", name(first));
        let fresh = fresh(first, here);
        let fit = builds
            .iter()
            .find(|build| !build.with.is_empty() && !stale.iter().any(|(s, _)| s.path == build.path));
        return Some(match fit {
            Some(fit) => format!("{said}; {} fits, or: {fresh}", name(fit)),
            None => format!("{said}; before the next build: {fresh}"),
        });
    }
    let mut named: Vec<String> =
        stale.iter().take(NAMED).map(|(b, what)| format!("{} ({what})", name(b))).collect();
    if stale.len() > NAMED {
        named.push(format!("{} more", stale.len() - NAMED));
    }
    let last = named.pop()?;
    Some(format!(
        "note: {} and {last} were configured with other toolkits; before the next build in one: {}",
        named.join(", "),
        fresh(first, here)
    ))
}

fn words(with: &With, style: &Style) -> String {
    match with {
        With::Toolkit(_, Some(release)) => format!("CUDA {release}"),
        With::Toolkit(root, None) => style.path(root),
        With::Shim => "cudaup's shim of nvcc, which means another toolkit now".into(),
        With::Gone(nvcc) => format!("{}, which is gone", style.path(nvcc)),
    }
}

fn name(path: &Path, here: &Path, style: &Style) -> String {
    match path.strip_prefix(here) {
        Ok(below) if below.as_os_str().is_empty() => "this directory".into(),
        Ok(below) => style.path(below),
        Err(_) => style.path(path),
    }
}

/// What configures a build directory anew, to be typed where one stands.
fn fresh(build: &Build, here: &Path) -> String {
    let typed = |path: &Path| {
        let below = path.strip_prefix(here).unwrap_or(path);
        let text = if below.as_os_str().is_empty() { ".".into() } else { below.to_string_lossy() };
        shell_words::quote(&text).into_owned()
    };
    let source = build.source.as_deref().filter(|source| *source != here);
    let source = source.map_or_else(String::new, |source| format!("-S {} ", typed(source)));
    format!("cmake --fresh {source}-B {}", typed(&build.path))
}

#[cfg(test)]
mod tests {
    use super::{Build, With, think};
    use crate::ui::view::Style;
    use std::path::Path;

    fn build(path: &str, with: Vec<With>) -> Build {
        Build { path: path.into(), source: Some("/p".into()), with }
    }

    fn cuda(release: &str) -> With {
        With::Toolkit(format!("/opt/{release}").into(), Some(release.into()))
    }

    /// What is said in /p, where 13.0.2 applies now.
    fn said(builds: &[Build], is_new: bool) -> Option<String> {
        let style = Style { color: false, user_home: Some("/home/u".into()) };
        think(builds, Path::new("/opt/13.0.2"), is_new, Path::new("/p"), &style)
    }

    #[test]
    fn one_of_another_toolkit_is_named_with_what_mends_it() {
        let one = [build("/p/build", vec![cuda("11.8.0")])];
        let note = "note: build was configured with CUDA 11.8.0 (build/CMakeCache.txt); before the next build: cmake --fresh -B build";
        assert_eq!(said(&one, true).as_deref(), Some(note));
        assert_eq!(said(&one, false).as_deref(), Some(note));
    }

    #[test]
    fn nothing_is_said_where_all_fit() {
        assert_eq!(said(&[], true), None);
        assert_eq!(said(&[build("/p/build", vec![cuda("13.0.2")])], true), None);
        // A library of a Python package is no toolkit.
        assert_eq!(said(&[build("/p/build", vec![])], true), None);
        // The shim means the same as before; and its cache can hold the toolkit itself beside it.
        assert_eq!(said(&[build("/p/build", vec![With::Shim])], false), None);
        assert_eq!(said(&[build("/p/build", vec![With::Shim, cuda("13.0.2")])], true), None);
    }

    #[test]
    fn a_cache_with_parts_of_two_toolkits_is_of_another_whichever_comes_first() {
        for with in [vec![cuda("13.0.2"), cuda("12.4.1")], vec![With::Shim, cuda("12.4.1")]] {
            let note = said(&[build("/p/build", with)], false).unwrap();
            assert!(note.starts_with("note: build was configured with CUDA 12.4.1 ("), "{note}");
        }
    }

    #[test]
    fn another_build_directory_that_fits_is_named() {
        let two = [build("/p/build-12", vec![cuda("12.4.1")]), build("/p/build-13", vec![cuda("13.0.2")])];
        let note = said(&two, true).unwrap();
        assert!(note.ends_with("; build-13 fits, or: cmake --fresh -B build-12"), "{note}");
    }

    #[test]
    fn shims_lost_toolkits_and_nameless_ones_in_words() {
        let what = |with| said(&[build("/p/build", vec![with])], true).unwrap();
        let shim = what(With::Shim);
        assert!(shim.contains("with cudaup's shim of nvcc, which means another toolkit now ("), "{shim}");
        let gone = what(With::Gone("/home/u/.cudaup/toolkits/12.1.1/bin/nvcc".into()));
        assert!(gone.contains("with ~/.cudaup/toolkits/12.1.1/bin/nvcc, which is gone ("), "{gone}");
        let nameless = what(With::Toolkit("/home/u/mine".into(), None));
        assert!(nameless.contains("with ~/mine ("), "{nameless}");
    }

    #[test]
    fn standing_in_the_build_directory_and_a_project_elsewhere() {
        let mut inside = build("/p", vec![cuda("12.4.1")]);
        inside.source = Some("/my src".into());
        assert_eq!(
            said(&[inside], true).unwrap(),
            "note: this directory was configured with CUDA 12.4.1 (CMakeCache.txt); before the next build: cmake --fresh -S '/my src' -B ."
        );
        let below = Build { source: Some("/p/sub".into()), ..build("/p/a b", vec![cuda("12.4.1")]) };
        assert!(said(&[below], true).unwrap().ends_with(": cmake --fresh -S sub -B 'a b'"));
    }

    #[test]
    fn many_are_counted_and_still_one_line() {
        let many = |count: usize| {
            let builds: Vec<_> =
                (0..count).map(|n| build(&format!("/p/b{n}"), vec![cuda("12.4.1")])).collect();
            said(&builds, true).unwrap()
        };
        assert_eq!(
            many(2),
            "note: b0 (CUDA 12.4.1) and b1 (CUDA 12.4.1) were configured with other toolkits; before the next build in one: cmake --fresh -B b0"
        );
        assert!(
            many(3).contains("b0 (CUDA 12.4.1), b1 (CUDA 12.4.1) and b2 (CUDA 12.4.1) were"),
            "{}",
            many(3)
        );
        assert!(many(5).contains(", b2 (CUDA 12.4.1) and 2 more were"), "{}", many(5));
        assert!(!many(70).contains('\n'));
    }
}
