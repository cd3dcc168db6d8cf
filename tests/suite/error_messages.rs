//! `explain`: error messages from a word, a file and a pipe; what is none of them.

use crate::sandbox::{Said, Sandbox, said};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

fn explain(at: &Sandbox, arguments: &[&str]) -> Said {
    at.cudaup("", &[&["explain"], arguments].concat())
}

fn piped(at: &Sandbox, text: &[u8], arguments: &[&str]) -> Said {
    let mut command = at.command(at.home().join("bin/cudaup"), "");
    command.arg("explain").args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    said(child.wait_with_output().unwrap())
}

fn ids(told: &Said) -> Vec<String> {
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let errors = told["errors"].as_array().unwrap();
    errors.iter().map(|error| error["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_log_is_read_from_wherever_it_comes() {
    let at = Sandbox::new();
    let log = "make: ok\nx.cu:1:10: fatal error: cuda_runtime.h: No such file or directory\n";
    at.write("build.log", log);
    let told = explain(&at, &["build.log"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    assert!(told.out.starts_with("line 2: x.cu:1:10: fatal error: cuda_runtime.h: No such"), "{told:?}");
    assert!(told.out.contains("seen here: No toolkit is installed."), "{told:?}");
    assert_eq!(ids(&piped(&at, log.as_bytes(), &["--json"])), ["cuda-h-missing"]);
    assert_eq!(ids(&piped(&at, log.as_bytes(), &["-", "--json"])), ["cuda-h-missing"]);
    // As the shell's <(...) hands it over: a name that is no file.
    assert_eq!(ids(&piped(&at, log.as_bytes(), &["/dev/stdin", "--json"])), ["cuda-h-missing"]);
    assert_eq!(ids(&explain(&at, &["nvcc: command not found", "--json"])), ["nvcc-not-found"]);
    assert_eq!(ids(&explain(&at, &["CUDA", "out", "of", "memory", "--json"])), ["oom"]);
}

#[test]
fn what_follows_from_another_error_says_so() {
    let at = Sandbox::new();
    let log =
        "no CUDA-capable device is detected\nFailed to initialize NVML: Driver/library version mismatch\n";
    let told = piped(&at, log.as_bytes(), &["--json"]);
    assert_eq!(ids(&told), ["nvml-mismatch", "smi-no-devices"]);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["errors"][0]["follows"], Value::Null);
    assert_eq!(told["errors"][1]["follows"], "nvml-mismatch");
    assert_eq!((&told["errors"][0]["line"], &told["errors"][1]["line"]), (&2.into(), &1.into()));
    let text = piped(&at, log.as_bytes(), &[]).out;
    assert!(text.contains("\n  it may follow from nvml-mismatch, above\n"), "{text}");
}

#[test]
fn codes_have_pages_in_two_languages() {
    let at = Sandbox::new();
    let english = explain(&at, &["driver-too-old"]);
    assert!(english.code == Some(0) && english.out.starts_with("driver-too-old: The driver"), "{english:?}");
    let mut command = at.command(at.home().join("bin/cudaup"), "");
    let chinese =
        said(command.args(["explain", "driver-too-old"]).env("LC_ALL", "zh_CN.UTF-8").output().unwrap());
    assert!(chinese.out.contains("驱动") && !chinese.out.contains("The driver"), "{chinese:?}");
    // The name of an error: its causes, at no line.
    let error = explain(&at, &["oom"]);
    assert!(error.out.starts_with("oom (error 2): The GPU's memory is full."), "{error:?}");
}

#[test]
fn what_is_no_message_is_said() {
    let at = Sandbox::new();
    std::fs::create_dir(at.path("logs")).unwrap();
    at.write("fine.log", "[100%] Built target add\n");
    at.write("empty.log", "");
    let binary: Vec<u8> = (0..=255).cycle().take(3000).collect();
    at.write("binary.log", binary);
    for (arguments, code, words) in [
        (["missing.log"], 1, "there is no file"),
        (["/no/such/place"], 1, "there is no file /no/such/place"),
        (["logs"], 2, "logs is a directory: name the log in it"),
        (["fine.log"], 1, "no error message that cudaup knows is in this"),
        (["empty.log"], 1, "no error message that cudaup knows is in this"),
        (["binary.log"], 1, "no error message that cudaup knows is in this"),
        (["hello there"], 1, "no error message that cudaup knows is in this"),
        ([" "], 2, "nothing is to be explained"),
    ] {
        let told = explain(&at, &arguments);
        assert!(told.code == Some(code) && told.err.contains(words), "{arguments:?}: {told:?}");
        assert!(told.out.is_empty(), "{arguments:?}: {told:?}");
    }
    assert!(explain(&at, &["fine.log"]).err.contains("try: cudaup doctor"));
}

#[test]
fn nothing_in_a_log_steers_the_terminal() {
    let at = Sandbox::new();
    let told =
        piped(&at, b"\x1b]0;title\x07\x1b[2JCUDA out of memory \x07\x08\x9b1m\xe2\x80\xaeabc\r\n", &[]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(told.out.contains("CUDA out of memory") && !told.out.contains(steers), "{told:?}");
}
