//! Made-up packages with the members of the real ones that tell their layouts apart.

use super::xz;

/// A member: a file's text, or where a link leads.
enum Member {
    File(&'static str),
    Program(&'static str),
    Link(&'static str),
}
use Member::{File, Link, Program};

/// What an nvcc is to the tests: a program that says its version.
const NVCC: &str = "#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n";

type Members = &'static [(&'static str, Member)];

const COMPILER: Members = &[
    ("etc/nvcc.profile", File("INCLUDES += -I/usr/include\n")),
    ("usr/bin/compute-sanitizer", Link("../lib/nvidia-cuda-toolkit/compute-sanitizer/compute-sanitizer")),
    ("usr/bin/nvcc", Program("#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc\n")),
    ("usr/bin/ptxas", Program("#!/bin/sh\n")),
    ("usr/include/nvvm.h", File("nvvm\n")),
    ("usr/lib/cuda/include/cuda.h", Link("../../../include/cuda.h")),
    ("usr/lib/nvidia-cuda-toolkit/bin/cicc", Program("#!/bin/sh\n")),
    ("usr/lib/nvidia-cuda-toolkit/bin/crt/link.stub", File("stub\n")),
    ("usr/lib/nvidia-cuda-toolkit/bin/g++", Program("#!/bin/sh\nexec g++-13\n")),
    ("usr/lib/nvidia-cuda-toolkit/bin/nvcc", Program(NVCC)),
    ("usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile", Link("/etc/nvcc.profile")),
    ("usr/lib/nvidia-cuda-toolkit/compute-sanitizer/compute-sanitizer", Program("#!/bin/sh\n")),
    ("usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc", File("BC")),
];

const DEVELOPMENT: Members = &[
    ("usr/include/crt/host_config.h", File("#pragma once\n")),
    ("usr/include/cublas_v2.h", File("cublas\n")),
    ("usr/include/cuda.h", File("#define CUDA_VERSION 12040\n")),
    ("usr/lib/MACHINE-linux-gnu/libcublas.so", Link("libcublas.so.12")),
    ("usr/lib/MACHINE-linux-gnu/libcublas_static.a", File("!<arch>\n")),
    ("usr/lib/MACHINE-linux-gnu/libcudart.so", Link("libcudart.so.12")),
    ("usr/lib/MACHINE-linux-gnu/libcudart_static.a", File("!<arch>\n")),
    ("usr/lib/MACHINE-linux-gnu/libcufft.so", Link("libcufft.so.11")),
    ("usr/lib/MACHINE-linux-gnu/libnvvm.so", Link("libnvvm.so.4")),
    ("usr/lib/MACHINE-linux-gnu/stubs/libcuda.so", File("stub")),
];

fn members(package: &str) -> Members {
    match package {
        "nvidia-cuda-toolkit" => COMPILER,
        "nvidia-cuda-dev" => DEVELOPMENT,
        "libcudart12" => &[
            ("usr/lib/MACHINE-linux-gnu/libcudart.so.12", Link("libcudart.so.12.4.127")),
            ("usr/lib/MACHINE-linux-gnu/libcudart.so.12.4.127", File("cudart")),
        ],
        "libnvvm4" => &[
            ("usr/lib/MACHINE-linux-gnu/libnvvm.so.4", Link("libnvvm.so.4.0.0")),
            ("usr/lib/MACHINE-linux-gnu/libnvvm.so.4.0.0", File("nvvm")),
        ],
        "libcublas12" => &[
            ("usr/lib/MACHINE-linux-gnu/libcublas.so.12", Link("libcublas.so.12.4.5.8")),
            ("usr/lib/MACHINE-linux-gnu/libcublas.so.12.4.5.8", File("cublas")),
        ],
        "libthrust-dev" => &[
            ("usr/include/thrust/version.h", File("thrust\n")),
            ("usr/share/cmake/thrust/thrust-config.cmake", File("# thrust\n")),
        ],
        _ => &[],
    }
}

/// A package as Debian packs it, for `x86_64` or `aarch64`.
pub fn deb(package: &str, machine: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    let licence = format!("usr/share/doc/{package}/copyright");
    append(&mut tar, &licence, &File("a licence\n"));
    for (path, member) in members(package) {
        append(&mut tar, &path.replace("MACHINE", machine), member);
    }
    let data = xz(&tar.into_inner().unwrap());
    let parts: [(&str, &[u8]); 3] =
        [("debian-binary", b"2.0\n"), ("control.tar.xz", &xz(b"")), ("data.tar.xz", &data)];
    let mut ar = b"!<arch>\n".to_vec();
    for (name, bytes) in parts {
        ar.extend(format!("{name:<16}1700000000  0     0     100644  {:<10}`\n", bytes.len()).into_bytes());
        ar.extend(bytes);
        ar.resize(ar.len().next_multiple_of(2), b'\n');
    }
    ar
}

fn append(tar: &mut tar::Builder<Vec<u8>>, path: &str, member: &Member) {
    let mut header = tar::Header::new_gnu();
    header.set_mode(if matches!(member, Program(_)) { 0o755 } else { 0o644 });
    let path = format!("./{path}");
    match member {
        Link(to) => {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            tar.append_link(&mut header, path, to).unwrap();
        }
        File(text) | Program(text) => {
            header.set_size(text.len() as u64);
            tar.append_data(&mut header, path, text.as_bytes()).unwrap();
        }
    }
}
