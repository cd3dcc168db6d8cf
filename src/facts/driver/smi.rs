//! What nvidia-smi says, in the words of every generation: the banner with its tables, and the answer to a query.
//!
//! Labels changed over the years (`CUDA Version`, since 610 `CUDA UMD Version`; `Driver Version`, `KMD Version`), so a label is
//! known by its parts. Query fields are told apart by their form: not every driver has each field, and the order may differ.

use super::Smi;
use crate::compat::arch::Capability;
use crate::compat::gpu::bare;
use crate::facts::gpu::{Gpu, Process};
use crate::host::Host;
use crate::process;
use cudaup_core::version::Version;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// It answers within two seconds on a machine with many sleeping GPUs; with a broken driver it can hang for ever.
const PATIENCE: Duration = Duration::from_secs(10);

const QUERY: &str = "--query-gpu=index,name,compute_cap,driver_version,memory.total,memory.used,utilization.gpu,pci.bus_id,mig.mode.current";
/// What drivers before 510 know: no compute capability.
const OLD_QUERY: &str =
    "--query-gpu=index,name,driver_version,memory.total,memory.used,utilization.gpu,pci.bus_id";

/// Longest part of a failure's text that is worth showing.
const LONGEST: usize = 300;

/// Asks nvidia-smi, where there is one, for the driver and the GPUs.
pub fn ask(host: &Host) -> (Smi, Vec<Gpu>) {
    let Some(program) = find(host) else { return (Smi::Absent, Vec::new()) };
    let (banner, query) = std::thread::scope(|scope| {
        let query = scope.spawn(|| {
            let new = run(host, &program, &[QUERY, "--format=csv,noheader"]);
            if new.as_ref().is_ok_and(|said| said.succeeded() || said.status.is_none()) {
                return new;
            }
            run(host, &program, &[OLD_QUERY, "--format=csv,noheader"])
        });
        (run(host, &program, &[]), query.join().ok())
    });
    let rows =
        query.and_then(Result::ok).filter(process::Finished::succeeded).map(|said| queried(&said.output));
    let rows = rows.unwrap_or_default();
    match banner {
        Err(error) => (Smi::Failed(format!("{}: {error}", program.display())), Vec::new()),
        Ok(said) if said.status.is_none() => (Smi::Silent(PATIENCE.as_secs()), Vec::new()),
        Ok(said) => understood(&said.output, rows),
    }
}

/// nvidia-smi on PATH, else where the driver's packages and WSL2 put it.
fn find(host: &Host) -> Option<PathBuf> {
    let path = host.var("PATH").map(std::env::split_paths).into_iter().flatten();
    let on_path = path.filter(|entry| entry.is_absolute()).map(|entry| entry.join("nvidia-smi"));
    let elsewhere = ["/usr/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"].map(|place| host.system(place));
    on_path.chain(elsewhere).find(|place| place.is_file())
}

fn run(host: &Host, program: &Path, arguments: &[&str]) -> std::io::Result<process::Finished> {
    #[expect(
        clippy::disallowed_methods,
        reason = "only the driver's own program knows what the driver can do"
    )]
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(host.vars.iter().map(|(name, value)| (name, value)))
        .env("LC_ALL", "C");
    process::run(&mut command, PATIENCE)
}

/// Puts the banner and the rows of the query together. An answer without a banner is a failure, whatever the exit status.
fn understood(text: &str, rows: Vec<Row>) -> (Smi, Vec<Gpu>) {
    let asked = rows.iter().find_map(|row| row.driver.clone());
    let Some(mut said) = banner(text) else {
        let gpus = rows.into_iter().filter_map(|row| row.gpu).collect::<Vec<_>>();
        if let Some(driver) = asked.filter(|_| !gpus.is_empty()) {
            return (Smi::Said { program: None, driver: Some(driver), cuda: None, odd: None }, gpus);
        }
        return (Smi::Failed(words(text)), Vec::new());
    };
    if let (Smi::Said { driver, .. }, Some(asked)) = (&mut said, asked) {
        *driver = Some(asked);
    }
    let mut gpus = tables(text);
    for (place, row) in rows.into_iter().enumerate() {
        let Some(of_query) = row.gpu else { continue };
        let index = if of_query.index == u32::MAX {
            u32::try_from(place).unwrap_or(u32::MAX)
        } else {
            of_query.index
        };
        match gpus.iter_mut().find(|gpu| gpu.index == index) {
            Some(gpu) => {
                *gpu = Gpu { index, processes: std::mem::take(&mut gpu.processes), ..merged(gpu, of_query) }
            }
            None => gpus.push(Gpu { index, ..of_query }),
        }
    }
    gpus.sort_by_key(|gpu| gpu.index);
    (said, gpus)
}

/// What the query says, and what it leaves open as the table has it.
fn merged(table: &Gpu, query: Gpu) -> Gpu {
    Gpu {
        name: if query.name.is_empty() { table.name.clone() } else { query.name },
        bus: query.bus.or_else(|| table.bus.clone()),
        memory: query.memory.or(table.memory),
        used: query.used.or(table.used),
        busy: query.busy.or(table.busy),
        ..query
    }
}

/// The first lines of a failure, on one.
fn words(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let text = cudaup_core::text::plain(&lines.take(3).collect::<Vec<_>>().join(" "));
    if text.is_empty() { "it said nothing".to_owned() } else { text.chars().take(LONGEST).collect() }
}

/// The line or lines that name the versions; `None` where none of them is there.
fn banner(text: &str) -> Option<Smi> {
    let (mut program, mut driver, mut cuda, mut odd, mut seen) = (None, None, None, None, false);
    for line in text.lines() {
        let line = line.trim().trim_matches('|').trim();
        let words: Vec<&str> = line.split_whitespace().flat_map(|w| w.split_inclusive(':')).collect();
        if let Some(at) = words.iter().position(|w| *w == "NVIDIA-SMI") {
            let next = words.iter().skip(at + 1).find(|w| is_driver(w));
            program = program.or_else(|| next.map(|w| (*w).to_owned()));
        }
        let mut label: Vec<&str> = Vec::new();
        for word in &words {
            let Some(value) = value_after(&label, word) else {
                label.push(word);
                continue;
            };
            let is = |name: &str| label.iter().any(|l| l.eq_ignore_ascii_case(name));
            if is("CUDA") {
                seen = true;
                match Version::parse(value).filter(|v| v.minor.is_some()) {
                    Some(version) => cuda = cuda.or(Some(version)),
                    None if matches!(value, "N/A" | "ERR!" | "[N/A]") => {}
                    None => odd = odd.or_else(|| Some(cudaup_core::text::plain(line))),
                }
            } else if (is("Driver") || is("KMD")) && is_driver(value) {
                seen = true;
                driver = driver.or_else(|| Some(value.to_owned()));
            }
            label.clear();
        }
    }
    // The labels are the driver's, or this is a failure that names a version in passing.
    (seen && driver.is_some()).then_some(Smi::Said { program, driver, cuda, odd })
}

/// The word that follows `... Version:`, where the label ends so.
fn value_after<'a>(label: &[&str], word: &'a str) -> Option<&'a str> {
    let mut ending = label.iter().rev();
    let last = ending.next()?;
    let is_version = |w: &str| w.trim_end_matches(':').eq_ignore_ascii_case("version");
    let ends = (*last == ":" && ending.next().is_some_and(|w| is_version(w)))
        || (last.ends_with(':') && is_version(last));
    ends.then_some(word)
}

/// Two or three numbers, as `580.95.05`.
fn is_driver(word: &str) -> bool {
    let numbers: Vec<&str> = word.split('.').collect();
    let number = |n: &&str| !n.is_empty() && n.len() <= 4 && n.bytes().all(|b| b.is_ascii_digit());
    (2..=3).contains(&numbers.len())
        && numbers.iter().all(number)
        && numbers.first().is_some_and(|n| n.len() == 3)
}

/// GPUs and processes as the banner's tables show them. Of two tables for one GPU the first counts.
fn tables(text: &str) -> Vec<Gpu> {
    let mut gpus: Vec<Gpu> = Vec::new();
    let mut open: Option<usize> = None;
    let mut processes = false;
    for line in text.lines() {
        let line = line.trim();
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if line.contains("Processes:") {
            processes = true;
        } else if processes {
            if let Some((index, process)) = process_row(line)
                && let Some(gpu) = gpus.iter_mut().find(|gpu| gpu.index == index)
                && !gpu.processes.contains(&process)
            {
                gpu.processes.push(process);
            }
        } else if let (Some(first), Some(second), true) = (cells.first(), cells.get(1), cells.len() >= 3) {
            match gpu_row(first, second) {
                Some(gpu) if gpus.iter().any(|g| g.index == gpu.index) => open = None,
                Some(gpu) => {
                    gpus.push(gpu);
                    open = Some(gpus.len() - 1);
                }
                None => {
                    if let Some(gpu) = open.take().and_then(|at| gpus.get_mut(at)) {
                        (gpu.used, gpu.memory) = memory_pair(second);
                        gpu.busy = cells.get(2).and_then(|cell| percent(cell));
                    }
                }
            }
        }
    }
    gpus
}

/// `0  NVIDIA H200    On` and `00000000:00:06.0 Off`.
fn gpu_row(first: &str, second: &str) -> Option<Gpu> {
    let (index, name) = first.split_once(char::is_whitespace)?;
    let index = index.parse().ok()?;
    let name = name.trim();
    let name = name.strip_suffix("On").or_else(|| name.strip_suffix("Off")).unwrap_or(name);
    let bus = second.split_whitespace().find_map(bus)?;
    Some(Gpu { index, name: bare(name), bus: Some(bus), ..Gpu::default() })
}

/// `0MiB / 143771MiB`: used, and all.
fn memory_pair(cell: &str) -> (Option<u64>, Option<u64>) {
    let (used, all) = cell.split_once('/').unwrap_or(("", ""));
    (bytes(used.trim()), bytes(all.trim()))
}

/// A number of MiB, with or without a blank.
fn bytes(text: &str) -> Option<u64> {
    let number: u64 = text.strip_suffix("MiB")?.trim().parse().ok()?;
    number.checked_mul(1024 * 1024)
}

/// `0%      Default` and `0 %`.
fn percent(text: &str) -> Option<u32> {
    let number = text.split_once('%')?.0.split_whitespace().next_back()?;
    number.parse().ok().filter(|n| *n <= 100)
}

/// A place on the bus, as the kernel writes it: `0000:00:06.0`.
fn bus(word: &str) -> Option<String> {
    let (domain, rest) = word.split_once(':')?;
    let fits = domain.len() >= 4 && rest.len() == 7 && domain.bytes().all(|b| b.is_ascii_hexdigit());
    let rest_fits = rest.bytes().enumerate().all(|(at, b)| match at {
        2 => b == b':',
        5 => b == b'.',
        _ => b.is_ascii_hexdigit(),
    });
    let short = domain.get(domain.len().saturating_sub(4)..)?;
    (fits && rest_fits).then(|| format!("{short}:{rest}").to_ascii_lowercase())
}

/// `|    0   N/A  N/A      1234      C   python3       2345MiB |`, in old drivers without the two `N/A`.
fn process_row(line: &str) -> Option<(u32, Process)> {
    let words: Vec<&str> = line.trim_matches('|').split_whitespace().collect();
    let index = words.first()?.parse().ok()?;
    let kind = words.iter().position(|w| matches!(*w, "C" | "G" | "C+G" | "M" | "M+C" | "M+C+G"))?;
    let pid = words.get(kind.checked_sub(1)?)?.parse().ok()?;
    let (last, name) = words.get(kind + 1..)?.split_last()?;
    Some((index, Process { pid, name: cudaup_core::text::plain(&name.join(" ")), memory: bytes(last) }))
}

/// One row of a query's answer.
#[derive(Default)]
struct Row {
    driver: Option<String>,
    gpu: Option<Gpu>,
}

/// Reads the rows of a query's answer. A row of nothing known, such as `No devices were found`, is none.
fn queried(text: &str) -> Vec<Row> {
    text.lines().map(row).filter(|row| row.driver.is_some() || row.gpu.is_some()).collect()
}

fn row(line: &str) -> Row {
    let mut gpu = Gpu { index: u32::MAX, ..Gpu::default() };
    let mut driver = None;
    for cell in line.trim().split(',').map(str::trim) {
        if let Some(bus) = bus(cell) {
            gpu.bus = Some(bus);
        } else if let Some(size) = bytes(cell) {
            if gpu.memory.is_none() { gpu.memory = Some(size) } else { gpu.used = gpu.used.or(Some(size)) }
        } else if cell.ends_with('%') {
            gpu.busy = percent(cell);
        } else if is_driver(cell) {
            driver = driver.or_else(|| Some(cell.to_owned()));
        } else if let Some(capability) = Capability::parse(cell) {
            gpu.capability = Some(capability);
        } else if let Ok(index) = cell.parse() {
            gpu.index = index;
        } else if matches!(cell, "Enabled" | "Disabled") {
            gpu.mig = cell == "Enabled";
        } else if gpu.name.is_empty() && cell.starts_with(|c: char| c.is_ascii_alphabetic()) {
            gpu.name = bare(cell);
        }
    }
    let is_gpu = gpu.capability.is_some() || gpu.bus.is_some();
    Row { driver, gpu: Some(gpu).filter(|_| is_gpu) }
}

#[cfg(test)]
mod tests;
