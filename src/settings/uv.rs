//! uv's settings files.

use super::{Said, text};
use crate::host::Host;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct File {
    index_url: Option<String>,
    extra_index_url: Vec<String>,
    index: Vec<Index>,
    pip: Pip,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Pip {
    index_url: Option<String>,
    extra_index_url: Vec<String>,
}

#[derive(Deserialize)]
struct Index {
    url: String,
    #[serde(default)]
    default: bool,
    #[serde(default)]
    explicit: bool,
}

/// What uv's files say, the one that counts most first.
pub fn files(host: &Host, notes: &mut Vec<String>) -> Vec<(Said, String)> {
    let mut found = Vec::new();
    for path in paths(host) {
        let Some(text) = text(&path, notes) else { continue };
        match read(&text) {
            Ok(said) => found.push((said, path.display().to_string())),
            Err(why) => notes.push(format!("could not read {}: {why}", path.display())),
        }
    }
    found
}

fn paths(host: &Host) -> Vec<PathBuf> {
    if host.text("UV_NO_CONFIG").is_some_and(|v| matches!(v, "1" | "true" | "yes" | "on" | "y" | "t")) {
        return Vec::new();
    }
    if let Some(named) = host.var("UV_CONFIG_FILE") {
        return vec![PathBuf::from(named)];
    }
    let xdg = host.var("XDG_CONFIG_HOME").map(PathBuf::from);
    let xdg = xdg.or_else(|| host.user_home.as_ref().map(|h| h.join(".config")));
    let mut paths: Vec<PathBuf> = xdg.map(|x| x.join("uv/uv.toml")).into_iter().collect();
    let machine = host.text("XDG_CONFIG_DIRS").unwrap_or("/etc/xdg");
    paths
        .extend(machine.split(':').filter(|d| d.starts_with('/')).map(|d| host.system(d).join("uv/uv.toml")));
    paths.push(host.system("/etc/uv/uv.toml"));
    paths
}

fn read(text: &str) -> Result<Said, String> {
    let file: File = toml::from_str(text).map_err(|e| e.message().to_owned())?;
    let default = file.index.iter().find(|i| i.default).map(|i| i.url.clone());
    // An index marked `explicit` serves only the packages that a project assigns to it.
    let others = file.index.iter().filter(|i| !i.default && !i.explicit).map(|i| i.url.clone());
    Ok(Said {
        extra: others.chain(file.extra_index_url).chain(file.pip.extra_index_url).collect(),
        index: default.or(file.index_url).or(file.pip.index_url),
        certificate: None,
    })
}

/// An address as uv's variables hold it, where a name may stand in front: `internal=https://...`.
pub fn address(value: &str) -> String {
    match value.split_once('=') {
        Some((name, url)) if !name.contains([':', '/']) => url.to_owned(),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_and_old_ways_to_name_an_index() {
        let said = read(
            "native-tls = true\n[[index]]\nname = 'a'\nurl = 'https://a'\n[[index]]\nurl = 'https://b'\ndefault = true\n\
             [[index]]\nurl = 'https://e'\nexplicit = true\n[pip]\nindex-url = 'https://c'\nextra-index-url = ['https://d']",
        )
        .unwrap();
        assert_eq!(said.index.as_deref(), Some("https://b"));
        assert_eq!(said.extra, ["https://a", "https://d"]);
        assert_eq!(read("index-url = 'https://x'").unwrap().index.as_deref(), Some("https://x"));
        assert!(read("index-url = [").is_err());
    }

    #[test]
    fn a_name_before_an_address_is_not_part_of_it() {
        assert_eq!(address("internal=https://x/simple"), "https://x/simple");
        assert_eq!(address("https://x/simple?a=b"), "https://x/simple?a=b");
    }
}
