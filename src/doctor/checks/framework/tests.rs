//! Each check with a machine that has the fault and with one that is healthy.

use super::check;
use crate::compat::arch::{Architecture, Capability};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::machine::{Machine, Nvcc};
use crate::elf::cache::Library;
use crate::facts::Fact;
use crate::facts::driver::Smi;
use crate::facts::gpu::Gpu;
use crate::facts::python::{Build, Bundled, Package, Python, Requirement};
use cudaup_core::identity::Identity;
use cudaup_core::version::Version;

const SITE: &str = "/home/u/p/.venv/lib/python3.11/site-packages";

fn cuda(text: &str) -> Build {
    Build::Cuda(Version::parse(text).unwrap())
}

fn package(name: &str, version: &str, build: Build) -> Package {
    let source = format!("{SITE}/{name}-{version}.dist-info/METADATA").into();
    Package { name: name.into(), version: version.into(), build, source, ..Package::default() }
}

fn with_code(package: Package, list: &str) -> Package {
    Package { architectures: list.split(' ').map(|a| Architecture::parse(a).unwrap()).collect(), ..package }
}

fn asking(package: Package, name: &str, versions: &str) -> Package {
    let requires = vec![Requirement { name: name.into(), versions: versions.into(), extra: None }];
    Package { requires, ..package }
}

/// An H200 with driver 580 and an environment.
fn machine(packages: Vec<Package>) -> Machine {
    let mut machine = on("NVIDIA H200", "9.0", "13.0");
    machine.python = Some(Python {
        root: "/home/u/p/.venv".into(),
        how: "VIRTUAL_ENV".into(),
        pip: "pip".into(),
        packages,
        ..Python::default()
    });
    machine
}

fn on(name: &str, capability: &str, driver: &str) -> Machine {
    let mut machine = Machine::bare();
    let gpu = Gpu { name: name.into(), capability: Capability::parse(capability), ..Gpu::default() };
    machine.gpus = Fact::Known(vec![gpu], "nvidia-smi".into());
    machine.driver.smi = Smi::Said { program: None, driver: None, cuda: Version::parse(driver), odd: None };
    machine
}

pub fn moved(mut machine: Machine, name: &str, capability: &str, driver: &str) -> Machine {
    let other = on(name, capability, driver);
    (machine.gpus, machine.driver) = (other.gpus, other.driver);
    machine
}

pub fn with_nvcc(mut machine: Machine, release: &str) -> Machine {
    let path = "/usr/bin/nvcc".into();
    let identity = Some(Identity::certain(Version::parse(release).unwrap()));
    machine.toolkits.nvcc.push(Nvcc { path, root: None, identity, other_machine: None });
    machine
}

fn codes(machine: &Machine) -> Vec<&'static str> {
    check(machine).iter().map(|f| f.code).collect()
}

fn one(machine: &Machine, code: &str) -> Finding {
    let found = check(machine);
    let mut own = found.iter().filter(|f| f.code == code);
    let one = own.next().unwrap_or_else(|| panic!("no {code} in {found:#?}")).clone();
    assert!(
        include_str!("../../codes/framework.toml").contains(&format!("id = \"{code}\"\n")),
        "{code} has no page"
    );
    assert!(own.next().is_none() && !one.evidence.is_empty() && !one.sentence.ends_with('.'), "{one:#?}");
    one
}

fn torch(version: &str, release: &str) -> Package {
    package("torch", version, cuda(release))
}

#[test]
fn healthy_environments_have_no_findings() {
    assert_eq!(codes(&Machine::bare()), [""; 0]);
    let all = vec![
        with_code(torch("2.11.0+cu130", "13.0"), "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"),
        asking(package("torchvision", "0.26.0+cu130", cuda("13.0")), "torch", "==2.11.0"),
        package("triton", "3.6.0", Build::Unknown),
        package("nvidia-cudnn-cu13", "9.19.0.56", cuda("13")),
        package("nvidia-cuda-runtime", "13.0.96", Build::Unknown),
        package("nvidia-cuda-runtime-cu13", "0.0.1", cuda("13")),
        package("nvidia-cuda-runtime-cu12", "12.8.90", cuda("12")),
    ];
    let healthy = with_nvcc(machine(all), "13.0.2");
    assert_eq!(codes(&healthy), [""; 0]);
    // CPU builds where no GPU is, and nothing known of the machine.
    let mut without =
        machine(vec![package("torch", "2.5.1+cpu", Build::Cpu), package("jax", "0.5.0", Build::Unknown)]);
    without.gpus = Fact::Absent;
    assert_eq!(codes(&without), [""; 0]);
    without.gpus = Fact::Unknown("nvidia-smi gave no answer".into());
    assert_eq!(codes(&without), [""; 0]);
    let mut unknown =
        machine(vec![package("torch", "2.5.1", Build::Unknown), package("torch", "x", Build::Unknown)]);
    assert_eq!(codes(&unknown), [""; 0]);
    unknown.python.as_mut().unwrap().packages = vec![torch("2.16.0+cu140", "13.9")];
    assert!(!codes(&unknown).contains(&"no-kernel-image"), "a release newer than the tables accuses nobody");
}

#[test]
fn torch_for_the_cpu_or_for_amd() {
    let cpu = machine(vec![
        package("torch", "2.5.1+cpu", Build::Cpu),
        package("torchvision", "0.20.1+cpu", Build::Cpu),
    ]);
    let found = one(&cpu, "torch-cpu-only");
    assert_eq!(found.severity, Severity::Problem);
    assert_eq!(
        found.remedy,
        [
            "pip install --force-reinstall \"torch==2.5.1\" torchvision --index-url https://download.pytorch.org/whl/cu124"
        ]
    );
    assert!(found.sentence.contains("NVIDIA H200 (sm_90)"));
    let rocm = machine(vec![package("torch", "2.5.1+rocm6.2", Build::Rocm("6.2".into()))]);
    assert_eq!(codes(&rocm), ["torch-rocm"]);
    let mut arm = cpu.clone();
    arm.platform.machine = "aarch64".into();
    assert!(!one(&arm, "torch-cpu-only").remedy[0].contains("pip install"), "the table is that of x86_64");
}

#[test]
fn the_driver_and_frameworks() {
    let new = machine(vec![torch("2.11.0+cu130", "13.0"), package("cupy-cuda13x", "13.6.0", cuda("13"))]);
    let found = one(&moved(new.clone(), "NVIDIA A10", "8.6", "12.4"), "driver-too-old-for-framework");
    assert!(found.remedy[0].contains("torch==2.11.0") && found.remedy[0].ends_with("/cu126"), "{found:?}");
    assert!(
        found.remedy[1].ends_with("580 or newer") && found.evidence.iter().any(|e| e.starts_with("cupy"))
    );
    let alone = machine(vec![package("cupy-cuda13x", "13.6.0", cuda("13"))]);
    let found = one(&moved(alone, "NVIDIA A10", "8.6", "12.4"), "driver-too-old-for-framework");
    assert_eq!(found.remedy[0], "pip uninstall -y cupy-cuda13x && pip install cupy-cuda12x");
    let minor = moved(machine(vec![torch("2.5.1+cu124", "12.4")]), "NVIDIA A10", "8.6", "12.2");
    assert_eq!(codes(&minor), ["framework-newer-than-driver"]);
    assert_eq!(one(&minor, "framework-newer-than-driver").severity, Severity::Note);
    // TensorFlow 2.18 has PTX alone for Hopper.
    let tf = with_code(package("tensorflow", "2.18.0", cuda("12.5.1")), "sm_60 sm_70 sm_80 sm_89 compute_90");
    let old = moved(machine(vec![tf.clone()]), "NVIDIA H100", "9.0", "12.4");
    assert_eq!(one(&old, "ptx-newer-than-driver").severity, Severity::Problem);
    assert_eq!(codes(&moved(machine(vec![tf]), "NVIDIA H100", "9.0", "12.5")), [""; 0]);
    // Jetson's driver has numbers of its own.
    let mut jetson = new;
    jetson.driver.smi = Smi::Absent;
    jetson.driver.library = Fact::Known("540.4.0".into(), "libcuda.so.1".into());
    assert!(codes(&jetson).contains(&"driver-too-old-for-framework"));
    jetson.platform.jetson = Some("Jetson AGX Orin".into());
    assert_eq!(codes(&jetson), [""; 0]);
}

#[test]
fn gpus_that_are_newer_or_older_than_the_code() {
    let old = machine(vec![torch("2.5.1+cu121", "12.1")]);
    let found = one(&moved(old.clone(), "NVIDIA GeForce RTX 5090", "12.0", "12.8"), "no-kernel-image");
    assert!(found.sentence.contains("ends at sm_90") && found.sentence.contains("toolkit does not help"));
    assert_eq!(
        found.remedy,
        ["pip install --force-reinstall \"torch==2.7.*\" --index-url https://download.pytorch.org/whl/cu128"]
    );
    let new =
        machine(vec![with_code(torch("2.11.0+cu130", "13.0"), "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120")]);
    let v100 = moved(new.clone(), "Tesla V100-PCIE-32GB", "7.0", "13.0");
    let found = one(&v100, "no-kernel-image");
    assert!(found.sentence.contains("begins at sm_75") && found.remedy[0].ends_with("/cu126"), "{found:?}");
    // The list in the file leaves PTX for the newest out.
    assert_eq!(codes(&moved(new.clone(), "NVIDIA of later", "13.0", "13.0")), [""; 0]);
    // What somebody compiled for one GPU has no PTX of the wheels.
    let own = machine(vec![with_code(torch("2.11.0+cu130", "13.0"), "sm_80 sm_86")]);
    assert_eq!(codes(&moved(own, "NVIDIA H200", "9.0", "13.0")), ["no-kernel-image"]);
    let mut two = v100;
    let Fact::Known(gpus, _) = &mut two.gpus else { panic!() };
    gpus.push(Gpu { index: 1, capability: Capability::parse("8.0"), ..Gpu::default() });
    assert_eq!(one(&two, "no-kernel-image").severity, Severity::Warning);
    let jax = machine(vec![package("jax-cuda13-plugin", "0.7.2", cuda("13"))]);
    assert_eq!(codes(&jax), [""; 0]);
    let found = one(&moved(jax, "Tesla V100", "7.0", "13.0"), "no-kernel-image");
    assert_eq!(found.remedy, ["pip uninstall -y jax-cuda13-plugin && pip install \"jax[cuda12]\""]);
}

#[test]
fn the_nvcc_that_builds_extensions() {
    let base = machine(vec![torch("2.3.1+cu121", "12.1"), package("flash-attn", "2.5.8", Build::Unknown)]);
    let found = check(&with_nvcc(base.clone(), "10.1.243"));
    assert_eq!(
        found.iter().map(|f| f.code).collect::<Vec<_>>(),
        ["nvcc-major-mismatch", "nvcc-too-old-for-package"]
    );
    assert_eq!(found[0].sentence, "torch was built for CUDA 12.1, extensions here compile with nvcc 10.1");
    assert_eq!(found[0].remedy, ["cudaup install 12.1 && cudaup use 12.1"]);
    assert!(found[0].evidence[0].contains("/usr/bin/nvcc") && found[0].explains == [found[1].code]);
    let minor = one(&with_nvcc(base.clone(), "12.6.3"), "nvcc-minor-mismatch");
    assert_eq!(minor.severity, Severity::Note);
    assert_eq!(codes(&with_nvcc(base.clone(), "12.1.1")), [""; 0]);
    assert_eq!(codes(&base), [""; 0], "without an nvcc nothing is built");
    // CUDA_HOME comes before PATH; where nobody knows what it names nothing is said.
    let mut home = with_nvcc(base, "10.1.243");
    home.vars.put("CUDA_HOME", Some("/opt/cuda".into()));
    assert_eq!(codes(&home), [""; 0]);
    home.toolkits.nvcc.push(Nvcc { path: "/opt/cuda/bin/nvcc".into(), ..home.toolkits.nvcc[0].clone() });
    home.toolkits.nvcc[1].identity = Some(Identity::certain(Version::exact(13, 0, 2)));
    assert!(one(&home, "nvcc-major-mismatch").sentence.ends_with("nvcc 13.0"));
}

#[test]
fn companions_of_torch() {
    let torch = torch("2.6.0+cu124", "12.4");
    let vision =
        |version: &str, wants: &str, build| asking(package("torchvision", version, build), "torch", wants);
    let at = |p: Package| machine(vec![torch.clone(), p]);
    assert_eq!(codes(&at(vision("0.21.0+cu124", "==2.6.0", cuda("12.4")))), [""; 0]);
    let found = one(&at(vision("0.20.1+cu124", "==2.5.1", cuda("12.4"))), "torch-companion-mismatch");
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(
        found.remedy,
        ["pip install --no-deps \"torchvision==0.21.0\" --index-url https://download.pytorch.org/whl/cu124"]
    );
    let patch = one(
        &at(asking(package("vllm", "0.8.5", Build::Unknown), "torch", "==2.6.1")),
        "torch-companion-mismatch",
    );
    assert_eq!(patch.severity, Severity::Note);
    let table = one(&at(package("xformers", "0.0.30", Build::Unknown)), "torch-companion-mismatch");
    assert!(
        table.evidence[0].contains("table") && table.remedy[0].contains("xformers==0.0.29.post3"),
        "{table:?}"
    );
    let mut flash = package("flash-attn", "2.7.4.post1", cuda("12"));
    flash.for_torch = Some(("2.4".into(), "/x/direct_url.json".into()));
    assert_eq!(codes(&at(flash.clone())), ["torch-companion-mismatch"]);
    flash.for_torch = Some(("2.6".into(), "/x/direct_url.json".into()));
    assert_eq!(codes(&at(flash)), [""; 0]);
    let nightly = machine(vec![
        package("torch", "2.12.0.dev20260410+cu130", cuda("13.0")),
        vision("0.26.0", "==2.11.0", Build::Unknown),
    ]);
    assert_eq!(codes(&nightly), [""; 0]);
}

#[test]
fn companions_of_another_backend() {
    let old = package("torch", "1.10.2+cu113", cuda("11.3"));
    let rocm = package("torchvision", "0.11.3+rocm4.2", Build::Rocm("4.2".into()));
    let found = one(&machine(vec![old, rocm]), "torch-companion-backend");
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(
        found.sentence,
        "torchvision 0.11.3+rocm4.2 was built for ROCm 4.2, torch 1.10.2+cu113 for CUDA 11.3"
    );
    let torch = torch("2.5.1+cu124", "12.4");
    let at = |name, build| codes(&machine(vec![torch.clone(), package(name, "x", build)]));
    assert_eq!(at("torchvision", cuda("12.1")), [""; 0]);
    assert_eq!(at("torchaudio", cuda("12.1")), ["torch-companion-backend"]);
    assert_eq!(at("torchvision", Build::Cpu), ["torch-companion-backend"]);
    assert_eq!(at("flash-attn", cuda("11")), ["torch-companion-backend"]);
    let mut bnb = package("bitsandbytes", "0.37.2", Build::Unknown);
    bnb.variants = vec![Version::release(11, 8)];
    assert_eq!(codes(&machine(vec![torch.clone(), bnb.clone()])), ["torch-companion-backend"]);
    bnb.variants.push(Version::release(12, 1));
    assert_eq!(codes(&machine(vec![torch, bnb])), [""; 0]);
}

#[test]
fn wheels_of_two_majors() {
    let packages = vec![
        torch("2.4.1+cu121", "12.1"),
        package("nvidia-cuda-runtime-cu11", "11.7.99", cuda("11")),
        package("nvidia-cuda-runtime-cu12", "12.1.105", cuda("12")),
        package("nvidia-cublas-cu12", "12.1.3.1", cuda("12")),
    ];
    let found = one(&machine(packages.clone()), "cuda-wheels-mixed");
    assert_eq!(found.severity, Severity::Warning);
    assert_eq!(
        found.remedy,
        [
            "pip uninstall -y nvidia-cuda-runtime-cu11 && pip install --force-reinstall --no-deps nvidia-cuda-runtime-cu12==12.1.105"
        ]
    );
    assert!(found.sentence.contains("by torch 2.4.1+cu121"));
    assert_eq!(codes(&machine(packages[..2].to_vec())), [""; 0]);
}

#[test]
fn jax_and_its_plugins() {
    let (jax, lib) = (package("jax", "0.7.2", Build::Unknown), package("jaxlib", "0.7.2", Build::Unknown));
    let found = one(&machine(vec![jax.clone(), lib.clone()]), "jax-without-plugin");
    assert_eq!(found.remedy, ["pip install \"jax[cuda13]==0.7.2\""]);
    let v100 = moved(machine(vec![jax.clone(), lib.clone()]), "Tesla V100", "7.0", "13.0");
    assert_eq!(one(&v100, "jax-without-plugin").remedy, ["pip install \"jax[cuda12]==0.7.2\""]);
    let plugin =
        |major: &str, version: &str| package(&format!("jax-cuda{major}-plugin"), version, cuda(major));
    let at = |more: Vec<Package>| codes(&machine([vec![jax.clone(), lib.clone()], more].concat()));
    assert_eq!(at(vec![plugin("12", "0.7.2")]), [""; 0]);
    assert_eq!(at(vec![plugin("12", "0.6.0")]), ["jax-plugin-mismatch"]);
    assert_eq!(at(vec![plugin("12", "0.7.2"), plugin("13", "0.7.2")]), ["jax-two-plugins"]);
    let old = vec![
        package("jax", "0.4.20", Build::Unknown),
        package("jaxlib", "0.4.20+cuda12.cudnn89", cuda("12")),
    ];
    assert_eq!(codes(&machine(old)), [""; 0]);
}

#[test]
fn tensorflow_and_cudnn() {
    let mut at = machine(vec![package("tensorflow", "2.18.0", cuda("12.5.1"))]);
    at.python.as_mut().unwrap().packages[0].cudnn = Some("9".into());
    assert_eq!(codes(&at), [""; 0], "what the loader finds is not known");
    at.loader.cache = vec![Library { soname: "libc.so.6".into(), file: "/lib/libc.so.6".into() }];
    assert_eq!(one(&at, "tensorflow-without-cuda").remedy, ["pip install \"tensorflow[and-cuda]==2.18.0\""]);
    let mut with = at.clone();
    with.python.as_mut().unwrap().bundled =
        vec![Bundled { soname: "libcudnn.so.9".into(), file: "/x".into() }];
    assert_eq!(codes(&with), [""; 0]);
    at.python.as_mut().unwrap().packages = vec![package("tensorflow", "2.12.0", cuda("11.8"))];
    assert_eq!(
        one(&at, "tensorflow-without-cuda").remedy,
        ["cudaup install 11.8 --with cudnn=8 && cudaup use 11.8"]
    );
}

#[test]
fn programs_whose_cuda_part_is_missing() {
    let twice = vec![
        package("onnxruntime", "1.20.1", Build::Cpu),
        package("onnxruntime-gpu", "1.20.1", cuda("12.2")),
    ];
    assert_eq!(codes(&machine(twice.clone())), ["onnxruntime-twice"]);
    assert_eq!(codes(&machine(twice[..1].to_vec())), [""; 0]);
    let llama = |build| codes(&machine(vec![package("llama-cpp-python", "0.3.2", build)]));
    assert_eq!(llama(Build::Cpu), ["llama-cpp-without-cuda"]);
    assert_eq!((llama(Build::Unknown), llama(cuda("12"))), (vec![], vec![]));
    let mut built = on("NVIDIA H200", "9.0", "13.0");
    built.libraries.llama_cpp = vec!["/home/u/llama.cpp/build".into()];
    let found = one(&built, "llama-cpp-without-cuda");
    assert_eq!(
        found.remedy,
        ["cmake /home/u/llama.cpp/build -DGGML_CUDA=ON && cmake --build /home/u/llama.cpp/build -j"]
    );
    built.gpus = Fact::Absent;
    assert_eq!(codes(&built), [""; 0]);
    assert_eq!(codes(&machine(vec![package("vllm", "0.9.0+cpu", Build::Cpu)])), ["vllm-cpu-only"]);
}
