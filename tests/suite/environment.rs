//! exec, env, the hook and the shims: the same environment from all four, and the tool started by its real path.

use crate::sandbox::{Sandbox, said, variables};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// Variables that a shell sets by itself, and the exact version that exec and shims hand on.
const NOT_COMPARED: [&[u8]; 5] = [b"_", b"SHLVL", b"OLDPWD", b"PWD", b"CUDAUP_VERSION"];

fn compared(all: &[u8]) -> BTreeMap<String, String> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let all = variables(all).into_iter().filter(|(name, _)| !NOT_COMPARED.contains(&name.as_slice()));
    all.map(|(name, value)| (text(name), text(value))).collect()
}

/// The environment as exec, env, hook and shim make it, each printed by a child.
fn four_ways(at: &Sandbox, directory: &str, set: impl Fn(&mut Command)) -> Vec<(&'static str, Vec<u8>)> {
    let cudaup = at.home().join("bin/cudaup");
    let run = |mut command: Command| {
        set(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let mut exec = at.command(&cudaup, directory);
    exec.args(["exec", "--", "/usr/bin/env", "-0"]);
    let eval = |text: &str| {
        let mut shell = at.command("/bin/bash", directory);
        let script = format!(r#"eval "$("$0" {text})"; exec /usr/bin/env -0"#);
        shell.args(["--norc", "-c", &script]).arg(&cudaup);
        shell
    };
    let mut shim = at.command(at.home().join("shims/nvcc"), directory);
    shim.arg("--env");
    vec![
        ("exec", run(exec)),
        ("env", run(eval("env --shell bash"))),
        ("hook", run(eval("hook bash"))),
        ("shim", run(shim)),
    ]
}

#[test]
fn hook_env_exec_and_shim_make_the_same_environment() {
    let at = Sandbox::named("cudaup it's $(touch x) \u{e4}-");
    let root = at.managed("12.4.1");
    at.toolkit("usr/local/cuda-11.8", "11.8.0");
    let cudnn = at.addon("cudnn/9.8.0.87-cuda12");
    at.write("p/.cuda-version", "12.4\nhost_compiler = g++-12\ncudnn = 9.8\n");
    assert_eq!(at.cudaup("p", &["rehash"]).code, Some(0));
    let old = at.path("usr/local/cuda-11.8");
    // The shims are at the end of PATH, where an active hook has them.
    let shims = at.home().join("shims");
    let set = |command: &mut Command| {
        let (old, shims) = (old.display(), shims.display());
        command.env("PATH", format!("/usr/bin:{old}/bin:/bin:{old}/nsight-systems:{shims}"));
        command.env("CUDA_HOME", old.to_string()).env("LD_LIBRARY_PATH", format!("{old}/lib64:/mine:"));
        command.env("CPATH", "").env("LIBRARY_PATH", format!("{old}/lib64/stubs"));
    };
    let ways: Vec<_> =
        four_ways(&at, "p", set).into_iter().map(|(name, all)| (name, compared(&all))).collect();
    let (first, rest) = ways.split_first().unwrap();
    for (name, other) in rest {
        let differs: Vec<_> = other.iter().filter(|(n, v)| first.1.get(*n) != Some(*v)).collect();
        assert_eq!(differs, [], "{name} and {}", first.0);
        assert_eq!(other.len(), first.1.len(), "{name}");
    }
    let value = |name: &str| first.1[name].as_str();
    let (root, shims, cudnn) = (root.display(), shims.display(), cudnn.display());
    assert_eq!(value("PATH"), format!("{root}/bin:/usr/bin:/bin:{shims}"));
    assert_eq!(
        value("LD_LIBRARY_PATH"),
        format!("{root}/lib64:{root}/extras/CUPTI/lib64:{cudnn}/lib:/mine:")
    );
    assert_eq!(value("LIBRARY_PATH"), format!("{root}/lib64:{cudnn}/lib:{root}/lib64/stubs"));
    assert_eq!(value("CPATH"), format!("{root}/include:{cudnn}/include"));
    assert_eq!((value("CUDNN_HOME"), value("CUDNN_ROOT")), (cudnn.to_string().as_str(), value("CUDNN_PATH")));
    assert_eq!((value("CUDAHOSTCXX"), value("NVCC_PREPEND_FLAGS")), ("g++-12", "-ccbin g++-12"));
    for name in ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDAToolkit_ROOT", "CUDA_TOOLKIT_ROOT_DIR"] {
        assert_eq!(value(name), root.to_string());
    }
}

#[test]
fn the_small_program_answers_a_hook_as_the_large_one_does() {
    let at = Sandbox::named("cudaup it's -");
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\n");
    at.write("q/.cuda-version", "13.9\n");
    let answer = |program: &str, directory: &str, arguments: &[&str]| {
        let mut command = at.command(at.home().join("bin").join(program), directory);
        said(command.args(["hook"]).args(arguments).output().unwrap())
    };
    for directory in ["p", "q", "elsewhere"] {
        for shell in ["bash", "zsh", "fish", "tcsh"] {
            for arguments in [&[shell][..], &[shell, "--mend"]] {
                let (small, large) =
                    (answer("cudaup-shim", directory, arguments), answer("cudaup", directory, arguments));
                assert_eq!(
                    (small.code, &small.out, &small.err),
                    (Some(0), &large.out, &large.err),
                    "{directory} {arguments:?}"
                );
            }
        }
    }
    assert!(answer("cudaup-shim", "q", &["bash"]).err.contains("CUDA 13.9 is not installed"));
    let alone = said(at.command(at.home().join("bin/cudaup-shim"), "p").output().unwrap());
    assert_eq!(alone.code, Some(2));
    assert!(alone.err.contains("you want cudaup"), "{}", alone.err);
}

#[test]
fn a_tool_sees_its_real_path_however_it_is_started() {
    let at = Sandbox::named("cudaup blank -");
    let nvcc = at.managed("12.4.1").join("bin/nvcc");
    at.write("p/.cuda-version", "12.4\n");
    at.cudaup("p", &["rehash"]);
    let expected = format!("{} x.cu a b\n", nvcc.display());
    let shim = |name: &str| {
        let mut command = at.command("/bin/sh", "p");
        let path = format!("{}:/usr/bin:/bin", at.home().join("shims").display());
        said(command.env("PATH", path).args(["-c", &format!("{name} x.cu 'a b'")]).output().unwrap()).out
    };
    assert_eq!(shim("nvcc"), expected);
    assert_eq!(at.cudaup("p", &["exec", "--", "nvcc", "x.cu", "a b"]).out, expected);
}

#[test]
fn thirty_honest_levels_are_no_loop() {
    let at = Sandbox::new();
    let nvcc = at.managed("12.4.1").join("bin/nvcc");
    at.write("p/.cuda-version", "12.4\n");
    at.write("p/n.sh", "[ \"$1\" -gt 0 ] && exec sh n.sh $(($1-1)); exec nvcc deep");
    at.cudaup("p", &["rehash"]);
    let path = format!("{}:/usr/bin:/bin", at.home().join("shims").display());
    let deep = said(at.command("/bin/sh", "p").env("PATH", &path).args(["n.sh", "30"]).output().unwrap());
    assert_eq!(deep.out, format!("{} deep\n", nvcc.display()), "{}", deep.err);
    let cudaup = at.home().join("bin/cudaup");
    let cudaup = cudaup.to_str().unwrap();
    let nested = [["exec", "12.4", "--", cudaup].as_slice(); 6].concat();
    let nested = at.cudaup("p", &[nested.as_slice(), &["exec", "--", "nvcc", "deep"]].concat());
    assert_eq!(nested.out, format!("{} deep\n", nvcc.display()), "{}", nested.err);
}

#[test]
fn what_a_shim_says_where_it_cannot_serve() {
    let at = Sandbox::new();
    let full = at.managed("12.4.1");
    let small = at.managed("13.0.2");
    fs::remove_file(small.join("bin/ptxas")).unwrap();
    at.cudaup("p", &["rehash"]);
    at.write("missing/.cuda-version", "13.4\n");
    at.write("small/.cuda-version", "13.0\n");
    let refused = at.shim("nvcc", "missing", |_| {});
    assert_eq!(refused.code, Some(127));
    assert!(
        refused.err.contains("CUDA 13.4 is not installed") && refused.err.contains("missing/.cuda-version:1"),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("try: cudaup install 13.4"), "{}", refused.err);
    let lacking = at.shim("ptxas", "small", |_| {});
    assert_eq!(lacking.code, Some(127));
    assert!(lacking.err.contains("has no ptxas") && lacking.err.contains("12.4.1"), "{}", lacking.err);
    let own = at.script("mine/ptxas", "echo my own");
    let elsewhere = |command: &mut Command| {
        let path = format!(
            "{}:{}:{}:/bin",
            at.home().join("shims").display(),
            full.join("bin").display(),
            own.parent().unwrap().display()
        );
        command.env("PATH", path);
    };
    assert_eq!(
        at.shim("ptxas", "small", elsewhere).out,
        "my own\n",
        "only a place outside every toolkit serves"
    );
}

#[test]
fn where_nothing_is_chosen_a_shim_goes_on_to_the_next_program() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.cudaup("p", &["rehash"]);
    at.script("mine/nvcc", "echo next $CUDA_HOME");
    let shims = at.home().join("shims");
    let next = |command: &mut Command| {
        command.env("PATH", format!("{}:{}:/bin", shims.display(), at.path("mine").display()));
    };
    assert_eq!(at.shim("nvcc", "p", next).out, "next\n");
    // A second name of the shim itself must not be taken for the next program.
    fs::create_dir_all(at.path("twin")).unwrap();
    fs::hard_link(shims.join("nvcc"), at.path("twin/nvcc")).unwrap();
    let twin = |command: &mut Command| {
        command.env("PATH", format!("{}:{}:/bin", shims.display(), at.path("twin").display()));
    };
    let said = at.shim("nvcc", "p", twin);
    assert_eq!(said.code, Some(127), "{said:?}");
    assert!(said.err.contains("no CUDA toolkit is chosen here"), "{}", said.err);
}

#[test]
fn copies_of_the_shim_never_call_each_other_for_ever() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.cudaup("p", &["rehash"]);
    let path = |names: [&str; 3]| names.map(|n| at.path(n).display().to_string()).join(":");
    for copy in ["one", "two"] {
        fs::create_dir_all(at.path(copy)).unwrap();
        crate::sandbox::copy(&crate::sandbox::shim(), &at.path(copy).join("nvcc"));
    }
    // Each only goes onwards along PATH.
    let around = |command: &mut Command| {
        command.env("PATH", path(["one", "home/.cudaup/shims", "two"]));
    };
    assert_eq!(at.shim("nvcc", "p", around).code, Some(127));
    // A copy that stands for the toolkit's own nvcc.
    let tree = at.toolkit("opt/copied", "12.8.1");
    crate::sandbox::copy(&crate::sandbox::shim(), &tree.join("bin/nvcc"));
    std::os::unix::fs::symlink(&tree, at.home().join("toolkits/copied")).unwrap();
    at.write("q/.cuda-version", "copied\n");
    let said = at.shim("nvcc", "q", |_| {});
    assert_eq!(said.code, Some(127), "{said:?}");
    assert!(said.err.contains("has no nvcc"), "{}", said.err);
}

#[test]
fn a_crafted_state_runs_and_sets_nothing() {
    let at = Sandbox::new();
    for state in
        ["1;pin;/x;S,a$(touch${IFS}PWN),=x,-", "1;pin;/x;S,LD_PRELOAD,=/evil.so,-", "1;pin;/x;L,A\nB,=,0,,,"]
    {
        let mut command = at.command(at.home().join("bin/cudaup"), "p");
        let hook = said(command.env("CUDAUP_STATE", state).args(["hook", "bash"]).output().unwrap());
        assert_eq!(hook.code, Some(0));
        assert!(hook.err.contains("CUDAUP_STATE could not be read"), "{}", hook.err);
        let shims = at.home().join("shims");
        let expected = format!("unset CUDAUP_STATE\nexport PATH='/usr/bin:/bin:{}'\n", shims.display());
        let mut lines: Vec<_> = hook.out.lines().collect();
        lines.sort_by_key(|l| l.starts_with("export"));
        assert_eq!(lines.len(), 2, "{} instead of {expected}", hook.out);
        assert!(lines[0].contains("CUDAUP_STATE") && lines[1].contains("PATH"), "{}", hook.out);
    }
}

#[test]
fn a_shim_that_cannot_say_why_still_gives_its_code() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.cudaup("p", &["rehash"]);
    let mut command = at.command(at.home().join("shims/nvcc"), "p");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert_eq!(command.env("CUDAUP_VERSION", "9.9").stderr(full).status().unwrap().code(), Some(127));
}

#[test]
fn a_relative_home_is_made_absolute() {
    let at = Sandbox::new();
    let root = at.managed("12.4.1");
    let mut command = at.command(at.home().join("bin/cudaup"), "home");
    let env = said(command.env("CUDAUP_HOME", ".cudaup").args(["env", "12.4", "--json"]).output().unwrap());
    let json: serde_json::Value = serde_json::from_str(&env.out).unwrap();
    assert_eq!(json["variables"]["CUDA_HOME"], root.to_str().unwrap());
    assert_eq!(env.err, "");
}

#[test]
fn a_process_tree_sees_one_toolkit() {
    let at = Sandbox::new();
    at.managed("12.4.0");
    at.managed("12.4.1");
    at.managed("13.0.2");
    at.write("a/.cuda-version", "12.4\n");
    at.write("b/.cuda-version", "13.0\n");
    at.cudaup("a", &["rehash"]);
    let b = at.path("b");
    let inner = format!(
        "cd '{}' && '{}' which --root && echo $CUDAUP_VERSION",
        b.display(),
        at.home().join("bin/cudaup").display()
    );
    let outer = at.cudaup("a", &["exec", "--", "sh", "-c", &inner]);
    assert_eq!(
        outer.out,
        format!("{}\n12.4.1\n", at.home().join("toolkits/12.4.1").display()),
        "{}",
        outer.err
    );
}

#[test]
fn steps_of_github_get_their_files() {
    let at = Sandbox::new();
    let root = at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\n");
    let (env, path) = (at.write("env", "OLD=1\n"), at.write("path", ""));
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    let output =
        command.env("GITHUB_ENV", &env).env("GITHUB_PATH", &path).args(["env", "--github"]).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    assert_eq!(fs::read_to_string(path).unwrap(), format!("{}/bin\n", root.display()));
    let env = fs::read_to_string(env).unwrap();
    assert!(env.starts_with("OLD=1\n") && env.contains(&format!("CUDA_HOME={}\n", root.display())), "{env}");
    assert!(env.contains("CUDAUP_VERSION=12.4.1\n") && !env.contains("CUDAUP_STATE"), "{env}");
    let outside = at.cudaup("p", &["env", "--github"]);
    assert_eq!(outside.code, Some(1));
    assert!(outside.err.contains("GITHUB_ENV is not set"), "{}", outside.err);
}

#[test]
fn a_refusal_gives_the_shell_nothing_to_run_but_a_failure() {
    let at = Sandbox::new();
    at.write("p/.cuda-version", "13.4\n");
    let env = at.cudaup("p", &["env", "--shell", "bash"]);
    assert_eq!((env.code, env.out.as_str()), (Some(3), "false\n"));
    for others in ["env --docker", "env --explain", "use 13.4", "env --shell unknown"] {
        let told = at.cudaup("p", &others.split(' ').collect::<Vec<_>>());
        assert!(told.code != Some(0) && told.out.is_empty(), "{others}: {told:?}");
    }
    let json = at.cudaup("p", &["env", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["error"]["code"], 3);
    assert_eq!(json["error"]["try"][0], "cudaup install 13.4");
}

#[test]
fn env_is_whole_also_where_the_toolkit_is_entered_already() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\n");
    let cudaup = at.home().join("bin/cudaup");
    for form in ["env --json", "env --shell fish"] {
        let outside = at.cudaup("p", &form.split(' ').collect::<Vec<_>>());
        let script = format!("eval \"$('{0}' env --shell bash)\"; '{0}' {form}", cudaup.display());
        let inside = said(at.command("bash", "p").args(["-c", &script]).output().unwrap());
        assert!(outside.out.contains("CUDA_HOME"), "{}", outside.err);
        assert_eq!(inside.out, outside.out);
    }
}

#[test]
fn which_says_what_typing_the_tool_would_run() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.write("p/.cuda-version", "12.4\n");
    at.script("conda/bin/nvcc", "echo other");
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    let path = format!("{}:/usr/bin:/bin", at.path("conda/bin").display());
    let which = said(command.env("PATH", &path).args(["which", "nvcc"]).output().unwrap());
    assert_eq!(which.out, format!("{}\n", at.home().join("toolkits/12.4.1/bin/nvcc").display()));
    assert!(
        which.err.contains("typing nvcc here runs ") && which.err.contains("conda/bin/nvcc"),
        "{}",
        which.err
    );
    let mut command = at.command(at.home().join("bin/cudaup"), "p");
    let check = said(command.env("PATH", &path).args(["current", "--check"]).output().unwrap());
    assert_eq!(check.code, Some(1));
    let inside =
        at.cudaup("p", &["exec", "--", at.home().join("bin/cudaup").to_str().unwrap(), "current", "--check"]);
    assert_eq!((inside.code, inside.err.as_str()), (Some(0), ""));
    assert!(inside.out.contains("active in this shell"), "{}", inside.out);
}
