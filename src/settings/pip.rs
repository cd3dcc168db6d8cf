//! pip's settings files, in pip's own order.

use super::{Said, ini, text};
use crate::host::Host;
use std::path::{Path, PathBuf};

/// What pip's files say, the one that counts most first.
pub fn files(host: &Host, notes: &mut Vec<String>) -> Vec<(Said, String)> {
    paths(host)
        .into_iter()
        .filter_map(|path| {
            Some((read(&text(&path, notes)?, host.user_home.as_deref()), path.display().to_string()))
        })
        .collect()
}

/// The files, the one that counts most first.
fn paths(host: &Host) -> Vec<PathBuf> {
    let named = host.var("PIP_CONFIG_FILE").map(PathBuf::from);
    if named.as_deref() == Some(Path::new("/dev/null")) {
        return Vec::new();
    }
    let mut paths = Vec::new();
    let user = !named.as_ref().is_some_and(|p| p.exists());
    paths.extend(named);
    paths.extend(host.var("VIRTUAL_ENV").map(|v| Path::new(v).join("pip.conf")));
    if user {
        let home = host.user_home.as_ref();
        let xdg = host.var("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| home.map(|h| h.join(".config")));
        paths.extend(xdg.map(|x| x.join("pip/pip.conf")));
        paths.extend(home.map(|h| h.join(".pip/pip.conf")));
    }
    paths.push(host.system("/etc/pip.conf"));
    let machine = host.text("XDG_CONFIG_DIRS").unwrap_or("/etc/xdg");
    paths.extend(
        machine.split(':').filter(|d| d.starts_with('/')).map(|d| host.system(d).join("pip/pip.conf")),
    );
    paths
}

fn read(text: &str, home: Option<&Path>) -> Said {
    let entries = ini::read(text);
    // pip lets the section of the command stand above the general one.
    let value = |key: &str| {
        let in_section =
            |section: &str| entries.iter().find(|(s, k, _)| s == section && k == key).map(|e| e.2.as_str());
        in_section("install").or_else(|| in_section("global")).filter(|v| !v.is_empty())
    };
    let words =
        |key: &str| value(key).into_iter().flat_map(str::split_whitespace).map(str::to_owned).collect();
    let certificate = value("cert").map(|cert| match (cert.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(cert),
    });
    Said { index: value("index-url").map(str::to_owned), extra: words("extra-index-url"), certificate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_section_stands_above_the_general_one() {
        let said = read(
            "[global]\nindex-url = https://a\nextra-index-url = https://b https://c\ncert = ~/ca.pem\n[install]\nindex-url = https://d",
            Some(Path::new("/home/u")),
        );
        assert_eq!(said.index.as_deref(), Some("https://d"));
        assert_eq!(said.extra, ["https://b", "https://c"]);
        assert_eq!(said.certificate, Some(PathBuf::from("/home/u/ca.pem")));
    }
}
