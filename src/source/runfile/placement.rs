//! Where the files of the installer's archive go. It has a directory `builds/<component>` for each component, which is like
//! that component's redistributable archive; until 10.2 all of the toolkit was one.

use crate::source::component::COMPONENTS;
use crate::source::never;
use crate::source::plan::{Placement, Platform, Rule};
use crate::source::profile::{Profile, Wish, select};
use crate::source::redist;
use cudaup_core::version::Version;

/// The first release with a directory for each component.
const APART: Version = Version::exact(11, 0, 0);

/// The rules for what is wanted of a release; all else is left where it is.
pub fn placement(wish: &Wish, version: Version, platform: Platform) -> Placement {
    let all = |from: &str| Rule { from: from.to_owned(), to: Some(String::new()) };
    if version < APART {
        return Placement { strip: 0, rules: vec![all("builds/cuda-toolkit/")] };
    }
    let selection = select(wish, version);
    let names =
        COMPONENTS.iter().map(|c| c.name).filter(|name| selection.has(name) && !never::denied(name, ""));
    // Since 13.3 the installer, too, may call it by its new name.
    let renamed = selection.has("cuda_cccl").then_some("cccl");
    let rules = names.chain(renamed).flat_map(|name| of(name, wish, platform)).collect();
    Placement { strip: 0, rules }
}

fn of(component: &str, wish: &Wish, platform: Platform) -> Vec<Rule> {
    let usual = redist::placement(component, platform, 0);
    let usual =
        if wish.profile == Profile::Default { redist::without_static(component, usual) } else { usual };
    let mut rules = usual.rules;
    let last = rules.pop();
    // The directories that tools of old times have beside those that begin like them.
    rules.extend(
        ["libnvvp", "libnsight"].map(|name| Rule { from: name.to_owned(), to: Some(name.to_owned()) }),
    );
    // Links of these names, which each component has for itself; the toolkit gets one of each.
    rules.extend(["include", "lib64", "lib"].map(|name| Rule { from: name.to_owned(), to: None }));
    rules.extend(last);
    for rule in &mut rules {
        rule.from = format!("builds/{component}/{}", rule.from);
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(profile: Profile, version: Version, member: &str) -> Option<String> {
        placement(&Wish::of(profile), version, Platform::LinuxX86_64).place(member)
    }

    #[test]
    fn components_become_one_tree() {
        for (member, to) in [
            ("builds/cuda_nvcc/bin/nvcc", Some("bin/nvcc")),
            ("builds/cuda_nvcc/nvvm/bin/cicc", Some("nvvm/bin/cicc")),
            ("builds/cuda_cudart/lib64/libcudart.so.12", Some("targets/x86_64-linux/lib/libcudart.so.12")),
            ("builds/cuda_cudart/include/cuda.h", Some("targets/x86_64-linux/include/cuda.h")),
            ("builds/cuda_cudart/targets/x86_64-linux/include/a.h", Some("targets/x86_64-linux/include/a.h")),
            ("builds/cuda_cudart/include", None),
            ("builds/cuda_cudart/lib64", None),
            (
                "builds/cuda_cupti/extras/CUPTI/lib64/libcupti.so.12",
                Some("targets/x86_64-linux/lib/libcupti.so.12"),
            ),
            ("builds/libcublas/lib64/libcublas.so.12", Some("targets/x86_64-linux/lib/libcublas.so.12")),
            ("builds/libcublas/lib64/libcublas_static.a", None),
            ("builds/nvidia_driver/libcuda.so.550", None),
            ("builds/nvidia_fs/nvfs.c", None),
            ("builds/nsight_compute/ncu", None),
            ("builds/cuda_nvccx/bin/nvcc", None),
            ("cuda-installer", None),
            ("NVIDIA-Linux-x86_64-550.54.15.run", None),
        ] {
            assert_eq!(place(Profile::Default, Version::exact(12, 4, 1), member).as_deref(), to, "{member}");
        }
    }

    #[test]
    fn what_is_wanted_decides() {
        let v12 = Version::exact(12, 4, 1);
        assert_eq!(place(Profile::Minimal, v12, "builds/libcublas/lib64/libcublas.so.12"), None);
        assert!(place(Profile::Full, v12, "builds/libcublas/lib64/libcublas_static.a").is_some());
        assert_eq!(place(Profile::Full, v12, "builds/fabricmanager/bin/nv-fabricmanager"), None);
        let nvvp = "builds/cuda_nvvp/libnvvp/nvvp";
        let named = Wish::read(None, &["cuda_nvvp"]).unwrap();
        assert_eq!(
            placement(&named, v12, Platform::LinuxX86_64).place(nvvp).as_deref(),
            Some("libnvvp/nvvp")
        );
        let old = "builds/cuda-toolkit/bin/nvcc";
        assert_eq!(place(Profile::Minimal, Version::exact(10, 2, 0), old).as_deref(), Some("bin/nvcc"));
        assert_eq!(place(Profile::Minimal, v12, old), None);
    }
}
