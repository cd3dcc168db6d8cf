//! cudaup: install CUDA toolkits side by side and use the right one in every project.

mod addon;
mod archive;
mod cli;
mod command;
mod compat;
mod disk;
mod doctor;
mod elf;
mod facts;
mod failure;
mod global;
mod host;
mod install;
mod net;
mod process;
mod prove;
mod settings;
mod shell;
mod shims;
mod source;
mod toolkit;
mod ui;

use clap::{CommandFactory, Parser};
use cli::{Cli, When};
use command::habits::{self, Habit};
use command::{Context, Outcome, Program, Watch, leave, usage};
use cudaup_core::disk::{Disk, Entry};
use cudaup_core::home::Home;
use cudaup_core::inventory::MACHINE;
use cudaup_core::text::plain;
use cudaup_shim::RealDisk;
use failure::{Exit, Failure, Line};
use host::Host;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use ui::talk::Talk;
use ui::view::{Style, View};

fn main() -> ExitCode {
    let (mut host, arguments) = (Host::read(), host::arguments());
    let (cli, line) = match parse(arguments, &host) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    host.offline |= cli.offline;
    let talk = Talk { quiet: cli.quiet, verbose: cli.verbose, terminal: host.terminal.stderr };
    let color = colored(cli.color, &host, host.terminal.stdout);
    let style = Style { color, user_home: host.user_home.clone() };
    let clears = host.terminal.stdout && !cli.json;
    let fails = cli.command.fails(&host, cli.json);
    let outcome = context(host, talk, line.clone()).and_then(|context| cli.command.run(&context, cli.json));
    match outcome.map_err(|failure| failure.of_command(&line)) {
        Ok(Outcome::View(view)) if cli.quiet && !cli.json && view.is_report() => ExitCode::SUCCESS,
        Ok(Outcome::View(view)) => show(view.as_ref(), &style, cli.json, ExitCode::SUCCESS),
        Ok(Outcome::Unmet(view)) => show(view.as_ref(), &style, cli.json, ExitCode::from(Exit::Failed as u8)),
        Ok(Outcome::Bytes(bytes)) => print(&bytes, ExitCode::SUCCESS),
        Ok(Outcome::Watch(shown)) => watch(shown, &style, cli.json, clears),
        Ok(Outcome::Become(program)) => become_(program),
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Err(failure) => {
            let code = complain(&failure, cli.json);
            print(fails.as_bytes(), code)
        }
    }
}

/// The command, and the line that means it: what was typed, in cudaup's own words.
fn parse(arguments: Vec<OsString>, host: &Host) -> Result<(Cli, Line), ExitCode> {
    if let Some(cli) = cli::quick(&arguments) {
        return Ok((cli, Line::new(&arguments)));
    }
    let json = arguments.iter().take_while(|a| *a != "--").any(|a| a == "--json");
    let arguments = match habits::habit(arguments.get(1..).unwrap_or_default()) {
        Some(Habit::Says(text)) => return Err(complain(&Failure::new(Exit::Usage, text), json)),
        Some(Habit::TakesBack(back)) => {
            let context = context(host.clone(), Talk::default(), Line::default());
            return Err(complain(&context.map_or_else(|none| none, |c| leave::answer(&c, back)), json));
        }
        Some(Habit::Means(meant)) => arguments.into_iter().take(1).chain(meant).collect(),
        None => arguments,
    };
    let line = Line::new(&arguments);
    Cli::try_parse_from(&arguments).map(|cli| (cli, line)).map_err(|error| {
        let mut parser = Cli::command();
        parser.build();
        if let Some(failure) = usage::failure(&error, &arguments, &parser) {
            return complain(&failure, json);
        }
        // A closed pipe is no reason to fail.
        let _ = error.print();
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

fn context(host: Host, talk: Talk, line: Line) -> Result<Context, Failure> {
    let home = host.home.clone().ok_or_else(|| {
        Failure::failed("neither CUDAUP_HOME nor HOME names a directory, so there is no place for toolkits")
            .hint("export CUDAUP_HOME=/some/directory/.cudaup")
    })?;
    if home.as_os_str().as_encoded_bytes().iter().any(|b| matches!(b, b':' | b'\n')) {
        let message = format!("{home:?} has `:` or a line end in its name, so that PATH cannot name it");
        return Err(Failure::failed(message).hint("export CUDAUP_HOME=/some/directory/.cudaup"));
    }
    let named = host.text("CUDAUP_HOME").unwrap_or_default();
    if let Some(below) = named.strip_prefix("~/") {
        // In quotes, in a unit of systemd or in a file of variables nobody makes a directory of it.
        let message = format!("CUDAUP_HOME is {named}, with a `~` that no shell has put a directory for");
        return Err(Failure::failed(message).hint(format!("export CUDAUP_HOME=\"$HOME/{below}\"")));
    }
    let vars = host.vars.iter().cloned().collect();
    let home = Home::new(home);
    let disk = RealDisk::new(host.sysroot.clone(), &home);
    if disk.kind(home.path()).is_some_and(|kind| kind != Entry::Directory) {
        let message = format!("{} is no directory, so there is no place for toolkits", home.path().display());
        return Err(Failure::failed(message).hint("export CUDAUP_HOME=/some/directory/.cudaup"));
    }
    if let Some(machine) = home.machine(&disk).filter(|machine| *machine != MACHINE) {
        let home = home.path().display();
        let message = format!("{home} holds toolkits for {machine}, and this machine is {MACHINE}");
        return Err(Failure::failed(message).hint(format!("export CUDAUP_HOME={home}-{MACHINE}")));
    }
    Ok(Context { host, vars, disk, home, talk, line })
}

fn colored(when: When, host: &Host, terminal: bool) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => terminal && host.var("NO_COLOR").is_none() && host.text("TERM") != Some("dumb"),
    }
}

fn show(view: &dyn View, style: &Style, json: bool, code: ExitCode) -> ExitCode {
    let text = if json { format!("{:#}\n", view.json()) } else { view.human(style) };
    print(text.as_bytes(), code)
}

/// Shows it until Ctrl-C, or until its reader has gone. A terminal is cleared in between; elsewhere each is a text of its own.
fn watch(mut shown: Watch, style: &Style, json: bool, clears: bool) -> ExitCode {
    loop {
        let view = match (shown.next)() {
            Ok(view) => view,
            Err(failure) => return complain(&failure, json),
        };
        let text = if json { format!("{}\n", view.json()) } else { view.human(style) };
        let clear = if clears { "\x1b[H\x1b[2J" } else { "" };
        let mut out = std::io::stdout().lock();
        if write!(out, "{clear}{text}").and_then(|()| out.flush()).is_err() {
            return ExitCode::SUCCESS;
        }
        std::thread::sleep(shown.every);
    }
}

/// A reader that has gone away has what it wanted.
fn print(bytes: &[u8], code: ExitCode) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            let words = failure::plain_io(&e);
            complain(&Failure::failed(format!("could not write to standard output: {words}")), false)
        }
        _ => code,
    }
}

fn complain(failure: &Failure, json: bool) -> ExitCode {
    let mut text = format!("error: {}\n", failure.message);
    for (i, next) in failure.tries.iter().enumerate() {
        text.push_str(if i == 0 { "try: " } else { "     " });
        text.push_str(next);
        text.push('\n');
    }
    // A closed stderr is no reason to change the exit code.
    let _ = anstream::stderr().write_all(plain(&text).as_bytes());
    let code = ExitCode::from(failure.exit as u8);
    if json { as_json(failure, code) } else { code }
}

fn as_json(failure: &Failure, code: ExitCode) -> ExitCode {
    let error = serde_json::json!({
        "error": { "code": failure.exit as u8, "message": failure.message, "try": failure.tries }
    });
    print(format!("{error:#}\n").as_bytes(), code)
}

fn become_(program: Program) -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "exec becomes the program that was asked for")]
    let mut command = std::process::Command::new(&program.path);
    command.args(program.arguments);
    for (name, value) in program.changes {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let error = command.exec();
    let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
    let failure =
        Failure::failed(format!("cannot run {}: {}", program.path.display(), failure::plain_io(&error)));
    complain(&failure, false);
    ExitCode::from(code)
}
