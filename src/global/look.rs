//! What there is to know of the machine's link before anything is decided.

use crate::disk::access::{self, Access};
use crate::failure::{Failure, SAME};
use crate::global::alternatives::{self, Group, LINKS};
use crate::global::state::{Held, LINK, MEMORY, Memory};
use crate::host::Host;
use cudaup_core::disk::Disk;
use cudaup_core::identity::{Tree, identify};
use cudaup_core::inventory::{MACHINE, is_toolkit_name};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is in the link's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum There {
    /// Nothing, or a link.
    Held(Held),
    /// A directory; the release that it holds, where it is a toolkit.
    Directory(Option<String>),
    /// A file, or something stranger.
    Other,
}

/// Where the link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Led {
    /// The tree, without any link, as the machine names it.
    pub root: PathBuf,
    /// Its release, where that can be told.
    pub release: Option<String>,
    /// Whether it is a toolkit, or named like one: what NVIDIA's packages leave may hold next to nothing.
    pub toolkit: bool,
}

/// The facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What is in the link's place.
    pub there: There,
    /// The link where it is looked at: below the sysroot.
    pub place: PathBuf,
    /// Where it leads, where that exists.
    pub leads: Option<Led>,
    /// What the alternatives system has written down of the link's group.
    pub group: Option<Group>,
    /// Whether there is a group for this link that it does not go through.
    pub aside: bool,
    /// Whether there is a program that may change that.
    pub program: bool,
    /// Whether the caller may change what has to be changed; else the first directory that stands against it.
    pub access: (Access, PathBuf),
    /// What cudaup changed before.
    pub memory: Memory,
}

/// The toolkit that the link is to lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The tree, without any link, as the machine names it.
    pub root: PathBuf,
    /// The same directory where it is looked at: below the sysroot.
    pub place: PathBuf,
    /// Its release.
    pub release: String,
    /// What other users cannot enter on the way to it, and its mode.
    pub closed: Option<(PathBuf, u32)>,
    /// Whether it has a compiler.
    pub nvcc: bool,
    /// `/usr/local/cuda-12`, where that is a link that leads elsewhere: where to, and what is there.
    pub major: Option<(String, Led)>,
}

/// What is closed to this process, so that nothing can be told of the link.
pub fn hidden(host: &Host) -> Option<PathBuf> {
    ["/usr/local", MEMORY].map(|path| host.system(path)).into_iter().find(|path| access::hidden(path))
}

/// Looks at the link.
pub fn link(host: &Host, disk: &dyn Disk) -> Result<Facts, Failure> {
    access::inside(host, "/usr/local")?;
    let (there, group) = there(host, disk)?;
    let mut written = vec!["/usr/local"];
    let through = matches!(there, There::Held(Held::Alternatives { .. }));
    if through {
        written.extend([LINKS].into_iter().chain(group.as_ref().map(|g| g.records)));
    }
    Ok(Facts {
        aside: !through && alternatives::group(host, "cuda").is_some_and(|g| g.link == LINK),
        leads: disk.real(&host.system(LINK)).and_then(|root| led(host, &root, disk)),
        place: host.system(LINK),
        there,
        group,
        program: alternatives::program().is_some(),
        access: access(host, &written),
        memory: Memory::read(host)?,
    })
}

/// What is in the link's place, and the group that it belongs to.
pub fn there(host: &Host, disk: &dyn Disk) -> Result<(There, Option<Group>), Failure> {
    let path = host.system(LINK);
    let found = match fs::symlink_metadata(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok((There::Held(Held::Absent), None)),
        found => found.map_err(|e| Failure::io("read", &path, &e))?,
    };
    if found.is_dir() {
        let release = led(host, &path, disk).and_then(|led| led.release);
        return Ok((There::Directory(release), None));
    }
    if !found.is_symlink() {
        return Ok((There::Other, None));
    }
    let text = read_link(&path)?;
    let folder = Path::new(LINK).parent().unwrap_or(Path::new("/"));
    let Some(name) = alternatives::name_of(&text, folder) else {
        return Ok((There::Held(Held::Link { text }), None));
    };
    let group = alternatives::group(host, &name);
    // A plain link into the group of another link: to set that one would move the other link, too.
    if group.as_ref().is_some_and(|g| g.link != LINK) {
        return Ok((There::Held(Held::Link { text }), None));
    }
    let value = host.system(LINKS).join(&name);
    let value = if value.is_symlink() { read_link(&value)? } else { String::new() };
    let auto = group.as_ref().is_some_and(|g| g.auto);
    Ok((There::Held(Held::Alternatives { name, auto, value }), group))
}

fn read_link(path: &Path) -> Result<String, Failure> {
    let text = fs::read_link(path).map_err(|e| Failure::io("read", path, &e))?;
    text.into_os_string().into_string().map_err(|text| {
        let shown = text.to_string_lossy();
        let place = shell_words::quote(&path.to_string_lossy()).into_owned();
        Failure::failed(format!("{} leads to {shown}, which is no text that can be put back", path.display()))
            .hint(format!("sudo rm {place} && {SAME}"))
    })
}

/// What a directory is; `None` where the machine has no name for it, since it is not below its root.
fn led(host: &Host, place: &Path, disk: &dyn Disk) -> Option<Led> {
    let root = inner(host, place)?;
    let tree = identify(place, MACHINE, disk);
    let release = match &tree {
        Tree::Toolkit(identity) => Some(identity.to_string()),
        _ => None,
    };
    let named = root.file_name().and_then(|name| name.to_str()).is_some_and(is_toolkit_name);
    Some(Led { root, release, toolkit: named || tree != Tree::NotAToolkit })
}

/// A path as the machine itself names it: without the sysroot.
pub fn inner(host: &Host, place: &Path) -> Option<PathBuf> {
    match &host.sysroot {
        None => Some(place.to_path_buf()),
        Some(root) => place.strip_prefix(root).ok().map(|below| Path::new("/").join(below)),
    }
}

/// Looks at the toolkit of this release, in a tree that was found.
pub fn target(host: &Host, tree: &Path, release: String, major: u32, disk: &dyn Disk) -> Option<Target> {
    let place = disk.real(tree)?;
    let root = inner(host, &place)?;
    let name = format!("/usr/local/cuda-{major}");
    let link = host.system(&name);
    let elsewhere = fs::symlink_metadata(&link).is_ok_and(|found| found.is_symlink());
    let led = disk.real(&link).filter(|to| elsewhere && *to != place).and_then(|to| led(host, &to, disk));
    Some(Target {
        closed: closed(host, &place),
        nvcc: disk.is_file(&place.join("bin/nvcc")),
        major: led.map(|led| (name, led)),
        root,
        place,
        release,
    })
}

/// The first directory on the way to a tree, or the tree itself, that other users cannot enter.
pub fn closed(host: &Host, place: &Path) -> Option<(PathBuf, u32)> {
    let way: Vec<&Path> = place.ancestors().collect();
    // What is above an image's root is not there once it is a machine's.
    let below = |path: &&Path| inner(host, path).is_some();
    way.into_iter().rev().filter(below).find_map(|directory| {
        let mode = fs::metadata(directory).ok()?.mode() & 0o7777;
        // In the tree itself names have to be found, too: loaders and compilers list it.
        let needed = if directory == place { 0o005 } else { 0o001 };
        (mode & needed != needed).then(|| (inner(host, directory).unwrap_or_default(), mode))
    })
}

/// Whether all of these directories can be written.
fn access(host: &Host, directories: &[&str]) -> (Access, PathBuf) {
    let asked = directories.iter().map(|directory| (access::to(&host.system(directory)), directory.into()));
    asked
        .into_iter()
        .find(|(access, _)| *access != Access::Allowed)
        .unwrap_or((Access::Allowed, PathBuf::new()))
}
