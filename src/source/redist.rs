//! Where the files of NVIDIA's redistributable archives go in a toolkit's tree. The parts inside NVIDIA's installer have
//! the same form.

use crate::source::plan::{Placement, Platform, Rule};

/// The rules for one archive of a component; `strip` directories stand before its `bin`, `include` and `lib`.
pub fn placement(component: &str, platform: Platform, strip: usize) -> Placement {
    let target = platform.target();
    let rule = |from: &str, to: String| Rule { from: from.to_owned(), to: Some(to) };
    let (include, lib) = (format!("targets/{target}/include/"), format!("targets/{target}/lib/"));
    let mut rules = vec![rule("LICENSE", format!("share/licenses/{component}/LICENSE"))];
    match component {
        // Links lead from there to the common directories, as in an installed toolkit.
        "cuda_cupti" => rules.extend([
            rule("extras/CUPTI/include/", include.clone()),
            rule("extras/CUPTI/lib64/", lib.clone()),
            rule("samples/", "extras/CUPTI/samples/".to_owned()),
        ]),
        // Some of its headers have the names of CUPTI's, with other contents.
        "cuda_sanitizer_api" => rules.push(rule("include/", "compute-sanitizer/include/".to_owned())),
        _ => {}
    }
    rules.extend([
        rule("include/", include),
        rule("lib/", lib.clone()),
        rule("lib64/", lib.clone()),
        rule("pkg-config/", format!("{lib}pkgconfig/")),
        rule("pkgconfig/", format!("{lib}pkgconfig/")),
        rule("samples/", format!("extras/{component}/samples/")),
        rule("", String::new()),
    ]);
    Placement { strip, rules }
}

/// The static archives of the math libraries: half of what these take on disk, and linked by few programs.
const STATIC: &[(&str, &[&str])] = &[
    ("libcublas", &["libcublas_static", "libcublasLt_static"]),
    ("libcufft", &["libcufft_static", "libcufftw_static"]),
    ("libcurand", &["libcurand_static"]),
    (
        "libcusolver",
        &[
            "libcusolver_static",
            "libcusolver_lapack_static",
            "libcusolver_metis_static",
            "liblapack_static",
            "libmetis_static",
        ],
    ),
    ("libcusparse", &["libcusparse_static"]),
    ("libnvjpeg", &["libnvjpeg_static"]),
    (
        "libnpp",
        &[
            "libnppc_static",
            "libnppial_static",
            "libnppicc_static",
            "libnppicom_static",
            "libnppidei_static",
            "libnppif_static",
            "libnppig_static",
            "libnppim_static",
            "libnppist_static",
            "libnppisu_static",
            "libnppitc_static",
            "libnpps_static",
        ],
    ),
];

/// The same without the static archives of the math libraries, which the default profile leaves out.
pub fn without_static(component: &str, placement: Placement) -> Placement {
    let names = STATIC.iter().find(|(name, _)| *name == component).map_or(&[][..], |(_, names)| names);
    let dropped =
        ["lib/", "lib64/"].into_iter().flat_map(|place| names.iter().map(move |n| format!("{place}{n}")));
    let rules = dropped.map(|from| Rule { from, to: None }).chain(placement.rules).collect();
    Placement { strip: placement.strip, rules }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(component: &str, member: &str) -> Option<String> {
        placement(component, Platform::LinuxX86_64, 1).place(member)
    }

    #[test]
    fn an_archive_becomes_part_of_a_tree() {
        for (component, member, to) in [
            ("cuda_nvcc", "cuda_nvcc-linux-x86_64-12.4.131-archive/bin/nvcc", "bin/nvcc"),
            ("cuda_nvcc", "x/include/crt/host_config.h", "targets/x86_64-linux/include/crt/host_config.h"),
            (
                "cuda_nvcc",
                "x/lib/libnvptxcompiler_static.a",
                "targets/x86_64-linux/lib/libnvptxcompiler_static.a",
            ),
            ("cuda_nvcc", "x/nvvm/lib64/libnvvm.so.4", "nvvm/lib64/libnvvm.so.4"),
            ("cuda_nvcc", "x/LICENSE", "share/licenses/cuda_nvcc/LICENSE"),
            (
                "cuda_cudart",
                "x/pkg-config/cudart-12.4.pc",
                "targets/x86_64-linux/lib/pkgconfig/cudart-12.4.pc",
            ),
            ("cuda_cudart", "x/lib/stubs/libcuda.so", "targets/x86_64-linux/lib/stubs/libcuda.so"),
            (
                "cuda_cccl",
                "x/lib/cmake/cub/cub-config.cmake",
                "targets/x86_64-linux/lib/cmake/cub/cub-config.cmake",
            ),
            ("cuda_cupti", "x/include/cupti.h", "targets/x86_64-linux/include/cupti.h"),
            ("cuda_cupti", "x/samples/common/helper_cupti.h", "extras/CUPTI/samples/common/helper_cupti.h"),
            ("cuda_cupti", "x/extras/CUPTI/lib64/libcupti.so.12", "targets/x86_64-linux/lib/libcupti.so.12"),
            (
                "cuda_gdb",
                "x/extras/Debugger/include/cudacoredump.h",
                "extras/Debugger/include/cudacoredump.h",
            ),
            ("cuda_gdb", "x/share/gdb/python/a.py", "share/gdb/python/a.py"),
            (
                "cuda_sanitizer_api",
                "x/compute-sanitizer/libsanitizer-public.so",
                "compute-sanitizer/libsanitizer-public.so",
            ),
            (
                "cuda_sanitizer_api",
                "x/include/generated_cuda_meta.h",
                "compute-sanitizer/include/generated_cuda_meta.h",
            ),
            ("nsight_systems", "x/bin/nsys", "bin/nsys"),
            (
                "nsight_systems",
                "x/nsight-systems/2023.4.4/target-linux-x64/nsys",
                "nsight-systems/2023.4.4/target-linux-x64/nsys",
            ),
        ] {
            assert_eq!(place(component, member).as_deref(), Some(to), "{member}");
        }
        assert_eq!(place("cuda_nvcc", "LICENSE"), None);
        let tegra = placement("cuda_cudart", Platform::LinuxAarch64, 2);
        assert_eq!(
            tegra.place("b/c/lib64/libcudart.so").as_deref(),
            Some("targets/aarch64-linux/lib/libcudart.so")
        );
    }

    #[test]
    fn only_the_math_libraries_lose_their_static_archives() {
        let lean = |component: &str, member: &str| {
            without_static(component, placement(component, Platform::LinuxX86_64, 1)).place(member)
        };
        for (component, member) in [
            ("libcublas", "x/lib/libcublasLt_static.a"),
            ("libcufft", "x/lib/libcufft_static_nocallback.a"),
            ("libcusolver", "x/lib64/libmetis_static.a"),
            ("libnpp", "x/lib/libnppc_static.a"),
        ] {
            assert_eq!(lean(component, member), None, "{member}");
            assert!(place(component, member).is_some(), "{member}");
        }
        for (component, member) in [
            ("libcublas", "x/lib/libcublas.so.12"),
            ("libcublas", "x/lib/stubs/libcublas.so"),
            ("cuda_cudart", "x/lib/libcudart_static.a"),
            ("cuda_nvrtc", "x/lib/libnvrtc_static.a"),
        ] {
            assert!(lean(component, member).is_some(), "{member}");
        }
    }
}
