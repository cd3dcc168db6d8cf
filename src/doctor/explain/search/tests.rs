//! Each known message is found in a line of its own; a healthy log holds none.

use super::*;

const SAMPLES: &str = include_str!("samples.txt");

/// Lines of `id: text`.
fn samples() -> Vec<(&'static str, &'static str)> {
    SAMPLES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": ")).collect()
}

fn ids(text: &[u8]) -> Vec<&'static str> {
    search(text).unwrap().iter().map(|hit| hit.error.id.as_str()).collect()
}

#[test]
fn every_message_is_found() {
    for (id, line) in samples() {
        assert_eq!(ids(line.as_bytes()), [id], "{line}");
    }
    let known: Vec<&str> = samples().iter().map(|(id, _)| *id).collect();
    for error in errors::all() {
        assert!(known.contains(&error.id.as_str()), "no sample of {}", error.id);
    }
}

#[test]
fn healthy_logs_hold_none() {
    for line in [
        "-- The CUDA compiler identification is NVIDIA 12.4.131 with host compiler GNU 12.2.0",
        "-- Found CUDAToolkit: /usr/local/cuda/include (found version \"12.4.131\")",
        "[ 50%] Building CUDA object CMakeFiles/add.dir/add.cu.o",
        "nvcc warning : Support for offline compilation for architectures prior to '<compute/sm/lto>_75' will be removed in a future release",
        "ptxas info    : Compiling entry function '_Z3addPKf' for 'sm_90'",
        "Collecting nvidia-cudnn-cu12==9.1.0.70 (from torch)",
        "Successfully installed torch-2.5.1 triton-3.1.0",
        "epoch 3 loss 0.12 memory 10321MiB cuda:0",
        "[  3%] Building CXX object src/CMakeFiles/bench.dir/cublasLtMatmul.cpp.o",
        "x.cpp:3:5: runtime error: load of misaligned address 0x7ffd0 for type 'int', which requires 4 byte alignment",
        "x.cu(12): warning: enumeration value 'cudaErrorNoDevice' not handled in switch [-Wswitch]",
        "setup.py: nvcc was not found, the part for the CPU is built",
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "  The kernel was built by: x86_64-linux-gnu-gcc-12 (Debian 12.2.0-14) 12.2.0",
    ] {
        assert_eq!(ids(line.as_bytes()), [""; 0], "{line}");
    }
}

#[test]
fn places_counts_and_order() {
    let log = "ok\r\n\x1b[31mError\x1b[0m: CUDA out of memory. Tried\r\nno\r\nnvcc: command not found\nCUDA out of memory\n";
    let hits = search(log.as_bytes()).unwrap();
    let told: Vec<_> = hits.iter().map(|h| (h.error.id.as_str(), h.line, h.count, h.text.as_str())).collect();
    assert_eq!(
        told,
        [
            ("oom", 2, 2, "Error: CUDA out of memory. Tried"),
            ("nvcc-not-found", 4, 1, "nvcc: command not found")
        ]
    );
}

#[test]
fn the_first_of_several_patterns_says_the_line() {
    let log = "a\nCUDA_ERROR_NO_DEVICE\nb\nno CUDA-capable device is detected (cudaErrorNoDevice)\n";
    let hits = search(log.as_bytes()).unwrap();
    assert_eq!((hits[0].line, hits[0].count, hits.len()), (2, 2, 1));
    assert_eq!(hits[0].text, "CUDA_ERROR_NO_DEVICE");
}

#[test]
fn two_messages_on_one_line_are_both_told() {
    let line = "CUDA error: out of memory; then: no CUDA-capable device is detected\n";
    assert_eq!(ids(line.as_bytes()), ["oom", "smi-no-devices"]);
    // What shares words is one message; where it stands alone, the other one is told too.
    let shared = "Could not load dynamic library 'libcudart.so.11.0'; dlerror: no such file\n";
    assert_eq!(ids(shared.as_bytes()), ["libcudart-missing"]);
    let both = format!("{shared}Skipping registering GPU devices...\n");
    let hits = search(both.as_bytes()).unwrap();
    assert_eq!(hits.iter().map(|hit| (hit.line, hit.count)).collect::<Vec<_>>(), [(1, 1), (2, 1)]);
    assert_eq!(hits[0].caught[0], "11.0");
}

#[test]
fn consequences_come_after_their_cause() {
    let log = "CUDA_ERROR_NO_DEVICE\nCUDA out of memory\nFailed to initialize NVML: Driver/library version mismatch\n";
    assert_eq!(ids(log.as_bytes()), ["oom", "nvml-mismatch", "smi-no-devices"]);
    let chain = "no CUDA-capable device is detected\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver\nKey was rejected by service\n";
    assert_eq!(ids(chain.as_bytes()), ["module-sign", "nvidia-smi-no-comm", "smi-no-devices"]);
}

#[test]
fn colours_within_a_message_do_not_hide_it() {
    let log = "\x1b[31mnvcc fatal   :\x1b[0m Unsupported gpu architecture \x1b[1m'compute_120'\x1b[0m\n\x1b[K\nnvcc: \x1b[1mnot found\n";
    let hits = search(log.as_bytes()).unwrap();
    let told: Vec<_> = hits.iter().map(|hit| (hit.line, hit.text.as_str())).collect();
    assert_eq!(
        told,
        [(1, "nvcc fatal   : Unsupported gpu architecture 'compute_120'"), (3, "nvcc: not found")]
    );
    assert_eq!(hits[0].caught, ["120"]);
}

#[test]
fn what_is_caught_is_of_the_line_shown() {
    let hits = search("libcudart.so.12: cannot open shared object file\nlibcudart.so.11.0: cannot open shared object file\n".as_bytes()).unwrap();
    assert_eq!((hits[0].count, hits[0].caught.as_slice()), (2, ["12".to_owned()].as_slice()));
    let split =
        "The detected CUDA version (11.5) mismatches the version that was used to compile\r\nPyTorch (12.4).";
    assert_eq!(search(split.as_bytes()).unwrap()[0].caught, ["11.5", "12.4"]);
}

#[test]
fn lines_are_counted_over_the_pieces_of_a_large_text() {
    let mut text = Vec::new();
    while text.len() < 3 * CHUNK {
        text.extend_from_slice(b"fine\nCUDA out of memory\xff\x00\n");
    }
    let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
    let hits = search(text.as_slice()).unwrap();
    assert_eq!((hits.len(), hits[0].line, hits[0].count), (1, 2, lines / 2));
}

#[test]
fn what_is_no_log() {
    assert_eq!(ids(b""), [""; 0]);
    assert_eq!(ids(&[0, 255, 254, 10, 0]), [""; 0]);
    let mut long = vec![b'x'; 5 * CHUNK];
    long.extend_from_slice(b" CUDA out of memory\n");
    let hits = search(long.as_slice()).unwrap();
    assert_eq!(hits.len(), 1);
    assert!(hits[0].line == 1 && hits[0].text.chars().count() <= LONGEST, "{}", hits[0].text);
    let mut many = b"fine\n".repeat(CHUNK);
    many.extend_from_slice(b"CUDA_ERROR_NO_DEVICE\n");
    assert_eq!(search(many.as_slice()).unwrap()[0].line, CHUNK as u64 + 1);
}

#[test]
fn texts_of_the_runtime_library_are_known() {
    for (code, text) in [
        (2, "out of memory"),
        (34, "CUDA driver is a stub library"),
        (35, "CUDA driver version is insufficient for CUDA runtime version"),
        (100, "no CUDA-capable device is detected"),
        (209, "no kernel image is available for execution on the device"),
        (222, "the provided PTX was compiled with an unsupported toolchain."),
        (700, "an illegal memory access was encountered"),
        (803, "system has unsupported display driver / cuda driver combination"),
    ] {
        let hits = search(format!("CUDA error: {text}").as_bytes()).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.error.code).collect::<Vec<_>>(), [Some(code)], "{text}");
    }
}
