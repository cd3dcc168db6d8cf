//! The file system as the rules of core ask for it: the one that shims and cudaup itself share.

use cudaup_core::disk::{Disk, Entry, Unread};
use cudaup_core::home::Home;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{File, FileType};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

/// The real file system, seen below `CUDAUP_SYSROOT` where that is set.
#[derive(Clone, Debug, Default)]
pub struct RealDisk {
    sysroot: Option<PathBuf>,
    home: PathBuf,
}

impl RealDisk {
    /// The machine's own files are looked up below `sysroot`. Links of the cudaup home are not: they were made with real
    /// targets.
    pub fn new(sysroot: Option<PathBuf>, home: &Home) -> Self {
        Self { sysroot, home: home.path().to_path_buf() }
    }

    /// The path with its links followed as the machine below the sysroot would, `None` where that leads to nothing;
    /// elsewhere the kernel does that.
    fn followed<'p>(&self, path: &'p Path) -> Option<Cow<'p, Path>> {
        if self.sysroot.as_ref().is_some_and(|root| path.starts_with(root)) {
            return self.real(path).map(Cow::Owned);
        }
        Some(Cow::Borrowed(path))
    }
}

impl Disk for RealDisk {
    fn read(&self, path: &Path, limit: usize) -> Result<Vec<u8>, Unread> {
        let there = match self.followed(path) {
            Some(there) => std::fs::metadata(&there).map(|found| (there, found.file_type())),
            None => Err(std::fs::symlink_metadata(path).err().unwrap_or_else(|| ErrorKind::NotFound.into())),
        };
        let (path, kind) = there.map_err(|e| unread(path, &e))?;
        if !kind.is_file() {
            return Err(Unread::NotAFile(word(kind)));
        }
        let mut bytes = Vec::new();
        let refused = |e: std::io::Error| Unread::Refused(plain(&e));
        let file = File::open(path).map_err(refused)?;
        file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() > limit { Err(Unread::TooLarge) } else { Ok(bytes) }
    }

    fn head(&self, path: &Path, length: usize) -> Option<Vec<u8>> {
        if !self.is_file(path) {
            return None;
        }
        let mut bytes = Vec::with_capacity(length);
        File::open(self.followed(path)?).ok()?.take(length as u64).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn names(&self, directory: &Path) -> Option<Vec<(OsString, Entry)>> {
        let entries = std::fs::read_dir(self.followed(directory)?).ok()?;
        Some(entries.flatten().filter_map(|e| Some((e.file_name(), entry(e.file_type().ok()?)))).collect())
    }

    fn kind(&self, path: &Path) -> Option<Entry> {
        std::fs::metadata(self.followed(path)?).ok().map(|found| entry(found.file_type()))
    }

    fn is_program(&self, path: &Path) -> bool {
        let found = self.followed(path).and_then(|path| std::fs::metadata(path).ok());
        found.is_some_and(|found| found.is_file() && found.mode() & 0o111 != 0)
    }

    fn length(&self, file: &Path) -> Option<u64> {
        std::fs::metadata(self.followed(file)?)
            .ok()
            .filter(std::fs::Metadata::is_file)
            .map(|found| found.len())
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        match &self.sysroot {
            Some(root) => below(root, &self.home, path),
            None => std::fs::canonicalize(path).ok(),
        }
    }

    fn target(&self, link: &Path) -> Option<PathBuf> {
        std::fs::read_link(link).ok()
    }

    fn stranger(&self, file: &Path) -> Option<u32> {
        let owner = std::fs::metadata(self.followed(file)?).ok()?.uid();
        // The kernel gives a process's directory to the user in whose name it acts.
        let user = || std::fs::metadata("/proc/self").ok().map(|me| me.uid());
        (owner != 0 && user()? != owner).then_some(owner)
    }

    fn system(&self, path: &str) -> PathBuf {
        match &self.sysroot {
            Some(root) if !Path::new(path).starts_with(root) => root.join(path.trim_start_matches('/')),
            _ => PathBuf::from(path),
        }
    }
}

/// Follows links as the machine below `root` would: their absolute targets are meant from there, but for those in `home`.
fn below(root: &Path, home: &Path, path: &Path) -> Option<PathBuf> {
    let mut left: Vec<OsString> = parts(path);
    let mut done = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == ".." {
            done.pop();
            continue;
        }
        let next = done.join(&part);
        let Ok(found) = std::fs::symlink_metadata(&next) else { return None };
        if !found.is_symlink() {
            done = next;
            continue;
        }
        links += 1;
        if links > 40 {
            return None;
        }
        let target = std::fs::read_link(&next).ok()?;
        if target.is_absolute() {
            let inside = next.starts_with(root) && !target.starts_with(root) && !next.starts_with(home);
            left.extend(parts(&target));
            if inside {
                left.extend(parts(root));
            }
            done = PathBuf::from("/");
        } else {
            left.extend(parts(&target));
        }
    }
    Some(done)
}

/// A path's parts, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |c: Component| match c {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    let mut parts: Vec<OsString> = path.components().filter_map(part).collect();
    parts.reverse();
    parts
}

fn unread(path: &Path, error: &std::io::Error) -> Unread {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            // A link to nothing exists, and what it names does not.
            let dangling = std::fs::symlink_metadata(path).is_ok();
            if dangling { Unread::Dangling } else { Unread::Absent }
        }
        _ if std::fs::symlink_metadata(path).is_ok() => Unread::Refused(plain(error)),
        _ => Unread::Unreachable,
    }
}

fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn entry(kind: FileType) -> Entry {
    match () {
        () if kind.is_dir() => Entry::Directory,
        () if kind.is_file() => Entry::File,
        () if kind.is_symlink() => Entry::Link,
        () => Entry::Other,
    }
}

fn word(kind: FileType) -> &'static str {
    match () {
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn absolute_links_are_meant_from_the_sysroot() {
        let root = std::env::temp_dir().join(format!("cudaup-shim-{}", std::process::id()));
        std::fs::create_dir_all(root.join("usr/local/cuda-12.4")).unwrap();
        std::fs::create_dir_all(root.join("etc/alternatives")).unwrap();
        symlink("/etc/alternatives/cuda", root.join("usr/local/cuda")).unwrap();
        symlink("/usr/local/cuda-12.4", root.join("etc/alternatives/cuda")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let disk = RealDisk::new(Some(root.clone()), &Home::new(root.join("home")));
        assert_eq!(disk.real(&disk.system("/usr/local/cuda")), Some(root.join("usr/local/cuda-12.4")));
        std::fs::create_dir_all(root.join("opt/tools")).unwrap();
        std::fs::write(root.join("opt/tools/nvcc"), "text").unwrap();
        symlink("/opt/tools", root.join("usr/local/cuda-12.4/bin")).unwrap();
        let nvcc = root.join("usr/local/cuda/bin/nvcc");
        assert_eq!(disk.read(&nvcc, 9).as_deref(), Ok(b"text".as_slice()));
        assert_eq!(disk.head(&nvcc, 2).as_deref(), Some(b"te".as_slice()));
        assert_eq!(disk.names(&root.join("usr/local/cuda/bin")).map(|names| names.len()), Some(1));
        assert!(disk.is_file(&nvcc) && !disk.is_program(&nvcc));
        symlink("/etc", root.join("usr/local/etc")).unwrap();
        symlink("/bin/sh", root.join("usr/local/sh")).unwrap();
        assert!(disk.is_dir(&root.join("usr/local/etc")));
        assert!(!disk.is_file(&root.join("usr/local/sh")), "the one outside is another machine's");
        assert_eq!(disk.read(&root.join("usr/local/sh"), 9), Err(Unread::Dangling));
        assert_eq!(disk.read(&root.join("usr/local/absent"), 9), Err(Unread::Absent));
        assert_eq!(disk.real(&root.join("loop")), None);
        assert_eq!(
            disk.system(root.to_str().unwrap()),
            root,
            "a path below the sysroot is not put below it again"
        );
        std::fs::remove_dir_all(root).unwrap();
    }
}
