//! The driver's version, from the kernel's files; nvidia-smi is not started.

use crate::host::Host;

/// The version of the loaded driver; `None` where there is none, or where its file cannot be read (WSL has no such file).
pub fn version(host: &Host) -> Option<String> {
    let read = |path: &str| std::fs::read(host.system(path)).ok();
    let module = read("/sys/module/nvidia/version").and_then(|bytes| from_module(&bytes));
    module.or_else(|| from_proc(&read("/proc/driver/nvidia/version")?))
}

fn from_module(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    is_version(text).then(|| text.to_owned())
}

/// Finds the number in `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  ...`. What follows it differs
/// from build to build and holds other numbers.
fn from_proc(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find(|l| l.starts_with("NVRM version:"))?;
    let after = line.split_once(" Module")?.1;
    after.split_whitespace().find(|word| is_version(word)).map(str::to_owned)
}

pub(super) fn is_version(text: &str) -> bool {
    let numbers: Vec<&str> = text.split('.').collect();
    let number = |n: &&str| !n.is_empty() && n.len() <= 4 && n.bytes().all(|b| b.is_ascii_digit());
    (2..=3).contains(&numbers.len()) && numbers.iter().all(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_open_and_odd_modules() {
        for (line, version) in [
            ("NVIDIA UNIX x86_64 Kernel Module  352.63  Sat Nov  7 21:25:42 PST 2015", Some("352.63")),
            (
                "NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs@U16-A24)",
                Some("580.95.05"),
            ),
            (
                "NVIDIA UNIX Open Kernel Module for x86_64  525.60.11  Release Build  (archlinux@)",
                Some("525.60.11"),
            ),
            ("NVIDIA UNIX i386 Kernel Module  169.12", Some("169.12")),
            ("NVIDIA UNIX Open Kernel Module for x86_64  5", None),
        ] {
            let text = format!("NVRM version: {line}\nGCC version:  gcc version 12.2.0 (Debian)\n");
            assert_eq!(from_proc(text.as_bytes()).as_deref(), version, "{line}");
        }
        assert_eq!(from_proc(b""), None);
        assert_eq!(from_proc(b"\xff\xfebad"), None);
        assert_eq!(from_module(b"535.183.01\n").as_deref(), Some("535.183.01"));
        assert_eq!(from_module(b"\n"), None);
    }
}
