//! What the pages in `docs/` tell users to write, taken from the pages and run in the surroundings that they are about.

use crate::sandbox::{Said, Sandbox, copy, said};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const PAGES: [&str; 5] = ["docker", "services", "ci", "editors", "administrators"];

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/{name}.md"));
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The indented block of a page that holds this text, without its indent.
fn block(name: &str, holds: &str) -> String {
    let page = page(name);
    let mut blocks = vec![String::new()];
    for line in page.lines() {
        match line.strip_prefix("    ") {
            Some(code) => blocks.last_mut().unwrap().extend([code, "\n"]),
            None if line.is_empty() && !blocks.last().unwrap().is_empty() => {
                blocks.last_mut().unwrap().push('\n');
            }
            None => blocks.push(String::new()),
        }
    }
    let mut fits = blocks.into_iter().filter(|b| b.contains(holds));
    let found = fits.next().unwrap_or_else(|| panic!("{name}: no block with {holds}"));
    assert_eq!(fits.next(), None, "{name}: {holds} is in two blocks");
    found
}

/// A user whose project is pinned to 11.8, with 12.4 as the default, and a Makefile that starts nvcc.
fn user() -> Sandbox {
    let at = Sandbox::new();
    at.managed("11.8.0");
    at.managed("12.4.1");
    at.write("home/.cudaup/default", "12.4\n");
    at.write("home/proj/.cuda-version", "11.8\n");
    at.write("home/proj/Makefile", "all:\n\t@nvcc made \"$$CUDA_HOME\"\n");
    assert_eq!(at.cudaup("home", &["rehash"]).code, Some(0));
    at
}

fn root(at: &Sandbox, version: &str) -> String {
    at.home().join("toolkits").join(version).display().to_string()
}

/// What `make` prints with this toolkit.
fn made(at: &Sandbox, version: &str) -> String {
    let root = root(at, version);
    format!("{root}/bin/nvcc made {root}\n")
}

/// A script in an environment of these variables alone. The one for the test's machine is the only one that is not the
/// surroundings' own.
fn in_surroundings(at: &Sandbox, shell: &str, script: &str, directory: &str, set: &[(&str, &str)]) -> Said {
    let mut command = Command::new(shell);
    command.args(["-c", script]).env_clear().current_dir(at.path(directory));
    command.env("CUDAUP_SYSROOT", at.path("")).envs(set.iter().copied());
    said(command.output().unwrap())
}

fn in_cron(at: &Sandbox, path: &str, script: &str) -> Said {
    let home = at.user().display().to_string();
    let set = [("HOME", home.as_str()), ("LOGNAME", "ada"), ("SHELL", "/bin/sh"), ("PATH", path)];
    in_surroundings(at, "/bin/sh", script, "home", &set)
}

fn good(said: &Said) -> &str {
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    &said.out
}

#[test]
fn lines_of_a_crontab() {
    let at = user();
    let line = block("services", "0 3 * * *");
    let exec = line.trim().strip_prefix("0 3 * * * ").unwrap();
    let log = at.path("home/proj/make.log");
    good(&in_cron(&at, "/usr/bin:/bin", exec));
    assert_eq!(fs::read_to_string(&log).unwrap(), made(&at, "11.8.0"));

    let table = block("services", "0 4 * * *").replace("/home/ada", at.user().to_str().unwrap());
    let (path, line) = table.trim().split_once('\n').unwrap();
    let (path, line) = (path.strip_prefix("PATH=").unwrap(), line.strip_prefix("0 4 * * * ").unwrap());
    let shims = in_cron(&at, path, line);
    assert_eq!(good(&shims), format!("{}/bin/nvcc -o hello hello.cu\n", root(&at, "11.8.0")));

    // Elsewhere the default applies, and a version that is missing lets nothing start.
    at.write("home/proj/.cuda-version", "11.6\n");
    assert_eq!(in_cron(&at, "/usr/bin:/bin", exec).code, Some(3));
    assert!(fs::read_to_string(&log).unwrap().contains("CUDA 11.6 is not installed"));
    assert_eq!(in_cron(&at, path, line).code, Some(127));
    let elsewhere = line.replace("cd ~/proj", "cd ~");
    assert_eq!(
        good(&in_cron(&at, path, &elsewhere)),
        format!("{}/bin/nvcc -o hello hello.cu\n", root(&at, "12.4.1"))
    );
}

/// What a program behind a shim takes for the toolkit, as the page shows it.
#[test]
fn the_place_of_nvcc_behind_shims_and_with_exec() {
    let at = user();
    let shown = block("services", "dirname").replace("/home/ada", at.user().to_str().unwrap());
    let lines: Vec<&str> = shown.trim().lines().collect();
    let path = format!("{0}/shims:{0}/bin:/usr/bin:/bin", at.home().display());
    at.write("home/proj/.cuda-version", "12.4\n");
    for pair in lines.chunks(2) {
        let command = format!("cd ~/proj && {}", pair[0].strip_prefix("$ ").unwrap());
        assert_eq!(good(&in_cron(&at, &path, &command)).trim(), pair[1], "{command}");
    }
    assert_eq!(lines.len(), 4);
}

/// systemd gives a unit of the system no HOME, and one with `User=` that user's.
#[test]
fn the_line_of_a_unit() {
    let at = user();
    // Where nothing names a home, it is the one in which the program itself lies.
    let program = at.home().join("bin/cudaup");
    fs::remove_file(&program).unwrap();
    copy(Path::new(env!("CARGO_BIN_EXE_cudaup")), &program);
    let unit = block("services", "ExecStart=").replace("/home/ada", at.user().to_str().unwrap());
    let of = |key: &str| unit.lines().find_map(|l| l.strip_prefix(key)).unwrap().to_owned();
    let (line, directory) = (of("ExecStart="), of("WorkingDirectory="));
    let directory = Path::new(&directory).strip_prefix(at.path("")).unwrap().to_str().unwrap();
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let home = at.user().display().to_string();
    let with = [("PATH", path), ("LANG", "C.UTF-8"), ("HOME", home.as_str()), ("USER", "ada")];
    for set in [&with[..2], &with[..]] {
        let said = in_surroundings(&at, "/bin/sh", &line, directory, set);
        assert_eq!(good(&said), made(&at, "11.8.0"), "{set:?}");
    }
    let shim = format!("{}/shims/nvcc", at.home().display());
    let said = in_surroundings(&at, "/bin/sh", &shim, directory, &with[..2]);
    assert_eq!(good(&said).trim(), format!("{}/bin/nvcc", root(&at, "11.8.0")));
    // Without its directory the unit has the default.
    let said = in_surroundings(&at, "/bin/sh", &line.replace("make -B", "printenv CUDA_HOME"), "home", &with);
    assert_eq!(good(&said).trim(), root(&at, "12.4.1"));
}

#[test]
fn scripts_for_slurm() {
    let at = user();
    let home = at.user().display().to_string();
    // Another toolkit, entered in the shell that called sbatch.
    let other = root(&at, "12.4.1");
    let path = format!("{other}/bin:/usr/bin:/bin");
    let set = [
        ("HOME", home.as_str()),
        ("PATH", path.as_str()),
        ("CUDA_HOME", other.as_str()),
        ("SLURM_ARRAY_TASK_ID", "0"),
    ];
    at.script("home/proj/hello", "printenv CUDA_HOME");
    let job = block("services", "srun ./hello").replace("srun ", "");
    let wanted = root(&at, "11.8.0");
    let said = in_surroundings(&at, "bash", &job, "home/proj", &set);
    assert_eq!(good(&said), format!("{wanted}/bin/nvcc -o hello hello.cu\n{wanted}\n"));
    let array = block("services", "--array");
    let said = in_surroundings(&at, "bash", &array.replace("nvcc --version", "nvcc"), "home/proj", &set);
    assert_eq!(good(&said).trim(), format!("{other}/bin/nvcc"));

    // The job ends where the version is missing.
    at.write("home/proj/.cuda-version", "11.6\n");
    let said = in_surroundings(&at, "bash", &job, "home/proj", &set);
    assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{said:?}");
}

#[test]
fn a_command_over_ssh() {
    let at = user();
    let home = at.user().display().to_string();
    let set = [
        ("HOME", home.as_str()),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("USER", "ada"),
        ("SHELL", "/bin/bash"),
    ];
    let general = block("services", "cd ~/proj && ~/.cudaup/bin/cudaup exec -- make\n");
    let said = in_surroundings(&at, "bash", general.trim(), "home", &set);
    assert_eq!(good(&said), made(&at, "11.8.0"));

    // bash reads ~/.bashrc in a command over ssh, with no variable and no option to ask for it here.
    let written = in_surroundings(&at, "bash", "~/.cudaup/bin/cudaup init bash --write", "home", &set);
    assert_eq!(written.code, Some(0), "{written:?}");
    let commands = block("services", "ssh host");
    let commands: Vec<&str> = commands.trim().lines().collect();
    assert_eq!(commands.len(), 2);
    let wanted = [format!("{}/bin/nvcc --version", root(&at, "11.8.0")), made(&at, "11.8.0")];
    for (command, wanted) in commands.iter().zip(wanted) {
        let command = command.strip_prefix("ssh host '").unwrap().strip_suffix('\'').unwrap();
        // The nvcc of this machine prints its place for anything but --version.
        let command = format!(". ~/.bashrc; {}", command.replace("--version", "--place"));
        let said = in_surroundings(&at, "bash", &command, "home", &set);
        assert_eq!(good(&said).trim(), wanted.trim().replace("--version", "--place"), "{command}");
    }
}

/// The steps of a job for GitLab, and then the files of one for GitHub.
#[test]
fn jobs_of_ci() {
    let at = user();
    let bin = at.home().join("bin");
    fs::create_dir_all(at.path("job/ci/bin")).unwrap();
    let copy = format!("cp {}/cudaup* ci/bin/", bin.display());
    let (home, job) = (at.path("job/.cudaup").display().to_string(), at.path("job").display().to_string());
    let set =
        [("HOME", "/nonexistent"), ("PATH", "/usr/bin:/bin"), ("CI", "true"), ("CUDAUP_HOME", home.as_str())];
    assert_eq!(in_surroundings(&at, "sh", &copy, "job", &set).code, Some(0));
    // What the cache brings.
    assert_eq!(
        in_surroundings(&at, "sh", "mkdir .cudaup && cp -r ../home/.cudaup/toolkits .cudaup", "job", &set)
            .code,
        Some(0)
    );
    at.write("job/.cuda-version", "11.8\n");
    at.write("job/Makefile", "all:\n\t@nvcc made \"$$CUDA_HOME\"\n");
    let page = block("ci", "$CI_PROJECT_DIR");
    let steps: Vec<&str> = page.lines().filter_map(|l| l.trim().strip_prefix("- ")).collect();
    assert_eq!(steps.len(), 4);
    let said = in_surroundings(&at, "bash", &format!("set -eo pipefail\n{}", steps.join("\n")), "job", &set);
    assert_eq!(said.code, Some(0), "{said:?}");
    let toolkit = format!("{job}/.cudaup/toolkits/11.8.0");
    assert!(said.out.ends_with(&format!("{toolkit}/bin/nvcc made {toolkit}\n")), "{said:?}");

    let shown = block("ci", "CUDAUP_VERSION=12.4.1");
    at.write("home/proj/.cuda-version", "12.4\n");
    let (env, path) = (at.path("env"), at.path("path"));
    let mut command = at.command(bin.join("cudaup"), "home/proj");
    command.env("GITHUB_ENV", &env).env("GITHUB_PATH", &path).args(["env", "--github"]);
    assert_eq!(said_of(&mut command).code, Some(0));
    // A toolkit made of scripts has no pkg-config files, and one of CUPTI's directories.
    let lines = |text: &str| -> BTreeMap<String, String> {
        let pairs = text.lines().filter_map(|l| l.split_once('='));
        let pairs = pairs.map(|(n, v)| (n.to_owned(), v.replace(at.user().to_str().unwrap(), "/home/ada")));
        let own = |(n, v): (String, String)| {
            (n, v.split(':').filter(|e| !e.contains("/CUPTI/")).collect::<Vec<_>>().join(":"))
        };
        pairs.map(own).filter(|(n, _)| n != "PKG_CONFIG_PATH").collect()
    };
    assert_eq!(lines(&fs::read_to_string(env).unwrap()), lines(&shown));
    assert_eq!(fs::read_to_string(path).unwrap().trim(), format!("{}/bin", root(&at, "12.4.1")));
}

fn said_of(command: &mut Command) -> Said {
    said(command.output().unwrap())
}

#[test]
fn the_preset_and_the_environment_file_of_an_editor() {
    let at = user();
    let home = at.user().display().to_string();
    let set = [("HOME", home.as_str()), ("PATH", "/usr/bin:/bin")];
    let script = block("editors", "cat > CMakeUserPresets.json");
    let said = in_surroundings(&at, "sh", &script, "home/proj", &set);
    assert_eq!((said.code, said.out.as_str()), (Some(0), ""), "{said:?}");
    let preset = fs::read(at.path("home/proj/CMakeUserPresets.json")).unwrap();
    let preset: serde_json::Value = serde_json::from_slice(&preset).unwrap();
    let preset = &preset["configurePresets"][0];
    let wanted = root(&at, "11.8.0");
    assert_eq!(preset["binaryDir"], "${sourceDir}/build/11.8.0");
    assert_eq!(preset["environment"]["CUDACXX"], format!("{wanted}/bin/nvcc"));
    assert_eq!(preset["environment"]["PATH"], format!("{wanted}/bin:$penv{{PATH}}"));

    let line = block("editors", "eval \"$(cd ~/proj");
    let said =
        in_surroundings(&at, "sh", &format!("{line}\nprintenv CUDA_HOME; command -v nvcc"), "home", &set);
    assert_eq!(good(&said), format!("{wanted}\n{wanted}/bin/nvcc\n"));
    let task: serde_json::Value = serde_json::from_str(&block("editors", "\"tasks\"")).unwrap();
    let task = task["tasks"][0]["command"].as_str().unwrap();
    let said = in_surroundings(&at, "bash", task, "home/proj", &set);
    assert_eq!(good(&said), made(&at, "11.8.0"));
}

/// A user without a home of cudaup, on a machine with a shared root.
#[test]
fn the_shared_root_of_an_administrator() {
    let at = user();
    let shared = at.path("opt/cudaup").display().to_string();
    assert_eq!(
        in_surroundings(
            &at,
            "sh",
            "mkdir opt && cp -rP home/.cudaup opt/cudaup",
            "",
            &[("PATH", "/usr/bin:/bin")]
        )
        .code,
        Some(0)
    );
    fs::create_dir_all(at.path("bo/proj")).unwrap();
    let page = block("administrators", "> /etc/cudaup/default");
    let here = |text: &str| {
        text.replace("/etc/", &format!("{}/etc/", at.path("").display().to_string().trim_end_matches('/')))
    };
    let bo = at.path("bo").display().to_string();
    let set = [("PATH", "/usr/bin:/bin"), ("HOME", bo.as_str())];
    good(&in_surroundings(&at, "sh", &format!("umask 077\n{}", here(&page)), "", &set));
    let page = block("administrators", "> /etc/profile.d/cudaup.sh");
    fs::create_dir_all(at.path("etc/profile.d")).unwrap();
    let root = [("PATH", format!("{shared}/bin:/usr/bin:/bin"))];
    let root = root.each_ref().map(|(name, value)| (*name, value.as_str()));
    good(&in_surroundings(&at, "sh", &format!("umask 077\n{}", here(&page)), "", &root));

    let line = here(". /etc/profile.d/cudaup.sh\n");
    let shim = format!("set -eu\n{line}{line}echo \"$PATH\"; nvcc; cd proj; nvcc");
    let nvcc = |version: &str| format!("{shared}/toolkits/{version}/bin/nvcc\n");
    at.write("bo/proj/.cuda-version", "11.8\n");
    let said = in_surroundings(&at, "sh", &shim, "bo", &set);
    assert_eq!(
        good(&said),
        format!("{shared}/shims:{shared}/bin:/usr/bin:/bin\n{}{}", nvcc("12.4.1"), nvcc("11.8.0"))
    );
}

/// Each command line on the pages is one that the program takes.
#[test]
fn every_line_is_taken() {
    let at = Sandbox::new();
    let taken = |arguments: &[&str]| {
        let said = at.cudaup("home", &[arguments, &["--help"]].concat());
        said.code == Some(0) && said.out.contains("Usage: cudaup")
    };
    let mut seen = 0;
    for name in PAGES {
        for words in lines_of(&page(name)) {
            // What a script computes stands for a version.
            let words = words.iter().map(|w| if w.contains('$') { "12.4" } else { w.as_str() });
            let words: Vec<&str> = words.collect();
            assert!(taken(&words), "docs/{name}.md: cudaup {}", words.join(" "));
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
    for wrong in [
        &["env", "--dokcer"][..],
        &["intsall", "12.4"],
        &["exec", "12.4", "nvcc-x", "--global"],
        &["use", "--gobal", "1"],
    ] {
        assert!(!taken(wrong), "{wrong:?}");
    }
}

/// The arguments of each `cudaup ...` on a page: in blocks and between backquotes, up to the end of the command.
fn lines_of(page: &str) -> Vec<Vec<String>> {
    let mut code = Vec::new();
    let mut session = false;
    for line in page.lines() {
        match line.strip_prefix("    ") {
            // Below a prompt stands what a command prints.
            Some(line) if line.starts_with("$ ") => {
                session = true;
                code.push(line);
            }
            Some(line) if !session => code.push(line),
            Some(_) => {}
            None => {
                session = false;
                code.extend(line.split('`').skip(1).step_by(2));
            }
        }
    }
    let mut found = Vec::new();
    for line in code {
        for (at, _) in line.match_indices("cudaup ") {
            let before = line[..at].rsplit([' ', '(', '"', '\'']).next().unwrap_or_default();
            // `$(cudaup which nvcc)` ends at the bracket, and a command for ssh at the quote.
            let rest = line[at + "cudaup ".len()..].split([')', '\'']).next().unwrap_or_default();
            let words =
                rest.split_whitespace().take_while(|w| !["--", ">", "|", "&&", "||", "#"].contains(w));
            let words: Vec<String> = words.map(|w| w.trim_matches('"').to_owned()).collect();
            // `cp bin/cudaup bin/cudaup-shim` is no command of cudaup.
            let command = words.first().is_some_and(|w| w.chars().all(|c| c.is_ascii_lowercase()));
            if command && (before.is_empty() || before.ends_with("bin/")) {
                found.push(words);
            }
        }
    }
    found
}
