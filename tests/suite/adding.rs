//! `cudaup add`, `remove` and `install --with` as processes, against a server that is laid out like NVIDIA's.

use crate::net::fault_server::{Answer, FaultServer};
use crate::sandbox::{Said, Sandbox, said};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const TREE: &str = "/compute/cudnn/redist/";

/// A machine with CUDA 11.8 and 12.4, and a server with cuDNN 8.9.7 and 9.1.1 for both majors, 9.14.0 for 12 and 13.
struct Place {
    at: Sandbox,
    server: FaultServer,
}

impl Place {
    fn new() -> Self {
        let at = Sandbox::new();
        at.managed("12.4.1");
        at.toolkit("usr/local/cuda-11.8", "11.8.0");
        at.write("old/.cuda-version", "11.8\ncudnn = 8.9\n");
        at.write("new/.cuda-version", "12.4\n# the network\ncudnn = 9\n");
        let server = FaultServer::start();
        let releases: [(&str, &str, &[u32]); 3] = [
            ("8.9.7", "8.9.7.29", &[11, 12]),
            ("9.1.1", "9.1.1.17", &[11, 12]),
            ("9.14.0", "9.14.0.64", &[12, 13]),
        ];
        let mut page = String::new();
        for (label, version, majors) in releases {
            let leaves: Vec<String> = majors.iter().map(|major| leaf(&server, version, *major)).collect();
            let manifest = format!(
                r#"{{"release_date": "2024-03-15", "cudnn": {{"name": "x", "license": "cudnn", "version": "{version}",
                "linux-x86_64": {{{0}}}, "linux-sbsa": {{{0}}}}}}}"#,
                leaves.join(", ")
            );
            server.file(&format!("{TREE}redistrib_{label}.json"), manifest.as_bytes());
            page.push_str(&format!("<a href='redistrib_{label}.json'>x</a>\n"));
        }
        server.file(TREE, page.as_bytes());
        Self { at, server }
    }

    fn command(&self, directory: &str, arguments: &[&str]) -> Command {
        let mut command = self.at.command(self.at.home().join("bin/cudaup"), directory);
        command.env("CUDAUP_DIST_SERVER", self.server.url("")).env("NO_PROXY", "127.0.0.1");
        command.env("PIP_INDEX_URL", self.server.url("/simple")).args(arguments);
        command
    }

    fn cudaup(&self, directory: &str, arguments: &[&str]) -> Said {
        said(self.command(directory, arguments).output().unwrap())
    }

    fn addons(&self) -> Vec<String> {
        let folder = self.at.home().join("addons/cudnn");
        let mut names: Vec<String> = fs::read_dir(folder)
            .map(|entries| entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect())
            .unwrap_or_default();
        names.sort();
        names
    }

    fn staged(&self) -> usize {
        fs::read_dir(self.at.home().join("staging")).map_or(0, Iterator::count)
    }
}

fn path(version: &str, major: u32) -> String {
    format!("{TREE}cudnn/cudnn-linux-x86_64-{version}_cuda{major}-archive.tar.xz")
}

/// Puts an archive on the server and gives its row of a manifest.
fn leaf(server: &FaultServer, version: &str, major: u32) -> String {
    let bytes = archive(version, &format!("cudnn-linux-x86_64-{version}_cuda{major}-archive"), "lib");
    let path = path(version, major);
    server.file(&path, &bytes);
    let sha256 = Sha256::digest(&bytes).iter().fold(String::new(), |text, b| format!("{text}{b:02x}"));
    let relative = path.strip_prefix(TREE).unwrap();
    let size = bytes.len();
    format!(r#""cuda{major}": {{"relative_path": "{relative}", "sha256": "{sha256}", "size": "{size}"}}"#)
}

/// A tar.xz of a cuDNN with one library and the links to it.
fn archive(version: &str, top: &str, lib: &str) -> Vec<u8> {
    let numbers: Vec<&str> = version.split('.').collect();
    let defines = ["CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"];
    let header: String =
        defines.iter().zip(&numbers).map(|(name, n)| format!("#define {name} {n}  \n")).collect();
    let mut tar = tar::Builder::new(Vec::new());
    let mut file = |name: &str, text: &str| {
        let mut head = tar::Header::new_gnu();
        head.set_size(text.len() as u64);
        head.set_mode(0o444);
        tar.append_data(&mut head, format!("{top}/{name}"), text.as_bytes()).unwrap();
    };
    file("LICENSE", "the licence\n");
    file("include/cudnn.h", "#include \"cudnn_version.h\"\n");
    file("include/cudnn_version.h", &header);
    file(&format!("{lib}/libcudnn.so.{}", numbers[..3].join(".")), &format!("not really, but {version}\n"));
    for (link, to) in [
        (format!("libcudnn.so.{}", numbers[0]), format!("libcudnn.so.{}", numbers[..3].join("."))),
        ("libcudnn.so".to_owned(), format!("libcudnn.so.{}", numbers[0])),
    ] {
        let mut head = tar::Header::new_gnu();
        head.set_entry_type(tar::EntryType::Symlink);
        head.set_size(0);
        tar.append_link(&mut head, format!("{top}/{lib}/{link}"), to).unwrap();
    }
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(&tar.into_inner().unwrap()).unwrap();
    xz.finish().unwrap()
}

#[test]
fn what_a_version_file_asks_for_is_installed_with_its_add_ons() {
    let place = Place::new();
    let before = place.cudaup("old", &["current"]);
    assert_eq!(before.code, Some(3), "{}", before.err);
    assert!(before.err.contains("try: cudaup add cudnn@8.9\n"), "{}", before.err);
    let said = place.cudaup("old", &["install"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("11.8.0 is on this machine"), "{}", said.out);
    assert_eq!(place.addons(), ["8.9.7.29-cuda11"]);
    let root = place.at.home().join("addons/cudnn/8.9.7.29-cuda11");
    let link = |name: &str| fs::read_link(root.join(name)).unwrap();
    assert_eq!(link("lib/libcudnn.so"), Path::new("libcudnn.so.8"));
    assert_eq!(link("lib/libcudnn.so.8"), Path::new("libcudnn.so.8.9.7"));
    assert_eq!(link("lib64"), Path::new("lib"));
    assert_eq!(fs::read_to_string(root.join("LICENSE")).unwrap(), "the licence\n");
    let current = place.cudaup("old", &["current"]);
    assert_eq!(current.code, Some(0), "{}", current.err);
    assert!(current.out.contains("  cudnn 8.9.7.29  "), "{}", current.out);
    let listed = place.cudaup("old", &["list", "--json"]);
    assert!(listed.out.contains("\"8.9.7.29\"") && listed.out.contains("\"chosen\": true"), "{}", listed.out);

    let again = place.cudaup("old", &["add", "cudnn@8.9"]);
    assert_eq!((again.code, again.err.as_str()), (Some(0), ""), "nothing to do needs no network");
    assert!(again.out.starts_with("cudnn 8.9.7.29 for CUDA 11 is installed: "), "{}", again.out);
    assert_eq!(place.server.count(&path("8.9.7.29", 11)), 1);
    let offline = place.cudaup("new", &["add", "cudnn", "--offline"]);
    assert_eq!((offline.code, place.addons().len()), (Some(4), 1), "{}", offline.err);
}

#[test]
fn one_server_and_two_toolkits() {
    let place = Place::new();
    let said = place.cudaup("new", &["add", "cudnn"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.starts_with("installed cudnn 9.14.0.64 for CUDA 12 in "), "{}", said.out);
    assert!(!said.out.contains("next:"), "the version file names it: {}", said.out);
    let with = place.cudaup("elsewhere", &["install", "11.8", "12.4", "--with", "cudnn=9.1", "--json"]);
    assert_eq!(with.code, Some(0), "{}", with.err);
    assert_eq!(place.addons(), ["9.1.1.17-cuda11", "9.1.1.17-cuda12", "9.14.0.64-cuda12"]);
    let refused = place.cudaup("old", &["add", "cudnn@9.14", "--source", "nvidia"]);
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    assert!(
        refused.err.starts_with(
            "error: nvidia has no cudnn 9.14 for CUDA 11; its newest for CUDA 11 is 9.1.1.17\n\
             try: cudaup add cudnn@9.1 --cuda 11\n"
        ),
        "{}",
        refused.err
    );
    let dry = place.cudaup("old", &["add", "cudnn@8", "--dry-run"]);
    assert_eq!((dry.code, place.addons().len()), (Some(0), 3));
    assert!(dry.out.contains("cudnn 8.9.7.29 for CUDA 11, from nvidia: "), "{}", dry.out);
}

#[test]
fn what_is_in_use_is_not_removed_by_a_slip() {
    let place = Place::new();
    for arguments in [&["add", "cudnn@9"][..], &["add", "cudnn@9.1"], &["add", "cudnn@8.9", "--cuda", "11"]] {
        assert_eq!(place.cudaup("new", arguments).code, Some(0));
    }
    let many = place.cudaup("new", &["remove", "cudnn"]);
    assert_eq!(many.code, Some(2));
    assert!(
        many.err.contains(
            "try: cudaup remove cudnn@9.14.0.64-cuda12\n     cudaup remove cudnn@9.1.1.17-cuda12\n"
        ),
        "{}",
        many.err
    );
    let wanted = place.cudaup("new", &["remove", "cudnn@9.14"]);
    assert_eq!((wanted.code, place.addons().len()), (Some(1), 3), "{}", wanted.err);
    assert!(wanted.err.contains("try: cudaup remove --force cudnn@9.14.0.64-cuda12"), "{}", wanted.err);
    let forced = place.cudaup("new", &["remove", "--force", "cudnn@9.14.0.64-cuda12", "cudnn@8"]);
    assert_eq!(forced.code, Some(0), "{}", forced.err);
    assert!(forced.out.starts_with("removed cudnn 9.14.0.64 for CUDA 12, "), "{}", forced.out);
    assert_eq!((place.addons(), place.staged()), (vec!["9.1.1.17-cuda12".to_owned()], 0));
    let other = place.cudaup("new", &["remove", "cudnn@9.14"]);
    assert_eq!(other.code, Some(3));
    assert!(other.err.contains("installed: 9.1.1.17 for CUDA 12"), "{}", other.err);
    fs::remove_file(place.at.home().join("addons/cudnn/9.1.1.17-cuda12/receipt.json")).unwrap();
    let foreign = place.cudaup("old", &["remove", "cudnn@9.1"]);
    assert!(foreign.err.contains("was not put there by cudaup"), "{}", foreign.err);
}

#[test]
fn bad_bytes_and_broken_lines_leave_nothing_half_done() {
    let place = Place::new();
    let file = path("9.14.0.64", 12);
    place.server.next(&file, &[Answer::Wrong, Answer::Wrong, Answer::Wrong, Answer::Wrong]);
    let wrong = place.cudaup("new", &["add", "cudnn"]);
    assert_eq!((wrong.code, place.addons().len(), place.staged()), (Some(5), 0, 0), "{}", wrong.err);
    place.server.next(&file, &[Answer::Cut(100)]);
    let mended = place.cudaup("new", &["add", "cudnn"]);
    assert_eq!(
        (mended.code, place.addons()),
        (Some(0), vec!["9.14.0.64-cuda12".to_owned()]),
        "{}",
        mended.err
    );
    let absent = path("9.1.1.17", 12);
    place.server.next(&absent, &vec![Answer::Status(404, ""); 8]);
    let lagging = place.cudaup("new", &["add", "cudnn@9.1"]);
    assert_eq!((lagging.code, place.addons().len(), place.staged()), (Some(4), 1, 0), "{}", lagging.err);
}

#[test]
fn two_at_once_make_one() {
    let place = Place::new();
    let start = || {
        let mut command = place.command("new", &["add", "cudnn"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start()].map(|child| said(child.wait_with_output().unwrap()));
    for one in &both {
        assert_eq!(one.code, Some(0), "{}", one.err);
    }
    assert_eq!((place.addons(), place.staged()), (vec!["9.14.0.64-cuda12".to_owned()], 0));
}

#[test]
fn an_archive_of_ones_own() {
    let place = Place::new();
    let name = "cudnn-linux-x86_64-8.9.7.29_cuda12-archive";
    let file = place.at.write(&format!("old/{name}.tar.xz"), archive("8.9.7.29", name, "lib"));
    let said = place.cudaup("old", &["add", "--from", &format!("{name}.tar.xz"), "--offline"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(place.addons(), ["8.9.7.29-cuda12"], "an archive says itself what it is for");
    assert!(file.is_file(), "it is the user's");
    let lie = "cudnn-linux-x86_64-8.9.6.50_cuda12-archive.tar.xz";
    fs::copy(&file, place.at.path(&format!("old/{lie}"))).unwrap();
    let wrong = place.cudaup("old", &["add", "--from", lie]);
    assert_eq!((wrong.code, place.addons().len(), place.staged()), (Some(5), 1, 0));
    assert!(wrong.err.contains("is taken for 8.9.6.50, and its header says 8.9.7"), "{}", wrong.err);
    let older = archive("8.2.1.32", "cuda", "lib64");
    place.at.write("old/mine.tar.xz", older);
    let said = place.cudaup("old", &["add", "cudnn@8.2.1", "--from", "mine.tar.xz"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(place.addons(), ["8.2.1-cuda11", "8.9.7.29-cuda12"], "for the toolkit that applies here");
    let root = place.at.home().join("addons/cudnn/8.2.1-cuda11");
    assert!(root.join("lib/libcudnn.so").exists() && root.join("lib64/libcudnn.so.8").exists());
}

#[test]
fn an_address_gives_its_own_bytes_and_wrong_ones_are_asked_for_again() {
    let place = Place::new();
    place.at.write("home/.cudaup/config.toml", "[cache]\nkeep = true\n");
    let name = "cudnn-linux-x86_64-8.9.7.29_cuda12-archive";
    let bytes = archive("8.9.7.29", name, "lib");
    let [first, second] = ["a", "b"].map(|folder| format!("/{folder}/{name}.tar.xz"));
    place.server.file(&first, &archive("8.9.7.29", "cudnn", "lib64"));
    let url = place.server.file(&second, &bytes);
    let root = place.at.home().join("addons/cudnn/8.9.7.29-cuda12");
    let add = |path: &str| place.cudaup("old", &["add", "--from", &place.server.url(path)]);
    assert_eq!(add(&first).code, Some(0));
    assert_eq!(place.cudaup("old", &["remove", "--force", "cudnn@8.9.7"]).code, Some(0));
    place.server.next(&second, &[Answer::Wrong]);
    let wrong = add(&second);
    assert_eq!((wrong.code, place.addons().len(), place.staged()), (Some(5), 0, 0), "{}", wrong.err);
    assert!(wrong.err.contains(&format!("{url} can")), "{}", wrong.err);
    let done = add(&second);
    assert_eq!((done.code, place.server.count(&second)), (Some(0), 2), "{}", done.err);
    let receipt = fs::read_to_string(root.join("receipt.json")).unwrap();
    assert!(receipt.contains(&url), "{receipt}");
}

#[test]
fn a_choice_says_what_is_still_missing_with_it() {
    let place = Place::new();
    let said = place.cudaup("new", &["use", "11.8"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.out.contains("warning: cudnn 9 for CUDA 11 is not installed (")
            && said.out.contains("next: cudaup add cudnn@9\n"),
        "{}",
        said.out
    );
}

#[test]
fn what_root_makes_for_everybody_everybody_can_read_under_any_umask() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root makes a home for all");
        return;
    }
    let place = Place::new();
    let (at, home) = (&place.at, place.at.path("opt/cudaup"));
    let tree = at.path("usr/local/cuda-11.8");
    // As the installer leaves it; the home itself is closed.
    fs::create_dir_all(home.join("bin")).unwrap();
    crate::sandbox::copy(&crate::sandbox::shim(), &home.join("bin/cudaup-shim"));
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = at.command("/bin/sh", "p");
        command.env("CUDAUP_HOME", &home).env("NO_PROXY", "127.0.0.1");
        command.env("CUDAUP_DIST_SERVER", place.server.url("")).args(["-c", "umask 077; exec \"$@\"", "sh"]);
        let done = said(command.arg(at.home().join("bin/cudaup")).args(arguments).output().unwrap());
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
    };
    run(&["add", "cudnn@9.14", "--cuda", "12"]);
    closed(&home);
    run(&["link", "mine", tree.to_str().unwrap()]);
    run(&["use", "--default", "mine"]);
    run(&["rehash"]);
    closed(&home);
    assert_eq!(fs::read_to_string(home.join("default")).unwrap(), "mine\n");
}

#[test]
fn a_library_for_another_major_is_for_another_project() {
    let place = Place::new();
    let added = place.cudaup("old", &["add", "cudnn@9.14", "--cuda", "12"]);
    assert_eq!(added.code, Some(0), "{}", added.err);
    let next = "next: the line `cudnn = 9.14` in the .cuda-version of a project with CUDA 12\n";
    assert!(added.out.ends_with(next), "{}", added.out);
}

/// Nothing below a directory is closed to others.
fn closed(directory: &Path) {
    let found = Command::new("find")
        .arg(directory)
        .args(["(", "-type", "d", "!", "-perm", "-055", "-o", "-type", "f", "!", "-perm", "-044", ")"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}
