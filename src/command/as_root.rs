//! Commands for a person to type with the rights that this process does not have. cudaup itself never calls sudo.

use crate::host::Host;
use std::borrow::Cow;
use std::path::Path;

/// What changes where things are looked up or loaded from, and is lost on the way through sudo.
const CARRIED: [&str; 4] = ["CUDAUP_SYSROOT", "CUDAUP_DIST_SERVER", "CUDAUP_DEBIAN_MIRROR", "CUDAUP_OFFLINE"];

/// What the way to a source goes by and only installing needs. By name: an address of a proxy or an index can hold a password.
const OF_THE_NETWORK: [&str; 22] = [
    "https_proxy",
    "HTTPS_PROXY",
    "http_proxy",
    "HTTP_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    "PIP_CONFIG_FILE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_CONFIG_FILE",
    "UV_NO_CONFIG",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
];

/// `sudo` with this very program. `home` is named where the command depends on what the caller's home holds.
pub fn sudo(host: &Host, home: Option<&Path>, words: &[&str]) -> String {
    let home = home.map(|home| ("CUDAUP_HOME", home.to_string_lossy()));
    sudo_with(host, home.as_slice(), words)
}

/// The same with these variables, which sudo would lose.
pub fn sudo_with(host: &Host, variables: &[(&str, Cow<'_, str>)], words: &[&str]) -> String {
    let kept = kept(host, words);
    let kept = if kept.is_empty() { kept } else { format!("--preserve-env={kept} ") };
    format!("sudo {kept}{}", own(host, variables, words))
}

/// The names of what sudo is to hand on by itself, between commas.
fn kept(host: &Host, words: &[&str]) -> String {
    if words.first() != Some(&"install") {
        return String::new();
    }
    let secret = CARRIED.iter().filter(|name| host.text(name).is_some_and(|value| value.contains('@')));
    let set = OF_THE_NETWORK.iter().filter(|name| host.var(name).is_some()).chain(secret);
    set.copied().collect::<Vec<_>>().join(",")
}

/// The same for whoever is in the place of root already: again through sudo, where that was the way.
pub fn again(host: &Host, words: &[&str]) -> String {
    if host.var("SUDO_UID").is_some() { sudo(host, None, words) } else { own(host, &[], words) }
}

fn own(host: &Host, named: &[(&str, Cow<'_, str>)], words: &[&str]) -> String {
    // An address can hold a password, which nobody is to read over a shoulder.
    let carried = CARRIED.iter().filter_map(|name| Some((*name, Cow::Borrowed(host.text(name)?))));
    let variables = named.iter().cloned().chain(carried.filter(|(_, value)| !value.contains('@')));
    let mut line: Vec<String> =
        variables.map(|(name, value)| format!("{name}={}", shell_words::quote(&value))).collect();
    if !line.is_empty() {
        line.insert(0, "env".to_owned());
    }
    let program = host.program.as_ref().map_or_else(|| "cudaup".into(), |p| p.to_string_lossy());
    line.push(shell_words::quote(&program).into_owned());
    line.extend(words.iter().map(|word| shell_words::quote(word).into_owned()));
    line.join(" ")
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
            "sudo env CUDAUP_HOME=/home/u/.cudaup CUDAUP_SYSROOT='/mnt/an image' /home/u/.cudaup/bin/cudaup list"
        );
        host.vars.extend([("HTTPS_PROXY".into(), "http://u:w@proxy".into()), ("NO_PROXY".into(), "".into())]);
        host.vars.push(("PIP_INDEX_URL".into(), "https://index".into()));
        // Only installing asks the network.
        assert!(sudo(&host, None, &["use", "--global", "12"]).starts_with("sudo env CUDAUP_SYSROOT="));
        assert_eq!(
            sudo(&host, None, &["install", "--system", "12.4"]),
            "sudo --preserve-env=HTTPS_PROXY,PIP_INDEX_URL,CUDAUP_DIST_SERVER env CUDAUP_SYSROOT='/mnt/an image' /home/u/.cudaup/bin/cudaup install --system 12.4"
        );
        host.vars = Vec::new();
        assert_eq!(again(&host, &["list"]), "/home/u/.cudaup/bin/cudaup list");
        host.vars = vec![("SUDO_UID".into(), "1000".into())];
        assert_eq!(again(&host, &["list"]), "sudo /home/u/.cudaup/bin/cudaup list");
    }
}
