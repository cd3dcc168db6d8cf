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

/// What a function has exported for itself alone is no value of the shell's.
#[test]
fn a_functions_own_variables_stay_its_own() {
    let script = "
        set -gx PATH /my/own /usr/bin /bin
        set -gx CPATH /my/include
        set -l before $PATH
        function inside; set -lx PATH /usr/bin /bin; set -lx CPATH /theirs; set -lx CUDAUP_VERSION 11.8; cd ~/q; echo $PATH; echo $CPATH; end
        inside
        echo $CUDA_HOME; string match -- NEW/bin $PATH; string match -- /my/own $PATH; echo $CPATH
        emit fish_prompt; echo $CUDA_HOME; echo $CPATH
        function back; set -lx PATH /usr/bin /bin; set -lx CPATH /theirs; cd ~/none; end
        back
        set -q CUDA_HOME; or echo outside
        string match -v '*/shims' -- $PATH | string join ' '; echo $CPATH";
    let Some((out, err)) = fish(script) else { return };
    let root = "~/.cudaup/toolkits/12.4.1";
    let (bin, include) = (format!("{root}/bin"), format!("{root}/include /my/include"));
    let wanted = [
        "/usr/bin /bin",
        "/theirs",
        root,
        &bin,
        "/my/own",
        &include,
        root,
        &include,
        "outside",
        "/my/own /usr/bin /bin",
        "/my/include",
    ];
    assert_eq!((out, err.as_str()), (wanted.map(str::to_owned).to_vec(), ""));
}

/// The start of a shell answers for the moment of `init`; what the start file does after it counts at the first prompt.
#[test]
fn what_a_start_file_does_after_init_is_seen_at_the_first_prompt() {
    let prompt = "emit fish_prompt; set -q CUDA_HOME; and echo $CUDA_HOME; or echo outside";
    let after = [
        ("set -gx CUDAUP_VERSION 12.4", "~/.cudaup/toolkits/12.4.1"),
        ("cd ~/q", "~/.cudaup/toolkits/12.4.1"),
        ("cd ~/q; cd ~/none", "outside"),
        ("echo 12.4 >~/none/.cuda-version; cudaup current >/dev/null; rm ~/none/.cuda-version", "outside"),
        ("cd ~/none; cudaup use 12.4 >/dev/null 2>&1", "~/.cudaup/toolkits/12.4.1"),
    ];
    for (line, then) in after {
        let Some((out, err)) = fish(&format!("{line}\n{prompt}")) else { return };
        assert_eq!(out, [then], "{line}: {err}");
    }
}
