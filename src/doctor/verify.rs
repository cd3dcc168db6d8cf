//! Compiles and links small programs with a toolkit, in the environment that it gives, and runs them where a GPU is asked for.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::compat::arch::Capability;
use crate::failure::Failure;
use crate::process::{self, Finished};
use cudaup_core::environment::Vars;

/// Compiling takes seconds; a machine under load or a slow disk may take far longer.
const PATIENCE: Duration = Duration::from_secs(300);

/// More of what a compiler or a program said is not shown.
const LINES: usize = 12;

/// A program to be tried.
#[derive(Clone, Copy, Debug)]
struct Program {
    /// What it does, for people.
    title: &'static str,
    file: &'static str,
    text: &'static str,
    /// The header without which it is not tried.
    needs: &'static str,
    links: &'static [&'static str],
}

const PROGRAMS: [Program; 3] = [
    Program {
        title: "vector addition",
        file: "add.cu",
        text: include_str!("verify/add.cu"),
        needs: "cuda_runtime.h",
        links: &[],
    },
    Program {
        title: "matrix product by cuBLAS",
        file: "matrix.cu",
        text: include_str!("verify/matrix.cu"),
        needs: "cublas_v2.h",
        links: &["-lcublas"],
    },
    Program {
        title: "cuDNN",
        file: "cudnn.cu",
        text: include_str!("verify/cudnn.cu"),
        needs: "cudnn.h",
        links: &["-lcudnn"],
    },
];

/// What is tried.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// The toolkit's nvcc.
    pub nvcc: &'a Path,
    /// The directories of headers, the toolkit's and those of add-ons.
    pub includes: &'a [PathBuf],
    /// The directories of libraries of the same.
    pub libraries: &'a [PathBuf],
    /// The environment that the toolkit gives.
    pub vars: &'a Vars,
    /// The compiler for `-ccbin`, where nvcc would take another by itself.
    pub ccbin: Option<&'a Path>,
    /// The GPU to compile for and to run on; `None`: nothing is run.
    pub gpu: Option<Capability>,
    /// An existing directory for temporary files.
    pub scratch: &'a Path,
}

/// How one step went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Went {
    /// As it should; a word on it, such as how long the GPU and the CPU took.
    Well(String),
    /// It was not tried, and why.
    Not(String),
    /// It failed; what was said.
    Badly(String),
}

/// One step: what was tried, and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// `vector addition: compiles and links`.
    pub name: String,
    /// How it went.
    pub went: Went,
}

/// Tries all programs that the toolkit and its add-ons have the parts for.
pub fn verify(trial: &Trial) -> Result<Vec<Step>, Failure> {
    let directory = tempfile::Builder::new()
        .prefix("verify-")
        .tempdir_in(trial.scratch)
        .map_err(|error| Failure::io("make a directory in", trial.scratch, &error))?;
    let mut steps = Vec::new();
    for program in PROGRAMS {
        let step = |what: &str, went: Went| Step { name: format!("{}: {what}", program.title), went };
        if !trial.includes.iter().any(|directory| directory.join(program.needs).is_file()) {
            steps.push(step("compiles and links", Went::Not(format!("{} is not here", program.needs))));
            continue;
        }
        let made = compile(trial, &program, directory.path())?;
        let compiled = matches!(made, Went::Well(_));
        steps.push(step("compiles and links", made));
        if let (true, Some(_)) = (compiled, trial.gpu) {
            steps.push(step("runs", start(trial, directory.path(), program.file)?));
        }
    }
    Ok(steps)
}

fn compile(trial: &Trial, program: &Program, directory: &Path) -> Result<Went, Failure> {
    let source = directory.join(program.file);
    fs::write(&source, program.text).map_err(|error| Failure::io("write", &source, &error))?;
    let mut arguments: Vec<OsString> =
        vec!["-O2".into(), "-o".into(), binary(directory, program.file).into()];
    arguments.push(source.into());
    for include in trial.includes.iter().skip(1) {
        arguments.extend(["-I".into(), include.clone().into_os_string()]);
    }
    for library in trial.libraries.iter().skip(1) {
        arguments.extend(["-L".into(), library.clone().into_os_string()]);
    }
    arguments.extend(program.links.iter().map(Into::into));
    if let Some(gpu) = trial.gpu {
        let number = gpu.number();
        arguments.push(format!("-gencode=arch=compute_{number},code=sm_{number}").into());
    }
    if let Some(path) = trial.ccbin {
        arguments.extend(["-ccbin".into(), path.as_os_str().to_owned()]);
    }
    let said = run(trial, trial.nvcc, &arguments, directory)
        .map_err(|error| Failure::io("start", trial.nvcc, &error))?;
    Ok(if said.succeeded() { Went::Well(String::new()) } else { Went::Badly(ended(&said)) })
}

fn start(trial: &Trial, directory: &Path, file: &str) -> Result<Went, Failure> {
    let program = binary(directory, file);
    let said =
        run(trial, &program, &[], directory).map_err(|error| Failure::io("start", &program, &error))?;
    if !said.succeeded() {
        return Ok(Went::Badly(ended(&said)));
    }
    let last = said.output.lines().last().unwrap_or_default();
    Ok(Went::Well(times(last).unwrap_or_else(|| last.to_owned())))
}

fn binary(directory: &Path, file: &str) -> PathBuf {
    directory.join(file).with_extension("out")
}

fn run(trial: &Trial, program: &Path, arguments: &[OsString], directory: &Path) -> io::Result<Finished> {
    #[expect(clippy::disallowed_methods, reason = "that it compiles and runs is only seen by doing so")]
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).env_clear().envs(trial.vars.iter());
    command.env("TMPDIR", directory);
    process::run(&mut command, PATIENCE)
}

/// `gpu 0.021 cpu 5.120`, for people.
fn times(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (gpu, cpu) = match (words.next()?, words.next()?, words.next()?, words.next()?) {
        ("gpu", gpu, "cpu", cpu) => (gpu.parse::<f64>().ok()?, cpu.parse::<f64>().ok()?),
        _ => return None,
    };
    Some(format!("same result as the CPU's; {gpu:.2} ms, the CPU {cpu:.2} ms"))
}

/// What a program that failed said last, or that it was stopped.
fn ended(said: &Finished) -> String {
    let lines: Vec<&str> = said.output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n");
    match (said.status, last.is_empty()) {
        (None, _) => format!("no end after {} s\n{last}", PATIENCE.as_secs()),
        (Some(status), true) => format!("it ended with {status} and said nothing"),
        _ => last,
    }
}
