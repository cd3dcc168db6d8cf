//! Members of real packages and where they go.

use super::*;
use crate::source::profile::{Profile, Wish, select};
use cudaup_core::version::Version;

const LIB: &str = "usr/lib/x86_64-linux-gnu";
const T: &str = "targets/x86_64-linux";

fn minimal() -> Selection {
    select(&Wish::of(Profile::Minimal), Version::exact(12, 4, 1))
}

fn place(package: &str, selection: &Selection, major: u32, member: &str) -> Option<String> {
    placement(package, selection, major, Platform::LinuxX86_64).place(member)
}

#[test]
fn packages_are_components() {
    for (package, name) in [
        ("libcudart11.0", Some("cuda_cudart")),
        ("libcudart12", Some("cuda_cudart")),
        ("libcuinj64-11.8", Some("cuda_nvprof")),
        ("libnvrtc-builtins11.8", Some("cuda_nvrtc")),
        ("libcufile-rdma1", Some("libcufile")),
        ("libcu++-dev", Some("cuda_cccl")),
        ("nvidia-cuda-toolkit", Some("cuda_nvcc")),
        ("nvidia-cuda-toolkit-gcc", None),
        ("libnppc12", Some("libnpp")),
        ("nvidia-fs-dkms", None),
    ] {
        assert_eq!(component(package), name, "{package}");
    }
}

#[test]
fn the_compiler_comes_without_debians_scripts() {
    let at = |member: &str| place(COMPILER, &minimal(), 12, member);
    let home = "usr/lib/nvidia-cuda-toolkit";
    assert_eq!(at(&format!("{home}/bin/nvcc")).as_deref(), Some("bin/nvcc"));
    assert_eq!(at(&format!("{home}/bin/cicc")).as_deref(), Some("nvvm/bin/cicc"));
    assert_eq!(at(&format!("{home}/bin/crt/link.stub")).as_deref(), Some("bin/crt/link.stub"));
    assert_eq!(
        at(&format!("{home}/libdevice/libdevice.10.bc")).as_deref(),
        Some("nvvm/libdevice/libdevice.10.bc")
    );
    assert_eq!(at("usr/bin/ptxas").as_deref(), Some("bin/ptxas"));
    assert_eq!(at("usr/bin/__nvcc_device_query").as_deref(), Some("bin/__nvcc_device_query"));
    assert_eq!(at("usr/include/nvvm.h").as_deref(), Some("nvvm/include/nvvm.h"));
    for left in [
        "usr/bin/nvcc",
        "usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile",
        "usr/lib/nvidia-cuda-toolkit/bin/g++",
        "usr/lib/nvidia-cuda-toolkit/bin/gcc",
        "usr/bin/compute-sanitizer",
        "usr/lib/nvidia-cuda-toolkit/compute-sanitizer/libsanitizer-public.so",
        "usr/lib/cuda/include/cuda.h",
        "etc/nvcc.profile",
        "usr/share/man/man1/nvcc.1.gz",
    ] {
        assert_eq!(at(left), None, "{left}");
    }
}

#[test]
fn the_sanitizer_is_brought_together() {
    let wish = Wish::read(Some(Profile::Minimal), &["compute-sanitizer"]).unwrap();
    let at = |major, member: &str| place(COMPILER, &select(&wish, Version::release(major, 4)), major, member);
    let program = Some("compute-sanitizer/compute-sanitizer".to_owned());
    assert_eq!(at(11, "usr/bin/compute-sanitizer"), program);
    assert_eq!(at(12, "usr/bin/compute-sanitizer"), None);
    assert_eq!(at(12, "usr/lib/nvidia-cuda-toolkit/compute-sanitizer/compute-sanitizer"), program);
    let launcher = "compute-sanitizer/TreeLauncherSubreaper";
    assert_eq!(at(11, "usr/bin/TreeLauncherSubreaper").as_deref(), Some(launcher));
}

#[test]
fn of_the_large_package_only_the_wanted_is_kept() {
    let at = |member: &str| place(DEVELOPMENT, &minimal(), 12, member);
    assert_eq!(at("usr/include/cuda.h"), Some(format!("{T}/include/cuda.h")));
    assert_eq!(at("usr/include/crt/host_config.h"), Some(format!("{T}/include/crt/host_config.h")));
    for name in ["libcudart_static.a", "libcudart.so", "libcudadevrt.a", "libculibos.a", "stubs/libcuda.so"] {
        assert_eq!(at(&format!("{LIB}/{name}")), Some(format!("{T}/lib/{name}")), "{name}");
    }
    assert_eq!(at(&format!("{LIB}/libnvvm.so")).as_deref(), Some("nvvm/lib64/libnvvm.so"));
    for left in
        ["libcublas_static.a", "libcublas.so", "stubs/libcublas.so", "pkgconfig/cuda.pc", "libnppc.so"]
    {
        assert_eq!(at(&format!("{LIB}/{left}")), None, "{left}");
    }
    for left in ["cublas_v2.h", "npp.h", "nvtx3/nvToolsExt.h", "cuda-gdb/cudadebugger.h"] {
        assert_eq!(at(&format!("usr/include/{left}")), None, "{left}");
    }
}

#[test]
fn static_archives_of_the_libraries_are_in_full_only() {
    let at = |profile, member: &str| {
        let selection = select(&Wish::of(profile), Version::exact(12, 4, 1));
        place(DEVELOPMENT, &selection, 12, &format!("{LIB}/{member}"))
    };
    for archive in
        ["libcublasLt_static.a", "libcusolver_lapack_static.a", "libmetis_static.a", "libnppif_static.a"]
    {
        assert_eq!(at(Profile::Default, archive), None, "{archive}");
        assert_eq!(at(Profile::Full, archive), Some(format!("{T}/lib/{archive}")));
    }
    assert_eq!(at(Profile::Default, "libcublas.so"), Some(format!("{T}/lib/libcublas.so")));
    assert_eq!(at(Profile::Default, "stubs/libnvidia-ml.so"), Some(format!("{T}/lib/stubs/libnvidia-ml.so")));
    assert_eq!(at(Profile::Full, "cuda-gdb/libcudacore.a"), None);
}

#[test]
fn a_library_alone_brings_no_headers_of_others() {
    let wish = Wish::read(None, &["cublas"]).unwrap();
    let selection = select(&wish, Version::exact(12, 4, 1));
    assert!(wanted(DEVELOPMENT, &selection) && wanted("libcublaslt12", &selection));
    assert!(!wanted(COMPILER, &selection) && !wanted("libcufft11", &selection));
    let at = |member: &str| place(DEVELOPMENT, &selection, 12, member);
    assert_eq!(at("usr/include/cublas_v2.h"), Some(format!("{T}/include/cublas_v2.h")));
    assert_eq!(at("usr/include/cuda.h"), None);
    assert_eq!(at(&format!("{LIB}/libcudart_static.a")), None);
}

#[test]
fn libraries_have_places_of_their_own() {
    let at = |package: &str, member: &str| place(package, &minimal(), 12, member);
    assert_eq!(
        at("libnvvm4", &format!("{LIB}/libnvvm.so.4.0.0")).as_deref(),
        Some("nvvm/lib64/libnvvm.so.4.0.0")
    );
    assert_eq!(
        at("libcudart12", &format!("{LIB}/libcudart.so.12")),
        Some(format!("{T}/lib/libcudart.so.12"))
    );
    assert_eq!(
        at("libcudart12", "usr/share/doc/libcudart12/copyright").as_deref(),
        Some("share/licenses/cuda_cudart/libcudart12")
    );
    assert_eq!(
        at("libthrust-dev", "usr/share/cmake/thrust/thrust-config.cmake"),
        Some(format!("{T}/lib/cmake/thrust/thrust-config.cmake"))
    );
    assert_eq!(at("libthrust-dev", "usr/share/doc/libthrust-dev/examples/sum.cu"), None);
    assert_eq!(at("libcupti-dev", &format!("{LIB}/libcupti_static.a")), None);
    let arm = placement("libcudart12", &minimal(), 12, Platform::LinuxSbsa);
    assert_eq!(
        arm.place("usr/lib/aarch64-linux-gnu/libcudart.so.12").as_deref(),
        Some("targets/sbsa-linux/lib/libcudart.so.12")
    );
}
