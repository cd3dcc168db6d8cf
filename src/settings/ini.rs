//! The form of pip's settings files.

/// Reads `[section]`, `key = value` and indented continuation lines; keys in lower case with dashes. Later values of a key
/// replace earlier ones.
pub fn read(text: &str) -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    let mut section = String::new();
    let mut open = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let plain = line.trim();
        if plain.is_empty() || plain.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with([' ', '\t']) && open {
            if let Some((_, _, value)) = found.last_mut() {
                value.push('\n');
                value.push_str(plain);
            }
        } else if let Some(name) = plain.strip_prefix('[').and_then(|n| n.split_once(']')) {
            name.0.trim().clone_into(&mut section);
            open = false;
        } else if let Some((key, value)) = plain.split_once(['=', ':']) {
            let key = key.trim().to_ascii_lowercase().replace('_', "-");
            found.retain(|(s, k, _)| *s != section || *k != key);
            found.push((section.clone(), key, value.trim().to_owned()));
            open = true;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_continuations_and_comments() {
        let text = "\u{feff}# c\n[global]\nINDEX_URL = https://a/simple?x=1\n; c\nextra-index-url:\n  https://b\n  # c\n\thttps://c\n\
                    [install]\nindex-url=https://d\nindex-url = https://e\nnothing\n";
        let got = read(text);
        let got: Vec<_> = got.iter().map(|(s, k, v)| (s.as_str(), k.as_str(), v.as_str())).collect();
        assert_eq!(
            got,
            [
                ("global", "index-url", "https://a/simple?x=1"),
                ("global", "extra-index-url", "\nhttps://b\nhttps://c"),
                ("install", "index-url", "https://e"),
            ]
        );
    }
}
