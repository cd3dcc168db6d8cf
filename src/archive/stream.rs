//! The bytes of a tar archive, whatever it is packed and wrapped in, with an end that no bomb gets past.

use super::format::Format;
use super::region::Region;
use super::xz;
use super::{deb, guard, makeself};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read};

const AHEAD: usize = 128 << 10;

/// What a decoder other than xz takes, with its buffers.
const LITTLE: u64 = 1 << 20;

/// A tar archive, unpacked while it is read.
pub struct Stream {
    packing: Packing,
    memory: u64,
    /// The bytes that may still come.
    left: u64,
    most: u64,
}

enum Packing {
    Plain(Region),
    Gzip(Box<MultiGzDecoder<BufReader<Region>>>),
    Xz(Box<xz::Reader>),
}

/// The first bytes of what is known, and of what is known not to be unpacked.
const GZIP: &[u8] = b"\x1f\x8b";
const XZ: &[u8] = b"\xfd7zXZ\0";
const OTHERS: [(&[u8], &str); 5] = [
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"LZIP", "lzip"),
    (b"\x5d\0\0", "lzma"),
];

impl Stream {
    /// Finds the archive in a file. At most `cores` pieces are unpacked at once, within `memory` bytes.
    pub fn open(file: File, format: Format, cores: usize, memory: u64) -> Result<Self, String> {
        let file = Region::whole(file).map_err(|e| crate::failure::plain_io(&e))?;
        let region = match format {
            Format::Tar => file,
            Format::Deb => deb::data(&file)?,
            Format::Run => makeself::payload(&file)?,
            Format::Zip => return Err("it is a zip archive".to_owned()),
        };
        let most = guard::most(region.length());
        let mut start = [0; 6];
        if !region.peek(0, &mut start).map_err(|e| crate::failure::plain_io(&e))? {
            return Err("it is cut off".to_owned());
        }
        if let Some((_, method)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
            return Err(format!("it is packed with {method}, which cudaup does not unpack"));
        }
        let (packing, memory) = if start.starts_with(GZIP) {
            let input = BufReader::with_capacity(AHEAD, region);
            (Packing::Gzip(Box::new(MultiGzDecoder::new(input))), LITTLE)
        } else if start.starts_with(XZ) {
            let reader = xz::Reader::open(region, cores, memory)?;
            let (total, memory) = (reader.total(), reader.memory());
            if total > most {
                return Err(too_much(total, most));
            }
            (Packing::Xz(Box::new(reader)), memory)
        } else {
            (Packing::Plain(region), LITTLE)
        };
        Ok(Self { packing, memory, left: most, most })
    }

    /// The memory that reading takes.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Passes over bytes; an error where they are not there.
    pub fn skip(&mut self, count: u64) -> io::Result<()> {
        self.spend(count)?;
        let there = match &mut self.packing {
            Packing::Plain(region) => region.skip(count),
            Packing::Xz(reader) => reader.skip(count)?,
            Packing::Gzip(reader) => io::copy(&mut reader.by_ref().take(count), &mut io::sink())? == count,
        };
        if there { Ok(()) } else { Err(cut()) }
    }

    fn spend(&mut self, count: u64) -> io::Result<()> {
        let more = (self.most - self.left).saturating_add(count);
        self.left =
            self.left.checked_sub(count).ok_or_else(|| io::Error::other(too_much(more, self.most)))?;
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.packing {
            Packing::Plain(region) => region.read(buffer),
            Packing::Gzip(reader) => reader.read(buffer),
            Packing::Xz(reader) => reader.read(buffer),
        }?;
        self.spend(count as u64)?;
        Ok(count)
    }
}

/// The failure of a stream that ends too early.
pub fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it is cut off")
}

fn too_much(size: u64, most: u64) -> String {
    format!("it would unpack to {size} bytes, and {most} is the most that it can honestly hold")
}

#[cfg(test)]
mod tests;
