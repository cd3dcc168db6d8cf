//! Checks of the host compiler and the C library against the toolkit's own headers.

use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::machine::{HostCompiler, Machine};
use crate::toolkit::host_compiler::{Compiler, Family, Limits, Verdict};
use cudaup_core::version::Version;

/// All checks of this layer.
pub fn check(machine: &Machine) -> Vec<Finding> {
    let checks: [fn(&Machine) -> Vec<Finding>; 5] = [absent, silent, judged, differing, library];
    checks.iter().flat_map(|check| check(machine)).collect()
}

fn finding(severity: Severity, code: &'static str, sentence: impl Into<String>) -> Finding {
    Finding::new(severity, Layer::Compiler, code, sentence)
}

/// The compiler of a toolkit that compiles; nothing is said of one where nothing needs it.
fn needed(machine: &Machine) -> Option<(&HostCompiler, Version)> {
    let (_, version) = machine.toolkit()?;
    machine.toolkits.inside.filter(|inside| inside.nvcc)?;
    Some((&machine.compiler, version))
}

/// There is none, or the one that is named is not there.
fn absent(machine: &Machine) -> Vec<Finding> {
    let Some((compiler, version)) = needed(machine) else { return Vec::new() };
    if let Some(missing) = &compiler.missing {
        let sentence =
            format!("nvcc is told to use {missing} as its C++ compiler, and there is no such program");
        let found = finding(Severity::Problem, "host-compiler-named-absent", sentence)
            .seen(format!("{} names it", compiler.by));
        return vec![mended(found, machine, version)];
    }
    if compiler.unsure || compiler.silent.is_some() {
        return Vec::new();
    }
    match (&compiler.taken, &compiler.links) {
        (None, _) => {
            let sentence = "there is no gcc on PATH, and nvcc compiles nothing without a C++ compiler";
            let found =
                finding(Severity::Problem, "host-compiler-absent", sentence).seen("looked along PATH");
            vec![mended(found, machine, version)]
        }
        (Some(gcc), None) if compiler.by == "gcc on PATH" => {
            let sentence =
                "gcc is on PATH and g++ is not: nvcc compiles with the one and links with the other";
            let found = finding(Severity::Warning, "host-compiler-without-cxx", sentence)
                .seen(gcc.path.display().to_string());
            vec![found.mend("install g++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)")]
        }
        _ => Vec::new(),
    }
}

/// It does not say its version.
fn silent(machine: &Machine) -> Vec<Finding> {
    let Some((compiler, _)) = needed(machine) else { return Vec::new() };
    let Some(path) = &compiler.silent else { return Vec::new() };
    let sentence = format!(
        "could not read which version {} is, so that nothing tells whether nvcc takes it",
        path.display()
    );
    let found = finding(Severity::Note, "host-compiler-unread", sentence);
    vec![found.seen(format!(
        "{} -dumpfullversion gives no plain version, or none within the time limit",
        path.display()
    ))]
}

/// The toolkit's headers refuse it.
fn judged(machine: &Machine) -> Vec<Finding> {
    let Some((compiler, version)) = needed(machine) else { return Vec::new() };
    let (Some(taken), Some(limits)) = (&compiler.taken, &compiler.limits) else { return Vec::new() };
    let verdict = limits.judge(taken.family, taken.major);
    let (code, sentence) = match verdict {
        Verdict::Fits => return Vec::new(),
        Verdict::TooNew(most) => (
            "host-compiler-too-new",
            format!(
                "nvcc of CUDA {version} takes {} up to {most}, and what it is given is {}",
                family(taken),
                taken.title()
            ),
        ),
        Verdict::TooOld(least) => (
            "host-compiler-too-old",
            format!(
                "nvcc of CUDA {version} takes {} from {least} on, and what it is given is {}{}",
                family(taken),
                taken.title(),
                if taken.family == Family::Gcc { ", which has no C++17 either" } else { "" }
            ),
        ),
    };
    let severity = if compiler.unsure { Severity::Note } else { Severity::Problem };
    let found = finding(severity, code, sentence).seen(format!("{} ({})", taken.path.display(), compiler.by));
    let found = match machine.toolkit() {
        Some((root, _)) => found.seen(format!("{}/include/crt/host_config.h", root.display())),
        None => found,
    };
    let found = if compiler.unsure {
        found.seen("nobody has tried whether this nvcc takes it: it may have a compiler of its own")
    } else {
        unread(compiler, limits, version).into_iter().fold(found, Finding::seen)
    };
    vec![mended(found, machine, version)]
}

fn family(compiler: &Compiler) -> &'static str {
    match compiler.family {
        Family::Gcc => "gcc",
        Family::Clang => "clang",
    }
}

/// The variables that name another compiler and that are not read.
fn unread(compiler: &HostCompiler, limits: &Limits, version: Version) -> Vec<String> {
    let line = |unread: &crate::doctor::machine::Unread| {
        let (name, value) = (unread.name, &unread.value);
        let fits = |c: &Compiler| limits.judge(c.family, c.major) == Verdict::Fits;
        match &unread.compiler {
            Some(other) if unread.by_cmake && fits(other) => {
                format!("{name}={value} is read by CMake, where all is well, and not by nvcc itself")
            }
            _ if unread.by_cmake => format!("{name}={value} is read by CMake and not by nvcc itself"),
            _ if name == "NVCC_CCBIN" => {
                format!("{name}={value} is not read by nvcc of CUDA {version}: 13.0 and newer read it")
            }
            _ => format!("{name}={value} is not read by nvcc"),
        }
    };
    compiler.unread.iter().map(line).collect()
}

/// What makes nvcc take a compiler that it accepts.
fn mended(found: Finding, machine: &Machine, version: Version) -> Finding {
    let compiler = &machine.compiler;
    if let Some(other) = &compiler.fitting {
        let name = &other.name;
        let set = if version >= Version::release(13, 0) {
            format!("export NVCC_CCBIN={name}")
        } else {
            format!("export NVCC_PREPEND_FLAGS='-ccbin {name}'")
        };
        // A key of a version file is a name that PATH is searched for.
        let found = found.mend(format!("{set}   (this machine has {})", other.title()));
        return if name.contains('/') {
            found
        } else {
            found.mend(format!("write `host_compiler = {name}` below the version in .cuda-version"))
        };
    }
    let Some(limits) = &compiler.limits else {
        return found.mend("install g++ (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)");
    };
    let most = limits.most(Family::Gcc);
    let found = found
        .mend(format!("apt install g++-{most}   (or an older one; other systems: gcc {most} beside the system's)"))
        .mend(format!("conda install -c conda-forge gxx={most}, or load a module or devtoolset with gcc {most}, or use a container"));
    let newer = compiler.taken.as_ref().filter(|taken| taken.family == Family::Gcc && taken.major > most);
    match newer.map(|taken| (taken.major, accepting(taken.major))) {
        Some((_, Some(release))) => {
            found.mend(format!("cudaup install {release}   (the first that takes this gcc)"))
        }
        Some((major, None)) => {
            found.seen(format!("no toolkit is known to this version that takes gcc {major}"))
        }
        None => found,
    }
}

/// The newest gcc that releases take, and the first release that takes it. Source: crt/host_config.h of NVIDIA's compiler
/// packages for 11.8 to 13.5.
const NEWEST_GCC: [(u32, Version); 5] = [
    (12, Version::release(12, 0)),
    (13, Version::release(12, 4)),
    (14, Version::release(12, 8)),
    (15, Version::release(13, 0)),
    (16, Version::release(13, 4)),
];

fn accepting(gcc: u32) -> Option<Version> {
    NEWEST_GCC.iter().find(|(newest, _)| *newest >= gcc).map(|(_, release)| *release)
}

/// `gcc` and `g++` are of two versions.
fn differing(machine: &Machine) -> Vec<Finding> {
    let Some((compiler, _)) = needed(machine) else { return Vec::new() };
    let (Some(gcc), Some(gxx)) = (&compiler.taken, &compiler.links) else { return Vec::new() };
    if gcc.major == gxx.major || compiler.by != "gcc on PATH" {
        return Vec::new();
    }
    let sentence = format!(
        "gcc is {} and g++ is {}: nvcc compiles with the one and links with the other",
        gcc.version, gxx.version
    );
    let found = finding(Severity::Warning, "gcc-and-gxx-differ", sentence)
        .seen(gcc.path.display().to_string())
        .seen(gxx.path.display().to_string());
    vec![found.mend(format!("nvcc -ccbin {} ...   (one for both)", gxx.path.display()))]
}

/// The C library declares functions that the toolkit's headers declare otherwise.
fn library(machine: &Machine) -> Vec<Finding> {
    let (Some((_, version)), Some((root, _)), Some(glibc)) =
        (needed(machine), machine.toolkit(), machine.platform.glibc.known())
    else {
        return Vec::new();
    };
    let Some(math) = machine.toolkits.inside.and_then(|inside| inside.math) else { return Vec::new() };
    let clash = if *glibc >= (2, 41) && !math.knows_cospi {
        Some(("cospi and sinpi", "2.41", if *glibc >= (2, 42) { "13.2" } else { "13.0" }))
    } else if *glibc >= (2, 42) && !math.knows_rsqrt {
        Some(("rsqrt", "2.42", "13.2"))
    } else {
        None
    };
    let Some((functions, first, fixed)) = clash else { return Vec::new() };
    let (major, minor) = glibc;
    let sentence = format!(
        "the headers of CUDA {version} clash with this system's C library, glibc {major}.{minor}: both declare {functions}"
    );
    let found = finding(Severity::Problem, "glibc-clash", sentence)
        .seen(format!("{}/include/crt/math_functions.h", root.display()))
        .seen(format!(
            "glibc {major}.{minor} ({})",
            machine.platform.glibc.source().unwrap_or("this system")
        ));
    vec![
        found
            .mend(format!("cudaup install {fixed} && cudaup use {fixed}"))
            .mend(format!("or compile in a container with glibc older than {first}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::machine::{Math, Unread};
    use crate::facts::Fact;

    fn codes(machine: &Machine) -> Vec<(&'static str, Severity)> {
        check(machine).into_iter().map(|found| (found.code, found.severity)).collect()
    }

    fn gcc(name: &str, version: &str) -> Compiler {
        Compiler {
            name: name.into(),
            path: format!("/usr/bin/{name}").into(),
            family: Family::Gcc,
            version: version.into(),
            major: version.split('.').next().unwrap().parse().unwrap(),
        }
    }

    /// A machine whose toolkit takes gcc up to 13.
    fn given(version: &str) -> Machine {
        let mut machine = Machine::with_toolkit("12.4.1");
        machine.compiler.taken = Some(gcc("gcc", version));
        machine.compiler.links = Some(gcc("g++", version));
        machine
    }

    #[test]
    fn the_header_judges() {
        assert_eq!(codes(&given("13.2.0")), []);
        assert_eq!(codes(&given("16.0.1")), [("host-compiler-too-new", Severity::Problem)]);
        assert_eq!(codes(&given("4.8.5")), [("host-compiler-too-old", Severity::Problem)]);
        let mut machine = given("14.1.0");
        machine.compiler.unsure = true;
        assert_eq!(codes(&machine), [("host-compiler-too-new", Severity::Note)]);
        machine.compiler.limits = None;
        assert_eq!(codes(&machine), []);
        let mut bare = Machine::bare();
        bare.compiler.taken = Some(gcc("gcc", "16.0.1"));
        assert_eq!(codes(&bare), [], "no toolkit needs it");
    }

    #[test]
    fn remedies_fit_the_release() {
        let mut machine = given("14.1.0");
        machine.compiler.fitting = Some(gcc("g++-12", "12.3.0"));
        let remedy = |machine: &Machine| check(machine)[0].remedy[0].clone();
        assert!(
            remedy(&machine).starts_with("export NVCC_PREPEND_FLAGS='-ccbin g++-12'"),
            "{}",
            remedy(&machine)
        );
        let newer = Machine { compiler: machine.compiler.clone(), ..Machine::with_toolkit("13.0.2") };
        assert!(remedy(&newer).starts_with("export NVCC_CCBIN=g++-12"), "{}", remedy(&newer));
        let unknown = check(&given("99.1.0"))[0].clone();
        assert!(unknown.evidence.iter().any(|e| e.contains("no toolkit is known")), "{unknown:?}");
        assert!(unknown.remedy[0].starts_with("apt install g++-13"), "{unknown:?}");
        let known = check(&given("14.1.0"))[0].clone();
        assert!(known.remedy.iter().any(|r| r.starts_with("cudaup install 12.8 ")), "{known:?}");
    }

    #[test]
    fn variables_that_nvcc_does_not_read_are_named() {
        let mut machine = given("14.1.0");
        let unread = |name: &'static str, by_cmake: bool| Unread {
            name,
            value: "g++-12".into(),
            by_cmake,
            compiler: by_cmake.then(|| gcc("g++-12", "12.3.0")),
        };
        machine.compiler.unread =
            vec![unread("NVCC_CCBIN", false), unread("CUDAHOSTCXX", true), unread("CXX", false)];
        let said = check(&machine)[0].evidence.join("\n");
        assert!(said.contains("NVCC_CCBIN=g++-12 is not read by nvcc of CUDA 12.4.1"), "{said}");
        assert!(said.contains("CUDAHOSTCXX=g++-12 is read by CMake, where all is well"), "{said}");
        assert!(said.contains("CXX=g++-12 is not read by nvcc"), "{said}");
    }

    #[test]
    fn compilers_that_are_missing_silent_or_of_two_versions() {
        let mut machine = given("12.2.0");
        machine.compiler.links = Some(gcc("g++", "11.3.0"));
        assert_eq!(codes(&machine), [("gcc-and-gxx-differ", Severity::Warning)]);
        machine.compiler.links = None;
        assert_eq!(codes(&machine), [("host-compiler-without-cxx", Severity::Warning)]);
        machine.compiler.taken = None;
        assert_eq!(codes(&machine), [("host-compiler-absent", Severity::Problem)]);
        machine.compiler.silent = Some("/usr/bin/gcc".into());
        assert_eq!(codes(&machine), [("host-compiler-unread", Severity::Note)]);
        machine.compiler.silent = None;
        machine.compiler.missing = Some("/gone/g++".into());
        assert_eq!(codes(&machine), [("host-compiler-named-absent", Severity::Problem)]);
    }

    #[test]
    fn the_c_library_clashes_by_the_headers_and_not_by_the_release() {
        let with = |glibc: (u32, u32), knows_cospi: bool, knows_rsqrt: bool| {
            let mut machine = given("12.2.0");
            machine.platform.glibc = Fact::Known(glibc, "ldd --version".into());
            machine.toolkits.inside.as_mut().unwrap().math = Some(Math { knows_cospi, knows_rsqrt });
            codes(&machine)
        };
        let clash = [("glibc-clash", Severity::Problem)];
        assert_eq!(with((2, 36), false, false), []);
        assert_eq!(with((2, 41), false, false), clash);
        assert_eq!(with((2, 41), true, false), []);
        assert_eq!(with((2, 42), true, false), clash);
        assert_eq!(with((2, 42), true, true), []);
    }
}
