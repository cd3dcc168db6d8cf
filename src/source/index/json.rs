//! The index's JSON form.

use super::{Listed, Metadata, NoList, Page, plain_name, sha256};
use serde::Deserialize;
use std::collections::HashMap;

#[derive(Deserialize)]
struct Document {
    files: Vec<File>,
    #[serde(default)]
    meta: Meta,
}

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
    hashes: HashMap<String, String>,
    size: Option<u64>,
    #[serde(rename = "upload-time")]
    uploaded: Option<String>,
    #[serde(default)]
    yanked: Flag,
    #[serde(rename = "core-metadata")]
    core_metadata: Option<Offer>,
    #[serde(rename = "dist-info-metadata")]
    dist_info_metadata: Option<Offer>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Flag {
    Plain(bool),
    Reason(String),
}

impl Default for Flag {
    fn default() -> Self {
        Self::Plain(false)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Offer {
    Plain(bool),
    Hashes(HashMap<String, String>),
}

/// Reads a page.
pub fn read(text: &str, page: &Page) -> Result<Vec<Listed>, NoList> {
    let read: Document = serde_json::from_str(text).map_err(|e| NoList::Unreadable(e.to_string()))?;
    let version = read.meta.version.unwrap_or_else(|| "1.0".into());
    if version.split('.').next() != Some("1") {
        return Err(NoList::Unreadable(format!("its version is {version}, not 1")));
    }
    Ok(read.files.into_iter().filter_map(|f| listed(f, page)).collect())
}

fn listed(file: File, page: &Page) -> Option<Listed> {
    let hash = |hashes: &HashMap<String, String>| hashes.get("sha256").and_then(|h| sha256(h));
    let metadata = match file.core_metadata.or(file.dist_info_metadata) {
        None | Some(Offer::Plain(false)) => None,
        Some(Offer::Plain(true)) => Some(Metadata { sha256: None }),
        Some(Offer::Hashes(hashes)) => Some(Metadata { sha256: hash(&hashes) }),
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
    fn another_major_version_is_refused() {
        let answer = read(r#"{"meta": {"api-version": "2.0"}, "files": []}"#, &page());
        assert_eq!(answer, Err(NoList::Unreadable("its version is 2.0, not 1".into())));
    }
}
