//! Runs a program for its output, with a time limit that also ends everything it started.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// More output than this is not kept.
const MOST_OUTPUT: usize = 4 * 1024 * 1024;
/// How long a program's own children may hold its output open after it has ended.
const AFTER_THE_END: Duration = Duration::from_secs(1);

/// How a program ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Its exit status; `None` where it was stopped at the time limit.
    pub status: Option<ExitStatus>,
    /// What it wrote to standard output and standard error, in that order of time.
    pub output: String,
}

impl Finished {
    /// Whether it ended by itself with exit status 0.
    pub fn succeeded(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }
}

enum Event {
    Output(Vec<u8>),
    Closed,
    Ended(io::Result<ExitStatus>),
}

/// Runs a program without input. It stays in this process group, so that what ends this program from a terminal or a
/// job's runner (Ctrl-C, a kill of the group) ends it too. At the limit it is killed with all that it has started.
pub fn run(command: &mut Command, limit: Duration) -> io::Result<Finished> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let child = command.spawn()?;
    // The command still holds the pipe's writing ends, and its end is only seen once nobody does.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let id = Pid::from_child(&child);
    let (events, seen) = channel();
    let of_output = events.clone();
    thread::Builder::new().spawn(move || forward(reader, &of_output))?;
    thread::Builder::new().spawn(move || wait(child, &events))?;
    let finished = collect(&seen, limit)?;
    if finished.status.is_none() {
        end(id);
    }
    Ok(finished)
}

/// Ends a process and its descendants. Each is stopped before its children are looked for, so that none is started behind
/// our back.
fn end(process: Pid) {
    // Gone already is as good, here and below.
    let _ = kill_process(process, Signal::STOP);
    let mut family = vec![process];
    loop {
        let new: Vec<Pid> = processes()
            .filter(|(id, parent)| family.contains(parent) && !family.contains(id))
            .map(|(id, _)| id)
            .collect();
        if new.is_empty() {
            break;
        }
        for id in new {
            let _ = kill_process(id, Signal::STOP);
            family.push(id);
        }
    }
    for id in family {
        let _ = kill_process(id, Signal::KILL);
    }
}

/// All processes, each with its parent.
fn processes() -> impl Iterator<Item = (Pid, Pid)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // `1 (name) S 2 ...`, where the name may hold anything.
        let parent = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()?;
        Some((Pid::from_raw(id)?, Pid::from_raw(parent)?))
    })
}

fn forward(mut reader: impl Read, events: &Sender<Event>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        if events.send(Event::Output(buffer.get(..count).unwrap_or_default().to_vec())).is_err() {
            return;
        }
    }
    let _ = events.send(Event::Closed);
}

fn wait(mut child: Child, events: &Sender<Event>) {
    let _ = events.send(Event::Ended(child.wait()));
}

fn collect(events: &Receiver<Event>, limit: Duration) -> io::Result<Finished> {
    let mut deadline = Instant::now() + limit;
    let (mut bytes, mut status, mut closed) = (Vec::new(), None, false);
    while status.is_none() || !closed {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Event::Output(more)) => {
                let room = MOST_OUTPUT.saturating_sub(bytes.len());
                bytes.extend(more.into_iter().take(room));
            }
            Ok(Event::Closed) => closed = true,
            Ok(Event::Ended(ended)) => {
                status = Some(ended?);
                deadline = deadline.min(Instant::now() + AFTER_THE_END);
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(Finished { status, output: String::from_utf8_lossy(&bytes).into_owned() })
}

/// Writes a program for a test. Another process does it: while this one holds a file open for writing, a child that some
/// other test is just starting holds it too, and the system refuses to run it.
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the file must never be open in this process")]
pub fn script(path: &std::path::Path, text: &str) {
    let write = "printf '%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
    let status = Command::new("sh").args(["-c", write, "sh"]).arg(path).arg(text).status();
    assert!(status.is_ok_and(|status| status.success()), "{}", path.display());
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::{OFlags, fcntl_setfl};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "real processes are what is tested")]
    fn shell(script: &str, limit: Duration) -> Finished {
        run(Command::new("sh").arg("-c").arg(script), limit).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn output_and_status_are_given_in_order() {
        let finished = shell("echo one; echo two >&2; echo three; exit 3", LONG);
        assert_eq!(finished.output, "one\ntwo\nthree\n");
        assert_eq!(finished.status.unwrap().code(), Some(3));
        assert!(!finished.succeeded());
        assert!(shell("true", LONG).succeeded());
    }

    #[test]
    fn much_output_neither_blocks_nor_fills_the_memory() {
        let finished = shell("yes 0123456789abcdef | head -c 20000000", LONG);
        assert!(finished.succeeded());
        assert_eq!(finished.output.len(), MOST_OUTPUT);
    }

    #[test]
    fn at_the_limit_the_program_and_its_children_are_ended() {
        let here = tempfile::tempdir().unwrap();
        let fifo = here.path().join("alive");
        assert!(shell(&format!("mkfifo '{}'", fifo.display()), LONG).succeeded());
        let mut options = std::fs::OpenOptions::new();
        let nonblock = OFlags::NONBLOCK.bits().cast_signed();
        let mut alive = options.read(true).custom_flags(nonblock).open(&fifo).unwrap();
        let script = format!("exec 3>'{}'; echo started; sh -c 'sleep 60; :' & wait", fifo.display());
        let finished = shell(&script, Duration::from_secs(1));
        assert!(finished.status.is_none());
        assert_eq!(finished.output, "started\n");
        // The end of the FIFO is seen once the shell and its child, which both hold it open, are gone.
        fcntl_setfl(&alive, OFlags::empty()).unwrap();
        let before = Instant::now();
        assert_eq!(alive.read_to_end(&mut Vec::new()).unwrap(), 0);
        assert!(before.elapsed() < Duration::from_secs(50), "they ended by themselves");
    }

    #[test]
    fn a_child_that_keeps_the_output_open_does_not_hold_us_up() {
        let finished = shell("echo done; sleep 30 &", LONG);
        assert!(finished.succeeded());
        assert_eq!(finished.output, "done\n");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        #[expect(clippy::disallowed_methods, reason = "its absence is what is tested")]
        let missing = run(&mut Command::new("/nonexistent/program"), LONG);
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
