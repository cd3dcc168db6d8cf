//! Text that came from elsewhere, made safe to show.

/// The text with control characters and marks that turn the reading direction as escapes, so that a file's name can
/// neither steer a terminal nor be read as another one. Line ends stay.
pub fn plain(text: &str) -> String {
    let harmless = |c: char| {
        c == '\n' || !(c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    if text.chars().all(harmless) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if harmless(letter) {
            out.push(letter);
        } else {
            out.extend(letter.escape_default());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(plain("a\x1b]0;x\x07\r\n\u{202e}b\u{9b}"), "a\\u{1b}]0;x\\u{7}\\r\n\\u{202e}b\\u{9b}");
        assert_eq!(plain("проект it's 数\n"), "проект it's 数\n");
    }
}
