//! Whether a suite's Release file is signed by Debian: gpgv says it, where it and the keys are on this machine.

use super::release::signed_text;
use crate::failure::{Exit, Failure};
use crate::host::Host;
use crate::process;
use crate::settings::Mirror;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// gpgv answers in milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The text that may be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What was signed.
    pub text: String,
    /// Why the signature was not checked, where it was not.
    pub unchecked: Option<String>,
}

/// Checks a signed file. `what` names it in a failure.
pub fn check(host: &Host, mirror: &Mirror, file: &[u8], what: &str) -> Result<Checked, Failure> {
    let bad = |why: &str| Failure::new(Exit::BadBytes, format!("{what} {why}"));
    let whole = std::str::from_utf8(file).map_err(|_| bad("is not text"))?;
    let text = signed_text(whole).ok_or_else(|| bad("is no signed file"))?;
    let unchecked = |why: &str| {
        Ok(Checked {
            text: text.clone(),
            unchecked: Some(format!("Debian's signature was not checked: {why}")),
        })
    };
    let Some(gpgv) = on_path(host, "gpgv") else { return unchecked("gpgv is not installed") };
    if mirror.keys.is_empty() {
        return unchecked("there is no debian-archive-keyring here");
    }
    let said = ask(&gpgv, &mirror.keys, file)?;
    let keys: Vec<String> = mirror.keys.iter().map(|k| k.display().to_string()).collect();
    match verdict(&said.status) {
        Verdict::Good => Ok(Checked { text: said.text, unchecked: None }),
        Verdict::Bad => Err(bad("does not have the contents that Debian signed")),
        Verdict::Unknown => Err(bad(&format!("is not signed by a key in {}", keys.join(" or ")))
            .hint("a newer suite is signed by newer keys: update the package debian-archive-keyring")),
        Verdict::Silent => {
            let why = said.status.lines().next().unwrap_or("it said nothing").to_owned();
            Err(bad(&format!("could not be checked by gpgv: {why}")))
        }
    }
}

/// What gpgv said.
struct Said {
    /// Its lines for programs and for people.
    status: String,
    /// The text that the signature is for, as gpgv took it out of the file.
    text: String,
}

fn ask(gpgv: &PathBuf, keys: &[PathBuf], file: &[u8]) -> Result<Said, Failure> {
    let place =
        tempfile::tempdir().map_err(|e| Failure::failed(format!("could not make a directory: {e}")))?;
    let (signed, text) = (place.path().join("InRelease"), place.path().join("Release"));
    fs::write(&signed, file).map_err(|e| Failure::io("write", &signed, &e))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "OpenPGP is Debian's own tool's to judge, as apt has it done"
    )]
    let mut command = Command::new(gpgv);
    command.env_clear().env("LC_ALL", "C").arg("--homedir").arg(place.path()).args(["--status-fd", "1"]);
    for key in keys {
        command.arg("--keyring").arg(key);
    }
    command.arg("--output").arg(&text).arg(&signed);
    let finished = process::run(&mut command, PATIENCE).map_err(|e| Failure::io("start", gpgv, &e))?;
    // Without a good signature there may be no text, and none is wanted.
    let text = fs::read_to_string(&text).unwrap_or_default();
    Ok(Said { status: finished.output, text })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Good,
    Bad,
    Unknown,
    Silent,
}

/// A suite is signed by several keys, of which a machine need not know all: one good signature is enough, a bad one is
/// too much.
fn verdict(status: &str) -> Verdict {
    let says = |word: &str| {
        let words = status.lines().filter_map(|line| line.strip_prefix("[GNUPG:] "));
        words.into_iter().any(|rest| rest.split(' ').next() == Some(word))
    };
    if says("BADSIG") {
        Verdict::Bad
    } else if says("GOODSIG") {
        Verdict::Good
    } else if ["NO_PUBKEY", "ERRSIG", "EXPKEYSIG", "REVKEYSIG", "EXPSIG"].into_iter().any(says) {
        Verdict::Unknown
    } else {
        Verdict::Silent
    }
}

fn on_path(host: &Host, name: &str) -> Option<PathBuf> {
    let entries = std::env::split_paths(host.var("PATH")?);
    entries.filter(|entry| entry.is_absolute()).map(|entry| entry.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests;
