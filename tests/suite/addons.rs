//! Add-ons in the environment of real shells: two projects with one toolkit and different libraries.

use crate::sandbox::Sandbox;
use crate::shell_driver::{Do, after_init, has, machine, run, shells, try_run};
use std::process::Command;

/// Two projects with 12.4 and a cuDNN of their own each, and the machine's libraries in the lists beforehand.
fn two_projects() -> Sandbox {
    let at = machine();
    at.addon("cudnn/9.8.0.87-cuda12");
    at.addon("cudnn/9.1.1.17-cuda12");
    at.addon("cudnn/9.9.0.52-cuda11");
    at.write("home/new/.cuda-version", "12.4\ncudnn = 9\n");
    at.write("home/old/.cuda-version", "12.4\ncudnn = 9.1\n");
    at
}

#[test]
fn two_projects_with_one_toolkit_have_their_own_library_each() {
    let at = two_projects();
    let place = |version: &str| at.home().join(format!("addons/cudnn/{version}")).display().to_string();
    for shell in shells() {
        let steps = [
            Do::Set("CPATH", "/mine:"),
            Do::Unset("LIBRARY_PATH"),
            Do::Set("CUDNN_PATH", "/opt/my cudnn"),
            Do::Prompt,
            Do::Environment,
            Do::Cd("new"),
            Do::Prompt,
            Do::Show("CUDNN_HOME"),
            Do::Cd("old"),
            Do::Prompt,
            Do::Show("CUDNN_PATH"),
            Do::Show("CPATH"),
            Do::Cd("q"),
            Do::Prompt,
            Do::Show("CUDNN_PATH"),
            Do::Show("CUDNN_HOME"),
            Do::Cd("none"),
            Do::Prompt,
            Do::Environment,
        ];
        let lines = run(&at, shell, &after_init(steps));
        let mut parts = lines.split(String::is_empty);
        let before = parts.next().unwrap();
        let (shown, after) = parts.next().unwrap().split_at(5);
        let toolkit = at.home().join("toolkits/12.4.1/include");
        let expected = [
            format!("CUDNN_HOME=<{}>", place("9.8.0.87-cuda12")),
            format!("CUDNN_PATH=<{}>", place("9.1.1.17-cuda12")),
            format!("CPATH=<{}:{}/include:/mine:>", toolkit.display(), place("9.1.1.17-cuda12")),
            "CUDNN_PATH=</opt/my cudnn>".to_owned(),
            "CUDNN_HOME unset".to_owned(),
        ];
        assert_eq!(shown, expected, "{shell:?}");
        assert_eq!(after, before, "{shell:?}: left as it was");
    }
}

#[test]
fn a_library_that_is_absent_is_said_once_and_entered_when_it_comes() {
    let at = two_projects();
    at.write("home/new/.cuda-version", "12.4\n\ncudnn = 9.12\n");
    let there = "addons/cudnn/9.12.0.46-cuda12";
    for shell in shells() {
        let come = format!("mkdir -p \"$CUDAUP_TEST_HOME\"/{there}/include");
        let gone = format!("rm -r \"$CUDAUP_TEST_HOME\"/{there}");
        let home = at.home().display().to_string();
        let steps = [
            Do::Set("CUDAUP_TEST_HOME", &home),
            Do::Cd("new"),
            Do::Prompt,
            Do::Prompt,
            Do::Show("CUDNN_HOME"),
            Do::Line(&come),
            Do::Prompt,
            Do::Show("CUDNN_HOME"),
            Do::Line(&gone),
        ];
        let said = try_run(&at, shell, &after_init(steps));
        let pin = at.path("home/new/.cuda-version");
        let refusal =
            format!("cudaup: cudnn 9.12 for CUDA 12 is not installed ({}:3 asks for it)", pin.display());
        assert_eq!(said.err.matches(&refusal).count(), 1, "{shell:?}: {}", said.err);
        assert!(said.err.contains("try: cudaup add cudnn@9.12\n"), "{shell:?}: {}", said.err);
        let entered = at.home().join(there).display().to_string();
        assert_eq!(
            said.out,
            format!("CUDNN_HOME unset\nCUDNN_HOME=<{entered}>\n"),
            "{shell:?}: {}",
            said.err
        );
    }
}

#[test]
fn shims_and_commands_say_what_is_missing() {
    let at = two_projects();
    at.write("home/new/.cuda-version", "12.4\ncudnn = 9.12\n");
    assert_eq!(at.cudaup("home/q", &["rehash"]).code, Some(0));
    let shim = at.command(at.home().join("shims/nvcc"), "home/new").output().unwrap();
    let text = String::from_utf8(shim.stderr).unwrap();
    assert_eq!(shim.status.code(), Some(127));
    assert!(text.contains("cudnn 9.12 for CUDA 12 is not installed"), "{text}");
    assert!(text.contains("installed: 9.9.0.52 for CUDA 11, 9.8.0.87 for CUDA 12"), "{text}");
    for arguments in
        [&["which", "nvcc"][..], &["current"], &["exec", "--", "true"], &["env", "--shell", "bash"]]
    {
        let said = at.cudaup("home/new", arguments);
        assert_eq!(said.code, Some(3), "{arguments:?}: {}", said.err);
        assert!(said.err.contains("try: cudaup add cudnn@9.12\n"), "{arguments:?}: {}", said.err);
    }
    let elsewhere = at.cudaup("home/old", &["exec", "11.8", "--", "true"]);
    assert_eq!(elsewhere.code, Some(0), "a pin's keys hold with its own request: {}", elsewhere.err);
    let current = at.cudaup("home/old", &["current"]);
    assert!(current.out.contains("\n  cudnn 9.1.1.17  "), "{}", current.out);
}

#[test]
fn a_program_is_compiled_and_linked_with_the_projects_own_library() {
    if !has("cc") {
        return;
    }
    let at = two_projects();
    let cc = |arguments: &[&str]| {
        assert!(Command::new("cc").args(arguments).status().unwrap().success(), "{arguments:?}");
    };
    for version in ["9.8.0.87", "9.1.1.17"] {
        let source = format!("const char *which(void) {{ return \"{version}\"; }}\n");
        let source = at.write("lib.c", source).display().to_string();
        let lib = at.home().join(format!("addons/cudnn/{version}-cuda12/lib"));
        let file = lib.join("libcudnn.so.9").display().to_string();
        cc(&["-shared", "-fPIC", "-Wl,-soname,libcudnn.so.9", "-o", &file, &source]);
        std::os::unix::fs::symlink("libcudnn.so.9", lib.join("libcudnn.so")).unwrap();
    }
    let main = "#include <cudnn.h>\n#include <stdio.h>\nconst char *which(void);\n\
                int main(void) { printf(\"%s and %s\\n\", WHICH, which()); return 0; }\n";
    for shell in shells() {
        let mut steps = Vec::new();
        for project in ["old", "new"] {
            at.write(&format!("home/{project}/main.c"), main);
            steps.extend([
                Do::Cd(project),
                Do::Prompt,
                Do::Line("cc main.c -o main -lcudnn"),
                Do::Line("./main"),
            ]);
        }
        let lines = run(&at, shell, &after_init(steps));
        let expected = ["9.1.1.17", "9.8.0.87"].map(|v| format!("cudnn {v}-cuda12 and {v}"));
        assert_eq!(lines, expected, "{shell:?}");
    }
}
