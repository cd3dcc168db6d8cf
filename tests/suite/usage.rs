//! Command lines that cannot be read: what is said of them, the line to type, and the code.

use crate::sandbox::Sandbox;

const WRONG: [(&str, &str, &[&str]); 36] = [
    ("instlal 12.4", "cudaup has no command `instlal`; did you mean install?", &["install 12.4"]),
    ("xyzzy", "cudaup has no command `xyzzy`", &["--help"]),
    ("help instal", "cudaup has no command `instal`; did you mean install?", &["help install"]),
    ("cache claen", "cudaup cache has no command `claen`; did you mean clean?", &["cache clean"]),
    ("--jsn list", "cudaup list has no option --jsn; did you mean --json?", &["--json list"]),
    ("use --gobal 12.4", "cudaup use has no option --gobal; did you mean --global?", &["use --global 12.4"]),
    ("use -default 12", "cudaup use has no option -default; did you mean --default?", &["use --default 12"]),
    (
        "install --profle=full 12",
        "cudaup install has no option --profle; did you mean --profile?",
        &["install --profile=full 12"],
    ),
    ("list -x", "cudaup list has no option -x", &["list --help"]),
    ("use 12.4 13", "cudaup use takes VERSION and no more: `13` is too much", &["use 12.4"]),
    ("rehash x", "cudaup rehash takes no `x`", &["rehash"]),
    ("use", "cudaup use needs VERSION: 12, 12.4, 12.4.1, latest, system or a link's name", &["use VERSION"]),
    ("which", "cudaup which needs TOOL: a tool of the toolkit, such as nvcc", &["which TOOL"]),
    ("link", "cudaup link needs NAME and DIRECTORY", &["link NAME DIRECTORY"]),
    ("mirror d", "cudaup mirror needs VERSION: 12.4, 12.4.1 or latest", &["mirror d VERSION"]),
    ("exec", "cudaup exec needs CMD: the program and its arguments", &["exec -- CMD"]),
    ("exec 12.4", "cudaup exec needs CMD: the program and its arguments", &["exec 12.4 -- CMD"]),
    ("exec 12.4 --", "cudaup exec needs CMD: the program and its arguments", &["exec 12.4 -- CMD"]),
    ("use --undo", "cudaup use needs --global", &["use --undo --global"]),
    (
        "install --profile minimum 12",
        "`minimum` is no value of --profile (minimal, default, full); did you mean minimal?",
        &["install --profile minimal 12"],
    ),
    (
        "install --profile=minimum 12",
        "`minimum` is no value of --profile (minimal, default, full); did you mean minimal?",
        &["install --profile=minimal 12"],
    ),
    ("--color blue list", "`blue` is no value of --color (auto, always, never)", &["list --help"]),
    ("install --profile", "--profile needs a value: minimal, default, full", &["install --profile minimal"]),
    (
        "add cudnn --cuda",
        "--cuda needs a value: for this CUDA major, whatever toolkit applies here",
        &["add cudnn --cuda MAJOR"],
    ),
    (
        "env --shell --docker",
        "--shell needs a value: the shell that reads it, such as bash, fish or nushell; the one that runs cudaup where this is left out",
        &["env --shell SHELL --docker"],
    ),
    (
        "use --shell --default 12",
        "--shell and --default do not go together",
        &["use --default 12", "use --shell 12"],
    ),
    ("use --undo --global 12", "--undo and VERSION do not go together", &["use --global 12"]),
    ("which --root nvcc", "--root and TOOL do not go together", &["which nvcc"]),
    ("--quiet -v list", "--quiet and --verbose do not go together", &["-v list", "--quiet list"]),
    ("install --from a --source pypi", "--from and --source do not go together", &["install --help"]),
    ("use --pin --pin 12", "--pin is given twice", &["use --help"]),
    ("use --yes=1 12", "--yes takes no value, and `1` is given", &["use --yes 12"]),
    ("init bsh", "`bsh` is none of the shells known here: bash, zsh, fish, tcsh; did you mean bash?", &[]),
    (
        "env --shell fsh",
        "`fsh` is none of the shells known here: bash, zsh, fish, tcsh, sh, nushell, powershell, elvish, xonsh; did you mean fish?",
        &[],
    ),
    ("use 12,4", "`12,4` is no CUDA version; did you mean 12.4?", &["use 12.4"]),
    ("use 12.4.", "`12.4.` is no CUDA version; did you mean 12.4?", &["use 12.4"]),
];

#[test]
fn each_is_told_in_the_words_of_every_other_message() {
    let at = Sandbox::new();
    for (typed, message, next) in WRONG {
        let said = at.cudaup("p", &typed.split(' ').collect::<Vec<_>>());
        let lines: Vec<String> = next.iter().map(|line| format!("cudaup {line}")).collect();
        let tries =
            if lines.is_empty() { String::new() } else { format!("try: {}\n", lines.join("\n     ")) };
        assert_eq!(
            (said.err, said.out, said.code),
            (format!("error: {message}\n{tries}"), String::new(), Some(2)),
            "{typed}"
        );
    }
}

#[test]
fn help_that_is_asked_for_is_no_error() {
    let at = Sandbox::new();
    for typed in [&["--help"][..], &["use", "-h"], &["help", "use"], &["--version"]] {
        let said = at.cudaup("p", typed);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{typed:?}");
        assert!(said.out.contains("cudaup"), "{typed:?}");
    }
    let nothing = at.cudaup("p", &[]);
    assert!(nothing.code == Some(2) && nothing.err.contains("Usage: cudaup"), "{nothing:?}");
}

#[test]
fn the_json_of_an_error_is_the_same() {
    let at = Sandbox::new();
    let said = at.cudaup("p", &["list", "--remot", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["error"]["message"], "cudaup list has no option --remot; did you mean --remote?");
    assert_eq!(json["error"]["try"][0], "cudaup list --remote --json");
}
