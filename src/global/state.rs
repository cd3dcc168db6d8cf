//! What `/usr/local/cuda` is, in a form that can be remembered and put back.

use crate::disk::{atomic, text};
use crate::failure::Failure;
use crate::host::Host;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The link.
pub const LINK: &str = "/usr/local/cuda";

/// Where it is remembered what was there: beside the link. It belongs to the machine and not to a user, since whoever puts
/// the link back may come with another HOME than whoever changed it; and who may change the link may write here, too, which
/// cannot be said of `/var/lib` (Debian gives /usr/local to the group staff).
pub const MEMORY: &str = "/usr/local/.cudaup-global.json";

/// Steps that are remembered; older ones are forgotten.
const MOST: usize = 50;

/// What the link is. Paths are those of the machine, without a sysroot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub enum Held {
    /// Nothing.
    Absent,
    /// A link with this text.
    Link {
        /// What readlink prints.
        text: String,
    },
    /// A link of the alternatives system.
    Alternatives {
        /// The group's name.
        name: String,
        /// Whether the group chooses by itself.
        auto: bool,
        /// What its link below /etc/alternatives says; empty where there is none.
        value: String,
    },
}

impl Held {
    /// The group that it belongs to, where it does.
    pub fn group(&self) -> Option<&str> {
        match self {
            Self::Alternatives { name, .. } => Some(name),
            Self::Absent | Self::Link { .. } => None,
        }
    }
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => f.write_str("nothing"),
            Self::Link { text } => f.write_str(text),
            Self::Alternatives { name, value, .. } if value.is_empty() => {
                write!(f, "nothing, through update-alternatives ({name})")
            }
            Self::Alternatives { name, auto, value } => {
                let mode = if *auto { "automatic" } else { "manual" };
                write!(f, "{value}, through update-alternatives ({name}, {mode} mode)")
            }
        }
    }
}

/// One change by cudaup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What was there.
    pub before: Held,
    /// What was put there.
    pub after: Held,
    /// The tree that was made known to update-alternatives for it.
    #[serde(default)]
    pub registered: Option<String>,
}

impl Step {
    /// Whether the link is as it was before, or as a kill left it in the middle: the alternatives system writes down that a
    /// group no longer chooses by itself before it changes the link.
    pub fn is_undone(&self, now: &Held) -> bool {
        let half = match (&self.before, &self.after, now) {
            (
                Held::Alternatives { name, value, .. },
                Held::Alternatives { auto: false, .. },
                Held::Alternatives { name: n, auto: false, value: v },
            ) => name == n && value == v,
            _ => false,
        };
        half || *now == self.before
    }
}

/// The changes by cudaup that can be taken back, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Each begins with what the one before it made.
    pub steps: Vec<Step>,
}

impl Memory {
    /// What is remembered on this machine.
    pub fn read(host: &Host) -> Result<Self, Failure> {
        let path = host.system(MEMORY);
        match text::read(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(Failure::io("read", &path, &e)),
            Ok(text) => serde_json::from_str(&text).map_err(|e| {
                let what = format!("{} cannot be read as what cudaup wrote there: {e}", path.display());
                Failure::failed(what)
                    .hint(format!("remove it, if nothing is to be put back: rm {}", shown(&path)))
            }),
        }
    }

    /// Remembers it; with nothing to remember the file goes.
    pub fn write(&self, host: &Host) -> Result<(), Failure> {
        let path = host.system(MEMORY);
        if self.steps.is_empty() {
            return match fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Failure::io("remove", &path, &e)),
                _ => Ok(()),
            };
        }
        let mut text = serde_json::to_vec_pretty(self).map_err(|e| Failure::io("write", &path, &e.into()))?;
        text.push(b'\n');
        atomic::write_for_all(&path, &text)
    }

    /// With one more step. What was changed by others in between cannot be taken back through: then the older ones go.
    #[must_use]
    pub fn with(&self, step: Step) -> Self {
        let mut step = step;
        let kept = match self.steps.as_slice() {
            steps @ [.., last] if last.after == step.before => steps,
            // One that a kill kept from being done: what was before it still holds. A tree that it made known stays to be
            // forgotten.
            [older @ .., last] if last.is_undone(&step.before) => {
                step.before = last.before.clone();
                if last.registered.is_none() || last.after == step.after {
                    step.registered = step.registered.or_else(|| last.registered.clone());
                    older
                } else {
                    &self.steps
                }
            }
            _ => &[],
        };
        let skip = (kept.len() + 1).saturating_sub(MOST);
        Self { steps: kept.iter().skip(skip).cloned().chain([step]).collect() }
    }

    /// Without the last step.
    #[must_use]
    pub fn without_last(&self) -> Self {
        let mut steps = self.steps.clone();
        steps.pop();
        Self { steps }
    }
}

fn shown(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn link(text: &str) -> Held {
        Held::Link { text: text.to_owned() }
    }

    fn step(before: Held, after: Held) -> Step {
        Step { before, after, registered: None }
    }

    #[test]
    fn steps_join_and_those_that_do_not_begin_anew() {
        let first = Memory::default().with(step(Held::Absent, link("cuda-11.8")));
        let second = first.with(step(link("cuda-11.8"), link("cuda-12.4")));
        assert_eq!(second.steps.len(), 2);
        assert_eq!(second.without_last(), first);
        let anew = second.with(step(link("cuda-13.0"), link("cuda-11.8")));
        assert_eq!(anew.steps, [step(link("cuda-13.0"), link("cuda-11.8"))]);
        // The second was written down and never done.
        let other = step(link("cuda-11.8"), link("cuda-13.0"));
        assert_eq!(second.with(other.clone()).steps, [first.steps[0].clone(), other]);
        let mut many = Memory::default();
        for _ in 0..MOST + 9 {
            many = many.with(step(link("a"), link("a")));
        }
        assert_eq!(many.steps.len(), MOST);
        assert_eq!(Memory::default().without_last(), Memory::default());
    }

    #[test]
    fn what_a_kill_left_half_done_is_taken_up() {
        let managed =
            |auto, value: &str| Held::Alternatives { name: "cuda".into(), auto, value: value.into() };
        let (before, after) = (managed(true, "/a"), managed(false, "/b"));
        let known = Step { registered: Some("/b".into()), ..step(before.clone(), after.clone()) };
        let killed = Memory::default().with(known.clone());
        // The tree is known by now, and the group may no longer choose by itself.
        for now in [before.clone(), managed(false, "/a")] {
            assert!(known.is_undone(&now));
            assert_eq!(killed.with(step(now.clone(), after.clone())), killed, "{now}");
            let other = killed.with(step(now, managed(false, "/c"))).steps;
            assert_eq!(other, [known.clone(), step(before.clone(), managed(false, "/c"))]);
        }
        for now in [after.clone(), managed(false, "/c"), managed(true, "/b"), link("/a"), Held::Absent] {
            assert!(!known.is_undone(&now), "{now}");
        }
    }

    #[test]
    fn what_is_written_is_read_back_by_everybody_and_an_empty_one_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let host = Host { sysroot: Some(root.path().to_path_buf()), ..Host::bare() };
        fs::create_dir_all(host.system("/usr/local")).unwrap();
        assert_eq!(Memory::read(&host).unwrap(), Memory::default());
        let auto =
            Held::Alternatives { name: "cuda".into(), auto: true, value: "/usr/local/cuda-11.8".into() };
        let memory = Memory::default().with(Step { registered: Some("/x".into()), ..step(auto, link("x")) });
        memory.write(&host).unwrap();
        assert_eq!(Memory::read(&host).unwrap(), memory);
        assert_eq!(fs::metadata(host.system(MEMORY)).unwrap().permissions().mode() & 0o777, 0o644);
        Memory::default().write(&host).unwrap();
        assert_eq!(fs::read_dir(host.system("/usr/local")).unwrap().count(), 0);
        fs::write(host.system(MEMORY), "{").unwrap();
        assert!(Memory::read(&host).unwrap_err().tries[0].contains("rm "));
    }
}
