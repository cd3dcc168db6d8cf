//! Where add-ons come from: NVIDIA's trees, PyPI, an archive on this machine. Each gives one archive, for one CUDA major.

mod archive;
mod nvidia;
mod pypi;
#[cfg(test)]
mod tests;

pub use archive::{Given, given};

use crate::addon::Origin;
use crate::failure::{Exit, Failure};
use crate::source::plan::{Part, Placement, Platform, Rule};
use crate::source::query::Miss;
use crate::source::reach::Reach;
use crate::source::select::AUTO;
use cudaup_core::addon::{Library, Number};

/// What a source is asked.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The network, and the settings of the sources.
    pub reach: &'a Reach,
    /// The library.
    pub library: &'static Library,
    /// Where it is to be had.
    pub origin: &'static Origin,
    /// The version that is asked for; `None`: the newest.
    pub version: Option<&'a Number>,
    /// The CUDA major of the toolkit that it goes with.
    pub cuda: u32,
    /// The machine that it is for.
    pub platform: Platform,
}

impl Wanted<'_> {
    /// What is asked for, for a person: `cudnn 9.8 for CUDA 12`.
    pub fn shown(&self) -> String {
        let version = self.version.map_or_else(String::new, |v| format!(" {v}"));
        format!("{}{version} for CUDA {}", self.library.name, self.cuda)
    }

    fn accepts(&self, found: &Number) -> bool {
        self.version.is_none_or(|wanted| wanted.accepts(found))
    }
}

/// What installing an add-on loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddonPlan {
    /// The library.
    pub library: &'static Library,
    /// Its version.
    pub version: Number,
    /// The CUDA major that it is built for.
    pub cuda: u32,
    /// The machine that it is for.
    pub platform: Platform,
    /// The source's name.
    pub source: &'static str,
    /// The archive.
    pub part: Part,
    /// What a user should know, each a sentence without a full stop.
    pub notes: Vec<String>,
    /// The sources that come before this one and do not serve, each with why.
    pub passed: Vec<String>,
}

/// A place that add-ons come from.
struct Source {
    name: &'static str,
    plan: fn(&Wanted<'_>) -> Result<AddonPlan, Miss>,
}

/// In the order in which `auto` asks them.
const SOURCES: &[Source] =
    &[Source { name: nvidia::NAME, plan: nvidia::plan }, Source { name: pypi::NAME, plan: pypi::plan }];

/// The names that `--source` takes for an add-on.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(AUTO).chain(SOURCES.iter().map(|s| s.name))
}

/// The plan of the source of that name, or of the first that has one.
pub fn plan(wanted: &Wanted<'_>, name: &str) -> Result<AddonPlan, Failure> {
    if let Some(source) = SOURCES.iter().find(|s| s.name == name) {
        return (source.plan)(wanted).map_err(|miss| miss.failure);
    }
    let mut misses = Vec::new();
    for source in SOURCES {
        match (source.plan)(wanted) {
            Ok(plan) => return Ok(AddonPlan { passed: misses.iter().map(said).collect(), ..plan }),
            Err(miss) => misses.push((source.name, miss)),
        }
    }
    let unreached = misses.iter().any(|(_, miss)| miss.failure.exit == Exit::Network);
    let why: Vec<String> = misses.iter().map(said).collect();
    let exit = if unreached { Exit::Network } else { Exit::NoVersion };
    let failure = Failure::new(exit, format!("no source has {} here: {}", wanted.shown(), why.join(", ")));
    let copy = format!("cudaup add {} --from FILE   (a copy from another machine)", wanted.library.name);
    if wanted.reach.client.offline() {
        return Err(failure.hint(copy));
    }
    let mut tries: Vec<String> = misses.into_iter().flat_map(|(_, miss)| miss.failure.tries).collect();
    tries.dedup();
    let failure = tries.into_iter().take(3).fold(failure, Failure::hint);
    Err(failure.hint(copy))
}

fn said((name, miss): &(&str, Miss)) -> String {
    format!("{name} ({})", miss.words)
}

/// The newest of what a source has for another CUDA or in another version, for its no.
fn absent(wanted: &Wanted<'_>, source: &str, newest: Option<&Number>) -> Miss {
    let (name, cuda) = (wanted.library.name, wanted.cuda);
    match newest {
        None => Miss::new(
            format!("has none for CUDA {cuda}"),
            Failure::new(Exit::NoVersion, format!("{source} has no {name} for CUDA {cuda}")),
        ),
        Some(newest) => Miss::new(
            format!("its newest for CUDA {cuda} is {newest}"),
            Failure::new(
                Exit::NoVersion,
                format!("{source} has no {}; its newest for CUDA {cuda} is {newest}", wanted.shown()),
            )
            .hint(format!("cudaup add {name}@{} --cuda {cuda}", newest.first(2))),
        ),
    }
}

/// A source that could not be asked.
fn unasked(wanted: &Wanted<'_>, failure: Failure) -> Miss {
    let words = match failure.exit {
        Exit::Network if wanted.reach.client.offline() => "offline".to_owned(),
        Exit::Network => "not reached".to_owned(),
        _ => failure.message.clone(),
    };
    Miss::new(words, failure)
}

/// The folders of older archives that hold one CUDA's libraries each; the wanted one is lifted out of them.
const LIFTED: [&str; 7] = ["10", "10.1", "10.2", "11", "11.0", "12", "13"];

/// Where the files of one of NVIDIA's archives go: everything keeps its place below `include` and `lib`, whatever the
/// archive calls them. `strip` directories stand before them.
fn archive_placement(cuda: u32, strip: usize) -> Placement {
    let wanted = cuda.to_string();
    let rule = |from: String, to: Option<&str>| Rule { from, to: to.map(str::to_owned) };
    let mut rules = Vec::new();
    for lib in ["lib", "lib64"] {
        for folder in LIFTED {
            rules.push(rule(format!("{lib}/{folder}/"), (folder == wanted).then_some("lib/")));
        }
    }
    rules.push(rule("lib64/".into(), Some("lib/")));
    rules.push(rule("pkg-config/".into(), Some("lib/pkgconfig/")));
    rules.push(rule(String::new(), Some("")));
    Placement { strip, rules }
}

/// Where the files of a wheel go. Its folder is the library's own, or that of all wheels for the CUDA major.
fn wheel_placement(library: &Library, cuda: u32, records: &str) -> Placement {
    let name = library.name;
    let folders = [format!("nvidia/{name}/"), format!("nvidia/cu{cuda}/"), format!("{name}/")];
    let rule = |from: String, to: Option<&str>| Rule { from, to: to.map(str::to_owned) };
    let mut rules = vec![rule(format!("{records}/licenses/"), Some(""))];
    for licence in ["License.txt", "LICENSE"] {
        rules.push(rule(format!("{records}/{licence}"), Some(licence)));
    }
    for folder in folders {
        for inside in ["", "include/", "lib/"] {
            for dropped in [".metadata/", "__pycache__/", "__init__.py"] {
                rules.push(rule(format!("{folder}{inside}{dropped}"), None));
            }
        }
        rules.push(rule(folder, Some("")));
    }
    Placement { strip: 0, rules }
}
