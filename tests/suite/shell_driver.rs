//! Real shells in a home of their own: one script of neutral steps, rendered for bash, zsh, fish and tcsh.

use crate::sandbox::{Said, Sandbox, said};
use std::fs;
use std::process::{Command, Stdio};

/// A shell under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    Tcsh,
}

use Shell::{Bash, Fish, Tcsh, Zsh};

impl Shell {
    pub fn name(self) -> &'static str {
        match self {
            Bash => "bash",
            Zsh => "zsh",
            Fish => "fish",
            Tcsh => "tcsh",
        }
    }

    /// The shell without anybody's start files.
    pub fn bare(self) -> [&'static str; 2] {
        match self {
            Bash => ["bash", "--norc"],
            Zsh => ["zsh", "-f"],
            Fish => ["fish", "--no-config"],
            Tcsh => ["tcsh", "-f"],
        }
    }

    /// The line that a user puts into a start file.
    pub fn init(self) -> String {
        match self {
            Fish => "$CUDAUP init fish | source".to_owned(),
            Tcsh => "alias cu_init '$CUDAUP:q init tcsh' ; eval \"`cu_init`\"".to_owned(),
            _ => format!("eval \"$(\"$CUDAUP\" init {})\"", self.name()),
        }
    }
}

/// Whether a program that a test needs is there; says aloud where it is not.
pub fn has(program: &str) -> bool {
    let there =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !there {
        eprintln!("skipped: {program} is not installed");
    }
    there
}

/// The shells that are installed here.
pub fn shells() -> Vec<Shell> {
    [Bash, Zsh, Fish, Tcsh].into_iter().filter(|s| has(s.name())).collect()
}

/// A step of a script.
pub enum Do<'a> {
    /// Changes into a directory of the home.
    Cd(&'a str),
    /// What the shell does before it shows a prompt.
    Prompt,
    /// Prints a variable as `NAME=<value>`, or `NAME unset`.
    Show(&'a str),
    /// Prints the path of the nvcc that runs, `no nvcc` where there is none.
    Nvcc,
    /// Sets a variable of the environment.
    Set(&'a str, &'a str),
    /// Unsets one.
    Unset(&'a str),
    /// Prints the environment, sorted, with an empty line after it.
    Environment,
    /// A line that all shells read alike.
    Line(&'a str),
    /// Installs the hook.
    Init,
}

impl Do<'_> {
    fn render(&self, shell: Shell) -> String {
        match (self, shell) {
            (Self::Cd(dir), _) => format!("cd ~/'{dir}'"),
            (Self::Prompt, Bash) => "for c in \"${PROMPT_COMMAND[@]}\"; do eval \"$c\"; done".into(),
            (Self::Prompt, Zsh) => "for f in $precmd_functions; do $f; done".into(),
            (Self::Prompt, Fish) => "emit fish_prompt".into(),
            (Self::Show(name), Fish) => {
                format!("set -q {name}; and echo \"{name}=<${name}>\"; or echo {name} unset")
            }
            (Self::Prompt, Tcsh) => "precmd".into(),
            (Self::Show(name), Tcsh) => {
                format!("if ($?{name}) then\necho '{name}=<'${name}:q'>'\nelse\necho {name} unset\nendif")
            }
            (Self::Show(name), _) => {
                format!(
                    "if [ \"${{{name}+set}}\" ]; then echo \"{name}=<${name}>\"; else echo {name} unset; fi"
                )
            }
            (Self::Nvcc, Fish) => "command -q nvcc; and command nvcc; or echo no nvcc".into(),
            (Self::Nvcc, Tcsh) => "nvcc |& sed 's/.*: Command not found.*/no nvcc/'".into(),
            (Self::Nvcc, _) => {
                "if command -v nvcc >/dev/null; then command nvcc; else echo no nvcc; fi".into()
            }
            (Self::Set(name, value), Fish) => format!("set -gx {name} '{}'", value.replace('\'', r"\'")),
            (Self::Set(name, value), Tcsh) => format!("setenv {name} '{}'", value.replace('\'', r"'\''")),
            (Self::Set(name, value), _) => format!("export {name}='{}'", value.replace('\'', r"'\''")),
            (Self::Unset(name), Fish) => format!("set -e {name}"),
            (Self::Unset(name), Tcsh) => format!("unsetenv {name}"),
            (Self::Unset(name), _) => format!("unset {name}"),
            (Self::Environment, _) => {
                "env -0 | sort -z | tr '\\0\\n' '\\n?' | grep -vE '^(_|PWD|OLDPWD|SHLVL)='; echo".into()
            }
            (Self::Line(line), _) => (*line).to_owned(),
            (Self::Init, shell) => shell.init(),
        }
    }
}

/// A machine whose paths have a blank, a quote and an umlaut: toolkits 11.8.0 and 12.4.1, `p` pinned to 11.8, `q` to
/// 12.4, and `none`.
pub fn machine() -> Sandbox {
    let at = Sandbox::named("hook \u{fc} it's ");
    at.managed("11.8.0");
    at.managed("12.4.1");
    at.write("home/p/.cuda-version", "11.8\n");
    at.write("home/q/.cuda-version", "12.4\n");
    fs::create_dir_all(at.path("home/q/sub")).unwrap();
    fs::create_dir_all(at.path("home/none/deep/er")).unwrap();
    at
}

/// A program of the machine that starts in `none`.
pub fn command(at: &Sandbox, program: &str) -> Command {
    let mut command = at.command(program, "home/none");
    command.env("CUDAUP", at.home().join("bin/cudaup")).env("LANG", "C.UTF-8").env("TERM", "dumb");
    command.stdin(Stdio::null());
    command
}

/// Runs steps in a shell and returns the lines that it printed; anything on stderr fails.
pub fn run(at: &Sandbox, shell: Shell, steps: &[Do]) -> Vec<String> {
    let said = try_run(at, shell, steps);
    assert_eq!(said.err, "", "{shell:?}: {}", said.out);
    lines(&said.out)
}

pub fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

pub fn try_run(at: &Sandbox, shell: Shell, steps: &[Do]) -> Said {
    let [program, option] = shell.bare();
    said(command(at, program).args([option, "-c", &script(shell, steps)]).output().unwrap())
}

/// Steps as text for a shell.
pub fn script(shell: Shell, steps: &[Do]) -> String {
    steps.iter().map(|s| s.render(shell) + "\n").collect()
}

/// The nvcc of a managed toolkit.
pub fn nvcc(at: &Sandbox, version: &str) -> String {
    at.home().join(format!("toolkits/{version}/bin/nvcc")).to_str().unwrap().to_owned()
}

/// The steps of a shell that has just started, then these.
pub fn after_init<'a>(steps: impl IntoIterator<Item = Do<'a>>) -> Vec<Do<'a>> {
    std::iter::once(Do::Init).chain(steps).collect()
}

/// Whether a shell can tell whether two names are one directory; fish 3.1 cannot.
pub fn tells_directories(at: &Sandbox, shell: Shell) -> bool {
    let tells = shell != Fish
        || command(at, "fish").args(["--no-config", "-c", "test . -ef ."]).status().unwrap().success();
    if !tells {
        eprintln!("skipped: this fish cannot tell whether two names are one directory");
    }
    tells
}
