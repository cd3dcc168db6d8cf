//! `cudaup compat`: which driver, compiler, GPU and PyTorch go with which CUDA, as tables.

use crate::command::{Context, Outcome};
use crate::compat::{arch, compilers, driver, frameworks, gpu, torch};
use crate::failure::Failure;
use crate::ui::view::{Style, View, table};
use clap::Args as Arguments;
use cudaup_core::architecture::Capability;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Show what goes with what: CUDA releases, drivers, compilers, GPUs, PyTorch.
#[derive(Debug, Arguments)]
pub struct Args {
    /// PyTorch's wheels: their CUDA, cuDNN and GPUs, and what goes with them
    #[arg(long, group = "which")]
    torch: bool,
    /// GPUs by compute capability: the first and last CUDA and driver for each
    #[arg(long, group = "which")]
    gpu: bool,
    /// The newest gcc and clang that each release takes
    #[arg(long, group = "which")]
    gcc: bool,
    /// What each branch of drivers runs
    #[arg(long, group = "which")]
    driver: bool,
}

/// A table with names for its columns.
struct Matrix {
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
    note: &'static str,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, _context: &Context) -> Result<Outcome, Failure> {
        let matrix = match self {
            Self { torch: true, .. } => of_torch(),
            Self { gpu: true, .. } => of_gpus(),
            Self { gcc: true, .. } => of_compilers(),
            Self { driver: true, .. } => of_drivers(),
            _ => of_releases(),
        };
        Ok(Outcome::View(Box::new(matrix)))
    }
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn of_releases() -> Matrix {
    let row = |release: &arch::Release| {
        let all = driver::all().iter().find(|(_, cuda)| *cuda >= release.cuda).map(|(branch, _)| *branch);
        let some = driver::first_branch(release.cuda);
        let compiler = compilers::of(release.cuda);
        let gpus: Vec<Capability> = release.architectures.iter().map(|code| code.capability).collect();
        vec![
            release.cuda.to_string(),
            or_dash(all),
            or_dash(some),
            or_dash(compiler.map(|newest| newest.gcc)),
            or_dash(compiler.map(|newest| newest.clang)),
            format!("{} to {}", or_dash(gpus.iter().min()), or_dash(gpus.iter().max())),
        ]
    };
    Matrix {
        columns: &["CUDA", "driver", "without PTX", "gcc up to", "clang up to", "GPUs"],
        rows: arch::releases().iter().rev().map(row).collect(),
        note: "driver: the first branch that runs all of it; without PTX: the first that runs its machine code. A toolkit's own crt/host_config.h outranks the compilers here.",
    }
}

fn of_compilers() -> Matrix {
    let row = |newest: &compilers::Newest| {
        vec![newest.cuda.to_string(), newest.gcc.to_string(), newest.clang.to_string()]
    };
    Matrix {
        columns: &["CUDA", "gcc up to", "clang up to"],
        rows: compilers::all().iter().rev().map(row).collect(),
        note: "A toolkit's own crt/host_config.h outranks this table; `host_compiler = g++-N` in .cuda-version names the one to use.",
    }
}

fn of_drivers() -> Matrix {
    let row = |(branch, cuda): &(u32, cudaup_core::version::Version)| {
        let last =
            arch::releases().iter().rfind(|release| release.cuda.major == cuda.major && cuda.major >= 11);
        vec![
            branch.to_string(),
            cuda.to_string(),
            last.map_or_else(|| cuda.to_string(), |release| release.cuda.max(*cuda).to_string()),
        ]
    };
    Matrix {
        columns: &["driver", "CUDA up to", "without PTX up to"],
        rows: driver::all().iter().rev().map(row).collect(),
        note: "A driver runs everything older, as long as it still runs the GPU. There is no toolkit 12.7.",
    }
}

fn of_gpus() -> Matrix {
    let all: BTreeSet<Capability> = arch::releases()
        .iter()
        .flat_map(|release| &release.architectures)
        .map(|code| code.capability)
        .collect();
    let newest = arch::releases().last().map(|release| release.cuda);
    let row = |capability: &Capability| {
        let (first, last) = arch::first_and_last(*capability)?;
        let ended = Some(last).filter(|last| Some(*last) != newest);
        Some(vec![
            capability.to_string(),
            format!("sm_{}", capability.number()),
            first.to_string(),
            or_dash(ended),
            or_dash(gpu::last_branch(*capability)),
            gpu::examples(*capability).join(", "),
        ])
    };
    Matrix {
        columns: &["capability", "nvcc", "first CUDA", "last CUDA", "last driver", "such as"],
        rows: all.iter().rev().filter_map(row).collect(),
        note: "-: it goes on. Code of a capability runs on GPUs of the same major and a higher minor, too.",
    }
}

fn of_torch() -> Matrix {
    let row = |wheel: &torch::Wheel| {
        let newest = torch::releases()
            .iter()
            .rfind(|release| release.version.starts_with(&format!("{}.", wheel.torch)));
        let gpus: BTreeSet<Capability> = wheel.architectures.iter().map(|code| code.capability).collect();
        let with = newest.map(|release| {
            let of = |name| Some(format!("{name} {}", frameworks::goes_with_torch(name, &release.version)?));
            frameworks::packages_with_torch().filter_map(of).collect::<Vec<_>>().join(", ")
        });
        let standard =
            if newest.is_some_and(|release| release.index == wheel.index) { "pip's own" } else { "" };
        vec![
            wheel.torch.clone(),
            wheel.index.clone(),
            wheel.cuda.to_string(),
            or_dash(wheel.cudnn.as_ref()),
            format!("{} to {}", or_dash(gpus.first()), or_dash(gpus.last())),
            or_dash(newest.and_then(|release| {
                Some(format!("{} to {}", release.python.first()?, release.python.last()?))
            })),
            standard.to_owned(),
            with.unwrap_or_default(),
        ]
    };
    Matrix {
        columns: &["torch", "index", "CUDA", "cuDNN", "GPUs", "Python", "", "with it"],
        rows: torch::wheels().iter().rev().map(row).collect(),
        note: "Wheels for Linux on x86_64: pip install \"torch==2.5.*\" --index-url https://download.pytorch.org/whl/cu124",
    }
}

impl View for Matrix {
    fn json(&self) -> Value {
        let row = |row: &Vec<String>| {
            let cells = self.columns.iter().zip(row).filter(|(name, _)| !name.is_empty());
            Value::Object(cells.map(|(name, cell)| (name.replace(' ', "_"), json!(cell))).collect())
        };
        json!({ "rows": self.rows.iter().map(row).collect::<Vec<_>>(), "note": self.note })
    }

    fn human(&self, style: &Style) -> String {
        let head = self.columns.iter().map(|name| style.strong(name)).collect();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(self.rows.iter().cloned()).collect();
        format!("{}{}\n", table(&rows), self.note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'a>(matrix: &'a Matrix, first: &str) -> &'a [String] {
        matrix.rows.iter().find(|row| row[0] == first).unwrap()
    }

    #[test]
    fn rows_that_people_look_for() {
        assert_eq!(find(&of_releases(), "12.4"), ["12.4", "550", "525", "13", "17", "5.0 to 9.0"]);
        assert_eq!(find(&of_drivers(), "580"), ["580", "13.0", "13.5"]);
        assert_eq!(find(&of_compilers(), "11.8"), ["11.8", "11", "14"]);
        let volta = find(&of_gpus(), "7.0").to_vec();
        assert_eq!(volta[..5], ["7.0", "sm_70", "10.0", "12.9", "580"]);
        assert!(volta[5].contains("V100"), "{volta:?}");
        let torch = of_torch();
        let row = torch.rows.iter().find(|row| row[0] == "2.5" && row[1] == "cu124").unwrap();
        assert_eq!((row[2].as_str(), row[6].as_str()), ("12.4", "pip's own"));
        assert!(row[7].contains("torchvision 0.20.1"), "{row:?}");
    }

    #[test]
    fn every_row_has_every_column() {
        for matrix in [of_releases(), of_drivers(), of_compilers(), of_gpus(), of_torch()] {
            assert!(
                matrix.rows.len() > 15 && matrix.rows.iter().all(|row| row.len() == matrix.columns.len())
            );
        }
    }
}
