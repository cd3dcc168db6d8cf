//! The components of a toolkit in NVIDIA's own words, what each needs, and what PyPI calls it.

use crate::source::profile::Profile;
use cudaup_core::version::Version;

/// One component.
#[derive(Debug, PartialEq, Eq)]
pub struct Component {
    /// Its name in NVIDIA's redistributable archives.
    pub name: &'static str,
    /// Its project on PyPI, without the `-cu12` of older majors; empty where PyPI has none.
    pub wheel: &'static str,
    /// Short names that a user may type, besides the name without `cuda_` or `lib`.
    pub aliases: &'static [&'static str],
    /// The smallest profile that has it; `None`: only by name, because it is large, or for few machines.
    pub profile: Option<Profile>,
    /// Whether nothing compiles or links without it.
    pub must: bool,
    /// What it does not work without.
    pub needs: &'static [&'static str],
    /// The first release in which it is a component of its own.
    pub since: Option<Version>,
    /// The first release that does not have it any more.
    pub before: Option<Version>,
    /// The component that it is a piece of in releases before that.
    pub inside: Option<&'static str>,
    /// How many tenths of its packed size it takes on disk, rounded up from the wheels of 13.x.
    pub swells: u64,
}

impl Component {
    /// The bytes on disk that an archive of so many bytes becomes, for what is said and checked before it is loaded.
    pub const fn unpacked(&self, packed: u64) -> u64 {
        packed.saturating_mul(self.swells) / 10
    }
}

const fn part(name: &'static str, wheel: &'static str, profile: Option<Profile>, swells: u64) -> Component {
    Component {
        name,
        wheel,
        aliases: &[],
        profile,
        must: false,
        needs: &[],
        since: None,
        before: None,
        inside: None,
        swells,
    }
}

const MINIMAL: Option<Profile> = Some(Profile::Minimal);
const DEFAULT: Option<Profile> = Some(Profile::Default);
const FULL: Option<Profile> = Some(Profile::Full);

const V11_8: Option<Version> = Some(Version::release(11, 8));
const V12_0: Option<Version> = Some(Version::release(12, 0));
const V12_4: Option<Version> = Some(Version::release(12, 4));
const V13_0: Option<Version> = Some(Version::release(13, 0));
const V12_8: Option<Version> = Some(Version::release(12, 8));
const V13_1: Option<Version> = Some(Version::release(13, 1));
const V13_4: Option<Version> = Some(Version::release(13, 4));

/// Every component that cudaup knows by name. What a source has besides is in `full` only.
pub const COMPONENTS: &[Component] = &[
    Component {
        must: true,
        aliases: &["compiler"],
        needs: &["cuda_crt", "libnvvm", "cuda_cudart", "cuda_cccl", "cuda_culibos"],
        ..part("cuda_nvcc", "nvidia-cuda-nvcc", MINIMAL, 32)
    },
    Component {
        must: true,
        since: V13_0,
        inside: Some("cuda_nvcc"),
        ..part("cuda_crt", "nvidia-cuda-crt", MINIMAL, 75)
    },
    Component {
        must: true,
        since: V13_0,
        inside: Some("cuda_nvcc"),
        ..part("libnvvm", "nvidia-nvvm", MINIMAL, 24)
    },
    Component {
        must: true,
        aliases: &["runtime", "cuda_runtime"],
        needs: &["cuda_crt", "cuda_cccl"],
        ..part("cuda_cudart", "nvidia-cuda-runtime", MINIMAL, 34)
    },
    Component {
        must: true,
        aliases: &["thrust", "cub", "libcudacxx"],
        ..part("cuda_cccl", "nvidia-cuda-cccl", MINIMAL, 50)
    },
    Component {
        since: V13_0,
        inside: Some("cuda_cudart"),
        ..part("cuda_culibos", "nvidia-cuda-culibos", MINIMAL, 40)
    },
    part("cuda_nvrtc", "nvidia-cuda-nvrtc", DEFAULT, 26),
    Component { since: V12_0, ..part("libnvjitlink", "nvidia-nvjitlink", DEFAULT, 26) },
    Component { since: V12_4, ..part("libnvfatbin", "nvidia-nvfatbin", DEFAULT, 27) },
    part("libcublas", "nvidia-cublas", DEFAULT, 15),
    Component { needs: &["libnvjitlink"], ..part("libcufft", "nvidia-cufft", DEFAULT, 15) },
    part("libcurand", "nvidia-curand", DEFAULT, 24),
    Component {
        needs: &["libcublas", "libcusparse", "libnvjitlink"],
        ..part("libcusolver", "nvidia-cusolver", DEFAULT, 13)
    },
    Component { needs: &["libnvjitlink"], ..part("libcusparse", "nvidia-cusparse", DEFAULT, 12) },
    part("libnpp", "nvidia-npp", DEFAULT, 13),
    part("libnvjpeg", "nvidia-nvjpeg", DEFAULT, 17),
    Component { aliases: &["gds"], ..part("libcufile", "nvidia-cufile", DEFAULT, 30) },
    part("cuda_cupti", "nvidia-cuda-cupti", DEFAULT, 43),
    part("cuda_nvtx", "nvidia-nvtx", DEFAULT, 42),
    Component { aliases: &["nvml"], ..part("cuda_nvml_dev", "nvidia-nvml-dev", DEFAULT, 65) },
    Component {
        aliases: &["profiler"],
        since: V11_8,
        ..part("cuda_profiler_api", "nvidia-cuda-profiler-api", DEFAULT, 38)
    },
    Component {
        aliases: &["sanitizer", "compute-sanitizer"],
        ..part("cuda_sanitizer_api", "nvidia-cuda-sanitizer-api", DEFAULT, 31)
    },
    part("cuda_cuobjdump", "nvidia-cuda-cuobjdump", DEFAULT, 23),
    part("cuda_nvdisasm", "nvidia-cuda-nvdisasm", DEFAULT, 12),
    Component { aliases: &["cu++filt"], ..part("cuda_cuxxfilt", "nvidia-cuda-cuxxfilt", DEFAULT, 40) },
    part("cuda_nvprune", "", DEFAULT, 30),
    Component { aliases: &["cuda-gdb"], ..part("cuda_gdb", "", DEFAULT, 30) },
    Component {
        since: V13_0,
        inside: Some("cuda_nvcc"),
        ..part("libnvptxcompiler", "nvidia-nvptxcompiler", FULL, 42)
    },
    Component { since: V12_0, ..part("cuda_opencl", "nvidia-cuda-opencl", FULL, 64) },
    Component { since: V13_1, ..part("cuda_tileiras", "nvidia-cuda-tileiras", FULL, 27) },
    Component { since: V13_0, ..part("cuda_ctadvisor", "", FULL, 30) },
    Component { before: V13_0, ..part("cuda_nvprof", "", FULL, 30) },
    Component { before: V12_0, ..part("cuda_memcheck", "", FULL, 30) },
    part("libcudla", "nvidia-cudla", None, 40),
    part("cuda_compat", "", None, 30),
    part("cuda_compat_orin", "", None, 30),
    part("cuda_documentation", "", None, 30),
    Component { before: V13_0, ..part("cuda_demo_suite", "", None, 30) },
    Component { since: V12_8, ..part("cuda_sandbox_dev", "", None, 30) },
    Component { before: V13_0, aliases: &["visual-profiler"], ..part("cuda_nvvp", "", None, 30) },
    Component { before: V13_4, ..part("cuda_nsight", "", None, 30) },
    Component { aliases: &["nsys"], ..part("nsight_systems", "", None, 30) },
    Component { aliases: &["ncu"], ..part("nsight_compute", "", None, 30) },
];

/// The component of exactly this name in NVIDIA's archives; since 13.3 what was `cuda_cccl` is called `cccl` there.
pub fn exact(name: &str) -> Option<&'static Component> {
    let name = if name == "cccl" { "cuda_cccl" } else { name };
    COMPONENTS.iter().find(|c| c.name == name)
}

/// The component that a user means by a name: NVIDIA's own, PyPI's or a short one, with dashes or underscores.
pub fn named(typed: &str) -> Option<&'static Component> {
    let wanted = typed.trim().to_ascii_lowercase().replace('_', "-");
    if wanted.is_empty() {
        return None;
    }
    COMPONENTS.iter().find(|c| {
        let name = c.name.replace('_', "-");
        let short = name.strip_prefix("cuda-").or_else(|| name.strip_prefix("lib")).unwrap_or(&name);
        [&name, short, c.wheel].contains(&wanted.as_str())
            || c.aliases.iter().any(|a| a.replace('_', "-") == wanted)
    })
}

/// What can be typed for a component, NVIDIA's own names and the short ones.
pub fn spellings() -> impl Iterator<Item = &'static str> {
    COMPONENTS.iter().flat_map(|c| {
        let short = c.name.strip_prefix("cuda_").or_else(|| c.name.strip_prefix("lib"));
        [Some(c.name), short].into_iter().flatten().chain(c.aliases.iter().copied())
    })
}

/// The component that a project on PyPI is, whatever major it is for.
pub fn of_wheel(project: &str) -> Option<&'static Component> {
    let plain = project.rsplit_once("-cu").filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
    let plain = plain.map_or(project, |(name, _)| name);
    COMPONENTS.iter().find(|c| !c.wheel.is_empty() && c.wheel == plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_every_need_exists() {
        for (i, a) in COMPONENTS.iter().enumerate() {
            for b in &COMPONENTS[i + 1..] {
                assert_ne!(a.name, b.name);
                assert!(a.wheel.is_empty() || a.wheel != b.wheel, "{}", a.wheel);
            }
            for need in a.needs.iter().chain(a.inside.as_ref()) {
                assert!(COMPONENTS.iter().any(|c| c.name == *need), "{} needs {need}", a.name);
            }
            assert_eq!(named(a.name).map(|c| c.name), Some(a.name));
        }
    }

    #[test]
    fn what_people_type_is_understood() {
        for (typed, name) in [
            ("nvcc", "cuda_nvcc"),
            ("cudart", "cuda_cudart"),
            ("cublas", "libcublas"),
            ("CUDA-NVCC", "cuda_nvcc"),
            ("cccl", "cuda_cccl"),
            ("nvidia-cuda-runtime", "cuda_cudart"),
            ("nvvm", "libnvvm"),
            ("nvml", "cuda_nvml_dev"),
            ("compute-sanitizer", "cuda_sanitizer_api"),
        ] {
            assert_eq!(named(typed).map(|c| c.name), Some(name), "{typed}");
        }
        assert_eq!(named("cudnn"), None);
        assert_eq!(named(""), None);
    }

    #[test]
    fn wheels_of_every_major_are_one_component() {
        for project in ["nvidia-nvjitlink", "nvidia-nvjitlink-cu12"] {
            assert_eq!(of_wheel(project).map(|c| c.name), Some("libnvjitlink"));
        }
        assert_eq!(of_wheel("nvidia-cufft-cuda"), None);
        assert_eq!(of_wheel(""), None);
    }
}
