//! As much JSON as version.json needs: the `version` of each object at the top.

/// `(key, version)` of every top-level object that has a text `version`. Anything malformed ends the reading.
pub(crate) fn versions(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    let mut depth = 0_usize;
    let mut pending: Option<String> = None;
    let mut rest = text.trim_start_matches('\u{feff}').chars();
    while let Some(letter) = rest.next() {
        match letter {
            '{' => {
                depth += 1;
                keys.push(pending.take().unwrap_or_default());
            }
            '}' => {
                keys.pop();
                depth = depth.saturating_sub(1);
                pending = None;
            }
            '"' => {
                let Some(string) = string(&mut rest) else { return found };
                match pending.take() {
                    Some(key) if key == "version" && depth == 2 => {
                        found.push((keys.last().cloned().unwrap_or_default(), string));
                    }
                    Some(_) => {}
                    None => pending = Some(string),
                }
            }
            ',' | '[' | ']' => pending = None,
            _ => {}
        }
    }
    found
}

fn string(rest: &mut std::str::Chars<'_>) -> Option<String> {
    let mut out = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(out),
            '\\' => out.push(rest.next()?),
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvidias_file() {
        let text = r#"{ "cuda" : { "name" : "CUDA SDK", "version" : "12.4.1" },
            "cuda_nvcc" : { "version" : "12.4.131", "name" : "a \"quoted\" name" }, "flat": "x", "n": [1, {"version": "9"}] }"#;
        assert_eq!(
            versions(text),
            [
                ("cuda".to_owned(), "12.4.1".to_owned()),
                ("cuda_nvcc".to_owned(), "12.4.131".to_owned()),
                (String::new(), "9".to_owned())
            ]
        );
    }

    #[test]
    fn broken_text_ends_quietly() {
        for text in ["", "{", "{\"cuda\": {\"version\": \"12", "]]}}", "\\", "{\"a\":{\"version\":12}}"] {
            assert_eq!(versions(text), [], "{text}");
        }
    }
}
