//! The manifest of a mirror: NVIDIA's own, cut to the archives that are there. Pure.

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

/// An archive that the mirror has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// NVIDIA's name for the machine.
    pub platform: String,
    /// The archive's hash, by which its entry is found.
    pub sha256: String,
}

/// NVIDIA's manifest without what the mirror does not have. `before` is the mirror's own manifest of that release, whose
/// archives stay. The error says why there is nothing to cut.
pub fn cut(nvidias: &str, before: Option<&str>, kept: &[Kept]) -> Result<String, String> {
    let read = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(top)) => Ok(top),
        Ok(_) => Err("it is no JSON object".to_owned()),
        Err(e) => Err(e.to_string()),
    };
    let top = read(nvidias)?;
    // A broken one says nothing of what is there.
    let before = before.and_then(|before| read(before).ok()).unwrap_or_default();
    let mut out = Map::new();
    for (key, value) in &top {
        let there = before.get(key).and_then(Value::as_object);
        match value {
            Value::Object(component) => {
                if let Some(component) = of_component(key, component, there, kept) {
                    out.insert(key.clone(), Value::Object(component));
                }
            }
            other => {
                out.insert(key.clone(), other.clone());
            }
        }
    }
    // Components that NVIDIA has taken out since.
    for (key, value) in before {
        out.entry(key).or_insert(value);
    }
    written(&Value::Object(out))
}

/// A component with the platforms that the mirror has; `None` where it has none.
fn of_component(
    name: &str,
    component: &Map<String, Value>,
    there: Option<&Map<String, Value>>,
    kept: &[Kept],
) -> Option<Map<String, Value>> {
    let mut out = Map::new();
    let mut any = false;
    for (key, value) in component {
        match value {
            Value::Object(leaf) => {
                let hash = leaf.get("sha256").and_then(Value::as_str).unwrap_or_default();
                let has = |k: &&Kept| k.platform == *key && k.sha256.eq_ignore_ascii_case(hash);
                if kept.iter().any(|k| has(&k)) {
                    out.insert(key.clone(), Value::Object(of_archive(name, key, leaf)));
                    any = true;
                }
            }
            // The text stands in each archive, too; beside the archives it is not.
            _ if key == "license_path" => {}
            other => {
                out.insert(key.clone(), other.clone());
            }
        }
    }
    for (key, value) in there.into_iter().flatten().filter(|(_, value)| value.is_object()) {
        any = true;
        out.entry(key.clone()).or_insert_with(|| value.clone());
    }
    any.then_some(out)
}

/// An archive's entry in NVIDIA's form: its size as text, its path below the manifest.
fn of_archive(component: &str, platform: &str, leaf: &Map<String, Value>) -> Map<String, Value> {
    let mut leaf = leaf.clone();
    if let Some(size) = leaf.get("size").and_then(Value::as_u64) {
        leaf.insert("size".to_owned(), json!(size.to_string()));
    }
    let path = leaf.get("relative_path").and_then(Value::as_str).unwrap_or_default();
    leaf.insert("relative_path".to_owned(), json!(place(component, platform, path)));
    leaf
}

/// Where an archive lies below the manifest: where NVIDIA has it, unless that is somewhere else on its server.
pub fn place(component: &str, platform: &str, relative_path: &str) -> String {
    let plain = crate::archive::guard::name(relative_path.as_bytes());
    if plain.as_deref() == Ok(relative_path) && relative_path.contains('/') {
        return relative_path.to_owned();
    }
    let file = relative_path.rsplit('/').next().unwrap_or_default();
    format!("{component}/{platform}/{file}")
}

/// JSON as NVIDIA writes it: four blanks a step, and no line end at the end.
fn written(value: &Value) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b"    "));
    value.serialize(&mut serializer).map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|e| e.to_string())
}

/// The page that lists the manifests of a mirror, in the form of NVIDIA's own. A row's size and day are text.
pub fn page(rows: &[(String, u64, String)]) -> String {
    let row = |(name, bytes, day): &(String, u64, String)| {
        let size = bytes.div_ceil(1024);
        format!(
            "<a href='{name}'>{name}</a> <span class='size'>{size}KB</span> <span class='date'>{day}</span><br/>\n"
        )
    };
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<!DOCTYPE html>\n<html>\n<head><meta charset='utf-8'/><title>Index of /compute/cuda/redist</title></head>\n\
         <body>\n<h1>Index of /compute/cuda/redist</h1>\n{rows}</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::nvidia::manifest::Manifest;

    fn leaf(path: &str, hash: char) -> Value {
        json!({ "relative_path": path, "sha256": hash.to_string().repeat(64), "md5": "x", "size": 12 })
    }

    fn nvidias() -> String {
        json!({
            "release_date": "2024-04-03", "release_label": "12.4.1", "release_product": "cuda",
            "cuda_nvcc": { "name": "CUDA NVCC", "license": "CUDA Toolkit", "license_path": "cuda_nvcc/LICENSE.txt",
                "version": "12.4.131", "linux-x86_64": leaf("cuda_nvcc/linux-x86_64/a.tar.xz", 'a'),
                "linux-sbsa": leaf("../../../pool/linux-sbsa/0000/b.tar.xz", 'b') },
            "libcublas": { "name": "CUDA cuBLAS", "license": "CUDA Toolkit", "version": "12.4.5.8",
                "linux-x86_64": leaf("libcublas/linux-x86_64/c.tar.xz", 'c') },
        })
        .to_string()
    }

    fn kept(platform: &str, hash: char) -> Kept {
        Kept { platform: platform.to_owned(), sha256: hash.to_string().repeat(64) }
    }

    #[test]
    fn only_what_is_there_stays_and_its_form_is_nvidias() {
        let text = cut(&nvidias(), None, &[kept("linux-x86_64", 'a')]).unwrap();
        assert!(
            text.starts_with("{\n    \"cuda_nvcc\": {\n        \"license\"") && text.ends_with("\n}"),
            "{text}"
        );
        assert!(text.contains("\"size\": \"12\"") && !text.contains("license_path"), "{text}");
        let manifest = Manifest::read(&text).unwrap();
        assert_eq!((manifest.components.len(), manifest.date.as_deref()), (1, Some("2024-04-03")));
        let nvcc = manifest.component("cuda_nvcc").unwrap();
        assert_eq!(nvcc.platform("linux-x86_64").unwrap().of(None).unwrap().size, 12);
        assert!(nvcc.platform("linux-sbsa").is_none());
    }

    #[test]
    fn a_second_run_only_adds() {
        let first = cut(&nvidias(), None, &[kept("linux-x86_64", 'a')]).unwrap();
        let second =
            cut(&nvidias(), Some(&first), &[kept("linux-sbsa", 'b'), kept("linux-x86_64", 'c')]).unwrap();
        let manifest = Manifest::read(&second).unwrap();
        let paths = |name: &str| -> Vec<String> {
            let platforms = &manifest.component(name).unwrap().platforms;
            platforms.iter().map(|(_, a)| a.of(None).unwrap().relative_path.clone()).collect()
        };
        // What NVIDIA has elsewhere on its server lies beside the others here.
        assert_eq!(paths("cuda_nvcc"), ["cuda_nvcc/linux-sbsa/b.tar.xz", "cuda_nvcc/linux-x86_64/a.tar.xz"]);
        assert_eq!(paths("libcublas"), ["libcublas/linux-x86_64/c.tar.xz"]);
        assert_eq!(cut(&nvidias(), Some(&second), &[]).unwrap(), second);
        assert!(
            cut("[]", None, &[]).is_err() && cut(&nvidias(), Some("{"), &[]) == cut(&nvidias(), None, &[])
        );
    }

    #[test]
    fn places_stay_below_the_manifest() {
        for (path, to) in [
            ("imex/linux-sbsa/nvidia-imex.tar.xz", "imex/linux-sbsa/nvidia-imex.tar.xz"),
            ("../x.tar.xz", "c/p/x.tar.xz"),
            ("/etc/x.tar.xz", "c/p/x.tar.xz"),
            ("a//b/x.tar.xz", "c/p/x.tar.xz"),
            ("x.tar.xz", "c/p/x.tar.xz"),
        ] {
            assert_eq!(place("c", "p", path), to);
        }
    }
}
