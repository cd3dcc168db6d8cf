//! What each of Debian's packages holds, in NVIDIA's words, and where its files go in a toolkit's tree.

use crate::source::plan::{Placement, Platform, Rule};
use crate::source::profile::Selection;

/// The package that has the compiler, and the one that has all headers, stubs and static libraries.
pub const COMPILER: &str = "nvidia-cuda-toolkit";
pub const DEVELOPMENT: &str = "nvidia-cuda-dev";

/// The packages of other sources that are part of NVIDIA's toolkit: Thrust, CUB and libcu++, which changes its name.
pub const CCCL: [&str; 3] = ["libthrust-dev", "libcub-dev", "libcu++-dev"];

/// Packages of one component each, by their names without the numbers at the end.
const PACKAGES: &[(&str, &str)] = &[
    ("libthrust-dev", "cuda_cccl"),
    ("libcub-dev", "cuda_cccl"),
    ("libcu++-dev", "cuda_cccl"),
    (COMPILER, "cuda_nvcc"),
    ("libnvvm", "cuda_nvcc"),
    (DEVELOPMENT, "cuda_cudart"),
    ("libcudart", "cuda_cudart"),
    ("libnvrtc", "cuda_nvrtc"),
    ("libnvrtc-builtins", "cuda_nvrtc"),
    ("libnvjitlink", "libnvjitlink"),
    ("libnvfatbin", "libnvfatbin"),
    ("libcublas", "libcublas"),
    ("libcublaslt", "libcublas"),
    ("libnvblas", "libcublas"),
    ("libcufft", "libcufft"),
    ("libcufftw", "libcufft"),
    ("libcurand", "libcurand"),
    ("libcusolver", "libcusolver"),
    ("libcusolvermg", "libcusolver"),
    ("libcusparse", "libcusparse"),
    ("libnppc", "libnpp"),
    ("libnppial", "libnpp"),
    ("libnppicc", "libnpp"),
    ("libnppidei", "libnpp"),
    ("libnppif", "libnpp"),
    ("libnppig", "libnpp"),
    ("libnppim", "libnpp"),
    ("libnppist", "libnpp"),
    ("libnppisu", "libnpp"),
    ("libnppitc", "libnpp"),
    ("libnpps", "libnpp"),
    ("libnvjpeg", "libnvjpeg"),
    ("libcufile", "libcufile"),
    ("libcufile-rdma", "libcufile"),
    ("libcufile-dev", "libcufile"),
    ("libcupti", "cuda_cupti"),
    ("libcupti-dev", "cuda_cupti"),
    ("libnvtoolsext", "cuda_nvtx"),
    ("libnvidia-ml-dev", "cuda_nvml_dev"),
    ("nvidia-profiler", "cuda_nvprof"),
    ("libcuinj64", "cuda_nvprof"),
    ("libaccinj64", "cuda_nvprof"),
];

/// Components whose files lie in the compiler's package. The small programs come with it whoever asks for it.
const PROGRAMS: &[(&str, &str)] = &[
    ("cuda_cuobjdump", "cuobjdump"),
    ("cuda_nvdisasm", "nvdisasm"),
    ("cuda_cuxxfilt", "cu++filt"),
    ("cuda_nvprune", "nvprune"),
];
const SANITIZER: &str = "cuda_sanitizer_api";
const MEMCHECK: &str = "cuda_memcheck";

/// Pieces of the development package that belong to another component than the runtime: how its headers begin, its
/// libraries, and how further static libraries begin.
struct Library {
    component: &'static str,
    headers: &'static [&'static str],
    libraries: &'static [&'static str],
    statics: &'static [&'static str],
}

const fn library(
    component: &'static str,
    headers: &'static [&'static str],
    libraries: &'static [&'static str],
) -> Library {
    Library { component, headers, libraries, statics: &[] }
}

const LIBRARIES: &[Library] = &[
    library("libcublas", &["cublas", "nvblas.h"], &["cublas", "cublasLt", "nvblas"]),
    library("libcufft", &["cufft", "cudalibxt.h"], &["cufft", "cufftw"]),
    library("libcurand", &["curand"], &["curand"]),
    Library {
        statics: &["libcusolver_", "liblapack_static", "libmetis_static"],
        ..library("libcusolver", &["cusolver"], &["cusolver", "cusolverMg"])
    },
    library("libcusparse", &["cusparse"], &["cusparse"]),
    library(
        "libnpp",
        &["npp"],
        &[
            "nppc", "nppial", "nppicc", "nppidei", "nppif", "nppig", "nppim", "nppist", "nppisu", "nppitc",
            "npps",
        ],
    ),
    library("libnvjpeg", &["nvjpeg.h"], &["nvjpeg"]),
    library("cuda_nvrtc", &["nvrtc.h"], &["nvrtc", "nvrtc-builtins"]),
    library("libnvjitlink", &["nvJitLink.h"], &["nvJitLink"]),
    library("libnvfatbin", &["nvFatbin.h"], &["nvfatbin"]),
    library("cuda_nvtx", &["nvtx3/", "nvToolsExt"], &["nvToolsExt"]),
    library("cuda_nvml_dev", &[], &["nvidia-ml"]),
    library("cuda_nvprof", &[], &["cuinj64", "accinj64"]),
    library("cuda_gdb", &["cuda-gdb/"], &[]),
];

/// The component that a package is, by its name; `None`: it is none of a toolkit's.
pub fn component(package: &str) -> Option<&'static str> {
    let stem = stem(package);
    PACKAGES.iter().find(|(name, _)| *name == stem).map(|(_, component)| *component)
}

/// The name without the number of the library's interface: `libcudart11.0` is `libcudart`, `libcuinj64-11.8` is
/// `libcuinj64`.
fn stem(package: &str) -> &str {
    let plain = package.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    plain.strip_suffix('-').unwrap_or(plain)
}

/// The component that a package is loaded for: its own, else the first of those in it that is wanted.
pub fn title<'a>(package: &'a str, selection: &Selection) -> &'a str {
    let own = component(package).unwrap_or(package);
    if selection.has(own) {
        return own;
    }
    let first = match package {
        COMPILER => inside(COMPILER).into_iter().find(|component| selection.has(component)),
        DEVELOPMENT if !selection.has("cuda_nvcc") => {
            LIBRARIES.iter().map(|l| l.component).find(|component| selection.has(component))
        }
        _ => None,
    };
    first.unwrap_or(own)
}

/// Whether a package has something that is wanted.
pub fn wanted(package: &str, selection: &Selection) -> bool {
    match stem(package) {
        COMPILER => {
            selection.has("cuda_nvcc") || inside(COMPILER).iter().any(|component| selection.has(component))
        }
        DEVELOPMENT => {
            selection.has("cuda_nvcc")
                || selection.has("cuda_cudart")
                || LIBRARIES.iter().any(|l| l.component != "cuda_gdb" && selection.has(l.component))
        }
        _ => component(package).is_some_and(|component| selection.has(component)),
    }
}

/// The components that come with a package besides its own.
pub fn inside(package: &str) -> Vec<&'static str> {
    match package {
        COMPILER => PROGRAMS.iter().map(|(component, _)| *component).chain([SANITIZER, MEMCHECK]).collect(),
        DEVELOPMENT => vec!["cuda_profiler_api", "libnvptxcompiler"],
        _ => Vec::new(),
    }
}

/// Where a package's files go.
pub fn placement(package: &str, selection: &Selection, major: u32, platform: Platform) -> Placement {
    let mut rules = Rules {
        list: Vec::new(),
        include: format!("targets/{}/include/", platform.target()),
        lib: format!("targets/{}/lib/", platform.target()),
        debian: format!("usr/lib/{}-linux-gnu/", platform.machine()),
    };
    let owner = component(package).unwrap_or(package);
    rules.to(&format!("usr/share/doc/{package}/copyright"), &format!("share/licenses/{owner}/{package}"));
    match package {
        COMPILER => rules.compiler(selection, major),
        DEVELOPMENT => rules.development(selection),
        _ => rules.library(selection.rest),
    }
    Placement { strip: 0, rules: rules.list }
}

struct Rules {
    list: Vec<Rule>,
    /// Where headers and libraries go, and where Debian has the libraries.
    include: String,
    lib: String,
    debian: String,
}

impl Rules {
    fn to(&mut self, from: &str, to: &str) {
        self.list.push(Rule { from: from.to_owned(), to: Some(to.to_owned()) });
    }

    fn drop(&mut self, from: &str) {
        self.list.push(Rule { from: from.to_owned(), to: None });
    }

    /// A header, or all that begin so.
    fn header(&mut self, name: &str, wanted: bool) {
        let to = format!("{}{name}", self.include);
        self.when(wanted, &format!("usr/include/{name}"), &to);
    }

    /// A file in the directory of libraries, or all that begin so.
    fn lib(&mut self, name: &str) {
        let to = format!("{}{name}", self.lib);
        self.to(&format!("{}{name}", self.debian), &to);
    }

    fn when(&mut self, wanted: bool, from: &str, to: &str) {
        if wanted { self.to(from, to) } else { self.drop(from) }
    }

    fn compiler(&mut self, selection: &Selection, major: u32) {
        const HOME: &str = "usr/lib/nvidia-cuda-toolkit";
        let whole = selection.has("cuda_nvcc");
        let sanitizer = selection.has(SANITIZER);
        if sanitizer {
            self.to(&format!("{HOME}/compute-sanitizer/"), "compute-sanitizer/");
        }
        // From 12 on the program is there already, and this is a link to it.
        let apart = sanitizer && major < 12;
        self.when(apart, "usr/bin/compute-sanitizer", "compute-sanitizer/compute-sanitizer");
        self.when(apart, "usr/bin/TreeLauncher", "compute-sanitizer/TreeLauncher");
        self.when(selection.has(MEMCHECK), "usr/bin/cuda-memcheck", "bin/cuda-memcheck");
        // A script that starts the compiler at a place where it is not.
        self.drop("usr/bin/nvcc");
        if !whole {
            for (_, program) in PROGRAMS.iter().filter(|(component, _)| selection.has(component)) {
                self.to(&format!("usr/bin/{program}"), &format!("bin/{program}"));
            }
            return;
        }
        self.to("usr/bin/", "bin/");
        // A link to /etc; the tree gets one of its own.
        self.drop(&format!("{HOME}/bin/nvcc.profile"));
        self.to(&format!("{HOME}/bin/nvcc"), "bin/nvcc");
        self.to(&format!("{HOME}/bin/crt/"), "bin/crt/");
        self.to(&format!("{HOME}/bin/cicc"), "nvvm/bin/cicc");
        self.to(&format!("{HOME}/libdevice/"), "nvvm/libdevice/");
        self.to("usr/include/nvvm.h", "nvvm/include/nvvm.h");
    }

    fn development(&mut self, selection: &Selection) {
        let base = selection.has("cuda_nvcc") || selection.has("cuda_cudart");
        for library in LIBRARIES {
            // Debian rebuilds its debugger for its own release only.
            let wanted = selection.has(library.component) && library.component != "cuda_gdb";
            for header in library.headers {
                self.header(header, wanted);
            }
            if !wanted {
                continue;
            }
            for name in library.libraries {
                if selection.rest {
                    self.lib(&format!("lib{name}_static"));
                }
                self.lib(&format!("lib{name}.so"));
                self.lib(&format!("stubs/lib{name}.so"));
            }
            for name in library.statics.iter().filter(|_| selection.rest) {
                self.lib(name);
            }
        }
        if base {
            self.header("", true);
            for name in [
                "libcudart",
                "libcudadevrt.a",
                "libculibos.a",
                "libcufilt.a",
                "libnvptxcompiler_static.a",
                "stubs/libcuda.so",
            ] {
                self.lib(name);
            }
            let link = format!("{}libnvvm.so", self.debian);
            self.to(&link, "nvvm/lib64/libnvvm.so");
        }
    }

    /// A package of one library, with or without headers.
    fn library(&mut self, statics: bool) {
        self.header("", true);
        self.to("usr/share/cmake/", &format!("{}cmake/", self.lib.clone()));
        self.to("usr/lib/nvidia-cuda-toolkit/bin/nvprof", "bin/nvprof");
        self.to(&format!("{}libnvvm", self.debian.clone()), "nvvm/lib64/libnvvm");
        if !statics {
            for name in ["cupti", "nvperf_host", "cufile", "cufile_rdma"] {
                self.drop(&format!("{}lib{name}_static", self.debian.clone()));
            }
        }
        self.lib("");
    }
}

#[cfg(test)]
mod tests;
