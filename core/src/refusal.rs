//! Why no toolkit could be chosen although one was asked for, in words.

use crate::addon::{Addon, Library, Number};
use crate::builds::is_installable;
use crate::dialect;
use crate::disk::Unread;
use crate::fitness::Broken;
use crate::pin::{BadPin, is_program_name};
use crate::request::{BadRequest, Request};
use crate::version::Version;
use std::fmt;
use std::path::{Path, PathBuf};

/// Who asked for a toolkit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The command line.
    Argument,
    /// `CUDAUP_VERSION`.
    Variable,
    /// A `.cuda-version` file, and the line in it.
    Pin(PathBuf, usize),
    /// A default file, and the line in it.
    Default(PathBuf, usize),
    /// Nobody: the machine's own toolkit serves.
    Machine,
}

impl Rule {
    /// One word for CUDAUP_STATE and JSON.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Argument => "argument",
            Self::Variable => "variable",
            Self::Pin(..) => "pin",
            Self::Default(..) => "default",
            Self::Machine => "machine",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument => f.write_str("the command line"),
            Self::Variable => f.write_str("CUDAUP_VERSION"),
            Self::Pin(file, 0) | Self::Default(file, 0) => write!(f, "{}", file.display()),
            Self::Pin(file, line) | Self::Default(file, line) => write!(f, "{}:{line}", file.display()),
            Self::Machine => f.write_str("the machine"),
        }
    }
}

/// What stands in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The file cannot be read.
    Unreadable(Unread),
    /// The file's content cannot be read.
    Bad(BadPin),
    /// The text is no request.
    Request(BadRequest),
    /// No toolkit fits. What there is, newest first.
    NotInstalled(Request, Vec<String>),
    /// The target of a link is gone.
    LinkGone(String, PathBuf),
    /// A link's target is there and cannot serve; why.
    LinkUnfit(String, PathBuf, String),
    /// A managed toolkit would fit if it were not broken.
    Unfit(Box<Unfit>),
    /// An add-on that is asked for is not installed.
    AddonAbsent(Box<AbsentAddon>),
    /// The toolkit's path holds `:` or a line end, so that no list can name it.
    OddRoot(PathBuf),
    /// The way back would not fit into the environment; its length in bytes.
    StateTooLong(usize),
}

/// A managed toolkit that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Its release.
    pub version: Version,
    /// The tree.
    pub root: PathBuf,
    /// What is broken.
    pub broken: Broken,
    /// Whether cudaup put it there, and so takes it away.
    pub ours: bool,
}

/// An add-on that is asked for and not installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentAddon {
    /// The library.
    pub library: &'static Library,
    /// The version that is asked for.
    pub version: Number,
    /// The CUDA major of the toolkit that it has to fit.
    pub cuda: u32,
    /// Whether the toolkit is not the one that applies in this directory.
    pub elsewhere: bool,
    /// What there is of that library.
    pub installed: Vec<Addon>,
}

/// A request that cannot be met, and who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who asked.
    pub rule: Rule,
    /// What stands in the way.
    pub why: Why,
}

impl Refusal {
    /// The next commands to type.
    pub fn tries(&self) -> Vec<String> {
        match &self.why {
            Why::NotInstalled(Request::Version(version), _) if is_installable(*version) => {
                vec![format!("cudaup install {version}")]
            }
            Why::NotInstalled(Request::Version(version), _) => vec![format!(
                "cudaup link NAME DIRECTORY   (a CUDA {version} that is on a disk already; there is none to install)"
            )],
            Why::NotInstalled(Request::Link(name), _) => vec![format!("cudaup link {name} DIRECTORY")],
            Why::NotInstalled(..) => vec!["cudaup install latest".into()],
            Why::LinkGone(name, _) | Why::LinkUnfit(name, ..) => {
                vec![format!("cudaup link {name} DIRECTORY"), format!("cudaup unlink {name}")]
            }
            Why::Unfit(unfit) => vec![unfit.mended()],
            Why::Bad(BadPin::Utf16 | BadPin::NotText) => match &self.rule {
                Rule::Pin(file, _) | Rule::Default(file, _) => {
                    vec![format!("save {} as UTF-8 text, or remove it", file.display())]
                }
                _ => Vec::new(),
            },
            Why::Bad(BadPin::NotASetting(..)) => {
                vec!["lines below the version look like `host_compiler = g++-11`".into()]
            }
            Why::Bad(BadPin::Value(line, key, value, _)) => vec![mended(*line, key, value)],
            Why::Request(BadRequest { meant: Some(meant), .. })
            | Why::Bad(BadPin::Request(_, BadRequest { meant: Some(meant), .. })) => {
                vec![self.respell(meant)]
            }
            // Nothing is written in the place of what is no file: it has to go first.
            Why::Unreadable(unread @ (Unread::NotAFile(_) | Unread::Dangling)) => match &self.rule {
                Rule::Pin(file, _) | Rule::Default(file, _) => {
                    let file = typed(file);
                    let moved = format!("mv {file} {file}.old");
                    vec![if *unread == Unread::Dangling { format!("rm {file}") } else { moved }]
                }
                _ => Vec::new(),
            },
            Why::Bad(_) | Why::Request(_) | Why::Unreadable(_) => vec![self.respell("VERSION")],
            Why::AddonAbsent(absent) => {
                let AbsentAddon { library, version, cuda, .. } = absent.as_ref();
                let option = if absent.elsewhere { format!(" --cuda {cuda}") } else { String::new() };
                vec![format!("cudaup add {}@{version}{option}", library.name)]
            }
            Why::StateTooLong(_) => {
                vec!["take entries of other toolkits out of PATH, LD_LIBRARY_PATH and CPATH: some start file adds too many".into()]
            }
            Why::OddRoot(_) => Vec::new(),
        }
    }

    fn respell(&self, version: &str) -> String {
        match self.rule {
            Rule::Variable => format!("export CUDAUP_VERSION={version}"),
            Rule::Default(..) => format!("cudaup use --default {version}"),
            _ => format!("cudaup use {version}"),
        }
    }
}

impl Unfit {
    /// What makes it whole, or makes room for a whole one.
    pub fn mended(&self) -> String {
        let (version, root) = (self.version, typed(&self.root));
        match self.broken {
            Broken::Closed => format!("chmod u+rwx {root}"),
            _ if self.ours => format!("cudaup uninstall --force {version} && cudaup install {version}"),
            _ => format!("mv {root} {root}.old && cudaup install {version}"),
        }
    }
}

/// What to write in the place of a value that a key cannot have.
fn mended(line: usize, key: &str, value: &str) -> String {
    match (key, value.rsplit_once('/')) {
        ("host_compiler", Some((_, name))) if is_program_name(name) => format!(
            "write `host_compiler = {name}` in line {line}: it is looked for on PATH, so that the file serves on other machines"
        ),
        ("cpath" | "ld_library_path", _) => format!("write `{key} = off` in line {line}, or remove it"),
        _ => format!("mend or remove line {line}"),
    }
}

/// A path as it can be typed.
fn typed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+@:,".contains(&b)) {
        return text.into_owned();
    }
    String::from_utf8_lossy(&dialect::SH.quote(text.as_bytes())).into_owned()
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asks = |f: &mut fmt::Formatter<'_>| match &self.rule {
            Rule::Argument => Ok(()),
            rule => write!(f, " ({rule} asks for it)"),
        };
        match &self.why {
            Why::Unreadable(reason) => write!(f, "could not read {}: {reason}", self.rule),
            Why::Bad(bad) => match (&self.rule, bad.line()) {
                (Rule::Pin(file, _) | Rule::Default(file, _), Some(line)) => {
                    write!(f, "{}:{line}: {bad}", file.display())
                }
                (rule, _) => write!(f, "{rule}: {bad}"),
            },
            Why::Request(bad) => match &self.rule {
                Rule::Argument => bad.fmt(f),
                rule => write!(f, "{rule}: {bad}"),
            },
            Why::NotInstalled(request, installed) => {
                match request {
                    Request::Version(version) => write!(f, "CUDA {version} is not installed")?,
                    Request::Latest => f.write_str("no CUDA toolkit is installed")?,
                    Request::System => f.write_str("this machine has no CUDA toolkit of its own")?,
                    Request::Link(name) => write!(f, "there is no toolkit named {name}")?,
                }
                asks(f)?;
                if installed.is_empty() { Ok(()) } else { write!(f, "; at hand: {}", installed.join(", ")) }
            }
            Why::LinkGone(name, path) => {
                write!(f, "the directory of the linked toolkit {name} was removed: {}", path.display())?;
                asks(f)
            }
            Why::LinkUnfit(name, path, why) => {
                write!(f, "the linked toolkit {name} cannot be used: {why} ({})", path.display())?;
                asks(f)
            }
            Why::Unfit(unfit) => {
                let Unfit { version, root, broken, .. } = unfit.as_ref();
                write!(f, "CUDA {version} in {} cannot be used: {broken}", root.display())?;
                asks(f)
            }
            Why::AddonAbsent(absent) => {
                let AbsentAddon { library, version, cuda, .. } = absent.as_ref();
                write!(f, "{} {version} for CUDA {cuda} is not installed", library.name)?;
                asks(f)?;
                for (i, addon) in absent.installed.iter().enumerate() {
                    let before = if i == 0 { "; installed: " } else { ", " };
                    write!(f, "{before}{} for CUDA {}", addon.version, addon.cuda)?;
                }
                Ok(())
            }
            Why::OddRoot(path) => {
                write!(
                    f,
                    "what lies in a directory with `:` or a line end in its name cannot be used: {path:?}"
                )
            }
            Why::StateTooLong(length) => {
                write!(
                    f,
                    "the environment is too large to switch: the way back would take {length} bytes of 32768"
                )
            }
        }
    }
}
