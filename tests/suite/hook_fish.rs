//! The hook in fish: its status, its lists, its universal variables.

use crate::sandbox::said;
use crate::shell_driver::*;

fn fish(script: &str) -> Option<(Vec<String>, String)> {
    if !has("fish") {
        return None;
    }
    let at = machine();
    let script = format!("$CUDAUP init fish | source\n{script}").replace("NEW", "~/.cudaup/toolkits/12.4.1");
    let said = said(command(&at, "fish").args(["--no-config", "-c", &script]).output().unwrap());
    let home = at.user().display().to_string();
    Some((lines(&said.out).iter().map(|l| l.replace(&home, "~")).collect(), said.err))
}

#[test]
fn cd_keeps_its_status() {
    let Some(said) = fish("cd ~/q; echo $status; cd /nowhere 2>/dev/null; echo $status") else { return };
    assert_eq!(said, (vec!["0".to_owned(), "1".into()], String::new()));
}

#[test]
fn lists_are_lists_and_children_see_them_joined() {
    let script = "
        set -gx LD_LIBRARY_PATH /mine '' /other
        cd ~/q
        count $LD_LIBRARY_PATH; echo $PATH[1]; sh -c 'echo \"$LD_LIBRARY_PATH\"'
        cd ~/none
        count $LD_LIBRARY_PATH; sh -c 'echo \"$LD_LIBRARY_PATH\"'";
    let Some((out, err)) = fish(script) else { return };
    let root = "~/.cudaup/toolkits/12.4.1";
    let joined = format!("{root}/lib64:{root}/extras/CUPTI/lib64:/mine::/other");
    assert_eq!(out, ["5", &format!("{root}/bin"), &joined, "3", "/mine::/other"], "{err}");
}

#[test]
fn a_function_that_changes_directory_follows() {
    let script = "
        function visit; pushd ~/q; string match -q NEW/bin $PATH; and echo inside; popd; end
        visit; set -q CUDA_HOME; or echo outside
        begin; set -l PATH /usr/bin; cd ~/q; end; echo $CUDA_HOME";
    let Some((out, err)) = fish(script) else { return };
    assert_eq!(out, ["inside", "outside", "~/.cudaup/toolkits/12.4.1"], "{err}");
}
