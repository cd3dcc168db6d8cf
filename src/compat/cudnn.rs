//! cuDNN: the CUDA majors that each release is built for, and the oldest GPUs that it serves.

use super::addons;
use super::arch::Capability;
use cudaup_core::addon::Number;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const TABLE: &str = include_str!("cudnn.toml");

/// A release of cuDNN.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Its version in full, such as `9.10.2.21`.
    pub version: String,
    /// The CUDA majors that it is built for.
    pub cuda: Vec<u32>,
    oldest: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for those who read the table"))]
    sources: BTreeMap<String, String>,
    cudnn: Vec<Release>,
}

impl Release {
    /// The compute capability of the oldest GPUs that it serves.
    pub fn oldest(&self) -> Option<Capability> {
        Capability::parse(&self.oldest)
    }
}

/// All releases that are known, oldest first.
pub fn releases() -> &'static [Release] {
    static PARSED: OnceLock<Table> = OnceLock::new();
    // The table is a part of the program, and a test reads it.
    &PARSED.get_or_init(|| toml::from_str(TABLE).unwrap_or_default()).cudnn
}

/// What is known of a release, by as many of its numbers as are known; the newest of those that it can be.
pub fn release(version: &Number) -> Option<&'static Release> {
    releases().iter().rfind(|r| Number::parse(&r.version).is_some_and(|v| version.accepts(&v)))
}

/// Whether a release can have been made for a CUDA major; `None` where that is not known. The first release for a major is known
/// from CUDA 12 on, the last one where new ones are no longer built for it.
pub fn is_made_for(version: &Number, cuda: u32) -> Option<bool> {
    let numbers = |r: &Release| Number::parse(&r.version);
    let newest = releases().last().and_then(numbers)?;
    let first = releases().iter().find(|r| r.cuda.contains(&cuda) && cuda >= 12).and_then(numbers);
    let too_old = first.is_some_and(|first| version.first(3) < first.first(3));
    let too_new = addons::last("cudnn", cuda).is_some_and(|last| version.first(3) > last.first(3));
    let known = cuda >= 11
        && releases().iter().any(|r| r.cuda.contains(&cuda))
        && version.first(3) <= newest.first(3);
    if too_old || too_new { Some(false) } else { known.then_some(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole_and_in_order() {
        let table: Table = toml::from_str(TABLE).unwrap();
        assert_eq!(table.sources.len(), 2);
        assert!(table.cudnn.len() >= 60);
        let number = |r: &Release| Number::parse(&r.version).unwrap();
        assert!(table.cudnn.windows(2).all(|w| number(&w[0]) < number(&w[1])));
        for row in &table.cudnn {
            assert!(
                row.oldest().is_some()
                    && row.cuda.iter().all(|c| (11..=13).contains(c))
                    && !row.cuda.is_empty()
            );
        }
    }

    #[test]
    fn the_cuda_that_a_release_is_made_for() {
        let at = |text: &str, cuda| is_made_for(&Number::parse(text).unwrap(), cuda);
        assert_eq!(
            (at("9.11.0", 11), at("9.10.2", 11), at("8.2.0", 11)),
            (Some(false), Some(true), Some(true))
        );
        assert_eq!((at("8.7.0", 12), at("9.28.1", 12)), (Some(false), Some(true)));
        assert_eq!((at("9.10.2", 13), at("9.12.0", 13), at("9.99.0", 13)), (Some(false), Some(true), None));
        assert_eq!((at("9.12.0", 14), at("7.6.5", 10)), (None, None));
    }

    #[test]
    fn releases_by_some_of_their_numbers() {
        let at = |text: &str| release(&Number::parse(text).unwrap());
        assert_eq!(at("9.10.2").map(|r| r.version.as_str()), Some("9.10.2.21"));
        assert_eq!(at("9.10.2").unwrap().oldest(), Capability::parse("5.0"));
        assert_eq!(at("9.12").unwrap().oldest(), Capability::parse("7.5"));
        assert_eq!(at("9.99"), None);
    }
}
