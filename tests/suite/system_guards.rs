//! What keeps a toolkit for all users from taking or losing what is not cudaup's, and from staying closed to others.

use crate::nobody::{as_nobody_with, is_root, reachable_program};
use crate::sandbox::said;
use crate::system::{Place, closed};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

#[test]
fn what_others_put_into_it_is_not_lost_where_it_grows() {
    let place = Place::new();
    assert_eq!(place.install("13.0").code, Some(0));
    fs::write(place.root().join("include/cudnn.h"), "theirs").unwrap();
    let line = "install --system 13.0 --components cublas --no-verify";
    for line in [line, &format!("{line} --dry-run")] {
        let kept = place.cudaup(line);
        assert_eq!(kept.code, Some(1), "{}", kept.out);
        let named = "cuda-13.0 would be made anew, and has files that cudaup did not put there, which would be lost: targets/";
        assert!(kept.err.contains(named), "{}", kept.err);
        assert_eq!(fs::read(place.root().join("include/cudnn.h")).unwrap(), b"theirs");
        assert_eq!(place.local(), ["cuda-13.0"]);
    }
    // The way out that is named makes all of it.
    let kept = place.cudaup(line);
    let way = kept.err.lines().find_map(|line| line.strip_prefix("try: ")).unwrap().to_owned();
    for line in way.split(" && ") {
        let done = place.cudaup(
            &format!("{} --no-verify", line.strip_prefix("cudaup ").unwrap())
                .replace("force 13.0.3 --no-verify", "force 13.0.3"),
        );
        assert_eq!(done.code, Some(0), "{line}: {}", done.err);
    }
    let receipt = fs::read_to_string(place.root().join("receipt.json")).unwrap();
    assert!(receipt.contains("libcublas") && receipt.contains("nvcc") && receipt.contains("\"minimal\""));
    assert!(!place.root().join("include/cudnn.h").exists());
}

#[test]
fn a_link_out_of_an_image_is_left_alone() {
    let place = Place::new();
    let outside = place.at.path("outside");
    fs::create_dir(&outside).unwrap();
    let image = place.at.path("image");
    fs::create_dir_all(image.join("usr")).unwrap();
    symlink(&outside, image.join("usr/local")).unwrap();
    let lines = ["install --system 13.0", "install --system 13.0 --dry-run", "uninstall --system 13.0"];
    for line in lines {
        let mut command = place.command(place.at.home().join("bin/cudaup"));
        let done = said(command.env("CUDAUP_SYSROOT", &image).args(line.split(' ')).output().unwrap());
        assert_eq!(done.code, Some(1), "{line}: {}", done.out);
        assert!(done.err.contains("usr/local leads out of CUDAUP_SYSROOT and is left alone"), "{}", done.err);
    }
    assert_eq!((fs::read_dir(outside).unwrap().count(), place.asked()), (0, 0));
}

#[test]
fn a_missing_folder_is_made_for_all_under_any_umask() {
    let place = Place::new();
    fs::remove_dir_all(place.at.path("usr")).unwrap();
    let mut shell = place.command("/bin/sh");
    let line = "umask 077; \"$0\" install --system 13.0 --profile minimal --no-verify && rm -rf \"$CUDAUP_SYSROOT/usr\" && \"$0\" use --global 12.4";
    place.at.managed("12.4.1");
    let done = said(shell.args(["-c", line]).arg(place.at.home().join("bin/cudaup")).output().unwrap());
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(place.local(), [".cudaup-global.json", "cuda"]);
    assert_eq!(closed(&place.at.path("usr/local/.cudaup-global.json")), Vec::<PathBuf>::new());
    for directory in ["usr", "usr/local"] {
        let mode = fs::metadata(place.at.path(directory)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{directory}");
    }
}

#[test]
fn a_closed_folder_is_for_who_may_look() {
    let place = Place::new();
    reachable_program(&place.at);
    place.at.toolkit("usr/local/cuda-12.4", "12.4.1");
    let local = place.at.path("usr/local");
    let lines: [&[&str]; 5] = [
        &["use", "--global", "12.4"],
        &["use", "--global", "12.4", "--dry-run"],
        &["use", "--global", "--undo"],
        &["uninstall", "--system", "12.4"],
        &["install", "--system", "12.4"],
    ];
    for mode in [0o700, 0o755] {
        if mode == 0o755 {
            fs::write(local.join(".cudaup-global.json"), "{\"steps\":[]}").unwrap();
            fs::set_permissions(local.join(".cudaup-global.json"), Permissions::from_mode(0o600)).unwrap();
        }
        fs::set_permissions(&local, Permissions::from_mode(mode)).unwrap();
        for line in lines.iter().take(if mode == 0o700 { 5 } else { 3 }) {
            let Some(said) = is_root().then(|| as_nobody_with(&place.at, &place.variables(), line)).flatten()
            else {
                eprintln!("skipped: needs root, and setpriv");
                return;
            };
            assert_eq!(said.code, Some(1), "{line:?}: {}", said.err);
            assert!(said.err.contains("is not yours to "), "{line:?}: {}", said.err);
            let command = said.err.lines().find_map(|line| line.strip_prefix("try: sudo ")).unwrap();
            assert!(command.ends_with(&format!("/bin/cudaup {}", line.join(" "))), "{command}");
        }
    }
}
