//! Start files on disk: all that have to change are looked at before the first is written, and a failure takes back what
//! was done.

use super::rc::{self, Endless};
use super::setup::Wanted;
use crate::disk::atomic;
use crate::failure::{Failure, plain_io};
use rustix::fs::{Access, access};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// What is to become of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub file: PathBuf,
    /// What is in it; `None` where there is no file.
    before: Option<Vec<u8>>,
    /// What is to be in it; `None` where it is to go.
    after: Option<Vec<u8>>,
}

impl Edit {
    /// Whether anything is to be done.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }
}

/// What is in a file, where it can be read.
pub fn content(file: &Path) -> Option<Vec<u8>> {
    read(file).ok().flatten()
}

/// The edits that put blocks into files.
pub fn writing(wanted: &[Wanted]) -> Result<Vec<Edit>, Failure> {
    let edit = |w: &Wanted| {
        let before = read(&w.file)?;
        let after = rc::with(before.as_deref(), &w.blocks).map_err(|e| endless(&w.file, e))?;
        Ok(Edit { file: w.file.clone(), before, after: Some(after) })
    };
    wanted.iter().map(edit).collect()
}

/// The edits that take all blocks out of files.
pub fn removing(files: &[PathBuf]) -> Result<Vec<Edit>, Failure> {
    let edit = |file: &PathBuf| {
        let before = read(file)?;
        let after = match &before {
            Some(text) => rc::without(text).map_err(|e| endless(file, e))?,
            None => None,
        };
        Ok(Edit { file: file.clone(), before, after })
    };
    files.iter().map(edit).collect()
}

/// Makes the edits, all or none.
pub fn apply(edits: &[Edit]) -> Result<(), Failure> {
    let edits: Vec<_> = edits.iter().filter(|e| e.is_change()).collect();
    for edit in &edits {
        writable(edit)?;
    }
    for (done, edit) in edits.iter().enumerate() {
        if let Err(failure) = change(edit, edit.after.as_deref()) {
            for earlier in edits.iter().take(done) {
                // The failure that led here says more than one on the way back.
                let _ = change(earlier, earlier.before.as_deref());
            }
            return Err(failure);
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::metadata(file) {
        Ok(found) if !found.is_file() => {
            Err(Failure::failed(format!("{} is no file that lines can be added to", file.display())))
        }
        Ok(_) => fs::read(file).map(Some).map_err(|e| Failure::io("read", file, &e)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(Failure::io("read", file, &e)),
    }
}

fn endless(file: &Path, Endless(line): Endless) -> Failure {
    Failure::failed(format!(
        "the lines of cudaup that begin at {}:{line} have no end: take them out by hand, then try again",
        file.display()
    ))
}

/// A rename would replace a file that its owner made read-only; that is not asked for.
fn writable(edit: &Edit) -> Result<(), Failure> {
    let refused = |why: &str| {
        Err(Failure::failed(format!("could not write {}: {why}; nothing was changed", edit.file.display())))
    };
    if edit.before.is_none() {
        return Ok(());
    }
    let mode = fs::metadata(&edit.file).map_or(0, |found| found.permissions().mode() & 0o7777);
    if mode & 0o222 == 0 {
        return refused(&format!("it is read-only (mode {mode:o})"));
    }
    match access(&edit.file, Access::WRITE_OK) {
        Ok(()) => Ok(()),
        Err(e) => refused(&plain_io(&e.into())),
    }
}

fn change(edit: &Edit, to: Option<&[u8]>) -> Result<(), Failure> {
    let file = &edit.file;
    match to {
        Some(text) => {
            let folder = file.parent().unwrap_or(Path::new("/"));
            fs::create_dir_all(folder).map_err(|e| Failure::io("create", folder, &e))?;
            let owner = fs::metadata(file).or_else(|_| fs::metadata(folder)).map(|m| (m.uid(), m.gid()));
            atomic::write(file, text)?;
            keep_owner(file, owner);
            Ok(())
        }
        // Where the file is a link, its target was made.
        None => match fs::canonicalize(file).and_then(fs::remove_file) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Failure::io("remove", file, &e)),
            _ => Ok(()),
        },
    }
}

/// root, in somebody's home, leaves them their file. Others cannot give files away, and need not.
fn keep_owner(file: &Path, owner: io::Result<(u32, u32)>) {
    let now = fs::metadata(file).map(|m| (m.uid(), m.gid()));
    if let (Ok((uid, gid)), Ok(now)) = (owner, now)
        && now != (uid, gid)
    {
        let _ = chown(file, Some(uid), Some(gid));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::rc::{Block, Place};
    use std::fs::Permissions;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn wanted(file: &Path) -> Wanted {
        let block = Block { name: "hook", body: b"line\n".to_vec(), place: Place::End };
        Wanted { file: file.into(), blocks: vec![block], read_by: "" }
    }

    fn write(files: &[&Path]) -> Result<(), Failure> {
        apply(&writing(&files.iter().map(|f| wanted(f)).collect::<Vec<_>>())?)
    }

    fn remove(file: &Path) {
        apply(&removing(&[file.to_path_buf()]).unwrap()).unwrap();
    }

    #[test]
    fn a_file_comes_back_with_its_mode() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join(".bashrc");
        fs::write(&file, "mine").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        write(&[&file]).unwrap();
        assert!(fs::read_to_string(&file).unwrap().contains("line\n"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
        let edits = writing(&[wanted(&file)]).unwrap();
        assert!(!edits[0].is_change());
        remove(&file);
        assert_eq!(fs::read(&file).unwrap(), b"mine");
    }

    #[test]
    fn a_link_into_dotfiles_is_followed() {
        let dir = TempDir::new().unwrap();
        let (link, real) = (dir.path().join(".bashrc"), dir.path().join("dotfiles"));
        symlink("dotfiles", &link).unwrap();
        write(&[&link]).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&real).unwrap().contains("line\n"));
        remove(&link);
        assert!(!real.exists() && fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn one_that_cannot_be_written_leaves_the_others_alone() {
        let dir = TempDir::new().unwrap();
        let (good, bad) = (dir.path().join(".bashrc"), dir.path().join(".profile"));
        fs::write(&good, "mine\n").unwrap();
        fs::write(&bad, "mine\n").unwrap();
        fs::set_permissions(&bad, Permissions::from_mode(0o444)).unwrap();
        let failure = write(&[&good, &bad]).unwrap_err();
        assert!(
            failure.message.ends_with(".profile: it is read-only (mode 444); nothing was changed"),
            "{failure}"
        );
        assert_eq!(fs::read(&good).unwrap(), b"mine\n");
        let nowhere = bad.join("conf.d/cudaup.fish");
        assert!(write(&[&good, &nowhere]).is_err());
        assert_eq!(fs::read(&good).unwrap(), b"mine\n");
        assert!(write(&[dir.path()]).unwrap_err().message.contains("is no file"));
    }

    #[test]
    fn folders_are_made_and_a_file_that_was_made_goes() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("fish/conf.d/cudaup.fish");
        write(&[&file]).unwrap();
        assert!(file.is_file());
        remove(&file);
        assert!(!file.exists());
    }
}
