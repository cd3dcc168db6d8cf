//! Debian's packages: an `ar` archive with the files in one member and what the package manager wants to know in another.

use super::region::Region;

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: u64 = 60;

/// A package has three members; this is as far as the files are looked for.
const MEMBERS: usize = 16;

/// The tar archive with the package's files, packed or not.
pub fn data(file: &Region) -> Result<Region, String> {
    let mut magic = [0; MAGIC.len()];
    if !peek(file, 0, &mut magic)? || magic != MAGIC {
        return Err("it is no Debian package".to_owned());
    }
    let mut at = MAGIC.len() as u64;
    for _ in 0..MEMBERS {
        let mut header = [0; 60];
        if !peek(file, at, &mut header)? || !header.ends_with(b"`\n") {
            return Err("it is cut off, or no Debian package".to_owned());
        }
        let (name, size) = (text(&header[..16]), text(&header[48..58]).parse::<u64>());
        let size = size.map_err(|_| "it is damaged: a member has no length".to_owned())?;
        at += HEADER;
        if name.trim_end_matches('/').starts_with("data.tar") {
            return file.part(at, size).ok_or_else(|| "it is cut off".to_owned());
        }
        // Members begin at even places.
        at = at.saturating_add(size).saturating_add(size % 2);
    }
    Err("it is a Debian package without files".to_owned())
}

fn peek(file: &Region, at: u64, buffer: &mut [u8]) -> Result<bool, String> {
    file.peek(at, buffer).map_err(|e| crate::failure::plain_io(&e))
}

fn text(field: &[u8]) -> &str {
    std::str::from_utf8(field).unwrap_or_default().trim_end_matches(' ')
}
