//! Which release of the toolkit is taken from the index, and which wheel of a project.

use crate::failure::{Exit, Failure};
use crate::source::index::Listed;
use crate::source::plan::Platform;
use crate::source::pypi::metadata::Pin;
use crate::source::pypi::spelling::{Build, WheelName};
use crate::source::unknown;
use cudaup_core::version::Version;

/// The first release of which PyPI has a whole compiler.
pub const FIRST_WHOLE: Version = Version::exact(13, 0, 1);

/// A release of the toolkit that the index has.
#[derive(Clone, Debug)]
pub struct Offer<'a> {
    /// The release.
    pub version: Version,
    /// How the index spells it.
    pub build: Build,
    /// The wheel that describes it.
    pub file: &'a Listed,
}

/// The releases among the files of `cuda-toolkit`, newest first, each once.
pub fn offers(files: &[Listed]) -> Vec<Offer<'_>> {
    let mut found: Vec<Offer<'_>> = files
        .iter()
        .filter(|f| !f.yanked)
        .filter_map(|file| {
            let build = WheelName::parse(&file.file)?.build;
            Some(Offer { version: build.toolkit().filter(|v| v.major >= 9)?, build, file })
        })
        .collect();
    found.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| b.build.cmp(&a.build)));
    found.dedup_by_key(|o| o.version);
    found
}

/// The newest release that fits a request; `None` asks for the newest of all. A release that is not finished is taken only
/// where its exact version was asked for.
pub fn choose<'a, 'f>(
    offers: &'a [Offer<'f>],
    request: Option<Version>,
    compiler: bool,
) -> Result<&'a Offer<'f>, Failure> {
    let fits = |o: &&Offer<'_>| request.is_none_or(|r| r.accepts(o.version));
    let whole = |o: &&Offer<'_>| !compiler || o.version >= FIRST_WHOLE;
    let exact = request.is_some_and(|r| r.is_exact());
    let fitting: Vec<&Offer<'f>> = offers.iter().filter(fits).filter(|o| exact || !o.build.early()).collect();
    if let Some(offer) = fitting.iter().copied().find(whole) {
        return Ok(offer);
    }
    let usable: Vec<Version> =
        offers.iter().filter(whole).filter(|o| !o.build.early()).map(|o| o.version).collect();
    let newest = usable.first().copied();
    match request {
        None => Err(Failure::new(Exit::NoVersion, "the package index has no release of cuda-toolkit")),
        Some(asked) if fitting.is_empty() && !exists(asked) => Err(unknown::refuse(asked, &usable)),
        Some(asked) if asked.accepts(Version::exact(13, 0, 0)) && compiler => Err(broken_13_0_0(&usable)),
        Some(asked) if asked.major < 13 && compiler => Err(no_compiler(asked, !fitting.is_empty(), newest)),
        Some(asked) => {
            let failure =
                Failure::new(Exit::NoVersion, format!("the package index does not have CUDA {asked}"));
            Err(match newest {
                Some(newest) => failure.hint(format!("cudaup install {newest}")),
                None => failure,
            })
        }
    }
}

fn exists(asked: Version) -> bool {
    cudaup_core::builds::RELEASES.iter().any(|r| asked.accepts(r.version))
}

fn broken_13_0_0(usable: &[Version]) -> Failure {
    let failure = Failure::new(
        Exit::NoVersion,
        "13.0.0 on PyPI cannot compile: its wheels lack bin/crt/link.stub and bin/crt/prelink.stub",
    );
    match usable.iter().find(|v| Version::release(13, 0).accepts(**v)) {
        Some(next) => failure.hint(format!("cudaup install {next}")),
        None => failure,
    }
}

fn no_compiler(asked: Version, libraries: bool, newest: Option<Version>) -> Failure {
    let major = asked.major;
    let has = if libraries { ", only libraries" } else { "" };
    let message = format!("no source has CUDA {asked} here: pypi has no nvcc for {major}.x{has}");
    let mut failure = Failure::new(Exit::NoVersion, message)
        .hint(format!("cudaup install {asked} --from FILE   (a copy from another machine)"));
    if libraries {
        let what = "libraries and headers without nvcc";
        failure = failure.hint(format!("cudaup install {asked} --components nvrtc,cublas   ({what})"));
    }
    match newest {
        Some(newest) => {
            failure.hint(format!("cudaup install {newest}   (PyPI has the whole compiler from 13.0.1 on)"))
        }
        None => failure,
    }
}

/// The wheel of a project that a pin means on a machine: of the builds that fit the newest, of its wheels the one built
/// last. A withdrawn one only where nothing else fits.
pub fn wheel<'f>(files: &'f [Listed], pin: &Pin, platform: Platform) -> Option<(&'f Listed, WheelName)> {
    let fitting = files.iter().filter_map(|file| {
        let name = WheelName::parse(&file.file)?;
        let rank = name.rank(platform)?;
        name.build.fits(&pin.build).then_some((file, name, rank))
    });
    let best = fitting.max_by(|(file_a, a, rank_a), (file_b, b, rank_b)| {
        let kept = file_b.yanked.cmp(&file_a.yanked);
        kept.then_with(|| a.build.cmp(&b.build))
            .then_with(|| a.tag.cmp(&b.tag))
            .then_with(|| rank_a.cmp(rank_b))
            .then_with(|| file_a.uploaded.cmp(&file_b.uploaded))
            .then_with(|| file_a.file.cmp(&file_b.file))
    });
    best.map(|(file, name, _)| (file, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(file: &str) -> Listed {
        let url = format!("https://files.example/{file}");
        Listed {
            file: file.into(),
            url,
            sha256: None,
            size: None,
            uploaded: None,
            yanked: false,
            metadata: None,
        }
    }

    fn index() -> Vec<Listed> {
        let versions = [
            "0.0.0a0",
            "11.8.0",
            "12.4.0",
            "12.4.1",
            "12.8.2.0",
            "13.0.0",
            "13.0.2",
            "13.0.3.0",
            "13.4.0rc1",
            "13.4.1.0",
            "13.5.0",
        ];
        let mut files: Vec<Listed> =
            versions.iter().map(|v| listed(&format!("cuda_toolkit-{v}-py2.py3-none-any.whl"))).collect();
        files.push(listed("cuda_toolkit-0.0.0a0.tar.gz"));
        files.push(Listed { yanked: true, ..listed("cuda_toolkit-13.5.1-py2.py3-none-any.whl") });
        files
    }

    fn take(request: &str, compiler: bool) -> Result<String, Failure> {
        let files = index();
        let request = if request == "latest" { None } else { Some(Version::parse(request).unwrap()) };
        choose(&offers(&files), request, compiler).map(|o| format!("{} as {}", o.version, o.build))
    }

    #[test]
    fn the_newest_that_fits_is_taken() {
        assert_eq!(take("13", true).unwrap(), "13.5.0 as 13.5.0");
        assert_eq!(take("latest", true).unwrap(), "13.5.0 as 13.5.0");
        assert_eq!(take("13.0", true).unwrap(), "13.0.3 as 13.0.3.0");
        assert_eq!(take("13.0.2", true).unwrap(), "13.0.2 as 13.0.2");
        assert_eq!(take("13.4", true).unwrap(), "13.4.1 as 13.4.1.0");
        assert_eq!(take("12", false).unwrap(), "12.8.2 as 12.8.2.0");
        assert_eq!(take("13.4.0", true).unwrap(), "13.4.0 as 13.4.0rc1", "asked for exactly");
    }

    #[test]
    fn what_has_no_compiler_is_refused_with_what_can_serve() {
        let refused = take("12.4", true).unwrap_err();
        assert_eq!(refused.exit, Exit::NoVersion);
        assert!(refused.message.contains("no nvcc for 12.x"), "{refused}");
        assert!(
            refused.tries.iter().any(|t| t.starts_with("cudaup install 12.4 --from")),
            "{:?}",
            refused.tries
        );
        assert!(refused.tries.iter().any(|t| t.starts_with("cudaup install 13.5.0")), "{:?}", refused.tries);
        assert!(take("11", true).unwrap_err().message.contains("no nvcc for 11.x"));
        assert!(take("10.2", true).unwrap_err().message.contains("no nvcc for 10.x"));
        assert!(take("10.2", false).unwrap_err().message.contains("does not have CUDA 10.2"));
    }

    #[test]
    fn the_broken_release_is_refused_and_the_next_named() {
        let refused = take("13.0.0", true).unwrap_err();
        assert_eq!(refused.exit, Exit::NoVersion);
        assert_eq!(refused.tries, ["cudaup install 13.0.3"]);
        assert_eq!(take("13.0.0", false).unwrap(), "13.0.0 as 13.0.0");
    }

    #[test]
    fn what_does_not_exist_is_said_so() {
        assert!(take("12.7", true).unwrap_err().message.starts_with("there is no CUDA 12.7 ("));
        assert!(take("13.9", true).unwrap_err().message.starts_with("there is no CUDA 13.9"));
        let gone = take("13.1", true).unwrap_err();
        assert!(gone.message.contains("does not have CUDA 13.1"), "{gone}");
        assert!(take("latest", true).is_ok());
        assert!(choose(&[], None, true).is_err());
    }

    fn best(files: &[&str], pin: &str) -> Option<String> {
        let files: Vec<Listed> = files.iter().map(|f| listed(f)).collect();
        let pin = Pin { project: "x".into(), build: Build::parse(pin).unwrap() };
        wheel(&files, &pin, Platform::LinuxX86_64).map(|(f, _)| f.file.clone())
    }

    #[test]
    fn the_newest_build_of_a_pin_is_taken() {
        let files = [
            "x-12.4.127-py3-none-manylinux2014_x86_64.whl",
            "x-12.4.127.post1-py3-none-manylinux2014_x86_64.whl",
            "x-12.4.127.post1-py3-none-manylinux2014_aarch64.whl",
            "x-12.4.127.post2-py3-none-win_amd64.whl",
            "x-12.4.128-py3-none-manylinux2014_x86_64.whl",
            "x-12.4.127.tar.gz",
        ];
        assert_eq!(best(&files, "12.4.127").as_deref(), Some(files[1]));
        assert_eq!(best(&files, "12.4.126"), None);
        let rebuilt =
            ["y-11.8.89-py3-none-manylinux2014_x86_64.whl", "y-11.8.89-py3-none-manylinux1_x86_64.whl"];
        assert_eq!(best(&rebuilt, "11.8.89").as_deref(), Some(rebuilt[0]));
        let tagged = ["y-1-10-py3-none-any.whl", "y-1-9-py3-none-any.whl", "y-1-py3-none-any.whl"];
        assert_eq!(best(&tagged, "1").as_deref(), Some(tagged[0]));
    }

    #[test]
    fn a_withdrawn_wheel_is_the_last_resort() {
        let gone = Listed { yanked: true, ..listed("x-1.0.post1-py3-none-any.whl") };
        let kept = listed("x-1.0-py3-none-any.whl");
        let pin = Pin { project: "x".into(), build: Build::parse("1.0").unwrap() };
        let both = [gone.clone(), kept.clone()];
        assert_eq!(wheel(&both, &pin, Platform::LinuxSbsa).unwrap().0, &kept);
        assert_eq!(wheel(std::slice::from_ref(&gone), &pin, Platform::LinuxSbsa).unwrap().0, &gone);
    }
}
