//! Error messages of the CUDA world: how they are known, what they mean, and what causes them.

use serde::Deserialize;
use std::sync::OnceLock;

/// An error message.
#[derive(Debug, Deserialize)]
pub struct Known {
    /// Its stable name.
    pub id: String,
    /// When it comes: `build`, `link`, `import`, `run`, `driver`, `container`, `kernel log`, `install`.
    pub stage: String,
    /// Its number, as cudaError_t and CUresult have it.
    pub code: Option<u32>,
    /// What it means, in one sentence.
    pub means: String,
    /// Regular expressions for its text.
    pub patterns: Vec<String>,
    /// The names of errors that it may be the consequence of.
    #[serde(default)]
    pub follows: Vec<String>,
    /// Its causes, the likeliest first.
    #[serde(rename = "cause")]
    pub causes: Vec<Cause>,
}

/// What may cause an error. `{1}` in its texts stands for what the pattern's first group caught.
#[derive(Debug, Deserialize)]
pub struct Cause {
    /// The cause, in a sentence.
    pub text: String,
    /// What mends it.
    pub mend: String,
    /// The codes of the doctor's findings that show it.
    #[serde(default)]
    pub findings: Vec<String>,
    /// What has to be so for it to be the cause at all.
    pub when: Option<String>,
}

#[derive(Deserialize)]
struct Table {
    error: Vec<Known>,
}

/// All that are known; of two that one line may be, the more special one comes first.
pub fn all() -> &'static [Known] {
    static ALL: OnceLock<Vec<Known>> = OnceLock::new();
    ALL.get_or_init(|| {
        toml::from_str::<Table>(include_str!("errors.toml")).map_or_else(|_| Vec::new(), |table| table.error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_is_whole() {
        let ids: BTreeSet<&str> = all().iter().map(|error| error.id.as_str()).collect();
        assert_eq!((ids.len(), all().len()), (72, 72));
        for error in all() {
            assert!(
                !error.patterns.is_empty() && !error.causes.is_empty() && !error.stage.is_empty(),
                "{}",
                error.id
            );
            assert!(error.means.ends_with(['.', ';']), "{}", error.means);
            for cause in &error.follows {
                assert!(ids.contains(cause.as_str()), "{}: {cause}", error.id);
            }
            for cause in &error.causes {
                assert!(cause.text.len() > 10 && cause.mend.len() > 5, "{}: {}", error.id, cause.text);
            }
        }
    }

    #[test]
    fn no_error_follows_from_itself() {
        for error in all() {
            let mut reached: Vec<&str> = error.follows.iter().map(String::as_str).collect();
            let mut next = 0;
            while let Some(id) = reached.get(next).copied() {
                assert_ne!(id, error.id, "through {reached:?}");
                let further = all().iter().filter(|other| other.id == id).flat_map(|other| &other.follows);
                for id in further.map(String::as_str) {
                    if !reached.contains(&id) {
                        reached.push(id);
                    }
                }
                next += 1;
            }
        }
    }
}
