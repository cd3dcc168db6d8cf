//! Where the files of NVIDIA's wheels go in a toolkit's tree.

use crate::source::plan::{Placement, Platform, Rule};

/// The rules for one wheel: `component` in NVIDIA's words, the project on PyPI, and the directory of its records.
pub fn rules(component: &str, project: &str, records: &str, major: u32, platform: Platform) -> Placement {
    let target = platform.target();
    let licences = format!("share/licenses/{component}");
    let mut rules = Vec::new();
    let mut rule = |from: String, to: Option<String>| rules.push(Rule { from, to });

    rule(format!("{records}/licenses/"), Some(format!("{licences}/")));
    for name in ["License.txt", "LICENSE"] {
        rule(format!("{records}/{name}"), Some(format!("{licences}/{name}")));
    }
    rule(format!("{records}/"), None);

    let folder = folder(project, major);
    for dropped in [".metadata/", "__pycache__/", "__init__.py"] {
        rule(format!("{folder}/{dropped}"), None);
        for inside in ["bin", "include", "lib"] {
            rule(format!("{folder}/{inside}/{dropped}"), None);
        }
    }
    // The sanitizer's wheels up to 13.3 carry headers under names that CUPTI's have too, with other contents. NVIDIA's
    // own toolkits keep them apart like this.
    let headers = if component == "cuda_sanitizer_api" {
        "compute-sanitizer/include/".to_owned()
    } else {
        format!("targets/{target}/include/")
    };
    rule(format!("{folder}/include/"), Some(headers));
    rule(format!("{folder}/lib/"), Some(format!("targets/{target}/lib/")));
    // The CMake files of 13.5 look for their headers three directories up: that is right below lib only.
    rule(format!("{folder}/cccl/lib/"), Some(format!("targets/{target}/lib/")));
    rule(format!("{folder}/cccl/LICENSE"), Some(format!("{licences}/LICENSE")));
    rule(format!("{folder}/"), Some(String::new()));
    Placement { strip: 0, rules }
}

/// Since 13 all wheels share one folder; before, each has its own, named like the project.
fn folder(project: &str, major: u32) -> String {
    if major >= 13 {
        return format!("nvidia/cu{major}");
    }
    let name = project.strip_prefix("nvidia-").unwrap_or(project);
    let name = name.strip_suffix(&format!("-cu{major}")).unwrap_or(name);
    format!("nvidia/{}", name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(component: &str, project: &str, major: u32, member: &str) -> Option<String> {
        rules(component, project, "rec.dist-info", major, Platform::LinuxX86_64).place(member)
    }

    #[test]
    fn wheels_of_13() {
        let nvcc = |m: &str| place("cuda_nvcc", "nvidia-cuda-nvcc", 13, m);
        for (member, to) in [
            ("nvidia/cu13/bin/nvcc", "bin/nvcc"),
            ("nvidia/cu13/bin/crt/link.stub", "bin/crt/link.stub"),
            ("nvidia/cu13/nvvm/bin/cicc", "nvvm/bin/cicc"),
            ("nvidia/cu13/include/cuda.h", "targets/x86_64-linux/include/cuda.h"),
            ("nvidia/cu13/include/cccl/cub/cub.cuh", "targets/x86_64-linux/include/cccl/cub/cub.cuh"),
            ("nvidia/cu13/lib/libcudart.so.13", "targets/x86_64-linux/lib/libcudart.so.13"),
            (
                "nvidia/cu13/cccl/lib/cmake/cub/cub-config.cmake",
                "targets/x86_64-linux/lib/cmake/cub/cub-config.cmake",
            ),
            ("nvidia/cu13/compute-sanitizer/x86/a.so", "compute-sanitizer/x86/a.so"),
            ("rec.dist-info/licenses/License.txt", "share/licenses/cuda_nvcc/License.txt"),
        ] {
            assert_eq!(nvcc(member).as_deref(), Some(to), "{member}");
        }
        for dropped in [
            "rec.dist-info/RECORD",
            "nvidia/cu13/.metadata/x",
            "nvidia/__init__.py",
            "other/x",
            "nvidia/cu12/bin/x",
        ] {
            assert_eq!(nvcc(dropped), None, "{dropped}");
        }
        let sbsa = rules("libnvvm", "nvidia-nvvm", "r", 13, Platform::LinuxSbsa);
        assert_eq!(
            sbsa.place("nvidia/cu13/lib/libnvvm.so.4").as_deref(),
            Some("targets/sbsa-linux/lib/libnvvm.so.4")
        );
    }

    #[test]
    fn cupti_and_the_sanitizer_do_not_overwrite_each_other() {
        let header = "nvidia/cu13/include/generated_cuda_meta.h";
        let cupti = place("cuda_cupti", "nvidia-cuda-cupti", 13, header);
        let sanitizer = place("cuda_sanitizer_api", "nvidia-cuda-sanitizer-api", 13, header);
        assert_eq!(cupti.as_deref(), Some("targets/x86_64-linux/include/generated_cuda_meta.h"));
        assert_eq!(sanitizer.as_deref(), Some("compute-sanitizer/include/generated_cuda_meta.h"));
    }

    #[test]
    fn wheels_of_12_have_folders_of_their_own() {
        let nvcc = |m: &str| place("cuda_nvcc", "nvidia-cuda-nvcc-cu12", 12, m);
        assert_eq!(nvcc("nvidia/cuda_nvcc/bin/ptxas").as_deref(), Some("bin/ptxas"));
        assert_eq!(nvcc("nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so").as_deref(), Some("nvvm/lib64/libnvvm.so"));
        assert_eq!(nvcc("nvidia/cuda_nvcc/include/__init__.py"), None);
        assert_eq!(nvcc("nvidia/cuda_nvcc/__init__.py"), None);
        assert_eq!(
            nvcc("rec.dist-info/License.txt").as_deref(),
            Some("share/licenses/cuda_nvcc/License.txt")
        );
        let nvml = place("cuda_nvml_dev", "nvidia-nvml-dev-cu12", 12, "nvidia/nvml_dev/include/nvml.h");
        assert_eq!(nvml.as_deref(), Some("targets/x86_64-linux/include/nvml.h"));
    }
}
