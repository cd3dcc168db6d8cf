//! NVIDIA's manifests of redistributable archives, for toolkits and for every other product (`redistrib_12.4.1.json`,
//! `redistrib_9.8.0.json` of cuDNN): [`Manifest::read`] takes the text with all its irregularities, [`Archives::of`]
//! answers which archive a variant means, and [`address`] where it is.

use reqwest::Url;
use serde_json::{Map, Value};

/// A manifest of more bytes than this is not NVIDIA's: the largest have some 60,000.
pub const LIMIT: u64 = 4 << 20;

/// What a release of a product is made of.
///
/// Another product's archive is found like this, with `asked` and `answered` as [`address`] explains them:
/// `Manifest::read(text)?.component("cudnn")?.platform("linux-x86_64")?.of(Some("cuda12"))?`, then
/// `address(asked, answered, &archive.relative_path)?` for its complete address and its file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The day of the release, as `2024-04-03`.
    pub date: Option<String>,
    /// The release's own name; written down only since 12.2.
    pub label: Option<String>,
    /// The components, in the order of their names.
    pub components: Vec<Component>,
}

/// One component of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its key in the manifest, such as `cuda_nvcc`.
    pub name: String,
    /// The name of its licence, such as `CUDA Toolkit`.
    pub licence: String,
    /// Its version; often not the product's.
    pub version: String,
    /// The CUDA majors that it is built for, where it says so: `["12", "13"]`.
    pub variants: Vec<String>,
    /// Its archives by platform: `linux-x86_64`, `linux-sbsa`, `source` and others.
    pub platforms: Vec<(String, Archives)>,
}

/// The archives of a component for one platform. Most have either variants or one archive for all; a few have both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archives {
    /// An archive for each variant: `cuda12`.
    pub variants: Vec<(String, Archive)>,
    /// The archive that stands directly at the platform.
    pub single: Option<Archive>,
}

/// One archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Where it is, from the manifest's own address on; see [`address`].
    pub relative_path: String,
    /// Its hash: 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Its bytes.
    pub size: u64,
}

/// Why a text is no manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoManifest {
    /// The form before 11.4.2, which lists parts of the driver only.
    Stub,
    /// Anything else, with what is wrong.
    Unreadable(String),
}

impl Manifest {
    /// Reads a manifest. Components, platforms and keys that nobody knows yet are taken or passed over, never refused; an
    /// archive without an address, a proper hash or a size is as if it were not listed.
    pub fn read(text: &str) -> Result<Self, NoManifest> {
        let text = text.trim_start_matches('\u{feff}');
        let value: Value =
            serde_json::from_str(text).map_err(|e| NoManifest::Unreadable(format!("it is no JSON: {e}")))?;
        let Value::Object(top) = value else {
            return Err(NoManifest::Unreadable("it is no JSON object".into()));
        };
        let components: Vec<Component> = top
            .iter()
            .filter(|(name, _)| is_plain(name))
            .filter_map(|(name, value)| component(name, value.as_object()?))
            .collect();
        if components.is_empty() {
            let of_strings = |v: &Value| v.as_object().is_some_and(|o| o.values().any(Value::is_object));
            return Err(if top.values().any(of_strings) {
                NoManifest::Stub
            } else {
                NoManifest::Unreadable("it lists no component".into())
            });
        }
        Ok(Self { date: word(&top, "release_date"), label: word(&top, "release_label"), components })
    }

    /// A component by its key.
    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|c| c.name == name)
    }

    /// Every platform that some component has an archive for, each once, sorted.
    pub fn platforms(&self) -> Vec<&str> {
        let all = self.components.iter().flat_map(|c| &c.platforms).map(|(name, _)| name.as_str());
        let mut all: Vec<&str> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Component {
    /// The archives for a platform.
    pub fn platform(&self, name: &str) -> Option<&Archives> {
        self.platforms.iter().find(|(n, _)| n == name).map(|(_, archives)| archives)
    }
}

impl Archives {
    /// The archive for a variant such as `cuda12`; `None` asks for the one without a variant. Where there are variants, a
    /// missing one is not made up for by the archive beside them: that is built for another CUDA. An archive whose name
    /// says which CUDA it is for serves no other.
    pub fn of(&self, variant: Option<&str>) -> Option<&Archive> {
        let Some(wanted) = variant else { return self.single.as_ref() };
        if let Some((_, archive)) = self.variants.iter().find(|(name, _)| name == wanted) {
            return Some(archive);
        }
        let single = self.single.as_ref().filter(|_| self.variants.is_empty())?;
        single.variant().is_none_or(|named| named == wanted).then_some(single)
    }
}

impl Archive {
    /// The CUDA major that the file's name speaks of, as `cuda12`.
    pub fn variant(&self) -> Option<&str> {
        let (_, rest) = self.relative_path.rsplit_once("_cuda")?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let start = self.relative_path.len() - rest.len() - "cuda".len();
        self.relative_path.get(start..start + "cuda".len() + digits).filter(|_| digits > 0)
    }
}

/// The complete address of an archive and its file name. The path is joined to the address of its manifest as RFC 3986
/// says, dot segments included. `asked` is the address that the manifest was asked for, whose password goes along to the
/// same server; `answered` is the one that gave it, after redirects. The error says what is odd about the path.
pub fn address(asked: &str, answered: &str, relative_path: &str) -> Result<(String, String), String> {
    let parsed = |text: &str| Url::parse(text).map_err(|e| format!("{}: {e}", crate::net::shown(text)));
    let (asked, base) = (parsed(asked)?, parsed(answered)?);
    let odd = |why: &str| format!("it names {relative_path:?} as the place of an archive, {why}");
    let text = relative_path.trim();
    if text.is_empty() || text != relative_path || text.chars().any(char::is_control) {
        return Err(odd("which is no path"));
    }
    let mut url = base.join(relative_path).map_err(|e| odd(&e.to_string()))?;
    let stranger = !url.username().is_empty() && url.username() != base.username();
    if stranger || !same_server(&url, &base) {
        return Err(odd("which is on another server"));
    }
    url.set_fragment(None);
    if same_server(&url, &asked) && url.username().is_empty() && url.password().is_none() {
        let with = url.set_username(asked.username()).and_then(|()| url.set_password(asked.password()));
        with.map_err(|()| odd("which can have no user"))?;
    }
    let file = url.path_segments().and_then(|mut s| s.next_back()).unwrap_or_default().to_owned();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-+".contains(&b);
    if file.is_empty() || file.starts_with('.') || file.len() > 250 || !file.bytes().all(plain) {
        return Err(odd("which is no file name"));
    }
    Ok((url.into(), file))
}

fn same_server(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme()
        && a.host_str() == b.host_str()
        && a.port_or_known_default() == b.port_or_known_default()
}

/// A component; `None` for an object of another form.
fn component(name: &str, object: &Map<String, Value>) -> Option<Component> {
    let version = word(object, "version")?;
    let platforms = object
        .iter()
        .filter_map(|(platform, value)| Some((platform.clone(), archives(value.as_object()?)?)))
        .collect();
    let variants = object.get("cuda_variant").and_then(Value::as_array);
    Some(Component {
        name: name.to_owned(),
        licence: word(object, "license").unwrap_or_default(),
        version,
        variants: variants.into_iter().flatten().filter_map(text).collect(),
        platforms,
    })
}

fn archives(object: &Map<String, Value>) -> Option<Archives> {
    let variants: Vec<(String, Archive)> = object
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), archive(value.as_object()?)?)))
        .collect();
    let single = archive(object);
    (single.is_some() || !variants.is_empty()).then_some(Archives { variants, single })
}

fn archive(object: &Map<String, Value>) -> Option<Archive> {
    let sha256 = word(object, "sha256")?.to_ascii_lowercase();
    let hash = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
    let size = match object.get("size")? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let relative_path = word(object, "relative_path").filter(|p| !p.is_empty() && hash)?;
    Some(Archive { relative_path, sha256, size: size? })
}

/// What a server says goes to terminals: a text that would steer one is as if it were not there.
fn word(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key).and_then(text).filter(|text| !text.chars().any(char::is_control))
}

/// Whether a key can be a component's name.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.+".contains(&b))
}

/// A text, or a number written without quotes.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
pub mod tests;
