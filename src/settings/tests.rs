//! Where indexes are found, on a made-up machine.

use super::*;
use std::fs;

/// A machine in a directory of its own: nothing of the real one is looked at.
fn host(root: &Path, vars: &[(&str, &str)]) -> Host {
    Host {
        vars: vars.iter().map(|(n, v)| (n.into(), v.into())).collect(),
        user_home: Some(root.join("home")),
        sysroot: Some(root.join("sys")),
        ..Host::bare()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn urls(found: &Indexes) -> Vec<&str> {
    found.places.iter().map(|p| p.url.as_str()).collect()
}

#[test]
fn nothing_set_means_pypi() {
    let root = tempfile::tempdir().unwrap();
    let found = indexes(&host(root.path(), &[])).unwrap();
    assert_eq!(urls(&found), [PYPI]);
    assert_eq!(found.places[0].project("nvidia-nvvm"), "https://pypi.org/simple/nvidia-nvvm/");
    assert!(found.notes.is_empty() && found.certificates.is_empty());
}

#[test]
fn each_place_gives_way_to_the_one_above_it() {
    let root = tempfile::tempdir().unwrap();
    let at = |path: &str| root.path().join(path);
    let venv = at("venv").display().to_string();
    let first = |vars: &[(&str, &str)]| indexes(&host(root.path(), vars)).unwrap().places[0].url.clone();
    let conf = |name: &str| format!("[global]\nindex-url = https://{name}/\n");

    write(&at("sys/etc/uv/uv.toml"), "index-url = 'https://uv-system'");
    assert_eq!(first(&[]), "https://uv-system");
    write(&at("home/.config/uv/uv.toml"), "index-url = 'https://uv-user'");
    assert_eq!(first(&[]), "https://uv-user");
    write(&at("sys/etc/pip.conf"), &conf("etc"));
    assert_eq!(first(&[]), "https://etc");
    write(&at("home/.pip/pip.conf"), &conf("old-user"));
    assert_eq!(first(&[]), "https://old-user");
    write(&at("home/.config/pip/pip.conf"), &conf("user"));
    assert_eq!(first(&[]), "https://user");
    write(&at("venv/pip.conf"), &conf("venv"));
    assert_eq!(first(&[("VIRTUAL_ENV", &venv)]), "https://venv");
    write(&at("mine.conf"), &conf("mine"));
    let mine = at("mine.conf").display().to_string();
    assert_eq!(first(&[("VIRTUAL_ENV", &venv), ("PIP_CONFIG_FILE", &mine)]), "https://mine");
    assert_eq!(first(&[("PIP_CONFIG_FILE", "/dev/null")]), "https://uv-user");
    assert_eq!(first(&[("UV_INDEX_URL", "https://c"), ("VIRTUAL_ENV", &venv)]), "https://c");
    assert_eq!(first(&[("UV_DEFAULT_INDEX", "corp=https://b"), ("UV_INDEX_URL", "https://c")]), "https://b");
    assert_eq!(
        first(&[("PIP_INDEX_URL", "https://a/simple/"), ("UV_DEFAULT_INDEX", "https://b")]),
        "https://a/simple"
    );
    assert_eq!(
        first(&[("XDG_CONFIG_HOME", &venv)]),
        "https://old-user",
        "the other configuration home has no file"
    );
}

#[test]
fn further_indexes_follow_once_each() {
    let root = tempfile::tempdir().unwrap();
    write(
        &root.path().join("sys/etc/pip.conf"),
        "[global]\nextra-index-url =\n  https://c\n  https://a/simple\n  file:///wheels\n",
    );
    let vars = [("PIP_INDEX_URL", "https://a/simple/"), ("UV_INDEX", "x=https://b https://c/")];
    let found = indexes(&host(root.path(), &vars)).unwrap();
    assert_eq!(urls(&found), ["https://a/simple", "https://b", "https://c"]);
    assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
    assert!(found.notes[0].contains("file:///wheels"));
}

#[test]
fn passwords_are_not_shown() {
    let place = place("https://me:p@ss/word@index.example/simple?token=x", "v");
    assert_eq!(place.unwrap().shown(), "https://index.example/simple");
    let place = super::place("https://me:secret@index.example:8443/simple/", "v").unwrap();
    assert_eq!(place.shown(), "https://index.example:8443/simple");
    let root = tempfile::tempdir().unwrap();
    for bad in ["ftp://me:secret@x/simple", "me:secret@x/simple", "ftp://me:#secret@x", "me:?://secret@x"] {
        let refusal = indexes(&host(root.path(), &[("PIP_INDEX_URL", bad)])).unwrap_err();
        assert!(
            refusal.message.contains("PIP_INDEX_URL") && !refusal.message.contains("secret"),
            "{refusal}"
        );
    }
}

#[test]
fn certificates_are_files_that_exist() {
    let root = tempfile::tempdir().unwrap();
    let pem = root.path().join("ca.pem");
    write(&pem, "");
    write(&root.path().join("sys/etc/pip.conf"), &format!("[global]\ncert = {}\n", pem.display()));
    let text = pem.display().to_string();
    let found =
        indexes(&host(root.path(), &[("SSL_CERT_FILE", &text), ("PIP_CERT", "/nowhere.pem")])).unwrap();
    assert_eq!(found.certificates, [pem]);
    assert!(found.notes.iter().any(|n| n.starts_with("PIP_CERT names /nowhere.pem")), "{:?}", found.notes);
}

#[test]
fn what_is_no_regular_file_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let root = tempfile::tempdir().unwrap();
    let fifo = |name: &str| {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        path.display().to_string()
    };
    let (uv, config) = (fifo("home/.config/uv/uv.toml"), fifo("config.toml"));
    let found = indexes(&host(root.path(), &[])).unwrap();
    assert_eq!(found.notes, [format!("could not read {uv}: it is no regular file")]);
    let failure = super::config(root.path()).unwrap_err();
    assert_eq!(failure.message, format!("could not read {config}: it is no regular file"));
    assert!(indexes(&host(root.path(), &[("UV_CONFIG_FILE", "/dev/null")])).unwrap().notes.is_empty());
}

#[test]
fn a_file_that_cannot_be_read_is_said() {
    let root = tempfile::tempdir().unwrap();
    write(&root.path().join("home/.config/uv/uv.toml"), "index-url = 3");
    fs::create_dir_all(root.path().join("sys/etc/pip.conf")).unwrap();
    let found = indexes(&host(root.path(), &[])).unwrap();
    assert_eq!(urls(&found), [PYPI]);
    assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
}

#[test]
fn a_debian_mirror_that_is_set_stands_above_apts() {
    let root = tempfile::tempdir().unwrap();
    let found = |vars: &[(&str, &str)], config: &Config| debian_mirrors(&host(root.path(), vars), config);
    assert_eq!(found(&[], &Config::default()).unwrap(), []);
    write(&root.path().join("sys/etc/apt/sources.list"), "deb http://a.example/debian bookworm main\n");
    let keys = root.path().join("sys/usr/share/keyrings/debian-archive-keyring.pgp");
    write(&keys, "");
    let one = |found: Result<Vec<Mirror>, Failure>| {
        let found = found.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].keys, std::slice::from_ref(&keys));
        (found[0].place.url.clone(), found[0].place.origin.clone())
    };
    let (url, origin) = one(found(&[], &Config::default()));
    assert!(url == "http://a.example/debian" && origin.ends_with("/etc/apt/sources.list"), "{origin}");
    let mut config = Config::default();
    config.debian.mirror = Some("http://b.example/debian/".into());
    let pair = |url: &str, origin: &str| (url.to_owned(), origin.to_owned());
    assert_eq!(one(found(&[], &config)), pair("http://b.example/debian", "config.toml"));
    let variable = [("CUDAUP_DEBIAN_MIRROR", "https://c.example/debian")];
    assert_eq!(one(found(&variable, &config)), pair("https://c.example/debian", "CUDAUP_DEBIAN_MIRROR"));
    let bad = found(&[("CUDAUP_DEBIAN_MIRROR", "c.example")], &config).unwrap_err();
    assert_eq!(bad.exit, Exit::Usage);
}
