//! Sees a toolkit work: nvcc answers, and a small program compiles and links.
//!
//! What fails for a cause outside the toolkit leaves it unproved; any other failure means that the tree is broken.

pub mod diagnosis;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cudaup_core::version::Version;

use crate::elf::{Machine, header};
use crate::failure::Failure;
use crate::host::Host;
use crate::process::{self, Finished};
use crate::toolkit::host_compiler::{self, Choice, Limits};

/// The proof takes about two seconds; a machine under load or a slow disk may take far longer.
const PATIENCE: Duration = Duration::from_secs(180);

/// A kernel that is launched, so that both compilers, the assembler, the linkers and the static runtime are needed.
const PROGRAM: &str = "\
__global__ void add(const float *a, const float *b, float *sum, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + sinf(b[i]);
}
int main() {
    float *a = nullptr;
    if (cudaMalloc(&a, 3 * sizeof(float)) != cudaSuccess) return 1;
    add<<<1, 1>>>(a, a + 1, a + 2, 1);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
";

/// A program that needs a C++ compiler and its libraries, and nothing of the toolkit.
const PLAIN_PROGRAM: &str =
    "#include <cmath>\n#include <cstdlib>\n#include <string>\nint main() { return 0; }\n";

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It works.
    Proved {
        /// With this host compiler, such as `g++ 12.2.0`.
        compiler: String,
    },
    /// It could not be tried, or failed, for a cause outside the toolkit.
    Unproved {
        /// The cause.
        reason: String,
        /// What to do about it.
        remedy: String,
    },
    /// The toolkit does not work.
    Broken {
        /// What failed, in one line.
        reason: String,
        /// The command and everything it said.
        log: String,
    },
}

/// A toolkit to be proved.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// Its root.
    pub tree: &'a Path,
    /// The version that its nvcc has to answer with.
    pub version: Version,
    /// An existing directory for temporary files, on the disk that was asked for space.
    pub scratch: &'a Path,
}

/// Tries a toolkit.
pub fn prove(trial: &Trial, host: &Host) -> Result<Proof, Failure> {
    let nvcc = trial.tree.join("bin/nvcc");
    if let Some(early) = fits_this_machine(&nvcc) {
        return Ok(early);
    }
    let directory = tempfile::Builder::new()
        .prefix("proof-")
        .tempdir_in(trial.scratch)
        .map_err(|error| Failure::io("make a directory in", trial.scratch, &error))?;
    let bench = Bench { directory: directory.path(), vars: clean(&host.vars) };
    let answer = match bench.run(&nvcc, &[OsStr::new("--version")]) {
        Ok(answer) => answer,
        Err(error) => return Ok(diagnosis::not_started(&nvcc, may_run(&nvcc), &error)),
    };
    if let Some(wrong) = diagnosis::wrong_answer(&answer, trial.version) {
        return Ok(wrong);
    }
    let limits = Limits::of(trial.tree)?.unwrap_or_else(|| Limits::parse(""));
    let (compiler, ccbin) = match host_compiler::choose(&limits, host_compiler::look(host, &limits)) {
        Choice::Use(compiler, ccbin) => (compiler, ccbin),
        unfit => return Ok(diagnosis::no_compiler(&unfit, trial.version)),
    };
    if let Some(early) = [trial.tree, trial.scratch].into_iter().find_map(diagnosis::path_for_a_shell) {
        return Ok(early);
    }
    bench.write("proof.cu", PROGRAM)?;
    let mut arguments: Vec<&OsStr> = ["-o", "proof", "proof.cu"].map(OsStr::new).to_vec();
    if let Some(path) = &ccbin {
        arguments.extend([OsStr::new("-ccbin"), path.as_os_str()]);
    }
    let tried = bench.run(&nvcc, &arguments).map_err(|error| Failure::io("start", &nvcc, &error))?;
    if tried.succeeded() && directory.path().join("proof").is_file() {
        return Ok(Proof::Proved { compiler: compiler.title() });
    }
    if let Some(kind) = diagnosis::out_of_room(&tried.output) {
        return Err(Failure::io("compile a small program in", trial.scratch, &kind.into()));
    }
    // Whether the compiler works at all is only asked now: the answer costs time, and most often is yes.
    bench.write("plain.cpp", PLAIN_PROGRAM)?;
    let plain = ["-o", "plain", "plain.cpp"].map(OsStr::new);
    let alone =
        bench.run(&compiler.path, &plain).map_err(|error| Failure::io("start", &compiler.path, &error))?;
    let command = format!("{} {}", nvcc.display(), words(&arguments));
    Ok(diagnosis::not_compiled(&command, &tried, &compiler, &alone))
}

/// What the file of nvcc says before it is run: the end of the matter where it is for another machine.
fn fits_this_machine(nvcc: &Path) -> Option<Proof> {
    match header::open(nvcc) {
        Err(header::Unreadable::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            Some(Proof::Broken { reason: format!("there is no {}", nvcc.display()), log: String::new() })
        }
        Ok(image) if image.machine != Machine::here() => Some(diagnosis::other_machine(image.machine)),
        Ok(image) => {
            image.interpreter.filter(|loader| !Path::new(loader).exists()).map(|l| diagnosis::no_loader(&l))
        }
        // A damaged file shows itself when it is run.
        Err(_) => None,
    }
}

fn may_run(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// A directory to compile in and the environment to do it in.
struct Bench<'a> {
    directory: &'a Path,
    vars: Vec<(OsString, OsString)>,
}

impl Bench<'_> {
    fn run(&self, program: &Path, arguments: &[&OsStr]) -> io::Result<Finished> {
        #[expect(clippy::disallowed_methods, reason = "that the compiler works is only seen by running it")]
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.directory).env_clear();
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command.env("TMPDIR", self.directory).env("LC_ALL", "C");
        process::run(&mut command, PATIENCE)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path: PathBuf = self.directory.join(name);
        fs::write(&path, text).map_err(|error| Failure::io("write", &path, &error))
    }
}

/// The user's variables without those that change what nvcc or a host compiler does. PATH stays, and so does
/// `LD_LIBRARY_PATH`, without which a compiler from a module may not start.
fn clean(vars: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    const SEARCH: [&str; 16] = [
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "OBJC_INCLUDE_PATH",
        "LIBRARY_PATH",
        "LD_RUN_PATH",
        "LD_PRELOAD",
        "COMPILER_PATH",
        "GCC_EXEC_PREFIX",
        "DEPENDENCIES_OUTPUT",
        "SUNPRO_DEPENDENCIES",
        "SOURCE_DATE_EPOCH",
        "LANG",
        "LANGUAGE",
        "TMP",
        "TEMP",
    ];
    let steers = |name: &OsStr| {
        let name = name.to_string_lossy();
        ["NVCC", "CUDA", "NVVM", "CICC", "PTXAS", "LC_"].iter().any(|start| name.starts_with(start))
            || SEARCH.contains(&&*name)
    };
    vars.iter().filter(|(name, _)| !steers(name)).cloned().collect()
}

fn words(arguments: &[&OsStr]) -> String {
    shell_words::join(arguments.iter().map(|argument| argument.to_string_lossy()))
}
