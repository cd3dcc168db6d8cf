//! The index that stands at the end of each xz stream: where its blocks are, how long they are packed and unpacked, and
//! how much memory they need. It is what allows to begin in the middle.

use crate::archive::region::Region;
use std::io;

/// The most that is read of all indexes: 150,000 blocks.
const INDEX: u64 = 1 << 20;

/// The most zeros behind a stream.
const PADDING: u64 = 64 << 10;

const HEADER: u64 = 12;
const MAGIC: &[u8] = b"\xfd7zXZ\0";

/// A piece that can be unpacked by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it begins in the file.
    pub start: u64,
    /// How long it is in the file.
    pub packed: u64,
    /// Where it begins in what comes out.
    pub out_start: u64,
    /// How much comes out.
    pub out: u64,
    /// The stream that it belongs to.
    pub stream: usize,
}

/// One stream of a file: most have one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Where it begins in the file.
    pub start: u64,
    /// How long it is, with header, index and footer.
    pub length: u64,
    /// How many blocks it has.
    pub blocks: usize,
}

/// What a file says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Its streams.
    pub streams: Vec<Stream>,
    /// Its blocks that hold anything.
    pub blocks: Vec<Block>,
    /// What comes out of all of them.
    pub total: u64,
    /// The largest dictionary.
    pub dictionary: u64,
}

/// Reads the indexes of all streams, from the last to the first.
pub fn read(file: &Region) -> Result<Index, String> {
    let mut streams = Vec::new();
    let (mut end, mut read) = (file.length(), 0);
    while end > 0 || streams.is_empty() {
        end = without_padding(file, end)?;
        let stream = stream(file, end, &mut read)?;
        end = stream.0.start;
        streams.push(stream);
    }
    let mut index = Index::default();
    for (stream, records) in streams.into_iter().rev() {
        let mut start = stream.start + HEADER;
        for (packed, out) in records {
            if out > 0 {
                let block = Block { start, packed, out_start: index.total, out, stream: index.streams.len() };
                index.dictionary = index.dictionary.max(dictionary(file, start)?);
                index.blocks.push(block);
            }
            index.total = index.total.checked_add(out).ok_or_else(damaged)?;
            start += packed;
        }
        index.streams.push(stream);
    }
    Ok(index)
}

/// Passes over the zeros behind a stream, which come in fours.
fn without_padding(file: &Region, mut end: u64) -> Result<u64, String> {
    let least = end.saturating_sub(PADDING);
    let mut four = [0; 4];
    while end > least && peek(file, end.checked_sub(4), &mut four)? && four == [0; 4] {
        end -= 4;
    }
    Ok(end)
}

type Records = Vec<(u64, u64)>;

/// The stream that ends at `end`, and the lengths of its blocks: in the file with what fills them up, and unpacked.
fn stream(file: &Region, end: u64, read: &mut u64) -> Result<(Stream, Records), String> {
    let mut footer = [0; 12];
    if !peek(file, end.checked_sub(HEADER), &mut footer)? || !footer.ends_with(b"YZ") {
        return Err("it is cut off, or something stands behind its end".to_owned());
    }
    if checksum(&footer[4..10]) != number(&footer[..4]) {
        return Err(damaged());
    }
    let size = (number(&footer[4..8]) + 1) * 4;
    *read += size + HEADER;
    if *read > INDEX {
        return Err(format!("its index is larger than {INDEX} bytes"));
    }
    let at = end.checked_sub(HEADER + size).ok_or_else(damaged)?;
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    if !peek(file, Some(at), &mut bytes)? {
        return Err(damaged());
    }
    let records = records(&bytes).ok_or_else(damaged)?;
    let packed = records.iter().try_fold(0_u64, |sum, (packed, _)| sum.checked_add(*packed));
    let start = packed.and_then(|packed| at.checked_sub(packed)?.checked_sub(HEADER)).ok_or_else(damaged)?;
    let mut head = [0; 12];
    if !peek(file, Some(start), &mut head)? || !head.starts_with(MAGIC) || head[6..8] != footer[8..10] {
        return Err(damaged());
    }
    Ok((Stream { start, length: end - start, blocks: records.len() }, records))
}

fn records(bytes: &[u8]) -> Option<Records> {
    let (bytes, sum) = bytes.split_last_chunk::<4>()?;
    if checksum(bytes) != number(sum) {
        return None;
    }
    let mut rest = bytes.strip_prefix(&[0])?;
    let count = variable(&mut rest)?;
    let mut records = Vec::new();
    for _ in 0..count {
        let packed = variable(&mut rest)?.checked_next_multiple_of(4).filter(|packed| *packed > 0)?;
        records.push((packed, variable(&mut rest)?));
    }
    (rest.len() < 4 && rest.iter().all(|b| *b == 0)).then_some(records)
}

/// The dictionary that a block's header asks for, with the little that a decoder needs beside it.
fn dictionary(file: &Region, start: u64) -> Result<u64, String> {
    let mut size = [0; 1];
    if !peek(file, Some(start), &mut size)? {
        return Err(damaged());
    }
    let mut header = vec![0; (usize::from(size[0]) + 1) * 4];
    if !peek(file, Some(start), &mut header)? {
        return Err(damaged());
    }
    let found = filters(&header).ok_or_else(|| "it is packed in a way that is not known".to_owned())?;
    Ok(found + (1 << 20))
}

fn filters(header: &[u8]) -> Option<u64> {
    let flags = *header.get(1)?;
    let mut rest = header.get(2..)?;
    for _ in 0..(flags >> 6).count_ones() {
        variable(&mut rest)?;
    }
    let mut largest = 0;
    for _ in 0..=(flags & 3) {
        let (id, size) = (variable(&mut rest)?, variable(&mut rest)?);
        let properties = rest.get(..usize::try_from(size).ok()?)?;
        rest = rest.get(properties.len()..)?;
        if id == 0x21 {
            let bits = u64::from(*properties.first()?);
            largest = if bits < 40 { (2 | (bits & 1)) << (bits / 2 + 11) } else { 4 << 30 };
        }
    }
    Some(largest)
}

/// A number of the format: seven bits a byte, the lowest first.
fn variable(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..9 {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << (7 * place);
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum().into()
}

fn peek(file: &Region, at: Option<u64>, buffer: &mut [u8]) -> Result<bool, String> {
    let peeked = at.map_or(Ok(false), |at| file.peek(at, buffer));
    peeked.map_err(|e: io::Error| crate::failure::plain_io(&e))
}

fn damaged() -> String {
    "its index is damaged".to_owned()
}
