//! `cudaup env --shell` for shells without a hook: each evaluates the text, and has then the environment that `exec` makes.

use crate::sandbox::{Sandbox, said, variables};
use crate::shell_driver::{command, has, machine};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

/// A shell, and how it runs two scripts: one that evaluates the text, and one in which `exec` prints.
struct Shell {
    name: &'static str,
    program: String,
    options: &'static [&'static str],
    evaluates: &'static str,
    execs: &'static str,
}

fn shells() -> Vec<Shell> {
    let nu = std::env::var("CUDAUP_TEST_NU").unwrap_or_else(|_| "nu".into());
    let shells = [
        Shell {
            name: "elvish",
            program: "elvish".into(),
            options: &["-norc", "-c"],
            evaluates: "eval ((external $E:CUDAUP) env --shell elvish | slurp); (external /usr/bin/env) -0",
            execs: "(external $E:CUDAUP) exec -- /usr/bin/env -0",
        },
        Shell {
            name: "xonsh",
            program: "xonsh".into(),
            options: &["--no-rc", "-c"],
            evaluates: "execx($(@($CUDAUP) env --shell xonsh))\n/usr/bin/env -0",
            execs: "@($CUDAUP) exec -- /usr/bin/env -0",
        },
        Shell {
            name: "nushell",
            program: nu,
            options: &["-n", "-c"],
            // It reads a file before it runs anything, so another process has to write that.
            evaluates: "source-env ~/env.nu; ^/usr/bin/env -0",
            execs: "^$env.CUDAUP env --shell nushell | save --force ~/env.nu; ^$env.CUDAUP exec -- /usr/bin/env -0",
        },
        Shell {
            name: "powershell",
            program: "pwsh".into(),
            options: &["-NoProfile", "-Command"],
            evaluates: "& $env:CUDAUP env --shell powershell | Out-String | Invoke-Expression; /usr/bin/env -0",
            execs: "& $env:CUDAUP exec -- /usr/bin/env -0",
        },
    ];
    shells.into_iter().filter(|s| has(&s.program)).collect()
}

/// What a child of the shell sees after a script, without what shells change by themselves.
fn environment(at: &Sandbox, shell: &Shell, script: &str, set: &[(&str, &[u8])]) -> Vec<String> {
    let mut command = command(at, &shell.program);
    command.current_dir(at.path("home/p")).env("PWD", at.path("home/p"));
    command.env("XDG_CONFIG_HOME", at.path("config")).args(shell.options).arg(script);
    for (name, value) in set {
        command.env(name, OsStr::from_bytes(value));
    }
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}: {script}", shell.name);
    let own = ["_=", "SHLVL=", "PWD=", "OLDPWD=", "CUDAUP_VERSION=", "XONSH", "DATE=", "LAST_"];
    variables(&output.stdout)
        .into_iter()
        .map(|(name, value)| format!("{}={}", name.escape_ascii(), value.escape_ascii()))
        .filter(|line| !own.iter().any(|o| line.starts_with(o)))
        .collect()
}

#[test]
fn the_text_makes_the_environment_that_exec_makes() {
    let foreign = "/usr/local/cuda-9.1";
    let unicode: [&[(&str, &[u8])]; 3] = [
        &[],
        &[
            ("LD_LIBRARY_PATH", b"/my dir:/it's::/a\\b:\"q\":/$(touch ran):`touch ran`:{a}:%d:/\xe2\x80\x99:"),
            ("NVCC_PREPEND_FLAGS", b"~ $HOME 'x' \"y\" \\ \n\t# ; | & \xc2\x85 \xe2\x80\xa8 end"),
            ("CPATH", b":"),
        ],
        &[
            ("PATH", b"/usr/local/cuda-9.1/bin:/usr/bin::/bin:/a b"),
            ("CUDA_HOME", b"/usr/local/cuda-9.1"),
            ("CUDACXX", b"/usr/local/cuda-9.1/bin/nvcc"),
            ("LIBRARY_PATH", b"/usr/local/cuda-9.1/lib64:/x\ny"),
        ],
    ];
    let bytes: &[(&str, &[u8])] = &[("LD_LIBRARY_PATH", b"/\xff\xfe:/\xc3"), ("CPATH", b"\x01\x1b\x7f\xff")];
    for shell in shells() {
        let at = machine();
        // A key that sets one more variable, and one that shells must unset where it is not set.
        at.write("home/p/.cuda-version", "11.8\nhost_compiler = g++-11\n");
        let holds_bytes = ["elvish", "xonsh"].contains(&shell.name);
        for set in unicode.into_iter().chain(holds_bytes.then_some(bytes)) {
            let wanted = environment(&at, &shell, shell.execs, set);
            let found = environment(&at, &shell, shell.evaluates, set);
            assert_eq!(found, wanted, "{} {set:?}", shell.name);
            let root = at.home().join("toolkits/11.8.0");
            let home = format!("CUDA_HOME={}", root.as_os_str().as_bytes().escape_ascii());
            assert!(found.contains(&home), "{}: {found:?}", shell.name);
            assert!(!found.iter().any(|l| l.starts_with("PATH=") && l.contains(foreign)), "{found:?}");
            assert!(!at.path("home/p/ran").exists());
        }
        let _ = fs::remove_file(at.path("home/env.nu"));
    }
}

#[test]
fn what_a_shell_cannot_hold_is_refused() {
    let at = machine();
    let env = |shell: &str, value: &[u8]| {
        let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
        command.args(["env", "--shell", shell]).env("LD_LIBRARY_PATH", OsStr::from_bytes(value));
        command.output().unwrap()
    };
    for (shell, value, what) in [
        ("nushell", &b"/\xff"[..], "bytes that are no Unicode"),
        ("nu", b"/\xff", "bytes that are no Unicode"),
        ("pwsh", b"/\xff", "bytes that are no Unicode"),
        ("xonsh", b"~/lib", "a ~ or $ that is replaced there"),
    ] {
        let said = said(env(shell, value));
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{shell}");
        assert!(
            said.err.starts_with(&format!("error: LD_LIBRARY_PATH would hold {what}, and ")),
            "{shell}: {}",
            said.err
        );
        assert!(said.err.contains("try: cudaup exec -- "), "{shell}: {}", said.err);
    }
    for shell in ["bash", "zsh", "fish", "tcsh", "sh", "elvish", "xonsh"] {
        assert!(env(shell, b"/\xff").status.success(), "{shell}");
    }
}

/// Where no shell is named, the one that asks is found by its process.
#[test]
fn the_shell_that_asks_is_recognized() {
    let at = machine();
    for (program, options, script, line) in [
        ("tcsh", &["-f", "-c"][..], "$CUDAUP:q env 12.4; true", "setenv CUDA_HOME "),
        ("elvish", &["-norc", "-c"], "(external $E:CUDAUP) env 12.4", "set-env CUDA_HOME "),
        ("ksh93", &["-c"], "\"$CUDAUP\" env 12.4; true", "export CUDA_HOME="),
    ] {
        if !has(program) {
            continue;
        }
        let mut shell: Command = command(&at, program);
        let said = said(shell.args(options).arg(script).output().unwrap());
        assert!(said.out.lines().any(|l| l.starts_with(line)), "{program}: {} {}", said.out, said.err);
    }
}
