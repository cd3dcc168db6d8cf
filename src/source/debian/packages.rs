//! A section's list of packages: read as it is unpacked, and of its thousands only the wanted ones are kept.

use liblzma::read::XzDecoder;
use std::io::{BufRead, BufReader, Read};

/// Debian's largest list has less than a tenth of this; what unpacks to more is no list.
const MOST: u64 = 512 << 20;

/// What a decoder may take for itself; Debian's lists are packed with a dictionary of 64 MiB at most.
const MEMORY: u64 = 128 << 20;

/// A line of more is not wanted, and not kept.
const LINE: usize = 64 << 10;

/// One package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// The source that it is built from.
    pub source: String,
    /// Its version.
    pub version: String,
    /// The archive, from the mirror's address.
    pub path: String,
    /// The archive's bytes.
    pub size: u64,
    /// The archive's hash.
    pub sha256: String,
    /// The bytes on disk of all of it.
    pub installed: u64,
}

impl Package {
    /// The archive's name.
    pub fn file(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn field(&mut self, name: &str, value: &str) {
        let value = value.trim();
        match name {
            "Package" => value.clone_into(&mut self.name),
            // `nvidia-cuda-toolkit (11.8.0-5)`
            "Source" => value.split(' ').next().unwrap_or_default().clone_into(&mut self.source),
            "Version" => value.clone_into(&mut self.version),
            "Filename" => value.clone_into(&mut self.path),
            "Size" => self.size = value.parse().unwrap_or(0),
            "SHA256" => self.sha256 = value.to_ascii_lowercase(),
            "Installed-Size" => self.installed = value.parse::<u64>().unwrap_or(0).saturating_mul(1024),
            _ => {}
        }
    }

    /// Whether all is there that an install needs, in a form that cannot lead elsewhere.
    fn is_whole(&self) -> bool {
        let step = |s: &str| !s.is_empty() && !s.starts_with('.') && s.bytes().all(is_plain);
        let hash = self.sha256.len() == 64 && self.sha256.bytes().all(|b| b.is_ascii_hexdigit());
        hash && self.size > 0 && self.path.split('/').all(step) && self.file().strip_suffix(".deb").is_some()
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-+~".contains(&byte)
}

/// The packages of an xz-packed list that `wanted` takes. The error says what is wrong with the list.
pub fn read(xz: &[u8], wanted: impl Fn(&Package) -> bool) -> Result<Vec<Package>, String> {
    let stream = liblzma::stream::Stream::new_stream_decoder(MEMORY, 0).map_err(|e| e.to_string())?;
    let mut lines = BufReader::with_capacity(1 << 16, XzDecoder::new_stream(xz, stream)).take(MOST);
    let mut packages = Vec::new();
    let mut package = Package::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = lines.read_until(b'\n', &mut line).map_err(|e| e.to_string())?;
        let text = line.trim_ascii_end();
        if text.is_empty() {
            let mut done = std::mem::take(&mut package);
            if done.source.is_empty() {
                done.source.clone_from(&done.name);
            }
            if wanted(&done) {
                if !done.is_whole() {
                    return Err(format!("the entry of {} is not whole", done.name));
                }
                packages.push(done);
            }
        } else if text.len() < LINE
            && let Ok(text) = std::str::from_utf8(text)
            && let Some((name, value)) = text.split_once(':')
        {
            package.field(name, value);
        }
        if count == 0 {
            return if lines.limit() == 0 { Err("it does not end".to_owned()) } else { Ok(packages) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::debian::fake::xz;

    const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn entry(name: &str, more: &str) -> String {
        format!(
            "Package: {name}\n{more}Version: 1-1\nInstalled-Size: 3\nDescription: x\n Package: no\nSize: 9\nSHA256: {HASH}\n\n"
        )
    }

    #[test]
    fn the_wanted_ones_are_found_with_their_source() {
        let file = |name: &str| format!("Filename: pool/main/n/{name}_1-1_amd64.deb\n");
        let text = [
            entry("libcudart12", &format!("Source: nvidia-cuda-toolkit (12.4.1-2)\n{}", file("libcudart12"))),
            entry("nvidia-cuda-toolkit", &file("nvidia-cuda-toolkit")),
            entry("other", &file("other")),
        ]
        .concat();
        let found = read(&xz(text.trim_end()), |p| p.source == "nvidia-cuda-toolkit").unwrap();
        let names: Vec<&str> = found.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["libcudart12", "nvidia-cuda-toolkit"]);
        assert_eq!((found[0].size, found[0].installed, found[0].sha256.as_str()), (9, 3072, HASH));
        assert_eq!(found[0].file(), "libcudart12_1-1_amd64.deb");
    }

    #[test]
    fn what_leads_elsewhere_or_is_cut_off_is_refused() {
        for path in ["../../etc/x.deb", "/etc/x.deb", "pool/a b.deb", "pool/x", "pool//x.deb", "pool/x.deb?y"]
        {
            let text = entry("x", &format!("Filename: {path}\n"));
            assert_eq!(
                read(&xz(&text), |p| p.name == "x").unwrap_err(),
                "the entry of x is not whole",
                "{path}"
            );
        }
        let whole = xz(&entry("x", "Filename: pool/x.deb\n").repeat(500));
        assert_eq!(read(&whole, |p| p.name == "x").unwrap().len(), 500);
        assert!(read(&whole[..whole.len() / 2], |_| false).is_err());
        assert!(read(b"not xz", |_| false).is_err());
        assert!(read(b"", |_| false).is_err());
    }
}
