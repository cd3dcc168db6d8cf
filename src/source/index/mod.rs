//! A project's files on a Python package index, as JSON or as the older web page.

mod html;
mod json;

use reqwest::Url;

/// What is asked for first, with the older form as second choice.
pub const ACCEPT: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/// A project's page of more bytes than this is no index page: NVIDIA's largest have less than one million.
pub const LIMIT: u64 = 8 << 20;

/// More files than this no project has; each takes memory.
const MOST_FILES: usize = 20_000;

fn too_many() -> NoList {
    NoList::Unreadable(format!("it lists more than {MOST_FILES} files"))
}

/// One file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The file's name.
    pub file: String,
    /// Its address, complete; may hold a password.
    pub url: String,
    /// Its hash, 64 lower-case hexadecimal digits.
    pub sha256: Option<String>,
    /// Its size in bytes, where the index says.
    pub size: Option<u64>,
    /// When it came to the index, as the index writes it.
    pub uploaded: Option<String>,
    /// Whether the project withdrew it.
    pub yanked: bool,
    /// Where its metadata can be had alone.
    pub metadata: Option<Metadata>,
}

/// The metadata of a file as a document of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Its hash, where the index says.
    pub sha256: Option<String>,
}

/// Why an answer is no list of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoList {
    /// A web page of another kind, such as a login page.
    WebPage,
    /// Anything else, with what is wrong.
    Unreadable(String),
}

/// Reads an answer. `asked` is the address that was asked for: files on its host need its password. `answered` is the one
/// that gave it, after redirects: relative addresses begin there.
pub fn read(
    body: &[u8],
    content_type: Option<&str>,
    asked: &str,
    answered: &str,
) -> Result<Vec<Listed>, NoList> {
    let address = |text: &str| Url::parse(text).map_err(|e| NoList::Unreadable(e.to_string()));
    let page = Page { asked: address(asked)?, base: address(answered)? };
    let text = std::str::from_utf8(body).map_err(|_| NoList::Unreadable("it is not text".into()))?;
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let said = content_type.unwrap_or_default().to_ascii_lowercase();
    if said.contains("json") || text.starts_with('{') {
        json::read(text, &page)
    } else if said.contains("html") || text.starts_with('<') {
        html::read(text, page)
    } else {
        Err(NoList::Unreadable("it is neither JSON nor a web page".into()))
    }
}

/// Where a page came from.
struct Page {
    asked: Url,
    base: Url,
}

impl Page {
    /// A file's complete address; the password of the index's own host is carried over, and goes to no other.
    fn address(&self, written: &str) -> Option<Url> {
        let mut url = self.base.join(written).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let same = url.host_str() == self.asked.host_str()
            && url.port_or_known_default() == self.asked.port_or_known_default()
            && url.scheme() == self.asked.scheme();
        if same && url.username().is_empty() && url.password().is_none() {
            url.set_username(self.asked.username()).ok()?;
            url.set_password(self.asked.password()).ok()?;
        }
        Some(url)
    }
}

/// A sha256 in lower case, if it is one.
fn sha256(text: &str) -> Option<String> {
    let right = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    right.then(|| text.to_ascii_lowercase())
}

/// A file's name without directories and control characters: it becomes the name of a file on disk.
fn plain_name(name: &str) -> Option<String> {
    let right = !name.is_empty()
        && name.len() < 250
        && !name.starts_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-+!".contains(&b));
    right.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_is_told_apart() {
        let read = |body: &[u8], kind| {
            read(body, kind, "https://index.example/simple/x/", "https://index.example/x/")
        };
        assert_eq!(read(b"<html><a href='/login'>Sign in</a>", Some("text/html")), Err(NoList::WebPage));
        assert!(matches!(read(b"\xff\xfe", None), Err(NoList::Unreadable(_))));
        assert!(matches!(read(b"hello", Some("text/plain")), Err(NoList::Unreadable(_))));
        assert!(matches!(
            read(b"{\"message\": \"no\"}", Some("application/json")),
            Err(NoList::Unreadable(_))
        ));
        assert!(matches!(read(b"", None), Err(NoList::Unreadable(_))));
    }

    #[test]
    fn a_password_stays_with_its_host() {
        let page = Page {
            asked: Url::parse("https://me:secret@index.example/simple/x/").unwrap(),
            base: Url::parse("https://index.example/simple/x/").unwrap(),
        };
        let at = |written: &str| page.address(written).map(String::from);
        assert_eq!(at("../../f/a.whl").as_deref(), Some("https://me:secret@index.example/f/a.whl"));
        assert_eq!(at("https://files.example/a.whl").as_deref(), Some("https://files.example/a.whl"));
        assert_eq!(at("http://index.example/a.whl").as_deref(), Some("http://index.example/a.whl"));
        assert_eq!(
            at("https://index.example:8443/a.whl").as_deref(),
            Some("https://index.example:8443/a.whl")
        );
        assert_eq!(at("file:///etc/passwd"), None);
    }

    #[test]
    fn names_that_leave_the_directory_are_no_names() {
        for name in ["", "../a.whl", "a/b.whl", ".a", "a\n.whl", "a b.whl"] {
            assert_eq!(plain_name(name), None, "{name}");
        }
    }
}
