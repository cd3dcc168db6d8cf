//! Start files with lines about CUDA, of the kinds that people have: entered and left in bash, zsh and fish, byte for byte.

use crate::sandbox::{Sandbox, variables};
use crate::shell_driver::Do::*;
use crate::shell_driver::*;
use crate::terminal::Terminal;
use std::collections::BTreeMap;
use std::fs;

#[path = "start_files/examples.rs"]
mod examples;

use examples::EXAMPLES;

type Variables = BTreeMap<Vec<u8>, Vec<u8>>;

const LISTS: [&str; 5] = ["PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH", "PKG_CONFIG_PATH"];

fn followers() -> Vec<Shell> {
    shells().into_iter().filter(|s| *s != Shell::Tcsh).collect()
}

fn text(example: &examples::Example, shell: Shell) -> &'static str {
    if shell == Shell::Fish { example.fish } else { example.posix }
}

/// An environment that `env -0` wrote, without what each command changes.
fn read(bytes: &[u8]) -> Variables {
    let own: [&[u8]; 4] = [b"_", b"PWD", b"OLDPWD", b"SHLVL"];
    variables(bytes).into_iter().filter(|(name, _)| !own.contains(&name.as_slice())).collect()
}

fn list(vars: &Variables, name: &str) -> Vec<String> {
    let value = vars.get(name.as_bytes()).map(|v| String::from_utf8_lossy(v).into_owned());
    value.map(|v| v.split(':').map(str::to_owned).collect()).unwrap_or_default()
}

/// Every variable names this toolkit, and no list any other.
fn names_one_toolkit(at: &Sandbox, vars: &Variables, version: &str, whose: &str) {
    let root = at.home().join("toolkits").join(version).display().to_string();
    for name in ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDAToolkit_ROOT", "CUDA_TOOLKIT_ROOT_DIR"] {
        assert_eq!(list(vars, name).join(":"), root, "{whose}: {name}");
    }
    assert_eq!(list(vars, "CUDACXX").join(":"), format!("{root}/bin/nvcc"), "{whose}");
    assert!(list(vars, "PATH").contains(&format!("{root}/bin")), "{whose}");
    let stays = ["/cuda-samples/", "/compat", "/.cudaup/shims", "/.cudaup/bin"];
    for entry in LISTS.iter().flat_map(|name| list(vars, name)) {
        let of_some = entry.to_lowercase().contains("cuda") && !stays.iter().any(|s| entry.contains(s));
        assert!(!of_some || entry.starts_with(&format!("{root}/")), "{whose}: {entry}");
    }
}

fn with_first(vars: &Variables, entry: &str) -> Variables {
    let mut vars = vars.clone();
    let path = [&[entry.to_owned()], &list(&vars, "PATH")[..]].concat().join(":");
    vars.insert(b"PATH".to_vec(), path.into_bytes());
    vars
}

#[test]
fn twenty_start_files_are_entered_and_left_byte_for_byte() {
    assert_eq!(EXAMPLES.len(), 20);
    let at = machine();
    for shell in followers() {
        let prepend = match shell {
            Shell::Fish => "set -gx PATH '/my own/bin' $PATH",
            _ => "export PATH=\"/my own/bin:$PATH\"",
        };
        // A shell in a shell, with the variables that it inherits, leaves them just as well.
        let inner =
            script(shell, &[Init, Line("env -0 >~/inner"), Cd("none"), Prompt, Line("env -0 >~/nested")]);
        at.write("home/inner.script", inner);
        let [program, option] = shell.bare();
        let nested = format!("{program} {option} ~/inner.script");
        for example in EXAMPLES {
            let whose = format!("{shell:?}: {}", example.name);
            at.write("home/start", text(example, shell));
            run(
                &at,
                shell,
                &[
                    Line(". ~/start"),
                    Init,
                    Prompt,
                    Line("env -0 >~/before"),
                    Cd("q"),
                    Prompt,
                    Line("env -0 >~/inside"),
                    Cd("p"),
                    Prompt,
                    Line("env -0 >~/other"),
                    Cd("none"),
                    Prompt,
                    Line("env -0 >~/after"),
                    Cd("q"),
                    Prompt,
                    Line(prepend),
                    Prompt,
                    Line("env -0 >~/changed"),
                    Line(&nested),
                    Cd("none"),
                    Prompt,
                    Line("env -0 >~/end"),
                ],
            );
            let dump = |name: &str| read(&fs::read(at.user().join(name)).unwrap());
            let before = dump("before");
            names_one_toolkit(&at, &dump("inside"), "12.4.1", &whose);
            names_one_toolkit(&at, &dump("other"), "11.8.0", &whose);
            names_one_toolkit(&at, &dump("changed"), "12.4.1", &whose);
            names_one_toolkit(&at, &dump("inner"), "12.4.1", &whose);
            assert_eq!(shown(&dump("after")), shown(&before), "{whose}");
            // Where all that stood in PATH was a toolkit's, what came first may come later.
            let wanted = with_first(&before, "/my own/bin");
            assert_eq!(shown(&sorted(dump("end"))), shown(&sorted(wanted.clone())), "{whose}: changed");
            assert!(others(&dump("end")).eq(&others(&wanted)), "{whose}: the order");
            assert_eq!(shown(&dump("nested")), shown(&dump("end")), "{whose}: nested");
        }
    }
}

/// PATH with its entries in the order of their names.
fn sorted(mut vars: Variables) -> Variables {
    let mut path = list(&vars, "PATH");
    path.sort();
    vars.insert(b"PATH".to_vec(), path.join(":").into_bytes());
    vars
}

/// PATH with each of its entries once.
fn once(vars: Variables) -> Variables {
    let mut vars = sorted(vars);
    let mut path = list(&vars, "PATH");
    path.dedup();
    vars.insert(b"PATH".to_vec(), path.join(":").into_bytes());
    vars
}

/// What of PATH is no toolkit's.
fn others(vars: &Variables) -> Vec<String> {
    list(vars, "PATH").into_iter().filter(|e| !e.to_lowercase().contains("cuda")).collect()
}

fn shown(vars: &Variables) -> Vec<String> {
    let show = |(n, v): (&Vec<u8>, &Vec<u8>)| format!("{}={}", n.escape_ascii(), v.escape_ascii());
    vars.iter().map(show).collect()
}

/// The same on a terminal, where the shell reads its start file itself: for every fourth, within one tmux.
#[test]
fn start_files_in_a_terminal() {
    for shell in followers() {
        let at = machine();
        let Some(mut terminal) = Terminal::open(&at, "TMUX", "exec bash --norc", "home/none") else { return };
        let file = match shell {
            Shell::Bash => "home/.bashrc",
            Shell::Zsh => "home/.zshrc",
            _ => "home/.config/fish/config.fish",
        };
        let name = shell.name();
        for example in EXAMPLES.iter().step_by(4) {
            let whose = format!("{shell:?}: {}", example.name);
            at.write(file, format!("{}\n{}\n", text(example, shell), shell.init()));
            let dump = |terminal: &mut Terminal| {
                terminal.ask("env -0 >~/dump; true");
                read(&fs::read(at.user().join("dump")).unwrap())
            };
            let clean = "env -i HOME=\"$HOME\" PATH=/usr/bin:/bin TERM=dumb LANG=C.UTF-8";
            let clean = format!("{clean} CUDAUP=\"$CUDAUP\" CUDAUP_SYSROOT=\"$CUDAUP_SYSROOT\"");
            terminal.enter(&format!("{clean} {name}"));
            let before = dump(&mut terminal);
            // What the start file makes of its own variables when it is read once more.
            terminal.enter(name);
            let twice = dump(&mut terminal);
            terminal.enter("exit");
            terminal.enter("cd ~/q");
            names_one_toolkit(&at, &dump(&mut terminal), "12.4.1", &whose);
            terminal.enter(name);
            names_one_toolkit(&at, &dump(&mut terminal), "12.4.1", &format!("{whose}: nested"));
            terminal.enter("cd ~/none");
            // It puts entries before some that look like the old neighbours of what comes back, and may have added ours where
            // outside it adds its own once more: those may stand elsewhere, and once.
            let nested = dump(&mut terminal);
            assert!(others(&nested).eq(&others(&twice)), "{whose}: the order");
            assert_eq!(shown(&once(nested)), shown(&once(twice)), "{whose}: nested");
            terminal.enter("exit");
            terminal.enter("cd ~/none");
            assert_eq!(shown(&dump(&mut terminal)), shown(&before), "{whose}");
            terminal.enter("exit");
        }
    }
}

/// A tmux that is started in a project hands on what was entered there; its shell opens elsewhere and reads no start file.
#[test]
fn what_tmux_hands_on_is_left() {
    let at = machine();
    for shell in followers() {
        for example in EXAMPLES.iter().skip(1).step_by(6) {
            let whose = format!("{shell:?}: {}", example.name);
            at.write("home/start", example.posix);
            let around = "cd ~; . ~/start; eval \"$(\"$CUDAUP\" init bash)\"; env -0 >~/before; cd ~/q; eval \"$PROMPT_COMMAND\"; [ \"$CUDA_HOME\" ] && TMUX";
            let program = format!("exec {}", shell.bare().join(" "));
            let Some(mut terminal) = Terminal::open(&at, around, &program, "home/none") else { return };
            terminal.ask("env -0 >~/inside; true");
            terminal.enter(&shell.init());
            terminal.ask("env -0 >~/after; true");
            let dump = |name: &str| read(&fs::read(at.user().join(name)).unwrap());
            let (before, mut after) = (dump("before"), dump("after"));
            // tmux and a shell that starts set others of their own.
            let about = |name: &str| ["CUDA", "NVCC", "PATH"].iter().any(|part| name.contains(part));
            after.retain(|name, _| before.contains_key(name) || about(&String::from_utf8_lossy(name)));
            after.extend(before.get_key_value(&b"TERM"[..]).map(|(n, v)| (n.clone(), v.clone())));
            names_one_toolkit(&at, &dump("inside"), "12.4.1", &whose);
            assert_eq!(shown(&after), shown(&before), "{whose}");
            drop(terminal);
            for answer in ["answer1", "answer2"] {
                fs::remove_file(at.user().join(answer)).unwrap();
            }
        }
    }
}
