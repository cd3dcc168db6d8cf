//! `cudaup env --shell` for shells without a hook, and `--docker`: each evaluates the text, and has then the environment that `exec` makes.

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
    let posix = |program: &str, options| Shell {
        name: "sh",
        program: program.into(),
        options,
        evaluates: "eval \"$(\"$CUDAUP\" env --shell sh)\"; /usr/bin/env -0",
        execs: "\"$CUDAUP\" exec -- /usr/bin/env -0",
    };
    let shells = [
        posix("dash", &["-c"]),
        posix("ksh93", &["-c"]),
        posix("mksh", &["-c"]),
        posix("busybox", &["sh", "-c"]),
        Shell {
            name: "tcsh",
            program: "tcsh".into(),
            options: &["-f", "-c"],
            evaluates: "alias told '$CUDAUP:q env --shell tcsh' ; eval \"`told`\"\n/usr/bin/env -0",
            execs: "$CUDAUP:q exec -- /usr/bin/env -0",
        },
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
            (
                "LD_LIBRARY_PATH",
                b"/my dir:/it's::/a\\b:\"q\":/$(touch ran):`touch ran`:{a}:%d:/\xe2\x80\x99:",
            ),
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
        let holds_bytes = !["nushell", "powershell"].contains(&shell.name);
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
            said.err.starts_with(&format!("error: LD_LIBRARY_PATH would hold {what}, which ")),
            "{shell}: {}",
            said.err
        );
        assert!(said.err.contains("try: cudaup exec -- "), "{shell}: {}", said.err);
    }
    for shell in ["bash", "zsh", "fish", "tcsh", "sh", "elvish", "xonsh"] {
        assert!(env(shell, b"/\xff").status.success(), "{shell}");
    }
}

/// A real builder of images reads the lines: the image has what `exec` makes of the image's own environment.
#[test]
fn a_dockerfile_takes_the_lines() {
    let at = Sandbox::named("image $HOME \"q\" \\ it's ");
    let root = at.managed("12.4.1");
    at.write("home/p/.cuda-version", "12.4\nhost_compiler = g++-12\n");
    let foreign = |command: &mut Command| {
        command.env("CUDA_HOME", "/usr/local/cuda-9.1").env("LD_LIBRARY_PATH", "/usr/local/cuda-9.1/lib64");
    };
    let env = || {
        let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
        foreign(&mut command);
        said(command.args(["env", "--docker"]).output().unwrap())
    };
    let text = env();
    assert_eq!((text.code, text.err.as_str()), (Some(0), ""));
    assert_eq!(env().out, text.out);
    let text = text.out;
    // The values as JSON are those of the lines.
    let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
    foreign(&mut command);
    let json = said(command.args(["env", "--docker", "--json"]).output().unwrap()).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let values = json["variables"].as_object().unwrap().iter();
    let lines: String = values.map(|(n, v)| format!("ENV {n}=\"{}\"\n", v.as_str().unwrap())).collect();
    assert_eq!(lines, text);
    assert!(!text.contains("CUDAUP_STATE") && !text.contains("cuda-9.1"), "{text}");
    assert!(text.lines().all(|l| l.starts_with("ENV ")), "{text}");
    let own = [("PATH", "/usr/bin:/bin"), ("LIBRARY_PATH", "/old lib:/x"), ("CUDACXX", "/c++")];
    let own_lines: String = own.iter().map(|(n, v)| format!("ENV {n}=\"{v}\"\n")).collect();
    let Some(image) = built(&at, &format!("FROM scratch\n{own_lines}{text}")) else { return };
    let mut exec = Command::new(at.home().join("bin/cudaup"));
    exec.env_clear().current_dir(at.path("home/p")).env("HOME", at.user());
    exec.envs(own.into_iter().filter(|(name, _)| *name != "CUDACXX"));
    let exec = exec.args(["exec", "--", "/usr/bin/env", "-0"]).output().unwrap();
    let of_cudaup = |name: &str| ["CUDAUP_STATE", "CUDAUP_VERSION", "HOME"].contains(&name);
    let wanted: Vec<String> = variables(&exec.stdout)
        .into_iter()
        .map(|(n, v)| (String::from_utf8(n).unwrap(), String::from_utf8(v).unwrap()))
        .filter(|(name, _)| !of_cudaup(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(image, wanted);
    assert!(image.contains(&format!("CUDA_HOME={}", root.display())), "{image:?}");
}

/// The environment of the image that a Dockerfile makes; `None` where no image can be built.
fn built(at: &Sandbox, dockerfile: &str) -> Option<Vec<String>> {
    if !has("buildah") {
        return None;
    }
    // Where the name of its storage has odd characters, that is no concern of this test.
    let storage = tempfile::tempdir().unwrap();
    let buildah = |arguments: &[&str]| {
        let mut command = Command::new("buildah");
        command.env("STORAGE_DRIVER", "vfs").current_dir(storage.path());
        command.args(["--root", "root", "--runroot", "run"]).args(arguments).output().unwrap()
    };
    let build = |text: &str| {
        fs::write(storage.path().join("Dockerfile"), text).unwrap();
        buildah(&["bud", "--isolation", "chroot", "-t", "made", "."])
    };
    if !build("FROM scratch\nENV A=b\n").status.success() {
        eprintln!("skipped: buildah builds no image here");
        return None;
    }
    let made = build(dockerfile);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let shown = buildah(&["inspect", "--type", "image", "made"]).stdout;
    at.write("image.json", &shown);
    let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap();
    let list = shown["OCIv1"]["config"]["Env"].as_array().unwrap();
    let mut list: Vec<String> = list.iter().map(|v| v.as_str().unwrap().to_owned()).collect();
    list.sort();
    Some(list)
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

/// The lines after it do not run, under the option by which each shell stops at a failure.
#[test]
fn text_that_could_not_be_made_ends_a_script() {
    let at = machine();
    at.write("home/none/.cuda-version", "13.4\n");
    let posix = "set -e; eval \"$(\"$CUDAUP\" env --shell sh)\"; echo went on";
    let scripts: [(&str, &[&str], &str); 11] = [
        ("bash", &["-c"], "set -e; eval \"$(\"$CUDAUP\" env)\"; echo went on"),
        ("bash", &["-c"], "set -e; eval \"$(\"$CUDAUP\" use --shell 13.4)\"; echo went on"),
        ("zsh", &["-fc"], "set -e; eval \"$($CUDAUP env)\"; echo went on"),
        ("dash", &["-c"], posix),
        ("ksh93", &["-c"], posix),
        ("mksh", &["-c"], posix),
        ("busybox", &["sh", "-c"], posix),
        ("fish", &["--no-config", "-c"], "$CUDAUP env | source; and echo went on"),
        ("tcsh", &["-fec"], "alias told '$CUDAUP:q env' ; eval \"`told`\"\necho went on"),
        ("elvish", &["-norc", "-c"], "eval ((external $E:CUDAUP) env --shell elvish | slurp); echo went on"),
        (
            "xonsh",
            &["--no-rc", "-c"],
            "$RAISE_SUBPROC_ERROR = True\nexecx($(@($CUDAUP) env --shell xonsh))\necho went on",
        ),
    ];
    for (program, options, script) in scripts.into_iter().filter(|(program, ..)| has(program)) {
        let ran = command(&at, program).args(options).arg(script).output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr);
        assert!(err.contains("error: CUDA 13.4") && err.contains("cudaup install 13.4"), "{program}: {err}");
        assert!(!ran.status.success(), "{program}: {err}");
        assert!(!String::from_utf8_lossy(&ran.stdout).contains("went on"), "{program}: {script}");
    }
}
