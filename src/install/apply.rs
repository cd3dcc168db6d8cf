//! Carries a plan out: load, unpack, mend, prove, put into place. Before the last step nothing is visible as a toolkit.

use crate::disk::lock::Lock;
use crate::disk::{atomic, tree};
use crate::failure::Failure;
use crate::host::Host;
use crate::install::decide::{self, Order};
use crate::install::engine::Unpacked;
use crate::install::mend::{self, MendFacts};
use crate::install::place::{self, Place};
use crate::install::stage::{self, Build, WAIT};
use crate::prove::{self, Proof, Trial};
use crate::source::plan::Plan;
use crate::source::profile::{Profile, Wish};
use crate::source::reach::Reach;
use crate::toolkit::receipt::{self, Receipt};
use crate::ui::talk::Talk;
use cudaup_core::builds::RELEASES;
use cudaup_core::disk::{Disk, Unread};
use cudaup_core::home::{Home, MACHINE_DEFAULT};
use cudaup_core::pin;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the licence stands that comes with the toolkit.
pub const LICENCE: &str = "https://docs.nvidia.com/cuda/eula";

/// What applying needs beside the plan.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The world.
    pub host: &'a Host,
    /// The cudaup home.
    pub home: &'a Home,
    /// The file system as the rules see it.
    pub disk: &'a dyn Disk,
    /// Where lines for the person go.
    pub talk: &'a Talk,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// It is in place.
    Installed(Box<Receipt>),
    /// Another process put it into place meanwhile.
    Meanwhile,
}

/// Carries a plan out. `replaces`: what cudaup has installed there, as the plan was made for it; it gives up its place.
pub fn apply(
    site: &Site<'_>,
    order: &Order,
    plan: &Plan,
    reach: &Reach,
    replaces: Option<&Receipt>,
) -> Result<Done, Failure> {
    let version = plan.version.to_string();
    let (target, staging) = (order.place.target(site, plan.version), order.place.staging(site));
    let build = Build {
        name: &version,
        target: &target,
        staging: &staging,
        in_home: order.place == Place::Home,
        parts: &plan.parts,
        platform: plan.platform,
        replace: replaces.is_some(),
    };
    let stale = || Receipt::read(&target).ok().flatten().as_ref() != replaces;
    let installed = stage::run(site, &build, reach, &stale, |tree, unpacked| {
        let components = components(plan, tree);
        let machine = plan.platform.target();
        let made =
            mend::mend(tree, &MendFacts { version: plan.version, target: machine, components: &components })?;
        let proof = proved(site, plan, tree, order.verify)?;
        let mut receipt = receipt(plan, unpacked, made, proof);
        // Mending takes links out that lead nowhere.
        let there = |file: &String| fs::symlink_metadata(tree.join(file)).is_ok();
        receipt.parts.iter_mut().for_each(|part| part.files.retain(there));
        receipt.bytes = tree::size(tree)?;
        receipt.write(tree)?;
        // Loading and unpacking took its time.
        if let Some(old) = replaces {
            place::loses_nothing(order.place, &target, old, &order.wish)?;
            // What comes in one piece is known only now. Of the rest of a profile it is said what is not there.
            let named = Wish { profile: Profile::Chosen, components: order.wish.components.clone() };
            if let Some(absent) = decide::absent(&named, &receipt, plan.version) {
                return Err(decide::brings_less(&target, plan, &absent));
            }
        }
        Ok(Box::new(receipt))
    })?;
    Ok(installed.map_or(Done::Meanwhile, Done::Installed))
}

/// What version.json is to name. A toolkit that came whole brings its own; where it has none, the builds that tell its
/// release stand there.
fn components(plan: &Plan, tree: &Path) -> Vec<(String, String)> {
    if !plan.is_whole() {
        return plan.parts.iter().map(|p| (p.name.clone(), p.version.clone())).collect();
    }
    if tree.join("version.json").exists() {
        return Vec::new();
    }
    let release = RELEASES.iter().find(|r| r.version == plan.version);
    let builds = release.map(|r| [("cuda_nvcc", r.nvcc), ("cuda_cudart", r.cudart)]);
    let known = builds.into_iter().flatten().filter(|(_, build)| !build.is_empty());
    known.map(|(name, build)| (name.to_owned(), build.to_owned())).collect()
}

fn proved(site: &Site<'_>, plan: &Plan, tree: &Path, verify: bool) -> Result<receipt::Proof, Failure> {
    let unproved =
        |reason: &str| receipt::Proof::Unproved { reason: reason.to_owned(), remedy: String::new() };
    if (plan.component("cuda_nvcc").is_none() && !plan.is_whole()) || !tree.join("bin/nvcc").exists() {
        return Ok(unproved("it has no nvcc"));
    }
    if !verify {
        return Ok(unproved("--no-verify was given"));
    }
    match prove::prove(&Trial { tree, version: plan.version, scratch: tree }, site.host)? {
        Proof::Proved { compiler } => Ok(receipt::Proof::Proved { compiler }),
        Proof::Unproved { reason, remedy } => Ok(receipt::Proof::Unproved { reason, remedy }),
        Proof::Broken { reason, log } => Err(broken(site.home, plan, &reason, &log)),
    }
}

/// The failure of a toolkit that does not work, with what the compiler said kept in a file.
fn broken(home: &Home, plan: &Plan, reason: &str, log: &str) -> Failure {
    let failure = Failure::failed(format!("{} does not work and was not installed: {reason}", plan.version));
    if log.is_empty() {
        return failure;
    }
    let file: PathBuf = home.cache().join(format!("{}-proof.log", plan.version));
    match atomic::write(&file, log.as_bytes()) {
        Ok(()) => failure.hint(format!("read {}: it has everything that was said", file.display())),
        Err(_) => failure.hint(log.lines().next_back().unwrap_or_default()),
    }
}

fn receipt(plan: &Plan, unpacked: &[Unpacked], made: Vec<String>, proof: receipt::Proof) -> Receipt {
    let files =
        |at: usize| unpacked.iter().find(|u| u.part == at).map(|u| u.files.clone()).unwrap_or_default();
    let part = |(at, part): (usize, &crate::source::plan::Part)| receipt::Part {
        name: part.name.clone(),
        version: part.version.clone(),
        url: part.public_url(),
        sha256: part.sha256.clone(),
        size: part.size,
        files: files(at),
    };
    Receipt {
        cudaup: env!("CARGO_PKG_VERSION").to_owned(),
        version: plan.version.to_string(),
        source: plan.source.to_owned(),
        profile: plan.profile.to_string(),
        platform: plan.platform.target().to_owned(),
        installed_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        parts: plan.parts.iter().enumerate().map(part).collect(),
        missing: plan.missing.clone(),
        made,
        bytes: 0,
        proof,
        eula: LICENCE.to_owned(),
    }
}

/// Makes a version the user's default where neither the user nor the machine has one. Whether it did.
pub fn become_default(site: &Site<'_>, version: &str) -> Result<bool, Failure> {
    let file = site.home.default_file();
    let lock = site.home.path().join("default.lock");
    let _lock = Lock::acquire(&lock, "your default", WAIT, &|line| site.talk.say(line))?;
    let asks = |path: &Path| match site.disk.read(path, pin::LIMIT) {
        Err(Unread::Absent) => Some(Vec::new()),
        Ok(bytes) => pin::parse_default(&bytes).is_ok_and(|p| p.request.is_none()).then_some(bytes),
        // What cannot be read is the user's to mend, not ours to replace.
        Err(_) => None,
    };
    let (Some(bytes), Some(_)) = (asks(&file), asks(&site.disk.system(MACHINE_DEFAULT))) else {
        return Ok(false);
    };
    let text = pin::with_request(&bytes, version)
        .map_err(|bad| Failure::failed(format!("{}: {bad}", file.display())))?;
    atomic::write(&file, text.as_bytes())?;
    Ok(true)
}
