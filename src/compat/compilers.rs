//! The newest host compilers that each release's nvcc takes, for those who have no toolkit at hand to look into.

use cudaup_core::version::Version;
use serde::Deserialize;
use std::sync::OnceLock;

/// What the nvcc of a release takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// The release.
    pub cuda: Version,
    /// The newest major version of gcc.
    pub gcc: u32,
    /// The newest major version of clang.
    pub clang: u32,
}

#[derive(Deserialize)]
struct Table {
    release: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    cuda: String,
    gcc: u32,
    clang: u32,
}

/// The releases that are known, oldest first.
pub fn all() -> &'static [Newest] {
    static ROWS: OnceLock<Vec<Newest>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let table = toml::from_str::<Table>(include_str!("compilers.toml"))
            .map_or_else(|_| Vec::new(), |table| table.release);
        let read =
            |row: Row| Some(Newest { cuda: Version::parse(&row.cuda)?, gcc: row.gcc, clang: row.clang });
        table.into_iter().filter_map(read).collect()
    })
}

/// What is known of a release.
pub fn of(cuda: Version) -> Option<&'static Newest> {
    all().iter().find(|row| row.cuda.accepts(cuda))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole_and_only_grows() {
        assert!(all().len() >= 25, "{}", all().len());
        assert!(all().windows(2).all(|pair| pair[0].cuda < pair[1].cuda && pair[0].gcc <= pair[1].gcc));
        let gcc = |text: &str| of(Version::parse(text).unwrap()).map(|row| row.gcc);
        assert_eq!(
            (gcc("11.8.0"), gcc("12.4"), gcc("13.5"), gcc("14.0")),
            (Some(11), Some(13), Some(16), None)
        );
    }
}
