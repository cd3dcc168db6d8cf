//! A package index of made-up wheels for the tests: the right names, layout and metadata, and next to no bytes.

use crate::net::fault_server::FaultServer;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use zip::write::SimpleFileOptions;

/// The wheels of the compile and link closure, with the versions of 13.0.3.
pub const CLOSURE: &[(&str, &str)] = &[
    ("nvidia-cuda-nvcc", "13.0.88"),
    ("nvidia-cuda-crt", "13.0.88"),
    ("nvidia-nvvm", "13.0.88"),
    ("nvidia-cuda-runtime", "13.0.96"),
    ("nvidia-cuda-cccl", "13.0.85"),
    ("nvidia-cuda-culibos", "13.0.85"),
];

/// What an nvcc is to the tests: a program that says its version.
pub const NVCC: &str = "#!/bin/sh\ncase $1 in --version) echo 'Cuda compilation tools, release 13.0, V13.0.88';; *) : > proof;; esac\n";

/// The index. Pages appear with [`FakeIndex::publish`].
pub struct FakeIndex {
    /// The server, to make it fail and to count what was asked.
    pub server: FaultServer,
    projects: BTreeMap<String, Vec<File>>,
}

struct File {
    name: String,
    sha256: String,
    size: usize,
}

/// How pages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Json,
    Html,
}

impl FakeIndex {
    pub fn new() -> Self {
        Self { server: FaultServer::start(), projects: BTreeMap::new() }
    }

    /// An index with 13.0.3 as PyPI has it, of the closure and cuBLAS, and with older releases that have no compiler.
    pub fn usual() -> Self {
        let mut index = Self::new();
        index.toolkit("11.8.0", &[("nvidia-cuda-nvcc-cu11", "11.8.89")]);
        index.toolkit("12.4.1", &[("nvidia-cuda-nvcc-cu12", "12.4.131"), ("nvidia-cublas-cu12", "12.4.5.8")]);
        index.toolkit("13.0.0", CLOSURE);
        let mut pins = CLOSURE.to_vec();
        pins.push(("nvidia-cublas", "13.1.1.3"));
        index.toolkit("13.0.3.0", &pins);
        for (project, version) in &pins {
            index.part(project, version);
        }
        index.publish(Form::Json);
        index
    }

    pub fn url(&self) -> String {
        self.server.url("/simple")
    }

    /// Adds a release of `cuda-toolkit` that pins these versions.
    pub fn toolkit(&mut self, version: &str, pins: &[(&str, &str)]) {
        let mut metadata = format!("Metadata-Version: 2.4\nName: cuda-toolkit\nVersion: {version}\n");
        for (project, pinned) in pins {
            let marker = "(sys_platform == 'linux' or sys_platform == 'win32') and extra == 'all'";
            writeln!(metadata, "Requires-Dist: {project}=={pinned}.*; {marker}").unwrap();
        }
        let records = format!("cuda_toolkit-{version}.dist-info");
        let bytes = wheel(&[(&format!("{records}/METADATA"), metadata.as_bytes(), 0o644)]);
        self.add("cuda-toolkit", &format!("cuda_toolkit-{version}-py2.py3-none-any.whl"), &bytes);
    }

    /// Adds a wheel of one project of 13.x with a few of its files, for both machines.
    pub fn part(&mut self, project: &str, version: &str) {
        let name = project.replace('-', "_");
        let records = format!("{name}-{version}.dist-info");
        let mut members = vec![
            (format!("{records}/METADATA"), "Metadata-Version: 2.4\n".to_owned(), 0o644),
            (format!("{records}/licenses/License.txt"), format!("the licence of {project}\n"), 0o644),
        ];
        let files: &[(&str, &str, u32)] = match project {
            "nvidia-cuda-nvcc" => &[
                ("bin/nvcc", NVCC, 0o744),
                ("bin/ptxas", "#!/bin/sh\n", 0o744),
                ("bin/cudafe++", "#!/bin/sh\n", 0o744),
                ("bin/nvlink", "#!/bin/sh\n", 0o744),
                ("bin/fatbinary", "#!/bin/sh\n", 0o744),
                ("bin/nvcc.profile", "TOP = $(_HERE_)/..\n", 0o644),
                ("bin/crt/link.stub", "stub\n", 0o664),
                ("bin/crt/prelink.stub", "stub\n", 0o664),
            ],
            "nvidia-nvvm" => &[
                ("nvvm/bin/cicc", "#!/bin/sh\n", 0o744),
                ("nvvm/libdevice/libdevice.10.bc", "BC", 0o644),
                ("lib/libnvvm.so.4", "not really", 0o644),
            ],
            "nvidia-cuda-crt" => &[("include/crt/host_config.h", "#pragma once\n", 0o644)],
            "nvidia-cuda-runtime" => &[
                ("include/cuda_runtime.h", "#pragma once\n", 0o644),
                ("include/cuda.h", "#define CUDA_VERSION 13000\n", 0o644),
                ("lib/libcudart.so.13", "not really", 0o644),
                ("lib/libcudart_static.a", "!<arch>\n", 0o644),
                ("lib/libcudadevrt.a", "!<arch>\n", 0o644),
            ],
            "nvidia-cuda-cccl" => &[("include/cccl/cub/cub.cuh", "#pragma once\n", 0o644)],
            "nvidia-cuda-culibos" => &[("lib/libculibos.a", "!<arch>\n", 0o644)],
            _ => &[("lib/libsomething.so.1", "not really", 0o644)],
        };
        members.extend(
            files.iter().map(|(n, text, mode)| (format!("nvidia/cu13/{n}"), (*text).to_owned(), *mode)),
        );
        let members: Vec<_> =
            members.iter().map(|(n, text, mode)| (n.as_str(), text.as_bytes(), *mode)).collect();
        let bytes = wheel(&members);
        for machine in ["x86_64", "aarch64"] {
            let tags = format!("manylinux2014_{machine}.manylinux_2_17_{machine}");
            self.add(project, &format!("{name}-{version}-py3-none-{tags}.whl"), &bytes);
        }
    }

    /// Adds any file.
    pub fn add(&mut self, project: &str, name: &str, bytes: &[u8]) {
        self.server.file(&format!("/files/{name}"), bytes);
        let sha256 = Sha256::digest(bytes).iter().fold(String::new(), |text, b| format!("{text}{b:02x}"));
        let file = File { name: name.to_owned(), sha256, size: bytes.len() };
        self.projects.entry(project.to_owned()).or_default().push(file);
    }

    /// Puts up the pages of all projects.
    pub fn publish(&self, form: Form) {
        for (project, files) in &self.projects {
            let page = match form {
                Form::Json => json(files),
                Form::Html => html(project, files),
            };
            self.server.file(&format!("/simple/{project}/"), page.as_bytes());
        }
    }
}

fn json(files: &[File]) -> String {
    let files: Vec<serde_json::Value> = files
        .iter()
        .map(|f| {
            serde_json::json!({
                "filename": f.name, "url": format!("../../files/{}", f.name), "hashes": {"sha256": f.sha256},
                "size": f.size, "yanked": false,
            })
        })
        .collect();
    serde_json::json!({"meta": {"api-version": "1.1"}, "name": "x", "files": files}).to_string()
}

fn html(project: &str, files: &[File]) -> String {
    let mut page = format!("<!DOCTYPE html><html><head><title>Links for {project}</title></head><body>\n");
    for f in files {
        writeln!(page, "<a href=\"../../files/{0}#sha256={1}\">{0}</a><br/>", f.name, f.sha256).unwrap();
    }
    page
}

/// A wheel of these members: name, bytes, mode.
pub fn wheel(members: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let mut wheel = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes, mode) in members {
        wheel.start_file(*name, SimpleFileOptions::default().unix_permissions(*mode)).unwrap();
        wheel.write_all(bytes).unwrap();
    }
    wheel.finish().unwrap().into_inner()
}
