//! Reads a thing: files by their heads, a wheel without unpacking it to the disk, a directory with all that lies in it.

use super::{Needed, Subject};
use crate::elf::fatbin::{self, Code};
use crate::elf::header::{self, Image};
use crate::elf::sections::Span;
use crate::facts::loader::Loader;
use crate::failure::{Failure, plain_io};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// A directory with more files than this is not read to the end.
const MOST_FILES: usize = 200_000;
const DEEPEST: usize = 40;

/// The longest list of a wheel's requirements that is read.
const MOST_METADATA: u64 = 1 << 20;

/// What the names of CUDA's libraries begin with.
const OF_CUDA: [&str; 20] = [
    "libcuda.so",
    "libcudart",
    "libcublas",
    "libcudnn",
    "libcufft",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libnccl",
    "libnvrtc",
    "libnvJitLink",
    "libcupti",
    "libnpp",
    "libnvjpeg",
    "libnvToolsExt",
    "libcufile",
    "libnvshmem",
    "libcutensor",
    "libnvinfer",
    "libnvidia-ml",
];

/// Looks at a file, a wheel or a directory.
pub fn look(path: &Path, loader: &Loader) -> Result<Subject, Failure> {
    let found = path.metadata().map_err(|error| Failure::io("look at", path, &error))?;
    let mut subject = Subject { path: path.to_path_buf(), ..Subject::default() };
    if found.is_dir() {
        directory(&mut subject, loader);
        return Ok(subject);
    }
    if !found.is_file() {
        return Err(Failure::failed(format!("{} is neither a file nor a directory", path.display())));
    }
    let file = File::open(path).map_err(|error| Failure::io("read", path, &error))?;
    let mut magic = [0; 4];
    let start = (&file).read(&mut magic).map_err(|error| Failure::io("read", path, &error))?;
    if magic == *b"PK\x03\x04" && start == 4 {
        wheel(&mut subject, file)?;
        return Ok(subject);
    }
    match one(path, &file, loader) {
        Ok(Some((kind, code, needed))) => Ok(Subject { kind, code, needed, ..subject }),
        Ok(None) => {
            let what = format!("{} is no program, library, object, wheel or GPU code", path.display());
            Err(Failure::failed(what))
        }
        Err(why) => Err(Failure::failed(format!("could not read {}: {why}", path.display()))),
    }
}

type Looked = (&'static str, Code, Vec<Needed>);

/// One file; `None` where it is of no kind that holds code.
fn one(path: &Path, file: &File, loader: &Loader) -> Result<Option<Looked>, String> {
    let whole = Span::whole(file).map_err(|error| plain_io(&error))?;
    let Some(code) = fatbin::read(file, whole).map_err(|error| error.to_string())? else { return Ok(None) };
    let image = header::open(path).ok();
    let kind = kind(path, file, image.as_ref());
    let needed = image.map(|image| needed(&image, path, loader)).unwrap_or_default();
    Ok(Some((kind, code, needed)))
}

fn kind(path: &Path, file: &File, image: Option<&Image>) -> &'static str {
    use std::os::unix::fs::FileExt;
    let mut head = [0; 20];
    let read = file.read_exact_at(&mut head, 0).is_ok();
    if read && head.starts_with(b"!<arch>") {
        return "static library";
    }
    match image {
        Some(_) if head.get(18..20) == Some(&[190, 0]) => "GPU code",
        Some(_) if head.get(16..18) == Some(&[1, 0]) => "object",
        Some(image) if image.interpreter.is_some() => "program",
        Some(image) if image.soname.is_some() || path.to_string_lossy().contains(".so") => "library",
        Some(_) => "program",
        None => "GPU code",
    }
}

/// The CUDA libraries among those that a file asks for, each with what the loader takes now.
fn needed(image: &Image, path: &Path, loader: &Loader) -> Vec<Needed> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let origin = real.parent().unwrap_or(Path::new("/"));
    let of_cuda = image.needed.iter().filter(|name| OF_CUDA.iter().any(|start| name.starts_with(start)));
    of_cuda.map(|name| Needed { name: name.clone(), found: loader.find(name, image, origin) }).collect()
}

/// All files in a directory; links are not followed.
fn directory(subject: &mut Subject, loader: &Loader) {
    subject.kind = "directory";
    let mut waiting: Vec<(PathBuf, usize)> = vec![(subject.path.clone(), 0)];
    let mut seen = 0;
    while let Some((directory, depth)) = waiting.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                subject.unread.push(format!("could not read {}: {}", directory.display(), plain_io(&error)));
                continue;
            }
        };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEEPEST {
                waiting.push((entry.path(), depth + 1));
            }
            if !kind.is_file() {
                continue;
            }
            seen += 1;
            if seen > MOST_FILES {
                subject.unread.push(format!("only the first {MOST_FILES} files were looked at"));
                return;
            }
            take(subject, &entry.path(), loader);
        }
    }
}

fn take(subject: &mut Subject, path: &Path, loader: &Loader) {
    let looked = match File::open(path) {
        Ok(file) => one(path, &file, loader),
        Err(error) => Err(plain_io(&error)),
    };
    match looked {
        Ok(Some((_, code, needed))) => {
            if !code.architectures.is_empty() {
                let name = path.strip_prefix(&subject.path).unwrap_or(path).display().to_string();
                subject.files.push((name, code.clone()));
            }
            subject.code.add(code);
            for library in needed {
                if !subject.needed.iter().any(|known| known.name == library.name) {
                    subject.needed.push(library);
                }
            }
        }
        Ok(None) => {}
        Err(why) => subject.unread.push(format!("could not read {}: {why}", path.display())),
    }
}

/// The members of a wheel are read as a stream, in which containers are known by their heads.
fn wheel(subject: &mut Subject, file: File) -> Result<(), Failure> {
    let broken = |error: &dyn std::fmt::Display| {
        Failure::failed(format!("could not read {}: {error}", subject.path.display()))
    };
    let mut archive = ZipArchive::new(file).map_err(|error| broken(&error))?;
    let (mut files, mut unread, mut requires) = (Vec::new(), Vec::new(), Vec::new());
    let mut code = Code::default();
    for index in 0..archive.len() {
        let mut member = match archive.by_index(index) {
            Ok(member) => member,
            Err(error) => {
                unread.push(format!("could not read member {index}: {error}"));
                continue;
            }
        };
        let name = member.name().map(std::borrow::Cow::into_owned).unwrap_or_default();
        if name.ends_with(".dist-info/METADATA") {
            let mut text = Vec::new();
            // What cannot be read asks for nothing.
            let _ = member.by_ref().take(MOST_METADATA).read_to_end(&mut text);
            requires = required(&String::from_utf8_lossy(&text));
            continue;
        }
        if !may_hold_code(&name) {
            continue;
        }
        let step = if name.rsplit('.').next() == Some("a") { 2 } else { 8 };
        match fatbin::streamed(&mut member, step) {
            Ok(found) if found.architectures.is_empty() => {}
            Ok(found) => {
                files.push((name, found.clone()));
                code.add(found);
            }
            Err(error) => unread.push(format!("could not read {name}: {error}")),
        }
    }
    subject.kind = "wheel";
    (subject.files, subject.unread, subject.requires, subject.code) = (files, unread, requires, code);
    Ok(())
}

fn may_hold_code(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    [".a", ".o", ".cubin", ".fatbin"].iter().any(|end| file.ends_with(end))
        || file.contains(".so")
        || name.contains("/bin/")
}

/// `Requires-Dist: nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux"`, without the condition.
fn required(metadata: &str) -> Vec<String> {
    let lines = metadata
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("Requires-Dist:"));
    let names = lines.map(|line| line.split(';').next().unwrap_or(line).trim().to_owned());
    names
        .filter(|name| name.starts_with("nvidia-") || name.starts_with("cuda-") || name.starts_with("torch"))
        .collect()
}
