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
        "doctor",
        "install 13.0 --cudnn",
        "install cuda",
        "activate",
        "activate 12.4",
        "alias old 11.8",
        "self uninstall",
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
