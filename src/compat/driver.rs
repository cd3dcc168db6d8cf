//! Which toolkits a driver runs. Source: NVIDIA's release notes and its pages on minor-version compatibility.

use cudaup_core::version::Version;

/// The CUDA release that each branch of drivers was made for, oldest first.
static BRANCHES: [(u32, Version); 28] = [
    (410, Version::release(10, 0)),
    (418, Version::release(10, 1)),
    (440, Version::release(10, 2)),
    (450, Version::release(11, 0)),
    (455, Version::release(11, 1)),
    (460, Version::release(11, 2)),
    (465, Version::release(11, 3)),
    (470, Version::release(11, 4)),
    (495, Version::release(11, 5)),
    (510, Version::release(11, 6)),
    (515, Version::release(11, 7)),
    (520, Version::release(11, 8)),
    (525, Version::release(12, 0)),
    (530, Version::release(12, 1)),
    (535, Version::release(12, 2)),
    (545, Version::release(12, 3)),
    (550, Version::release(12, 4)),
    (555, Version::release(12, 5)),
    (560, Version::release(12, 6)),
    (565, Version::release(12, 7)),
    (570, Version::release(12, 8)),
    (575, Version::release(12, 9)),
    (580, Version::release(13, 0)),
    (590, Version::release(13, 1)),
    (595, Version::release(13, 2)),
    (610, Version::release(13, 3)),
    (615, Version::release(13, 4)),
    (620, Version::release(13, 5)),
];

/// The branches of drivers that are known, oldest first, each with the release that it was made for.
pub fn all() -> &'static [(u32, Version)] {
    &BRANCHES
}

/// How a driver stands to a toolkit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It runs everything that the toolkit builds.
    Full,
    /// It runs machine code, but does not compile the toolkit's PTX.
    WithoutPtx,
    /// It runs nothing that the toolkit builds; the first branch that does.
    Never(u32),
}

/// How a driver stands to a toolkit; `None` where the driver's version cannot be read or is older than the table.
pub fn fit(driver: &str, toolkit: Version) -> Option<Fit> {
    let branch: u32 = driver.split('.').next()?.parse().ok()?;
    let reach = BRANCHES.iter().rfind(|(b, _)| *b <= branch)?.1;
    // What is newer than the table is at least as able as its last row.
    if branch > BRANCHES.last()?.0 {
        return Some(Fit::Full);
    }
    fit_by_reach(reach, toolkit)
}

/// The same by the newest release that a driver says it runs in full: on WSL2 the driver's number is that of Windows, which the
/// table does not hold.
pub fn fit_by_reach(reach: Version, toolkit: Version) -> Option<Fit> {
    let release = Version { update: None, ..toolkit };
    if reach >= release {
        return Some(Fit::Full);
    }
    if reach.major == toolkit.major && toolkit.major >= 11 {
        return Some(Fit::WithoutPtx);
    }
    first_branch(toolkit).map(Fit::Never)
}

/// The first branch that runs what a toolkit builds. Compatibility within a major began with 11; before that each release wants
/// its own branch.
pub fn first_branch(toolkit: Version) -> Option<u32> {
    let release = Version { update: None, ..toolkit };
    let same = |v: Version| if toolkit.major >= 11 { v.major == toolkit.major } else { v >= release };
    BRANCHES.iter().find(|(_, v)| same(*v)).map(|(b, _)| *b)
}

/// Whether a driver is of a branch before the first of the table, 410: none of those runs a toolkit of the table.
pub fn is_before_the_table(driver: &str) -> bool {
    let branch = driver.split('.').next().and_then(|b| b.parse::<u32>().ok());
    branch.zip(BRANCHES.first()).is_some_and(|(branch, (first, _))| branch < *first)
}

/// The newest release all of whose programs a driver runs; `None` as for [`fit`], and for a driver newer than the table.
pub fn reach(driver: &str) -> Option<Version> {
    let branch: u32 = driver.split('.').next()?.parse().ok()?;
    let row = BRANCHES.iter().rfind(|(b, _)| *b <= branch)?;
    (branch <= BRANCHES.last()?.0).then_some(row.1)
}

/// A few words for a list: what this driver makes of a toolkit.
pub fn words(driver: &str, toolkit: Version) -> Option<&'static str> {
    Some(match fit(driver, toolkit)? {
        Fit::Full => "runs here",
        Fit::WithoutPtx => "no PTX here",
        Fit::Never(_) => "does not run here",
    })
}

/// One line for a person: what this driver makes of a toolkit.
pub fn line(driver: &str, toolkit: Version) -> Option<String> {
    let major = toolkit.major;
    Some(match fit(driver, toolkit)? {
        Fit::Full => format!("driver {driver} runs its programs"),
        Fit::WithoutPtx => {
            format!(
                "driver {driver} runs its programs ({major}.x minor-version compatibility), but not its PTX"
            )
        }
        Fit::Never(first) => {
            format!(
                "driver {driver} does not run its programs: they need driver {first} or newer; compiling works"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_and_toolkits() {
        let at = |driver: &str, toolkit: &str| fit(driver, Version::parse(toolkit).unwrap());
        assert_eq!(at("535.183.01", "12.4.1"), Some(Fit::WithoutPtx));
        assert_eq!(at("535.183.01", "12.2.2"), Some(Fit::Full));
        assert_eq!(at("535.183.01", "11.8.0"), Some(Fit::Full));
        assert_eq!(at("535.183.01", "13.0.3"), Some(Fit::Never(580)));
        assert_eq!(at("525.60.13", "12.9.1"), Some(Fit::WithoutPtx));
        assert_eq!(at("520.61.05", "12.0.0"), Some(Fit::Never(525)));
        assert_eq!(at("580.159.03", "13.5.0"), Some(Fit::WithoutPtx));
        assert_eq!(at("580.95", "13.0.3"), Some(Fit::Full));
        assert_eq!(at("418.87.00", "10.2.89"), Some(Fit::Never(440)));
        assert_eq!(at("700.1", "15.0.0"), Some(Fit::Full));
        assert_eq!(at("169.12", "11.8.0"), None);
        assert_eq!(at("x", "11.8.0"), None);
        assert!(is_before_the_table("384.66") && !is_before_the_table("410.48") && !is_before_the_table("x"));
        let by = |reach: (u32, u32), toolkit: &str| {
            fit_by_reach(Version::release(reach.0, reach.1), Version::parse(toolkit).unwrap())
        };
        assert_eq!(by((12, 2), "12.2.2"), Some(Fit::Full));
        assert_eq!(by((12, 2), "12.4.1"), Some(Fit::WithoutPtx));
        assert_eq!(by((12, 2), "13.0.2"), Some(Fit::Never(580)));
        assert_eq!(reach("535.183.01"), Some(Version::release(12, 2)));
        assert_eq!((reach("700.1"), reach("169.12"), reach("x")), (None, None, None));
        assert_eq!(words("535.183.01", Version::exact(12, 4, 1)), Some("no PTX here"));
    }

    #[test]
    fn branches_are_in_order() {
        assert!(BRANCHES.windows(2).all(|w| w[0] < w[1]));
    }
}
