//! Small text files that anybody may have put there: only a regular file is read, since a FIFO waits for ever.

use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// More than this no settings file has.
const LIMIT: u64 = 1 << 20;

/// The text of a file. Anything but a regular file of UTF-8 is an error.
pub fn read(path: &Path) -> io::Result<String> {
    // Without it, opening a FIFO waits for somebody to write.
    let nonblock = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblock).open(path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    file.take(LIMIT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LIMIT {
        return Err(io::Error::other(format!("it is larger than {LIMIT} bytes")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::read;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;
    use std::io::ErrorKind;

    #[test]
    fn regular_files_are_read_and_nothing_else() {
        let dir = tempfile::TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "x = 1\n").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        assert_eq!(read(&at("file")).unwrap(), "x = 1\n");
        assert_eq!(read(&at("link")).unwrap(), "x = 1\n");
        mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(read(&at("fifo")).unwrap_err().to_string(), "it is no regular file");
        assert_eq!(read(dir.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(read(&at("none")).unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(at("file"), b"\xff").unwrap();
        assert_eq!(read(&at("file")).unwrap_err().kind(), ErrorKind::InvalidData);
        fs::write(at("file"), "x".repeat((1 << 20) + 1)).unwrap();
        assert_eq!(read(&at("file")).unwrap_err().to_string(), "it is larger than 1048576 bytes");
    }
}
