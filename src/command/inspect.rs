//! `cudaup inspect`: what a program, library, wheel or directory holds for GPUs, what it needs, and whether it runs here.

use crate::command::{Context, Outcome};
use crate::doctor::inspect::{Subject, Verdict, judge, list, look, oldest_driver, release};
use crate::facts::gpu::Gpu;
use crate::facts::{Fact, driver, gpu, loader};
use crate::failure::Failure;
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use cudaup_core::version::Version;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Show which GPUs a program, library, wheel or directory holds code for, and which CUDA libraries it needs.
#[derive(Debug, Arguments)]
pub struct Args {
    /// A program, .so, .a, .o, .cubin, .whl, or a directory
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

struct Inspected {
    subjects: Vec<Judged>,
    /// Why nothing was judged, where no GPU is known.
    no_gpu: String,
    verbose: bool,
}

struct Judged {
    subject: Subject,
    /// Each kind of GPU here, and whether it runs the thing.
    verdicts: Vec<(Gpu, Verdict)>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let loader = loader::look(&context.host);
        let here = context.host.cwd.as_deref().unwrap_or(Path::new("/"));
        let subjects: Vec<Subject> =
            self.files.iter().map(|file| look(&here.join(file), &loader)).collect::<Result<_, _>>()?;
        let (smi, shown) = driver::ask(&context.host);
        let driver = driver::look(&context.host, smi);
        let reach = driver.said_cuda().or_else(|| driver.version().and_then(crate::compat::driver::reach));
        let found = gpu::look(&driver.smi, shown, &driver.on_bus);
        let mut gpus: Vec<Gpu> = found.known().cloned().unwrap_or_default();
        let no_gpu = match found {
            Fact::Unknown(why) => format!("not known: {why}"),
            _ => "there is no GPU to judge it for".to_owned(),
        };
        gpus.dedup_by(|a, b| a.name == b.name);
        let judged = |subject: Subject| Judged {
            verdicts: gpus.iter().map(|gpu| (gpu.clone(), judge(&subject.code, gpu, reach))).collect(),
            subject,
        };
        let subjects = subjects.into_iter().map(judged).collect();
        Ok(Outcome::View(Box::new(Inspected { subjects, no_gpu, verbose: context.talk.verbose })))
    }
}

/// Files of a directory or wheel that are shown without -v.
const MOST: usize = 8;

impl View for Inspected {
    fn json(&self) -> Value {
        let one = |judged: &Judged| {
            let subject = &judged.subject;
            let release = release(subject);
            json!({
                "path": subject.path.to_string_lossy(),
                "kind": subject.kind,
                "architectures": subject.code.architectures.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "ptx": subject.code.ptx.map(|(major, minor)| format!("{major}.{minor}")),
                "pieces": subject.code.pieces,
                "damaged": subject.code.damaged,
                "cuda": release.map(|release| release.to_string()),
                "oldest_driver": release.and_then(oldest_driver),
                "needed": subject.needed.iter().map(|needed| json!({
                    "name": needed.name,
                    "file": needed.found.as_ref().map(|(file, _)| file.to_string_lossy()),
                    "by": needed.found.as_ref().map(|(_, by)| by.word()),
                })).collect::<Vec<_>>(),
                "files": subject.files.iter().map(|(name, code)| json!({
                    "name": name,
                    "architectures": code.architectures.iter().map(ToString::to_string).collect::<Vec<_>>(),
                })).collect::<Vec<_>>(),
                "requires": subject.requires,
                "unread": subject.unread,
                "verdicts": judged.verdicts.iter().map(|(gpu, verdict)| json!({
                    "gpu": gpu.name,
                    "compute_capability": gpu.capability.map(|c| c.to_string()),
                    "verdict": verdict.words(),
                })).collect::<Vec<_>>(),
            })
        };
        json!({ "files": self.subjects.iter().map(one).collect::<Vec<_>>() })
    }

    fn human(&self, style: &Style) -> String {
        self.subjects.iter().map(|judged| self.written(judged, style)).collect::<Vec<_>>().join("\n")
    }
}

impl Inspected {
    fn written(&self, judged: &Judged, style: &Style) -> String {
        let subject = &judged.subject;
        let mut text = format!("{}  {}\n", style.strong(&style.path(&subject.path)), subject.kind);
        let mut row = |name: &str, value: &str| text.push_str(&format!("  {name:<10}{value}\n"));
        if subject.code.architectures.is_empty() {
            row("code", "none for GPUs");
        } else {
            row("code", &list(&subject.code));
        }
        if let Some((major, minor)) = subject.code.ptx {
            let by = crate::compat::arch::first_with_ptx((major, minor));
            let by = by.map_or_else(String::new, |release| format!(", as nvcc {release} writes it"));
            row("PTX", &format!("version {major}.{minor}{by}"));
        }
        if subject.code.damaged {
            row("damaged", "a part of it contradicts itself: there may be more code than was read");
        }
        for needed in &subject.needed {
            let found = match &needed.found {
                Some((file, by)) => format!("{}  ({})", style.path(file), by.word()),
                None => format!("not found{}", how_to_get(&needed.name)),
            };
            row("needs", &format!("{}  {found}", needed.name));
        }
        if !subject.requires.is_empty() {
            row("asks for", &subject.requires.join(", "));
        }
        if let Some((release, branch)) =
            release(subject).and_then(|release| Some((release, oldest_driver(release)?)))
        {
            row("driver", &format!("{branch} or newer, being of CUDA {release}"));
        }
        let shown = if self.verbose { usize::MAX } else { MOST };
        for (name, code) in subject.files.iter().take(shown) {
            row("file", &format!("{name}  {}", list(code)));
        }
        if subject.files.len() > shown {
            row("", &format!("and {} more files (-v)", subject.files.len() - shown));
        }
        for line in subject.unread.iter().take(shown) {
            row("unread", line);
        }
        for (gpu, verdict) in &judged.verdicts {
            row("here", &format!("{}: {}", gpu.name, verdict.words()));
        }
        if judged.verdicts.is_empty() && !subject.code.architectures.is_empty() {
            row("here", &self.no_gpu);
        }
        text
    }
}

/// Where a library comes from that is not found.
fn how_to_get(name: &str) -> String {
    let library = |wanted: &str| name.starts_with(wanted);
    let major = name.split(".so.").nth(1).and_then(|number| number.split('.').next()?.parse::<u32>().ok());
    let of_release = |major: u32| Version { major, minor: None, update: None };
    if library("libcuda.so") || library("libnvidia-ml") {
        return ": it comes with the driver".to_owned();
    }
    match (major, library("libcudart"), library("libcudnn")) {
        (Some(major), true, _) => {
            format!(": cudaup install {} && cudaup exec {} -- ...", of_release(major), of_release(major))
        }
        (Some(major), _, true) => format!(": cudaup add cudnn@{major}"),
        _ => String::new(),
    }
}
