//! GPU architectures: compute capabilities, and the targets that code is compiled for.

use std::fmt;

/// A GPU's compute capability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability {
    /// Its first number: machine code runs on GPUs of the same one only.
    pub major: u32,
    /// Its second number: machine code runs on GPUs of the same or a higher one.
    pub minor: u32,
}

impl Capability {
    /// Reads `9.0`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once('.')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// As nvcc writes it: 90, 120.
    pub const fn number(self) -> u32 {
        self.major * 10 + self.minor
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A target that code was compiled for: `sm_90`, `sm_90a`, `compute_75`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    /// The compute capability.
    pub capability: Capability,
    /// `a` for code of this very architecture, `f` for code of its family.
    pub variant: Option<char>,
    /// Whether it is PTX, which the driver compiles, and not machine code.
    pub ptx: bool,
}

impl Architecture {
    /// Reads `sm_90a` or `compute_75`.
    pub fn parse(text: &str) -> Option<Self> {
        let (ptx, rest) = match text.split_once('_')? {
            ("sm", rest) => (false, rest),
            ("compute", rest) => (true, rest),
            _ => return None,
        };
        let variant = rest.chars().next_back().filter(|c| matches!(c, 'a' | 'f'));
        let number: u32 = rest.trim_end_matches(['a', 'f']).parse().ok()?;
        let capability = Capability { major: number / 10, minor: number % 10 };
        (number >= 10).then_some(Self { capability, variant, ptx })
    }

    /// Whether a GPU runs it: machine code within the GPU's major and not above its minor, PTX of the same or an older
    /// capability; code of one architecture on that one only, code of a family within its major.
    /// Source: NVIDIA's CUDA C++ Programming Guide, "Compute Capabilities" and "Family-Specific Features".
    pub fn runs_on(&self, gpu: Capability) -> bool {
        match (self.variant, self.ptx) {
            (Some('a'), _) => gpu == self.capability,
            (Some(_), _) | (None, false) => {
                gpu.major == self.capability.major && gpu.minor >= self.capability.minor
            }
            (None, true) => gpu >= self.capability,
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.ptx { "compute" } else { "sm" };
        write!(f, "{kind}_{}", self.capability.number())?;
        self.variant.map_or(Ok(()), |variant| write!(f, "{variant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(code: &str, gpu: &str) -> bool {
        Architecture::parse(code).unwrap().runs_on(Capability::parse(gpu).unwrap())
    }

    #[test]
    fn what_runs_where() {
        assert!(
            runs("sm_80", "8.6") && runs("sm_80", "8.9") && !runs("sm_86", "8.0") && !runs("sm_80", "9.0")
        );
        assert!(runs("compute_75", "9.0") && !runs("compute_90", "8.6"));
        assert!(runs("sm_90a", "9.0") && !runs("sm_100a", "10.3") && runs("sm_100f", "10.3"));
        assert!(!runs("sm_100f", "12.0") && !runs("compute_90a", "10.0"));
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["sm_50", "sm_90a", "sm_100f", "compute_120"] {
            assert_eq!(Architecture::parse(name).unwrap().to_string(), name);
        }
        for bad in ["", "sm_", "sm_x", "90", "gfx_90", "sm_5"] {
            assert_eq!(Architecture::parse(bad), None, "{bad}");
        }
        assert_eq!(Capability::parse(" 12.1\n").map(Capability::number), Some(121));
    }
}
