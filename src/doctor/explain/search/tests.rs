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
fn a_line_is_shown_from_its_start_where_it_is_short() {
    let path = "/home/someone/projects/thing/build/bin/program_with_a_name";
    let line = format!(
        "{path}: error while loading shared libraries: libcudart.so.12: cannot open shared object file"
    );
    assert_eq!(search(line.as_bytes()).unwrap()[0].text, line);
    let long =
        format!("{}libcudart.so.12: cannot open shared object file{}", "a".repeat(300), "b".repeat(300));
    let shown = search(long.as_bytes()).unwrap()[0].text.clone();
    assert!(shown.len() == LONGEST && shown.starts_with(&format!("{}libcudart", "a".repeat(50))), "{shown}");
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
    let lines = ends_of_lines(&text);
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

/// What cudaGetErrorName and cudaGetErrorString of libcudart 11.8, 12.4 and 13.5 say.
#[test]
fn texts_of_the_runtime_library_are_known() {
    let told = [
        (2, "cudaErrorMemoryAllocation", "out of memory"),
        (34, "cudaErrorStubLibrary", "CUDA driver is a stub library"),
        (35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"),
        (46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"),
        (98, "cudaErrorInvalidDeviceFunction", "invalid device function"),
        (100, "cudaErrorNoDevice", "no CUDA-capable device is detected"),
        (209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"),
        (214, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"),
        (218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed"),
        (221, "cudaErrorJitCompilerNotFound", "PTX JIT compiler library not found"),
        (
            222,
            "cudaErrorUnsupportedPtxVersion",
            "the provided PTX was compiled with an unsupported toolchain.",
        ),
        (304, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS"),
        (500, "cudaErrorSymbolNotFound", "named symbol not found"),
        (700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"),
        (716, "cudaErrorMisalignedAddress", "misaligned address"),
        (802, "cudaErrorSystemNotReady", "system not yet initialized"),
        (
            803,
            "cudaErrorSystemDriverMismatch",
            "system has unsupported display driver / cuda driver combination",
        ),
        (
            804,
            "cudaErrorCompatNotSupportedOnDevice",
            "forward compatibility was attempted on non supported HW",
        ),
        (
            805,
            "cudaErrorMpsConnectionFailed",
            "MPS client failed to connect to the MPS control daemon or the MPS server",
        ),
        (999, "cudaErrorUnknown", "unknown error"),
    ];
    let known =
        errors::all().iter().filter_map(|error| error.code).collect::<std::collections::BTreeSet<_>>();
    assert!(known.iter().all(|code| told.iter().any(|(told, ..)| told == code)), "{known:?}");
    for (code, name, text) in told {
        for line in [format!("CUDA error: {text}"), format!("failed with {name} at x.cu:3")] {
            let hits = search(line.as_bytes()).unwrap();
            assert_eq!(hits.iter().map(|hit| hit.error.code).collect::<Vec<_>>(), [Some(code)], "{line}");
        }
    }
}

/// What programs, CMake and nvcc printed on real machines, with and without a GPU.
#[test]
fn messages_of_real_programs_are_known() {
    for (line, id) in [
        ("RuntimeError: No CUDA GPUs are available", "smi-no-devices"),
        (
            "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
            "libcuda-missing",
        ),
        ("FAIL cudaMalloc(&a,n*4): 2 out of memory", "oom"),
        ("nvcc warning : Cannot find valid GPU for '-arch=native', default arch is used", "cmake-arch"),
        (
            "  Failed to find nvcc.\n\n  Compiler requires the CUDA toolkit.  Please set the CUDAToolkit_ROOT\n  variable.",
            "cmake-no-nvcc",
        ),
        ("ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'", "unsupported-arch"),
        ("/bin/sh: 1: /nonexistent/bin/nvcc: not found", "nvcc-not-found"),
    ] {
        assert_eq!(ids(line.as_bytes()), [id], "{line}");
    }
}
