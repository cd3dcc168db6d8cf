//! pkg-config files as NVIDIA's tree has them, but with every path from the file's own place, so that the tree can move.

use cudaup_core::version::Version;

use super::Work;
use crate::failure::Failure;

/// Name of the file, description, library.
const PACKAGES: [(&str, &str, &str); 17] = [
    ("cublas", "CUDA BLAS Library", "cublas"),
    ("cuda", "CUDA Driver Library", "cuda"),
    ("cudart", "CUDA Runtime Library", "cudart"),
    ("cufft", "CUDA FFT Library", "cufft"),
    ("cufftw", "CUDA FFTW Library", "cufftw"),
    ("cufile", "CUDA File Library", "cufile"),
    ("curand", "CUDA Random Number Generation Library", "curand"),
    ("cusolver", "A LAPACK-like library on dense and sparse linear algebra", "cusolver"),
    ("cusparse", "CUDA Sparse Matrix Library", "cusparse"),
    ("libnvjitlink", "NVIDIA JIT LTO Library", "nvJitLink"),
    ("nppc", "NPP core library", "nppc"),
    ("nvToolsExt", "NVIDIA Tools Extension", "nvToolsExt"),
    ("nvfatbin", "NVIDIA fatbin Library", "nvfatbin"),
    ("nvidia-ml", "NVIDIA Management Library", "nvidia-ml"),
    ("nvjpeg", "NVIDIA JPEG Library", "nvjpeg"),
    ("nvrtc", "A runtime compilation library for CUDA C++", "nvrtc"),
    ("opencl", "OpenCL", "OpenCL"),
];

/// Files that came with the parts name the place of NVIDIA's installer; they get the paths that the others have, and their
/// links.
fn settle(work: &mut Work, release: Version, lib: &str) -> Result<(), Failure> {
    let ending = format!("-{release}.pc");
    for file in work.names(&format!("{lib}/pkgconfig"))? {
        let place = format!("{lib}/pkgconfig/{file}");
        let text = work.text(&place)?;
        if let Some(moved) = moved(&text) {
            work.file(&place, moved.as_bytes())?;
        }
        if let Some(name) = file.strip_suffix(&ending) {
            work.link(&format!("{lib}/pkgconfig/{name}.pc"), &file)?;
        }
    }
    Ok(())
}

/// The text with paths from the file's own place; `None` where it names no other.
fn moved(text: &str) -> Option<String> {
    let is_set = |line: &str, name: &str| {
        line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let fixed = text.lines().any(|l| is_set(l, "cudaroot") && l.contains("=/"));
    let line = |line: &str| match line {
        l if is_set(l, "cudaroot") => "cudaroot=${pcfiledir}/../..\n".to_owned(),
        l if is_set(l, "libdir") => "libdir=${pcfiledir}/..\n".to_owned(),
        l if is_set(l, "includedir") => "includedir=${pcfiledir}/../../include\n".to_owned(),
        l => format!("{l}\n"),
    };
    fixed.then(|| text.lines().map(line).collect())
}

/// Writes `NAME-X.Y.pc` and the link `NAME.pc` for each library that is there.
pub fn write(work: &mut Work, version: Version, lib: &str) -> Result<(), Failure> {
    let release = Version { update: None, ..version };
    for (name, description, library) in PACKAGES {
        let stub = work.is_there(&format!("{lib}/stubs/lib{library}.so"));
        if !stub && !work.is_there(&format!("{lib}/lib{library}.so")) {
            continue;
        }
        let (file, link) = (format!("{name}-{release}.pc"), format!("{lib}/pkgconfig/{name}.pc"));
        let place = format!("{lib}/pkgconfig/{file}");
        if !work.is_there(&place) {
            work.file(&place, text(name, description, library, release, stub).as_bytes())?;
        }
        work.link(&link, &file)?;
    }
    settle(work, release, lib)
}

/// The paths hold both below `targets/` and through the links `lib64` and `lib`. A stub's directory comes last, for
/// machines without the driver.
fn text(name: &str, description: &str, library: &str, release: Version, stub: bool) -> String {
    let stubs = if stub { " -L${libdir}/stubs" } else { "" };
    format!(
        "libdir=${{pcfiledir}}/..\nincludedir=${{pcfiledir}}/../../include\n\nName: {name}\nDescription: {description}\n\
         Version: {release}\nLibs: -L${{libdir}}{stubs} -l{library}\nCflags: -I${{includedir}}\n"
    )
}
