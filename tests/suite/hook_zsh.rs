//! The hook in zsh: under the options that users set, and beside other functions at the prompt.

use crate::sandbox::said;
use crate::shell_driver::*;

const INIT: &str = "eval \"$(\"$CUDAUP\" init zsh)\"";

#[test]
fn options_of_the_user_change_nothing() {
    if !has("zsh") {
        return;
    }
    let at = machine();
    let (old, new) = (nvcc(&at, "11.8.0"), nvcc(&at, "12.4.1"));
    for setting in [
        "setopt ksh_arrays",
        "setopt sh_word_split glob_subst",
        "setopt no_nomatch extended_glob null_glob",
        "setopt no_unset err_exit",
        "setopt err_return pipe_fail",
        "setopt rc_quotes csh_junkie_quotes",
        "setopt no_clobber no_glob",
        "setopt warn_create_global warn_nested_var",
        "setopt ksh_typeset sh_nullcmd no_global_export",
        "IFS=_:/-",
        "typeset -U path",
        "alias cudaup=echo; alias -g q=Q",
        "emulate sh",
        "exec 3</dev/null",
    ] {
        for script in [format!("{setting}\n{INIT}"), format!("{INIT}\n{setting}")] {
            let script = format!(
                "{script}\ncd ~/p; whence -p nvcc; cd ~/'q/sub'; _cudaup_hook; whence -p nvcc; cd ~/none; echo ${{CUDA_HOME-unset}}"
            );
            let said = said(command(&at, "zsh").args(["-f", "-c", &script]).output().unwrap());
            let wanted = vec![old.clone(), new.clone(), "unset".to_owned()];
            assert_eq!((lines(&said.out), said.err.as_str()), (wanted, ""), "{script}");
        }
    }
}

#[test]
fn functions_at_the_prompt_go_on_and_see_the_status() {
    if !has("zsh") {
        return;
    }
    let at = machine();
    at.write("home/.zshrc", format!("PS1=; other() {{ echo \"$? $pipestatus\" }}\nprecmd_functions+=(other)\n{INIT}\n{INIT}\necho $precmd_functions, $chpwd_functions\n"));
    let fed = "(exit 7)\ncd ~/q\nfalse | true\nwhence -p nvcc\n";
    let mut zsh = command(&at, "zsh");
    zsh.args(["-i", "-o", "no_global_rcs"]).env("PS1", "");
    let file = at.write("fed", fed);
    zsh.stdin(std::fs::File::open(file).unwrap());
    let said = said(zsh.output().unwrap());
    let out: Vec<String> = lines(&said.out).into_iter().filter(|l| !l.is_empty()).collect();
    assert_eq!(out[0], "_cudaup_hook other, _cudaup_hook");
    let wanted = ["7 7", "0 0", "0 1 0", &nvcc(&at, "12.4.1")];
    assert!(wanted.iter().all(|w| out.iter().any(|l| l == w)), "{out:?}\n{}", said.err);
}

#[test]
fn a_subshell_follows_and_its_output_stays_clean() {
    if !has("zsh") {
        return;
    }
    let at = machine();
    let script = format!("{INIT}\ncd ~/p\nx=$(cd ~/q && whence -p nvcc); echo $x; whence -p nvcc");
    let said = said(command(&at, "zsh").args(["-f", "-c", &script]).output().unwrap());
    assert_eq!((lines(&said.out), said.err.as_str()), (vec![nvcc(&at, "12.4.1"), nvcc(&at, "11.8.0")], ""));
}

#[test]
fn what_the_hook_remembers_is_not_exported_where_all_else_is() {
    if !has("zsh") {
        return;
    }
    let at = machine();
    at.write("home/.cudaup/default", "11.8\n");
    let prompts = "for i in 1 2 3; do for f in $precmd_functions; do $f; done; done";
    for script in
        [format!("setopt allexport\n{INIT}"), format!("{INIT}\ncd ~/q; {prompts}\nsetopt allexport")]
    {
        let script = format!(
            "{script}\nX=1; cd ~/q; {prompts}; cudaup current >/dev/null; whence -p nvcc; env | grep -E '^(_cu|X=)'"
        );
        let said = said(command(&at, "zsh").args(["-f", "-c", &script]).output().unwrap());
        let wanted = vec![nvcc(&at, "12.4.1"), "X=1".to_owned()];
        assert_eq!((lines(&said.out), said.err.as_str()), (wanted, ""), "{script}");
    }
}
