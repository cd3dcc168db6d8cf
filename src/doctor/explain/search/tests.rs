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
