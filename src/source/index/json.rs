//! The index's JSON form.

use super::{Listed, MOST_FILES, Metadata, NoList, Page, plain_name, sha256, too_many};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

#[derive(Default, Deserialize)]
struct Meta {
    #[serde(rename = "api-version")]
    version: Option<String>,
}

#[derive(Deserialize)]
struct File {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: Hashes,
    size: Option<u64>,
    #[serde(rename = "upload-time")]
    uploaded: Option<String>,
    #[serde(default)]
    yanked: Flag,
    #[serde(rename = "core-metadata")]
    core_metadata: Option<Flag>,
    #[serde(rename = "dist-info-metadata")]
    dist_info_metadata: Option<Flag>,
}

/// The hashes; those of other kinds are not kept.
#[derive(Default, Deserialize)]
struct Hashes {
    sha256: Option<String>,
}

/// Whether something holds, with a reason or hashes instead of a plain yes. Read by hand: serde's own way to try one form
/// after the other keeps all of a value, however large.
enum Flag {
    Plain(bool),
    Reason(String),
    Hashes(Hashes),
}

impl Default for Flag {
    fn default() -> Self {
        Self::Plain(false)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyFlag)
    }
}

struct AnyFlag;

impl<'de> Visitor<'de> for AnyFlag {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, a reason or hashes")
    }

    fn visit_bool<E: Error>(self, plain: bool) -> Result<Flag, E> {
        Ok(Flag::Plain(plain))
    }

    fn visit_unit<E: Error>(self) -> Result<Flag, E> {
        Ok(Flag::default())
    }

    fn visit_str<E: Error>(self, reason: &str) -> Result<Flag, E> {
        Ok(Flag::Reason(reason.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Flag, A::Error> {
        Hashes::deserialize(MapAccessDeserializer::new(map)).map(Flag::Hashes)
    }
}

/// Reads a page.
pub fn read(text: &str, page: &Page) -> Result<Vec<Listed>, NoList> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_map(Document(page)).and_then(|read| json.end().map(|()| read));
    let read = read.map_err(|e| NoList::Unreadable(e.to_string()))?;
    let version = read.meta.version.unwrap_or_else(|| "1.0".into());
    if version.split('.').next() != Some("1") {
        return Err(NoList::Unreadable(format!("its version is {version}, not 1")));
    }
    let files = read.files.ok_or_else(|| NoList::Unreadable("missing field `files`".into()))?;
    if files.len() > MOST_FILES { Err(too_many()) } else { Ok(files) }
}

/// The page's object. Its files are taken over one by one: a page that holds many makes no tree of all of them first.
struct Document<'a>(&'a Page);

#[derive(Default)]
struct Read {
    files: Option<Vec<Listed>>,
    meta: Meta,
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `files`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
        let mut read = Read::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "files" if read.files.is_some() => return Err(A::Error::duplicate_field("files")),
                "files" => read.files = Some(map.next_value_seed(Files(self.0))?),
                "meta" => read.meta = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(read)
    }
}

/// The list of files, of which at most one more than [`MOST_FILES`] is kept.
struct Files<'a>(&'a Page);

impl<'de> DeserializeSeed<'de> for Files<'_> {
    type Value = Vec<Listed>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Listed>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Files<'_> {
    type Value = Vec<Listed>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of files")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Listed>, A::Error> {
        let mut files = Vec::new();
        while let Some(file) = list.next_element::<File>()? {
            if files.len() <= MOST_FILES {
                files.extend(listed(file, self.0));
            }
        }
        Ok(files)
    }
}

fn listed(file: File, page: &Page) -> Option<Listed> {
    let hash = |hashes: &Hashes| hashes.sha256.as_deref().and_then(sha256);
    let metadata = match file.core_metadata.or(file.dist_info_metadata) {
        None | Some(Flag::Plain(false) | Flag::Reason(_)) => None,
        Some(Flag::Plain(true)) => Some(Metadata { sha256: None }),
        Some(Flag::Hashes(hashes)) => Some(Metadata { sha256: hash(&hashes) }),
    };
    Some(Listed {
        file: plain_name(&file.filename)?,
        url: page.address(&file.url)?.into(),
        sha256: hash(&file.hashes),
        size: file.size,
        uploaded: file.uploaded,
        yanked: match file.yanked {
            Flag::Plain(yanked) => yanked,
            Flag::Reason(reason) => !reason.is_empty(),
            Flag::Hashes(_) => true,
        },
        metadata,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::Url;

    fn page() -> Page {
        let url = Url::parse("https://index.example/simple/x/").unwrap();
        Page { asked: url.clone(), base: url }
    }

    #[test]
    fn files_with_everything_and_with_little() {
        let hash = "D693CAAA261214DDD7DBB60D68E71CBED884E68C2BE7509778F3051DA0B91C3F";
        let text = format!(
            r#"{{"meta": {{"api-version": "1.1", "_last-serial": "1"}}, "name": "x", "versions": ["1"], "files": [
            {{"filename": "x-1-py3-none-any.whl", "hashes": {{"md5": "0", "sha256": "{hash}"}}, "requires-python": null,
              "size": 2512, "upload-time": "2026-04-14T00:50:08.173517Z", "url": "https://files.example/x-1-py3-none-any.whl",
              "yanked": false, "core-metadata": {{"sha256": "{hash}"}}}},
            {{"filename": "x-2.tar.gz", "hashes": {{}}, "url": "../../x-2.tar.gz", "yanked": "broken", "dist-info-metadata": true}},
            {{"filename": "../../etc/x", "hashes": {{}}, "url": "x"}}]}}"#
        );
        let files = read(&text, &page()).unwrap();
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].sha256.as_deref(), Some(hash.to_ascii_lowercase().as_str()));
        assert_eq!((files[0].size, files[0].yanked), (Some(2512), false));
        assert_eq!(files[0].metadata, Some(Metadata { sha256: files[0].sha256.clone() }));
        assert_eq!(files[1].url, "https://index.example/x-2.tar.gz");
        assert_eq!((files[1].sha256.as_ref(), files[1].size, files[1].yanked), (None, None, true));
        assert_eq!(files[1].metadata, Some(Metadata { sha256: None }));
    }

    #[test]
    fn a_list_without_end_is_refused() {
        let page_of = |count: usize| {
            let file = r#"{"filename": "a", "url": "b"}"#;
            format!(r#"{{"files": [{}]}}"#, vec![file; count].join(","))
        };
        assert_eq!(read(&page_of(MOST_FILES), &page()).map(|f| f.len()), Ok(MOST_FILES));
        assert_eq!(read(&page_of(MOST_FILES + 2), &page()), Err(too_many()));
    }

    #[test]
    fn what_is_no_page_is_refused() {
        for text in ["{}", "[]", r#"{"files": {}}"#, r#"{"files": []} x"#, r#"{"files": [], "files": []}"#] {
            assert!(matches!(read(text, &page()), Err(NoList::Unreadable(_))), "{text}");
        }
    }

    #[test]
    fn another_major_version_is_refused() {
        let answer = read(r#"{"meta": {"api-version": "2.0"}, "files": []}"#, &page());
        assert_eq!(answer, Err(NoList::Unreadable("its version is 2.0, not 1".into())));
    }
}
