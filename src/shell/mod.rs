//! Shells: how each is told what to set and unset.
use crate::failure::{Exit, Failure};
use cudaup_core::environment::Change;
use std::os::unix::ffi::OsStrExt;
pub struct Dialect {
    fish: bool,
}
impl Dialect {
    pub fn render(&self, changes: &[Change]) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::new();
        for (n, v) in changes {
            match v {
                Some(v) => {
                    out.extend_from_slice(
                        if self.fish { format!("set -gx {n} '") } else { format!("export {n}='") }.as_bytes(),
                    );
                    for b in v.as_bytes() {
                        if *b == b'\'' { out.extend_from_slice(b"'\\''") } else { out.push(*b) }
                    }
                    out.extend_from_slice(b"'\n");
                }
                None => out.extend_from_slice(
                    if self.fish { format!("set -e {n}\n") } else { format!("unset {n}\n") }.as_bytes(),
                ),
            }
        }
        Ok(out)
    }
    pub fn yields(&self) -> &'static str {
        if self.fish { "set -g _cudaup_yield 1\n" } else { "_cudaup_yield=1\n" }
    }
}
pub fn dialect(name: &str) -> Result<&'static Dialect, Failure> {
    match name {
        "fish" => Ok(&Dialect { fish: true }),
        "bash" | "zsh" | "sh" => Ok(&Dialect { fish: false }),
        _ => Err(Failure::new(Exit::Usage, "unknown shell")),
    }
}
pub fn of_parent(_: &crate::host::Host) -> Result<&'static Dialect, Failure> {
    dialect("bash")
}
