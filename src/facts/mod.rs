//! What is known of the machine and the project, gathered without changing anything.

pub mod build_directory;
pub mod cudnn;
pub mod driver;
pub mod global_link;
pub mod gpu;
pub mod libraries;
pub mod llama_cpp;
pub mod loader;
pub mod platform;
pub mod python;

/// A fact about the machine. What could not be read is told apart from what is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fact<T> {
    /// It was read; the file or program that said so.
    Known(T, String),
    /// It was looked for and is not there.
    #[default]
    Absent,
    /// It could not be read; what kept it, as half a sentence: `nvidia-smi gave no answer in 10 s`.
    Unknown(String),
}

impl<T> Fact<T> {
    /// The value, where it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value, _) => Some(value),
            _ => None,
        }
    }

    /// Who said so, where it is known.
    pub fn source(&self) -> Option<&str> {
        match self {
            Self::Known(_, source) => Some(source),
            _ => None,
        }
    }

    /// Whether it was looked for and is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}
