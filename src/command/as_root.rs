//! Commands for a person to type with the rights that this process does not have. cudaup itself never calls sudo.

use crate::host::Host;
use std::path::Path;

/// What changes where things are looked up or loaded from, and is lost on the way through sudo.
const CARRIED: [&str; 4] = ["CUDAUP_SYSROOT", "CUDAUP_DIST_SERVER", "CUDAUP_DEBIAN_MIRROR", "CUDAUP_OFFLINE"];

/// `sudo` with this very program. `home` is named where the command depends on what the caller's home holds.
pub fn sudo(host: &Host, home: Option<&Path>, words: &[&str]) -> String {
    format!("sudo {}", own(host, home, words))
}

/// The same for whoever is in the place of root already: again through sudo, where that was the way.
pub fn again(host: &Host, words: &[&str]) -> String {
    if host.var("SUDO_UID").is_some() { sudo(host, None, words) } else { own(host, None, words) }
}

fn own(host: &Host, home: Option<&Path>, words: &[&str]) -> String {
    let mut variables: Vec<String> =
        home.map(|home| format!("CUDAUP_HOME={}", home.display())).into_iter().collect();
    for name in CARRIED {
        // An address can hold a password, which nobody is to read over a shoulder.
        variables.extend(host.text(name).filter(|v| !v.contains('@')).map(|v| format!("{name}={v}")));
    }
    let program = host.program.as_ref().map_or_else(|| "cudaup".into(), |p| p.to_string_lossy().into_owned());
    let env = (!variables.is_empty()).then(|| "env".to_owned());
    let words = words.iter().map(|w| (*w).to_owned());
    let all: Vec<String> = env.into_iter().chain(variables).chain([program]).chain(words).collect();
    shell_words::join(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_whole_and_keeps_secrets() {
        let mut host = Host { program: Some("/home/u/.cudaup/bin/cudaup".into()), ..Host::bare() };
        assert_eq!(
            sudo(&host, None, &["use", "--global", "12.4"]),
            "sudo /home/u/.cudaup/bin/cudaup use --global 12.4"
        );
        host.vars = vec![
            ("CUDAUP_SYSROOT".into(), "/mnt/an image".into()),
            ("CUDAUP_DIST_SERVER".into(), "http://user:word@host".into()),
        ];
        assert_eq!(
            sudo(&host, Some(Path::new("/home/u/.cudaup")), &["list"]),
            "sudo env CUDAUP_HOME=/home/u/.cudaup 'CUDAUP_SYSROOT=/mnt/an image' /home/u/.cudaup/bin/cudaup list"
        );
        host.vars = Vec::new();
        assert_eq!(again(&host, &["list"]), "/home/u/.cudaup/bin/cudaup list");
        host.vars = vec![("SUDO_UID".into(), "1000".into())];
        assert_eq!(again(&host, &["list"]), "sudo /home/u/.cudaup/bin/cudaup list");
    }
}
