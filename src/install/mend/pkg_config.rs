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
    Ok(())
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
