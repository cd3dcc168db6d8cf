//! A real terminal: tmux with a server of its own, told what to type, asked by files that the typed lines write.

use crate::sandbox::Sandbox;
use crate::shell_driver::{command, has};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Longer than any shell takes to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that ends takes its socket with it; the next one has its own.
static SERVERS: AtomicUsize = AtomicUsize::new(0);

pub struct Terminal<'a> {
    at: &'a Sandbox,
    socket: PathBuf,
    asked: usize,
}

impl<'a> Terminal<'a> {
    /// A terminal in which a program runs, started in a directory of the home, by a shell script around `tmux`.
    /// `None` where there is no tmux.
    pub fn open(at: &'a Sandbox, around: &str, program: &str, directory: &str) -> Option<Self> {
        if !has_tmux() {
            return None;
        }
        let socket = at.user().join(format!("terminal{}", SERVERS.fetch_add(1, Ordering::Relaxed)));
        let terminal = Self { at, socket, asked: 0 };
        let line = around
            .replace("TMUX", "tmux -f /dev/null -S \"$S\" -u new-session -d -x 200 -y 50 -c \"$D\" \"$P\"");
        let mut bash = command(at, "bash");
        bash.env("D", at.path(directory))
            .env("P", program)
            .env("S", &terminal.socket)
            .args(["--norc", "-c", &line]);
        let output = bash.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(terminal)
    }

    fn tmux(&self) -> Command {
        let mut tmux = command(self.at, "tmux");
        tmux.arg("-S").arg(&self.socket);
        tmux
    }

    /// Types a line.
    pub fn enter(&self, line: &str) {
        assert!(self.tmux().args(["send-keys", "-l", line]).status().unwrap().success());
        assert!(self.tmux().args(["send-keys", "Enter"]).status().unwrap().success());
    }

    /// Types a command and returns what it printed on stdout. Nothing is overtaken: the shell reads line by line.
    pub fn ask(&mut self, line: &str) -> String {
        self.asked += 1;
        let name = format!("answer{}", self.asked);
        self.enter(&format!("{line} >~/{name}.new; mv ~/{name}.new ~/{name}"));
        let file = self.at.user().join(name);
        let since = Instant::now();
        while !file.exists() {
            assert!(since.elapsed() < PATIENCE, "no answer to {line}:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
        fs::read_to_string(file).unwrap().trim_end().to_owned()
    }

    /// What is to be seen.
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux().args(["capture-pane", "-p"]).output().unwrap().stdout)
            .into_owned()
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // A server that has ended already is no fault.
        let _ = self.tmux().arg("kill-server").output();
    }
}

fn has_tmux() -> bool {
    // tmux knows no --version.
    let there = Command::new("tmux").arg("-V").output().is_ok();
    if !there {
        eprintln!("skipped: tmux is not installed");
    }
    there && has("bash")
}
