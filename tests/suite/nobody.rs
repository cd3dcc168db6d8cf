//! cudaup as a user without rights: as nobody, where the tests run as root.

use crate::sandbox::{Said, Sandbox, copy, said};
use crate::shell_driver::has;
use std::fs;
use std::path::Path;
use std::process::Command;

pub fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout == b"0\n"
}

/// Runs cudaup as a user without rights: as nobody, where this is root.
pub fn as_nobody(at: &Sandbox, arguments: &[&str]) -> Option<Said> {
    as_nobody_with(at, &[], arguments)
}

/// The same with these variables.
pub fn as_nobody_with(at: &Sandbox, variables: &[(&str, String)], arguments: &[&str]) -> Option<Said> {
    let id = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    let id = if is_root() { &id[..] } else { &[] };
    if !id.is_empty() && !has("setpriv") {
        return None;
    }
    let program = at.path("bin/cudaup").display().to_string();
    let line =
        [if id.is_empty() { &[] } else { &["setpriv"][..] }, id, &[program.as_str()], arguments].concat();
    let mut command = at.command(line[0], "project");
    command.envs(variables.iter().cloned()).args(&line[1..]);
    Some(said(command.output().unwrap()))
}

/// A program that nobody can reach, wherever this one was built.
pub fn reachable_program(at: &Sandbox) {
    fs::create_dir_all(at.path("bin")).unwrap();
    copy(Path::new(env!("CARGO_BIN_EXE_cudaup")), &at.path("bin/cudaup"));
}
