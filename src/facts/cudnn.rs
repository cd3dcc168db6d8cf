//! Where cuDNN and NCCL are installed, by their headers and by the names of their libraries.

use cudaup_core::addon::Number;
use cudaup_core::disk::{Disk, Entry};
use cudaup_core::layout::layout;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A header of cuDNN 9 has some hundred lines, that of 7 three thousand.
const HEADER: usize = 1 << 20;

/// A library that is looked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name as NVIDIA writes it.
    pub shown: &'static str,
    /// What the names of its files begin with: `libcudnn.so`.
    pub file: &'static str,
    /// The headers that may state its version, the newer place first.
    headers: &'static [&'static str],
    /// The names of the numbers in them.
    macros: [&'static str; 3],
    /// Its directory below `site-packages/nvidia`.
    folder: &'static str,
}

/// The libraries that are looked for.
pub static KINDS: [Kind; 2] = [
    Kind {
        shown: "cuDNN",
        file: "libcudnn.so",
        headers: &["cudnn_version.h", "cudnn_version_v9.h", "cudnn_version_v8.h", "cudnn.h"],
        macros: ["CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"],
        folder: "cudnn",
    },
    Kind {
        shown: "NCCL",
        file: "libnccl.so",
        headers: &["nccl.h"],
        macros: ["NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH"],
        folder: "nccl",
    },
];

/// Whose directories a copy lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The system's own.
    System,
    /// A toolkit's; its root.
    Toolkit(PathBuf),
    /// A conda environment's; its prefix.
    Conda(PathBuf),
    /// A wheel's; its directory.
    Wheel(PathBuf),
}

/// A copy of one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// What it is.
    pub kind: &'static Kind,
    /// Whose directories it lies in.
    pub place: Place,
    /// What its header states, and the header.
    pub header: Option<(Number, PathBuf)>,
    /// Its libraries by the versions in their names, oldest first.
    pub libraries: Vec<(Number, PathBuf)>,
    /// Files that are to be links to the library of full name and are copies: `libcudnn.so`, `libcudnn.so.9`.
    pub copied: Vec<PathBuf>,
}

impl Installed {
    /// Its version: by the newest library, else by the header.
    pub fn version(&self) -> Option<&Number> {
        self.libraries.last().or(self.header.as_ref()).map(|(number, _)| number)
    }
}

/// All copies: the system's, those in toolkits, in an environment of conda's, and those of wheels.
pub fn look(
    disk: &dyn Disk,
    machine: &str,
    roots: &[PathBuf],
    conda: Option<&Path>,
    packages_in: &[PathBuf],
) -> Vec<Installed> {
    let mut found = Vec::new();
    let mut seen = Vec::new();
    let mut add = |place: Place, include: &[PathBuf], lib: &[PathBuf], own: &dyn Fn(&Kind) -> bool| {
        let listed: Vec<(&PathBuf, Vec<(OsString, Entry)>)> =
            lib.iter().map(|dir| (dir, disk.names(dir).unwrap_or_default())).collect();
        for kind in KINDS.iter().filter(|kind| own(kind)) {
            let copy = examine(disk, kind, place.clone(), include, &listed);
            // A toolkit can be found by several names, and a header by a link to another's.
            let what = copy.header.as_ref().or(copy.libraries.last()).map(|(_, file)| disk.real(file));
            if let Some(what) = what.filter(|what| !seen.contains(what)) {
                seen.push(what);
                found.push(copy);
            }
        }
    };
    let all = |_: &Kind| true;
    let system = |path: String| disk.system(&path);
    let include =
        ["/usr/include".into(), format!("/usr/include/{machine}-linux-gnu"), "/usr/local/include".into()]
            .map(system);
    let lib = [
        format!("/usr/lib/{machine}-linux-gnu"),
        "/usr/lib64".into(),
        "/usr/lib".into(),
        "/usr/local/lib".into(),
    ];
    add(Place::System, &include, &distinct(disk, lib.map(system).to_vec()), &all);
    for root in roots {
        let layout = layout(root, disk);
        if !layout.spread {
            add(Place::Toolkit(root.clone()), &layout.include, &distinct(disk, layout.lib), &all);
        }
    }
    if let Some(prefix) = conda {
        add(Place::Conda(prefix.to_path_buf()), &[prefix.join("include")], &[prefix.join("lib")], &all);
    }
    for directory in packages_in {
        for kind in &KINDS {
            let wheel = directory.join("nvidia").join(kind.folder);
            let (include, lib) = ([wheel.join("include")], [wheel.join("lib")]);
            add(Place::Wheel(wheel), &include, &lib, &|k| k == kind);
        }
    }
    found
}

fn distinct(disk: &dyn Disk, directories: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    directories
        .into_iter()
        .filter(|path| {
            let real = disk.real(path);
            let new = real.is_some() && !seen.contains(&real);
            seen.push(real);
            new
        })
        .collect()
}

fn examine(
    disk: &dyn Disk,
    kind: &'static Kind,
    place: Place,
    include: &[PathBuf],
    listed: &[(&PathBuf, Vec<(OsString, Entry)>)],
) -> Installed {
    let places = include.iter().flat_map(|dir| kind.headers.iter().map(move |name| dir.join(name)));
    let header = places.into_iter().find_map(|path| {
        let bytes = disk.read(&path, HEADER).ok()?;
        Some((numbers(&String::from_utf8_lossy(&bytes), &kind.macros)?, path))
    });
    let (mut libraries, mut copied) = (Vec::new(), Vec::new());
    for (directory, names) in listed {
        let own = names
            .iter()
            .filter_map(|(name, entry)| Some((name.to_str()?.strip_prefix(kind.file)?, name, *entry)));
        let (full, short): (Vec<_>, Vec<_>) = own.partition(|(end, ..)| end.matches('.').count() >= 3);
        libraries.extend(full.iter().filter(|(_, _, entry)| *entry == Entry::File).filter_map(
            |(end, name, _)| Some((Number::parse(end.strip_prefix('.')?)?, directory.join(name))),
        ));
        if !full.is_empty() {
            let is_name = |end: &str| {
                end.is_empty() || end.strip_prefix('.').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
            };
            copied.extend(
                short
                    .iter()
                    .filter(|(end, _, e)| *e == Entry::File && is_name(end))
                    .map(|(_, name, _)| directory.join(name)),
            );
        }
    }
    libraries.sort();
    copied.sort();
    Installed { kind, place, header, libraries, copied }
}

/// The numbers of `#define` lines, as a version. A macro that is computed from others is passed over.
fn numbers(text: &str, macros: &[&str; 3]) -> Option<Number> {
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
    use cudaup_core::home::Home;
    use cudaup_shim::RealDisk;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn header(version: &str) -> String {
        let mut numbers = version.split('.');
        let mut line = |name: &str| format!("#define CUDNN_{name} {} \n--\n", numbers.next().unwrap());
        let lines = [line("MAJOR"), line("MINOR"), line("PATCHLEVEL")].concat();
        format!("{lines}#define CUDNN_VERSION (CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)\n")
    }

    #[test]
    fn places_links_and_copies() {
        let dir = tempfile::TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        let write = |name: &str, text: &str| {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        };
        write("usr/include/x86_64-linux-gnu/cudnn_version_v9.h", &header("9.12.0"));
        fs::create_dir_all(at("etc/alternatives")).unwrap();
        symlink("/usr/include/x86_64-linux-gnu/cudnn_version_v9.h", at("etc/alternatives/cudnn_version_h"))
            .unwrap();
        symlink("/etc/alternatives/cudnn_version_h", at("usr/include/cudnn_version.h")).unwrap();
        write("usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.7", "");
        write("usr/lib/x86_64-linux-gnu/libcudnn.so.9.12.0", "");
        write("usr/lib/x86_64-linux-gnu/libcudnn_ops.so.9", "");
        symlink("libcudnn.so.9.12.0", at("usr/lib/x86_64-linux-gnu/libcudnn.so.9")).unwrap();
        write("usr/local/cuda-9.1/include/cudnn.h", &header("7.0.5"));
        for name in ["libcudnn.so", "libcudnn.so.7", "libcudnn.so.7.0.5", "libcudnn_static.a"] {
            write(&format!("usr/local/cuda-9.1/lib64/{name}"), "same");
        }
        write("sp/nvidia/cudnn/include/cudnn_version.h", &header("9.1.0"));
        write("sp/nvidia/cudnn/lib/libcudnn.so.9", "");
        write("conda/lib/libnccl.so.2.21.5", "");
        let disk = RealDisk::new(Some(dir.path().to_path_buf()), &Home::new("/nowhere"));
        let roots = [at("usr/local/cuda-9.1"), at("usr/local/cuda-9.1"), at("none")];
        let found = look(&disk, "x86_64", &roots, Some(&at("conda")), &[at("sp")]);
        let number = |text: &str| Number::parse(text).unwrap();
        let seen: Vec<_> =
            found.iter().map(|f| (f.kind.shown, f.version().unwrap().to_string(), f.copied.len())).collect();
        let of = |shown, version: &str, copied| (shown, version.to_owned(), copied);
        assert_eq!(
            seen,
            [
                of("cuDNN", "9.12.0", 0),
                of("cuDNN", "7.0.5", 2),
                of("NCCL", "2.21.5", 0),
                of("cuDNN", "9.1.0", 0)
            ]
        );
        assert_eq!(found[0].header.as_ref().unwrap().0, number("9.12.0"));
        assert_eq!(
            found[0].libraries.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>(),
            [number("8.9.7"), number("9.12.0")]
        );
        assert_eq!(
            (&found[1].place, &found[2].place),
            (&Place::Toolkit(at("usr/local/cuda-9.1")), &Place::Conda(at("conda")))
        );
    }

    #[test]
    fn bad_headers_and_nothing() {
        let dir = tempfile::TempDir::new().unwrap();
        let disk = RealDisk::new(Some(dir.path().to_path_buf()), &Home::new("/nowhere"));
        assert!(look(&disk, "x86_64", &[], None, &[]).is_empty());
        let include = dir.path().join("usr/include");
        fs::create_dir_all(&include).unwrap();
        for text in
            ["", "#define CUDNN_MAJOR\n", "#define CUDNN_MAJOR 9\n", "\0\u{1}", "#define CUDNN_MAJOR_2 7\n"]
        {
            fs::write(include.join("cudnn.h"), text).unwrap();
            assert!(look(&disk, "x86_64", &[], None, &[]).is_empty(), "{text:?}");
        }
        symlink("cudnn_version.h", include.join("cudnn_version.h")).unwrap();
        assert!(look(&disk, "x86_64", &[], None, &[]).is_empty());
    }

    #[test]
    fn headers_of_real_releases() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/samples/cudnn-header");
        let Ok(entries) = fs::read_dir(&samples) else {
            eprintln!("skipped: no headers at {}", samples.display());
            return;
        };
        let read = |path: PathBuf| {
            let stated = path.file_name().unwrap().to_str().unwrap().split('-').nth(1).map(str::to_owned);
            let text = fs::read_to_string(path).unwrap();
            assert_eq!(numbers(&text, &KINDS[0].macros).map(|n| n.to_string()), stated);
        };
        assert!(entries.map(|e| read(e.unwrap().path())).count() >= 3);
    }
}
