//! What people type, and what becomes of it.

use super::*;

const COMMANDS: [&str; 18] = [
    "info",
    "add",
    "remove",
    "install",
    "uninstall",
    "use",
    "list",
    "current",
    "which",
    "exec",
    "env",
    "init",
    "link",
    "unlink",
    "rehash",
    "cache",
    "mirror",
    "help",
];

fn habit_of(line: &str) -> Option<Habit> {
    let words = shell_words::split(line).unwrap();
    habit(&words.into_iter().map(OsString::from).collect::<Vec<_>>())
}

const MEANS: &[(&str, &str)] = &[
    ("ls", "list"),
    ("ls --json", "list --json"),
    ("-q ls", "-q list"),
    ("--color always -v ls", "--color always -v list"),
    ("versions", "list"),
    ("ls-remote", "list --remote"),
    ("search cuda 13", "list --remote 13"),
    ("run 12.4 nvcc --version", "exec 12.4 -- nvcc --version"),
    ("run nvcc -V", "exec -- nvcc -V"),
    ("run 12.4 -- nvcc -V", "exec 12.4 -- nvcc -V"),
    ("run -- nvcc -V", "exec -- nvcc -V"),
    ("run latest cmake --build . -- -j8", "exec latest -- cmake --build . -- -j8"),
    ("run", "exec"),
    ("x cuda@12.4 make", "exec 12.4 -- make"),
    ("exec 12.4 nvcc -V", "exec 12.4 -- nvcc -V"),
    ("exec nvcc -V", "exec -- nvcc -V"),
    ("exec 'a b' -V", "exec -- 'a b' -V"),
    ("use --local 12.4", "use 12.4"),
    ("use 12.4 --local -y", "use 12.4 -y"),
    ("use cuda@12.4", "use 12.4"),
    ("switch 12.4", "use 12.4"),
    ("pin 12.4", "use 12.4"),
    ("local 11.8", "use 11.8"),
    ("local", "current"),
    ("shell", "current"),
    ("default 12.4", "use --default 12.4"),
    ("default", "list"),
    ("clean", "cache clean"),
    ("prune", "cache clean"),
    ("alias default 12.4", "use --default 12.4"),
    ("global", "list"),
    ("global --undo", "use --global --undo"),
    ("install -y 12.4", "install 12.4"),
    ("install 13.0 --profile minimal --yes", "install 13.0 --profile minimal"),
    ("install cuda@12.4", "install 12.4"),
    ("install cuda==12.4.1", "install 12.4.1"),
    ("install cuda 12.4", "install 12.4"),
    ("i 12.4", "install 12.4"),
    ("uninstall -y 12.4", "uninstall 12.4"),
    ("rm 12.4", "uninstall 12.4"),
    ("rm -y 12.4", "uninstall 12.4"),
    ("show", "current"),
    ("show active-toolchain", "current"),
    ("status --json", "current --json"),
    ("prefix", "which --root"),
    ("where nvcc", "which nvcc"),
    ("activate bash", "init bash"),
    ("toolchain list", "list"),
    ("toolchain install 12.4", "install 12.4"),
    ("toolchain", "list"),
    ("list --available", "list --remote"),
    ("list -a 13", "list --remote 13"),
    ("ls --all", "list --remote"),
    ("install --list", "list --remote"),
    ("list --remote --all", "list --remote"),
    ("list installed", "list"),
    ("remote", "list --remote"),
    ("instal 12.4", "install 12.4"),
    ("override set 12.4", "use 12.4"),
    ("override list", "current"),
    ("component add cudnn", "add cudnn"),
    ("component remove cudnn", "remove cudnn"),
    ("root", "which --root"),
    ("set 12.4", "use 12.4"),
    ("select 12.4", "use 12.4"),
    ("cache purge", "cache clean"),
];

const SAYS: &[(&str, &[&str])] = &[
    ("shell 12.4", &["no `shell`", "cudaup use --shell 12.4"]),
    ("global 12.4", &["no `global`", "cudaup use --default 12.4\n", "cudaup use --global 12.4"]),
    ("use -g 12.4", &["cudaup use --default 12.4\n", "cudaup use --global 12.4"]),
    ("use 12.4 -g", &["cudaup use --global 12.4"]),
    ("remove 12.4", &["cudaup uninstall 12.4"]),
    ("remove 'a b'", &["cudaup uninstall 'a b'"]),
    ("toolchain remove 12.4", &["cudaup uninstall 12.4"]),
    ("add 12.4", &["cudaup install 12.4"]),
    ("add 12.4 11.8", &["cudaup install 12.4 11.8"]),
    ("update", &["cudaup install --upgrade latest"]),
    ("update 12.4", &["cudaup install --upgrade 12.4"]),
    ("check", &["cudaup current --check", "cudaup list --remote"]),
    ("install cudnn", &["cuDNN goes beside a toolkit", "try: cudaup add cudnn\n"]),
    ("install cudnn==9.8 nccl", &["cuDNN, NCCL", "try: cudaup add cudnn@9.8 nccl\n"]),
    ("install 13.0 --cudnn", &["try: cudaup install 13.0 --with cudnn\n"]),
    ("install 11.8 --cudnn=8.9", &["try: cudaup install 11.8 --with cudnn=8.9\n"]),
    ("install cutensor", &["try: cudaup add cutensor\n"]),
    ("install cuda", &["cudaup install latest"]),
    ("install nvidia-driver", &["never installs"]),
    ("where nvcc 12.4", &["try: CUDAUP_VERSION=12.4 cudaup which nvcc\n"]),
    ("use none --global", &["try: cudaup use --global --undo\n"]),
    ("global none", &["try: cudaup use --global --undo\n"]),
    ("where 12.4", &["CUDAUP_VERSION=12.4 cudaup which --root"]),
    ("activate", &["cudaup init --write"]),
    ("activate 12.4", &["cudaup use --shell 12.4"]),
    ("alias old 11.8", &["cudaup link old DIRECTORY"]),
    ("add cudnn 9.8", &["written with @\ntry: cudaup add cudnn@9.8\n"]),
    ("add cudnn 9.8 nccl", &["try: cudaup add cudnn@9.8 nccl\n"]),
    ("remove cudnn 9.8", &["try: cudaup remove cudnn@9.8\n"]),
    ("uninstall cudnn", &["try: cudaup remove cudnn\n"]),
    ("rm -y cudnn@9.8", &["try: cudaup remove cudnn@9.8\n"]),
    ("remove 12.4 cudnn", &["try: cudaup uninstall 12.4\n     cudaup remove cudnn\n"]),
    ("uninstall 12.4 cudnn nccl", &["try: cudaup uninstall 12.4\n     cudaup remove cudnn nccl\n"]),
    ("env bash", &["try: cudaup env --shell bash\n"]),
    ("env --fish", &["try: cudaup env --shell fish\n"]),
    ("env 12.4 zsh", &["try: cudaup env --shell zsh 12.4\n"]),
    ("use cudnn@9.8", &["cuDNN is asked for beside a toolkit", "the line `cudnn = 9.8` below the version"]),
    ("use cudnn 9.8", &["the line `cudnn = 9.8` below the version"]),
    ("which --root 13.0", &["try: CUDAUP_VERSION=13.0 cudaup which --root\n"]),
    ("which nvcc 13.0", &["try: CUDAUP_VERSION=13.0 cudaup which nvcc\n"]),
    ("which --version 12.1 nvcc", &["try: CUDAUP_VERSION=12.1 cudaup which nvcc\n"]),
    ("which --version 12.1", &["try: CUDAUP_VERSION=12.1 cudaup which --root\n"]),
    ("which 13.0", &["try: CUDAUP_VERSION=13.0 cudaup which --root\n"]),
    ("root 13.0", &["try: CUDAUP_VERSION=13.0 cudaup which --root\n"]),
    ("install lts", &["no `lts`", "try: cudaup install latest\n"]),
    ("component add nvcc", &["cudaup install VERSION --components nvcc"]),
    ("completions bash", &["cudaup has no completions for shells yet\n"]),
    ("setup", &["cudaup init --write"]),
    ("set", &["cudaup use VERSION"]),
    ("config", &["config.toml"]),
    ("path", &["cudaup which --root"]),
    ("fetch 12.4", &["cudaup install 12.4", "cudaup mirror DIR 12.4"]),
    ("create -n x cuda=12.4", &["cudaup install 12.4", "cudaup use 12.4"]),
    ("reinstall 12.4", &["try: cudaup uninstall 12.4\n     cudaup install 12.4\n"]),
    ("self update", &["./install.sh"]),
    ("self uninstall", &["cudaup init --remove"]),
];

/// What is well formed here already, or nobody's habit, goes to the parser as it is.
const UNTOUCHED: &[&str] = &[
    "",
    "-V",
    "--help",
    "install 13.0",
    "install 13.0 --components nvcc,cudart",
    "install 12.4 --with nccl",
    "install 12.4 --with=nccl",
    "add cudnn",
    "add cudnn@9.8 --cuda 12",
    "add --from cudnn.tar.xz",
    "remove cudnn",
    "remove cudnn --cuda 12",
    "add cudnn --cuda 12",
    "remove cudnn@9.8 --force",
    "use 12.4",
    "use -y 12.4",
    "use --default 12.4",
    "uninstall 12.4",
    "exec -- nvcc -y",
    "exec 12.4 -- ls -y",
    "exec mine -- ls",
    "exec",
    "exec --help",
    "which nvcc",
    "which --root",
    "env",
    "env 12.4",
    "env --shell fish 12.4",
    "env --shell=fish",
    "env mine",
    "env --github",
    "list",
    "list 13",
    "list --remote 12",
    "cache",
    "cache clean",
    "add --from cudnn.tar.xz cudnn",
    "current",
    "frobnicate 12.4",
    "--color ls",
    "self",
];

#[test]
fn what_can_be_meant_works_with_its_arguments() {
    for (typed, meant) in MEANS {
        let words = shell_words::split(meant).unwrap().into_iter().map(OsString::from).collect();
        assert_eq!(habit_of(typed), Some(Habit::Means(words)), "{typed}");
    }
}

#[test]
fn what_means_something_else_is_answered_with_the_command() {
    for (typed, wanted) in SAYS {
        let Some(Habit::Says(text)) = habit_of(typed) else { panic!("{typed}: {:?}", habit_of(typed)) };
        let text = format!("{text}\n");
        assert!(wanted.iter().all(|w| text.contains(w)), "{typed}: {text}");
    }
}

#[test]
fn whose_choice_is_taken_back() {
    for (back, lines) in [
        (Back::Shell, &["deactivate", "shell --unset", "use --shell --unset", "use --shell none"][..]),
        (
            Back::Here,
            &["local --unset", "use none", "use off --pin", "local none", "override unset", "unuse"],
        ),
        (Back::ToDefault, &["use default", "local default"]),
        (Back::Default, &["use --default none", "default none"]),
    ] {
        for line in lines {
            assert_eq!(habit_of(line), Some(Habit::TakesBack(back)), "{line}");
        }
    }
}

#[test]
fn what_cudaup_has_is_left_alone() {
    for line in UNTOUCHED {
        assert_eq!(habit_of(line), None, "{line}");
    }
}

#[test]
fn only_commands_that_exist_are_named() {
    let after = [
        "",
        "12.4",
        "cudnn",
        "12.4 cudnn",
        "default 12.4",
        "bash",
        "nvcc -V",
        "--unset",
        "update",
        "-g 12.4",
    ];
    let words = HABITS.iter().flat_map(|(words, _)| *words);
    for line in words.flat_map(|word| after.map(|rest| format!("{word} {rest}"))) {
        let named: Vec<String> = match habit_of(&line) {
            Some(Habit::Means(meant)) => vec![meant[0].to_str().unwrap().to_owned()],
            Some(Habit::Says(text)) => {
                let commands = text.split_once("\ntry: ").map_or("", |(_, commands)| commands).lines();
                commands
                    .filter_map(|l| l.split_once("cudaup ")?.1.split(' ').next().map(str::to_owned))
                    .collect()
            }
            Some(Habit::TakesBack(_)) | None => vec![],
        };
        assert!(named.iter().all(|name| COMMANDS.contains(&name.as_str())), "{line} leads to {named:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_carried_over() {
    use std::os::unix::ffi::OsStringExt;
    let odd = OsString::from_vec(vec![b'1', b'2', 0xff]);
    let means = habit(&["switch".into(), odd.clone()]);
    assert_eq!(means, Some(Habit::Means(vec!["use".into(), odd.clone()])));
    assert_eq!(habit(&[odd]), None);
}
