//! Which release a build number belongs to: nvcc, cudart and cuBLAS of every release. Source: NVIDIA's release notes and
//! redistributable manifests, and for 13.0.3 and newer the pins of the `cuda-toolkit` package.

use crate::version::Version;

/// One release and the builds of it that tell it apart. An empty text is not known.
pub struct Release {
    /// The release.
    pub version: Version,
    /// What `nvcc --version` prints after the V.
    pub nvcc: &'static str,
    /// The number in the name of the file that libcudart.so.N points to.
    pub cudart: &'static str,
    /// The number of the cuBLAS library.
    pub cublas: &'static str,
}

/// The first release that some source may have with its compiler: NVIDIA's archives begin with 11.4.2, Debian has 11.2, and
/// older ones come as NVIDIA's installer.
const FIRST_INSTALLABLE: Version = Version::exact(10, 0, 0);

/// Whether some release that a request means can be installed.
pub fn is_installable(wanted: Version) -> bool {
    RELEASES.iter().any(|r| r.version >= FIRST_INSTALLABLE && wanted.accepts(r.version))
        || wanted > RELEASES_END && wanted.major <= RELEASES_END.major + 1
}

/// What is newer than the table is left to the source to know.
const RELEASES_END: Version = Version::exact(13, 5, 0);

const fn row(version: Version, nvcc: &'static str, cudart: &'static str, cublas: &'static str) -> Release {
    Release { version, nvcc, cudart, cublas }
}

/// Every release from 11.0 on, oldest first, after the builds of 9.0 to 10.2.
#[rustfmt::skip]
pub const RELEASES: &[Release] = &[
    row(Version::exact(9, 0, 0), "9.0.176", "9.0.176", ""),
    row(Version::exact(9, 1, 0), "9.1.85", "9.1.85", ""),
    row(Version::exact(9, 2, 0), "9.2.148", "9.2.148", ""),
    row(Version::exact(10, 0, 0), "10.0.130", "10.0.130", ""),
    row(Version::exact(10, 1, 0), "10.1.105", "10.1.105", ""),
    row(Version::exact(10, 1, 1), "10.1.168", "10.1.168", ""),
    row(Version::exact(10, 1, 2), "10.1.243", "10.1.243", ""),
    row(Version::exact(10, 2, 0), "10.2.89", "10.2.89", ""),
    row(Version::exact(11, 0, 1), "", "", ""),
    row(Version::exact(11, 0, 2), "", "", ""),
    row(Version::exact(11, 0, 3), "11.0.221", "11.0.221", ""),
    row(Version::exact(11, 1, 0), "", "", ""),
    row(Version::exact(11, 1, 1), "", "", ""),
    row(Version::exact(11, 2, 0), "", "", ""),
    row(Version::exact(11, 2, 1), "", "", ""),
    row(Version::exact(11, 2, 2), "", "", ""),
    row(Version::exact(11, 3, 0), "", "", ""),
    row(Version::exact(11, 3, 1), "", "", ""),
    row(Version::exact(11, 4, 0), "", "", ""),
    row(Version::exact(11, 4, 1), "", "", ""),
    row(Version::exact(11, 4, 2), "11.4.120", "11.4.108", "11.6.1.51"),
    row(Version::exact(11, 4, 3), "11.4.152", "11.4.148", "11.6.5.2"),
    row(Version::exact(11, 4, 4), "11.4.152", "11.4.148", "11.6.5.2"),
    row(Version::exact(11, 5, 0), "11.5.50", "11.5.50", "11.7.3.1"),
    row(Version::exact(11, 5, 1), "11.5.119", "11.5.117", "11.7.4.6"),
    row(Version::exact(11, 5, 2), "11.5.119", "11.5.117", "11.7.4.6"),
    row(Version::exact(11, 6, 0), "11.6.55", "11.6.55", "11.8.1.74"),
    row(Version::exact(11, 6, 1), "11.6.112", "11.6.55", "11.8.1.74"),
    row(Version::exact(11, 6, 2), "11.6.124", "11.6.55", "11.9.2.110"),
    row(Version::exact(11, 7, 0), "11.7.64", "11.7.60", "11.10.1.25"),
    row(Version::exact(11, 7, 1), "11.7.99", "11.7.99", "11.10.3.66"),
    row(Version::exact(11, 8, 0), "11.8.89", "11.8.89", "11.11.3.6"),
    row(Version::exact(12, 0, 0), "12.0.76", "12.0.107", "12.0.1.189"),
    row(Version::exact(12, 0, 1), "12.0.140", "12.0.146", "12.0.2.224"),
    row(Version::exact(12, 1, 0), "12.1.66", "12.1.55", "12.1.0.26"),
    row(Version::exact(12, 1, 1), "12.1.105", "12.1.105", "12.1.3.1"),
    row(Version::exact(12, 2, 0), "12.2.91", "12.2.53", "12.2.1.16"),
    row(Version::exact(12, 2, 1), "12.2.128", "12.2.128", "12.2.4.5"),
    row(Version::exact(12, 2, 2), "12.2.140", "12.2.140", "12.2.5.6"),
    row(Version::exact(12, 3, 0), "12.3.52", "12.3.52", "12.3.2.9"),
    row(Version::exact(12, 3, 1), "12.3.103", "12.3.101", "12.3.4.1"),
    row(Version::exact(12, 3, 2), "12.3.107", "12.3.101", "12.3.4.1"),
    row(Version::exact(12, 4, 0), "12.4.99", "12.4.99", "12.4.2.65"),
    row(Version::exact(12, 4, 1), "12.4.131", "12.4.127", "12.4.5.8"),
    row(Version::exact(12, 5, 0), "12.5.40", "12.5.39", "12.5.2.13"),
    row(Version::exact(12, 5, 1), "12.5.82", "12.5.82", "12.5.3.2"),
    row(Version::exact(12, 6, 0), "12.6.20", "12.6.37", "12.6.0.22"),
    row(Version::exact(12, 6, 1), "12.6.68", "12.6.68", "12.6.1.4"),
    row(Version::exact(12, 6, 2), "12.6.77", "12.6.77", "12.6.3.3"),
    row(Version::exact(12, 6, 3), "12.6.85", "12.6.77", "12.6.4.1"),
    row(Version::exact(12, 8, 0), "12.8.61", "12.8.57", "12.8.3.14"),
    row(Version::exact(12, 8, 1), "12.8.93", "12.8.90", "12.8.4.1"),
    row(Version::exact(12, 8, 2), "12.8.93", "12.8.90", "12.8.5.5"),
    row(Version::exact(12, 9, 0), "12.9.41", "12.9.37", "12.9.0.13"),
    row(Version::exact(12, 9, 1), "12.9.86", "12.9.79", "12.9.1.4"),
    row(Version::exact(12, 9, 2), "12.9.86", "12.9.79", "12.9.2.10"),
    row(Version::exact(13, 0, 0), "13.0.48", "13.0.48", "13.0.0.19"),
    row(Version::exact(13, 0, 1), "13.0.88", "13.0.88", "13.0.2.14"),
    row(Version::exact(13, 0, 2), "13.0.88", "13.0.96", "13.1.0.3"),
    row(Version::exact(13, 0, 3), "13.0.88", "13.0.96", "13.1.1.3"),
    row(Version::exact(13, 1, 0), "13.1.80", "13.1.80", "13.2.0.9"),
    row(Version::exact(13, 1, 1), "13.1.115", "13.1.80", "13.2.1.1"),
    row(Version::exact(13, 1, 2), "13.1.115", "13.1.80", "13.2.2.2"),
    row(Version::exact(13, 2, 0), "13.2.51", "13.2.51", "13.3.0.5"),
    row(Version::exact(13, 2, 1), "13.2.78", "13.2.75", "13.4.0.1"),
    row(Version::exact(13, 2, 2), "13.2.86", "13.2.86", "13.4.1.3"),
    row(Version::exact(13, 3, 0), "13.3.33", "13.3.29", "13.5.1.27"),
    row(Version::exact(13, 3, 1), "13.3.73", "13.3.29", "13.6.0.2"),
    row(Version::exact(13, 4, 0), "", "", ""),
    row(Version::exact(13, 4, 1), "13.4.59", "13.4.49", "13.7.0.27"),
    row(Version::exact(13, 4, 2), "13.4.92", "13.4.92", "13.8.0.4"),
    row(Version::exact(13, 4, 3), "13.4.92", "13.4.92", "13.8.0.4"),
    row(Version::exact(13, 5, 0), "13.5.37", "13.5.37", "13.10.0.20"),
];

/// The releases that these builds fit; a build that was not found (`None`) or is not known leaves all open. Empty where
/// nothing is known of any given build.
pub fn releases_of(nvcc: Option<&str>, cudart: Option<&str>, cublas: Option<&str>) -> Vec<Version> {
    if nvcc.is_none() && cudart.is_none() {
        return Vec::new();
    }
    let fits = |known: &str, seen: Option<&str>| known.is_empty() || seen.is_none_or(|s| s == known);
    let of = |cublas: Option<&str>| -> Vec<Version> {
        RELEASES
            .iter()
            .filter(|r| fits(r.nvcc, nvcc) && fits(r.cudart, cudart) && fits(r.cublas, cublas))
            .filter(|r| Some(r.nvcc) == nvcc || Some(r.cudart) == cudart)
            .map(|r| r.version)
            .collect()
    };
    let named = of(cublas);
    if named.is_empty() { of(None) } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(nvcc: Option<&str>, cudart: Option<&str>, cublas: Option<&str>) -> Vec<String> {
        releases_of(nvcc, cudart, cublas).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn builds_name_releases() {
        assert_eq!(named(Some("12.4.131"), Some("12.4.127"), None), ["12.4.1"]);
        assert_eq!(named(Some("11.8.89"), None, None), ["11.8.0"]);
        assert_eq!(named(None, Some("12.6.77"), None), ["12.6.2", "12.6.3"]);
        assert_eq!(named(Some("13.0.88"), None, None), ["13.0.1", "13.0.2", "13.0.3"]);
        assert_eq!(named(Some("13.0.88"), Some("13.0.96"), None), ["13.0.2", "13.0.3"]);
        assert_eq!(named(Some("13.0.88"), Some("13.0.96"), Some("13.1.1.3")), ["13.0.3"]);
        assert_eq!(named(Some("11.5.119"), Some("11.5.117"), None), ["11.5.1", "11.5.2"]);
    }

    #[test]
    fn what_is_not_known_names_nothing() {
        assert_eq!(named(None, None, Some("13.1.1.3")), Vec::<String>::new());
        assert_eq!(named(Some("99.9.9"), None, None), Vec::<String>::new());
    }

    #[test]
    fn what_can_be_installed() {
        let installable = |text| is_installable(Version::parse(text).unwrap());
        for text in ["10.2", "11", "11.8", "12", "12.4", "12.4.1", "13", "13.0.0", "13.5", "13.6", "14.0"] {
            assert!(installable(text), "{text}");
        }
        for text in ["9", "9.2", "12.7", "12.4.9", "13.0.9", "99"] {
            assert!(!installable(text), "{text}");
        }
        assert_eq!(RELEASES.last().map(|r| r.version), Some(RELEASES_END));
    }

    #[test]
    fn releases_are_in_order() {
        assert!(RELEASES.windows(2).all(|w| w[0].version < w[1].version));
    }
}
