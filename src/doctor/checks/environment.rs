//! Checks of the variables: those that name a toolkit's root, and the search lists.

use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::{Entry, Machine, RootVariable};
use cudaup_core::inventory::is_toolkit_name;
use cudaup_core::list::split;
use cudaup_core::version::Version;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// All checks of this layer.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 8] =
        [roots, other_root, mixed, stubs, compat, empty, gone, of_conda];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Environment, code, sentence)
}

fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// Root variables whose value is no root.
fn roots(machine: &Machine) -> Vec<Finding> {
    machine.roots.iter().filter_map(|variable| root(machine, variable)).collect()
}

fn root(machine: &Machine, variable: &RootVariable) -> Option<Finding> {
    let (name, value) = (variable.name, variable.value.to_string_lossy());
    let entries: Vec<PathBuf> =
        split(&variable.value).into_iter().filter(|e| !e.is_empty()).map(PathBuf::from).collect();
    let is_list = value.contains(':');
    let instead = if is_list { entries.into_iter().next() } else { variable.above.clone() };
    let instead = instead.or_else(|| machine.toolkit().map(|(root, _)| root.to_path_buf()));
    // These two are what builds outside CMake go by.
    let severity =
        if matches!(name, "CUDA_HOME" | "CUDA_PATH") { Severity::Problem } else { Severity::Warning };
    let found = if is_list {
        let sentence = format!(
            "{name} is to be one directory, and it is written as a list: builds look for {value}/bin/nvcc"
        );
        finding(severity, "cuda-home-list", sentence)
    } else if !variable.exists {
        let sentence = format!("{name} names {value}, which is not there: builds that go by it find no nvcc");
        finding(severity, "cuda-home-missing", sentence)
    } else if let Some(above) = &variable.above {
        let above = above.display();
        let sentence =
            format!("{name} is to name a toolkit, {above}, and names a directory inside it, {value}");
        finding(severity, "cuda-home-inside", sentence)
    } else if variable.root.is_none() {
        let sentence = format!(
            "{name} names {value}, in which there is no bin/nvcc: builds that go by it may find no compiler"
        );
        finding(Severity::Warning, "cuda-home-without-nvcc", sentence)
    } else {
        return None;
    };
    let found = found.seen(format!("{name}={value}"));
    let found = variable.set_in.iter().map(|place| format!("set in {place}")).fold(found, Finding::seen);
    Some(match instead {
        Some(root) => found.mend(format!("export {name}={}", quoted(&root))),
        None => found.mend(format!("unset {name}")),
    })
}

/// Root variables that name another toolkit than the one that serves here.
fn other_root(machine: &Machine) -> Vec<Finding> {
    let Some((root, version)) = machine.toolkit() else { return Vec::new() };
    let other = |variable: &&RootVariable| variable.root.as_deref().is_some_and(|other| other != root);
    let others: Vec<&RootVariable> = machine.roots.iter().filter(other).collect();
    let Some(first) = others.first() else { return Vec::new() };
    let named = others.iter().map(|variable| variable.name).collect::<Vec<_>>().join(", ");
    let title = first.release.clone().unwrap_or_else(|| first.value.to_string_lossy().into_owned());
    let sentence =
        format!("{named} names CUDA {title}, and nvcc here is of CUDA {version}: builds mix the two");
    let found = finding(Severity::Warning, "cuda-home-other-toolkit", sentence);
    let found = others
        .iter()
        .map(|variable| format!("{}={}", variable.name, variable.value.to_string_lossy()))
        .fold(found, Finding::seen)
        .seen(format!("nvcc of {}", root.display()));
    vec![others.iter().map(|v| format!("export {}={}", v.name, quoted(root))).fold(found, Finding::mend)]
}

/// Search lists whose first toolkit is another one than the one that serves here.
fn mixed(machine: &Machine) -> Vec<Finding> {
    let Some((root, version)) = machine.toolkit() else { return Vec::new() };
    let mut worst = None;
    let mut seen = Vec::new();
    for name in ["LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH"] {
        let entries = machine.list(name).map(|list| list.entries.as_slice()).unwrap_or_default();
        let Some(entry) = entries.iter().find(|entry| entry.root.is_some()) else { continue };
        if entry.root.as_deref() == Some(root) {
            continue;
        }
        let newer = entry.release.as_deref().and_then(Version::parse).is_some_and(|v| v >= version);
        // Newer libraries run what was linked with older ones of their major.
        let severity = if name == "LD_LIBRARY_PATH" && newer { Severity::Note } else { Severity::Warning };
        worst = worst.max(Some(severity));
        let release =
            entry.release.as_deref().map_or_else(String::new, |release| format!(" (CUDA {release})"));
        seen.push((name, format!("{name} has {}{release} first", entry.text.to_string_lossy())));
    }
    let Some(severity) = worst else { return Vec::new() };
    let names = seen.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let sentence = format!(
        "{names} leads to another toolkit than nvcc here, which is of CUDA {version}: headers and libraries of the two mix"
    );
    let found = finding(severity, "variables-mixed", sentence);
    let found = seen.into_iter().map(|(_, line)| line).fold(found, Finding::seen);
    vec![
        found
            .seen(format!("nvcc of {}", root.display()))
            .mend("take the other toolkit's directories out of these lists"),
    ]
}

fn library_path(machine: &Machine) -> &[Entry] {
    machine.list("LD_LIBRARY_PATH").map(|list| list.entries.as_slice()).unwrap_or_default()
}

fn is_called(entry: &Entry, is: impl Fn(&str) -> bool) -> bool {
    Path::new(&entry.text).file_name().and_then(|name| name.to_str()).is_some_and(is)
}

/// Stand-ins for the driver where the loader looks.
fn stubs(machine: &Machine) -> Vec<Finding> {
    let is_one = |entry: &&Entry| {
        is_called(entry, |name| name == "stubs") || Path::new(&entry.text).ends_with("stubs/lib64")
    };
    let note = |entry: &Entry| {
        let text = entry.text.to_string_lossy();
        let (severity, sentence) = if entry.driver.is_empty() {
            (
                Severity::Note,
                format!(
                    "LD_LIBRARY_PATH holds {text}, which only linking needs; as it is, the loader takes nothing from it"
                ),
            )
        } else {
            (
                Severity::Problem,
                format!(
                    "LD_LIBRARY_PATH holds {text}, where a stand-in is named like the driver's library: programs load it in place of the driver, and fail with error 34"
                ),
            )
        };
        let found =
            finding(severity, "stubs-in-library-path", sentence).seen(format!("LD_LIBRARY_PATH has {text}"));
        let found = entry
            .driver
            .iter()
            .map(|version| format!("{text}/libcuda.so.{version}"))
            .fold(found, Finding::seen);
        found.mend("take it out of LD_LIBRARY_PATH; for linking: -L that directory, or LIBRARY_PATH")
    };
    library_path(machine).iter().filter(is_one).map(note).collect()
}

/// The forward-compatibility libraries where the loader looks, against the driver.
fn compat(machine: &Machine) -> Vec<Finding> {
    let Some(driver) = machine.driver.version() else { return Vec::new() };
    let is_one = |entry: &&Entry| is_called(entry, |name| name == "compat" || name.starts_with("compat_"));
    let of = |entry: &Entry| {
        let compat =
            entry.driver.iter().filter(|version| numbers(version).len() > 1).max_by_key(|v| numbers(v))?;
        let text = entry.text.to_string_lossy();
        let (severity, sentence) = match numbers(compat).cmp(&numbers(driver)) {
            std::cmp::Ordering::Less => (
                Severity::Problem,
                format!(
                    "LD_LIBRARY_PATH holds {text} with libraries of driver {compat}, older than the driver here, {driver}: CUDA programs fail with error 803"
                ),
            ),
            std::cmp::Ordering::Equal => return None,
            std::cmp::Ordering::Greater => (
                Severity::Note,
                format!(
                    "LD_LIBRARY_PATH holds {text} with libraries of driver {compat} for the older driver here, {driver}: that works on data-center GPUs only"
                ),
            ),
        };
        let found = finding(severity, "compat-in-library-path", sentence)
            .seen(format!("{text}/libcuda.so.{compat}"))
            .seen(format!("driver {driver}"));
        Some(if severity == Severity::Problem {
            found.mend("take it out of LD_LIBRARY_PATH: this driver needs none of it")
        } else {
            found
        })
    };
    library_path(machine).iter().filter(is_one).filter_map(of).collect()
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

/// Empty elements, which mean the current directory.
fn empty(machine: &Machine) -> Vec<Finding> {
    let lists: Vec<&str> = machine
        .lists
        .iter()
        .filter(|list| list.entries.iter().any(|e| e.text.is_empty()))
        .map(|list| list.name)
        .collect();
    let [first, ..] = lists.as_slice() else { return Vec::new() };
    let names = lists.join(", ");
    let sentence = format!("{names} has an empty element, which means whatever directory one stands in");
    let found = finding(Severity::Note, "empty-list-element", sentence)
        .seen(format!("a colon at an end of {names}, or two in a row"));
    vec![found.mend(format!(
        "export {first}=/new/directory${{{first}:+:${first}}}   (where a start file adds to it)"
    ))]
}

/// Entries for CUDA that lead nowhere.
fn gone(machine: &Machine) -> Vec<Finding> {
    let of_toolkit = |part: &OsStr| part.to_str().is_some_and(is_toolkit_name);
    let is_one = |entry: &&Entry| !entry.exists && Path::new(&entry.text).iter().any(of_toolkit);
    let lines: Vec<String> = machine
        .lists
        .iter()
        .flat_map(|list| {
            list.entries.iter().filter(is_one).map(|e| format!("{}: {}", list.name, e.text.to_string_lossy()))
        })
        .collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let sentence = "a search list names directories of CUDA that are not there; they do no harm and show an older setting";
    vec![lines.into_iter().fold(finding(Severity::Note, "list-entry-gone", sentence), Finding::seen)]
}

/// The compiler that conda's packages name for every nvcc.
fn of_conda(machine: &Machine) -> Vec<Finding> {
    let Some((root, _)) = machine.toolkit() else { return Vec::new() };
    let get = |name: &str| {
        machine.vars.get(name).map(|value| value.to_string_lossy().into_owned()).filter(|v| !v.is_empty())
    };
    let (Some(flags), Some(prefix)) = (get("NVCC_PREPEND_FLAGS"), get("CONDA_PREFIX")) else {
        return Vec::new();
    };
    if !flags.contains("-ccbin") || !flags.contains(&prefix) || root.starts_with(&prefix) {
        return Vec::new();
    }
    let sentence = format!(
        "the active conda environment makes every nvcc use its compiler, that of {} too",
        root.display()
    );
    let found =
        finding(Severity::Note, "conda-compiler", sentence).seen(format!("NVCC_PREPEND_FLAGS={flags}"));
    vec![found.mend("unset NVCC_PREPEND_FLAGS   (to use the system's compiler)")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::machine::SearchList;
    use crate::facts::Fact;
    use crate::facts::driver::Module;

    fn codes(machine: &Machine) -> Vec<(&'static str, Severity)> {
        check(machine).into_iter().map(|found| (found.code, found.severity)).collect()
    }

    fn entry(text: &str, root: Option<&str>) -> Entry {
        let release = root.map(|root| root.rsplit_once('-').unwrap().1.to_owned());
        Entry {
            text: text.into(),
            exists: !text.is_empty(),
            root: root.map(PathBuf::from),
            release,
            driver: vec![],
        }
    }

    fn with_list(name: &'static str, entries: Vec<Entry>) -> Machine {
        let mut machine = Machine::with_toolkit("12.4.1");
        machine.lists = vec![SearchList { name, entries }];
        machine
    }

    fn with_root(value: &str, change: impl Fn(&mut RootVariable)) -> Machine {
        let mut machine = Machine::with_toolkit("12.4.1");
        let mut variable =
            RootVariable { name: "CUDA_HOME", value: value.into(), exists: true, ..RootVariable::default() };
        change(&mut variable);
        machine.roots = vec![variable];
        machine
    }

    #[test]
    fn variables_that_name_no_root() {
        let root = PathBuf::from("/usr/local/cuda-12.4");
        let right = with_root("/usr/local/cuda", |v| v.root = Some(root.clone()));
        assert_eq!(codes(&right), []);
        for value in
            ["/usr/local/cuda-12.4:", ":/usr/local/cuda-12.4", "/usr/local/cuda-12.4:/usr/local/cuda-11.8"]
        {
            let machine = with_root(value, |v| v.set_in = vec!["/home/u/.bashrc:3".into()]);
            let found = check(&machine);
            assert_eq!(
                (found.len(), found[0].code, found[0].severity),
                (1, "cuda-home-list", Severity::Problem)
            );
            assert_eq!(found[0].remedy, ["export CUDA_HOME=/usr/local/cuda-12.4"]);
            assert!(found[0].evidence.contains(&"set in /home/u/.bashrc:3".to_owned()));
        }
        let inside = with_root("/usr/local/cuda-12.4/bin", |v| v.above = Some(root.clone()));
        assert_eq!(codes(&inside), [("cuda-home-inside", Severity::Problem)]);
        let missing = with_root("/gone", |v| v.exists = false);
        assert_eq!(codes(&missing), [("cuda-home-missing", Severity::Problem)]);
        assert_eq!(codes(&with_root("/home/u", |_| {})), [("cuda-home-without-nvcc", Severity::Warning)]);
        let other = with_root("/usr/local/cuda-11.8", |v| v.root = Some("/usr/local/cuda-11.8".into()));
        assert_eq!(codes(&other), [("cuda-home-other-toolkit", Severity::Warning)]);
    }

    #[test]
    fn lists_that_lead_to_another_toolkit() {
        let own = entry("/usr/local/cuda/lib64", Some("/usr/local/cuda-12.4"));
        let old = entry("/opt/cuda-11.8/lib64", Some("/opt/cuda-11.8"));
        let new = entry("/opt/cuda-12.9/lib64", Some("/opt/cuda-12.9"));
        assert_eq!(
            codes(&with_list("LD_LIBRARY_PATH", vec![own.clone(), old.clone()])),
            [],
            "the first counts"
        );
        assert_eq!(
            codes(&with_list("LD_LIBRARY_PATH", vec![old, own])),
            [("variables-mixed", Severity::Warning)]
        );
        assert_eq!(
            codes(&with_list("LD_LIBRARY_PATH", vec![new.clone()])),
            [("variables-mixed", Severity::Note)]
        );
        assert_eq!(codes(&with_list("CPATH", vec![new])), [("variables-mixed", Severity::Warning)]);
    }

    #[test]
    fn stubs_and_compat_in_the_loaders_way() {
        let stubs = |driver: &[&str]| {
            let mut entry = entry("/usr/local/cuda/lib64/stubs", Some("/usr/local/cuda-12.4"));
            entry.driver = driver.iter().map(ToString::to_string).collect();
            codes(&with_list("LD_LIBRARY_PATH", vec![entry]))
        };
        assert_eq!(stubs(&[]), [("stubs-in-library-path", Severity::Note)]);
        assert_eq!(stubs(&["1"]), [("stubs-in-library-path", Severity::Problem)]);
        let compat = |driver: &str| {
            let mut entry = entry("/usr/local/cuda/compat", Some("/usr/local/cuda-12.4"));
            entry.driver = vec!["580.95.05".into()];
            let mut machine = with_list("LD_LIBRARY_PATH", vec![entry]);
            let module = Module { version: Some(driver.into()), open: None };
            machine.driver.module = Fact::Known(module, "/proc/driver/nvidia/version".into());
            codes(&machine)
        };
        assert_eq!(compat("580.159.04"), [("compat-in-library-path", Severity::Problem)]);
        assert_eq!(compat("580.95.05"), []);
        assert_eq!(compat("535.183.01"), [("compat-in-library-path", Severity::Note)]);
    }

    #[test]
    fn elements_that_are_empty_or_gone_and_condas_compiler_are_notes() {
        assert_eq!(
            codes(&with_list("LD_LIBRARY_PATH", vec![entry("/x", None), entry("", None)])),
            [("empty-list-element", Severity::Note)]
        );
        let gone = Entry { exists: false, ..entry("/usr/local/cuda-10.2/bin", None) };
        assert_eq!(codes(&with_list("PATH", vec![gone])), [("list-entry-gone", Severity::Note)]);
        let shims = Entry { exists: false, ..entry("/home/u/.cudaup/shims", None) };
        assert_eq!(codes(&with_list("PATH", vec![shims])), []);
        let mut machine = Machine::with_toolkit("12.4.1");
        machine.vars.put("CONDA_PREFIX", Some("/opt/conda/envs/e".into()));
        machine.vars.put(
            "NVCC_PREPEND_FLAGS",
            Some(" -ccbin=/opt/conda/envs/e/bin/x86_64-conda-linux-gnu-c++".into()),
        );
        assert_eq!(codes(&machine), [("conda-compiler", Severity::Note)]);
    }
}
