//! The Debian mirrors that apt uses, from its files: one entry a line (`.list`) or one a paragraph (`.sources`).

use super::{Mirror, place, text};
use crate::host::Host;
use std::path::{Path, PathBuf};

/// The releases by which an entry is recognized as one of Debian's archive, under all their names. What has another
/// (`bookworm-updates`, `bookworm-security`) lies elsewhere or holds only changes.
const SUITES: [&str; 12] = [
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "oldoldstable",
    "oldstable",
    "stable",
    "testing",
    "unstable",
    "experimental",
];

/// One entry, as far as it matters.
#[derive(Debug, Default, PartialEq, Eq)]
struct Entry {
    addresses: Vec<String>,
    suites: Vec<String>,
    components: Vec<String>,
    keys: Vec<String>,
}

/// The mirrors of Debian's archive, those first whose address ends as Debian's do. Whoever answers there is asked who he
/// is: other vendors, too, have addresses like this.
pub fn mirrors(host: &Host, own: &[PathBuf]) -> Vec<Mirror> {
    let mut found: Vec<Mirror> = Vec::new();
    for (path, entries) in files(host) {
        for entry in entries.iter().filter(|e| is_debian(e)) {
            for address in &entry.addresses {
                let Some(place) = place(address, &path.display().to_string()) else { continue };
                if !looks_like_debian(&place.url) || found.iter().any(|m| m.place.url == place.url) {
                    continue;
                }
                let mut keys: Vec<PathBuf> =
                    entry.keys.iter().map(|k| host.system(k)).filter(|k| k.is_file()).collect();
                keys.extend(own.iter().filter(|k| !keys.contains(k)).cloned().collect::<Vec<_>>());
                found.push(Mirror { place, keys });
            }
        }
    }
    found.sort_by_key(|m| !m.place.url.ends_with("/debian"));
    found
}

fn is_debian(entry: &Entry) -> bool {
    entry.components.iter().any(|c| c == "main") && entry.suites.iter().any(|s| SUITES.contains(&s.as_str()))
}

fn looks_like_debian(address: &str) -> bool {
    address.to_ascii_lowercase().contains("debian")
}

/// apt's files in apt's order, each with its entries. One that cannot be read is apt's to complain about.
fn files(host: &Host) -> Vec<(PathBuf, Vec<Entry>)> {
    let mut paths = vec![host.system("/etc/apt/sources.list")];
    let listed = std::fs::read_dir(host.system("/etc/apt/sources.list.d"));
    let mut more: Vec<PathBuf> = listed.into_iter().flatten().flatten().map(|e| e.path()).collect();
    more.sort();
    paths.extend(more);
    let mut found = Vec::new();
    for path in paths {
        let reader = match path.extension().and_then(|e| e.to_str()) {
            Some("list") => one_line,
            Some("sources") => paragraphs,
            _ => continue,
        };
        if let Some(text) = text(Path::new(&path), &mut Vec::new()) {
            found.push((path, reader(&text)));
        }
    }
    found
}

/// `deb [arch=amd64 signed-by=/a.gpg] http://host/debian bookworm main non-free`
fn one_line(text: &str) -> Vec<Entry> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter_map(|line| entry(line.strip_prefix("deb")?)).collect()
}

fn entry(rest: &str) -> Option<Entry> {
    // `deb-src` is for sources.
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(inside) => inside.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    let address = words.next()?;
    let suite = words.next()?;
    let signed = options.split_whitespace().filter_map(|option| option.strip_prefix("signed-by="));
    let keys = signed.flat_map(|files| files.split(',')).filter_map(key).collect();
    Some(Entry { addresses: vec![address], suites: vec![suite], components: words.collect(), keys })
}

/// Paragraphs of `Key: values`, where a line that begins with a blank goes on with the one before.
fn paragraphs(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            entries.extend(paragraph(&std::mem::take(&mut fields)));
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    entries
}

fn paragraph(fields: &[(String, String)]) -> Option<Entry> {
    let words = |name: &str| -> Vec<String> {
        let value = fields.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v.as_str());
        value.split_whitespace().map(str::to_owned).collect()
    };
    let off = |word: &String| ["no", "false", "without", "off", "disable", "0"].contains(&word.as_str());
    if !words("types").iter().any(|t| t == "deb") || words("enabled").first().is_some_and(off) {
        return None;
    }
    let keys = words("signed-by").iter().filter_map(|word| key(word)).collect();
    Some(Entry { addresses: words("uris"), suites: words("suites"), components: words("components"), keys })
}

/// A file of keys; a key that is written out in the entry, and the armoured form, gpgv cannot be given.
fn key(word: &str) -> Option<String> {
    let right = word.starts_with('/') && !word.to_ascii_lowercase().ends_with(".asc");
    right.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs;

    fn found(files: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let host = Host { sysroot: Some(root.path().to_owned()), ..Host::bare() };
        let name = |p: &PathBuf| p.strip_prefix(root.path()).unwrap().display().to_string();
        let own = [root.path().join("own.gpg")];
        let keys = |m: &Mirror| m.keys.iter().map(name).collect();
        mirrors(&host, &own).iter().map(|m| (m.place.url.clone(), keys(m))).collect()
    }

    fn urls(files: &[(&str, &str)]) -> Vec<String> {
        found(files).into_iter().map(|(url, _)| url).collect()
    }

    #[test]
    fn both_forms_of_entries_are_read() {
        let paragraphs = "# c\nTypes: deb deb-src\n# old\nURIs: http://one.example/debian/\nSuites: bookworm bookworm-updates\n\
                          Components: main\nSigned-By: /keys/a.gpg\n\nTypes: deb\nURIs:\n https://two.example/debian\n \
                          http://three.example/debian\nSuites: stable\nComponents: main non-free\n";
        let lines = "deb [ arch=amd64 signed-by=/keys/a.gpg,/keys/b.asc ] http://four.example/debian trixie main # c\n\
                     #deb http://five.example/debian trixie main\ndeb-src http://six.example/debian trixie main\n";
        let all = found(&[
            ("etc/apt/sources.list", lines),
            ("etc/apt/sources.list.d/debian.sources", paragraphs),
            ("keys/a.gpg", ""),
            ("keys/b.asc", ""),
        ]);
        let pair =
            |url: &str, keys: &[&str]| (url.to_owned(), keys.iter().map(|k| (*k).to_owned()).collect());
        assert_eq!(
            all,
            [
                pair("http://four.example/debian", &["keys/a.gpg", "own.gpg"]),
                pair("http://one.example/debian", &["keys/a.gpg", "own.gpg"]),
                pair("https://two.example/debian", &["own.gpg"]),
                pair("http://three.example/debian", &["own.gpg"]),
            ]
        );
    }

    #[test]
    fn other_vendors_and_other_archives_are_left_out() {
        let lines = "deb https://download.docker.example/linux/debian bookworm stable\n\
                     deb http://security.debian.org/debian-security bookworm-security main\n\
                     deb http://archive.ubuntu.example/ubuntu noble main\n\
                     deb cdrom:[Debian]/ bookworm main\ndeb file:/srv/debian bookworm main\n\
                     deb https://apt.example/repo stable main\n";
        assert_eq!(urls(&[("etc/apt/sources.list", lines)]), Vec::<String>::new());
        let off = "Enabled: no\nTypes: deb\nURIs: http://a.example/debian\nSuites: sid\nComponents: main\n";
        assert_eq!(urls(&[("etc/apt/sources.list.d/a.sources", off)]), Vec::<String>::new());
        let text = "Types: deb\nURIs: http://a.example/debian\nSuites: sid\nComponents: main\n";
        assert_eq!(urls(&[("etc/apt/sources.list.d/a.sources.disabled", text)]), Vec::<String>::new());
        assert_eq!(urls(&[]), Vec::<String>::new());
    }

    #[test]
    fn a_company_mirror_comes_after_one_that_is_named_as_debian_names_them() {
        let lines = "deb https://files.example/debian-remote bookworm main\n\
                     deb http://mirror.example/debian bookworm main\n\
                     deb http://mirror.example/debian/ bookworm main non-free\n";
        assert_eq!(
            urls(&[("etc/apt/sources.list", lines)]),
            ["http://mirror.example/debian", "https://files.example/debian-remote"]
        );
    }
}
