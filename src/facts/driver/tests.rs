//! What the kernel's files and the file system tell of a driver.

use super::*;
use std::os::unix::fs::symlink;

struct Root(tempfile::TempDir);

impl Root {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, path: &str, content: &[u8]) -> &Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn link(&self, target: &str, path: &str) -> &Self {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    fn driver(&self) -> Driver {
        look(&Host { sysroot: Some(self.0.path().to_path_buf()), ..Host::bare() }, Smi::Absent)
    }
}

#[test]
fn an_empty_machine_has_no_driver() {
    let driver = Root::new().driver();
    assert!(driver.module.is_absent() && driver.library.is_absent() && !driver.is_there());
    assert_eq!(driver.version(), None);
    assert!(driver.devices.is_empty() && driver.on_bus.is_empty() && driver.dkms.is_empty());
    assert!(matches!(driver.built, Fact::Unknown(_)));
}

#[test]
fn open_and_closed_modules() {
    let open = Root::new();
    open.write(
        "proc/driver/nvidia/version",
        b"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n",
    );
    assert_eq!(
        open.driver().module.known(),
        Some(&Module { version: Some("580.95.05".into()), open: Some(true) })
    );
    let closed = Root::new();
    closed.write(
        "proc/driver/nvidia/version",
        b"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri\n",
    );
    assert_eq!(closed.driver().module.known().and_then(|m| m.open), Some(false));
    for cut in [&b""[..], b"\xff\xfebad"] {
        let root = Root::new();
        root.write("proc/driver/nvidia/version", cut);
        assert_eq!(root.driver().module.known(), Some(&Module { version: None, open: None }));
    }
}

#[test]
fn the_library_carries_its_version() {
    let root = Root::new();
    root.write("usr/lib/x86_64-linux-gnu/libcuda.so.550.90.07", b"")
        .link("libcuda.so.550.90.07", "usr/lib/x86_64-linux-gnu/libcuda.so.1");
    assert_eq!(root.driver().library.known().map(String::as_str), Some("550.90.07"));
    assert_eq!(root.driver().version(), Some("550.90.07"));
    let wsl = Root::new();
    wsl.write("usr/lib/wsl/lib/libcuda.so.1", b"x");
    assert!(matches!(wsl.driver().library, Fact::Unknown(_)));
    let jetson = Root::new();
    jetson
        .write("usr/lib/aarch64-linux-gnu/libcuda.so.1.1", b"x")
        .link("libcuda.so.1.1", "usr/lib/aarch64-linux-gnu/libcuda.so.1");
    assert!(matches!(jetson.driver().library, Fact::Unknown(_)));
}

#[test]
fn modules_that_were_built() {
    let root = Root::new();
    root.write("proc/sys/kernel/osrelease", b"6.8.0-45-generic\n")
        .write("lib/modules/6.8.0-45-generic/kernel/fs/ext4.ko", b"")
        .write("var/lib/dkms/nvidia/550.90.07/6.8.0-44-generic/x86_64/module/nvidia.ko", b"")
        .link("/usr/src/nvidia-550.90.07", "var/lib/dkms/nvidia/550.90.07/source");
    let driver = root.driver();
    assert!(driver.built.is_absent());
    assert_eq!(driver.dkms, [("6.8.0-44-generic".to_owned(), "550.90.07".to_owned())]);
    root.write("lib/modules/6.8.0-45-generic/updates/dkms/nvidia.ko.zst", b"");
    assert!(root.driver().built.known().is_some_and(|file| file.ends_with("updates/dkms/nvidia.ko.zst")));
}

#[test]
fn the_bus_and_the_device_files() {
    let root = Root::new();
    for (place, vendor, class, device) in [
        ("0000:00:06.0", "0x10de", "0x030200", "0x2335"),
        ("0000:00:07.0", "0x10de", "0x068000", "0x22a3"),
        ("0000:00:08.0", "0x8086", "0x030000", "0x1"),
    ] {
        for (file, text) in [("vendor", vendor), ("class", class), ("device", device)] {
            root.write(&format!("sys/bus/pci/devices/{place}/{file}"), format!("{text}\n").as_bytes());
        }
    }
    root.link("../../../bus/pci/drivers/nouveau", "sys/bus/pci/devices/0000:00:06.0/driver");
    root.write("dev/nvidia0", b"").write("dev/nvidiactl", b"").write("dev/null", b"");
    let driver = root.driver();
    assert_eq!(
        driver.on_bus,
        [OnBus { place: "0000:00:06.0".into(), device: 0x2335, held_by: Some("nouveau".into()) }]
    );
    assert_eq!(driver.devices, ["nvidia0", "nvidiactl"]);
}
