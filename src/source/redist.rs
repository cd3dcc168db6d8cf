//! Where the files of NVIDIA's redistributable archives go in a toolkit's tree. The parts inside NVIDIA's installer have
//! the same form.

use crate::source::plan::{Placement, Platform, Rule};

/// The rules for one archive of a component; `strip` directories stand before its `bin`, `include` and `lib`.
pub fn placement(component: &str, platform: Platform, strip: usize) -> Placement {
    let target = platform.target();
    let rule = |from: &str, to: String| Rule { from: from.to_owned(), to: Some(to) };
    let rules = vec![
        rule("LICENSE", format!("share/licenses/{component}/LICENSE")),
        rule("include/", format!("targets/{target}/include/")),
        rule("lib/", format!("targets/{target}/lib/")),
        rule("lib64/", format!("targets/{target}/lib/")),
        rule("pkg-config/", format!("targets/{target}/lib/pkgconfig/")),
        rule("samples/", format!("extras/{component}/samples/")),
        rule("", String::new()),
    ];
    Placement { strip, rules }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_becomes_part_of_a_tree() {
        let nvcc = placement("cuda_nvcc", Platform::LinuxX86_64, 1);
        for (member, to) in [
            ("cuda_nvcc-linux-x86_64-12.4.131-archive/bin/nvcc", "bin/nvcc"),
            ("x/include/crt/host_config.h", "targets/x86_64-linux/include/crt/host_config.h"),
            ("x/lib/libnvptxcompiler_static.a", "targets/x86_64-linux/lib/libnvptxcompiler_static.a"),
            ("x/nvvm/lib64/libnvvm.so.4", "nvvm/lib64/libnvvm.so.4"),
            ("x/LICENSE", "share/licenses/cuda_nvcc/LICENSE"),
        ] {
            assert_eq!(nvcc.place(member).as_deref(), Some(to), "{member}");
        }
        assert_eq!(nvcc.place("LICENSE"), None);
    }
}
