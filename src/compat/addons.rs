//! Which releases of a library are built for which CUDA. Source: the packages that exist on PyPI for each CUDA major.

use cudaup_core::addon::Number;

/// A library, a CUDA major, and the last release for it. CUDA majors that new releases are still built for have no row.
const LAST: [(&str, u32, &str); 4] =
    [("cudnn", 11, "9.10.2"), ("nccl", 11, "2.21.5"), ("cutensor", 11, "2.2.0"), ("nvshmem", 11, "3.2.5")];

/// The last release of a library that is known to be built for a CUDA major.
pub fn last(library: &str, cuda: u32) -> Option<Number> {
    LAST.iter().find(|(l, c, _)| *l == library && *c == cuda).and_then(|(_, _, last)| Number::parse(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_read() {
        for (library, cuda, text) in LAST {
            assert_eq!(last(library, cuda).map(|n| n.to_string()).as_deref(), Some(text));
            assert!(cudaup_core::addon::library(library).is_some(), "{library}");
        }
        assert_eq!(last("cudnn", 13), None);
    }
}
