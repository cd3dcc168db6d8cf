//! Which CUDA a process on a GPU has loaded, by the kernel's list of the files that it maps.

use crate::host::Host;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// A process that maps more than this is not read to the end.
const MOST: u64 = 16 * 1024 * 1024;

/// Libraries that tell which CUDA a process runs on, the most telling first.
const TELLING: [&str; 4] = ["libcudart", "libcublas", "libcudnn", "libnvrtc"];

/// The file of CUDA's that a process has loaded, such as `/usr/local/cuda-12.4/lib64/libcudart.so.12.4.127`; `None` where it is
/// another user's process, or has CUDA built in.
pub fn loaded(host: &Host, pid: u32) -> Option<String> {
    let maps = File::open(host.system(&format!("/proc/{pid}/maps"))).ok()?;
    let mut found: Vec<(usize, String)> = Vec::new();
    for line in BufReader::new(maps.take(MOST)).split(b'\n') {
        let line = String::from_utf8_lossy(&line.ok()?).into_owned();
        let Some(at) = line.find('/') else { continue };
        let path = line.get(at..)?.trim_end_matches(" (deleted)");
        let name = path.rsplit('/').next().unwrap_or_default();
        if let Some(rank) = TELLING
            .iter()
            .position(|library| name.strip_prefix(library).is_some_and(|rest| rest.starts_with(".so")))
        {
            found.push((rank, path.to_owned()));
        }
    }
    found.into_iter().min_by_key(|(rank, _)| *rank).map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_runtime_before_other_libraries() {
        let root = tempfile::tempdir().unwrap();
        let host = Host { sysroot: Some(root.path().to_path_buf()), ..Host::bare() };
        let write = |text: &str| {
            fs::create_dir_all(root.path().join("proc/7")).unwrap();
            fs::write(root.path().join("proc/7/maps"), text).unwrap();
        };
        let row = |path: &str| format!("7f00-7f01 r-xp 00000000 08:01 42   {path}\n");
        write(&format!(
            "{}{}{}",
            row("/v/lib/libcublas.so.12"),
            row("/my dir/libcudart.so.12.4.127 (deleted)"),
            row("/lib/libc.so.6")
        ));
        assert_eq!(loaded(&host, 7).as_deref(), Some("/my dir/libcudart.so.12.4.127"));
        write(&row("/lib/libc.so.6"));
        assert_eq!(loaded(&host, 7), None);
        assert_eq!(loaded(&host, 8), None);
    }
}
