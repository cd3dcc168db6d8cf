//! Records that cudaup keeps of what it made, each a JSON file in the tree that it is about.

use super::atomic;
use crate::failure::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The name of the record of what was installed, in the root of its tree.
pub const RECEIPT: &str = cudaup_core::fitness::RECEIPT;

/// A receipt is some hundred kilobytes even for a full toolkit; more is no receipt.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The receipt of a tree; `None` where it has none, and so is not cudaup's to change.
pub fn read<T: DeserializeOwned>(tree: &Path) -> Result<Option<T>, Failure> {
    let path = tree.join(RECEIPT);
    let found = match fs::symlink_metadata(&path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        other => other.map_err(|error| {
            let tree = shell_words::quote(&tree.to_string_lossy()).into_owned();
            let failure = Failure::io("read", &path, &error);
            let shut = error.kind() == io::ErrorKind::PermissionDenied;
            if shut { failure.hint(format!("chmod u+rwx {tree}")) } else { failure }
        })?,
    };
    // A FIFO would wait for ever, a link could lead out of the tree.
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(Failure::failed(format!(
            "{} is not a receipt: not a plain file of fitting size",
            path.display()
        )));
    }
    let text = fs::read(&path).map_err(|error| Failure::io("read", &path, &error))?;
    let receipt = understood(&text).map_err(|why| {
        let place = shell_words::quote(&tree.to_string_lossy()).into_owned();
        Failure::failed(format!("{} is not a receipt: {why}", path.display()))
            .hint(format!("mv {place} {place}.old   (what is in it is nobody's but yours then)"))
    })?;
    Ok(Some(receipt))
}

/// A receipt from its text: whatever else it has, it says which cudaup wrote it, and of what.
fn understood<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let fields: Map<String, Value> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    for (field, what) in [("cudaup", "which cudaup wrote it"), ("version", "the version of what is here")] {
        if fields.get(field).and_then(Value::as_str).is_none_or(|said| said.trim().is_empty()) {
            return Err(format!("it does not say {what} ({field})"));
        }
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

/// Writes a receipt into a tree by a rename: it is whole or not there. Everybody can read it, whatever the umask.
pub fn write<T: Serialize>(tree: &Path, receipt: &T) -> Result<(), Failure> {
    let path = tree.join(RECEIPT);
    let failed = |error: &io::Error| Failure::io("write", &path, error);
    let mut text = serde_json::to_vec_pretty(receipt).map_err(|error| failed(&error.into()))?;
    text.push(b'\n');
    atomic::write(&path, &text)?;
    fs::set_permissions(&path, Permissions::from_mode(0o644)).map_err(|error| failed(&error))
}
