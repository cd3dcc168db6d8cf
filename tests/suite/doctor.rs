//! The doctor as a user meets it: the cause first, the command that mends it, the exit code, and nothing written.

use crate::sandbox::{Said, Sandbox, said};
use serde_json::Value;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

const LIMIT: &str = "#if __GNUC__ > 11\n#error -- unsupported GNU version! gcc versions later than 11 are not supported!\n#endif\n";

/// A machine with 12.4.1 in /usr/local, whole as far as scripts are, and g++ 11, which it takes.
fn machine() -> Sandbox {
    let at = Sandbox::new();
    at.toolkit("usr/local/cuda-12.4", "12.4.1");
    at.write("usr/local/cuda-12.4/include/cuda_runtime.h", "");
    at.write("usr/local/cuda-12.4/include/crt/host_config.h", LIMIT);
    for (name, version) in [("gcc", "11.3.0"), ("g++", "11.3.0"), ("g++-11", "11.4.0")] {
        at.script(&format!("tools/{name}"), &format!("echo {version}"));
    }
    at
}

/// PATH with the toolkit and the compilers of the machine, and little else.
fn path(at: &Sandbox) -> String {
    format!("{}:{}:/bin", at.path("usr/local/cuda-12.4/bin").display(), at.path("tools").display())
}

fn doctor(at: &Sandbox, set: &[(&str, &str)], arguments: &[&str]) -> Said {
    let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
    command.env("PATH", path(at)).envs(set.iter().copied()).arg("doctor").args(arguments);
    said(command.output().unwrap())
}

/// The outcome as JSON, with the exit code.
fn asked(at: &Sandbox, set: &[(&str, &str)], arguments: &[&str]) -> (Value, Option<i32>) {
    let all: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
    let said = doctor(at, set, &all);
    (serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}")), said.code)
}

/// The codes that matter more than a note, in the order of the report.
fn codes(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|f| f["severity"] != "note").map(|f| f["code"].as_str().unwrap()).collect()
}

#[test]
fn a_healthy_machine_has_no_problem_and_nothing_is_written() {
    let at = machine();
    let before = names(&at.user());
    let (report, code) = asked(&at, &[], &[]);
    assert_eq!((codes(&report), code), (vec![], Some(0)), "{report:#}");
    assert_eq!((&report["problems"], &report["warnings"]), (&0.into(), &0.into()));
    assert_eq!(report["facts"]["toolkit"]["version"], "12.4.1");
    assert_eq!(report["facts"]["compiler"]["version"], "11.3.0");
    assert_eq!(report["facts"]["driver"]["version"], Value::Null);
    let text = doctor(&at, &[], &[]).out;
    assert!(text.contains("toolkit 12.4.1 ok > gcc 11.3.0 ok"), "{text}");
    assert!(text.contains("no problems"), "{text}");
    assert_eq!(names(&at.user()), before, "the doctor only looks");
    assert_eq!(doctor(&at, &[], &["--strict"]).code, Some(0));
}

fn names(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        all.push(entry.path().display().to_string());
        // What this test's own directory is made by is no trace.
        if entry.file_type().unwrap().is_dir() && entry.file_name() != "p" {
            all.extend(names(&entry.path()));
        }
    }
    all.retain(|name| !name.ends_with("/p"));
    all.sort();
    all
}

#[test]
fn nothing_at_all_is_no_problem() {
    let at = Sandbox::new();
    let (report, code) = asked(&at, &[("PATH", "/nonexistent")], &[]);
    assert_eq!((codes(&report), code), (vec![], Some(0)), "{report:#}");
    assert_eq!(report["facts"]["toolkit"], Value::Null);
}

#[test]
fn a_toolkit_in_a_place_of_its_own_is_the_one_that_serves() {
    let at = Sandbox::new();
    at.toolkit("data/mine", "12.1.0");
    at.write("data/mine/include/crt/host_config.h", LIMIT);
    let tools = at.path("tools");
    for name in ["gcc", "g++"] {
        at.script(&format!("tools/{name}"), "echo 13.2.0");
    }
    let bin = format!("{}:{}:/bin", at.path("data/mine/bin").display(), tools.display());
    let (report, code) = asked(&at, &[("PATH", &bin)], &[]);
    assert_eq!(report["facts"]["toolkit"]["version"], "12.1.0");
    assert_eq!((codes(&report), code), (vec!["host-compiler-too-new"], Some(1)));
    // Builds go by the variable where no nvcc is on PATH.
    let home = at.path("data/mine").display().to_string();
    let alone = format!("{}:/bin", tools.display());
    let (report, _) = asked(&at, &[("PATH", &alone), ("CUDA_HOME", &home)], &[]);
    assert_eq!(report["facts"]["toolkit"]["version"], "12.1.0");
}

#[test]
fn cuda_home_in_every_wrong_form() {
    let at = machine();
    let root = at.path("usr/local/cuda-12.4").display().to_string();
    at.write("home/.bashrc", "# mine\nexport CUDA_HOME=/usr/local/cuda:$CUDA_HOME\n");
    let with = |value: &str| asked(&at, &[("CUDA_HOME", value)], &[]);
    for (value, code) in [
        (format!("{root}:"), "cuda-home-list"),
        (format!(":{root}"), "cuda-home-list"),
        (format!("{root}/bin"), "cuda-home-inside"),
        ("/no/such/place".to_owned(), "cuda-home-missing"),
    ] {
        let (report, exit) = with(&value);
        assert_eq!((codes(&report), exit), (vec![code], Some(1)), "{value}");
        let finding = &report["findings"][0];
        assert_eq!(finding["remedy"][0], format!("export CUDA_HOME={root}"), "{value}");
        let seen = finding["evidence"].to_string();
        assert!(seen.contains(&value) && seen.contains(".bashrc:2"), "{seen}");
    }
    for value in [root.clone(), format!("{root}/")] {
        assert_eq!(with(&value).1, Some(0), "{value}");
    }
    at.toolkit("usr/local/cuda-11.8", "11.8.0");
    let other = at.path("usr/local/cuda-11.8").display().to_string();
    let (report, exit) = with(&other);
    assert_eq!((codes(&report), exit), (vec!["cuda-home-other-toolkit"], Some(0)), "a warning");
    assert_eq!(asked(&at, &[("CUDA_HOME", &other)], &["--strict"]).1, Some(1));
}

#[test]
fn a_pin_that_cannot_be_met_comes_first() {
    let at = machine();
    at.write("home/p/.cuda-version", "11.8\n");
    let (report, code) = asked(&at, &[("CUDA_HOME", "/no/such/place")], &[]);
    assert_eq!((codes(&report), code), (vec!["pin-unmet"], Some(1)), "{report:#}");
    let cause = &report["findings"][0];
    assert_eq!(cause["remedy"][0], "cudaup install 11.8");
    assert_eq!(cause["consequences"][0]["code"], "cuda-home-missing", "it follows from the pin");
    at.write("home/p/.cuda-version", b"\xff\xfe1\x001\x00");
    assert_eq!(codes(&asked(&at, &[], &[]).0), ["pin-unreadable"]);
}

#[test]
fn the_compiler_that_nvcc_takes_is_judged_and_no_other() {
    let at = machine();
    for name in ["gcc", "g++"] {
        at.script(&format!("tools/{name}"), "echo 13.2.0");
    }
    let old = at.path("tools/g++-11").display().to_string();
    let flags = format!("-ccbin {old}");
    let none: &[&str] = &[];
    let too_new = ["host-compiler-too-new"].as_slice();
    for (name, value, expected, said) in [
        ("CXX", old.as_str(), too_new, "CXX="),
        ("CUDAHOSTCXX", &old, too_new, "is read by CMake, where all is well"),
        ("NVCC_CCBIN", &old, too_new, "13.0 and newer read it"),
        ("NVCC_PREPEND_FLAGS", &flags, none, ""),
        ("NVCC_APPEND_FLAGS", &flags, none, ""),
        ("NVCC_PREPEND_FLAGS", "-ccbin=/no/such/g++", &["host-compiler-named-absent"], "/no/such/g++"),
    ] {
        let (report, _) = asked(&at, &[(name, value)], &[]);
        assert_eq!(codes(&report), expected, "{name}={value}");
        assert!(report["findings"].to_string().contains(said), "{name}: {report:#}");
        if expected == too_new {
            assert!(report["findings"][0]["remedy"].to_string().contains("-ccbin g++-11"), "{report:#}");
        }
    }
    at.write("home/p/.cuda-version", "12.4\nhost_compiler = g++-11\n");
    assert_eq!(codes(&asked(&at, &[], &[]).0), none);
}

#[test]
fn lists_of_two_toolkits_and_stand_ins_in_the_loaders_way() {
    let at = machine();
    at.toolkit("usr/local/cuda-11.8", "11.8.0");
    let of = |place: &str| at.path(place).display().to_string();
    let (old, stubs) = (of("usr/local/cuda-11.8/lib64"), of("usr/local/cuda-12.4/lib64/stubs"));
    assert_eq!(codes(&asked(&at, &[("LD_LIBRARY_PATH", &old)], &[]).0), ["variables-mixed"]);
    assert_eq!(codes(&asked(&at, &[("LD_LIBRARY_PATH", &stubs)], &[]).0), [""; 0], "as it is shipped");
    at.write("usr/local/cuda-12.4/lib64/stubs/libcuda.so.1", "");
    let (report, code) = asked(&at, &[("LD_LIBRARY_PATH", &stubs)], &["--only", "env"]);
    assert_eq!((codes(&report), code), (vec!["stubs-in-library-path"], Some(1)));
}

#[test]
fn build_directories_of_toolkits_that_are_others_or_gone() {
    let at = machine();
    let old = at.toolkit("usr/local/cuda-11.8", "11.8.0");
    let source = at.path("home/p").display().to_string();
    let cache =
        |nvcc: &str| format!("CMAKE_CUDA_COMPILER:FILEPATH={nvcc}\nCMAKE_HOME_DIRECTORY:INTERNAL={source}\n");
    at.write("home/p/build/CMakeCache.txt", cache(&old.join("bin/nvcc").display().to_string()));
    let (report, _) = asked(&at, &[], &[]);
    assert_eq!(codes(&report), ["build-directory-other-toolkit"]);
    assert!(report["findings"][0]["sentence"].to_string().contains("CUDA 11.8.0"), "{report:#}");
    at.write("home/p/build/CMakeCache.txt", cache("/gone/cuda/bin/nvcc"));
    let plan = doctor(&at, &[], &["--fix-plan"]);
    assert_eq!(plan.code, Some(1));
    let fresh = format!("cmake --fresh -S {source} -B {source}/build");
    assert!(plan.out.starts_with(&fresh) && plan.out.lines().count() == 1, "{plan:?}");
    // The same from elsewhere, by the project, the build directory and its cache.
    for place in ["home/p", "home/p/build", "home/p/build/CMakeCache.txt"] {
        let mut command = at.command(at.home().join("bin/cudaup"), "elsewhere");
        command.env("PATH", path(&at)).args(["doctor", "--json"]).arg(at.path(place));
        let said = said(command.output().unwrap());
        let report: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!((codes(&report), said.code), (vec!["build-directory-toolkit-gone"], Some(1)), "{place}");
    }
    assert_eq!(codes(&asked(&at, &[], &["--only", "driver,gcc"]).0), [""; 0]);
}

#[test]
fn layers_and_places_that_are_none() {
    let at = machine();
    let unknown = doctor(&at, &[], &["--only", "driver,bogus"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("bogus"), "{unknown:?}");
    let nowhere = doctor(&at, &[], &["/no/such/place"]);
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.err.contains("/no/such/place"), "{nowhere:?}");
}

#[test]
fn values_that_are_no_text_and_lists_without_end_do_no_harm() {
    let at = machine();
    let odd = std::ffi::OsString::from_vec(b"/usr/\xff\xfe/cuda".to_vec());
    let long = "/no/cuda/lib64:".repeat(5000);
    let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
    command.env("PATH", path(&at)).env("CUDA_HOME", &odd).env("LD_LIBRARY_PATH", &long).env("CPATH", &odd);
    command.env("TORCH_CUDA_ARCH_LIST", &odd).env("NVCC_PREPEND_FLAGS", &odd).env("TMPDIR", &odd);
    let said = said(command.args(["doctor", "--json"]).output().unwrap());
    let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}"));
    assert_eq!((codes(&report), said.code), (vec!["cuda-home-missing"], Some(1)), "{said:?}");
}

#[test]
fn an_nvcc_and_a_gcc_that_are_nonsense_accuse_nobody() {
    let at = Sandbox::new();
    at.write("tools/nvcc", b"\x7fELF\x02\x01\x01\x00cut short");
    at.script("tools/gcc", "head -c 1000000 /dev/zero; echo 15.0.0 20250329; exit 0");
    at.script("tools/g++", "echo oops >&2; exit 3");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(at.path("tools/nvcc"), mode).unwrap();
    let tools = format!("{}:/bin", at.path("tools").display());
    let (report, code) = asked(&at, &[("PATH", &tools)], &[]);
    assert_eq!((report["problems"].as_u64(), code), (Some(0), Some(0)), "{report:#}");
}
