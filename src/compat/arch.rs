//! Which GPU architectures each nvcc compiles for.

pub use cudaup_core::architecture::{Architecture, Capability};

use cudaup_core::version::Version;
use serde::Deserialize;
use std::sync::OnceLock;

#[derive(Deserialize)]
struct Table {
    release: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    cuda: String,
    ptx: String,
    architectures: Vec<String>,
}

/// What the nvcc of a release makes.
#[derive(Debug)]
pub struct Release {
    /// The release.
    pub cuda: Version,
    /// The version of PTX that it writes.
    pub ptx: (u32, u32),
    /// The machine code that it compiles for.
    pub architectures: Vec<Architecture>,
}

/// The releases that are known, the oldest first.
pub fn releases() -> &'static [Release] {
    static ROWS: OnceLock<Vec<Release>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let table: Option<Table> = toml::from_str(include_str!("arch.toml")).ok();
        let read = |row: Row| {
            let (major, minor) = row.ptx.split_once('.')?;
            Some(Release {
                cuda: Version::parse(&row.cuda)?,
                ptx: (major.parse().ok()?, minor.parse().ok()?),
                architectures: row
                    .architectures
                    .iter()
                    .filter_map(|name| Architecture::parse(name))
                    .collect(),
            })
        };
        table.map_or_else(Vec::new, |table| table.release.into_iter().filter_map(read).collect())
    })
}

/// The machine code that the nvcc of a release compiles for; `None` for a release that this table does not know.
pub fn compiled_by(toolkit: Version) -> Option<&'static [Architecture]> {
    let row = releases().iter().find(|release| release.cuda.accepts(toolkit))?;
    Some(&row.architectures)
}

/// The first and the last release whose nvcc names this very compute capability; `None` where none does.
pub fn first_and_last(gpu: Capability) -> Option<(Version, Version)> {
    let names = |release: &&Release| release.architectures.iter().any(|code| code.capability == gpu);
    let mut known = releases().iter().filter(names).map(|release| release.cuda);
    let first = known.next()?;
    Some((first, known.next_back().unwrap_or(first)))
}

/// The first release that writes PTX of a version, whose driver compiles it; `None` for one that this table does not know.
pub fn first_with_ptx(version: (u32, u32)) -> Option<Version> {
    releases().iter().find(|release| release.ptx >= version).map(|release| release.cuda)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_release_compiles_for() {
        let release = |text: &str| Version::parse(text).unwrap();
        let gpu = |text: &str| Capability::parse(text).unwrap();
        let able = |text: &str| {
            compiled_by(release(text)).map(|codes| codes.iter().map(|c| c.capability).collect::<Vec<_>>())
        };
        assert!(able("12.4.1").is_some_and(|all| all.contains(&gpu("9.0")) && !all.contains(&gpu("12.0"))));
        assert!(able("13.0.2").is_some_and(|all| !all.contains(&gpu("7.0")) && all.contains(&gpu("7.5"))));
        assert_eq!(able("14.0"), None);
        assert_eq!(first_with_ptx((8, 4)), Some(release("12.4")));
        assert_eq!(first_with_ptx((99, 0)), None);
        assert_eq!(first_and_last(gpu("8.9")).map(|(first, _)| first), Some(release("11.8")));
        assert_eq!(first_and_last(gpu("7.0")).map(|(_, last)| last), Some(release("12.9")));
        assert_eq!(first_and_last(gpu("12.0")).map(|(first, _)| first), Some(release("12.8")));
        assert_eq!(first_and_last(gpu("4.2")), None);
    }

    #[test]
    fn the_table_is_whole_and_in_order() {
        assert!(releases().len() >= 27, "{}", releases().len());
        assert!(releases().windows(2).all(|pair| pair[0].cuda < pair[1].cuda && pair[0].ptx <= pair[1].ptx));
        assert!(
            releases()
                .iter()
                .all(|r| r.architectures.len() > 9 && r.architectures.iter().all(|code| !code.ptx))
        );
    }
}
