//! What a project asks for, read out of its lists of requirements.

use cudaup_core::version::Version;
use std::fs;
use std::path::Path;

/// A framework that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// `torch`, `tensorflow` or `jax`.
    pub framework: String,
    /// The version; `None` where any will do.
    pub version: Option<String>,
    /// The CUDA release, where the list says it.
    pub cuda: Option<Version>,
    /// Where it was read, for people.
    pub from: String,
}

const FRAMEWORKS: [&str; 3] = ["torch", "tensorflow", "jax"];

/// What is looked into, the most exact first.
const FILES: [&str; 7] = [
    "uv.lock",
    "poetry.lock",
    "pixi.lock",
    "requirements.txt",
    "requirements-gpu.txt",
    "pyproject.toml",
    "environment.yml",
];

/// The longest list that is read.
const LONGEST: u64 = 32 << 20;

/// The first framework that a project's lists ask for.
pub fn in_project(directory: &Path) -> Option<Wish> {
    FILES.iter().find_map(|name| {
        let path = directory.join(name);
        let small = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
        let text = String::from_utf8_lossy(&fs::read(&path).ok().filter(|_| small)?).into_owned();
        in_lock(&text, name).or_else(|| in_list(&text, name))
    })
}

/// `name = "torch"` with `version = "2.5.1+cu124"` on one of the next lines.
fn in_lock(text: &str, file: &str) -> Option<Wish> {
    FRAMEWORKS.iter().find_map(|framework| {
        let mut lines = text.lines().skip_while(|line| line.trim() != format!("name = \"{framework}\""));
        let version = lines
            .by_ref()
            .take(4)
            .find_map(|line| line.trim().strip_prefix("version = \"")?.strip_suffix('"'))?;
        in_line(&format!("{framework}=={version}"), file)
    })
}

/// A line of requirements in a text, and the index that it names for wheels.
fn in_list(text: &str, file: &str) -> Option<Wish> {
    let found = FRAMEWORKS.iter().find_map(|framework| {
        text.lines().filter_map(|line| in_line(line, file)).find(|wish| wish.framework == *framework)
    })?;
    let index = text.lines().find_map(index_of);
    Some(Wish { cuda: found.cuda.or(index), ..found })
}

/// `--index-url https://download.pytorch.org/whl/cu124`: the CUDA of its wheels.
fn index_of(line: &str) -> Option<Version> {
    cuda_of(line.split("/whl/").nth(1)?)
}

/// `cu124`, `cu118` and what follows: 12.4, 11.8.
fn cuda_of(text: &str) -> Option<Version> {
    let digits: String = text.strip_prefix("cu")?.chars().take_while(char::is_ascii_digit).collect();
    let (major, minor) = digits.split_at_checked(2)?;
    Some(Version::release(major.parse().ok()?, minor.parse().ok()?))
}

/// A requirement in a line, as `torch==2.5.1+cu124`, `- pytorch=2.5`, `"tensorflow[and-cuda]~=2.18"`.
pub fn in_line(line: &str, file: &str) -> Option<Wish> {
    let line = line.split('#').next()?.trim().trim_start_matches("- ").trim_matches(['"', '\'', ',', ' ']);
    let end = line
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let name = name.to_ascii_lowercase();
    let framework = if name == "pytorch" { "torch" } else { name.as_str() };
    if !FRAMEWORKS.contains(&framework) {
        return None;
    }
    // Extras, then the first condition on the version.
    let rest = rest.trim_start();
    let rest = if rest.starts_with('[') { rest.split_once(']')?.1.trim_start() } else { rest };
    let condition = rest.split([';', ',']).next().unwrap_or_default().trim();
    if !condition.is_empty() && !condition.starts_with(['=', '>', '<', '~', '!', '@']) {
        return None;
    }
    let version = condition.trim_start_matches(['=', '>', '~']).trim();
    let numbers = version.starts_with(|c: char| c.is_ascii_digit());
    let (version, local) = version.split_once('+').unwrap_or((version, ""));
    Some(Wish {
        framework: framework.to_owned(),
        version: numbers.then(|| version.trim_end_matches(".*").to_owned()),
        cuda: cuda_of(local),
        from: format!(
            "{file} asks for {framework}{}",
            if numbers { format!(" {version}") } else { String::new() }
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kinds() {
        let read = |line: &str| {
            in_line(line, "f").map(|w| {
                (
                    w.framework,
                    w.version.unwrap_or_default(),
                    w.cuda.map_or_else(String::new, |c| c.to_string()),
                )
            })
        };
        let is = |framework: &str, version: &str, cuda: &str| {
            Some((framework.to_owned(), version.to_owned(), cuda.to_owned()))
        };
        assert_eq!(read("torch==2.5.1+cu124"), is("torch", "2.5.1", "12.4"));
        assert_eq!(read("  - pytorch=2.4"), is("torch", "2.4", ""));
        assert_eq!(read("\"tensorflow[and-cuda]~=2.18\","), is("tensorflow", "2.18", ""));
        assert_eq!(read("torch>=2.1,<3 ; sys_platform == 'linux'  # gpu"), is("torch", "2.1", ""));
        assert_eq!(read("jax"), is("jax", "", ""));
        assert_eq!(read("torch @ https://x/torch.whl"), is("torch", "", ""));
        for other in [
            "torchvision==0.20.1",
            "# torch==1.0",
            "torch-geometric",
            "name = \"torch\"",
            "",
            "torch is nice",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn projects() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(root.path().join(name), text).unwrap();
        assert_eq!(in_project(root.path()), None);
        write("pyproject.toml", "[project]\ndependencies = [\n  \"numpy\",\n  \"torch>=2.4\",\n]\n");
        let wish = in_project(root.path()).unwrap();
        assert_eq!(
            (wish.version.as_deref(), wish.from.as_str()),
            (Some("2.4"), "pyproject.toml asks for torch 2.4")
        );
        write(
            "requirements.txt",
            "--extra-index-url https://download.pytorch.org/whl/cu118\ntorchvision\ntorch==2.5.1\n",
        );
        assert_eq!(in_project(root.path()).unwrap().cuda, Some(Version::release(11, 8)));
        write(
            "uv.lock",
            "[[package]]\nname = \"torch\"\nversion = \"2.6.0+cu126\"\nsource = { registry = \"x\" }\n",
        );
        assert_eq!(in_project(root.path()).unwrap().cuda, Some(Version::release(12, 6)));
    }
}
