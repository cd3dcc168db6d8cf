//! The version that a library's own header states.

use crate::addon::Origin;
use crate::disk::text;
use cudaup_core::addon::Number;
use std::path::Path;

/// The version in the headers below `include`; `None` where no header states one.
pub fn version(include: &Path, origin: &Origin) -> Option<Number> {
    origin.headers.iter().find_map(|name| {
        let text = text::read(&include.join(name)).ok()?;
        numbers(&text, origin.macros)
    })
}

/// The numbers of `#define` lines, as a version. A macro that is computed from others is passed over.
fn numbers(text: &str, macros: &[&str]) -> Option<Number> {
    let value = |name: &&str| {
        text.lines().find_map(|line| {
            let mut words = line.trim().strip_prefix('#')?.split_whitespace();
            let defines = words.next() == Some("define") && words.next() == Some(*name);
            words.next().filter(|v| defines && v.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    let found: Vec<&str> = macros.iter().map(value).collect::<Option<_>>()?;
    Number::parse(&found.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUDNN: [&str; 3] = ["CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"];

    #[test]
    fn numbers_are_read_and_expressions_passed_over() {
        let text = "/* x */\n#define CUDNN_MAJOR 7   \n--\n# define CUDNN_MINOR\t3\n#define CUDNN_PATCHLEVEL 1 /* why */\n\
                    #define CUDNN_VERSION (CUDNN_MAJOR * 1000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)\n";
        assert_eq!(numbers(text, &CUDNN), Number::parse("7.3.1"));
        let without = text.replace("CUDNN_MINOR\t3", "CUDNN_MINOR (X)");
        assert_eq!(numbers(&without, &CUDNN), None);
        assert_eq!(numbers("#define CUDNN_MAJOR_2 7\n", &CUDNN), None);
    }

    #[test]
    fn headers_of_real_releases() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/samples/cudnn-header");
        let Ok(entries) = std::fs::read_dir(&samples) else {
            eprintln!("skipped: no headers at {}", samples.display());
            return;
        };
        let mut seen = 0;
        for path in entries.map(|e| e.unwrap().path()) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let stated = name.split('-').nth(1).unwrap();
            assert_eq!(numbers(&text::read(&path).unwrap(), &CUDNN), Number::parse(stated), "{name}");
            seen += 1;
        }
        assert!(seen >= 3);
    }
}
