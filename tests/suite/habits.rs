//! Words of other version managers, through the built program: the code, and that what is suggested exists.

use crate::sandbox::Sandbox;

#[test]
fn what_is_suggested_has_the_options_that_it_names() {
    let at = Sandbox::new();
    let lines = [
        "shell 12.4",
        "global 12.4",
        "use -g 12.4",
        "remove 12.4",
        "add 12.4",
        "update 12.4",
        "check",
        "install 13.0 --cudnn",
        "install cuda",
        "activate",
        "activate 12.4",
        "alias old 11.8",
        "self uninstall",
        "add cudnn 9.8",
        "remove 12.4 cudnn",
        "env bash",
        "component add nvcc",
        "fetch 12.4",
        "create -n x cuda=12.4",
        "reinstall 12.4",
        "path",
        "setup",
    ];
    for line in lines {
        let said = at.cudaup("project", &line.split(' ').collect::<Vec<_>>());
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{line}: {}", said.err);
        let commands =
            said.err.split_once("\ntry: ").unwrap_or_else(|| panic!("{line}: {}", said.err)).1.lines();
        for command in commands.filter_map(|l| l.split_once("cudaup ")) {
            let words: Vec<&str> = command.1.split(' ').collect();
            let help = at.cudaup("project", &[words[0], "--help"]);
            assert_eq!(help.code, Some(0), "{line} suggests {words:?}");
            for option in words.iter().filter(|w| w.starts_with('-')) {
                assert!(help.out.contains(option), "{line} suggests {words:?}, which has no {option}");
            }
        }
    }
}

#[test]
fn what_is_meant_is_done() {
    let at = Sandbox::new();
    at.managed("12.4.1");
    at.managed("11.8.0");
    assert_eq!(at.cudaup("project", &["switch", "11.8"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(at.path("project/.cuda-version")).unwrap(), "11.8\n");
    let ran = at.cudaup("project", &["run", "12.4", "nvcc", "-x"]);
    assert_eq!(
        ran.out,
        format!("{} -x\n", at.home().join("toolkits/12.4.1/bin/nvcc").display()),
        "{}",
        ran.err
    );
    assert!(at.cudaup("project", &["ls"]).out.contains("12.4.1"));
    assert_eq!(at.cudaup("elsewhere", &["default", "12.4"]).code, Some(0));
    let removed = at.cudaup("project", &["rm", "-y", "11.8"]);
    assert_eq!(removed.code, Some(0), "{}", removed.err);
    assert!(!at.home().join("toolkits/11.8.0").exists());
}

#[test]
fn a_wrong_spelling_is_answered_with_the_whole_command() {
    let at = Sandbox::new();
    for (typed, next) in [
        ("--offline install 12.04 --profile minimal", "cudaup --offline install 12.4 --profile minimal"),
        ("install 124", "cudaup install 12.4"),
        ("use 12.4.99", "cudaup use 12.4"),
        ("install 12-4", "cudaup install 12.4"),
        ("i 12.04", "cudaup install 12.4"),
    ] {
        let said = at.cudaup("project", &typed.split(' ').collect::<Vec<_>>());
        assert!(
            said.code == Some(2) && said.err.ends_with(&format!("\ntry: {next}\n")),
            "{typed}: {}",
            said.err
        );
    }
}

#[test]
fn the_shell_is_told_in_its_own_words_how_its_version_ends() {
    let at = Sandbox::new();
    for (shell, words) in [("bash", "unset -v CUDAUP_VERSION"), ("fish", "set -eg CUDAUP_VERSION")] {
        let mut command = at.command(at.home().join("bin/cudaup"), "project");
        let said = crate::sandbox::said(
            command
                .arg("deactivate")
                .env("_CUDAUP_SHELL", shell)
                .env("CUDAUP_VERSION", "12.4")
                .output()
                .unwrap(),
        );
        assert!(
            said.code == Some(2) && said.err.ends_with(&format!("\ntry: {words}\n")),
            "{shell}: {}",
            said.err
        );
    }
}

#[test]
fn without_a_network_no_server_is_named() {
    let at = Sandbox::new();
    for (typed, next) in [
        ("install 1.0", "cudaup install 13.0\n"),
        ("install 12.4", "cudaup install 12.4 --from FILE_OR_DIRECTORY\n"),
        ("install latest", "cudaup install VERSION --from FILE_OR_DIRECTORY\n"),
        ("install 13.0 --source pypi", "cudaup install 13.0 --from FILE_OR_DIRECTORY\n"),
        ("info 99", "cudaup list --remote\n"),
        ("add cutensor --cuda 12", "cudaup add cutensor --from FILE   (a copy from another machine)\n"),
    ] {
        let said =
            at.cudaup("project", &["--offline"].into_iter().chain(typed.split(' ')).collect::<Vec<_>>());
        assert!(said.err.ends_with(&format!("\ntry: {next}")), "{typed}: {}", said.err);
        assert!(!said.err.contains("not reached"), "{typed}: {}", said.err);
    }
    let list = at.cudaup("project", &["--offline", "list", "--remote"]);
    assert!(list.code == Some(4) && list.err.contains("pypi (offline)"), "{}", list.err);
    let never = at.cudaup("project", &["--offline", "list", "--remote", "99"]);
    assert!(never.code == Some(3) && never.err.starts_with("error: there is no CUDA 99"), "{}", never.err);
}

#[test]
fn what_takes_a_choice_back_names_what_decides() {
    let at = Sandbox::new();
    let user = at.user().display().to_string();
    let answers = |directory: &str, typed: &str, words: &str, next: &str| {
        let said = at.cudaup(directory, &typed.split(' ').collect::<Vec<_>>());
        let wanted = format!("error: {words}\ntry: {next}\n");
        assert_eq!((said.code, said.err), (Some(2), wanted), "{typed} in {directory}");
    };
    let current = "cudaup current";
    let nothing = "no .cuda-version holds here, and no default: nothing asks for a toolkit";
    answers("home/p", "use none", nothing, current);
    answers(
        "home/p",
        "use default",
        "no .cuda-version holds here, and you have no default",
        "cudaup use --default VERSION",
    );
    answers("home/p", "default none", "you have no default", "cudaup use --default VERSION");
    let shell = format!("CUDAUP_VERSION is not set: nothing is chosen for this shell alone; {nothing}");
    answers("home/p", "deactivate", &shell, current);
    at.write("home/.cudaup/default", "12.4\n");
    let default = "no .cuda-version holds here: what does is your default (12.4), in ~/.cudaup/default";
    let other = "cudaup use VERSION   (another for this project; `system`: the machine's own)";
    answers("home/p", "use none", default, &format!("{other}\n     rm {user}/.cudaup/default"));
    answers("home/p", "use default", default, "cudaup current   (shows it)");
    // A file in a parent directory, and one here that hides it.
    at.write("home/p/.cuda-version", "11.8\n");
    let above = "~/p/.cuda-version (11.8) decides here and everywhere below ~/p; without it your default (12.4) holds";
    answers("home/p/a", "use none", above, &format!("rm {user}/p/.cuda-version"));
    answers("home/p/a", "use default", above, &format!("rm {user}/p/.cuda-version"));
    at.write("home/p/a/.cuda-version", "no version\n");
    answers(
        "home/p/a",
        "unuse",
        "~/p/a/.cuda-version decides here; without it ~/p/.cuda-version (11.8) does",
        "rm .cuda-version",
    );
    // A default with settings keeps them.
    let file = at.write("home/.cudaup/default", "# mine\n12.4\ncpath = off\n");
    let held = "your default is the version in ~/.cudaup/default (12.4)";
    answers("home/p", "use --default none", held, &format!("sed -i 2d {}", file.display()));
    let mut command = at.command(at.home().join("bin/cudaup"), "home/p");
    let outranked = crate::sandbox::said(
        command
            .args(["use", "none"])
            .env("CUDAUP_VERSION", "13.0")
            .env("_CUDAUP_SHELL", "bash")
            .output()
            .unwrap(),
    );
    assert!(
        outranked.err.contains("CUDAUP_VERSION=13.0 decides here")
            && outranked.err.ends_with("try: unset -v CUDAUP_VERSION\n"),
        "{}",
        outranked.err
    );
}
