//! Talk for a person, on standard error: never data.

use cudaup_core::text::plain;
use std::io::Write;

/// How much is said, and to what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Talk {
    /// Nothing but errors.
    pub quiet: bool,
    /// Details too.
    pub verbose: bool,
    /// Standard error is a terminal.
    pub terminal: bool,
}

impl Talk {
    /// One line, unless quiet.
    pub fn say(&self, line: &str) {
        if !self.quiet {
            // A closed stderr is no reason to fail.
            let _ = writeln!(anstream::stderr(), "{}", plain(line));
        }
    }

    /// One line that only `-v` wants.
    pub fn detail(&self, line: &str) {
        if self.verbose {
            self.say(line);
        }
    }

    /// Asks a question that yes or Enter agrees to. Only for terminals.
    pub fn ask(&self, question: &str) -> bool {
        // A terminal that cannot be written to or read from agrees to nothing.
        let _ = write!(anstream::stderr(), "{}", plain(question)).and_then(|()| anstream::stderr().flush());
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer).unwrap_or(0);
        read > 0 && matches!(answer.trim().to_ascii_lowercase().as_str(), "" | "y" | "yes")
    }
}
