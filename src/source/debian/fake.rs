//! A Debian mirror of made-up packages for the tests: the real names and versions, the real layouts, and next to no bytes.

mod archives;

use crate::disk::digest::sha256;
use crate::net::fault_server::FaultServer;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

/// A package's name, version and section.
pub type Row<'a> = (&'a str, &'a str, &'a str);

/// What trixie and bullseye have, as far as the tests need it.
pub const TRIXIE: &[Row<'_>] = &[
    ("nvidia-cuda-toolkit", "12.4.131~12.4.1-2", "non-free"),
    ("nvidia-cuda-toolkit-doc", "12.4.1-2", "non-free"),
    ("nvidia-cuda-dev", "12.4.127~12.4.1-2", "non-free"),
    ("libcudart12", "12.4.127~12.4.1-2", "non-free"),
    ("libnvvm4", "12.4.131~12.4.1-2", "non-free"),
    ("libcublas12", "12.4.5.8~12.4.1-2", "non-free"),
    ("libcublaslt12", "12.4.5.8~12.4.1-2", "non-free"),
    ("libcufft11", "11.2.1.3~12.4.1-2", "non-free"),
    ("libthrust-dev", "2.3.2-2", "main"),
    ("libcub-dev", "2.3.2-2", "main"),
    ("libcu++-dev", "2.3.2-2", "main"),
    ("zlib1g", "1:1.3-1", "main"),
];
pub const BULLSEYE: &[Row<'_>] = &[
    ("nvidia-cuda-toolkit", "11.2.2-3+deb11u3", "non-free"),
    ("nvidia-cuda-dev", "11.2.2-3+deb11u3", "non-free"),
    ("libcudart11.0", "11.2.152~11.2.2-3+deb11u3", "non-free"),
    ("libnvvm4", "11.2.152~11.2.2-3+deb11u3", "non-free"),
    ("libthrust-dev", "1.9.10-1", "main"),
];

/// The mirror.
pub struct FakeMirror {
    /// The server, to make it fail and to count what was asked.
    pub server: FaultServer,
}

impl FakeMirror {
    /// A mirror that has these suites.
    pub fn new(suites: &[(&str, &[Row<'_>])]) -> Self {
        let mirror = Self { server: FaultServer::start() };
        for (suite, packages) in suites {
            mirror.suite(suite, packages, "Debian", suite);
        }
        mirror
    }

    pub fn url(&self) -> String {
        self.server.url("/debian")
    }

    /// Puts a suite there, for both machines, under the marks of a signature that nobody has made.
    pub fn suite(&self, suite: &str, packages: &[Row<'_>], origin: &str, codename: &str) {
        let mut lists: BTreeMap<String, String> = BTreeMap::new();
        for (name, version, section) in packages {
            for (machine, processor) in [("amd64", "x86_64"), ("arm64", "aarch64")] {
                let bytes = archives::deb(name, processor);
                self.server.file(&format!("/debian/pool/x/{name}_1_{machine}.deb"), &bytes);
                let list = lists.entry(format!("{section}/binary-{machine}/Packages.xz")).or_default();
                list.push_str(&stanza(name, version, machine, &bytes));
            }
        }
        let mut release = format!(
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nOrigin: {origin}\nSuite: x\nCodename: {codename}\nSHA256:\n"
        );
        for (path, text) in &lists {
            let bytes = xz(text.as_bytes());
            writeln!(release, " {} {:>8} {path}", sha256(&bytes), bytes.len()).unwrap();
            self.server.file(&format!("/debian/dists/{suite}/{path}"), &bytes);
        }
        release.push_str("-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n");
        self.server.file(&format!("/debian/dists/{suite}/InRelease"), release.as_bytes());
    }
}

fn stanza(name: &str, version: &str, machine: &str, bytes: &[u8]) -> String {
    let source = if name.starts_with("lib") && version.contains('~') || name.starts_with("nvidia-") {
        "Source: nvidia-cuda-toolkit\n"
    } else {
        ""
    };
    format!(
        "Package: {name}\n{source}Version: {version}\nInstalled-Size: 8\nArchitecture: {machine}\n\
         Filename: pool/x/{name}_1_{machine}.deb\nSize: {}\nSHA256: {}\nDescription: made up\n\n",
        bytes.len(),
        sha256(bytes)
    )
}

/// Bytes as Debian packs them.
pub fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
