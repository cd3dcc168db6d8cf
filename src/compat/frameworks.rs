//! Which torch other packages go with, what TensorFlow and JAX were built for, and which nvcc builds what.

use super::pep440::Pep440;
use cudaup_core::version::Version;
use serde::{Deserialize, Deserializer};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::OnceLock;

const TABLE: &str = include_str!("frameworks.toml");

/// What a release of TensorFlow was built for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorFlow {
    /// The release, such as `2.18.0`.
    pub version: String,
    /// The CUDA that it was built for.
    #[serde(deserialize_with = "version")]
    pub cuda: Version,
    /// The cuDNN that it was built for: `9.3`.
    pub cudnn: String,
    /// Whether `pip install tensorflow[and-cuda]` brings CUDA; older ones want it on the machine.
    pub extra: bool,
    /// Where that was read; a key of the table's `[sources]`.
    pub source: String,
}

/// A release of one of JAX's CUDA plugins; the plugin has JAX's own version.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jax {
    /// The release, such as `0.4.35`.
    pub version: String,
    /// The CUDA major: 12 for `jax-cuda12-plugin`.
    pub cuda: u32,
    /// The oldest cuDNN that its metadata asks for.
    #[serde(default)]
    pub cudnn: Option<String>,
    /// Where that was read; a key of the table's `[sources]`.
    pub source: String,
}

/// The oldest nvcc for building a package.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Build {
    package: String,
    first: String,
    last: String,
    #[serde(deserialize_with = "version")]
    nvcc: Version,
    /// Where that was read; a key of the table's `[sources]`.
    source: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for those who read the table"))]
    sources: BTreeMap<String, String>,
    torch: BTreeMap<String, Vec<(String, String)>>,
    tensorflow: Vec<TensorFlow>,
    jax: Vec<Jax>,
    build: Vec<Build>,
}

/// The torch that a release of torchvision, torchaudio, xformers or vllm asks for; `None` where it takes several or is not known.
pub fn torch_of(package: &str, version: &str) -> Option<&'static str> {
    let public = version.split('+').next()?;
    let rows = table().torch.get(package)?;
    rows.iter().find(|(v, _)| v == public).map(|(_, torch)| torch.as_str())
}

/// The newest release of torchvision, torchaudio, xformers or vllm that asks for this torch (`2.5.1`).
pub fn goes_with_torch(package: &str, torch: &str) -> Option<&'static str> {
    let rows = table().torch.get(package)?;
    rows.iter().rfind(|(_, t)| t == torch).map(|(version, _)| version.as_str())
}

/// The packages that [`torch_of`] knows.
pub fn packages_with_torch() -> impl Iterator<Item = &'static str> {
    table().torch.keys().map(String::as_str)
}

/// All releases of TensorFlow that are known, oldest first.
pub fn tensorflow_releases() -> &'static [TensorFlow] {
    &table().tensorflow
}

/// What is known of a release of TensorFlow.
pub fn tensorflow(version: &str) -> Option<&'static TensorFlow> {
    let wanted = Pep440::parse(version)?;
    let same = |row: &&TensorFlow| {
        Pep440::parse(&row.version).is_some_and(|v| v.compare(&wanted, 3) == Ordering::Equal)
    };
    tensorflow_releases().iter().find(same).filter(|_| !wanted.unfinished)
}

/// All releases of JAX's CUDA plugins that are known: oldest first, those for CUDA 12 before those for 13.
pub fn jax_releases() -> &'static [Jax] {
    &table().jax
}

/// The CUDA majors that a release of JAX has plugins for, oldest first; empty where it is not known.
pub fn jax(version: &str) -> Vec<&'static Jax> {
    jax_releases().iter().filter(|row| row.version == version).collect()
}

/// The oldest nvcc that a release of a package can be built with; `None` where that is not known.
pub fn oldest_nvcc(package: &str, version: &str) -> Option<Version> {
    let version = Pep440::parse(version)?;
    let within = |row: &&Build| {
        let (first, last) = (Pep440::parse(&row.first), Pep440::parse(&row.last));
        first.is_some_and(|f| version.compare(&f, 3) != Ordering::Less)
            && last.is_some_and(|l| version.compare(&l, 3) != Ordering::Greater)
    };
    table().build.iter().filter(|row| row.package == package).find(within).map(|row| row.nvcc)
}

fn table() -> &'static Table {
    static PARSED: OnceLock<Table> = OnceLock::new();
    // The table is a part of the program, and a test reads it.
    PARSED.get_or_init(|| toml::from_str(TABLE).unwrap_or_default())
}

fn version<'de, D: Deserializer<'de>>(from: D) -> Result<Version, D::Error> {
    let text = String::deserialize(from)?;
    Version::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is no version")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::torch;

    #[test]
    fn the_table_is_whole() {
        let table: Table = toml::from_str(TABLE).unwrap();
        let known = |source: &String| table.sources.contains_key(source);
        let names: Vec<&str> = packages_with_torch().collect();
        assert_eq!(names, ["torchaudio", "torchvision", "vllm", "xformers"]);
        for (package, rows) in &table.torch {
            assert!(rows.len() >= 20, "{package}");
            for (version, torch) in rows {
                assert!(
                    Pep440::parse(version).is_some() && torch::releases().iter().any(|r| r.version == *torch),
                    "{package} {version}"
                );
            }
        }
        assert!(table.tensorflow.len() >= 20 && table.tensorflow.iter().all(|row| known(&row.source)));
        assert!(
            table.jax.len() >= 50
                && table.jax.iter().all(|row| matches!(row.cuda, 12 | 13) && known(&row.source))
        );
        assert!(table.build.iter().all(|row| known(&row.source)));
    }

    #[test]
    fn what_goes_with_what() {
        assert_eq!(torch_of("torchvision", "0.20.1+cu124"), Some("2.5.1"));
        assert_eq!(torch_of("vllm", "0.9.0"), Some("2.7.0"));
        assert_eq!(torch_of("torchvision", "0.99.0"), None);
        assert_eq!(goes_with_torch("torchaudio", "2.6.0"), Some("2.6.0"));
        assert_eq!(goes_with_torch("vllm", "2.5.1"), Some("0.7.3"));
        assert_eq!(goes_with_torch("apex", "2.5.1"), None);
    }

    #[test]
    fn tensorflow_jax_and_building() {
        let row = tensorflow("2.18.0").unwrap();
        assert_eq!((row.cuda, row.cudnn.as_str(), row.extra), (Version::release(12, 5), "9.3", true));
        assert!(tensorflow("2.18.0rc1").is_none() && tensorflow("3.0").is_none());
        assert_eq!(jax("0.7.2").iter().map(|row| row.cuda).collect::<Vec<_>>(), [12, 13]);
        assert_eq!(oldest_nvcc("flash-attn", "2.7.4.post1"), Some(Version::release(11, 7)));
        assert_eq!(oldest_nvcc("flash-attn", "2.5.8"), Some(Version::release(11, 6)));
        assert_eq!((oldest_nvcc("flash-attn", "3.0"), oldest_nvcc("x", "1")), (None, None));
    }
}
