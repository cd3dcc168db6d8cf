//! `cudaup doctor`: what of the chain from the driver to the framework does not fit, and what mends it.

use crate::command::{Context, Outcome, Program};
use crate::doctor::chain;
use crate::doctor::diagnose::{Diagnosis, diagnose};
use crate::doctor::finding::{Finding, Layer, Severity};
use crate::doctor::look::{Scene, look};
use crate::doctor::machine::Machine;
use crate::doctor::told;
use crate::facts::python;
use crate::failure::{Exit, Failure};
use crate::host::Host;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Find out what does not fit, from the driver to the framework, and what mends it.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Exit codes: 0 no problem, 1 a problem (with --strict: or a warning). Nothing is changed, and no network is asked."
)]
pub struct Args {
    /// A project, an environment of Python, a build directory or a file, in place of the current directory
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Look at some layers only: driver, gpu, toolkit, environment, compiler, framework (or torch), libraries, builds
    #[arg(long, value_name = "LAYERS", value_delimiter = ',', value_parser = layer)]
    only: Vec<Layer>,
    /// Count warnings as problems
    #[arg(long)]
    strict: bool,
    /// Print only the commands that mend what was found, in order; none is run
    #[arg(long)]
    fix_plan: bool,
}

/// What was found, and all that it was found from.
struct Report {
    machine: Machine,
    diagnosis: Diagnosis,
    verbose: bool,
    strict: bool,
}

/// The commands to type, in order.
struct Plan {
    steps: Vec<(&'static str, String)>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        if let Some(inspect) = self.path.as_deref().and_then(|path| of_a_file(context, path)) {
            return Ok(Outcome::Become(inspect));
        }
        let host =
            self.path.as_ref().map_or_else(|| Ok(context.host.clone()), |path| standing_at(context, path))?;
        let vars = host.vars.iter().cloned().collect();
        let scene = Scene { host: &host, vars: &vars, home: &context.home, disk: &context.disk };
        let machine = look(&scene);
        let diagnosis = diagnose(&machine, &self.only);
        let wrong =
            diagnosis.count(Severity::Problem) > 0 || (self.strict && diagnosis.count(Severity::Warning) > 0);
        let view: Box<dyn View> = if self.fix_plan {
            Box::new(Plan { steps: steps(&diagnosis) })
        } else {
            Box::new(Report { machine, diagnosis, verbose: context.talk.verbose, strict: self.strict })
        };
        Ok(if wrong { Outcome::Unmet(view) } else { Outcome::View(view) })
    }
}

/// A program, library or wheel is looked at by `cudaup inspect`.
fn of_a_file(context: &Context, path: &Path) -> Option<Program> {
    let at = context.host.cwd.as_deref().unwrap_or(Path::new("/")).join(path);
    let other = at.file_name().is_some_and(|name| name == "CMakeCache.txt") || python::of(&at).is_some();
    if !at.is_file() || other {
        return None;
    }
    let mut arguments: Vec<OsString> = vec!["inspect".into(), at.into_os_string()];
    arguments.extend(context.line.has("--json").then(|| "--json".into()));
    Some(Program { path: context.host.program.clone()?, arguments, changes: Vec::new() })
}

/// The host as it would be in a project, with an environment of Python or in a build directory.
fn standing_at(context: &Context, path: &Path) -> Result<Host, Failure> {
    let mut host = context.host.clone();
    let at = host.cwd.as_deref().unwrap_or(Path::new("/")).join(path);
    let found = at.metadata().map_err(|error| Failure::io("look at", &at, &error))?;
    if found.is_file() && at.file_name().is_some_and(|name| name == "CMakeCache.txt") {
        host.cwd = at.parent().map(Path::to_path_buf);
        return Ok(host);
    }
    if let Some(python) = python::of(&at) {
        let conda = python.root.join("conda-meta").is_dir();
        host.vars.retain(|(n, _)| n != "VIRTUAL_ENV" && n != "CONDA_PREFIX");
        host.vars
            .push((if conda { "CONDA_PREFIX" } else { "VIRTUAL_ENV" }.into(), python.root.into_os_string()));
        return Ok(host);
    }
    if !found.is_dir() {
        let what = format!(
            "{} is neither a project, an environment of Python nor a build directory",
            path.display()
        );
        return Err(Failure::new(Exit::Usage, what).hint(format!("cudaup inspect {}", path.display())));
    }
    host.cwd = Some(at);
    Ok(host)
}

/// A layer by its name, or by what stands for it.
fn layer(text: &str) -> Result<Layer, String> {
    let stands_for = match text {
        "torch" | "python" | "tensorflow" | "jax" => "framework",
        "nvcc" => "toolkit",
        "env" => "environment",
        "gcc" | "g++" => "compiler",
        "cudnn" | "nccl" | "loader" => "libraries",
        "cmake" | "disk" => "builds",
        other => other,
    };
    let known = || Layer::ALL.map(Layer::word).join(", ");
    Layer::ALL
        .into_iter()
        .find(|layer| layer.word() == stands_for)
        .ok_or_else(|| format!("the layers are {}", known()))
}

/// The first remedy of each cause, once.
fn steps(diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
    let mut steps: Vec<(&'static str, String)> = Vec::new();
    for cause in &diagnosis.causes {
        let remedy = cause.finding.remedy.first().filter(|_| cause.finding.severity > Severity::Note);
        if let Some(remedy) = remedy
            && !steps.iter().any(|(_, known)| known == remedy)
        {
            steps.push((cause.finding.code, remedy.clone()));
        }
    }
    steps
}

fn as_json(finding: &Finding) -> Value {
    json!({
        "code": finding.code,
        "severity": finding.severity.word(),
        "layer": finding.layer.word(),
        "sentence": finding.sentence,
        "evidence": finding.evidence,
        "remedy": finding.remedy,
        "explains": finding.explains,
    })
}

impl View for Report {
    fn json(&self) -> Value {
        json!({
            "problems": self.diagnosis.count(Severity::Problem),
            "warnings": self.diagnosis.count(Severity::Warning),
            "notes": self.diagnosis.count(Severity::Note),
            "chain": chain::line(&self.machine, &self.diagnosis),
            "findings": self.diagnosis.causes.iter().map(|cause| {
                let mut value = as_json(&cause.finding);
                if let Some(object) = value.as_object_mut() {
                    object.insert("consequences".into(), cause.consequences.iter().map(as_json).collect());
                }
                value
            }).collect::<Vec<_>>(),
            "facts": told::json(&self.machine),
        })
    }

    fn human(&self, style: &Style) -> String {
        let mut text = format!("{}\n", chain::line(&self.machine, &self.diagnosis));
        let (problems, warnings) =
            (self.diagnosis.count(Severity::Problem), self.diagnosis.count(Severity::Warning));
        for cause in &self.diagnosis.causes {
            if cause.finding.severity == Severity::Note && !self.verbose && cause.consequences.is_empty() {
                continue;
            }
            text.push_str(&self.written(&cause.finding, style));
            for finding in &cause.consequences {
                text.push_str(&format!("  so: {} ({})\n", finding.sentence, finding.code));
            }
        }
        let notes = self.diagnosis.count(Severity::Note);
        let hidden = if self.verbose || notes == 0 {
            String::new()
        } else {
            format!("   ({} with -v)", counted(notes, "note"))
        };
        text.push_str(&match (problems, warnings) {
            (0, 0) => format!("no problems{hidden}\n"),
            (0, n) if self.strict => format!("{}, which --strict counts{hidden}\n", counted(n, "warning")),
            (0, n) => format!("no problems, {}{hidden}\n", counted(n, "warning")),
            (n, 0) => format!("{}{hidden}\n", counted(n, "problem")),
            (n, m) => format!("{}, {}{hidden}\n", counted(n, "problem"), counted(m, "warning")),
        });
        if let Some(first) =
            self.diagnosis.causes.first().filter(|cause| cause.finding.severity > Severity::Note)
        {
            text.push_str(&format!("more: cudaup explain {}\n", first.finding.code));
        }
        text
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

impl Report {
    fn written(&self, finding: &Finding, style: &Style) -> String {
        let head = format!("{} {}", finding.severity.word(), finding.code);
        let mut text = format!("{}: {}\n", style.strong(&head), finding.sentence);
        if !finding.evidence.is_empty() {
            text.push_str(&format!("  seen: {}\n", finding.evidence.join("; ")));
        }
        for (n, remedy) in finding.remedy.iter().enumerate() {
            let word = if n == 0 { "mend" } else { "or  " };
            text.push_str(&format!("  {word}: {remedy}\n"));
        }
        text
    }
}

impl View for Plan {
    fn json(&self) -> Value {
        json!({ "steps": self.steps.iter().map(|(code, remedy)| json!({ "code": code, "remedy": remedy })).collect::<Vec<_>>() })
    }

    fn human(&self, _style: &Style) -> String {
        if self.steps.is_empty() {
            return "nothing is to be mended\n".to_owned();
        }
        self.steps.iter().map(|(code, remedy)| format!("{remedy}   # {code}\n")).collect()
    }
}
