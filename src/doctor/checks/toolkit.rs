//! Checks of the toolkits: the one that is asked for, the parts in it, others that are in its way.

use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::Machine;
use cudaup_core::fitness::Broken;
use cudaup_core::identity::Tree;
use cudaup_core::inventory::Kind;
use cudaup_core::refusal::{Refusal, Rule, Why};
use cudaup_core::version::Version;
use std::path::Path;

/// All checks of this layer.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 9] =
        [refused, absent, parts, of_other_machine, broken, another_first, several, not_followed, moved];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Toolkit, code, sentence)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// What is asked for cannot be read or is not there.
fn refused(machine: &Machine) -> Vec<Finding> {
    let Err(refusal) = &machine.toolkits.chosen else { return Vec::new() };
    let code = match &refusal.why {
        Why::Unreadable(_) | Why::Bad(_) | Why::Request(_) => "pin-unreadable",
        Why::AddonAbsent(_) => "addon-missing",
        Why::OddRoot(_) | Why::StateTooLong(_) => "toolkit-odd-path",
        Why::NotInstalled(..) | Why::LinkGone(..) | Why::LinkUnfit(..) | Why::Unfit(_) => "pin-unmet",
    };
    let found = finding(Severity::Problem, code, refusal.to_string()).seen(asker(refusal));
    let found = refusal.tries().into_iter().fold(found, Finding::mend);
    vec![found.explaining(&["no-toolkit", "cuda-home-missing", "nvcc-not-the-chosen", "toolkit-broken"])]
}

fn asker(refusal: &Refusal) -> String {
    refusal.rule.to_string()
}

/// There is none. That is no fault where nothing needs one.
fn absent(machine: &Machine) -> Vec<Finding> {
    let toolkits = &machine.toolkits;
    if !matches!(toolkits.chosen, Ok(None)) || !toolkits.nvcc.is_empty() {
        return Vec::new();
    }
    let needed = machine.builds.cmake.first();
    let severity = if needed.is_some() { Severity::Warning } else { Severity::Note };
    let sentence = "there is no CUDA toolkit here, so that nothing can be compiled with nvcc";
    let found =
        finding(severity, "no-toolkit", sentence).seen("looked in /usr/local, /opt, PATH and ~/.cudaup");
    let found = match needed {
        Some(build) => found.seen(format!("{} was configured with CUDA", build.path.display())),
        None => found,
    };
    vec![found.mend("cudaup install latest")]
}

/// Parts that every compilation needs are not in the toolkit.
fn parts(machine: &Machine) -> Vec<Finding> {
    let (Some(inside), Some((root, version))) = (&machine.toolkits.inside, machine.toolkit()) else {
        return Vec::new();
    };
    if inside.mixed {
        return Vec::new();
    }
    let shown = root.display();
    if !inside.nvcc {
        let sentence =
            format!("CUDA {version} in {shown} has no nvcc: it can run programs and not compile them");
        let found = finding(Severity::Note, "nvcc-not-in-toolkit", sentence)
            .seen(format!("{shown}/bin/nvcc is not there"));
        return vec![found.mend(format!("cudaup install {}", release(version)))];
    }
    // A script may know other places for them.
    let severity = if inside.program { Severity::Problem } else { Severity::Note };
    let mut found = Vec::new();
    if !inside.header {
        let sentence =
            format!("CUDA {version} in {shown} has no cuda_runtime.h, which every CUDA program includes");
        found.push(
            finding(severity, "cuda-runtime-header-missing", sentence)
                .seen(format!("no cuda_runtime.h below {shown}/include")),
        );
    }
    if !inside.runtime {
        let sentence = format!(
            "CUDA {version} in {shown} has no libcudart to link with, so that linking ends with `cannot find -lcudart`"
        );
        found.push(
            finding(severity, "cudart-missing", sentence)
                .seen(format!("no libcudart.so and no libcudart_static.a below {shown}/lib64")),
        );
    }
    found.into_iter().map(|found| found.mend(completed(machine, version))).collect()
}

fn release(version: Version) -> Version {
    Version { update: None, ..version }
}

/// What brings the runtime's headers and libraries.
fn completed(machine: &Machine, version: Version) -> String {
    let managed = machine.choice().is_some_and(|choice| choice.toolkit.kind == Kind::Managed);
    let release = release(version);
    if managed {
        "cudaup add cudart".to_owned()
    } else {
        format!("cudaup install {release} && cudaup use {release}")
    }
}

/// Trees for another machine.
fn of_other_machine(machine: &Machine) -> Vec<Finding> {
    const CODE: &str = "toolkit-other-machine";
    let first = machine.toolkits.nvcc.first();
    if let Some((nvcc, other)) = first.and_then(|nvcc| Some((nvcc, nvcc.other_machine?))) {
        let sentence = format!("the nvcc that typing it runs is a program for {other} and cannot run here");
        let found = finding(Severity::Problem, CODE, sentence).seen(shown(&nvcc.path));
        return vec![found.mend("cudaup install latest   (a toolkit for this machine)")];
    }
    let others = machine.toolkits.found.iter().filter_map(|found| match &found.tree {
        Some(Tree::OtherMachine(other)) => Some((found, *other)),
        _ => None,
    });
    let note = |(found, other): (&cudaup_core::inventory::Found, &str)| {
        let sentence =
            format!("the toolkit in {} is for {other} and is never chosen here", found.root.display());
        finding(Severity::Note, CODE, sentence).seen(format!("{}/bin/nvcc", found.root.display()))
    };
    others.map(note).collect()
}

/// Toolkits that are there and cannot serve.
fn broken(machine: &Machine) -> Vec<Finding> {
    let mut all = Vec::new();
    for found in &machine.toolkits.found {
        let gone = matches!(found.kind, Kind::Link(_)) && found.tree.is_none() && found.broken.is_none();
        let (name, root) = (title(found), found.root.display());
        let (what, severity) = match &found.broken {
            // Libraries for programs that were built elsewhere: many machines have just those.
            Some(Broken::NoNvcc) if found.kind != Kind::Managed => continue,
            Some(broken @ Broken::NoHeaders) => (broken.to_string(), Severity::Note),
            Some(broken) => (broken.to_string(), Severity::Warning),
            None if gone => ("it was removed".to_owned(), Severity::Warning),
            None => continue,
        };
        let found_ = finding(severity, "toolkit-broken", format!("the toolkit {name} cannot serve: {what}"));
        all.push(found_.seen(root.to_string()).mend(mended(found)));
    }
    all
}

fn title(found: &cudaup_core::inventory::Found) -> String {
    match (&found.kind, &found.tree) {
        (Kind::Link(name), _) => name.clone(),
        (_, Some(Tree::Toolkit(identity))) => format!("{identity} in {}", found.root.display()),
        _ => format!("in {}", found.root.display()),
    }
}

fn mended(found: &cudaup_core::inventory::Found) -> String {
    let version = match &found.tree {
        Some(Tree::Toolkit(identity)) => Some(identity.version),
        _ => None,
    };
    match (&found.kind, version) {
        (Kind::Managed, Some(version)) => {
            format!("cudaup uninstall --force {version} && cudaup install {version}")
        }
        (Kind::Link(name), _) => format!("cudaup unlink {name}"),
        (_, Some(version)) => format!("cudaup install {}   (one of its own)", release(version)),
        _ => format!("ls -l {}   (mend or remove it)", shell_words::quote(&found.root.to_string_lossy())),
    }
}

/// Typing nvcc runs another toolkit than the one that is asked for.
fn another_first(machine: &Machine) -> Vec<Finding> {
    let (Some(choice), Some((root, version))) = (machine.choice(), machine.toolkit()) else {
        return Vec::new();
    };
    let Some(first) = machine.toolkits.nvcc.first() else { return Vec::new() };
    if choice.rule == Rule::Machine
        || machine.toolkits.follows.shim_first
        || first.root.as_deref() == Some(root)
    {
        return Vec::new();
    }
    let other = first.identity.as_ref().map_or_else(String::new, |identity| format!(" {identity}"));
    let sentence =
        format!("CUDA {version} is asked for here, and typing nvcc runs{other} {}", first.path.display());
    let found = finding(Severity::Warning, "nvcc-not-the-chosen", sentence)
        .seen(format!("{} asks for {}", choice.rule, choice.request))
        .seen(format!("PATH has {} first", first.path.display()));
    let found = found.mend("cudaup exec -- nvcc ...   (this once)").explaining(&[
        "cuda-home-other-toolkit",
        "variables-mixed",
        "several-nvcc-on-path",
    ]);
    vec![if machine.toolkits.follows.hook {
        found
    } else {
        found.mend("cudaup init --write   (a new shell follows then)")
    }]
}

/// More than one nvcc on PATH: only the first one counts.
fn several(machine: &Machine) -> Vec<Finding> {
    let all = &machine.toolkits.nvcc;
    let [first, rest @ ..] = all.as_slice() else { return Vec::new() };
    let others: Vec<&Path> = rest.iter().filter(|n| n.root != first.root).map(|n| n.path.as_path()).collect();
    if others.is_empty() || machine.toolkits.follows.shim_first {
        return Vec::new();
    }
    let others = others.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
    let sentence = format!("PATH has several nvcc: {} counts, and hides {others}", first.path.display());
    let with = |nvcc: &crate::doctor::machine::Nvcc| {
        let release =
            nvcc.identity.as_ref().map_or_else(|| "of an unknown release".into(), ToString::to_string);
        format!("{}: {release}", nvcc.path.display())
    };
    let found = finding(Severity::Note, "several-nvcc-on-path", sentence);
    vec![all.iter().map(with).fold(found, Finding::seen)]
}

/// `/usr/local/cuda` is not what `use --global` made it.
fn moved(machine: &Machine) -> Vec<Finding> {
    let Some(moved) = &machine.toolkits.moved else { return Vec::new() };
    let sentence = format!(
        "/usr/local/cuda leads to {}, and `cudaup use --global` had pointed it to {}: most likely a package or an installer changed it",
        moved.now, moved.set
    );
    let found =
        finding(Severity::Warning, "global-link-moved", sentence).seen("/usr/local/.cudaup-global.json");
    vec![found.mend("cudaup use --global VERSION   (points it anew; nothing does so by itself)")]
}

/// There are toolkits of cudaup's, and this shell does not follow it.
fn not_followed(machine: &Machine) -> Vec<Finding> {
    let follows = machine.toolkits.follows;
    if !follows.useful || follows.hook || follows.shims {
        return Vec::new();
    }
    let sentence = "this shell does not follow cudaup: no hook runs in it, and the shims are not on PATH";
    let found =
        finding(Severity::Note, "shell-does-not-follow", sentence).seen("PATH, and no variable of a hook");
    vec![found.mend("cudaup init --write")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::machine::{Follows, Nvcc};
    use cudaup_core::identity::Identity;
    use cudaup_core::inventory::Found;
    use cudaup_core::origin::Origin;
    use cudaup_core::request::Request;
    use std::path::PathBuf;

    fn codes(machine: &Machine) -> Vec<(&'static str, Severity)> {
        check(machine).into_iter().map(|found| (found.code, found.severity)).collect()
    }

    fn nvcc(release: &str) -> Nvcc {
        let version = Version::parse(release).unwrap();
        let root = PathBuf::from(format!("/usr/local/cuda-{}.{}", version.major, version.minor.unwrap()));
        let identity = Some(Identity::certain(version));
        Nvcc { path: root.join("bin/nvcc"), root: Some(root), identity, other_machine: None }
    }

    #[test]
    fn a_whole_toolkit_is_healthy_and_none_is_a_note() {
        assert_eq!(codes(&Machine::with_toolkit("12.4.1")), []);
        assert_eq!(codes(&Machine::bare()), [("no-toolkit", Severity::Note)]);
    }

    #[test]
    fn a_pin_that_is_not_met_is_the_cause() {
        let mut machine = Machine::bare();
        let request = Request::Version(Version::parse("12.4").unwrap());
        let rule = Rule::Pin("/p/.cuda-version".into(), 1);
        machine.toolkits.chosen = Err(Refusal { rule, why: Why::NotInstalled(request, vec![]) });
        let found = check(&machine);
        assert_eq!((found.len(), found[0].code, found[0].severity), (1, "pin-unmet", Severity::Problem));
        assert!(found[0].sentence.contains("/p/.cuda-version:1"), "{}", found[0].sentence);
        assert_eq!(found[0].remedy, ["cudaup install 12.4"]);
    }

    #[test]
    fn parts_that_are_missing_are_named() {
        let mut machine = Machine::with_toolkit("12.4.1");
        let inside = machine.toolkits.inside.as_mut().unwrap();
        (inside.header, inside.runtime) = (false, false);
        let both = ["cuda-runtime-header-missing", "cudart-missing"];
        assert_eq!(codes(&machine), both.map(|code| (code, Severity::Problem)));
        machine.toolkits.inside.as_mut().unwrap().program = false;
        assert_eq!(codes(&machine), both.map(|code| (code, Severity::Note)), "a script may know better");
        machine.toolkits.inside.as_mut().unwrap().mixed = true;
        assert_eq!(codes(&machine), []);
    }

    #[test]
    fn another_toolkit_in_front_of_the_chosen_one() {
        let mut machine = Machine::with_toolkit("12.4.1");
        machine.toolkits.nvcc.insert(0, nvcc("11.8.0"));
        assert_eq!(codes(&machine), [("several-nvcc-on-path", Severity::Note)], "nobody asks for one");
        if let Ok(Some(choice)) = &mut machine.toolkits.chosen {
            choice.rule = Rule::Pin("/p/.cuda-version".into(), 1);
        }
        let both = [("nvcc-not-the-chosen", Severity::Warning), ("several-nvcc-on-path", Severity::Note)];
        assert_eq!(codes(&machine), both);
        machine.toolkits.follows = Follows { shims: true, shim_first: true, ..Follows::default() };
        assert_eq!(codes(&machine), [], "the shim takes the chosen one");
    }

    #[test]
    fn broken_toolkits_and_those_for_other_machines() {
        let mut machine = Machine::with_toolkit("12.4.1");
        let found = |kind: Kind, tree: Option<Tree>, broken: Option<Broken>| Found {
            root: "/opt/x".into(),
            aliases: vec![],
            kind,
            origin: Origin::Opt,
            tree,
            broken,
        };
        machine.toolkits.found = vec![
            found(Kind::System, None, Some(Broken::Dangling("/gone".into()))),
            found(Kind::System, Some(Tree::Unnamed), Some(Broken::NoNvcc)),
            found(Kind::Link("mine".into()), None, None),
            found(Kind::System, Some(Tree::OtherMachine("aarch64")), None),
        ];
        let broken = ("toolkit-broken", Severity::Warning);
        assert_eq!(codes(&machine), [("toolkit-other-machine", Severity::Note), broken, broken]);
        machine.toolkits.nvcc[0].other_machine = Some("aarch64");
        assert_eq!(codes(&machine)[0], ("toolkit-other-machine", Severity::Problem));
    }

    #[test]
    fn a_shell_that_does_not_follow() {
        let mut machine = Machine::with_toolkit("12.4.1");
        machine.toolkits.follows.useful = true;
        assert_eq!(codes(&machine), [("shell-does-not-follow", Severity::Note)]);
        machine.toolkits.follows.shims = true;
        assert_eq!(codes(&machine), []);
    }
}
