//! What the version of a Debian package says of NVIDIA's.

use cudaup_core::version::Version;

/// `11.8.89~11.8.0-5~deb12u1` is build 11.8.89 of release 11.8.0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The toolkit's release, where the last number is one.
    pub release: Option<Version>,
    /// The component's own build; the release's number where the package has no other.
    pub build: String,
}

/// Reads a version. Where NVIDIA's numbering of a library went down once, Debian's number comes first:
/// `11.1.1+~10.9.0.58~11.8.0-5`.
pub fn upstream(version: &str) -> Upstream {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    let version = version.rsplit_once('-').map_or(version, |(upstream, _)| upstream);
    // `-5~deb12u1` has one dash, `-3+deb11u3` too; a dash in NVIDIA's own number has not been seen.
    let pieces: Vec<&str> = version.split('~').collect();
    let (release, before) = match pieces.as_slice() {
        [.., build, release] => (*release, *build),
        [release] => (*release, *release),
        [] => (version, version),
    };
    let release = Version::parse(release).filter(Version::is_exact);
    Upstream { release, build: before.trim_end_matches('+').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debians_versions_hold_nvidias() {
        for (debian, release, build) in [
            ("11.8.89~11.8.0-5~deb12u1", Some((11, 8, 0)), "11.8.89"),
            ("12.4.131~12.4.1-2", Some((12, 4, 1)), "12.4.131"),
            ("12.4.131~12.4.1-8.2+b1", Some((12, 4, 1)), "12.4.131"),
            ("11.2.2-3+deb11u3", Some((11, 2, 2)), "11.2.2"),
            ("11.1.1+~10.4.1.152~11.2.2-3+deb11u3", Some((11, 2, 2)), "10.4.1.152"),
            ("1:12.2.5.30~12.4.1-2", Some((12, 4, 1)), "12.2.5.30"),
            ("2.3.2-2", Some((2, 3, 2)), "2.3.2"),
            ("535.261.03-1", None, "535.261.03"),
            ("", None, ""),
        ] {
            let got = upstream(debian);
            let release = release.map(|(major, minor, update)| Version::exact(major, minor, update));
            assert_eq!((got.release, got.build.as_str()), (release, build), "{debian}");
        }
    }
}
