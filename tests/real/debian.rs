//! Debian's own packages of 11.8 and 12.4 as apt installs them, over this machine's `/usr` and `/etc` in a namespace of
//! their own, so that nothing is installed: found, and used by env, exec, shims and CMake.

use crate::sandbox::{Sandbox, said};
use crate::{CMAKE, PROGRAM};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lays the packages over the system's directories, and becomes the shell that is to see them.
const OVER: &str = r#"
set -e
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$1/usr:/usr" /usr
mount -t overlay overlay -o "lowerdir=$2:/etc" /etc
exec /bin/bash --norc -ec "$3" "$4"
"#;

/// Every way to the compiler, one line each: which it is, and what its program prints.
const WAYS: &str = r#"
"$0" rehash --quiet
shims=$HOME/.cudaup/shims
"$0" which nvcc
(eval "$("$0" env --shell bash)"; echo "$CUDACXX $CUDA_HOME"; nvcc a.cu -o env; ./env)
PATH=$shims:$PATH "$0" exec -- nvcc a.cu -o exec; ./exec
(PATH=$shims:$PATH; nvcc a.cu -o shim; ./shim)
(eval "$("$0" init bash)"; command -v nvcc; nvcc a.cu -o hook; ./hook; cd /; echo "${CUDA_HOME-unset}")
"$0" exec -- cmake -G Ninja -B build >cmake.log && ninja -C build >>cmake.log && ./build/a
"#;

/// The packages of a suite, unpacked, and a directory with what they put into `/etc`.
fn packages(suite: &str, at: &Sandbox) -> Option<(PathBuf, PathBuf)> {
    let all = PathBuf::from(std::env::var_os("CUDAUP_TEST_DEBIAN")?).join(suite);
    let (unpacked, etc) = (all.join("lean"), at.path("over-etc"));
    let named = |name: &str| name.starts_with("nvidia-cuda-toolkit_");
    let mut archives = fs::read_dir(all.join("debs")).ok()?.flatten().map(|e| e.path());
    let archive = archives.find(|p| p.file_name().is_some_and(|n| named(&n.to_string_lossy())))?;
    fs::create_dir_all(&etc).unwrap();
    let profile = "dpkg-deb --fsys-tarfile \"$0\" | tar -xO ./etc/nvcc.profile >\"$1/nvcc.profile\"";
    let done = Command::new("/bin/sh").args(["-c", profile]).arg(archive).arg(&etc).status().ok()?;
    (done.success() && unpacked.join("usr/bin/nvcc").is_file()).then_some((unpacked, etc))
}

fn can_lay_over(at: &Sandbox, etc: &Path) -> bool {
    let mut tried = Command::new("unshare");
    tried.args(["--mount", "/bin/sh", "-c"]).arg(OVER).arg("sh").arg(at.path("no-packages")).arg(etc);
    fs::create_dir_all(at.path("no-packages/usr")).unwrap();
    tried.args(["true", "x"]).output().is_ok_and(|output| output.status.success())
}

#[test]
fn debians_own_package_is_found_and_compiles_by_every_way() {
    for (suite, version, prints, compiler) in
        [("bookworm", "11.8.0", "11080 11080", "g++-11"), ("trixie", "12.4.1", "12040 12040", "g++")]
    {
        let at = Sandbox::new();
        let Some((unpacked, etc)) = packages(suite, &at) else {
            eprintln!(
                "skipped: Debian's package of {version} (CUDAUP_TEST_DEBIAN names no {suite}; tests/run makes it)"
            );
            continue;
        };
        if !Path::new("/usr/bin").join(compiler).exists() {
            eprintln!("skipped: Debian's package of {version}: there is no {compiler}");
            continue;
        }
        if !can_lay_over(&at, &etc) {
            eprintln!(
                "skipped: Debian's package of {version}: no overlay can be mounted here, or not by this user"
            );
            continue;
        }
        at.write("p/.cuda-version", "system\n");
        at.write("p/a.cu", PROGRAM);
        at.write("p/CMakeLists.txt", CMAKE);
        let inside = |script: &str| {
            let mut command = at.command("/usr/bin/unshare", "p");
            command.env_remove("CUDAUP_SYSROOT").args(["--mount", "/bin/sh", "-c"]).arg(OVER).arg("sh");
            command.arg(&unpacked).arg(&etc).arg(script).arg(at.home().join("bin/cudaup"));
            let ran = said(command.output().unwrap());
            assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
            ran.out
        };
        let listed = inside("\"$0\" list");
        assert!(listed.starts_with(&format!("* {version}  system (Debian's package)  /usr")), "{listed}");
        let ways = inside(WAYS);
        let expected = [
            "/usr/bin/nvcc",
            "/usr/bin/nvcc /usr",
            prints,
            prints,
            prints,
            "/usr/bin/nvcc",
            prints,
            "/usr",
            prints,
        ];
        assert_eq!(ways.lines().collect::<Vec<_>>(), expected, "{suite}");
        let root = fs::read_to_string(at.path("p/build/root")).unwrap();
        assert!(root.starts_with("/usr"), "{root}");
    }
}
