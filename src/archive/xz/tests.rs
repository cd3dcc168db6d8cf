//! Files of one block and of several, of one stream and of several, whole and broken; read in pieces and with jumps.

use super::*;
use liblzma::stream::{Check, Filters, LzmaOptions};
use liblzma::write::XzEncoder;
use proptest::prelude::*;
use std::io::Write;
use tempfile::tempfile;

const MEMORY: u64 = 64 << 20;

/// Something that does not repeat itself, and is the same each time.
fn contents(length: usize) -> Vec<u8> {
    (0_u32..)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).rotate_left(n % 31).to_le_bytes())
        .take(length)
        .collect()
}

/// Blocks of `block` bytes; 0: one block whose header does not say its length.
fn pack(bytes: &[u8], block: u64, dictionary: u32) -> Vec<u8> {
    let mut options = LzmaOptions::new_preset(1).unwrap();
    options.dict_size(dictionary);
    let mut filters = Filters::new();
    filters.lzma2(&options);
    let stream = if block == 0 {
        Stream::new_stream_encoder(&filters, Check::Crc64).unwrap()
    } else {
        let mut builder = MtStreamBuilder::new();
        builder.threads(2).filters(filters).check(Check::Crc64).block_size(block).encoder().unwrap()
    };
    let mut packer = XzEncoder::new_stream(Vec::new(), stream);
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn region(bytes: &[u8]) -> Region {
    let mut file = tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Region::whole(file).unwrap()
}

fn open(bytes: &[u8]) -> Result<Reader, String> {
    Reader::open(region(bytes), 4, MEMORY)
}

fn all(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    open(bytes)?.read_to_end(&mut out).map_err(|e| e.to_string())?;
    Ok(out)
}

/// Several streams with padding, blocks of different lengths, an empty stream.
fn mixed() -> (Vec<u8>, Vec<u8>) {
    let plain = contents(900_000);
    let mut packed = pack(&plain[..500_000], 70_000, 1 << 16);
    packed.extend([0; 8]);
    packed.extend(pack(&[], 0, 1 << 16));
    packed.extend(pack(&plain[500_000..510_000], 0, 1 << 16));
    packed.extend(pack(&plain[510_000..], 100_000, 1 << 16));
    packed.extend([0; 4]);
    (packed, plain)
}

#[test]
fn everything_comes_out_of_one_block_and_of_many() {
    let plain = contents(1_000_000);
    for block in [0, 1_000_000, 999_999, 100_000] {
        assert!(all(&pack(&plain, block, 1 << 16)).unwrap() == plain, "{block}");
    }
    assert!(all(&pack(&[], 0, 1 << 16)).unwrap().is_empty());
    let (packed, plain) = mixed();
    assert_eq!(open(&packed).unwrap().total(), 900_000);
    assert!(all(&packed).unwrap() == plain);
}

#[test]
fn a_block_that_is_passed_over_is_not_unpacked() {
    let plain = contents(1_000_000);
    let mut packed = pack(&plain, 100_000, 1 << 16);
    let blocks = open(&packed).unwrap().index.blocks;
    let damaged = &blocks[4];
    let middle = usize::try_from(damaged.start + damaged.packed / 2).unwrap();
    packed[middle..middle + 100].fill(0x55);
    let mut reader = open(&packed).unwrap();
    let mut start = vec![0; 150_000];
    reader.read_exact(&mut start).unwrap();
    assert!(start == plain[..150_000]);
    reader.run = None;
    assert!(reader.skip(400_000).unwrap());
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).unwrap();
    assert!(rest == plain[550_000..]);
    assert!(all(&packed).is_err());
}

#[test]
fn nothing_is_passed_over_behind_the_end() {
    let packed = pack(&contents(1000), 0, 1 << 16);
    let mut reader = open(&packed).unwrap();
    assert!(!reader.skip(1001).unwrap());
    assert!(!reader.skip(u64::MAX).unwrap());
    assert!(reader.skip(1000).unwrap());
    assert_eq!(reader.read(&mut [0; 10]).unwrap(), 0);
}

#[test]
fn what_is_cut_off_or_has_something_behind_it_is_refused() {
    for packed in [pack(&contents(50_000), 0, 1 << 16), pack(&contents(50_000), 10_000, 1 << 16), mixed().0] {
        for length in [0, 1, 11, 12, 24, 1000, packed.len() - 13, packed.len() - 1] {
            assert!(all(&packed[..length]).is_err(), "{length} of {}", packed.len());
        }
        for behind in [&b"x"[..], b"\0", b"\0\0\0\0\0", b"garbage garbage", b"\0\0\0\0YZ"] {
            assert!(all(&[&packed, behind].concat()).is_err(), "{behind:?}");
        }
    }
    let error = all(&vec![0; 100_000]).unwrap_err();
    assert_eq!(error, "it is cut off, or something stands behind its end");
}

#[test]
fn a_dictionary_larger_than_the_memory_is_refused() {
    // Of the text alone: a decoder takes what the header asks for.
    let mut packed = pack(&contents(1000), 0, 1 << 16);
    assert!(open(&packed).is_ok());
    // The header's twelve bytes, then size, flags, filter and length of its properties.
    assert_eq!(packed[14..16], [0x21, 1]);
    for (bits, words) in [(40, "4296015872 bytes"), (33, "403701760 bytes"), (28, "68157440 bytes")] {
        packed[16] = bits;
        let error = open(&packed).err().unwrap();
        assert!(error.starts_with("it needs ") && error.contains(words), "{bits}: {error}");
    }
}

#[test]
fn threads_are_as_many_as_the_memory_allows() {
    let packed = pack(&vec![0; 40 << 20], 10 << 20, 1 << 20);
    for (memory, threads, least) in [(100, 4, 40), (40, 3, 30), (13, 1, 2)] {
        let reader = Reader::open(region(&packed), 4, memory << 20).unwrap();
        assert_eq!(reader.threads, threads, "{memory}");
        assert!(reader.memory() >= least << 20 && reader.memory() <= memory << 20, "{}", reader.memory());
    }
    assert_eq!(Reader::open(region(&packed), 2, 100 << 20).unwrap().threads, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// However it is read and passed over, what comes is what stands there.
    #[test]
    fn jumps_land_where_they_should(steps in prop::collection::vec((0_usize..120_000, 0_u64..200_000), 1..12)) {
        let (packed, plain) = mixed();
        let mut reader = open(&packed).unwrap();
        let mut at = 0;
        for (read, skip) in steps {
            let mut out = vec![0; read.min(plain.len() - at)];
            reader.read_exact(&mut out).unwrap();
            prop_assert!(out == plain[at..at + out.len()]);
            at += out.len();
            let skip = usize::try_from(skip).unwrap().min(plain.len() - at);
            prop_assert!(reader.skip(skip as u64).unwrap());
            at += skip;
        }
        let mut out = Vec::new();
        reader.read_to_end(&mut out).unwrap();
        prop_assert!(out == plain[at..]);
    }

    /// A changed file is refused, or gives at most what its index says; it never hangs or takes more memory.
    #[test]
    fn a_changed_file_does_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut packed = pack(&contents(60_000), 20_000, 1 << 16);
        for (at, byte) in changes {
            let at = at.index(packed.len());
            packed[at] = byte;
        }
        if let Ok(reader) = open(&packed) {
            let total = reader.total();
            let mut out = Vec::new();
            let _ = reader.take(1 << 20).read_to_end(&mut out);
            prop_assert!(out.len() as u64 <= total);
        }
    }
}
