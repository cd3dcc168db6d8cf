//! The alternatives system of Debian and of RPM's distributions: what its own files say of a group, and what its program is
//! told. Both programs take the same words, and their files are alike as far as they are read here.

use crate::disk::text;
use crate::failure::Failure;
use crate::host::Host;
use crate::process;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where the links of all groups lie.
pub const LINKS: &str = "/etc/alternatives";

/// Where the groups are written down: Debian's place, and that of the others.
const RECORDS: [&str; 2] = ["/var/lib/dpkg/alternatives", "/var/lib/alternatives"];

/// The program, under its names.
const PROGRAMS: [&str; 4] = [
    "/usr/bin/update-alternatives",
    "/usr/sbin/update-alternatives",
    "/usr/sbin/alternatives",
    "/sbin/update-alternatives",
];

/// The priority of a tree that is made known here. The lowest there is in use: in automatic mode the packages' own come
/// first, as before.
const PRIORITY: &str = "1";

/// It waits for nothing but the disk.
const LIMIT: Duration = Duration::from_secs(60);

/// What the system has written down of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Whether it chooses by itself.
    pub auto: bool,
    /// The link that it manages, such as `/usr/local/cuda`.
    pub link: String,
    /// What it can be set to.
    pub choices: Vec<String>,
    /// The links that go along with it.
    pub along: Vec<Along>,
    /// The directory of its file.
    pub records: &'static str,
}

/// A link that goes along with a group's, such as `/usr/bin/nvcc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Along {
    /// Its name.
    pub name: String,
    /// The link.
    pub link: String,
    /// Where in a choice's tree the link leads, as far as it leads into one.
    pub below: Option<String>,
}

/// The group of this name; `None` where the system has none.
pub fn group(host: &Host, name: &str) -> Option<Group> {
    RECORDS.into_iter().find_map(|records| {
        let text = text::read(&host.system(records).join(name)).ok()?;
        parse(&text, records)
    })
}

/// Mode, link, two lines for each link that goes along, an empty line; then each choice: path, priority, and a line for each
/// that goes along.
fn parse(text: &str, records: &'static str) -> Option<Group> {
    let mut lines = text.lines();
    let auto = match lines.next()? {
        "auto" => true,
        "manual" => false,
        _ => return None,
    };
    let link = lines.next()?.to_owned();
    let named: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let mut along: Vec<Along> = named
        .chunks_exact(2)
        .filter_map(|pair| match pair {
            [name, link] => Some(Along { name: (*name).to_owned(), link: (*link).to_owned(), below: None }),
            _ => None,
        })
        .collect();
    let mut choices = Vec::new();
    while let Some(path) = lines.next().filter(|path| !path.is_empty()) {
        choices.push(path.to_owned());
        lines.next();
        for (along, to) in along.iter_mut().zip(lines.by_ref()) {
            let below = to.strip_prefix(path).and_then(|below| below.strip_prefix('/'));
            along.below = along.below.take().or_else(|| below.map(str::to_owned));
        }
    }
    Some(Group { auto, link, choices, along, records })
}

/// The group that a link's text leads to, seen from the directory that the link is in.
pub fn name_of(text: &str, directory: &Path) -> Option<String> {
    let mut path = PathBuf::new();
    for part in directory.join(text).components() {
        match part {
            std::path::Component::ParentDir => drop(path.pop()),
            std::path::Component::CurDir => {}
            part => path.push(part),
        }
    }
    let name = path.strip_prefix(LINKS).ok()?.to_str()?;
    (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
}

/// One call of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call(Vec<String>);

impl Call {
    fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|w| (*w).to_owned()).collect())
    }

    /// Makes a tree known.
    pub fn install(link: &str, name: &str, path: &str) -> Self {
        Self::new(&["--install", link, name, path, PRIORITY])
    }

    /// With a link that goes along with it: the program would remove what a choice does not name.
    pub fn with(mut self, along: &Along, to: &str) -> Self {
        self.0.extend(["--slave", &along.link, &along.name, to].map(str::to_owned));
        self
    }

    /// Chooses a tree.
    pub fn set(name: &str, path: &str) -> Self {
        Self::new(&["--set", name, path])
    }

    /// Lets the group choose by itself.
    pub fn auto(name: &str) -> Self {
        Self::new(&["--auto", name])
    }

    /// Forgets a tree.
    pub fn remove(name: &str, path: &str) -> Self {
        Self::new(&["--remove", name, path])
    }

    /// As it can be typed.
    pub fn line(&self) -> String {
        format!("update-alternatives {}", shell_words::join(&self.0))
    }
}

/// The program, where the machine has it.
pub fn program() -> Option<PathBuf> {
    PROGRAMS.into_iter().map(PathBuf::from).find(|path| path.is_file())
}

/// Runs a call. Below a sysroot only Debian's program can work; another refuses the option before it does anything.
pub fn run(host: &Host, records: &str, call: &Call) -> Result<(), Failure> {
    let program = program().ok_or_else(absent)?;
    #[expect(clippy::disallowed_methods, reason = "only the program itself may change what it manages")]
    let mut command = Command::new(&program);
    // Variables can lead it elsewhere.
    command.env_clear().env("LC_ALL", "C").env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    if let Some(root) = &host.sysroot {
        command.arg("--root").arg(root).arg("--admindir").arg(host.system(records));
    }
    command.args(&call.0);
    let failed = |why: &str| {
        Failure::failed(format!("`{}` failed: {why}", call.line()))
            .hint("update-alternatives --display cuda   (says what it has)")
    };
    let done = process::run(&mut command, LIMIT).map_err(|e| failed(&crate::failure::plain_io(&e)))?;
    if done.succeeded() { Ok(()) } else { Err(failed(done.output.trim())) }
}

/// The failure where the program is missing.
pub fn absent() -> Failure {
    Failure::failed("this machine has no update-alternatives, which alone may change what it manages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_with_and_without_what_goes_along() {
        let plain = "auto\n/usr/local/cuda\n\n/usr/local/cuda-11.8\n118\n/usr/local/cuda-12.4\n124\n\n";
        let group = parse(plain, RECORDS[0]).unwrap();
        assert_eq!((group.auto, group.link.as_str()), (true, "/usr/local/cuda"));
        assert_eq!(group.choices, ["/usr/local/cuda-11.8", "/usr/local/cuda-12.4"]);
        let along = "manual\n/usr/local/cuda\nnvcc\n/usr/bin/nvcc\nptxas\n/usr/bin/ptxas\n\n\
                     /a\n@family@10\n/a/bin/nvcc\n/a/bin/ptxas\n/b\n20\n/b/bin/nvcc\n\n/c\n30\n\n\n\n";
        let group = parse(along, RECORDS[1]).unwrap();
        assert!(!group.auto);
        assert_eq!(group.choices, ["/a", "/b", "/c"]);
        let below: Vec<_> = group.along.iter().map(|along| along.below.as_deref()).collect();
        assert_eq!(below, [Some("bin/nvcc"), Some("bin/ptxas")]);
        assert_eq!(parse("", RECORDS[0]), None);
        assert_eq!(parse("automatic\n/usr/local/cuda\n\n/a\n1\n", RECORDS[0]), None);
        assert_eq!(parse("auto\n/usr/local/cuda\n", RECORDS[0]).unwrap().choices, [""; 0]);
    }

    #[test]
    fn a_links_text_tells_the_group() {
        let name = |text| name_of(text, Path::new("/usr/local"));
        assert_eq!(name("/etc/alternatives/cuda").as_deref(), Some("cuda"));
        assert_eq!(name("../../etc/alternatives/cuda-12").as_deref(), Some("cuda-12"));
        assert_eq!(name("/etc/./alternatives//cuda").as_deref(), Some("cuda"));
        for other in ["cuda-12.4", "/usr/local/cuda-12.4", "/etc/alternatives", "/etc/alternatives/a/b", ""] {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn calls_can_be_typed() {
        assert_eq!(Call::set("cuda", "/opt/my cuda").line(), "update-alternatives --set cuda '/opt/my cuda'");
        assert_eq!(
            Call::install("/usr/local/cuda", "cuda", "/opt/x").line(),
            "update-alternatives --install /usr/local/cuda cuda /opt/x 1"
        );
    }
}
