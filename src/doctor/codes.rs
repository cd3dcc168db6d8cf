//! The page of each finding's code, in English and Chinese.

use crate::host::Host;
use serde::Deserialize;

const PAGES: [&str; 8] = [
    include_str!("codes/driver.toml"),
    include_str!("codes/gpu.toml"),
    include_str!("codes/toolkit.toml"),
    include_str!("codes/environment.toml"),
    include_str!("codes/compiler.toml"),
    include_str!("codes/framework.toml"),
    include_str!("codes/libraries.toml"),
    include_str!("codes/builds.toml"),
];

/// What a code means, how it comes, and how it is mended.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Page {
    /// The code.
    pub id: String,
    /// One line, in English.
    pub title: String,
    /// The page, in English.
    pub text: String,
    /// One line, in Chinese.
    pub title_zh: String,
    /// The page, in Chinese.
    pub text_zh: String,
}

#[derive(Deserialize)]
struct Pages {
    code: Vec<Page>,
}

/// All pages, in the order of the chain.
pub fn pages() -> Vec<Page> {
    PAGES.iter().filter_map(|text| toml::from_str::<Pages>(text).ok()).flat_map(|pages| pages.code).collect()
}

/// The page of a code.
pub fn page(code: &str) -> Option<Page> {
    pages().into_iter().find(|page| page.id == code)
}

impl Page {
    /// Title and text, in Chinese where the user's language is.
    pub fn read(&self, host: &Host) -> String {
        let (title, text) =
            if is_chinese(host) { (&self.title_zh, &self.text_zh) } else { (&self.title, &self.text) };
        format!("{}: {title}\n\n{}\n", self.id, text.trim())
    }
}

/// Whether the user's language is Chinese: of LC_ALL, LC_MESSAGES and LANG the first that is set says.
fn is_chinese(host: &Host) -> bool {
    let said = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| host.text(name));
    said.is_some_and(|language| language.starts_with("zh"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// The text of a check's sources, tests left out.
    fn sources(directory: &Path, text: &mut String) {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, text);
            } else if !["tests.rs", "field.rs"].iter().any(|name| path.ends_with(name)) {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let mut text = String::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/doctor/checks"), &mut text);
        let pages: Vec<String> = pages().into_iter().map(|page| page.id).collect();
        let known: BTreeSet<&str> = pages.iter().map(String::as_str).collect();
        assert_eq!(known.len(), pages.len(), "a page twice");
        assert!(known.len() > 80, "{}", known.len());
        for page in &known {
            assert!(text.contains(&format!("\"{page}\"")), "no check makes {page}");
        }
        // What follows a severity in the making of a finding.
        let made = text.split("Severity::").skip(1).filter_map(|rest| {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).strip_prefix(',')?;
            rest.trim_start().strip_prefix('"')?.split('"').next()
        });
        let made: BTreeSet<&str> = made.collect();
        assert!(made.len() > 40, "{made:?}");
        assert_eq!(
            made.difference(&known).collect::<Vec<_>>(),
            [""; 0].iter().collect::<Vec<_>>(),
            "codes without a page"
        );
    }

    #[test]
    fn pages_are_whole_in_both_languages() {
        for page in pages() {
            assert!(page.text.trim().len() > 80 && page.title.len() > 8, "{}", page.id);
            let chinese = |text: &str| text.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
            assert!(chinese(&page.text_zh) > 20 && chinese(&page.title_zh) >= 2, "{}", page.id);
        }
    }

    #[test]
    fn the_language_is_the_users() {
        let page = page("smi-nvcc-differ").unwrap();
        let host = |name: &str, value: &str| Host { vars: vec![(name.into(), value.into())], ..Host::bare() };
        assert!(page.read(&host("LANG", "zh_CN.UTF-8")).contains("工具包"));
        assert!(page.read(&host("LC_ALL", "C")).contains("toolkit"));
        assert_eq!(super::page("no-such-code"), None);
    }
}
