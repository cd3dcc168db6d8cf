//! GPUs by name and by PCI number, and which drivers and modules run which.

use super::arch::Capability;

const NAMES: &str = include_str!("gpu_names.csv");
const NUMBERS: &str = include_str!("gpu_numbers.csv");

/// The last driver branch that runs GPUs below a compute capability, the newest first.
/// Source: NVIDIA's "CUDA Toolkit, Driver, and Architecture Matrix"; the kernel message of 590 for Volta and older.
const LAST_BRANCH: [(Capability, u32); 2] =
    [(Capability { major: 5, minor: 0 }, 470), (Capability { major: 7, minor: 5 }, 580)];

/// GPUs from this capability on are only run by the open kernel module. Source: the kernel message "requires use of the
/// NVIDIA open kernel modules" of drivers from 570 on.
const OPEN_MODULE: Capability = Capability { major: 10, minor: 0 };

/// The compute capability of a GPU that nvidia-smi or the kernel calls so. A name cut short by `...` counts where all GPUs
/// that begin so have one capability.
pub fn by_name(name: &str) -> Option<Capability> {
    let name = bare(name);
    let name = name.strip_prefix("Tesla ").unwrap_or(&name);
    if let Some(start) = name.strip_suffix("...") {
        let start = start.trim_end();
        let mut found =
            names().filter(|(known, _)| known.len() > start.len() && begins(known, start)).map(|(_, c)| c);
        let first = found.next()?;
        return found.all(|other| other == first).then_some(first);
    }
    let exact = names().find(|(known, _)| known.eq_ignore_ascii_case(name));
    // `H200 NVL` is an H200, `A100-SXM4-80GB` an A100: the longest known name that it begins with, up to a blank or a dash.
    let longest =
        || names().filter(|(known, _)| is_variant(name, known)).max_by_key(|(known, _)| known.len());
    exact.or_else(longest).map(|(_, capability)| capability)
}

/// Name and compute capability of a PCI device number, such as `2335`.
pub fn by_number(number: u16) -> Option<(&'static str, Capability)> {
    let wanted = format!("{number:04X}");
    rows(NUMBERS).find_map(|row| {
        let (id, rest) = row.split_once(',')?;
        let (name, capability) = rest.rsplit_once(',')?;
        Some((name, Capability::parse(capability)?)).filter(|_| id.eq_ignore_ascii_case(&wanted))
    })
}

/// The last driver branch that runs a GPU; `None` where newer drivers still do.
pub fn last_branch(gpu: Capability) -> Option<u32> {
    LAST_BRANCH.iter().find(|(first, _)| gpu < *first).map(|(_, branch)| *branch)
}

/// Whether only the open kernel module runs a GPU.
pub fn needs_open_module(gpu: Capability) -> bool {
    gpu >= OPEN_MODULE
}

/// Some GPUs of a compute capability by name.
pub fn examples(capability: Capability) -> Vec<&'static str> {
    const SOME: usize = 3;
    names().filter(|(_, c)| *c == capability).map(|(name, _)| name).take(SOME).collect()
}

/// A name without the maker's.
pub fn bare(name: &str) -> String {
    let name = name.trim();
    let name = name.strip_prefix("NVIDIA ").unwrap_or(name);
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#'))
}

fn names() -> impl Iterator<Item = (&'static str, Capability)> {
    rows(NAMES).filter_map(|row| {
        let (name, capability) = row.rsplit_once(',')?;
        // `GB10 (DGX Spark)`: what stands in brackets is the machine.
        Some((name.split(" (").next()?, Capability::parse(capability)?))
    })
}

fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn is_variant(name: &str, known: &str) -> bool {
    let rest = name.get(known.len()..).filter(|_| begins(name, known));
    rest.is_some_and(|rest| rest.starts_with([' ', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Option<String> {
        by_name(name).map(|c| c.to_string())
    }

    #[test]
    fn names_as_programs_give_them() {
        for (name, capability) in [
            ("NVIDIA H200", "9.0"),
            ("NVIDIA GeForce RTX 5090", "12.0"),
            ("NVIDIA A100-SXM4-80GB", "8.0"),
            ("Tesla V100-PCIE-32GB", "7.0"),
            ("GeForce RTX 3090", "8.6"),
            ("NVIDIA GB10", "12.1"),
            ("TITAN Xp", "6.1"),
        ] {
            assert_eq!(named(name).as_deref(), Some(capability), "{name}");
        }
        assert_eq!(named("NVIDIA GeForce RTX 208..."), Some("7.5".into()));
        assert_eq!(named("NVIDIA GeForce RTX ..."), None);
        assert_eq!(named("Radeon RX 7900"), None);
        assert_eq!(named(""), None);
    }

    #[test]
    fn numbers_of_the_bus() {
        assert_eq!(by_number(0x2335).map(|(_, c)| c), Some(Capability { major: 9, minor: 0 }));
        assert!(by_number(0x1e04).is_some_and(|(name, _)| name.contains("2080 Ti")));
        assert_eq!(by_number(0), None);
    }

    #[test]
    fn every_row_is_whole() {
        assert_eq!(rows(NAMES).count(), names().count());
        assert!(rows(NUMBERS).all(|row| {
            row.split(',').next().and_then(|n| u16::from_str_radix(n, 16).ok()).and_then(by_number).is_some()
        }));
        assert!(names().count() > 150 && names().all(|(_, c)| (3..=13).contains(&c.major) && c.minor <= 9));
    }

    #[test]
    fn drivers_that_ended() {
        let at = |text: &str| last_branch(Capability::parse(text).unwrap());
        assert_eq!(
            (at("3.5"), at("5.2"), at("7.0"), at("7.5"), at("12.0")),
            (Some(470), Some(580), Some(580), None, None)
        );
        assert!(
            needs_open_module(Capability::parse("12.0").unwrap())
                && !needs_open_module(Capability::parse("9.0").unwrap())
        );
    }
}
