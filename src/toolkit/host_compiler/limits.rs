//! The compiler versions that a toolkit's `crt/host_config.h` accepts.

use std::fs;
use std::io;
use std::path::Path;

use crate::failure::Failure;

/// NVIDIA documents gcc 6 as the oldest; headers do not check it.
const OLDEST_GCC: u32 = 6;
/// Where a header names no newest version, any will do.
const ANY: u32 = u32::MAX;

/// Whose compiler it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// GNU.
    Gcc,
    /// LLVM.
    Clang,
}

impl Family {
    /// The name of its C++ compiler.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Gcc => "g++",
            Self::Clang => "clang++",
        }
    }

    /// Whose compiler a program of this name or path is.
    pub fn of_program(name: &str) -> Self {
        let name = name.rsplit('/').next().unwrap_or(name);
        if name.contains("clang") { Self::Clang } else { Self::Gcc }
    }
}

/// What a toolkit says of a compiler version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes it.
    Fits,
    /// It takes this major version at most.
    TooNew(u32),
    /// It takes this major version at least.
    TooOld(u32),
}

/// The accepted major versions of each family: the oldest and the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    gcc: (u32, u32),
    clang: (u32, u32),
}

impl Limits {
    /// Reads the header of a toolkit; `None` where it has none.
    pub fn of(toolkit: &Path) -> Result<Option<Self>, Failure> {
        let path = toolkit.join("include/crt/host_config.h");
        match fs::read(&path) {
            Ok(header) => Ok(Some(Self::parse(&String::from_utf8_lossy(&header)))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::io("read", &path, &error)),
        }
    }

    /// Reads the header's text: each `#error` about a compiler's version stands below the `#if` that says which versions
    /// are refused. The words of the error are not trusted: some name another number than the `#if`.
    pub fn parse(header: &str) -> Self {
        let mut limits = Self { gcc: (0, ANY), clang: (0, ANY) };
        let joined = header.replace("\\\r\n", " ").replace("\\\n", " ");
        let mut condition = "";
        for line in joined.lines() {
            let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
            if let Some(rest) = directive.strip_prefix("if").or_else(|| directive.strip_prefix("elif")) {
                condition = rest;
            } else if directive.starts_with("error") && directive.contains("unsupported GNU version") {
                limits.gcc = narrowed(limits.gcc, condition, "__GNUC__");
            } else if directive.starts_with("error") && directive.contains("unsupported clang version") {
                limits.clang = narrowed(limits.clang, condition, "__clang_major__");
            }
        }
        limits
    }

    /// The newest accepted major version; for a family without a limit, one that will do for a search.
    pub fn most(&self, family: Family) -> u32 {
        let (_, most) = self.range(family);
        if most == ANY { 30 } else { most }
    }

    /// Whether a version is accepted.
    pub fn judge(&self, family: Family, major: u32) -> Verdict {
        let (least, most) = self.range(family);
        if major > most {
            Verdict::TooNew(most)
        } else if major < least {
            Verdict::TooOld(least)
        } else {
            Verdict::Fits
        }
    }

    fn range(&self, family: Family) -> (u32, u32) {
        match family {
            Family::Gcc => (self.gcc.0.max(OLDEST_GCC), self.gcc.1),
            Family::Clang => self.clang,
        }
    }
}

/// A range without the versions that a condition such as `__GNUC__ > 13 || (__GNUC__ < 5)` refuses.
fn narrowed((mut least, mut most): (u32, u32), condition: &str, name: &str) -> (u32, u32) {
    for comparison in condition.split("||").flat_map(|part| part.split("&&")) {
        let bare = |c: char| c.is_whitespace() || matches!(c, '(' | ')');
        let Some(rest) = comparison.trim_matches(bare).strip_prefix(name).map(str::trim_start) else {
            continue;
        };
        let number = |text: &str| text.trim_matches(bare).parse::<u32>().ok();
        if let Some(refused) = rest.strip_prefix(">=").and_then(number) {
            most = most.min(refused.saturating_sub(1));
        } else if let Some(last) = rest.strip_prefix('>').and_then(number) {
            most = most.min(last);
        } else if let Some(last) = rest.strip_prefix("<=").and_then(number) {
            least = least.max(last.saturating_add(1));
        } else if let Some(first) = rest.strip_prefix('<').and_then(number) {
            least = least.max(first);
        }
    }
    (least, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checks of a header, in the form that 12.4's has.
    fn header(gcc: &str, clang: &str) -> String {
        format!(
            "#if defined(__ICC)\n#if (__ICC != 1500) || !defined(__GNUC__) || !defined(__LP64__)\n\
             #error -- unsupported ICC configuration! Only ICC 15.0 is supported!\n#endif\n#endif\n\
             #if defined(__GRCO_CLANG_COMPILER__)\n\
             #if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || (__clang_major__ > 17))\n\
             #error -- unsupported Grace clang version! The version must be 16.x to 17.x.\n#endif\n#endif\n\
             #if defined(__GNUC__)\n\n#if {gcc}\n\n#error -- unsupported GNU version! gcc versions later than 99 are not \
             supported!\n\n#endif /* __GNUC__ > 99 */\n\
             #if defined(__HORIZON__)\n#if (__clang_major__ >= 77) || (__clang_major__ < 3)\n\
             #error -- unsupported HOS clang version! The version must be less than 77\n#endif\n#endif\n\
             #if defined(__clang__) && !defined(__APPLE__)\n#if {clang}\n\
             #error -- unsupported clang version! clang version must be less than 99 and greater than 3.2 .\n\n#endif\n"
        )
    }

    #[test]
    fn the_condition_counts_and_not_the_words_of_the_error() {
        let old_clang = "((__clang_major__ == 3) &&  (__clang_minor__ < 3))";
        let clang = format!("(__clang_major__ >= 18) || (__clang_major__ < 3) || {old_clang}");
        let limits = Limits::parse(&header("__GNUC__ > 13", &clang));
        assert_eq!(limits, Limits { gcc: (0, 13), clang: (3, 17) });
        assert_eq!((limits.most(Family::Gcc), limits.most(Family::Clang)), (13, 17));
    }

    #[test]
    fn other_spellings_of_the_condition_are_understood() {
        let parse = |gcc: &str| Limits::parse(&header(gcc, "__clang_major__>20")).gcc;
        assert_eq!(parse("(__GNUC__ >= 16)"), (0, 15));
        assert_eq!(parse("__GNUC__>15 || __GNUC__<7"), (7, 15));
        assert_eq!(parse("(__GNUC__ > 15) || \\\n    (__GNUC__ <= 6)"), (7, 15));
        assert_eq!(parse("__GNUC__ > 4 || (__GNUC__ == 4 && __GNUC_MINOR__ > 9)"), (0, 4));
        assert_eq!(Limits::parse(&header("__GNUC__ > 15", "__clang_major__>20")).clang, (0, 20));
    }

    #[test]
    fn a_header_that_says_nothing_refuses_nothing_new() {
        for text in ["", "#if __GNUC__ > 13\n#endif\n", "#error -- unsupported GNU version!\n"] {
            let limits = Limits::parse(text);
            assert_eq!(limits.judge(Family::Gcc, 99), Verdict::Fits, "{text}");
            assert_eq!(limits.judge(Family::Clang, 99), Verdict::Fits, "{text}");
        }
    }

    #[test]
    fn the_limits_themselves_fit() {
        let limits = Limits { gcc: (0, 13), clang: (7, 17) };
        let gcc = |major| limits.judge(Family::Gcc, major);
        assert_eq!([gcc(13), gcc(14), gcc(6)], [Verdict::Fits, Verdict::TooNew(13), Verdict::Fits]);
        assert_eq!(gcc(5), Verdict::TooOld(6));
        let clang = |major| limits.judge(Family::Clang, major);
        assert_eq!(
            [clang(17), clang(18), clang(7), clang(6)],
            [Verdict::Fits, Verdict::TooNew(17), Verdict::Fits, Verdict::TooOld(7)]
        );
    }

    #[test]
    fn a_tree_without_the_header_has_no_limits() {
        assert_eq!(Limits::of(Path::new("/nonexistent")).unwrap(), None);
    }
}
