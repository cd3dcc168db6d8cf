//! The names by which the linker asks for libraries.

/// The links that are missing among the names of a directory: `libX.so` to the `libX.so.N` that programs will ask for,
/// which is the one with the shortest ending. NVIDIA's other builds (`libX.alt.so.N`) are asked for by nobody's linker.
pub fn unversioned(names: &[String]) -> Vec<(String, String)> {
    let mut links: Vec<(String, String)> = Vec::new();
    for file in names {
        let Some((stem, version)) = file.split_once(".so.") else { continue };
        let numbers =
            version.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        if !stem.starts_with("lib") || stem.strip_suffix(".alt").is_some() || !numbers {
            continue;
        }
        let link = format!("{stem}.so");
        if names.contains(&link) {
            continue;
        }
        match links.iter_mut().find(|(name, _)| *name == link) {
            Some((_, chosen)) if file.len() < chosen.len() => chosen.clone_from(file),
            Some(_) => {}
            None => links.push((link, file.clone())),
        }
    }
    links
}

#[cfg(test)]
mod tests {
    fn unversioned(names: &[&str]) -> Vec<(String, String)> {
        super::unversioned(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    fn link(name: &str, file: &str) -> (String, String) {
        (name.to_owned(), file.to_owned())
    }

    #[test]
    fn every_library_gets_the_name_that_the_linker_asks_for() {
        let names = ["libcudart.so.13", "libnvrtc-builtins.so.13.0", "libnvvm.so.4"];
        let links = [
            link("libcudart.so", "libcudart.so.13"),
            link("libnvrtc-builtins.so", "libnvrtc-builtins.so.13.0"),
            link("libnvvm.so", "libnvvm.so.4"),
        ];
        assert_eq!(unversioned(&names), links);
    }

    #[test]
    fn the_shortest_ending_is_the_name_that_programs_ask_for() {
        let names = ["libcufft.so.12.0.0.61", "libcufft.so.12", "libcufftw.so.12"];
        assert_eq!(
            unversioned(&names),
            [link("libcufft.so", "libcufft.so.12"), link("libcufftw.so", "libcufftw.so.12")]
        );
    }

    #[test]
    fn what_is_there_and_what_is_no_library_gets_none() {
        let names = ["libcudart.so", "libcudart.so.13", "libnvrtc.alt.so.13", "libcudart_static.a", "cmake"];
        assert_eq!(unversioned(&names), []);
        assert_eq!(unversioned(&["libx.so.debug", "libx.so.", "libx.so.1.", "readme.so.1"]), []);
    }
}
