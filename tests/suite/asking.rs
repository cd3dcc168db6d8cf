//! What is asked for and cannot be had: the answer says what was wrong with it and what to type.

use crate::sandbox::Sandbox;

/// Each with its exit code and what the answer holds.
const ASKED: [(&[&str], i32, &[&str]); 12] = [
    (&["install", "12.4", "--from", ""], 2, &["--from was given nothing: it takes a path or an address"]),
    (&["install", "12.4", "--components", ""], 2, &["--components was given nothing: it takes names"]),
    (&["install", "12.4", "--with", " "], 2, &["--with was given nothing: it takes names of libraries"]),
    (
        &["install", "12.4", "--source", ""],
        2,
        &["--source needs a value: auto, nvidia", "install 12.4 --source auto\n"],
    ),
    (&["add", "cudnn", "--from", ""], 2, &["--from was given nothing: it takes an archive"]),
    (
        &["install", "12.4", "--components", "nvc"],
        2,
        &["did you mean nvcc?", "try: cudaup install VERSION --components nvcc\n"],
    ),
    (&["install", "12.4", "--components", "cudn"], 2, &["a library of its own?", "--with cudnn\n"]),
    (&["add", "cudn"], 2, &["did you mean cudnn?", "try: cudaup add cudnn\n"]),
    (&["add", "tensorrt"], 2, &["try: pip install tensorrt"]),
    (
        &["install", "lab"],
        3,
        &["`lab` is no version", "try: cudaup install latest\n", "cudaup list --remote"],
    ),
    (&["install", "12..4"], 2, &["did you mean 12.4?", "install 12.4\n"]),
    // What never was a release is not to be waited for.
    (&["use", "12.7", "--no-install"], 3, &["CUDA 12.7 is not installed", "there is none to install"]),
];

#[test]
fn what_cannot_be_had_is_answered_with_what_can() {
    let at = Sandbox::new();
    for (asked, code, answers) in ASKED {
        let said = at.cudaup("p", &[&["--offline"], asked].concat());
        assert_eq!(said.code, Some(code), "{asked:?}: {}", said.err);
        for answer in answers {
            assert!(said.err.contains(answer), "{asked:?}: {}", said.err);
        }
    }
    assert!(!at.path("p/.cuda-version").exists());
    let waits = at.cudaup("p", &["use", "12.4", "--no-install"]);
    assert!(waits.code == Some(0) && at.path("p/.cuda-version").exists(), "{}", waits.err);
}
