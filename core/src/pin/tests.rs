//! Pins as they are found, and what is written into them.

use super::*;
use crate::version::Version;

fn request(text: &str) -> String {
    parse(text.as_bytes()).unwrap().request.unwrap().to_string()
}

#[test]
fn windows_line_ends_marks_and_missing_last_line_ends() {
    for text in [
        "11.8",
        "11.8\n",
        "11.8\r\n",
        "11.8\r\n\r\n",
        "\u{feff}11.8\n",
        "\n\n  11.8  \n",
        "# note\n11.8 # why",
    ] {
        assert_eq!(request(text), "11.8", "{text:?}");
    }
}

#[test]
fn utf16_and_binary_are_refused() {
    assert_eq!(parse(b"\xff\xfe1\x001\x00.\x008\x00\r\x00\n\x00"), Err(BadPin::Utf16));
    assert_eq!(parse(b"1\x001\x00.\x008\x00"), Err(BadPin::Utf16));
    assert_eq!(parse(b"\x7fELF\x02\x01\xff"), Err(BadPin::NotText));
    assert_eq!(parse(b"12.4\n\0abcdefghijk"), Err(BadPin::NotText));
}

#[test]
fn a_pin_without_a_request_is_an_error_and_a_default_is_not() {
    assert_eq!(parse(b""), Err(BadPin::Empty));
    assert_eq!(parse(b"# only a comment\n"), Err(BadPin::Empty));
    assert_eq!(parse(b"\ncudnn = 9.8\n"), Err(BadPin::NoRequest(2)));
    assert_eq!(parse_default(b"ld_library_path = off\n").unwrap().settings.ld_library_path, Some(false));
}

#[test]
fn keys() {
    let pin = parse(
        b"12.4 # x\ncudnn = 9.8\ncomponents = nvcc, cudart,cublas\nld_library_path = off\ncpath=on\nhost_compiler = g++-11\nshiny = 1\n",
    )
    .unwrap();
    assert_eq!(pin.request, Some(Request::Version(Version::release(12, 4))));
    let addons: Vec<_> = pin.settings.addons.iter().map(|w| (w.library.name, w.line)).collect();
    assert_eq!(addons, [("cudnn", 2)]);
    assert_eq!(pin.settings.addons[0].version, Number::parse("9.8"));
    assert_eq!(pin.settings.components, ["nvcc", "cudart", "cublas"]);
    assert_eq!((pin.settings.ld_library_path, pin.settings.cpath), (Some(false), Some(true)));
    assert_eq!(pin.settings.host_compiler.as_deref(), Some("g++-11"));
    assert_eq!(pin.unknown, [(7, "shiny".to_owned())]);
    for (key, meant) in [
        ("host_compilr", Some("host_compiler")),
        ("cuddn", Some("cudnn")),
        ("LD_LIBRARY_PATH", Some("ld_library_path")),
        ("shiny", None),
    ] {
        assert_eq!(meant_key(key), meant, "{key}");
    }
}

#[test]
fn a_pin_outranks_a_default_library_by_library() {
    let of = |text: &str| parse_default(text.as_bytes()).unwrap().settings;
    let both = of("cudnn = 9.1\ncudnn = off\n").over(&of("nccl = 2\ncudnn = 9.8\n"));
    let said: Vec<_> = both.addons.iter().map(|w| (w.library.name, w.version.clone(), w.line)).collect();
    assert_eq!(said, [("cudnn", None, 2), ("nccl", Number::parse("2"), 1)]);
}

#[test]
fn wrong_values_name_their_line() {
    for (text, line) in [
        ("12.4\ncpath = maybe", 2),
        ("12.4\n\nhost_compiler = /usr/bin/g++", 3),
        ("12.4\nhost_compiler = g++; touch x", 2),
        ("12.4\ncudnn = newest", 2),
        ("12.4\nroots = relative", 2),
        ("12.4\n13.0", 2),
        ("$(touch x)", 1),
    ] {
        assert_eq!(parse(text.as_bytes()).unwrap_err().line(), Some(line), "{text}");
    }
}

#[test]
fn a_request_is_taken_out_and_nothing_else() {
    let left = |text: &str| without_request(text.as_bytes()).unwrap();
    assert_eq!(left("12.4\n"), None);
    assert_eq!(left("# mine\n12.4\nroots = /x\n").as_deref(), Some("# mine\nroots = /x\n"));
    assert_eq!(left("12.4\r\ncpath = off\r\n").as_deref(), Some("cpath = off\r\n"));
}

#[test]
fn a_request_is_replaced_and_nothing_else() {
    let new = |text: &str| with_request(text.as_bytes(), "12.4").unwrap();
    assert_eq!(new("11.8\r\n"), "12.4\r\n");
    assert_eq!(new("# x\r\n11.8 # y\r\n\r\ncpath = off"), "# x\r\n12.4 # y\r\n\r\ncpath = off\r\n");
    assert_eq!(new("cpath = off\r\n"), "12.4\r\ncpath = off\r\n");
    assert_eq!(new("# x\r\n"), "# x\r\n12.4\r\n");
    assert_eq!(new("\n11.8\r\n\r\n"), "\n12.4\n");
    assert_eq!(new("11.8\ncpath = off\r\n\n"), "12.4\ncpath = off\n");
    assert_eq!(new(""), "12.4\n");
    assert_eq!(new("# top\n  11.8  # why\ncudnn = 9.8"), "# top\n  12.4  # why\ncudnn = 9.8\n");
    assert_eq!(new("cudnn = 9.8\n"), "12.4\ncudnn = 9.8\n");
}
