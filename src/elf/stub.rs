//! A shared library that only exports names, so that programs link against a driver that is not there.
//!
//! Made without a compiler, because a machine that gets its toolkit from here may have none. The same names give the
//! same bytes.

use std::collections::BTreeSet;

use super::Machine;

/// Distance in memory between the read-only part and the writable `.dynamic`: the largest page size of both machines.
const PAGE: u64 = 0x1_0000;
const HEADER: u64 = 64;
const SEGMENT: u64 = 56;
const SYMBOL: u64 = 24;
const SECTION_NAMES: &[u8] = b"\0.hash\0.dynsym\0.dynstr\0.text\0.dynamic\0.shstrtab\0";

/// Writes a library called `soname` whose functions all return `answer`, and which needs no other library.
pub fn write(soname: &str, symbols: &[&str], machine: Machine, answer: u8) -> Vec<u8> {
    let names: BTreeSet<&str> = symbols.iter().copied().filter(|name| !name.is_empty()).collect();
    let code = code(machine, answer);
    let mut strings = vec![0];
    let soname_at = intern(&mut strings, soname);
    let at: Vec<u64> = names.iter().map(|name| intern(&mut strings, name)).collect();
    let hash = hash_table(&names);

    let hash_at = HEADER + 4 * SEGMENT;
    let symbols_at = aligned(hash_at + size(&hash), 8);
    let symbols_size = SYMBOL * (at.len() as u64 + 1);
    let strings_at = symbols_at + symbols_size;
    let code_at = aligned(strings_at + size(&strings), 16);
    let fixed = code_at + size(&code);
    let dynamic_at = aligned(fixed, 8);

    let mut dynamic = Vec::new();
    let entries = [
        (14, soname_at),
        (4, hash_at),
        (5, strings_at),
        (6, symbols_at),
        (10, size(&strings)),
        (11, SYMBOL),
        (0, 0),
    ];
    for (tag, value) in entries {
        put(&mut dynamic, &[(tag, 8), (value, 8)]);
    }
    let names_at = dynamic_at + size(&dynamic);
    let sections_at = aligned(names_at + SECTION_NAMES.len() as u64, 8);

    let mut out = file_header(machine, sections_at);
    segment(&mut out, 1, 5, (0, 0), fixed, PAGE);
    segment(&mut out, 1, 6, (dynamic_at, dynamic_at + PAGE), size(&dynamic), PAGE);
    segment(&mut out, 2, 6, (dynamic_at, dynamic_at + PAGE), size(&dynamic), 8);
    segment(&mut out, 0x6474_e551, 6, (0, 0), 0, 16);
    append(&mut out, hash_at, &hash);
    append(&mut out, symbols_at, &[]);
    put(&mut out, &[(0, 8); 3]);
    for name in &at {
        // A global function in section 4 (.text), all at the one address.
        put(&mut out, &[(*name, 4), (0x12, 1), (0, 1), (4, 2), (code_at, 8), (size(&code), 8)]);
    }
    append(&mut out, strings_at, &strings);
    append(&mut out, code_at, &code);
    append(&mut out, dynamic_at, &dynamic);
    append(&mut out, names_at, SECTION_NAMES);
    append(&mut out, sections_at, &[0; 64]);
    // name, type, flags, (place in the file, in memory), size, (link, info), alignment, size of an entry
    section(&mut out, 1, 5, 2, (hash_at, hash_at), size(&hash), (2, 0), (8, 4));
    section(&mut out, 7, 11, 2, (symbols_at, symbols_at), symbols_size, (3, 1), (8, SYMBOL));
    section(&mut out, 15, 3, 2, (strings_at, strings_at), size(&strings), (0, 0), (1, 0));
    section(&mut out, 23, 1, 6, (code_at, code_at), size(&code), (0, 0), (16, 0));
    section(&mut out, 29, 6, 3, (dynamic_at, dynamic_at + PAGE), size(&dynamic), (3, 0), (8, 16));
    section(&mut out, 38, 3, 0, (names_at, 0), SECTION_NAMES.len() as u64, (0, 0), (1, 0));
    out
}

/// A function that returns `answer` in the register for results.
fn code(machine: Machine, answer: u8) -> Vec<u8> {
    let mut code = Vec::new();
    match machine {
        Machine::X86_64 => put(&mut code, &[(0xb8, 1), (u64::from(answer), 4), (0xc3, 1)]),
        Machine::Aarch64 => put(&mut code, &[(0x5280_0000 | u64::from(answer) << 5, 4), (0xd65f_03c0, 4)]),
    }
    code
}

/// The System V hash table, by which the loader finds a name. Symbol numbers are 1 and up, in the order of the names.
fn hash_table(names: &BTreeSet<&str>) -> Vec<u8> {
    let mut first = vec![0; (names.len() / 2).max(1)];
    let mut next = vec![0; names.len() + 1];
    let buckets = first.len() as u64;
    for ((number, link), name) in (0..).zip(&mut next).skip(1).zip(names) {
        let bucket = usize::try_from(sysv_hash(name) % buckets).unwrap_or(0);
        if let Some(head) = first.get_mut(bucket) {
            *link = std::mem::replace(head, number);
        }
    }
    let mut table = Vec::new();
    put(&mut table, &[(buckets, 4), (next.len() as u64, 4)]);
    for word in first.iter().chain(&next) {
        put(&mut table, &[(*word, 4)]);
    }
    table
}

fn sysv_hash(name: &str) -> u64 {
    name.bytes().fold(0, |hash, byte| {
        let hash = (hash << 4) + u64::from(byte);
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high & 0xffff_ffff
    })
}

fn file_header(machine: Machine, sections_at: u64) -> Vec<u8> {
    let mut out = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    put(
        &mut out,
        &[(3, 2), (machine.number().into(), 2), (1, 4), (0, 8), (HEADER, 8), (sections_at, 8), (0, 4)],
    );
    put(&mut out, &[(HEADER, 2), (SEGMENT, 2), (4, 2), (64, 2), (7, 2), (6, 2)]);
    out
}

fn segment(out: &mut Vec<u8>, kind: u64, flags: u64, (at, address): (u64, u64), size: u64, alignment: u64) {
    put(
        out,
        &[(kind, 4), (flags, 4), (at, 8), (address, 8), (address, 8), (size, 8), (size, 8), (alignment, 8)],
    );
}

#[expect(clippy::too_many_arguments, reason = "these are the fields of a section header, in their order")]
fn section(
    out: &mut Vec<u8>,
    name: u64,
    kind: u64,
    flags: u64,
    (at, address): (u64, u64),
    size: u64,
    (link, info): (u64, u64),
    (alignment, entry): (u64, u64),
) {
    put(out, &[(name, 4), (kind, 4), (flags, 8), (address, 8), (at, 8), (size, 8)]);
    put(out, &[(link, 4), (info, 4), (alignment, 8), (entry, 8)]);
}

/// Adds a string with its end mark, and says where it begins.
fn intern(strings: &mut Vec<u8>, text: &str) -> u64 {
    let at = size(strings);
    strings.extend(text.bytes().filter(|byte| *byte != 0));
    strings.push(0);
    at
}

/// Adds numbers as little-endian fields of so many bytes each.
fn put(out: &mut Vec<u8>, fields: &[(u64, usize)]) {
    for (value, width) in fields {
        out.extend(value.to_le_bytes().into_iter().take(*width));
    }
}

/// Adds bytes at a place at or after the end, with zeros between.
fn append(out: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    out.resize(usize::try_from(at).unwrap_or(usize::MAX).max(out.len()), 0);
    out.extend_from_slice(bytes);
}

fn aligned(at: u64, to: u64) -> u64 {
    at.next_multiple_of(to)
}

fn size(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}
