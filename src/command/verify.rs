//! `cudaup verify`: sees a toolkit work, from compiling to running on the GPU.

use crate::command::{Context, Outcome, nothing_chosen, refused};
use crate::doctor::verify::{Step, Trial, Went, verify};
use crate::facts::{driver, gpu};
use crate::failure::Failure;
use crate::toolkit::host_compiler::{self, Choice as Chosen, Limits};
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use cudaup_core::activate::{Entered, Scope, activate};
use cudaup_core::disk::Disk;
use cudaup_core::layout::{self, INCLUDE, LIB};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Compile and link small programs with a toolkit, and with --gpu run them.
#[derive(Debug, Arguments)]
pub struct Args {
    /// The toolkit; the one that applies here where none is named
    #[arg(value_name = "VERSION")]
    request: Option<String>,
    /// Run them too, and compare their results with the CPU's
    #[arg(long)]
    gpu: bool,
}

struct Verified {
    version: String,
    root: PathBuf,
    compiler: Option<String>,
    gpu: Option<String>,
    steps: Vec<Step>,
    ran: bool,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let request = self.request.as_deref().map(|text| context.request(text)).transpose()?;
        let activation = activate(&context.world(), request.as_ref(), Scope::All);
        let choice = match &activation.entered {
            Entered::Toolkit(choice) => choice,
            Entered::Nothing => return Err(nothing_chosen(context)),
            Entered::Refused(refusal) => return Err(refused(refusal)),
        };
        let root = &choice.toolkit.root;
        let version = choice.toolkit.identity.to_string();
        let nvcc = layout::tool(root, "nvcc", &context.disk).unwrap_or_else(|| root.join("bin/nvcc"));
        if !nvcc.is_file() {
            let what = format!("CUDA {version} in {} has no nvcc to compile with", root.display());
            return Err(Failure::failed(what).hint(format!("cudaup install {version}")));
        }
        let shown = self.gpu.then(|| first_gpu(context)).transpose()?;
        let roots =
            || std::iter::once(root.as_path()).chain(choice.addons.iter().map(|addon| addon.root.as_path()));
        let includes: Vec<PathBuf> =
            roots().filter_map(|root| first_directory(root, &INCLUDE, &context.disk)).collect();
        let libraries: Vec<PathBuf> =
            roots().filter_map(|root| first_directory(root, &LIB, &context.disk)).collect();
        let limits = Limits::of(root)?.unwrap_or_else(|| Limits::parse(""));
        let pinned = choice.settings.host_compiler.is_some();
        let (compiler, ccbin) =
            match host_compiler::choose(&limits, host_compiler::look(&context.host, &limits)) {
                Chosen::Use(compiler, ccbin) => (Some(compiler.title()), ccbin.filter(|_| !pinned)),
                Chosen::Unfit(..) | Chosen::Absent => (None, None),
            };
        let scratch = scratch(context);
        let trial = Trial {
            nvcc: &nvcc,
            includes: &includes,
            libraries: &libraries,
            vars: &activation.vars,
            ccbin: ccbin.as_deref(),
            gpu: shown.as_ref().map(|(_, capability)| *capability),
            scratch: &scratch,
        };
        let steps = verify(&trial)?;
        let failed = steps.iter().any(|step| matches!(step.went, Went::Badly(_)));
        let gpu = shown.map(|(name, capability)| format!("{name} sm_{}", capability.number()));
        let compiler = choice.settings.host_compiler.clone().or(compiler);
        let view = Box::new(Verified { version, root: root.clone(), compiler, gpu, steps, ran: self.gpu });
        Ok(if failed { Outcome::Unmet(view) } else { Outcome::View(view) })
    }
}

/// The first GPU that programs see, by name and compute capability.
fn first_gpu(context: &Context) -> Result<(String, crate::compat::arch::Capability), Failure> {
    let (smi, shown) = driver::ask(&context.host);
    let driver = driver::look(&context.host, smi);
    let found = gpu::look(&driver.smi, shown, &driver.on_bus);
    let none = || {
        Failure::failed("there is no GPU here to run on, or no driver that shows it")
            .hint("cudaup doctor   (says why)")
    };
    let gpus = found.known().filter(|_| driver.is_there()).ok_or_else(none)?;
    let gpu = gpus.first().ok_or_else(none)?;
    let capability = gpu.capability.ok_or_else(|| {
        Failure::failed(format!("the compute capability of the GPU {} is not known", gpu.name))
    })?;
    Ok((gpu.name.clone(), capability))
}

/// The first of some directories that a tree has.
fn first_directory(root: &Path, names: &[&str], disk: &dyn Disk) -> Option<PathBuf> {
    names.iter().map(|name| root.join(name)).find(|path| disk.is_dir(path))
}

/// Where temporary files go.
fn scratch(context: &Context) -> PathBuf {
    let named = context.host.var("TMPDIR").map(PathBuf::from).filter(|path| path.is_dir());
    named.unwrap_or_else(|| PathBuf::from("/tmp"))
}

impl View for Verified {
    fn json(&self) -> Value {
        json!({
            "version": self.version,
            "root": self.root.to_string_lossy(),
            "host_compiler": self.compiler,
            "gpu": self.gpu,
            "steps": self.steps.iter().map(|step| {
                let (result, text) = match &step.went {
                    Went::Well(text) => ("ok", text),
                    Went::Not(text) => ("not tried", text),
                    Went::Badly(text) => ("failed", text),
                };
                json!({ "step": step.name, "result": result, "text": text })
            }).collect::<Vec<_>>(),
        })
    }

    fn human(&self, style: &Style) -> String {
        let with = self.compiler.as_ref().map_or_else(String::new, |compiler| format!(", with {compiler}"));
        let on = self.gpu.as_ref().map_or_else(String::new, |gpu| format!(", on {gpu}"));
        let mut text =
            format!("CUDA {} in {}{with}{on}\n", style.strong(&self.version), style.path(&self.root));
        for step in &self.steps {
            let (mark, said) = match &step.went {
                Went::Well(said) => ("ok", said),
                Went::Not(said) => ("-", said),
                Went::Badly(said) => ("X", said),
            };
            let said = if said.is_empty() {
                String::new()
            } else {
                format!("   {}", said.replace('\n', "\n       "))
            };
            text.push_str(&format!("  {mark:<3}{}{said}\n", step.name));
        }
        let failed = self.steps.iter().find(|step| matches!(step.went, Went::Badly(_)));
        text.push_str(&match failed {
            Some(step) => format!("failed: {}; what it says: cudaup doctor\n", step.name),
            None if self.ran => "it works, on the GPU too\n".to_owned(),
            None => "it compiles and links; on a machine with a GPU: cudaup verify --gpu\n".to_owned(),
        });
        text
    }
}
