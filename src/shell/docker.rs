//! An environment as `ENV` lines of a Dockerfile. Which variables the image has is not known here: the lists take up whatever
//! they hold there.

use cudaup_core::dialect::Unheld;
use cudaup_core::environment::{Change, LISTS, Vars};
use cudaup_core::list::split;
use cudaup_core::state;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Variables that have a say in which toolkit applies.
const ASKED: [&str; 2] = ["CUDAUP_VERSION", "CUDAUP_CEILING"];

/// The environment of an unknown image: the lists hold a stand-in for what they hold there. `here` is that of this process.
pub fn image(here: &Vars) -> Vars {
    let asked = ASKED.into_iter().filter_map(|name| Some((name, here.get(name)?.to_os_string())));
    asked.chain(LISTS.map(|name| (name, stand_in(name)))).collect()
}

/// What such an environment has to hold, as an ENV line has it between double quotes, in the order of the names.
pub fn values(changes: &[Change]) -> Result<Vec<(String, String)>, Unheld> {
    let mut values = Vec::new();
    for (name, value) in changes.iter().filter(|(name, _)| name != state::VARIABLE) {
        let Some(value) = value else { continue };
        let unheld = |what| Unheld { name: name.clone(), what };
        if value.as_bytes().contains(&b'\n') {
            return Err(unheld("a line end"));
        }
        let value =
            if LISTS.contains(&name.as_str()) { list(name, value) } else { value.to_str().map(quoted) };
        values.push((name.clone(), value.ok_or_else(|| unheld("bytes that are no Unicode"))?));
    }
    Ok(values)
}

/// The lines of these values.
pub fn lines(values: &[(String, String)]) -> Vec<u8> {
    let line = |(name, value): &(String, String)| format!("ENV {name}=\"{value}\"\n");
    values.iter().map(line).collect::<String>().into_bytes()
}

fn stand_in(name: &str) -> OsString {
    format!("${{{name}}}").into()
}

/// A list with what the image has in the place of the stand-in. Where that is nothing there is no empty entry for it, which
/// would mean the current directory.
fn list(name: &str, value: &OsStr) -> Option<String> {
    let entries = split(value);
    let mut parts = entries.splitn(2, |entry| *entry == stand_in(name));
    let texts = |part: &[OsString]| part.iter().map(|e| e.to_str().map(quoted)).collect::<Option<Vec<_>>>();
    let (front, back) = (texts(parts.next()?)?.join(":"), texts(parts.next().unwrap_or_default())?.join(":"));
    let back = if back.is_empty() { back } else { format!(":{back}") };
    // Something of ours is always in front: only then does the list change.
    Some(format!("{front}${{{name}:+:${name}}}{back}"))
}

/// What a backslash stands before between double quotes.
fn quoted(value: &str) -> String {
    let mark = |c: char| if "\\\"$".contains(c) { vec!['\\', c] } else { vec![c] };
    value.chars().flat_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(changes: &[(&str, Option<&str>)]) -> Result<String, Unheld> {
        let changes: Vec<Change> =
            changes.iter().map(|(n, v)| ((*n).to_owned(), v.map(OsString::from))).collect();
        values(&changes).map(|values| String::from_utf8(lines(&values)).unwrap())
    }

    #[test]
    fn lists_take_up_what_the_image_has() {
        let lines = text(&[
            ("CUDA_HOME", Some("/t")),
            ("CUDAUP_STATE", Some("1;")),
            ("GONE", None),
            ("LIBRARY_PATH", Some("/t/lib64:${LIBRARY_PATH}:/t/lib64/stubs")),
            ("PATH", Some("/t/bin:${PATH}")),
        ]);
        assert_eq!(
            lines.unwrap(),
            "ENV CUDA_HOME=\"/t\"\nENV LIBRARY_PATH=\"/t/lib64${LIBRARY_PATH:+:$LIBRARY_PATH}:/t/lib64/stubs\"\nENV PATH=\"/t/bin${PATH:+:$PATH}\"\n"
        );
    }

    #[test]
    fn values_are_data() {
        let odd = text(&[("CUDA_HOME", Some("/a \"b\" \\ $HOME ${PATH} `c` 'd' #e"))]).unwrap();
        assert_eq!(odd, "ENV CUDA_HOME=\"/a \\\"b\\\" \\\\ \\$HOME \\${PATH} `c` 'd' #e\"\n");
        assert_eq!(text(&[("A", Some("x\ny"))]).unwrap_err().what, "a line end");
        let bytes = OsStr::from_bytes(b"/\xff").to_os_string();
        let unheld = values(&[("PATH".into(), Some(bytes))]).unwrap_err();
        assert_eq!((unheld.name.as_str(), unheld.what), ("PATH", "bytes that are no Unicode"));
    }

    #[test]
    fn nothing_of_this_process_gets_in() {
        let here: Vars = [("PATH", "/mine"), ("CUDA_HOME", "/other"), ("CUDAUP_VERSION", "12"), ("X", "y")]
            .into_iter()
            .collect();
        let image = image(&here);
        assert_eq!(image.get("PATH"), Some(OsStr::new("${PATH}")));
        assert_eq!((image.get("CUDA_HOME"), image.get("X")), (None, None));
        assert_eq!(image.get("CUDAUP_VERSION"), Some(OsStr::new("12")));
    }
}
