//! Proofs with stand-ins for nvcc and the host compiler that are real programs.

use super::*;
use crate::elf::stub;
use crate::process::script;

const VERSION: Version = Version::exact(13, 0, 2);
const ANSWERS: &str =
    "if [ \"$1\" = --version ]; then echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit; fi";
const LIMITS: &str = "#if __GNUC__ > 15\n#error -- unsupported GNU version!\n#endif\n";

struct Scene {
    root: tempfile::TempDir,
    host: Host,
}

impl Scene {
    /// A toolkit with this nvcc, and a machine with these compilers and the system's own tools.
    fn new(nvcc: &str, compilers: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for directory in ["tree/bin", "tree/include/crt", "scratch", "path"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        fs::write(root.path().join("tree/include/crt/host_config.h"), LIMITS).unwrap();
        if !nvcc.is_empty() {
            script(&root.path().join("tree/bin/nvcc"), &format!("#!/bin/sh\n{nvcc}"));
        }
        for (name, body) in compilers {
            script(&root.path().join("path").join(name), &format!("#!/bin/sh\n{body}"));
        }
        // The stand-ins need the shell's tools, but a real g++ of this machine must not be found.
        for tool in ["sh", "env", "grep", "touch", "cat", "test", "pwd"] {
            let real = ["/bin", "/usr/bin"]
                .map(|place| Path::new(place).join(tool))
                .into_iter()
                .find(|p| p.exists());
            std::os::unix::fs::symlink(real.unwrap(), root.path().join("path").join(tool)).unwrap();
        }
        let vars = vec![(OsString::from("PATH"), root.path().join("path").into())];
        let host = Host { vars, ..Host::bare() };
        Self { root, host }
    }

    fn prove(&self) -> Proof {
        let (tree, scratch) = (self.root.path().join("tree"), self.root.path().join("scratch"));
        let proof = prove(&Trial { tree: &tree, version: VERSION, scratch: &scratch }, &self.host).unwrap();
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "something was left in scratch");
        proof
    }
}

/// A compiler that says it is this version and compiles anything.
fn compiler(version: &str) -> String {
    format!("case $1 in -dump*) echo {version};; *) touch \"$2\";; esac")
}

fn gnu(version: &str) -> [(&'static str, &str); 2] {
    [("g++", version), ("gcc", version)]
}

fn unproved(proof: Proof) -> (String, String) {
    match proof {
        Proof::Unproved { reason, remedy } => (reason, remedy),
        other => panic!("not unproved: {other:?}"),
    }
}

fn broken(proof: Proof) -> (String, String) {
    match proof {
        Proof::Broken { reason, log } => (reason, log),
        other => panic!("not broken: {other:?}"),
    }
}

#[test]
fn a_toolkit_that_compiles_is_proved_with_the_default_compiler_unnamed() {
    let nvcc =
        format!("{ANSWERS}\ncase \"$*\" in *-ccbin*) exit 1;; esac\ngrep -q add proof.cu && touch proof");
    let compiler = compiler("12.2.0");
    assert_eq!(
        Scene::new(&nvcc, &gnu(&compiler)).prove(),
        Proof::Proved { compiler: "g++ 12.2.0".to_owned() }
    );
}

#[test]
fn another_compiler_is_named_where_the_default_is_too_new() {
    let nvcc = format!("{ANSWERS}\ncase \"$*\" in *'-ccbin '*/path/g++-15) touch proof;; *) exit 1;; esac");
    let (new, fitting) = (compiler("16.1.0"), compiler("15.2.0"));
    let scene = Scene::new(&nvcc, &[("g++", &new), ("gcc", &new), ("g++-15", &fitting)]);
    assert_eq!(scene.prove(), Proof::Proved { compiler: "g++-15 15.2.0".to_owned() });
}

#[test]
fn the_users_variables_do_not_reach_the_compiler() {
    let steering = "CPATH|LIBRARY_PATH|NVCC_PREPEND_FLAGS|CUDA_HOME|CPLUS_INCLUDE_PATH|LANG";
    let nvcc = format!(
        "{ANSWERS}\nif env | grep -E '^({steering})='; then exit 1; fi\n\
         env | grep -q '^KEPT=1$' && test \"$TMPDIR\" = \"$(pwd)\" && touch proof"
    );
    let compiler = compiler("12.2.0");
    let mut scene = Scene::new(&nvcc, &gnu(&compiler));
    for name in steering.split('|').chain(["KEPT"]) {
        scene.host.vars.push((OsString::from(name), OsString::from("1")));
    }
    assert_eq!(scene.prove(), Proof::Proved { compiler: "g++ 12.2.0".to_owned() });
}

#[test]
fn an_nvcc_of_another_release_is_broken() {
    let nvcc = ANSWERS.replace("13.0", "13.5");
    let (reason, log) = broken(Scene::new(&nvcc, &[]).prove());
    assert_eq!(reason, "nvcc answers that it is 13.5, not 13.0");
    assert!(log.contains("release 13.5"), "{log}");
    let (reason, _) = broken(Scene::new("echo nothing; exit 7", &[]).prove());
    assert!(reason.starts_with("nvcc --version failed (exit status: 7"), "{reason}");
}

#[test]
fn no_compiler_and_one_that_does_not_fit_leave_it_unproved_with_the_remedy() {
    let (reason, remedy) = unproved(Scene::new(ANSWERS, &[]).prove());
    assert_eq!(reason, "there is no g++ on PATH");
    assert!(remedy.contains("apt install g++"), "{remedy}");
    let (new, old) = (compiler("16.1.0"), compiler("4.8.5"));
    let (reason, remedy) = unproved(Scene::new(ANSWERS, &gnu(&new)).prove());
    assert_eq!(reason, "g++ 16.1.0 is too new for CUDA 13.0, which takes g++ up to 15");
    assert!(remedy.contains("g++-15"), "{remedy}");
    let (reason, _) = unproved(Scene::new(ANSWERS, &gnu(&old)).prove());
    assert_eq!(reason, "g++ 4.8.5 is too old for CUDA 13.0, which takes g++ from 6 on");
}

#[test]
fn a_failure_to_compile_is_the_toolkits_where_the_compiler_works_alone() {
    let nvcc = format!("{ANSWERS}\necho 'sh: 1: cicc: Permission denied'; exit 126");
    let compiler = compiler("12.2.0");
    let (reason, log) = broken(Scene::new(&nvcc, &gnu(&compiler)).prove());
    assert_eq!(
        reason,
        "nvcc did not compile a small program with g++ 12.2.0: sh: 1: cicc: Permission denied"
    );
    assert!(log.contains("bin/nvcc -o proof proof.cu\nsh: 1: cicc"), "{log}");
}

#[test]
fn a_failure_to_compile_is_the_compilers_where_it_does_not_work_alone() {
    let nvcc = format!("{ANSWERS}\nexit 1");
    let crippled = "case $1 in -dump*) echo 12.2.0;; *) echo 'plain.cpp:1: fatal error: cmath: No such file'; exit 1;; esac";
    let (reason, remedy) = unproved(Scene::new(&nvcc, &gnu(crippled)).prove());
    let wanted =
        "g++ 12.2.0 does not compile a plain C++ program here: plain.cpp:1: fatal error: cmath: No such file";
    assert_eq!(reason, wanted);
    assert!(remedy.contains("apt install g++"), "{remedy}");
}

#[test]
fn an_nvcc_that_says_it_compiled_and_made_nothing_is_broken() {
    let compiler = compiler("12.2.0");
    let (reason, _) = broken(Scene::new(ANSWERS, &gnu(&compiler)).prove());
    assert!(reason.starts_with("nvcc did not compile a small program with g++ 12.2.0"), "{reason}");
}

#[test]
fn a_full_disk_is_not_the_toolkits_fault() {
    let nvcc = format!(
        "{ANSWERS}\necho '/x/proof.ii: fatal error: error writing to /x/a.s: No space left on device'; exit 1"
    );
    let compiler = compiler("12.2.0");
    let scene = Scene::new(&nvcc, &gnu(&compiler));
    let (tree, scratch) = (scene.root.path().join("tree"), scene.root.path().join("scratch"));
    let failure =
        prove(&Trial { tree: &tree, version: VERSION, scratch: &scratch }, &scene.host).unwrap_err();
    assert!(failure.message.starts_with("could not compile a small program in "), "{failure}");
    assert_eq!(failure.tries.len(), 1);
}

#[test]
fn a_clash_with_a_new_glibc_is_not_the_toolkits_fault() {
    let clash = |function: &str| {
        format!(
            "{ANSWERS}\necho '/usr/include/bits/mathcalls.h(79): error: exception specification is incompatible with \
             that of previous function \"{function}\" (declared at line 2601 of math_functions.h)'; exit 2"
        )
    };
    let compiler = compiler("12.2.0");
    let (reason, remedy) = unproved(Scene::new(&clash("cospi"), &gnu(&compiler)).prove());
    assert!(reason.contains("glibc (2.41 or newer)"), "{reason}");
    assert!(remedy.contains("CUDA 13.0 or newer"), "{remedy}");
    let (_, remedy) = unproved(Scene::new(&clash("rsqrtf"), &gnu(&compiler)).prove());
    assert!(remedy.contains("CUDA 13.2 or newer"), "{remedy}");
    broken(Scene::new(&clash("other"), &gnu(&compiler)).prove());
}

#[test]
fn a_compiler_that_only_nvcc_refuses_is_not_the_toolkits_fault() {
    let nvcc = format!(
        "{ANSWERS}\necho 'host_config.h:143: error: #error -- unsupported GNU version! gcc versions later than 11 are \
         not supported! The nvcc flag ... can be used'; exit 1"
    );
    let compiler = compiler("12.2.0");
    let (reason, _) = unproved(Scene::new(&nvcc, &gnu(&compiler)).prove());
    let wanted = "nvcc does not take g++ 12.2.0: unsupported GNU version! gcc versions later than 11 are not supported!";
    assert_eq!(reason, wanted);
}

#[test]
fn a_toolkit_for_another_machine_or_another_c_library_is_not_run() {
    let other = match Machine::here() {
        Some(Machine::X86_64) => Machine::Aarch64,
        _ => Machine::X86_64,
    };
    let scene = Scene::new("", &[]);
    let nvcc = scene.root.path().join("tree/bin/nvcc");
    fs::write(&nvcc, stub::write("x", &[], other, 0)).unwrap();
    let (reason, _) = unproved(scene.prove());
    assert!(reason.starts_with(&format!("its programs are for {}", other.name())), "{reason}");

    let mut program = fs::read("/bin/ls").unwrap();
    let Some(at) = program.windows(10).position(|bytes| bytes == b"/ld-linux-") else {
        eprintln!("skipped: /bin/ls here is not started by glibc's loader");
        return;
    };
    program[at..at + 10].copy_from_slice(b"/ld-absent");
    fs::write(&nvcc, program).unwrap();
    let (reason, _) = unproved(scene.prove());
    assert!(reason.starts_with("its programs need glibc ("), "{reason}");
}

#[test]
fn a_glibc_that_is_too_old_is_not_the_toolkits_fault() {
    let nvcc =
        "echo \"nvcc: /lib/libc.so.6: version \\`GLIBC_2.38' not found (required by nvcc)\" >&2; exit 1";
    let (reason, _) = unproved(Scene::new(nvcc, &[]).prove());
    assert_eq!(reason, "its programs need glibc 2.38, newer than this system's");
}

#[test]
fn an_nvcc_that_is_not_there_or_may_not_run_is_broken() {
    let scene = Scene::new("", &[]);
    let (reason, _) = broken(scene.prove());
    assert!(reason.starts_with("there is no ") && reason.ends_with("/tree/bin/nvcc"), "{reason}");
    let nvcc = scene.root.path().join("tree/bin/nvcc");
    fs::write(&nvcc, "#!/bin/sh\n").unwrap();
    let (reason, _) = broken(scene.prove());
    assert!(reason.ends_with("bin/nvcc could not be started: permission denied"), "{reason}");
}

#[test]
fn a_path_that_a_shell_would_read_is_not_given_to_nvcc() {
    let nvcc = format!("{ANSWERS}\ntouch proof ran");
    let compiler = compiler("12.2.0");
    let scene = Scene::new(&nvcc, &gnu(&compiler));
    let awkward = scene.root.path().join("it's a $(touch x)");
    fs::create_dir(&awkward).unwrap();
    let tree = awkward.join("tree");
    fs::rename(scene.root.path().join("tree"), &tree).unwrap();
    let proof = prove(&Trial { tree: &tree, version: VERSION, scratch: &awkward }, &scene.host).unwrap();
    let (reason, _) = unproved(proof);
    assert!(reason.starts_with("nvcc cannot work below a path that holds '$': "), "{reason}");
    for harmless in ["/home/it's me (at) work; a&b/\\u", "/é"] {
        assert_eq!(diagnosis::path_for_a_shell(Path::new(harmless)), None);
    }
}

#[test]
fn where_programs_may_not_be_started_the_toolkit_is_unproved() {
    let denied = io::Error::from(io::ErrorKind::PermissionDenied);
    let (reason, remedy) = unproved(diagnosis::not_started(Path::new("/home/u/bin/nvcc"), true, &denied));
    assert_eq!(reason, "programs cannot be started here: /home/u/bin/nvcc: permission denied");
    assert!(remedy.contains("noexec"), "{remedy}");
}
