//! Stubs against the real linker and readelf, and the reader against real, random and damaged files.

use std::io::Cursor;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;

use super::header::{Image, Unreadable, open, read};
use super::{Machine, stub};

/// Runs a tool and gives its output; `None`, said aloud, where the tool is not there.
#[expect(clippy::disallowed_methods, reason = "the test is about what real tools make of our files")]
fn tool(program: &str, arguments: &[&str], directory: &Path) -> Option<String> {
    let output =
        match Command::new(program).args(arguments).current_dir(directory).env("LC_ALL", "C").output() {
            Err(error) => {
                eprintln!("skipped: {program}: {error}");
                return None;
            }
            Ok(output) => output,
        };
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {text}");
    Some(text)
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("cuFunction{n}_v2")).collect()
}

fn stub_of(count: usize, machine: Machine) -> Vec<u8> {
    let names = names(count);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    stub::write("libcuda.so.1", &names, machine, 34)
}

#[test]
fn the_same_names_in_any_order_give_the_same_bytes() {
    let machine = Machine::X86_64;
    let one = stub::write("libx.so.1", &["b", "a", "c", "a", ""], machine, 1);
    assert_eq!(one, stub::write("libx.so.1", &["c", "a", "b"], machine, 1));
    assert_ne!(one, stub::write("libx.so.1", &["c", "a", "b"], Machine::Aarch64, 1));
    assert_ne!(one, stub::write("libx.so.2", &["c", "a", "b"], machine, 1));
}

#[test]
fn the_reader_reads_a_stub_back() {
    for (machine, count) in [(Machine::X86_64, 0), (Machine::X86_64, 1), (Machine::Aarch64, 633)] {
        let image = read(&mut Cursor::new(stub_of(count, machine))).unwrap();
        let soname = Some("libcuda.so.1".to_owned());
        assert_eq!(image, Image { machine: Some(machine), soname, ..Image::default() });
    }
}

#[test]
fn a_program_links_against_a_stub_and_the_loader_finds_its_functions() {
    let here = tempfile::tempdir().unwrap();
    std::fs::create_dir(here.path().join("stubs")).unwrap();
    std::fs::write(here.path().join("stubs/libcuda.so"), stub_of(40, Machine::X86_64)).unwrap();
    std::fs::write(here.path().join("libcuda.so.1"), stub_of(40, Machine::X86_64)).unwrap();
    let program = "int cuFunction7_v2(void), cuFunction39_v2(void);\n\
                   int main(void) { return cuFunction7_v2() == 34 && cuFunction39_v2() == 34 ? 0 : 1; }\n";
    std::fs::write(here.path().join("p.c"), program).unwrap();
    if Machine::here() != Some(Machine::X86_64) {
        eprintln!("skipped: the program of this test is for x86_64");
        return;
    }
    let link =
        ["p.c", "-o", "p", "-Lstubs", "-lcuda", "-Wl,--fatal-warnings", "-Wl,-z,now", "-Wl,-rpath,$ORIGIN"];
    if tool("gcc", &link, here.path()).is_none() {
        return;
    }
    let needed = open(&here.path().join("p")).unwrap();
    assert!(needed.needed.contains(&"libcuda.so.1".to_owned()), "{needed:?}");
    assert!(needed.interpreter.is_some_and(|loader| loader.contains("ld-linux")));
    assert!(needed.glibc.is_some_and(|version| version >= (2, 2)));
    // The loader looks the names up in our hash table.
    tool(here.path().join("p").to_str().unwrap(), &[], here.path()).unwrap();
}

#[test]
fn a_name_that_the_stub_lacks_does_not_link() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("libcuda.so"), stub_of(40, Machine::X86_64)).unwrap();
    std::fs::write(here.path().join("p.c"), "int cuOther(void);\nint main(void) { return cuOther(); }\n")
        .unwrap();
    #[expect(clippy::disallowed_methods, reason = "the linker's refusal is what is tested")]
    let linked = Command::new("gcc").args(["p.c", "-L.", "-lcuda"]).current_dir(here.path()).output();
    match linked {
        Ok(output) => {
            assert!(String::from_utf8_lossy(&output.stderr).contains("undefined reference to `cuOther'"));
        }
        Err(error) => eprintln!("skipped: gcc: {error}"),
    }
}

#[test]
fn readelf_and_nm_see_a_well_formed_library() {
    let here = tempfile::tempdir().unwrap();
    for machine in [Machine::X86_64, Machine::Aarch64] {
        let bytes = stub_of(633, machine);
        assert!(bytes.len() < 60_000, "{}", bytes.len());
        std::fs::write(here.path().join("lib.so"), bytes).unwrap();
        let Some(all) = tool("readelf", &["-aW", "lib.so"], here.path()) else { return };
        for wrong in ["Warning", "Error", "corrupt", "<unknown>"] {
            assert!(!all.contains(wrong), "{all}");
        }
        assert!(all.contains("Library soname: [libcuda.so.1]"), "{all}");
        // By the hash table alone, without section headers.
        let Some(hashed) = tool("readelf", &["-D", "--dyn-syms", "-W", "lib.so"], here.path()) else {
            return;
        };
        assert_eq!(hashed.matches("cuFunction").count(), 633, "{hashed}");
        let Some(listed) = tool("nm", &["-D", "--defined-only", "lib.so"], here.path()) else { return };
        assert_eq!(listed.lines().filter(|line| line.contains(" T cuFunction")).count(), 633, "{listed}");
    }
}

#[test]
fn the_aarch64_linker_takes_an_aarch64_stub() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("libcuda.so"), stub_of(40, Machine::Aarch64)).unwrap();
    std::fs::write(
        here.path().join("p.s"),
        ".globl _start\n_start: bl cuFunction7_v2\n bl cuFunction39_v2\n",
    )
    .unwrap();
    if tool("aarch64-linux-gnu-as", &["p.s", "-o", "p.o"], here.path()).is_none() {
        return;
    }
    let link = [
        "p.o",
        "-o",
        "p",
        "-L.",
        "-lcuda",
        "--fatal-warnings",
        "-dynamic-linker",
        "/lib/ld-linux-aarch64.so.1",
    ];
    tool("aarch64-linux-gnu-ld", &link, here.path()).unwrap();
    let image = open(&here.path().join("p")).unwrap();
    assert_eq!(image.machine, Some(Machine::Aarch64));
    assert_eq!(image.needed, ["libcuda.so.1"]);
}

#[test]
fn what_is_no_elf_file_is_told_apart() {
    let text = read(&mut Cursor::new(b"#!/bin/sh\n".to_vec()));
    assert!(matches!(text, Err(Unreadable::NotElf)), "{text:?}");
    assert!(matches!(read(&mut Cursor::new(Vec::new())), Err(Unreadable::NotElf)));
    let short = read(&mut Cursor::new(b"\x7fELF\x02\x01\x01".to_vec()));
    assert!(matches!(short, Err(Unreadable::Damaged(_))), "{short:?}");
    let small = read(&mut Cursor::new([b"\x7fELF\x01\x01".as_slice(), &[0; 64]].concat()));
    assert!(matches!(small, Err(Unreadable::Foreign)), "{small:?}");
    assert!(matches!(open(Path::new("/nonexistent/file")), Err(Unreadable::Io(_))));
}

#[test]
fn a_directory_is_an_error() {
    assert!(open(tempfile::tempdir().unwrap().path()).is_err());
}

/// A real program, with an interpreter, needed libraries and versions.
fn real() -> Vec<u8> {
    std::fs::read("/bin/ls").unwrap_or_else(|_| stub_of(20, Machine::X86_64))
}

proptest! {
    #[test]
    fn random_bytes_never_stop_the_reader(mut bytes in prop::collection::vec(any::<u8>(), 0..2048), elf in any::<bool>()) {
        if elf && bytes.len() > 6 {
            bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        }
        let _ = read(&mut Cursor::new(bytes));
    }

    #[test]
    fn damaged_files_never_stop_the_reader(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..24),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        for mut bytes in [real(), stub_of(20, Machine::Aarch64)] {
            let whole = bytes.len();
            for (at, value, early) in &changes {
                // Half of the changes hit the headers, where they matter most.
                let at = at.index(if *early { 0x400.min(whole) } else { whole });
                bytes[at] = *value;
            }
            if cut {
                bytes.truncate(keep.index(whole));
            }
            let _ = read(&mut Cursor::new(bytes));
        }
    }
}
