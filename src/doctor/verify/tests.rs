//! A stand-in for nvcc shows what is called and how an end is told; a real one is tried by the tests of whole commands.

use super::*;
use std::os::unix::fs::PermissionsExt;

struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new(nvcc: &str, headers: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("include")).unwrap();
        for header in headers {
            fs::write(root.path().join("include").join(header), "").unwrap();
        }
        let file = root.path().join("nvcc");
        fs::write(&file, format!("#!/bin/sh\n{nvcc}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        Self { root }
    }

    fn verify(&self, gpu: Option<&str>) -> Vec<(String, Went)> {
        let (nvcc, include) = (self.root.path().join("nvcc"), self.root.path().join("include"));
        let vars: Vars = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let trial = Trial {
            nvcc: &nvcc,
            includes: &[include],
            libraries: &[],
            vars: &vars,
            ccbin: None,
            gpu: gpu.and_then(Capability::parse),
            scratch: self.root.path(),
        };
        verify(&trial).unwrap().into_iter().map(|step| (step.name, step.went)).collect()
    }
}

/// Makes a program that prints a line, at the place that follows `-o`.
const MAKES: &str = "while [ \"$1\" != -o ]; do shift; done; printf '#!/bin/sh\\necho \"%s\"\\n' \"gpu 0.5 cpu 2.25\" >\"$2\"; chmod +x \"$2\"";

#[test]
fn what_is_not_there_is_not_tried() {
    let steps = Place::new(MAKES, &["cuda_runtime.h"]).verify(None);
    assert_eq!(steps[0], ("vector addition: compiles and links".into(), Went::Well(String::new())));
    assert_eq!(steps[1].1, Went::Not("cublas_v2.h is not here".into()));
    assert_eq!((steps.len(), &steps[2].1), (3, &Went::Not("cudnn.h is not here".into())));
}

#[test]
fn what_runs_tells_its_times() {
    let steps = Place::new(MAKES, &["cuda_runtime.h", "cublas_v2.h"]).verify(Some("9.0"));
    assert_eq!(
        steps[1],
        (
            "vector addition: runs".into(),
            Went::Well("same result as the CPU's; 0.50 ms, the CPU 2.25 ms".into())
        )
    );
    assert_eq!(steps[3].0, "matrix product by cuBLAS: runs");
}

#[test]
fn what_fails_tells_its_last_words() {
    let steps = Place::new("echo \"args $*\"; echo 'error: no such thing'; exit 2", &["cuda_runtime.h"])
        .verify(Some("9.0"));
    let Went::Badly(words) = &steps[0].1 else { panic!("{steps:?}") };
    assert!(
        words.ends_with("error: no such thing") && words.contains("-gencode=arch=compute_90,code=sm_90"),
        "{words}"
    );
    assert!(!steps.iter().any(|(name, _)| name == "vector addition: runs"));
    let silent = Place::new("exit 3", &["cuda_runtime.h"]).verify(None);
    assert_eq!(silent[0].1, Went::Badly("it ended with exit status: 3 and said nothing".into()));
}
