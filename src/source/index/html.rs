//! The index's older form: a web page of which the links are the files.

use super::{Listed, MOST_FILES, Metadata, NoList, Page, plain_name, sha256, too_many};

/// An index's links have five; what a tag has beyond so many is passed over.
const ATTRIBUTES: usize = 32;

/// Reads a page. One without any file is an index only where it says so, since a login page has links too.
pub fn read(text: &str, mut page: Page) -> Result<Vec<Listed>, NoList> {
    let mut files = Vec::new();
    let mut is_index = false;
    let mut rest = text;
    while let Some((tag, after)) = next_tag(rest) {
        rest = after;
        let written = |name: &str| tag.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        match tag.name.as_str() {
            "base" => {
                if let Some(joined) = written("href").and_then(|h| page.base.join(h).ok()) {
                    page.base = joined;
                }
            }
            "meta" => is_index |= written("name").is_some_and(|n| n.starts_with("pypi:")),
            "title" | "h1" => {
                is_index |= rest.trim_start().get(..9).is_some_and(|t| t.eq_ignore_ascii_case("links for"));
            }
            "a" => {
                let offered = written("data-core-metadata").or_else(|| written("data-dist-info-metadata"));
                let yanked = written("data-yanked").is_some();
                if files.len() == MOST_FILES {
                    return Err(too_many());
                }
                files.extend(written("href").and_then(|href| listed(href, offered, yanked, &page)));
            }
            _ => {}
        }
    }
    if files.is_empty() && !is_index { Err(NoList::WebPage) } else { Ok(files) }
}

fn listed(href: &str, offered: Option<&str>, yanked: bool, page: &Page) -> Option<Listed> {
    let mut url = page.address(href)?;
    let hash =
        url.fragment().and_then(|f| f.split('&').find_map(|p| p.strip_prefix("sha256=")).and_then(sha256));
    url.set_fragment(None);
    // The name is the address's last piece, not the link's text, which indexes shorten or decorate.
    let file = plain_name(&unescaped(url.path_segments()?.next_back()?))?;
    if ![".whl", ".tar.gz", ".zip"].iter().any(|end| file.ends_with(end)) {
        return None;
    }
    let metadata = offered.filter(|o| *o != "false");
    Some(Listed {
        file,
        url: url.into(),
        sha256: hash,
        size: None,
        uploaded: None,
        yanked,
        metadata: metadata.map(|o| Metadata { sha256: o.strip_prefix("sha256=").and_then(sha256) }),
    })
}

struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

/// The next opening tag and what comes after it.
fn next_tag(text: &str) -> Option<(Tag, &str)> {
    let mut text = text;
    loop {
        text = text.split_once('<')?.1;
        if let Some(comment) = text.strip_prefix("!--") {
            text = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            break;
        }
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (name, mut rest) = text.split_at_checked(end)?;
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if let Some(after) = rest.strip_prefix('>') {
            return Some((Tag { name: name.to_ascii_lowercase(), attributes }, after));
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || "=>/".contains(c))?;
        let (key, after) = rest.split_at_checked(end)?;
        let (value, after) = match after.trim_start().strip_prefix('=') {
            None => ("", after),
            Some(value) => attribute_value(value.trim_start())?,
        };
        if attributes.len() < ATTRIBUTES {
            attributes.push((key.to_ascii_lowercase(), plain(value)));
        }
        rest = if key.is_empty() && value.is_empty() { after.get(1..)? } else { after };
    }
}

fn attribute_value(text: &str) -> Option<(&str, &str)> {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return quoted.split_once(quote);
        }
    }
    let end = text.find(|c: char| c.is_ascii_whitespace() || c == '>')?;
    text.split_at_checked(end)
}

/// Text without the five character references that appear in addresses.
fn plain(text: &str) -> String {
    let known =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&amp;", "&")];
    known.iter().fold(text.to_owned(), |text, (reference, letter)| text.replace(reference, letter))
}

/// A piece of an address without `%2B` and its kind.
fn unescaped(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let escaped = piece.split_at_checked(2);
        if let Some((byte, rest)) =
            escaped.and_then(|(hex, rest)| Some((u8::from_str_radix(hex, 16).ok()?, rest)))
        {
            bytes.push(byte);
            bytes.extend_from_slice(rest.as_bytes());
        } else {
            bytes.push(b'%');
            bytes.extend_from_slice(piece.as_bytes());
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::Url;

    fn page() -> Page {
        let url = Url::parse("https://me:pw@index.example/root/simple/nvidia-nvvm/").unwrap();
        Page { asked: url.clone(), base: url }
    }

    fn files(text: &str) -> Vec<Listed> {
        read(text, page()).unwrap()
    }

    #[test]
    fn a_page_as_pypi_writes_it() {
        let hash = "1a95bd8c3664451907b72fc89e8edbfe7f62cea8f5fab3e67b9b978537015860";
        let got = files(&format!(
            r#"<!DOCTYPE html>
<html><head><meta name="pypi:repository-version" content="1.1"><title>Links for nvidia-nvvm</title></head><body>
<!-- <a href="commented-1-py3-none-any.whl">x</a> -->
<a href="https://files.example/a/nvidia_nvvm-13.0.88-py3-none-any.whl#sha256={hash}" data-requires-python="&gt;=3"
   data-core-metadata="sha256={hash}">nvidia_nvvm-13.0...</a><br/>
<A HREF='../../files/x-1%2Bl-py3-none-any.whl?a=1&amp;b=2' data-yanked=''>x</A>
<a href=y-1.tar.gz data-yanked data-dist-info-metadata=true>y</a>
<a href="/">home</a><a>no address</a></body></html>"#
        ));
        assert_eq!(got.len(), 3);
        assert_eq!(got[0].url, "https://files.example/a/nvidia_nvvm-13.0.88-py3-none-any.whl");
        assert_eq!(got[0].sha256.as_deref(), Some(hash));
        assert_eq!(got[0].metadata.as_ref().and_then(|m| m.sha256.as_deref()), Some(hash));
        assert_eq!(got[1].url, "https://me:pw@index.example/root/files/x-1%2Bl-py3-none-any.whl?a=1&b=2");
        assert_eq!(
            (got[1].file.as_str(), got[1].yanked, &got[1].sha256),
            ("x-1+l-py3-none-any.whl", true, &None)
        );
        assert_eq!((got[2].yanked, &got[2].metadata), (true, &Some(Metadata { sha256: None })));
    }

    #[test]
    fn an_index_may_be_empty_a_login_page_may_not() {
        assert_eq!(files("<html><title>Links for x</title>"), []);
        assert_eq!(read("<html><title>Log in</title><a href='/forgot'>?</a>", page()), Err(NoList::WebPage));
    }

    #[test]
    fn relative_links_begin_at_the_base() {
        let got = files("<base href='https://cdn.example/p/'><a href='a-1.zip'>a</a>");
        assert_eq!(got[0].url, "https://cdn.example/p/a-1.zip");
    }

    #[test]
    fn a_tag_without_end_and_a_list_without_end_take_no_memory() {
        let many = "x ".repeat(100_000);
        let text = format!("<a href=a-1.zip {many} data-yanked>a</a><a href=b-1.zip>");
        let (tag, _) = next_tag(&text).unwrap();
        assert_eq!(tag.attributes.len(), ATTRIBUTES);
        let got = files(&text);
        assert_eq!(got.iter().map(|f| f.file.as_str()).collect::<Vec<_>>(), ["a-1.zip", "b-1.zip"]);
        let most = "<a href=a-1.zip>".repeat(MOST_FILES);
        assert_eq!(files(&most).len(), MOST_FILES);
        assert_eq!(read(&format!("{most}<a href=b-1.zip>"), page()), Err(too_many()));
    }

    #[test]
    fn broken_pages_end() {
        for text in [
            "<a",
            "<a href",
            "<a href=",
            "<a href='x",
            "<a =>",
            "<a ==>",
            "<",
            "<!--",
            "<a / / =x >é<a \u{e9}=\u{e9}>",
        ] {
            assert_eq!(read(text, page()), Err(NoList::WebPage), "{text}");
        }
    }
}
