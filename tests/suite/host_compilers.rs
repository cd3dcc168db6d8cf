//! What is said where nvcc does not take the machine's g++: which toolkit that is, and the file whose key holds for it.

use crate::sandbox::{Said, Sandbox, said};

const LIMIT: &str = "#if __GNUC__ > 11\n#error -- unsupported GNU version! gcc versions later than 11 are not supported!\n#endif\n";

/// 11.8 takes g++ up to 11, 12.4 takes all; `g++` is 12, and there is a g++-11.
fn machine() -> Sandbox {
    let at = Sandbox::new();
    for (version, header) in [("11.8.0", LIMIT), ("12.4.1", "")] {
        at.managed(version);
        at.write(
            &format!("home/.cudaup/toolkits/{version}/targets/x86_64-linux/include/crt/host_config.h"),
            header,
        );
        at.write(&format!("home/.cudaup/toolkits/{version}/include/crt/host_config.h"), header);
    }
    for (name, version) in [("gcc", "12.2.0"), ("g++", "12.2.0"), ("gcc-11", "11.3.0"), ("g++-11", "11.3.0")]
    {
        at.script(&format!("compilers/{name}"), &format!("echo {version}"));
    }
    at
}

fn cudaup(at: &Sandbox, directory: &str, set: &[(&str, &str)], arguments: &[&str]) -> Said {
    let mut command = at.command(at.home().join("bin/cudaup"), directory);
    let path = format!("{}:/usr/bin:/bin", at.path("compilers").display());
    said(command.env("PATH", path).envs(set.iter().copied()).args(arguments).output().unwrap())
}

/// The notes about the compiler.
fn notes(said: &Said) -> Vec<String> {
    assert_eq!(said.code, Some(0), "{said:?}");
    let both = format!("{}{}", said.out, said.err);
    both.lines().filter(|l| l.contains("does not take")).map(str::to_owned).collect()
}

fn note(place: &str) -> Vec<String> {
    vec![format!(
        "note: nvcc of CUDA 11.8.0 does not take this machine's g++: write `host_compiler = g++-11` {place}, or say nvcc -ccbin g++-11"
    )]
}

#[test]
fn the_key_is_advised_in_the_file_that_holds() {
    let at = machine();
    let pinned = note("below the version in ~/p/.cuda-version");
    assert_eq!(notes(&cudaup(&at, "home/p", &[], &["use", "11.8"])), pinned);
    assert_eq!(notes(&cudaup(&at, "home/p/sub", &[], &["current"])), pinned);
    let default = note("in ~/.cudaup/default");
    assert_eq!(notes(&cudaup(&at, "q", &[("CUDAUP_VERSION", "11.8.0")], &["current"])), default);
    let shell = cudaup(&at, "q", &[("_CUDAUP_SHELL", "bash")], &["use", "--shell", "11.8"]);
    assert_eq!(notes(&shell), default);
    // What is advised helps: the default's key holds under the variable, and a pin's where it asks for the same.
    at.write("home/.cudaup/default", "host_compiler = g++-11\n");
    assert_eq!(notes(&cudaup(&at, "q", &[("CUDAUP_VERSION", "11.8.0")], &["current"])), [""; 0]);
    assert_eq!(notes(&cudaup(&at, "q", &[("_CUDAUP_SHELL", "bash")], &["use", "--shell", "11.8"])), [""; 0]);
    at.write("home/.cudaup/default", "");
    at.write("home/p/.cuda-version", "11.8\nhost_compiler = g++-11\n");
    let in_p = cudaup(&at, "home/p", &[("_CUDAUP_SHELL", "bash")], &["use", "--shell", "11.8"]);
    assert_eq!(notes(&in_p), [""; 0]);
}

#[test]
fn use_speaks_of_the_toolkit_that_was_written_down() {
    let at = machine();
    let outranked = |variable: &str, pinned: &str| {
        notes(&cudaup(&at, "home/p", &[("CUDAUP_VERSION", variable)], &["use", pinned]))
    };
    assert_eq!(outranked("11.8.0", "12.4"), [""; 0]);
    assert_eq!(outranked("12.4.1", "11.8"), note("below the version in ~/p/.cuda-version"));
    // A pin here says nothing of the default.
    let default = cudaup(&at, "home/p", &[], &["use", "--default", "11.8"]);
    assert_eq!(notes(&default), note("in ~/.cudaup/default"));
    let both = cudaup(&at, "home/p", &[], &["use", "--default", "12.4"]);
    assert_eq!(notes(&both), [""; 0]);
}
