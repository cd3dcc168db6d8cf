//! Signatures of a made-up key, judged by the gpgv of this machine.

use super::*;
use crate::settings::Place;
use std::path::Path;

/// The key that has signed, and another one.
const KEY: &str = "9833046774858016092b06010401da470f01010740984acaa36666ffdef9921035a006cdf9eeb9e33be4722e20f7eec7160c\
     7ba3edb4116d61646520757020666f722074657374738890041316080038162104e662b655a047b40a3e4e5a58ca9f89cad9\
     7aaa0c050267748580021b23050b0908070206150a09080b020416020301021e01021780000a0910ca9f89cad97aaa0cba2c\
     00fe2c8185e8129e041d76aa83bf941fab0753f3a2ebe08b865b77db39f63cc479180100f201b0b177271117da6ab4fabc11\
     cbd92b401a85cad3c7eb6417c5b216f0d102";
const OTHER: &str = "9833046774858016092b06010401da470f010107404aa947a9a722e783f52f85bb5bfa4922442bbf1ae70ce837152bcb16b4\
     e7e16ab407616e6f7468657288900413160800381621043fe446d591e1df84284c80965efd1208996edfb005026774858002\
     1b23050b0908070206150a09080b020416020301021e01021780000a09105efd1208996edfb03b280100b1c3cd12fd8a6ed0\
     b8a3e2b4ac723d1b7a275632aded7d473d291f74ebd1427701009c7469a633d58b0df7581b2b626d8c1a0d27f276ad90050d\
     d2cb60c7c4e2410e";

const SIGNED: &str = "\
-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

Origin: Debian
Codename: trixie
SHA256:
 abcd 1 main/x
- - a line with a dash
-----BEGIN PGP SIGNATURE-----

iHUEARYIAB0WIQTmYrZVoEe0Cj5OWljKn4nK2XqqDAUCZ3XXAAAKCRDKn4nK2Xqq
DA3PAP9kPkTv2OfwB1MO6R8bq+1Fcuu+/HzklbUOvwaRZKqSsgEAmCRSWdDar3J8
EBY4ECStwYuOaEQA4BwKqJYmrvfFBQ0=
=8Rns
-----END PGP SIGNATURE-----
";

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn host(path: &str) -> Host {
    Host { vars: vec![("PATH".into(), path.into())], ..Host::bare() }
}

/// Checks the text with these keys, or says that this machine cannot.
fn checked(text: &str, keys: &[&str]) -> Option<Result<Checked, Failure>> {
    if !Path::new("/usr/bin/gpgv").exists() {
        eprintln!("skipped: there is no /usr/bin/gpgv");
        return None;
    }
    let place = tempfile::tempdir().unwrap();
    let write = |(at, key): (usize, &&str)| {
        let file = place.path().join(format!("{at}.gpg"));
        fs::write(&file, bytes(key)).unwrap();
        file
    };
    let keys = keys.iter().enumerate().map(write).collect();
    Some(check(&host("/usr/bin"), &mirror(keys), text.as_bytes(), "http://x/InRelease"))
}

fn mirror(keys: Vec<PathBuf>) -> Mirror {
    Mirror { place: Place { url: "http://x".into(), origin: "test".into() }, keys }
}

#[test]
fn a_good_signature_gives_the_signed_text() {
    let text = "Origin: Debian\nCodename: trixie\nSHA256:\n abcd 1 main/x\n- a line with a dash\n";
    for keys in [&[KEY][..], &[OTHER, KEY]] {
        let Some(checked) = checked(SIGNED, keys) else { return };
        assert_eq!(checked.unwrap(), Checked { text: text.to_owned(), unchecked: None });
    }
}

#[test]
fn changed_text_and_a_stranger_are_refused() {
    let Some(changed) = checked(&SIGNED.replace("abcd", "abce"), &[KEY]) else { return };
    let changed = changed.unwrap_err();
    assert_eq!(changed.exit, Exit::BadBytes);
    assert_eq!(changed.message, "http://x/InRelease does not have the contents that Debian signed");
    let stranger = checked(SIGNED, &[OTHER]).unwrap().unwrap_err();
    assert_eq!(stranger.exit, Exit::BadBytes);
    assert!(stranger.message.contains("is not signed by a key in "), "{stranger}");
    let cut = SIGNED.replace("iHUE", "");
    assert_eq!(checked(&cut, &[KEY]).unwrap().unwrap_err().exit, Exit::BadBytes);
}

#[test]
fn without_gpgv_or_keys_it_is_said() {
    let check = |path: &str, keys| check(&host(path), &mirror(keys), SIGNED.as_bytes(), "x").unwrap();
    let empty = tempfile::tempdir().unwrap();
    let without = check(&empty.path().display().to_string(), vec!["/k".into()]);
    let said = "Debian's signature was not checked: gpgv is not installed";
    assert_eq!(without.unchecked.as_deref(), Some(said));
    assert!(without.text.starts_with("Origin: Debian\n"));
    if Path::new("/usr/bin/gpgv").exists() {
        let said = "Debian's signature was not checked: there is no debian-archive-keyring here";
        assert_eq!(check("/usr/bin", Vec::new()).unchecked.as_deref(), Some(said));
    }
    assert_eq!(
        super::check(&host(""), &mirror(Vec::new()), b"Origin: Debian\n", "x").unwrap_err().exit,
        Exit::BadBytes
    );
}

#[test]
fn one_good_signature_is_enough_and_a_bad_one_too_much() {
    let good = "[GNUPG:] GOODSIG 0E98404D386FA1D9 Debian\n";
    let absent =
        "gpgv: Can't check signature\n[GNUPG:] ERRSIG 6ED0E7B8 1 8 01 9\n[GNUPG:] NO_PUBKEY 6ED0E7B8\n";
    let bad = "[GNUPG:] BADSIG 0E98404D386FA1D9 Debian\n";
    assert_eq!(verdict(good), Verdict::Good);
    assert_eq!(verdict(&format!("{absent}{good}")), Verdict::Good);
    assert_eq!(verdict(&format!("{good}{bad}")), Verdict::Bad);
    assert_eq!(verdict(absent), Verdict::Unknown);
    assert_eq!(verdict("[GNUPG:] EXPKEYSIG 0E98404D386FA1D9 Debian\n"), Verdict::Unknown);
    assert_eq!(verdict("gpgv: no valid OpenPGP data found.\n"), Verdict::Silent);
    assert_eq!(verdict("GOODSIG\n"), Verdict::Silent);
}
