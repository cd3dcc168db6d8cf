//! Whether `/usr/local/cuda` still leads where `cudaup use --global` pointed it: packages and installers change it, too.

use crate::host::Host;
use serde_json::Value;
use std::fs;

/// Where `use --global` writes down what it did.
const RECORD: &str = "/usr/local/.cudaup-global.json";

/// The link was changed by another hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// What cudaup had put there.
    pub set: String,
    /// What it says now.
    pub now: String,
}

/// Compares the link with what cudaup did last; `None` where they agree, or where cudaup never changed it.
pub fn moved(host: &Host) -> Option<Moved> {
    let record: Value = serde_json::from_slice(&fs::read(host.system(RECORD)).ok()?).ok()?;
    let after = record.get("steps")?.as_array()?.last()?.get("after")?;
    let text = |name: &str| after.get(name).and_then(Value::as_str);
    let (link, set) = match text("is")? {
        "link" => ("/usr/local/cuda".to_owned(), text("text")?),
        "alternatives" => (format!("/etc/alternatives/{}", text("name")?), text("value")?),
        _ => return None,
    };
    let now = fs::read_link(host.system(&link))
        .map_or_else(|_| "nothing".to_owned(), |to| to.to_string_lossy().into_owned());
    (now != set).then(|| Moved { set: set.to_owned(), now })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_that_others_changed() {
        let root = tempfile::tempdir().unwrap();
        let host = Host { sysroot: Some(root.path().to_path_buf()), ..Host::bare() };
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("usr/local")).unwrap();
        fs::create_dir_all(at("etc/alternatives")).unwrap();
        symlink("cuda-11.8", at("usr/local/cuda")).unwrap();
        assert_eq!(moved(&host), None);
        let record = |after: &str| {
            fs::write(
                at("usr/local/.cudaup-global.json"),
                format!("{{\"steps\":[{{\"before\":{{\"is\":\"absent\"}},\"after\":{after}}}]}}"),
            )
            .unwrap();
            moved(&host)
        };
        assert_eq!(record("{\"is\":\"link\",\"text\":\"cuda-11.8\"}"), None);
        let other = Moved { set: "cuda-12.4".into(), now: "cuda-11.8".into() };
        assert_eq!(record("{\"is\":\"link\",\"text\":\"cuda-12.4\"}"), Some(other));
        let group =
            "{\"is\":\"alternatives\",\"name\":\"cuda\",\"auto\":false,\"value\":\"/usr/local/cuda-12.4\"}";
        assert_eq!(record(group).map(|moved| moved.now), Some("nothing".to_owned()));
        symlink("/usr/local/cuda-12.4", at("etc/alternatives/cuda")).unwrap();
        assert_eq!(record(group), None);
        fs::write(at("usr/local/.cudaup-global.json"), "no JSON").unwrap();
        assert_eq!(moved(&host), None);
    }
}
