//! The metadata of a `cuda-toolkit` wheel: which component has which version in that release.

use crate::source::plan::Platform;
use crate::source::pypi::marker::{self, World};
use crate::source::pypi::spelling::Build;
use std::borrow::Cow;
use std::io::{Cursor, Read, Seek, SeekFrom};

/// Metadata of more bytes than this is not NVIDIA's.
const LIMIT: u64 = 4 << 20;

/// One exact pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The project, in PyPI's normal spelling.
    pub project: String,
    /// The version, where any build of it will do.
    pub build: Build,
}

/// The pins of the extra `all` that hold on a machine. The error is the line that cannot be read.
pub fn pins(metadata: &str, platform: Platform) -> Result<Vec<Pin>, String> {
    let mut pins: Vec<Pin> = Vec::new();
    for line in metadata.lines().take_while(|l| !l.is_empty()) {
        let Some(requirement) = line.strip_prefix("Requires-Dist:") else { continue };
        let (what, condition) = requirement.split_once(';').unwrap_or((requirement, ""));
        if !condition.contains("extra") {
            continue;
        }
        let world = World { platform, extra: "all" };
        if marker::holds(condition, world).ok_or_else(|| line.to_owned())? {
            let pin = pin(what).ok_or_else(|| line.to_owned())?;
            if !pins.contains(&pin) {
                pins.push(pin);
            }
        }
    }
    Ok(pins)
}

/// Reads `nvidia-nvvm==13.0.88.*` or `nvidia-nvjitlink<14,>=13.0.88`: of a range the lower end is the release's own.
fn pin(text: &str) -> Option<Pin> {
    let text: String = text.chars().filter(|c| !matches!(c, '(' | ')' | ' ' | '\t')).collect();
    let end = text.find(['=', '<', '>', '!', '~', '['])?;
    let (name, rest) = text.split_at_checked(end)?;
    let range = rest.get(rest.find(['=', '<', '>', '!', '~'])?..)?;
    let lower =
        range.split(',').find_map(|bound| bound.strip_prefix("==").or_else(|| bound.strip_prefix(">=")))?;
    Some(Pin { project: normal(name), build: Build::parse(lower.trim_end_matches(".*"))? })
}

/// A project's name as an index spells it in addresses.
pub fn normal(name: &str) -> String {
    let words: Vec<&str> = name.split(['-', '_', '.']).filter(|w| !w.is_empty()).collect();
    words.join("-").to_ascii_lowercase()
}

/// The metadata out of a wheel of which only the last bytes are at hand, beginning at `offset`.
pub fn from_wheel(tail: &[u8], offset: u64) -> Result<String, String> {
    let end = Tail { bytes: Cursor::new(tail), offset };
    let mut wheel = zip::ZipArchive::new(end).map_err(|e| e.to_string())?;
    let is_metadata = |name: &str| name.ends_with(".dist-info/METADATA") && name.matches('/').count() == 1;
    let name = wheel.file_names().filter_map(Result::ok).find(|n| is_metadata(n)).map(Cow::into_owned);
    let name = name.ok_or("it holds no METADATA")?;
    let member = wheel.by_name(&name).map_err(|e| e.to_string())?;
    let mut text = String::new();
    member.take(LIMIT).read_to_string(&mut text).map_err(|e| e.to_string())?;
    Ok(text)
}

/// The end of a file that answers as if the whole of it were there.
struct Tail<'a> {
    bytes: Cursor<&'a [u8]>,
    offset: u64,
}

impl Read for Tail<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.bytes.read(buffer)
    }
}

impl Seek for Tail<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let before = || std::io::Error::other("the metadata lies before the bytes that were loaded");
        let to = match to {
            SeekFrom::Start(at) => SeekFrom::Start(at.checked_sub(self.offset).ok_or_else(before)?),
            relative => relative,
        };
        Ok(self.bytes.seek(to)? + self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const METADATA: &str = "\
Metadata-Version: 2.4
Name: cuda-toolkit
Version: 13.0.3.0
Provides-Extra: nvcc
Requires-Dist: nvidia-cuda-nvcc==13.0.88.*; (sys_platform == 'linux' or sys_platform == 'win32') and extra == 'nvcc'
Requires-Dist: nvidia-cuda-nvvm; (sys_platform == 'linux') and extra == 'nvcc'
Provides-Extra: all
Requires-Dist: nvidia-cuda-nvcc==13.0.88.*; (sys_platform == 'linux' or sys_platform == 'win32') and extra == 'all'
Requires-Dist: nvidia_nvjitlink<14,>=13.0.88; (sys_platform == 'linux') and extra == 'all'
Requires-Dist: nvidia-cuda-opencl (==13.0.85.*) ; (sys_platform == 'linux' and platform_machine == 'x86_64') and extra == 'all'
Requires-Dist: nvidia-cuda-nvcc==13.0.88.*; sys_platform == 'linux' and extra == 'all'

Requires-Dist: from-the-description==1; extra == 'all'
";

    #[test]
    fn the_extra_all_pins_every_component_once() {
        let read = |p| {
            let pins = pins(METADATA, p).unwrap();
            pins.iter().map(|p| format!("{} {}", p.project, p.build)).collect::<Vec<_>>()
        };
        let sbsa = ["nvidia-cuda-nvcc 13.0.88", "nvidia-nvjitlink 13.0.88"];
        assert_eq!(read(Platform::LinuxSbsa), sbsa);
        assert_eq!(read(Platform::LinuxX86_64), [&sbsa[..], &["nvidia-cuda-opencl 13.0.85"]].concat());
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        for line in [
            "Requires-Dist: nvidia-nvvm; extra == 'all'",
            "Requires-Dist: nvidia-nvvm~=13.0; extra == 'all'",
            "Requires-Dist: nvidia-nvvm==x; extra == 'all'",
            "Requires-Dist: nvidia-nvvm==1; python_version > '3' and extra == 'all'",
        ] {
            assert_eq!(pins(line, Platform::LinuxX86_64).unwrap_err(), line);
        }
    }

    #[test]
    fn metadata_comes_out_of_the_end_of_a_wheel() {
        let mut wheel = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        wheel.start_file("big", options.compression_method(zip::CompressionMethod::Stored)).unwrap();
        wheel.write_all(&vec![7; 50_000]).unwrap();
        wheel.start_file("x.dist-info/licenses/METADATA", options).unwrap();
        wheel.write_all(b"no").unwrap();
        wheel.start_file("x.dist-info/METADATA", options).unwrap();
        wheel.write_all(METADATA.as_bytes()).unwrap();
        let whole = wheel.finish().unwrap().into_inner();
        assert_eq!(from_wheel(&whole, 0).unwrap(), METADATA);
        let cut = whole.len() - 4000;
        assert_eq!(from_wheel(&whole[cut..], cut as u64).unwrap(), METADATA);
        let cut = whole.len() - 400;
        assert!(from_wheel(&whole[cut..], cut as u64).unwrap_err().contains("before"));
        assert!(from_wheel(b"<html>", 0).is_err());
    }
}
