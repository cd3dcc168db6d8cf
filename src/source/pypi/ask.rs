//! What is asked of the index: a project's files, the metadata of a wheel, the size of a file.

use crate::disk::digest;
use crate::failure::{Exit, Failure};
use crate::net::{Client, Error};
use crate::settings::{Indexes, Place};
use crate::source::each::each;
use crate::source::index::{self, Listed, NoList};
use crate::source::pypi::metadata;

/// The records of a `cuda-toolkit` wheel and the list of its members take far less.
const TAIL: u64 = 256 << 10;

/// Metadata of more bytes than this is not NVIDIA's.
const LIMIT: u64 = 4 << 20;

/// The index, and the way to it.
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    /// The network.
    pub client: &'a Client,
    /// The places, the first one first.
    pub indexes: &'a Indexes,
}

impl Index<'_> {
    /// A project's files on the first index that has it; `None` where none does.
    pub fn files(&self, project: &str) -> Result<Option<Vec<Listed>>, Failure> {
        for place in &self.indexes.places {
            let page = place.project(project);
            let answer = match self.client.get(&page, Some(index::ACCEPT), index::LIMIT) {
                Ok(answer) => answer,
                Err(Error::Status { code: 404 | 410, .. }) => continue,
                Err(error) => return Err(with_origin(error.into_failure(), place)),
            };
            return match index::read(&answer.body, answer.content_type.as_deref(), &page, &answer.url) {
                Ok(files) => Ok(Some(files)),
                Err(no_list) => Err(with_origin(unreadable(&no_list, project, place), place)),
            };
        }
        Ok(None)
    }

    /// The files of many projects, in their order.
    pub fn all_files(&self, projects: &[&str]) -> Result<Vec<Option<Vec<Listed>>>, Failure> {
        each(projects, |project| self.files(project)).into_iter().collect()
    }

    /// The metadata of a wheel: the document beside it where the index offers one, else out of the wheel's own end.
    pub fn metadata(&self, file: &Listed) -> Result<String, Failure> {
        if let Some(offered) = &file.metadata {
            let beside = self.client.get(&format!("{}.metadata", file.url), None, LIMIT);
            match beside {
                Ok(document) => {
                    same(&document.body, offered.sha256.as_deref(), &format!("{}.metadata", file.file))?;
                    return String::from_utf8(document.body)
                        .map_err(|_| bad(&format!("the metadata of {} is not text", file.file)));
                }
                // Mirrors copy the index's promise without the document.
                Err(Error::Status { code: 403 | 404 | 410, .. }) => {}
                Err(error) => return Err(error.into_failure()),
            }
        }
        let tail = self.client.get_tail(&file.url, TAIL).map_err(Error::into_failure)?;
        if tail.offset == 0 {
            same(&tail.bytes, file.sha256.as_deref(), &file.file)?;
        }
        metadata::from_wheel(&tail.bytes, tail.offset)
            .map_err(|why| bad(&format!("could not read the metadata in {}: {why}", file.file)))
    }

    /// The sizes of files that the index is silent about; 0 where the server is, too.
    pub fn sizes(&self, urls: &[&str]) -> Vec<u64> {
        each(urls, |url| self.client.get_tail(url, 1).map_or(0, |tail| tail.total))
    }
}

fn same(bytes: &[u8], sha256: Option<&str>, what: &str) -> Result<(), Failure> {
    let Some(wanted) = sha256 else { return Ok(()) };
    let found = digest::sha256(bytes);
    if found == wanted {
        return Ok(());
    }
    Err(bad(&format!("{what} has sha256 {found}, and the index says {wanted}")))
}

fn bad(message: &str) -> Failure {
    Failure::new(Exit::BadBytes, message)
}

fn unreadable(no_list: &NoList, project: &str, place: &Place) -> Failure {
    let page = format!("{}/{project}/", place.shown());
    match no_list {
        NoList::WebPage => Failure::new(
            Exit::Network,
            format!(
                "{page} answered with a web page that is no package index (a login page of this network?)"
            ),
        ),
        NoList::Unreadable(why) => {
            Failure::new(Exit::Network, format!("{page} answered, but not as a package index does: {why}"))
        }
    }
}

/// A failure that says where the index's address was found, so that a person knows what to change.
fn with_origin(failure: Failure, place: &Place) -> Failure {
    let set = match place.origin.as_str() {
        "default" => "no other package index is set: PIP_INDEX_URL=https://... cudaup ...".to_owned(),
        origin => format!("the package index {} is set by {origin}", place.shown()),
    };
    failure.hint(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_to_be_those_that_the_index_names() {
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(same(b"abc", Some(hash), "x").is_ok() && same(b"abd", None, "x").is_ok());
        assert_eq!(same(b"abd", Some(hash), "x").unwrap_err().exit, Exit::BadBytes);
    }
}
