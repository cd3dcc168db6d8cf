//! Scripts of makeself, which NVIDIA's runfiles are: a shell script, and behind its last line an archive. The script says
//! where that is; it is read for this and never run.

use super::region::Region;

/// The longest script.
const SCRIPT: u64 = 1 << 20;

/// The archive behind the script, packed or not.
pub fn payload(file: &Region) -> Result<Region, String> {
    let mut head = vec![0; usize::try_from(file.length().min(SCRIPT)).unwrap_or_default()];
    file.peek(0, &mut head).map_err(|e| crate::failure::plain_io(&e))?;
    let unknown = || "it is no script of makeself, or one of a kind that is not known".to_owned();
    if !head.starts_with(b"#!") {
        return Err(unknown());
    }
    let (lines, sizes) = stated(&head);
    let offset = end_of_line(&head, lines.ok_or_else(unknown)?).ok_or_else(unknown)?;
    let length = match sizes.as_slice() {
        [] => file.length().checked_sub(offset),
        [size] => Some(*size),
        _ => return Err("it holds several archives, which makeself no longer does".to_owned()),
    };
    length.and_then(|length| file.part(offset, length)).ok_or_else(|| "it is cut off".to_owned())
}

/// How many lines the script says it has, and how long the archives behind it are. Newer scripts say `skip="713"`, older
/// ones only `head -n 532 "$0"`.
fn stated(head: &[u8]) -> (Option<usize>, Vec<u64>) {
    let (mut skip, mut counted, mut sizes) = (None, None, None);
    for line in head.split(|b| *b == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let value = |name: &str| Some(line.strip_prefix(name)?.trim().trim_matches(['"', '\'']));
        skip = skip.or_else(|| value("skip=")?.parse().ok());
        sizes = sizes.or_else(|| value("filesizes=")?.split(' ').map(|s| s.parse().ok()).collect());
        counted = counted.or_else(|| {
            let (number, rest) = line.split_once("head -n ")?.1.split_once(' ')?;
            number.parse().ok().filter(|_| rest.trim_start_matches('"').starts_with('$'))
        });
    }
    (skip.or(counted), sizes.unwrap_or_default())
}

/// Where the line of this number ends.
fn end_of_line(head: &[u8], lines: usize) -> Option<u64> {
    let mut ends = head.iter().zip(1..).filter(|(byte, _)| **byte == b'\n').map(|(_, end)| end);
    ends.nth(lines.checked_sub(1)?)
}
