//! A server laid out like NVIDIA's for the tests: an index page, manifests in their form, and archives of next to no bytes.

use crate::disk::digest::sha256;
use crate::net::fault_server::FaultServer;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The compile and link closure before 13.
pub const OLD: &[(&str, &str)] =
    &[("cuda_cccl", "12.4.127"), ("cuda_cudart", "12.4.127"), ("cuda_nvcc", "12.4.131")];

/// The closure since 13, with the name that `cuda_cccl` has since 13.3.
pub const NEW: &[(&str, &str)] = &[
    ("cccl", "13.3.4"),
    ("cuda_crt", "13.4.59"),
    ("cuda_cudart", "13.4.49"),
    ("cuda_culibos", "13.4.49"),
    ("cuda_nvcc", "13.4.59"),
    ("libnvvm", "13.4.59"),
];

/// The server.
pub struct FakeDist {
    /// To make it fail, and to count what was asked.
    pub server: FaultServer,
    listed: BTreeMap<String, usize>,
}

pub const TREE: &str = "/compute/cuda/redist/";

impl FakeDist {
    pub fn new() -> Self {
        Self { server: FaultServer::start(), listed: BTreeMap::new() }
    }

    pub fn url(&self) -> String {
        self.server.url("")
    }

    /// Adds a release of these components for x86_64 and Arm servers, with a driver that nobody wants.
    pub fn release(&mut self, version: &str, components: &[(&str, &str)]) {
        let mut manifest = manifest("2024-04-03", components, &["linux-x86_64", "linux-sbsa"]);
        manifest.insert(
            "nvidia_driver".into(),
            component("nvidia_driver", "550.54.15", "NVIDIA Driver", &["linux-x86_64"]),
        );
        manifest
            .insert("imex".into(), component("imex", "550.54.15", "NVIDIA Proprietary", &["linux-x86_64"]));
        manifest
            .insert("nvidia_fs".into(), component("nvidia_fs", "2.19.7", "CUDA Toolkit", &["linux-x86_64"]));
        self.publish(version, &Value::Object(manifest).to_string());
    }

    /// Puts a manifest there and lists it.
    pub fn publish(&mut self, version: &str, text: &str) {
        self.server.file(&path(version), text.as_bytes());
        self.list(version, text.len());
    }

    /// Lists a manifest, whether it is there or not.
    pub fn list(&mut self, version: &str, size: usize) {
        self.listed.insert(version.to_owned(), size);
        let row = |(version, size): (&String, &usize)| {
            format!(
                "<a href='redistrib_{version}.json'>redistrib_{version}.json</a> {size} 2024-04-03 16:19<br/>\n"
            )
        };
        let rows: String = self.listed.iter().map(row).collect();
        self.server.file(TREE, format!("<html><a href='../'>..</a>\n{rows}</html>").as_bytes());
    }
}

/// Where a manifest stands.
pub fn path(version: &str) -> String {
    format!("{TREE}redistrib_{version}.json")
}

pub fn manifest(date: &str, components: &[(&str, &str)], platforms: &[&str]) -> Map<String, Value> {
    let mut manifest = Map::new();
    manifest.insert("release_date".into(), date.into());
    for (name, version) in components {
        manifest.insert((*name).into(), component(name, version, "CUDA Toolkit", platforms));
    }
    manifest
}

pub fn component(name: &str, version: &str, licence: &str, platforms: &[&str]) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), name.into());
    object.insert("license".into(), licence.into());
    object.insert("version".into(), version.into());
    for platform in platforms {
        let file = format!("{name}/{platform}/{name}-{platform}-{version}-archive.tar.xz");
        let leaf = json!({ "relative_path": file, "sha256": sha256(file.as_bytes()), "size": file.len().to_string() });
        object.insert((*platform).into(), leaf);
    }
    Value::Object(object)
}
