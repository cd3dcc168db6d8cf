//! NVIDIA's toolkits as the non-free section of Debian carries them: 11.8, 12.4, and 11.2 for 64-bit Intel and AMD. The
//! packages are loaded from a mirror and unpacked into a tree of NVIDIA's layout; nothing is installed on the machine, and
//! apt is only asked where its mirror is.

mod layout;
mod packages;
mod release;
mod signature;
mod suite;
mod version;

#[cfg(test)]
pub mod fake;
#[cfg(test)]
mod tests;

use crate::failure::{Exit, Failure};
use crate::settings::{self, Mirror};
use crate::source::plan::{Part, Plan, Platform};
use crate::source::profile::{Profile, Selection, Wish, select};
use crate::source::query::{Miss, Offer, Query};
use crate::ui::view::size;
use cudaup_core::version::Version;
use layout::{CCCL, COMPILER, DEVELOPMENT};
use packages::Package;
use suite::{Archive, SUITES, Suite, no_mirror, open};
use version::upstream;

/// The source's name.
pub const NAME: &str = "debian";

/// What stays of the development package where the static archives of the libraries are not wanted, at most.
const DEVELOPMENT_KEPT: u64 = 160 << 20;

/// What installing a request would load.
pub fn plan(query: &Query<'_>) -> Result<Plan, Miss> {
    let suite = suite_for(query.request, query.platform)?;
    let mirrors = mirrors(query)?;
    let archive = open(query, &mirrors, suite)?;
    let toolkit = toolkit(&archive)?;
    if let Some(asked) = query.request.filter(|asked| !asked.accepts(toolkit.version)) {
        return Err(not_had(asked, &[toolkit.version]));
    }
    let selection = select(query.wish, toolkit.version);
    let mut chosen: Vec<Package> =
        toolkit.packages.into_iter().filter(|p| layout::wanted(&p.name, &selection)).collect();
    if selection.has("cuda_cccl") {
        chosen.extend(archive.packages("main", |p| CCCL.contains(&p.name.as_str()))?);
    }
    chosen.sort_by_key(|p| std::cmp::Reverse(p.size));
    let build = Build { toolkit: toolkit.version, compiler: toolkit.compiler, runtime: toolkit.runtime };
    let parts = chosen.iter().map(|p| part(&archive, p, &build, &selection, query.platform)).collect();
    let missing = missing(&selection, &chosen, toolkit.version)?;
    let mut notes = archive.notes;
    notes.extend(chosen.iter().find(|p| p.name == DEVELOPMENT && !selection.rest).map(|p| {
        format!(
            "of {DEVELOPMENT} ({}) only what is wanted is kept: Debian has all headers in it",
            size(p.size)
        )
    }));
    Ok(Plan {
        version: toolkit.version,
        platform: query.platform,
        source: NAME,
        profile: query.wish.profile,
        parts,
        missing,
        notes,
        passed: Vec::new(),
    })
}

/// The toolkits that the mirrors have, with the bytes to load but for the few of Thrust, CUB and libcu++.
pub fn offers(query: &Query<'_>) -> Result<Vec<Offer>, Miss> {
    let mirrors = mirrors(query)?;
    let mut offers = Vec::new();
    let mut miss = None;
    for suite in SUITES.iter().filter(|s| has(s, query.platform)) {
        match open(query, &mirrors, suite).and_then(|archive| toolkit(&archive)) {
            Ok(toolkit) => {
                let bytes = |profile| {
                    let selection = select(&Wish::of(profile), toolkit.version);
                    let wanted = toolkit.packages.iter().filter(|p| layout::wanted(&p.name, &selection));
                    Some(wanted.map(|p| p.size).fold(0, u64::saturating_add))
                };
                offers.push(Offer {
                    version: toolkit.version,
                    date: None,
                    minimal: bytes(Profile::Minimal),
                    default: bytes(Profile::Default),
                });
            }
            Err(no) => miss = miss.or(Some(no)),
        }
    }
    match miss {
        Some(miss) if offers.is_empty() => Err(miss),
        _ => Ok(offers),
    }
}

fn mirrors(query: &Query<'_>) -> Result<Vec<Mirror>, Miss> {
    let config = query.host.home.as_deref().map_or_else(|| Ok(settings::Config::default()), settings::config);
    let mirrors = config.and_then(|config| settings::debian_mirrors(query.host, &config));
    let mirrors = mirrors.map_err(|failure| Miss::new("its settings cannot be read", failure))?;
    if mirrors.is_empty() { Err(no_mirror()) } else { Ok(mirrors) }
}

/// Debian's packages for Arm are NVIDIA's for servers; Tegra boards have another driver.
fn has(suite: &Suite, platform: Platform) -> bool {
    match platform {
        Platform::LinuxX86_64 => true,
        Platform::LinuxSbsa => suite.arm,
        Platform::LinuxAarch64 => false,
    }
}

/// The suite that has what is asked for, the newest first.
fn suite_for(request: Option<Version>, platform: Platform) -> Result<&'static Suite, Miss> {
    let there: Vec<&'static Suite> = SUITES.iter().filter(|s| has(s, platform)).collect();
    let Some(newest) = there.first() else {
        let failure = Failure::new(Exit::NoVersion, "Debian has no CUDA for Tegra boards");
        return Err(Miss::new("has none for Tegra boards", failure));
    };
    let asked = request.unwrap_or(newest.release);
    let release = Version { update: None, ..asked };
    there.iter().copied().find(|s| release.accepts(s.release)).ok_or_else(|| {
        let mut releases: Vec<Version> = there.iter().map(|s| s.release).collect();
        releases.sort_unstable();
        not_had(asked, &releases)
    })
}

/// The no to a version that Debian does not carry.
fn not_had(asked: Version, there: &[Version]) -> Miss {
    let names: Vec<String> = there.iter().map(ToString::to_string).collect();
    let list = match names.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.concat(),
    };
    let failure = Failure::new(Exit::NoVersion, format!("Debian has no CUDA {asked}: it has {list} only"));
    let failure = match there.last() {
        Some(newest) => failure.hint(format!("cudaup install {newest} --source {NAME}")),
        None => failure,
    };
    Miss::new(format!("has {list} only"), failure)
}

/// A toolkit as a suite has it.
struct Toolkit {
    version: Version,
    /// The builds of the compiler and of the runtime.
    compiler: String,
    runtime: String,
    /// Everything that is built from the same source and for the same release.
    packages: Vec<Package>,
}

fn toolkit(archive: &Archive<'_>) -> Result<Toolkit, Miss> {
    let mut packages = archive.packages("non-free", |p| p.source == COMPILER)?;
    let build = |p: &Package| upstream(&p.version);
    let compiler = packages.iter().find(|p| p.name == COMPILER).map(build);
    let Some((compiler, version)) = compiler.and_then(|u| Some((u.build, u.release?))) else {
        let failure = Failure::new(Exit::NoVersion, format!("Debian's list of packages has no {COMPILER}"));
        return Err(Miss::new("does not have it", failure));
    };
    // In 11.2 the package has the release's number and not the compiler's own; the compiler's library has that.
    let own = |build: String| Some(build).filter(|build| *build != version.to_string());
    let named = |start: &str| packages.iter().find(|p| p.name.starts_with(start)).map(|p| build(p).build);
    let (library, runtime) = (named("libnvvm"), named("libcudart"));
    let compiler = own(compiler).or(library).unwrap_or_else(|| version.to_string());
    let runtime = runtime.unwrap_or_else(|| compiler.clone());
    packages.retain(|p| upstream(&p.version).release == Some(version));
    Ok(Toolkit { version, compiler, runtime, packages })
}

/// What names a package's build where the package does not.
struct Build {
    toolkit: Version,
    compiler: String,
    runtime: String,
}

fn part(
    archive: &Archive<'_>,
    package: &Package,
    build: &Build,
    selection: &Selection,
    platform: Platform,
) -> Part {
    let name = layout::title(&package.name, selection).to_owned();
    let version = match package.name.as_str() {
        COMPILER => build.compiler.clone(),
        DEVELOPMENT => build.runtime.clone(),
        _ => upstream(&package.version).build,
    };
    let kept = match package.name.as_str() {
        DEVELOPMENT if !selection.rest => package.installed.min(DEVELOPMENT_KEPT),
        _ => package.installed,
    };
    Part {
        name,
        version,
        url: archive.address(package),
        local: None,
        file: package.file().to_owned(),
        sha256: package.sha256.clone(),
        size: package.size,
        unpacked: Some(kept).filter(|bytes| *bytes > 0),
        placement: layout::placement(&package.name, selection, build.toolkit.major, platform),
    }
}

/// The may-parts that are not there; a must-part that is not there refuses the plan.
fn missing(selection: &Selection, chosen: &[Package], version: Version) -> Result<Vec<String>, Miss> {
    let there = |name: &&str| {
        chosen
            .iter()
            .any(|p| layout::component(&p.name) == Some(*name) || layout::inside(&p.name).contains(name))
    };
    let absent: Vec<&str> = selection.must.iter().copied().filter(|n| !there(n)).collect();
    if !absent.is_empty() {
        let absent = absent.join(", ");
        let message = format!("Debian does not carry {absent} of CUDA {version}");
        return Err(Miss::new(format!("has no {absent}"), Failure::new(Exit::NoVersion, message)));
    }
    Ok(selection.may.iter().filter(|n| !there(n)).map(|n| (*n).to_owned()).collect())
}
