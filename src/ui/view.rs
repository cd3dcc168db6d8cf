//! What a command found: for a person as text, for a program as one JSON object.

use cudaup_core::text::plain;
use std::path::{Path, PathBuf};

/// The outcome of a command that has something to show.
pub trait View {
    /// One object with stable keys.
    fn json(&self) -> serde_json::Value;
    /// Text for a person, each line ended.
    fn human(&self, style: &Style) -> String;
    /// Whether it only tells what the command did, so that `--quiet` leaves it out.
    fn is_report(&self) -> bool {
        false
    }
}

/// How text for a person is written.
#[derive(Clone, Debug)]
pub struct Style {
    /// Whether stdout may have colour.
    pub color: bool,
    /// The user's home directory, written as `~`.
    pub user_home: Option<PathBuf>,
}

impl Style {
    /// A path with the user's home as `~`, control characters made visible.
    pub fn path(&self, path: &Path) -> String {
        let text = match self.user_home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        };
        // One path is one line, or no table holds.
        plain(&text).replace('\n', "\\n")
    }

    /// Text that colour makes stand out; without colour it is the same text.
    pub fn strong(&self, text: &str) -> String {
        if self.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Columns of text, each as wide as its widest cell, two blanks apart, without blanks at line ends.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, w)| format!("{cell:<w$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Bytes as people read them: `1.88 GB`, `259 MB` (powers of ten).
pub fn size(bytes: u64) -> String {
    let scaled = |unit: u64| {
        let (whole, rest) = (bytes / unit, bytes % unit / (unit / 100));
        match whole {
            0..10 => format!("{whole}.{rest:02}"),
            10..100 => format!("{whole}.{}", rest / 10),
            _ => whole.to_string(),
        }
    };
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", scaled(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", scaled(1_000_000)),
        _ => format!("{} GB", scaled(1_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (bytes, text) in [
            (0, "0 B"),
            (u64::MAX, "18446744073 GB"),
            (999, "999 B"),
            (1_500, "1.50 kB"),
            (104_500_000, "104 MB"),
            (27_940_000, "27.9 MB"),
            (1_884_000_000, "1.88 GB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn paths_of_a_person() {
        let style = Style { color: false, user_home: Some("/home/u".into()) };
        assert_eq!(style.path(Path::new("/home/u/x y")), "~/x y");
        assert_eq!(style.path(Path::new("/home/user")), "/home/user");
        assert_eq!(style.path(Path::new("/a\x1b[31m")), "/a\\u{1b}[31m");
        assert_eq!(style.path(Path::new("/a\nb")), "/a\\nb");
    }

    #[test]
    fn tables_have_no_blanks_at_line_ends() {
        let row = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        assert_eq!(table(&[row(&["a", "bb", ""]), row(&["ccc", "d", "e"])]), "a    bb\nccc  d   e\n");
    }
}
