//! The session that the README shows: each command in a real bash with the hook, and what it prints there. What installs
//! needs a network and is left out.

use crate::sandbox::{Sandbox, said};
use crate::shell_driver::has;
use std::fs;
use std::path::Path;

const LIMIT: &str = "#if __GNUC__ > 11\n#error -- unsupported GNU version! gcc versions later than 11 are not supported!\n#endif\n";

/// The commands of the session, each with the lines below it.
fn session() -> Vec<(String, String)> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let block = readme.split_once("## How it looks\n").unwrap().1.split_once("\n## ").unwrap().0;
    let mut steps: Vec<(String, String)> = Vec::new();
    for line in block.lines().filter_map(|line| line.strip_prefix("    ")) {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command.to_owned(), String::new())),
            (None, Some((_, shown))) => shown.extend([line, "\n"]),
            (None, None) => panic!("{line}: no command stands above it"),
        }
    }
    steps
}

#[test]
fn the_session_is_what_a_shell_shows() {
    if !has("bash") {
        return;
    }
    let at = Sandbox::new();
    at.managed("13.0.3");
    at.script(
        "home/.cudaup/toolkits/13.0.3/bin/nvcc",
        "echo 'Cuda compilation tools, release 13.0, V13.0.88'; echo Build",
    );
    at.write("home/.cudaup/default", "13.0.3\n");
    at.toolkit("data/cuda-11.8", "11.8.0");
    at.write("data/cuda-11.8/include/crt/host_config.h", LIMIT);
    for (name, version) in [("gcc", "12.2.0"), ("g++", "12.2.0"), ("gcc-11", "11.3.0"), ("g++-11", "11.3.0")]
    {
        at.script(&format!("compilers/{name}"), &format!("echo {version}"));
    }
    for directory in ["old", "fa"] {
        fs::create_dir_all(at.user().join(directory)).unwrap();
    }
    let root = at.path("").display().to_string();
    let root = root.trim_end_matches('/');
    let steps: Vec<_> = session().into_iter().filter(|(command, _)| !command.contains(" install ")).collect();
    assert!(steps.len() > 5, "{steps:?}");
    let mut script = "eval \"$(\"$CUDAUP\" init bash)\"\n".to_owned();
    for (command, _) in &steps {
        let command = command.replace(" /data/", &format!(" {root}/data/"));
        let prompt = "for c in \"${PROMPT_COMMAND[@]}\"; do eval \"$c\"; done";
        script.push_str(&format!("{command}\n{prompt}\necho ---\n"));
    }
    let mut bash = at.command("bash", "home");
    let path = format!("{}:/usr/bin:/bin", at.path("compilers").display());
    bash.env("PATH", path).env("CUDAUP", at.home().join("bin/cudaup"));
    let seen = said(bash.args(["--norc", "-c", &format!("exec 2>&1\n{script}")]).output().unwrap()).out;
    let seen = seen.replace(&format!("{root}/home"), "~").replace(root, "");
    let seen: Vec<&str> = seen.split("---\n").collect();
    for ((command, shown), seen) in steps.iter().zip(seen) {
        assert_eq!(seen, shown, "$ {command}");
    }
}
