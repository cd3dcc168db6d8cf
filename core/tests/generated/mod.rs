//! Environments as they could be, machines with toolkits of every kind, and which entries are a toolkit's: known here by the
//! table they come from, not by core's own reading.

use crate::map_disk::MapDisk;
use crate::places;
use cudaup_core::environment::{LISTS, OTHER_SCALARS, Vars};
use cudaup_core::foreign::ROOT_VARIABLES;
use cudaup_core::list::split;
use proptest::prelude::*;
use proptest::sample::select;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Entries of some toolkit, whatever the variables say.
const TOOLKITS: [&[u8]; 24] = [
    b"/usr/local/cuda/bin",
    b"/usr/local/cuda-11.8/bin",
    b"/usr/local/cuda-11.8/bin/",
    b"/usr/local/cuda-11.8/lib64",
    b"//usr/local//cuda-11/lib64",
    b"/usr/local/cuda/bin/../lib64",
    b"/usr/local/cuda/lib64/stubs",
    b"/usr/local/cuda-12.9/extras/CUPTI/lib64",
    b"/usr/local/cuda/targets/x86_64-linux/include",
    b"/usr/local/cuda-12.2/nsight-compute-2023.2.2",
    b"/opt/cuda/nvvm/bin",
    b"/home/u/cuda-11.1/lib64",
    b"/sp ace/it's \"$(x)\"\n\xff/cuda-9.0/bin",
    b"/home/u/.cudaup/toolkits/12.4.1/bin",
    b"/home/u/.cudaup/toolkits/12.4.1/lib64",
    b"/home/u/.cudaup/toolkits/9.9.9/include",
    b"/home/other/.cudaup/toolkits/mine/lib64",
    b"/home/u/.cudaup/addons/cudnn/9.8.0.87-cuda12/lib",
    b"/home/u/.cudaup/addons/cudnn/8.9.7.29-cuda11/include",
    b"/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/12.3/bin",
    b"/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/math_libs/12.3/lib64",
    b"/sw/spack/linux-zen2/cuda-12.1.1-4kjh3x7/lib64",
    b"/nix/store/q4v4mkqx0k9ds5pjs8cx4gkwwm0rmjrz-cuda-merged-12.2/lib",
    b"/usr/lib/nvidia-cuda-toolkit/bin",
];

/// Entries of a toolkit where a variable names its root.
const NAMED: [(&[u8], &[u8]); 5] = [
    (b"/apps/CUDA/11.7", b"/apps/CUDA/11.7/bin"),
    (b"/apps/CUDA/11.7", b"/apps/CUDA/11.7/lib64"),
    (b"/apps/CUDA/11.7", b"/apps/CUDA/11.7/include"),
    (b"/data/to ols;\xff'\"$(x)\n", b"/data/to ols;\xff'\"$(x)\n/bin"),
    (b"/data/to ols;\xff'\"$(x)\n", b"/data/to ols;\xff'\"$(x)\n/lib64"),
];

/// Entries of a toolkit where a default file lists the root.
const LISTED: [&[u8]; 2] = [b"/shared/tk/toolkits/12.0.1/bin", b"/shared/tk/12.1/lib64"];

/// Entries that are nobody's but the user's.
const BYSTANDERS: [&[u8]; 22] = [
    b"",
    b"/usr/bin",
    b"/usr/local/bin",
    b"/bin",
    b".",
    b"cuda/bin",
    b"~/bin",
    b"/usr/local/cuda/compat",
    b"/usr/local/cuda-samples/bin",
    b"/usr/lib/wsl/lib",
    b"/usr/lib/x86_64-linux-gnu/stubs",
    b"/mnt/c/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.4/bin",
    b"/opt/conda/envs/cuda-ml/bin",
    b"/opt/conda/envs/cuda-ml/targets/x86_64-linux/lib",
    b"/opt/conda/envs/cuda-ml/targets/x86_64-linux/lib/stubs",
    b"/home/u/.cudaup/shims",
    b"/home/u/.cudaup/bin",
    b"/my tools/bin",
    b"/$(touch x)/`id`/bin",
    b"/it's \"so\"/bin",
    b"/new\nline/;|&/bin",
    b"/\xff\xfe/bin",
];

/// Values of variables with one value.
const VALUES: [&[u8]; 12] = [
    b"",
    b"/usr/local/cuda-11.8",
    b"/usr/local/cuda-11.8/",
    b"/usr/local/cuda-11.8/bin/nvcc",
    b"/apps/CUDA/11.7",
    b"/apps/CUDA/11.7/bin/nvcc",
    b"/data/to ols;\xff'\"$(x)\n",
    b"/usr/local/cuda:",
    b"/home/u/.cudaup/toolkits/12.4.1",
    b"/usr",
    b"g++-10 -O2",
    b"with blank\xff;'\"$(x)\n`y`\\",
];

/// Variables that name a root and that cudaup does not set.
const OTHER_ROOTS: [&str; 3] = ["EBROOTCUDA", "NVHPC_CUDA_HOME", "CUDA_BIN_PATH"];

const OTHERS: [&str; 5] = ["CUDNN_HOME", "CUDNN_PATH", "NCCL_ROOT", "NVSHMEM_HOME", "CUDADIR"];

/// What toolkits bring with them: whoever activates a conda environment or loads a module has these.
const BROUGHT: [(&str, &str); 6] = [
    ("CONDA_PREFIX", "/opt/conda/envs/cuda-ml"),
    ("EBROOTCUDA", "/apps/CUDA/11.7"),
    ("LOADEDMODULES", "gcc/12:cuda/12.1"),
    ("CUDA_ROOT", "/sw/spack/linux-zen2/cuda-12.1.1-4kjh3x7"),
    ("CUDAToolkit_ROOT", "/nix/store/q4v4mkqx0k9ds5pjs8cx4gkwwm0rmjrz-cuda-merged-12.2"),
    ("VIRTUAL_ENV", "/home/u/venvs/cuda"),
];

/// A request of each kind of toolkit: managed (three majors), NVIDIA's in /usr/local, a link, Debian's, the HPC SDK's,
/// conda's, a module's, Spack's, Nix', of a listed root, the machine's own; then what cannot be met or read.
const REQUESTS: [&str; 15] = [
    "12.4", "13.0", "11.4", "11.8", "mine", "11.5", "12.3", "12.6", "11.7", "12.1", "12.2", "12.0", "system",
    "9.9", "$(x)",
];

const KEYS: [&str; 7] = [
    "",
    "ld_library_path = off\n",
    "cpath = off\n",
    "ld_library_path = off\ncpath = off\nhost_compiler = g++-12\n",
    "host_compiler = g++-11\ncudnn = 9\n",
    "cudnn = 9.8\nnccl = 2.21\nld_library_path = off\n",
    "nccl = 2.21\n",
];

/// What sets one machine apart from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Nothing.
    Plain,
    /// A default that lists a root.
    Roots,
    /// One of NVIDIA's boards.
    Jetson,
    /// Windows with Linux inside.
    Wsl,
}

impl Machine {
    /// All that is on it.
    pub fn disk(self) -> MapDisk {
        let mut disk = places::disk()
            .toolkit("/home/u/.cudaup/toolkits/13.0.2", "13.0.2")
            .toolkit("/home/u/.cudaup/toolkits/11.4.4", "11.4.4")
            .toolkit("/usr/local/cuda-11.8", "11.8.0")
            .toolkit("/data/own tree", "12.5.1")
            .node("/home/u/.cudaup/toolkits/mine", crate::map_disk::Node::Link("/data/own tree".into()))
            .node("/usr/local/cuda", crate::map_disk::Node::Link("/usr/local/cuda-11.8".into()))
            .toolkit("/shared/tk/toolkits/12.0.1", "12.0.1")
            .addon("/home/u/.cudaup/addons/cudnn/9.8.0.87-cuda12")
            .addon("/home/u/.cudaup/addons/cudnn/9.9.0.52-cuda11")
            .addon("/home/u/.cudaup/addons/nccl/2.21.5-cuda12")
            .addon("/home/u/.cudaup/addons/nccl/2.21.5-cuda13")
            .with("/home/u/.cudaup/addons/nccl/2.21.5-cuda12/lib/pkgconfig/nccl.pc", "");
        for (r, request) in REQUESTS.iter().enumerate() {
            for (k, keys) in KEYS.iter().enumerate() {
                disk = disk.with(&format!("/p/{r}/{k}/.cuda-version"), &format!("{request}\n{keys}"));
            }
        }
        match self {
            Self::Plain => disk,
            Self::Roots => disk.with("/home/u/.cudaup/default", "11.8\ncpath = off\nroots = /shared/tk\n"),
            Self::Jetson => disk.with("/etc/nv_tegra_release", "# R36\n"),
            Self::Wsl => {
                disk.with("/usr/lib/wsl/lib/libcuda.so.1", "").with("/etc/cudaup/default", "latest\n")
            }
        }
    }

    /// Whether an entry of a list is a toolkit's.
    pub fn owns(self, e: &Vars, entry: &OsStr) -> bool {
        let bytes = entry.as_bytes();
        let names = ROOT_VARIABLES.iter().chain(&OTHER_ROOTS);
        let named = |root: &[u8]| names.clone().filter_map(|n| e.get(n)).any(|v| v.as_bytes() == root);
        TOOLKITS.contains(&bytes)
            || NAMED.iter().any(|(root, known)| *known == bytes && named(root))
            || self == Self::Roots && LISTED.contains(&bytes)
    }
}

/// Whether an entry is a toolkit's only where a variable names its root.
pub fn is_named(entry: &OsStr) -> bool {
    NAMED.iter().any(|(_, known)| *known == entry.as_bytes())
}

/// Whether it is that of this root.
pub fn is_named_by(root: &OsStr, entry: &OsStr) -> bool {
    NAMED.iter().any(|known| *known == (root.as_bytes(), entry.as_bytes()))
}

/// A directory with a pin; one without is among them.
pub fn place() -> impl Strategy<Value = String> {
    prop_oneof![
        20 => (0..REQUESTS.len(), 0..KEYS.len()).prop_map(|(r, k)| format!("/p/{r}/{k}")),
        1 => Just("/p".to_owned()),
    ]
}

fn of(table: &[&[u8]]) -> impl Strategy<Value = Vec<u8>> + use<> {
    select(table.iter().map(|e| e.to_vec()).collect::<Vec<_>>())
}

fn element() -> impl Strategy<Value = Vec<u8>> {
    let any_byte = (1..=255_u8).prop_filter("no colon", |b| *b != b':');
    let named: Vec<Vec<u8>> = NAMED.iter().map(|(_, e)| e.to_vec()).collect();
    prop_oneof![
        5 => of(&TOOLKITS),
        2 => select(named),
        1 => of(&LISTED),
        6 => of(&BYSTANDERS),
        1 => proptest::collection::vec(any_byte, 0..8),
    ]
}

/// A list: unset, empty, short; now and then of 4 kB or of 2,000 entries.
fn list() -> impl Strategy<Value = Option<OsString>> {
    let joined = |e: Vec<Vec<u8>>| Some(OsString::from_vec(e.join(&b':')));
    let long = |(mut e, count): (Vec<Vec<u8>>, usize)| {
        let filler =
            (e.len()..count).map(|i| format!("/opt/a tool with a long name {}/bin", i % 700).into_bytes());
        let filler: Vec<_> = filler.collect();
        e.splice(1.., filler);
        Some(OsString::from_vec(e.join(&b':')))
    };
    let some = || proptest::collection::vec(element(), 1..7);
    prop_oneof![
        100 => Just(None),
        40 => Just(Some(OsString::new())),
        300 => some().prop_map(joined),
        1 => (some(), prop_oneof![3 => Just(120_usize), 1 => Just(2000_usize)]).prop_map(long),
        // So many of a toolkit that the way back does not fit.
        1 => (element(), 500..1200_usize).prop_map(|(e, n)| Some(OsString::from_vec(vec![e; n].join(&b':')))),
    ]
}

fn scalar() -> impl Strategy<Value = Option<OsString>> {
    proptest::option::of(of(&VALUES).prop_map(OsString::from_vec))
}

/// An environment in which nothing is entered.
pub fn environment() -> impl Strategy<Value = Vars> {
    let names: Vec<&str> =
        [&ROOT_VARIABLES[..], &OTHER_SCALARS, &OTHER_ROOTS, &OTHERS].into_iter().flatten().copied().collect();
    let lists = proptest::collection::vec(list(), LISTS.len());
    let scalars = proptest::collection::vec(scalar(), names.len());
    let brought = proptest::sample::subsequence(BROUGHT.to_vec(), 0..=BROUGHT.len());
    let version =
        prop_oneof![30 => Just(None), 1 => Just(Some(OsString::new())), 1 => Just(Some("11.8".into()))];
    (lists, scalars, brought, version).prop_map(move |(lists, scalars, brought, version)| {
        let odd = (OsString::from_vec(b"OD\xffD".to_vec()), OsString::from_vec(b"\xff\n$(x)".to_vec()));
        let usual = [("HOME", "/home/u"), ("IFS", " \t\n"), ("EMPTY", "")];
        let usual = usual.map(|(n, v)| (OsString::from(n), OsString::from(v)));
        let mut vars: Vars = usual.into_iter().chain([odd]).collect();
        LISTS.iter().zip(lists).for_each(|(n, v)| vars.put(n, v));
        names.iter().zip(scalars).for_each(|(n, v)| vars.put(n, v));
        for (name, value) in brought {
            vars.put(name, Some(value.into()));
        }
        vars.put("CUDAUP_VERSION", version);
        vars
    })
}

/// What somebody does to a variable while a toolkit is entered.
#[derive(Clone, Debug)]
pub enum Edit {
    Prepend(&'static str),
    Append(&'static str),
    Replace(&'static str),
    Unset(&'static str),
}

impl Edit {
    pub const MINE: &'static str = "/mi ne/$(x)";

    pub fn name(&self) -> &'static str {
        match self {
            Self::Prepend(name) | Self::Append(name) | Self::Replace(name) | Self::Unset(name) => name,
        }
    }

    /// The variable after it.
    pub fn of(&self, now: Option<&OsStr>) -> Option<OsString> {
        let mut all = now.map(split).unwrap_or_default();
        match self {
            Self::Prepend(_) => all.insert(0, Self::MINE.into()),
            Self::Append(_) => all.push(Self::MINE.into()),
            Self::Replace(_) => return Some(Self::MINE.into()),
            Self::Unset(_) => return None,
        }
        Some(cudaup_core::list::join(&all))
    }
}

/// Edits of different variables.
pub fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let whole = || [&ROOT_VARIABLES[..], &OTHER_SCALARS, &OTHERS].into_iter().flatten().copied();
    let mut all: Vec<Edit> = whole().flat_map(|n| [Edit::Replace(n), Edit::Unset(n)]).collect();
    all.extend(
        LISTS.iter().flat_map(|n| [Edit::Prepend(n), Edit::Append(n), Edit::Prepend(n), Edit::Append(n)]),
    );
    all.extend(LISTS.iter().flat_map(|n| [Edit::Replace(n), Edit::Unset(n)]));
    proptest::sample::subsequence(all, 0..5).prop_map(|mut edits| {
        edits.sort_by_key(Edit::name);
        edits.dedup_by_key(|e| e.name());
        edits
    })
}
