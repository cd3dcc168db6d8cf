//! Which shell started this program.

use super::{Dialect, dialect, named};
use crate::failure::{Exit, Failure};
use crate::host::Host;
use std::fs;

/// A shell that a person types into is seldom further away than this (`time`, `env`, a script between).
const FARTHEST: usize = 8;

/// The shell that runs this program, among those that `fits` accepts: the nearest process above, else the user's login shell.
pub fn of_parent(host: &Host, fits: fn(&Dialect) -> bool) -> Result<&'static Dialect, Failure> {
    let mut process = Some(std::os::unix::process::parent_id());
    for _ in 0..FARTHEST {
        let Some(id) = process else { break };
        if let Some(found) = name(id).as_deref().and_then(named).filter(|d| fits(d)) {
            return Ok(found);
        }
        process = above(id);
    }
    let login = host.text("SHELL").and_then(|shell| dialect(shell).ok()).filter(|d| fits(d));
    login.ok_or_else(|| Failure::new(Exit::Usage, "which shell this is cannot be seen: name it"))
}

/// The name of a process as the kernel keeps it; that of a login shell has no dash there.
fn name(process: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{process}/comm")).ok().map(|name| name.trim_end().to_owned())
}

/// The parent of a process. Its name, in parentheses before, may hold anything.
fn above(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 0)
}
