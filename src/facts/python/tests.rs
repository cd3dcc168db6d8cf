//! Tests of environments made in temporary directories, and of real files where they are at hand.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

struct Made(TempDir);

impl Made {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn venv(&self, root: &str, config: &str) {
        self.write(&format!("{root}/pyvenv.cfg"), config);
        fs::create_dir_all(self.path(&format!("{root}/lib/python3.11/site-packages"))).unwrap();
    }

    fn wheel(&self, root: &str, stem: &str, metadata: &str) {
        let (name, version) = stem.split_once('-').unwrap();
        let text = format!(
            "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}\nRequires-Dist: torch==0.1\n"
        );
        self.write(&format!("{root}/lib/python3.11/site-packages/{stem}.dist-info/METADATA"), text);
    }

    fn host(&self, vars: &[(&str, &str)]) -> Host {
        let vars = vars.iter().map(|(n, v)| (n.into(), v.into())).collect();
        Host { vars, cwd: Some(self.path("p/src")), user_home: Some(self.path("home")), ..Host::bare() }
    }
}

const VERSION_PY: &str = "from typing import Optional\n\n__version__ = 'V'\ndebug = False\ncuda: Optional[str] = C\nhip: Optional[str] = H\n";

fn version_py(version: &str, cuda: &str, hip: &str) -> String {
    VERSION_PY
        .replace('V', version)
        .replace(" C\n", &format!(" {cuda}\n"))
        .replace(" H\n", &format!(" {hip}\n"))
}

fn torch_of(text: &[u8]) -> Package {
    let made = Made::new();
    made.venv("v", "version = 3.11.2\n");
    made.wheel("v", "torch-2.5.1", "");
    made.write("v/lib/python3.11/site-packages/torch/version.py", text);
    of(&made.path("v")).unwrap().package("torch").unwrap().clone()
}

#[test]
fn torch_says_what_it_was_built_for() {
    for (version, cuda) in [
        ("2.12.0.dev20260410+cu130", "13.0"),
        ("2.7.0a0+gitc88b85b.aml", "12.4"),
        ("2.1.2", "12.2"),
        ("2.3.0a0+40ec155e58.nv24.03", "12.4"),
    ] {
        let torch = torch_of(version_py(version, &format!("'{cuda}'"), "None").as_bytes());
        assert_eq!(
            (torch.version.as_str(), torch.build),
            (version, Build::Cuda(Version::parse(cuda).unwrap()))
        );
        assert!(torch.source.ends_with("torch/version.py"));
    }
    let built = |text: &str| torch_of(text.as_bytes()).build;
    assert_eq!(
        built("__version__ = '1.13.1+cu117'\ndebug = False\ncuda = '11.7'\nhip = None\n"),
        Build::Cuda(Version::release(11, 7))
    );
    assert_eq!(
        built(&version_py("2.5.1+cu124", "None", "None")),
        Build::Cpu,
        "the end of the version is not relied on"
    );
    assert_eq!(built(&version_py("2.5.1", "None", "'6.2.41133'")), Build::Rocm("6.2.41133".into()));
    assert_eq!(built(&version_py("2.5.1+cpu", "None", "None").replace('\n', "\r\n")), Build::Cpu);
    for odd in ["", "cuda", "cuda_x = '12.4'\n", "cuda == '12.4'\n", "\0\0\0", "cuda: Optional[str] = 'x'\n"]
    {
        let torch = torch_of(odd.as_bytes());
        assert_eq!((torch.build, torch.version.as_str()), (Build::Unknown, "2.5.1"), "{odd:?}");
    }
    assert_eq!(torch_of(&[0xff; 100]).build, Build::Unknown);
}

#[test]
fn packages_and_what_they_ask_for() {
    let made = Made::new();
    made.venv("v", "version = 3.11.2\n");
    let sp = "v/lib/python3.11/site-packages";
    made.write(&format!("{sp}/torch/version.py"), version_py("2.5.1+cu124", "'12.4'", "None"));
    made.wheel("v", "torchvision-0.20.1", "Requires-Dist: numpy\nRequires-Dist: torch (==2.5.1)\n");
    made.write(&format!("{sp}/torchvision/version.py"), "__version__ = '0.20.1+cu124'\n");
    made.wheel(
        "v",
        "tensorflow-2.18.0",
        "Requires-Dist: nvidia-cudnn-cu12 ==9.3.0.75 ; extra == 'and-cuda'\n",
    );
    made.write(
        &format!("{sp}/tensorflow/python/platform/build_info.py"),
        "build_info = collections.OrderedDict([('cuda_compute_capabilities', ['sm_60', 'compute_90']), ('cuda_version', '12.5.1'), \
         ('cudnn_version', '9'), ('is_cuda_build', True), ('is_rocm_build', False)])\n",
    );
    for stem in [
        "nvidia_cuda_runtime_cu12-12.4.127",
        "cupy_cuda12x-13.3.0",
        "nvidia_cublas-13.1.0.3",
        "requests-2.0",
        "flash_attn-2.7.4.post1",
    ] {
        made.wheel("v", stem, "");
    }
    made.write(
        &format!("{sp}/flash_attn-2.7.4.post1.dist-info/direct_url.json"),
        r#"{"url":"https://x/torch9.9/flash_attn-2.7.4.post1%2Bcu12torch2.4cxx11abiFALSE-cp311-cp311-linux_x86_64.whl"}"#,
    );
    made.wheel("v", "xformers-0.0.30", "");
    made.write(
        &format!("{sp}/xformers/cpp_lib.json"),
        r#"{"version": {"cuda": 1206, "torch": "2.7.0+cu126"}}"#,
    );
    made.write(
        &format!("{sp}/onnxruntime/capi/build_and_package_info.py"),
        "package_name = 'onnxruntime-gpu'\ncuda_version = '12.2'\n",
    );
    made.wheel("v", "onnxruntime_gpu-1.20.1", "");
    for name in ["libbitsandbytes_cuda118.so", "libbitsandbytes_cuda124.so", "libbitsandbytes_cpu.so"] {
        made.write(&format!("{sp}/bitsandbytes/{name}"), "");
    }
    made.wheel("v", "bitsandbytes-0.44.1", "");
    made.write(&format!("{sp}/nvidia/cudnn/lib/libcudnn.so.9"), "");
    made.write(&format!("{sp}/nvidia/cudnn/lib/libcudnn.so.9.1.0"), "");
    made.write(&format!("{sp}/nvidia/cuda_runtime/lib/libcudart.so.11.0"), "");
    let python = of(&made.path("v")).unwrap();
    assert_eq!((python.version, python.packages_in.len()), (Some((3, 11)), 1));
    made.write("v/bin/python3", "");
    assert_eq!(of(&made.path("v/bin/python3")).as_ref(), Some(&python));
    let at = |name: &str| python.package(name).unwrap();
    assert_eq!(at("torchvision").version, "0.20.1+cu124");
    assert_eq!(at("torchvision").build, Build::Cuda(Version::release(12, 4)));
    let torch = &at("torchvision").requires;
    assert_eq!(
        (torch.len(), torch[0].exact()),
        (1, Some("2.5.1")),
        "what follows the head is its description"
    );
    assert_eq!(at("tensorflow").build, Build::Cuda(Version::exact(12, 5, 1)));
    assert_eq!((at("tensorflow").cudnn.as_deref(), at("tensorflow").architectures.len()), (Some("9"), 2));
    assert_eq!(at("tensorflow").requires[0].extra.as_deref(), Some("and-cuda"));
    let major = |major| Build::Cuda(Version { major, minor: None, update: None });
    assert_eq!((&at("cupy-cuda12x").build, &at("nvidia-cuda-runtime-cu12").build), (&major(12), &major(12)));
    assert_eq!((&at("nvidia-cublas").build, python.package("requests")), (&Build::Unknown, None));
    assert_eq!(at("flash-attn").for_torch.as_ref().unwrap().0, "2.4");
    assert_eq!(at("xformers").for_torch.as_ref().unwrap().0, "2.7.0+cu126");
    assert_eq!(at("xformers").build, Build::Cuda(Version::release(12, 6)));
    assert_eq!(at("onnxruntime-gpu").build, Build::Cuda(Version::release(12, 2)));
    assert_eq!(at("bitsandbytes").variants, [Version::release(11, 8), Version::release(12, 4)]);
    assert_eq!(at("torch").version, "2.5.1+cu124", "without a dist-info its own file tells");
    let bundled: Vec<&str> = python.bundled.iter().map(|b| b.soname.as_str()).collect();
    assert_eq!(bundled, ["libcudart.so.11.0", "libcudnn.so.9"]);
}

#[test]
fn the_environment_in_use() {
    let made = Made::new();
    made.venv("v", "home = /usr/bin\nversion = 3.11.2\n");
    made.venv("p/.venv", "uv = 0.4.1\nversion_info = 3.11.2\n");
    made.venv("conda", "");
    fs::create_dir_all(made.path("p/src")).unwrap();
    let (v, conda) = (made.path("v"), made.path("conda"));
    let at = |vars: &[(&str, &str)]| look(&made.host(vars)).map(|p| (p.how, p.root, p.pip));
    let (venv, prefix) = (("VIRTUAL_ENV", v.to_str().unwrap()), ("CONDA_PREFIX", conda.to_str().unwrap()));
    assert_eq!(at(&[prefix, venv]).unwrap(), ("VIRTUAL_ENV".into(), v.clone(), "pip".into()));
    assert_eq!(at(&[prefix]).unwrap().1, conda);
    let gone = ("VIRTUAL_ENV", "/nowhere");
    let (how, root, pip) = at(&[gone]).unwrap();
    assert_eq!((how, root), (format!(".venv in {}", made.path("p").display()), made.path("p/.venv")));
    assert_eq!(pip, "uv pip");
    made.write("p/src/.cuda-version", "12.4\n");
    assert_eq!(at(&[]), None, "a project's pin ends the walk");
    // The system's: its python3 names its release, and Debian's directory belongs to it.
    for directory in [
        "usr/bin",
        "usr/lib/python3/dist-packages",
        "usr/lib/python3.9/site-packages",
        "usr/local/lib/python3.11/dist-packages",
    ] {
        fs::create_dir_all(made.path(directory)).unwrap();
    }
    made.write("usr/bin/python3.11", "");
    symlink("python3.11", made.path("usr/bin/python3")).unwrap();
    fs::create_dir_all(made.path("home/.local/lib/python3.11/site-packages")).unwrap();
    let path = made.path("usr/bin");
    let found = look(&made.host(&[("PATH", path.to_str().unwrap())])).unwrap();
    assert_eq!((found.version, found.root), (Some((3, 11)), fs::canonicalize(made.path("usr")).unwrap()));
    let names: Vec<String> = found
        .packages_in
        .iter()
        .map(|p| p.strip_prefix(made.0.path()).unwrap().display().to_string())
        .collect();
    assert_eq!(
        names,
        [
            "home/.local/lib/python3.11/site-packages",
            "usr/lib/python3/dist-packages",
            "usr/local/lib/python3.11/dist-packages"
        ]
    );
    // pyenv's shim is a script, and its file says which one it starts.
    made.write("pyenv/shims/python3", "#!/bin/sh\n");
    made.write("pyenv/version", "3.11.7\n");
    made.venv("pyenv/versions/3.11.7", "");
    fs::remove_file(made.path("pyenv/versions/3.11.7/pyvenv.cfg")).unwrap();
    let shims = made.path("pyenv/shims");
    assert_eq!(
        look(&made.host(&[("PATH", shims.to_str().unwrap())])).unwrap().root,
        made.path("pyenv/versions/3.11.7")
    );
}

#[test]
fn what_is_no_environment() {
    let made = Made::new();
    fs::create_dir_all(made.path("empty")).unwrap();
    made.write("file", "x");
    for name in ["empty", "file", "none"] {
        assert_eq!(of(&made.path(name)), None, "{name}");
    }
    // A loop of links, a name that is no directory, a FIFO where a file is looked for.
    made.venv("v", "version = 3.11.2\n");
    symlink("lib64", made.path("v/lib64")).unwrap();
    let site = made.path("v/lib/python3.11/site-packages");
    made.write("v/lib/python3.11/site-packages/jax-0.5.0.dist-info", "");
    fs::create_dir_all(site.join("torch")).unwrap();
    let fifo = site.join("torch/version.py");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .unwrap();
    made.wheel("v", "torch-2.5.1", "");
    let python = of(&made.path("v")).unwrap();
    assert_eq!(python.package("torch").map(|p| &p.build), Some(&Build::Unknown));
    assert_eq!(python.package("jax").map(|p| p.version.as_str()), Some("0.5.0"));
}

#[test]
fn version_files_of_real_wheels() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases/samples/torch-version-py");
    let Ok(entries) = fs::read_dir(&samples) else {
        eprintln!("skipped: version files of torch, which are not at {}", samples.display());
        return;
    };
    let mut seen = 0;
    for path in entries.map(|e| e.unwrap().path()) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let torch = torch_of(&fs::read(&path).unwrap());
        let digits = name.split_once("+cu").unwrap().1;
        let cuda = Version::release(digits[..2].parse().unwrap(), digits[2..].parse().unwrap());
        assert_eq!((torch.version, torch.build), (name, Build::Cuda(cuda)));
        seen += 1;
    }
    assert!(seen >= 3);
}
