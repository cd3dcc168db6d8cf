//! `cudaup explain`: what an error message, a log or a finding of the doctor means, and what mends it here.

use crate::command::{Context, Outcome};
use crate::compat::errors;
use crate::doctor::codes::{self, Page};
use crate::doctor::diagnose::diagnose;
use crate::doctor::explain::{Explained, Hit, Standing, explain, named, search};
use crate::doctor::finding::Finding;
use crate::doctor::look::{Scene, look};
use crate::failure::{Exit, Failure};
use crate::ui::view::{Style, View};
use clap::Args as Arguments;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Say what an error message means, and which of its causes this machine shows.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  cudaup explain \"no kernel image is available\"\n  make 2>&1 | cudaup explain\n  cudaup explain build.log\n  cudaup explain driver-too-old"
)]
pub struct Args {
    /// An error message, a log file, a code of `cudaup doctor`, or - for what is piped in
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

/// A page of the doctor's.
struct Shown {
    page: Page,
    text: String,
}

/// What was found in a text.
struct Found {
    all: Vec<Explained>,
}

impl Found {
    /// Of the errors found, the first one that may have caused this one.
    fn cause_of(&self, of: &Explained) -> Option<&str> {
        let causes = &of.hit.error.follows;
        self.all.iter().map(|found| found.hit.error.id.as_str()).find(|id| causes.iter().any(|c| c == id))
    }
}

/// So many errors of one text are explained.
const MOST: usize = 6;

impl Args {
    /// Runs the command.
    pub fn run(&self, context: &Context) -> Result<Outcome, Failure> {
        let hits = match self.text.as_slice() {
            [] if context.host.terminal.stdin => return Err(nothing()),
            [] => find(io::stdin().lock())?,
            [one] if one == "-" => find(io::stdin().lock())?,
            words if words.iter().all(|word| word.trim().is_empty()) => return Err(nothing()),
            [one] => {
                if let Some(page) = codes::page(one) {
                    let text = page.read(&context.host);
                    return Ok(Outcome::View(Box::new(Shown { page, text })));
                }
                let file = context.host.cwd.as_deref().unwrap_or(Path::new("/")).join(one);
                match errors::all().iter().find(|error| error.id == *one) {
                    Some(error) => named(error),
                    None if file.is_dir() => {
                        let what = format!("{} is a directory: name the log in it", file.display());
                        return Err(Failure::new(Exit::Usage, what));
                    }
                    // A pipe too: the shell's <(make 2>&1) is one.
                    None if file.exists() => {
                        find(File::open(&file).map_err(|error| Failure::io("read", &file, &error))?)?
                    }
                    None => {
                        let hits = find(one.as_bytes())?;
                        if hits.is_empty() && is_name_of_file(one) {
                            return Err(Failure::failed(format!("there is no file {}", file.display())));
                        }
                        hits
                    }
                }
            }
            words => find(words.join(" ").as_bytes())?,
        };
        if hits.is_empty() {
            return Err(Failure::failed("no error message that cudaup knows is in this")
                .hint("cudaup doctor   (what does not fit on this machine)"));
        }
        let scene =
            Scene { host: &context.host, vars: &context.vars, home: &context.home, disk: &context.disk };
        let machine = look(&scene);
        let findings: Vec<Finding> = diagnose(&machine, &[]).findings().cloned().collect();
        Ok(Outcome::View(Box::new(Found { all: explain(hits, &machine, &findings) })))
    }
}

fn nothing() -> Failure {
    let what = "nothing is to be explained: give the message, a log file or a code, or pipe a log in";
    Failure::new(Exit::Usage, what).hint("make 2>&1 | cudaup explain")
}

/// Whether a text that is no message was meant as a file: one word with a directory in it, or named as logs are.
fn is_name_of_file(text: &str) -> bool {
    let ends =
        Path::new(text).extension().is_some_and(|end| ["log", "txt", "out", "err"].iter().any(|e| end == *e));
    !text.contains(char::is_whitespace) && (ends || text.contains('/'))
}

fn find(text: impl Read) -> Result<Vec<Hit>, Failure> {
    search(text).map_err(|error| Failure::failed(format!("could not read the text: {error}")))
}

impl View for Shown {
    fn json(&self) -> Value {
        let Page { id, title, text, title_zh, text_zh } = &self.page;
        json!({ "code": id, "title": title, "text": text, "title_zh": title_zh, "text_zh": text_zh })
    }

    fn human(&self, _style: &Style) -> String {
        self.text.clone()
    }
}

impl View for Found {
    fn json(&self) -> Value {
        let errors = self.all.iter().map(|found| {
            let causes = found.causes.iter().map(|cause| {
                let (standing, seen) = match &cause.standing {
                    Standing::Seen(sentence) => ("seen here", Some(sentence)),
                    Standing::Possible => ("possible", None),
                    Standing::NotHere => ("not here", None),
                };
                json!({ "text": cause.text, "mend": cause.mend, "standing": standing, "seen": seen })
            });
            json!({
                "id": found.hit.error.id,
                "stage": found.hit.error.stage,
                "code": found.hit.error.code,
                "means": found.hit.error.means,
                "line": found.hit.line,
                "text": found.hit.text,
                "count": found.hit.count,
                "follows": self.cause_of(found),
                "causes": causes.collect::<Vec<_>>(),
            })
        });
        json!({ "errors": errors.collect::<Vec<_>>() })
    }

    fn human(&self, style: &Style) -> String {
        let mut text = String::new();
        for found in self.all.iter().take(MOST) {
            let hit = &found.hit;
            if hit.line > 0 {
                let times = if hit.count > 1 { format!("   ({} times)", hit.count) } else { String::new() };
                text.push_str(&format!("line {}: {}{times}\n", hit.line, hit.text));
            }
            let number = hit.error.code.map_or_else(String::new, |code| format!(" (error {code})"));
            text.push_str(&format!("{}{number}: {}\n", style.strong(&hit.error.id), hit.error.means));
            if let Some(cause) = self.cause_of(found) {
                text.push_str(&format!("  it may follow from {cause}, above\n"));
            }
            let shown = found.causes.iter().filter(|cause| cause.standing != Standing::NotHere);
            for (n, cause) in shown.enumerate() {
                let word = match (&cause.standing, n) {
                    (Standing::Seen(_), _) => "seen here",
                    (_, 0) => "likely",
                    _ => "or",
                };
                text.push_str(&format!("  {word}: {}\n", cause.text));
                if let Standing::Seen(sentence) = &cause.standing {
                    text.push_str(&format!("    {sentence}\n"));
                }
                text.push_str(&format!("    mend: {}\n", cause.mend));
            }
        }
        if self.all.len() > MOST {
            text.push_str(&format!("and {} more: --json shows all\n", self.all.len() - MOST));
        }
        text
    }
}
