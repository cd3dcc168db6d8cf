//! `cudaup report`: what this machine is, to keep with a project or to put into a bug report, and what changed since.

use crate::command::{Context, Outcome};
use crate::doctor::look::{Scene, look};
use crate::doctor::told;
use crate::failure::{Exit, Failure};
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Print what this machine is, from the driver to the frameworks, as Markdown.
#[derive(Debug, Arguments)]
pub struct Args {
    /// Show what changed since an earlier report, in either form
    #[arg(long, value_name = "OLD")]
    diff: Option<PathBuf>,
}

type Lines = Vec<(String, String)>;

struct Report {
    lines: Lines,
}

/// What is other than it was.
struct Changed {
    gone: Lines,
    new: Lines,
    other: Vec<(String, String, String)>,
}

/// A report is longer than this only by mistake.
const LONGEST: u64 = 4 << 20;

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let old = self.diff.as_deref().map(|path| read(context, path)).transpose()?;
        let scene =
            Scene { host: &context.host, vars: &context.vars, home: &context.home, disk: &context.disk };
        let home = context.host.user_home.as_deref().map(|home| home.to_string_lossy().into_owned());
        // How full a GPU is just now says nothing of the machine.
        let passing = |name: &str| name.ends_with("used_bytes");
        let lines: Lines = told::lines(&look(&scene))
            .into_iter()
            .filter(|(name, _)| !passing(name))
            .map(|(name, value)| (name, masked(&value, home.as_deref())))
            .collect();
        let view: Box<dyn View> = match old {
            Some(old) => Box::new(changed(&old, &lines)),
            None => Box::new(Report { lines }),
        };
        Ok(Outcome::View(view))
    }
}

/// Paths without the names of people: the home as `~`, other homes as `/home/USER`.
fn masked(value: &str, home: Option<&str>) -> String {
    let value =
        home.filter(|home| home.len() > 1).map_or_else(|| value.to_owned(), |home| value.replace(home, "~"));
    let mut parts = value.split("/home/");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once('/') {
        Some((_, rest)) => format!("{text}/home/USER/{rest}"),
        None => format!("{text}/home/USER"),
    })
}

fn read(context: &Context, path: &Path) -> Result<Lines, Failure> {
    let path = context.host.cwd.as_deref().unwrap_or(Path::new("/")).join(path);
    let found = fs::metadata(&path).map_err(|error| Failure::io("read", &path, &error))?;
    let no_report = || {
        Failure::new(Exit::Usage, format!("{} is no report of cudaup's", path.display()))
            .hint("cudaup report > OLD.md")
    };
    if !found.is_file() || found.len() > LONGEST {
        return Err(no_report());
    }
    let text = fs::read(&path).map_err(|error| Failure::io("read", &path, &error))?;
    let lines = parse(&String::from_utf8_lossy(&text));
    if lines.is_empty() { Err(no_report()) } else { Ok(lines) }
}

/// The lines of a report in either form.
fn parse(text: &str) -> Lines {
    if let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(text) {
        let all = fields.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
        return all.collect();
    }
    let row = |line: &str| {
        let (name, value) = line.trim().strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
        Some((name.to_owned(), value.replace("\\|", "|"))).filter(|(name, _)| name != "what")
    };
    text.lines().filter_map(row).collect()
}

fn changed(old: &Lines, new: &Lines) -> Changed {
    let find =
        |lines: &Lines, name: &str| lines.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
    let only = |some: &Lines, others: &Lines| {
        some.iter().filter(|(name, _)| find(others, name).is_none()).cloned().collect()
    };
    let other = new.iter().filter_map(|(name, value)| {
        let before = find(old, name).filter(|before| before != value)?;
        Some((name.clone(), before, value.clone()))
    });
    Changed { gone: only(old, new), new: only(new, old), other: other.collect() }
}

fn object(lines: &Lines) -> Value {
    Value::Object(lines.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>())
}

impl View for Report {
    fn json(&self) -> Value {
        object(&self.lines)
    }

    fn human(&self, _style: &Style) -> String {
        let rows: String = self
            .lines
            .iter()
            .map(|(name, value)| format!("| {name} | {} |\n", value.replace('|', "\\|").replace('\n', " ")))
            .collect();
        format!("# CUDA on this machine\n\n| what | value |\n|---|---|\n{rows}")
    }
}

impl View for Changed {
    fn json(&self) -> Value {
        let other = self
            .other
            .iter()
            .map(|(name, before, now)| json!({ "name": name, "before": before, "now": now }));
        json!({ "gone": object(&self.gone), "new": object(&self.new), "changed": other.collect::<Vec<_>>() })
    }

    fn human(&self, _style: &Style) -> String {
        if self.gone.is_empty() && self.new.is_empty() && self.other.is_empty() {
            return "nothing changed\n".to_owned();
        }
        let other = self.other.iter().map(|(name, before, now)| format!("{name}: {before} -> {now}\n"));
        let gone = self.gone.iter().map(|(name, value)| format!("{name}: {value} is gone\n"));
        let new = self.new.iter().map(|(name, value)| format!("{name}: {value} is new\n"));
        other.chain(gone).chain(new).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(all: &[(&str, &str)]) -> Lines {
        all.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn both_forms_are_read_again() {
        let report = Report {
            lines: lines(&[("driver.version", "580.95.05"), ("a", "x|y"), ("platform.wsl", "false")]),
        };
        let style = Style { color: false, user_home: None };
        assert_eq!(parse(&report.human(&style)), report.lines);
        let mut of_json = parse(&report.json().to_string());
        of_json.sort();
        let mut sorted = report.lines.clone();
        sorted.sort();
        assert_eq!(of_json, sorted);
        assert_eq!(parse("hello\n| a\n"), []);
    }

    #[test]
    fn what_changed() {
        let found = changed(
            &lines(&[("a", "1"), ("b", "2"), ("c", "3")]),
            &lines(&[("a", "1"), ("b", "9"), ("d", "4")]),
        );
        let style = Style { color: false, user_home: None };
        assert_eq!(found.human(&style), "b: 2 -> 9\nc: 3 is gone\nd: 4 is new\n");
        assert_eq!(changed(&lines(&[("a", "1")]), &lines(&[("a", "1")])).human(&style), "nothing changed\n");
    }

    #[test]
    fn people_are_not_named() {
        assert_eq!(masked("/home/eva/x/lib", Some("/home/eva")), "~/x/lib");
        assert_eq!(masked("a /home/tom/x, /home/tom", Some("/home/eva")), "a /home/USER/x, /home/USER");
        assert_eq!(masked("/usr/lib", Some("/")), "/usr/lib");
    }
}
