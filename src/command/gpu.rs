//! `cudaup gpu`: the GPUs, how much of them is taken, and by whom.

use crate::command::{Context, Outcome, Watch};
use crate::facts::driver::{self, Smi};
use crate::facts::gpu::{self, Gpu, process};
use crate::failure::Failure;
use crate::process::run;
use crate::ui::view::{Style, View, table};
use clap::Args as Arguments;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// Show the GPUs: memory, use, and which programs hold them with which CUDA.
#[derive(Debug, Arguments)]
pub struct Args {
    /// Show it again every SECONDS (2 where none are given), until Ctrl-C
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    watch: Option<u64>,
    /// Exit 1 where a GPU has less memory free than this: 4GiB, 500MB
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    alert_below: Option<u64>,
    /// What a shell runs then; CUDAUP_GPU is the number of the GPU
    #[arg(long, value_name = "COMMAND", requires = "alert_below")]
    exec: Option<String>,
}

/// What is to be run at an alert ends within this time.
const PATIENCE: Duration = Duration::from_secs(600);

struct Shown {
    gpus: Vec<Gpu>,
    /// For each process, in the order of the GPUs, the file of CUDA's that it has loaded.
    loaded: Vec<(u32, Option<String>)>,
    driver: Option<String>,
    alerts: Vec<u32>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let Some(seconds) = self.watch else {
            let shown = self.look(context)?;
            self.alert(context, &shown.alerts)?;
            let alerted = !shown.alerts.is_empty();
            let view = Box::new(shown);
            return Ok(if alerted { Outcome::Unmet(view) } else { Outcome::View(view) });
        };
        let args = Self { watch: None, alert_below: self.alert_below, exec: self.exec.clone() };
        let context = context.clone();
        let mut before = Vec::new();
        let next = Box::new(move || {
            let shown = args.look(&context)?;
            // What was said is not said again until it has been well in between.
            let new: Vec<u32> = shown.alerts.iter().copied().filter(|n| !before.contains(n)).collect();
            args.alert(&context, &new)?;
            before.clone_from(&shown.alerts);
            Ok::<Box<dyn View>, Failure>(Box::new(shown))
        });
        Ok(Outcome::Watch(Watch { every: Duration::from_secs(seconds), next }))
    }

    fn look(&self, context: &Context) -> Result<Shown, Failure> {
        let (smi, shown) = driver::ask(&context.host);
        let driver = driver::look(&context.host, smi);
        if !matches!(driver.smi, Smi::Said { .. }) {
            return Err(why(&driver.smi));
        }
        let version = driver.version().map(str::to_owned);
        let found = gpu::look(&driver.smi, shown, &driver.on_bus);
        let gpus = found.known().cloned().unwrap_or_default();
        if gpus.is_empty() {
            return Err(Failure::failed("nvidia-smi shows no GPU").hint("cudaup doctor"));
        }
        let processes = gpus.iter().flat_map(|gpu| &gpu.processes);
        let loaded = processes.map(|p| (p.pid, process::loaded(&context.host, p.pid))).collect();
        let alerts = gpus.iter().filter(|gpu| self.is_below(gpu)).map(|gpu| gpu.index).collect();
        Ok(Shown { gpus, loaded, driver: version, alerts })
    }

    fn is_below(&self, gpu: &Gpu) -> bool {
        let free = gpu.memory.zip(gpu.used).map(|(all, used)| all.saturating_sub(used));
        self.alert_below.zip(free).is_some_and(|(least, free)| free < least)
    }

    fn alert(&self, context: &Context, alerts: &[u32]) -> Result<(), Failure> {
        let Some(text) = &self.exec else { return Ok(()) };
        for gpu in alerts {
            #[expect(clippy::disallowed_methods, reason = "the user asked for this command to be run")]
            let mut command = Command::new("/bin/sh");
            command.args(["-c", text]).env("CUDAUP_GPU", gpu.to_string());
            let ended = run(&mut command, PATIENCE)
                .map_err(|error| Failure::failed(format!("cannot run `{text}`: {error}")))?;
            for line in ended.output.lines() {
                context.talk.say(line);
            }
            if !ended.succeeded() {
                context.talk.say(&format!("warning: `{text}` failed for GPU {gpu}"));
            }
        }
        Ok(())
    }
}

fn why(smi: &Smi) -> Failure {
    let text = match smi {
        Smi::Failed(words) => format!("nvidia-smi failed: {words}"),
        Smi::Silent(seconds) => format!("nvidia-smi gave no answer in {seconds} s"),
        Smi::Absent | Smi::Said { .. } => {
            "there is no nvidia-smi here, so that no GPU can be asked".to_owned()
        }
    };
    Failure::failed(text).hint("cudaup doctor   (says why)")
}

/// `4GiB`, `500MB`: bytes.
fn bytes_of(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "gib" => 1 << 30,
        "mib" => 1 << 20,
        "g" | "gb" => 1_000_000_000,
        "m" | "mb" => 1_000_000,
        _ => return Err("a size is a whole number and GiB, MiB, GB or MB, as in 4GiB".to_owned()),
    };
    let number: u64 =
        number.parse().map_err(|_| "a size begins with a whole number, as in 4GiB".to_owned())?;
    number
        .checked_mul(factor)
        .filter(|_| number > 0)
        .ok_or_else(|| "that is no size of a GPU's memory".to_owned())
}

fn mib(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "?".to_owned(), |bytes| (bytes / (1 << 20)).to_string())
}

impl View for Shown {
    fn json(&self) -> Value {
        let loaded =
            |pid: u32| self.loaded.iter().find(|(p, _)| *p == pid).and_then(|(_, file)| file.clone());
        json!({
            "driver": self.driver,
            "gpus": self.gpus.iter().map(|gpu| json!({
                "index": gpu.index,
                "name": gpu.name,
                "compute_capability": gpu.capability.map(|c| c.to_string()),
                "bus": gpu.bus,
                "memory_bytes": gpu.memory,
                "used_bytes": gpu.used,
                "busy_percent": gpu.busy,
                "mig": gpu.mig,
                "below": self.alerts.contains(&gpu.index),
                "processes": gpu.processes.iter().map(|p| json!({
                    "pid": p.pid,
                    "name": p.name,
                    "memory_bytes": p.memory,
                    "cuda": loaded(p.pid),
                })).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })
    }

    fn human(&self, style: &Style) -> String {
        let mut rows = Vec::new();
        for gpu in &self.gpus {
            let capability = gpu.capability.map_or_else(|| "?".to_owned(), |c| format!("sm_{}", c.number()));
            let busy = gpu.busy.map_or_else(String::new, |busy| format!("{busy} %"));
            let memory = match (gpu.memory, gpu.used) {
                (None, None) => "memory not told".to_owned(),
                (memory, used) => format!("{} of {} MiB taken", mib(used), mib(memory)),
            };
            let note = if self.alerts.contains(&gpu.index) { "less is free than asked for" } else { "" };
            let name = style.strong(&gpu.name);
            rows.push(vec![format!("GPU {}", gpu.index), name, capability, memory, busy, note.to_owned()]);
        }
        let mut text = table(&rows);
        for gpu in &self.gpus {
            for process in &gpu.processes {
                let file = self
                    .loaded
                    .iter()
                    .find(|(pid, _)| *pid == process.pid)
                    .and_then(|(_, file)| file.as_ref());
                let with = file.map_or_else(String::new, |file| format!("  {}", style.path(file.as_ref())));
                let row = format!(
                    "  GPU {}  process {}  {}  {} MiB{with}\n",
                    gpu.index,
                    process.pid,
                    process.name,
                    mib(process.memory)
                );
                text.push_str(&row);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_type_them() {
        assert_eq!(bytes_of("4GiB"), Ok(4 << 30));
        assert_eq!(bytes_of("500 mb"), Ok(500_000_000));
        for bad in ["", "4", "GiB", "-1GiB", "4TiB", "0GiB", "99999999999999999999GiB", "1.5GiB"] {
            assert!(bytes_of(bad).is_err(), "{bad}");
        }
    }
}
