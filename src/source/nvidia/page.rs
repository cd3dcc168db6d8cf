//! The page of NVIDIA's server that lists the manifests: rows such as `redistrib_12.4.1.json 58KB 2024-04-03 16:19`.

use cudaup_core::version::Version;

/// The first release that has a manifest. Older names on the page lead to lists of the driver's parts.
pub const FIRST: Version = Version::exact(11, 4, 2);

/// A page of more bytes than this is no list of NVIDIA's.
pub const LIMIT: u64 = 4 << 20;

/// The releases that a page lists, newest first, each once. The form of the page does not matter, only the names in it.
pub fn versions(page: &str) -> Vec<Version> {
    let named = page.split("redistrib_").skip(1).filter_map(|after| {
        let (label, _) = after.split_once(".json")?;
        Version::parse(label)
    });
    let mut versions: Vec<Version> = named.filter(|v| v.is_exact() && *v >= FIRST).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.dedup();
    versions
}

/// Whether a page that says where it begins says nowhere that it ends.
pub fn is_cut(page: &str) -> bool {
    let page = page.to_ascii_lowercase();
    page.contains("<html") && !page.contains("</html")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_releases_are_listed() {
        let page = "<a href='redistrib_11.4.1.json'>redistrib_11.4.1.json</a> 4.0KB 2021-08-01 10:00\n\
                    <a href='redistrib_11.4.2.json'>redistrib_11.4.2.json</a> 44KB 2021-09-07 16:19\n\
                    <a href=\"/compute/cuda/redist/redistrib_12.10.0.json\">x</a>\n\
                    <a href='redistrib_12.9.1.json?x=1'>y</a> redistrib_13.4.0_tar.json redistrib_1.json redistrib_.json \
                    redistrib_9.1.1.json cuda_nvcc/ redistrib_12.4";
        let said: Vec<String> = versions(page).iter().map(ToString::to_string).collect();
        assert_eq!(said, ["12.10.0", "12.9.1", "11.4.2"]);
        assert!(is_cut("<!doctype html><HTML><a href=x>") && !is_cut("<html></HTML>") && !is_cut("<pre>x"));
        assert!(versions("").is_empty() && versions("<html>log in</html>").is_empty());
    }
}
