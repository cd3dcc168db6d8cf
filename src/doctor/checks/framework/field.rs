//! Situations from the field: an environment on disk, read and judged.

use super::super::libraries;
use super::tests::{moved, with_nvcc};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::machine::Machine;
use crate::facts::python::of;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

struct Field(TempDir);

impl Field {
    fn new() -> Self {
        let field = Self(TempDir::new().unwrap());
        field.write("pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
        fs::create_dir_all(field.site()).unwrap();
        field
    }

    fn site(&self) -> PathBuf {
        self.0.path().join("lib/python3.11/site-packages")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// torch as a wheel leaves it, or where `release` is empty one for the CPU.
    fn torch(self, version: &str, release: &str) -> Self {
        let cuda = if release.is_empty() { "None".to_owned() } else { format!("'{release}'") };
        let text = format!(
            "from typing import Optional\n__version__ = '{version}'\ncuda: Optional[str] = {cuda}\nhip: Optional[str] = None\n"
        );
        self.write("lib/python3.11/site-packages/torch/version.py", &text);
        self.wheel("torch", version.split('+').next().unwrap(), "")
    }

    fn wheel(self, name: &str, version: &str, requires: &str) -> Self {
        let info =
            format!("lib/python3.11/site-packages/{}-{version}.dist-info/METADATA", name.replace('-', "_"));
        let lines: String = requires
            .split('|')
            .filter(|r| !r.is_empty())
            .map(|r| format!("Requires-Dist: {r}\r\n"))
            .collect();
        self.write(
            &info,
            &format!("Metadata-Version: 2.1\r\nName: {name}\r\nVersion: {version}\r\n{lines}\r\nWords.\r\n"),
        );
        self
    }

    /// What is found on a machine with a GPU, its capability, and the CUDA of its driver.
    fn on(&self, gpu: (&str, &str, &str)) -> Vec<Finding> {
        self.with(moved(Machine::bare(), gpu.0, gpu.1, gpu.2))
    }

    fn with(&self, machine: Machine) -> Vec<Finding> {
        let machine = Machine { python: of(self.0.path()), ..machine };
        [super::check(&machine), libraries::check(&machine)].concat()
    }
}

fn codes(found: &[Finding]) -> Vec<(&'static str, Severity)> {
    found.iter().map(|f| (f.code, f.severity)).collect()
}

const H200: (&str, &str, &str) = ("NVIDIA H200", "9.0", "13.0");
const A10: (&str, &str, &str) = ("NVIDIA A10", "8.6", "12.4");

#[test]
fn an_h200_machine_as_it_comes() {
    let mut field = Field::new()
        .torch("2.11.0+cu130", "13.0")
        .wheel("torchvision", "0.26.0", "numpy|torch==2.11.0|pillow!=8.3.*,>=5.3.0")
        .wheel("torchaudio", "2.11.0", "");
    for (name, version) in [
        ("nvidia-cublas", "13.1.0.3"),
        ("nvidia-cuda-runtime", "13.0.96"),
        ("nvidia-cudnn-cu13", "9.19.0.56"),
        ("nvidia-cusparselt-cu13", "0.8.0"),
        ("nvidia-nccl-cu13", "2.28.9"),
        ("triton", "3.6.0"),
    ] {
        field = field.wheel(name, version, "");
    }
    assert_eq!(codes(&field.with(with_nvcc(moved(Machine::bare(), H200.0, H200.1, H200.2), "13.0.2"))), []);
}

#[test]
fn versions_whose_end_says_nothing() {
    for (version, cuda) in
        [("2.7.0a0+gitc88b85b.aml", "12.4"), ("2.3.0a0+40ec155e58.nv24.03", "12.4"), ("2.1.2", "12.2")]
    {
        let field = Field::new().torch(version, cuda);
        let found = field.with(with_nvcc(moved(Machine::bare(), A10.0, A10.1, A10.2), "11.8.0"));
        assert_eq!(codes(&found), [("nvcc-major-mismatch", Severity::Problem)]);
        assert!(found[0].sentence.contains(cuda), "{found:?}");
    }
}

#[test]
fn wheels_of_two_majors_and_a_vision_of_amd() {
    let field = Field::new()
        .torch("2.4.1+cu121", "12.1")
        .wheel("nvidia-cuda-runtime-cu11", "11.7.99", "")
        .wheel("nvidia-cuda-runtime-cu12", "12.1.105", "");
    assert_eq!(codes(&field.on(A10)), [("cuda-wheels-mixed", Severity::Warning)]);
    let field =
        Field::new().torch("1.10.2+cu113", "11.3").wheel("torchvision", "0.11.3+rocm4.2", "torch (==1.10.2)");
    let found = field.on(A10);
    assert_eq!(codes(&found), [("torch-companion-backend", Severity::Warning)]);
    assert!(found[0].remedy[0].ends_with("whl/cu113"));
}

#[test]
fn gpus_at_both_ends() {
    let found = Field::new().torch("2.5.1+cu121", "12.1").on(("NVIDIA GeForce RTX 5090", "12.0", "12.8"));
    assert_eq!(codes(&found), [("no-kernel-image", Severity::Problem)]);
    assert!(found[0].remedy[0].contains("torch==2.7.*") && found[0].remedy[0].ends_with("cu128"));
    let found = Field::new().torch("2.11.0+cu130", "13.0").on(("Tesla V100-PCIE-32GB", "7.0", "13.0"));
    assert!(found[0].code == "no-kernel-image" && found[0].remedy[0].ends_with("cu126"), "{found:?}");
    assert_eq!(codes(&Field::new().torch("2.5.1+cpu", "").on(A10)), [("torch-cpu-only", Severity::Problem)]);
}

#[test]
fn one_cudnn_for_two_frameworks() {
    let field = Field::new().torch("2.5.1+cu124", "12.4").wheel("nvidia-cudnn-cu12", "9.1.0.70", "").wheel(
        "tensorflow",
        "2.19.0",
        "",
    );
    let found = field.on(A10);
    assert_eq!(codes(&found), [("cudnn-older-than-built", Severity::Warning)]);
    assert!(found[0].sentence.contains("9.3") && found[0].sentence.contains("9.1.0"));
}
