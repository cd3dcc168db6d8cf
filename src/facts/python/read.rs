//! Reading small pieces of files that anybody may have put into an environment.

use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// More names than this no directory of packages has.
const NAMES: usize = 50_000;

/// Opens a regular file; anything else is not waited for.
pub fn open(path: &Path) -> Option<File> {
    let nonblock = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblock).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}

/// The first bytes of a regular file as text; what is no UTF-8 is replaced.
pub fn head(path: &Path, length: u64) -> Option<String> {
    let mut bytes = Vec::new();
    open(path)?.take(length).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The names in a directory, in order.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).map(|e| e.take(NAMES).flatten().map(|e| e.file_name()));
    let mut names: Vec<String> = entries
        .map(|names| names.map(OsString::into_string).filter_map(Result::ok).collect())
        .unwrap_or_default();
    names.sort();
    names
}

/// The value in a line such as `cuda: Optional[str] = '12.4'` or `cuda = None`; quotes are taken off.
pub fn assigned<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.trim_start();
        // A name that only begins like it is another one, and so is a comparison.
        let (annotation, value) = rest.split_once('=')?;
        let plain = annotation.trim().is_empty() || annotation.starts_with(':');
        (plain && !value.starts_with('=')).then(|| value.trim().trim_matches(['\'', '"']))
    })
}
