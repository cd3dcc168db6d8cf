//! GPU architectures: compute capabilities, and which of them each nvcc compiles for.

use cudaup_core::version::Version;
use serde::Deserialize;
use std::fmt;
use std::sync::OnceLock;

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

#[derive(Deserialize)]
struct Table {
    release: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    cuda: String,
    architectures: Vec<String>,
}

/// The machine code that the nvcc of each release compiles for, the oldest release first.
pub fn releases() -> &'static [(Version, Vec<Architecture>)] {
    static ROWS: OnceLock<Vec<(Version, Vec<Architecture>)>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let table: Option<Table> = toml::from_str(include_str!("arch.toml")).ok();
        let read = |row: Row| {
            let release = Version::parse(&row.cuda)?;
            Some((release, row.architectures.iter().filter_map(|name| Architecture::parse(name)).collect()))
        };
        table.map_or_else(Vec::new, |table| table.release.into_iter().filter_map(read).collect())
    })
}

/// The machine code that the nvcc of a release compiles for; `None` for a release that this table does not know.
pub fn compiled_by(toolkit: Version) -> Option<&'static [Architecture]> {
    let row = releases().iter().find(|(release, _)| release.accepts(toolkit))?;
    Some(&row.1)
}

/// Whether the nvcc of a release makes machine code that a GPU runs; `None` for a release that this table does not know.
pub fn compiles_for(toolkit: Version, gpu: Capability) -> Option<bool> {
    Some(compiled_by(toolkit)?.iter().any(|code| code.variant.is_none() && code.runs_on(gpu)))
}

/// The first and the last release whose nvcc names this very compute capability; `None` where none does.
pub fn first_and_last(gpu: Capability) -> Option<(Version, Version)> {
    let names = |codes: &[Architecture]| codes.iter().any(|code| code.capability == gpu);
    let mut known = releases().iter().filter(|(_, codes)| names(codes)).map(|(release, _)| *release);
    let first = known.next()?;
    Some((first, known.next_back().unwrap_or(first)))
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

    #[test]
    fn what_each_release_compiles_for() {
        let release = |text: &str| Version::parse(text).unwrap();
        let gpu = |text: &str| Capability::parse(text).unwrap();
        assert_eq!(compiles_for(release("11.0.3"), gpu("8.6")), Some(true), "machine code of 8.0 runs there");
        assert_eq!(compiles_for(release("12.4.1"), gpu("12.0")), Some(false));
        assert_eq!(compiles_for(release("13.0.2"), gpu("7.0")), Some(false));
        assert_eq!(compiles_for(release("14.0"), gpu("9.0")), None);
        assert_eq!(first_and_last(gpu("8.9")).map(|(first, _)| first), Some(release("11.8")));
        assert_eq!(first_and_last(gpu("7.0")).map(|(_, last)| last), Some(release("12.9")));
        assert_eq!(first_and_last(gpu("12.0")).map(|(first, _)| first), Some(release("12.8")));
        assert_eq!(first_and_last(gpu("4.2")), None);
    }

    #[test]
    fn the_table_is_whole_and_in_order() {
        assert!(releases().len() >= 27, "{}", releases().len());
        assert!(releases().windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(releases().iter().all(|(_, codes)| codes.len() > 9 && codes.iter().all(|code| !code.ptx)));
    }
}
