//! What stands in which start file: the line that puts the shims first, for whatever has no hook, and the hook's own.

use super::Dialect;
use super::rc::{Block, Place};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whose start files a shell reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// bash, and the one login file that it reads first.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// tcsh, which reads the first of two.
    Tcsh,
    /// None that is written to.
    Other,
}

/// Where things are for this user.
#[derive(Clone, Debug)]
pub struct Places {
    /// The user's home directory.
    pub user_home: PathBuf,
    /// The cudaup home.
    pub home: PathBuf,
    /// The program that the hook's line starts.
    pub program: PathBuf,
    /// `ZDOTDIR`.
    pub zdotdir: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub config: Option<PathBuf>,
}

/// A start file and what belongs into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The file.
    pub file: PathBuf,
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// When the shell reads the file.
    pub read_by: &'static str,
}

/// The files to write for a shell. `read` gives what is in a file.
pub fn wanted(dialect: &Dialect, places: &Places, read: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Vec<Wanted> {
    let shims = Block { name: "shims", body: shims_lines(dialect, places), place: Place::Top };
    let hook = Block { name: "hook", body: hook_lines(dialect, places), place: Place::End };
    match dialect.start {
        Start::Bash => {
            let [rc, logins @ ..] = bash_files(places);
            let login = logins.iter().find(|f| read(f).is_some()).or(logins.last());
            // bash reads ~/.bashrc in a login shell only where the login file does so; without that it takes the hook here.
            let passes = |f: &PathBuf| read(f).is_some_and(|text| contains(&text, b"bashrc"));
            let login = login.map(|file| {
                let both = if passes(file) { vec![] } else { vec![hook.clone()] };
                Wanted {
                    file: file.clone(),
                    blocks: [vec![shims.clone()], both].concat(),
                    read_by: "login shells, and what they start",
                }
            });
            let rc =
                Wanted { file: rc, blocks: vec![shims, hook], read_by: "terminals, and `ssh host command`" };
            std::iter::once(rc).chain(login).collect()
        }
        Start::Zsh => {
            let [own_env, own_rc, home_env, _] = zsh_files(places);
            // A ~/.zshenv that sets ZDOTDIR is read before the one that lies there.
            let env = if read(&own_env).is_none() && read(&home_env).is_some() { home_env } else { own_env };
            vec![
                Wanted {
                    file: env,
                    blocks: vec![shims],
                    read_by: "every zsh, scripts and `ssh host command` too",
                },
                Wanted { file: own_rc, blocks: vec![hook], read_by: "terminals" },
            ]
        }
        Start::Fish => {
            let [early, late] = fish_files(places);
            vec![
                Wanted {
                    file: early,
                    blocks: vec![shims],
                    read_by: "every fish, scripts and `ssh host command` too",
                },
                Wanted { file: late, blocks: vec![hook], read_by: "every fish, last; it acts in terminals" },
            ]
        }
        Start::Tcsh => {
            let [own, csh] = tcsh_files(places);
            // tcsh reads no ~/.cshrc where there is a ~/.tcshrc.
            let file = if read(&own).is_none() && read(&csh).is_some() { csh } else { own };
            vec![Wanted {
                file,
                blocks: vec![shims, hook],
                read_by: "every tcsh, scripts and `ssh host command` too; the hook acts in terminals",
            }]
        }
        Start::Other => Vec::new(),
    }
}

/// All files that can hold blocks of a shell.
pub fn files(dialect: &Dialect, places: &Places) -> Vec<PathBuf> {
    match dialect.start {
        Start::Bash => bash_files(places).into(),
        Start::Zsh => zsh_files(places).into(),
        Start::Fish => fish_files(places).into(),
        Start::Tcsh => tcsh_files(places).into(),
        Start::Other => Vec::new(),
    }
}

fn bash_files(places: &Places) -> [PathBuf; 4] {
    [".bashrc", ".bash_profile", ".bash_login", ".profile"].map(|name| places.user_home.join(name))
}

fn zsh_files(places: &Places) -> [PathBuf; 4] {
    let own = places.zdotdir.as_ref().unwrap_or(&places.user_home);
    [
        own.join(".zshenv"),
        own.join(".zshrc"),
        places.user_home.join(".zshenv"),
        places.user_home.join(".zshrc"),
    ]
}

fn fish_files(places: &Places) -> [PathBuf; 2] {
    let config = places.config.clone().unwrap_or_else(|| places.user_home.join(".config")).join("fish");
    [config.join("conf.d/cudaup.fish"), config.join("config.fish")]
}

fn tcsh_files(places: &Places) -> [PathBuf; 2] {
    [".tcshrc", ".cshrc"].map(|name| places.user_home.join(name))
}

/// The line that a person can put into a start file.
pub fn hook_line(dialect: &Dialect, places: &Places) -> Vec<u8> {
    let (program, name) = (word(dialect, places, &places.program), dialect.name().as_bytes());
    match dialect.start {
        Start::Fish => [&program[..], b" init ", name, b" | source"].concat(),
        // A quote within the quotes of a substitution would end those; in an alias it does not stand there.
        Start::Tcsh => {
            let asks = [&program[..], b" init ", name].concat();
            let plain = !asks.iter().any(|b| b"'!\\".contains(b));
            let asks = if plain { [b"'", &asks[..], b"'"].concat() } else { dialect.quote(asks) };
            [b"alias _cudaup_init ", &asks[..], b" ; eval \"`_cudaup_init`\""].concat()
        }
        _ => [b"eval \"$(", &program[..], b" init ", name, b")\""].concat(),
    }
}

/// The same, for files that are read when the program may be gone, and without a prompt too: there the shims serve, which
/// follow each `cd`.
fn hook_lines(dialect: &Dialect, places: &Places) -> Vec<u8> {
    let (program, line) = (word(dialect, places, &places.program), hook_line(dialect, places));
    let [before, between, after]: [&[u8]; 3] = match dialect.start {
        Start::Fish => [b"if status is-interactive; and test -x ", b"\n    ", b"\nend\n"],
        // A ~/.cshrc may be another csh's too.
        Start::Tcsh => [b"if ($?tcsh && $?prompt && -x ", b") then\n    ", b"\nendif\n"],
        // A login file may be another shell's too.
        Start::Bash => [b"case ${BASH_VERSION:+bash}$- in bash*i*) [ ! -x ", b" ] || ", b" ;; esac\n"],
        _ => [b"[ ! -x ", b" ] || ", b"\n"],
    };
    [before, &program, between, &line, after].concat()
}

/// The lines that put the shims first, for sh, bash and zsh, for fish or for tcsh. What is in PATH already stays where it is: an
/// active hook put it there.
pub fn shims_lines(dialect: &Dialect, places: &Places) -> Vec<u8> {
    let mut entries = vec![word(dialect, places, &places.home.join("shims"))];
    let bin = places.home.join("bin");
    if places.program.parent() == Some(&bin) {
        entries.push(word(dialect, places, &bin));
    }
    let usual = places.home == places.user_home.join(".cudaup");
    let home = if usual { Vec::new() } else { dialect.set("CUDAUP_HOME", places.home.as_os_str()) };
    let shims = entries.first().cloned().unwrap_or_default();
    let [test, then, separator, end]: [&[u8]; 4] = match dialect.start {
        Start::Fish => [b"if not contains -- ", b" $PATH\n    set -gx PATH ", b" ", b" $PATH\nend\n"],
        // Without a PATH csh would stop at the test.
        Start::Tcsh => [
            b"if (! $?PATH) setenv PATH /usr/bin:/bin\nif (:${PATH:q}: !~ *:",
            b":*) setenv PATH ",
            b":",
            b":${PATH:q}\n",
        ],
        _ => {
            [b"case \":${PATH-}:\" in *:", b":*) ;; *) export PATH=", b":", b"\"${PATH:+:$PATH}\" ;; esac\n"]
        }
    };
    let path = [test, &shims, then, &entries.join(separator), end].concat();
    [home, path].concat()
}

/// A path as one word, with `$HOME` in it where it lies there, so that a start file can be shared between machines.
fn word(dialect: &Dialect, places: &Places, path: &Path) -> Vec<u8> {
    let Ok(rest) = path.strip_prefix(&places.user_home) else {
        return dialect.quote(path.as_os_str().as_bytes());
    };
    let rest = rest.as_os_str().as_bytes();
    if rest.iter().all(|b| b.is_ascii_alphanumeric() || b"/._-+".contains(b)) {
        [b"\"$HOME/", rest, b"\""].concat()
    } else {
        [b"\"$HOME\"/", &dialect.quote(rest)[..]].concat()
    }
}

fn contains(text: &[u8], what: &[u8]) -> bool {
    text.windows(what.len()).any(|w| w == what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::dialect;

    fn places() -> Places {
        Places {
            user_home: "/home/u".into(),
            home: "/home/u/.cudaup".into(),
            program: "/home/u/.cudaup/bin/cudaup".into(),
            zdotdir: None,
            config: None,
        }
    }

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).unwrap()
    }

    fn shape(shell: &str, places: &Places, there: &[(&str, &str)]) -> Vec<String> {
        let read = |path: &Path| {
            there.iter().find(|(p, _)| Path::new(p) == path).map(|(_, text)| text.as_bytes().to_vec())
        };
        wanted(dialect(shell).unwrap(), places, &read)
            .iter()
            .map(|w| {
                format!(
                    "{} {}",
                    w.file.display(),
                    w.blocks.iter().map(|b| b.name).collect::<Vec<_>>().join("+")
                )
            })
            .collect()
    }

    #[test]
    fn the_login_file_is_the_one_that_bash_reads() {
        let at = |there: &[(&str, &str)]| shape("bash", &places(), there);
        assert_eq!(at(&[]), ["/home/u/.bashrc shims+hook", "/home/u/.profile shims+hook"]);
        let sources = ". ~/.bashrc\n";
        assert_eq!(at(&[("/home/u/.profile", sources)])[1], "/home/u/.profile shims");
        let both = [("/home/u/.profile", sources), ("/home/u/.bash_login", "umask 022\n")];
        assert_eq!(at(&both)[1], "/home/u/.bash_login shims+hook");
        let first = [("/home/u/.bash_login", ""), ("/home/u/.bash_profile", sources)];
        assert_eq!(at(&first)[1], "/home/u/.bash_profile shims");
    }

    #[test]
    fn zsh_files_lie_where_zsh_looks() {
        assert_eq!(shape("zsh", &places(), &[]), ["/home/u/.zshenv shims", "/home/u/.zshrc hook"]);
        let moved = Places { zdotdir: Some("/home/u/.config/zsh".into()), ..places() };
        assert_eq!(
            shape("zsh", &moved, &[]),
            ["/home/u/.config/zsh/.zshenv shims", "/home/u/.config/zsh/.zshrc hook"]
        );
        assert_eq!(shape("zsh", &moved, &[("/home/u/.zshenv", "")])[0], "/home/u/.zshenv shims");
    }

    #[test]
    fn fish_files_follow_the_configuration_directory() {
        let moved = Places { config: Some("/c".into()), ..places() };
        assert_eq!(
            shape("fish", &moved, &[]),
            ["/c/fish/conf.d/cudaup.fish shims", "/c/fish/config.fish hook"]
        );
    }

    #[test]
    fn tcsh_reads_one_of_two_files() {
        let both = "shims+hook";
        assert_eq!(shape("tcsh", &places(), &[]), [format!("/home/u/.tcshrc {both}")]);
        let csh = ("/home/u/.cshrc", "");
        assert_eq!(shape("tcsh", &places(), &[csh]), [format!("/home/u/.cshrc {both}")]);
        let own = ("/home/u/.tcshrc", "");
        assert_eq!(shape("tcsh", &places(), &[csh, own]), [format!("/home/u/.tcshrc {both}")]);
        assert_eq!(
            text(&hook_line(dialect("tcsh").unwrap(), &places())),
            "alias _cudaup_init '\"$HOME/.cudaup/bin/cudaup\" init tcsh' ; eval \"`_cudaup_init`\""
        );
        let odd = Places { program: "/home/u/it's/cudaup".into(), ..places() };
        assert_eq!(
            text(&hook_lines(dialect("tcsh").unwrap(), &odd)),
            "if ($?tcsh && $?prompt && -x \"$HOME\"/it\\'s/cudaup) then\n    alias _cudaup_init \\\"\\$HOME\\\"/it\\\\\\'s/cudaup\\ init\\ tcsh ; eval \"`_cudaup_init`\"\nendif\n"
        );
    }

    #[test]
    fn lines_name_the_home_by_its_variable() {
        let bash = dialect("bash").unwrap();
        assert_eq!(text(&hook_line(bash, &places())), r#"eval "$("$HOME/.cudaup/bin/cudaup" init bash)""#);
        assert_eq!(
            text(&shims_lines(bash, &places())),
            "case \":${PATH-}:\" in *:\"$HOME/.cudaup/shims\":*) ;; *) export PATH=\"$HOME/.cudaup/shims\":\"$HOME/.cudaup/bin\"\"${PATH:+:$PATH}\" ;; esac\n"
        );
        let elsewhere =
            Places { home: "/opt/my cudaup".into(), program: "/usr/bin/cudaup".into(), ..places() };
        assert_eq!(
            text(&shims_lines(dialect("fish").unwrap(), &elsewhere)),
            "set -gx CUDAUP_HOME '/opt/my cudaup'\nif not contains -- '/opt/my cudaup/shims' $PATH\n    set -gx PATH '/opt/my cudaup/shims' $PATH\nend\n"
        );
        let odd = Places { program: "/home/u/it's/cudaup".into(), ..places() };
        assert_eq!(text(&hook_line(bash, &odd)), r#"eval "$("$HOME"/'it'\''s/cudaup' init bash)""#);
    }
}
