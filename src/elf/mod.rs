//! ELF files: what a program or library of a toolkit is made for and asks for, small link-only libraries, and the loader's cache.

pub mod cache;
pub mod fatbin;
pub mod header;
pub mod sections;
pub mod stub;
#[cfg(test)]
mod tests;

/// The machines that toolkits for Linux are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// `x86_64-linux`.
    X86_64,
    /// `sbsa-linux` and `aarch64-linux`.
    Aarch64,
}

impl Machine {
    /// The number in the file header.
    pub const fn number(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }

    /// The machine that a file header's number means.
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            62 => Some(Self::X86_64),
            183 => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// The machine of a directory below `targets/`, such as `x86_64-linux`.
    pub fn of_target(target: &str) -> Option<Self> {
        match target.split('-').next() {
            Some("x86_64") => Some(Self::X86_64),
            Some("sbsa" | "aarch64") => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// The machine that this program was built for, and so runs on.
    pub fn here() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// As `uname -m` calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }
}
