//! What the machine is: its kernel and distribution, WSL2, Jetson, containers, Secure Boot.

use super::Fact;
use crate::host::Host;
use std::fs;
use std::path::Path;

/// What the machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// As `uname -m` calls it.
    pub machine: String,
    /// The kernel's release, such as `6.8.0-45-generic`.
    pub kernel: Fact<String>,
    /// The distribution, as /etc/os-release names it for people.
    pub distribution: Fact<String>,
    /// `ID` and `VERSION_ID` of /etc/os-release: `ubuntu`, `24.04`.
    pub release: Option<(String, String)>,
    /// The C library's version.
    pub glibc: Fact<(u32, u32)>,
    /// Whether it is WSL2: Linux beside Windows, whose driver it uses.
    pub wsl: bool,
    /// The model, on NVIDIA's Jetson boards.
    pub jetson: Option<String>,
    /// The container that this runs in: `docker`, `podman`, `kubernetes`, `apptainer`, `container` where its kind is not known.
    pub container: Option<String>,
    /// The CUDA release of the NVIDIA image that the container was made from (`CUDA_VERSION`, seen with `NV_CUDA_...`).
    pub image: Option<String>,
    /// Whether the firmware starts signed kernels and modules only.
    pub secure_boot: Fact<bool>,
}

/// Where the C library lies, by distribution and machine.
const LIBC: [&str; 6] = [
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/aarch64-linux-gnu/libc.so.6",
    "/lib64/libc.so.6",
    "/usr/lib64/libc.so.6",
    "/usr/lib/libc.so.6",
    "/lib/libc.so.6",
];

const SECURE_BOOT: &str = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

/// Reads what the machine is.
pub fn look(host: &Host) -> Platform {
    let os = text(host, "/etc/os-release").or_else(|| text(host, "/usr/lib/os-release"));
    let of_os = |key: &str| os.as_deref().and_then(|os| value(os, key));
    let kernel = text(host, "/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned());
    let wsl = kernel.as_deref().is_some_and(is_microsoft)
        || text(host, "/proc/version").is_some_and(|text| is_microsoft(&text))
        || host.system("/dev/dxg").exists();
    let known = |value: Option<String>, source: &str| {
        value.map_or(Fact::Absent, |v| Fact::Known(v, source.to_owned()))
    };
    Platform {
        machine: std::env::consts::ARCH.to_owned(),
        kernel: known(kernel, "/proc/sys/kernel/osrelease"),
        distribution: known(of_os("PRETTY_NAME"), "/etc/os-release"),
        release: of_os("ID").map(|id| (id, of_os("VERSION_ID").unwrap_or_default())),
        glibc: glibc(host),
        wsl,
        jetson: jetson(host),
        container: container(host),
        image: image(host),
        secure_boot: secure_boot(host),
    }
}

/// A small file of the machine as text; bytes that are not UTF-8 do not keep the rest from being read.
fn text(host: &Host, path: &str) -> Option<String> {
    fs::read(host.system(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The value of a key in the form of /etc/os-release.
fn value(os: &str, key: &str) -> Option<String> {
    let line = os.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
    Some(line.trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
}

fn is_microsoft(text: &str) -> bool {
    text.to_ascii_lowercase().contains("microsoft")
}

/// The version that the C library's own file speaks of: `GNU C Library (...) stable release version 2.36.`
fn glibc(host: &Host) -> Fact<(u32, u32)> {
    let Some(path) = LIBC.iter().find(|path| host.system(path).is_file()) else { return Fact::Absent };
    let read = fs::read(host.system(path)).ok();
    match read.as_deref().and_then(release_in) {
        Some(version) => Fact::Known(version, (*path).to_owned()),
        None => Fact::Unknown(format!("no version can be read out of {path}")),
    }
}

fn release_in(bytes: &[u8]) -> Option<(u32, u32)> {
    const MARK: &[u8] = b"release version ";
    let at = bytes.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    let text = String::from_utf8_lossy(bytes.get(at..bytes.len().min(at + 16))?).into_owned();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A Jetson names itself in the device tree, and its system in /etc/nv_tegra_release.
fn jetson(host: &Host) -> Option<String> {
    let model = text(host, "/proc/device-tree/model").map(|m| m.trim_end_matches('\0').trim().to_owned());
    let model = model.filter(|model| model.contains("NVIDIA") || model.contains("Jetson"));
    let release = host.system("/etc/nv_tegra_release").is_file();
    model.or_else(|| release.then(|| "Jetson".to_owned()))
}

fn container(host: &Host) -> Option<String> {
    let named = |name: &str| host.text(name).is_some();
    let kind = if named("KUBERNETES_SERVICE_HOST") {
        "kubernetes"
    } else if named("APPTAINER_NAME") || named("SINGULARITY_NAME") {
        "apptainer"
    } else if host.system("/.dockerenv").exists() {
        "docker"
    } else if host.system("/run/.containerenv").exists() {
        "podman"
    } else {
        return host.text("container").map(str::to_owned);
    };
    Some(kind.to_owned())
}

fn image(host: &Host) -> Option<String> {
    let of_nvidia = host.vars.iter().any(|(name, _)| name.to_string_lossy().starts_with("NV_CUDA_"));
    host.text("CUDA_VERSION").filter(|_| of_nvidia).map(str::to_owned)
}

/// The variable's content follows four bytes of attributes.
fn secure_boot(host: &Host) -> Fact<bool> {
    if !Path::new(&host.system("/sys/firmware/efi")).is_dir() {
        return Fact::Absent;
    }
    match fs::read(host.system(SECURE_BOOT)) {
        Ok(bytes) => match bytes.get(4) {
            Some(byte) => Fact::Known(*byte == 1, SECURE_BOOT.to_owned()),
            None => Fact::Unknown(format!("{SECURE_BOOT} is too short")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Fact::Absent,
        Err(error) => Fact::Unknown(format!("{SECURE_BOOT}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &[u8])], vars: &[(&str, &str)]) -> (tempfile::TempDir, Platform) {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let vars = vars.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
        let host = Host { sysroot: Some(root.path().to_path_buf()), vars, ..Host::bare() };
        let platform = look(&host);
        (root, platform)
    }

    #[test]
    fn a_plain_machine() {
        let os = b"PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nID=ubuntu\nVERSION_ID=\"24.04\"\n";
        let libc =
            b"\x7fELF...GNU C Library (Ubuntu GLIBC 2.39-0ubuntu8) stable release version 2.39.\nCopyright";
        let (_root, found) = machine(
            &[
                ("etc/os-release", os),
                ("lib/x86_64-linux-gnu/libc.so.6", libc),
                ("proc/sys/kernel/osrelease", b"6.8.0-45-generic\n"),
            ],
            &[],
        );
        assert_eq!(found.distribution.known().map(String::as_str), Some("Ubuntu 24.04.1 LTS"));
        assert_eq!(found.release, Some(("ubuntu".into(), "24.04".into())));
        assert_eq!(found.glibc.known(), Some(&(2, 39)));
        assert_eq!(found.kernel.known().map(String::as_str), Some("6.8.0-45-generic"));
        assert!(!found.wsl && found.container.is_none() && found.jetson.is_none() && found.image.is_none());
        assert!(found.secure_boot.is_absent());
    }

    #[test]
    fn nothing_can_be_read() {
        let (_root, found) = machine(&[("lib64/libc.so.6", b"release version x")], &[]);
        assert!(found.kernel.is_absent() && found.distribution.is_absent());
        assert!(matches!(found.glibc, Fact::Unknown(_)));
    }

    #[test]
    fn windows_boards_and_containers() {
        let (_root, wsl) =
            machine(&[("proc/version", b"Linux version 5.15.153.1-microsoft-standard-WSL2\n")], &[]);
        assert!(wsl.wsl);
        let (_root, jetson) = machine(&[("proc/device-tree/model", b"NVIDIA Jetson AGX Orin\0")], &[]);
        assert_eq!(jetson.jetson.as_deref(), Some("NVIDIA Jetson AGX Orin"));
        let (_root, docker) =
            machine(&[(".dockerenv", b"")], &[("CUDA_VERSION", "13.0.2"), ("NV_CUDA_LIB_VERSION", "13")]);
        assert_eq!((docker.container.as_deref(), docker.image.as_deref()), (Some("docker"), Some("13.0.2")));
        let (_root, pod) = machine(&[], &[("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("CUDA_VERSION", "12.4")]);
        assert_eq!((pod.container.as_deref(), pod.image), (Some("kubernetes"), None));
    }

    #[test]
    fn secure_boot_is_the_fifth_byte() {
        let at =
            |content: &[u8]| machine(&[(SECURE_BOOT.trim_start_matches('/'), content)], &[]).1.secure_boot;
        assert_eq!(at(&[6, 0, 0, 0, 1]).known(), Some(&true));
        assert_eq!(at(&[6, 0, 0, 0, 0]).known(), Some(&false));
        assert!(matches!(at(&[6]), Fact::Unknown(_)));
    }
}
