//! Decisions about made-up facts.

use super::*;
use crate::source::plan::{Part, Placement};
use crate::toolkit::receipt;
use cudaup_core::identity::Identity;

fn order(request: &str) -> Order {
    Order {
        place: Place::Home,
        request: Version::parse(request),
        wish: Wish::of(Profile::Default),
        amount_given: false,
        upgrade: false,
        verify: true,
        dry_run: false,
        source: "pypi",
        from: None,
        platform: None,
    }
}

fn nothing() -> Facts {
    Facts {
        platform: Some(Platform::LinuxX86_64),
        recorded: None,
        present: None,
        receipt: None,
        driver: None,
        other_owner: None,
    }
}

fn toolkit(kind: Kind) -> Toolkit {
    Toolkit {
        root: "/home/u/.cudaup/toolkits/13.0.3".into(),
        kind,
        identity: Identity::certain(Version::exact(13, 0, 3)),
    }
}

fn minimal() -> Facts {
    let part = |name: &str| receipt::Part { name: name.into(), ..receipt::Part::default() };
    let parts = ["cuda_nvcc", "cuda_crt", "libnvvm", "cuda_cudart", "cuda_cccl"].map(part).to_vec();
    let receipt = Receipt { profile: "minimal".into(), source: "pypi".into(), parts, ..Receipt::default() };
    Facts { present: Some(toolkit(Kind::Managed)), receipt: Some(receipt), ..nothing() }
}

fn decide(order: &Order, facts: &Facts) -> Result<First, Failure> {
    first(order, facts, Path::new("/home/u/.cudaup"))
}

const ASK: First = First::Ask(Platform::LinuxX86_64);

#[test]
fn another_machines_toolkit_is_planned_and_not_installed() {
    let on = |platform, dry_run| Order { platform: Some(platform), dry_run, ..order("13.0") };
    assert_eq!(decide(&on(Platform::LinuxSbsa, true), &minimal()).unwrap(), First::Ask(Platform::LinuxSbsa));
    assert_eq!(decide(&on(Platform::LinuxSbsa, false), &nothing()).unwrap_err().exit, Exit::Usage);
    assert_eq!(decide(&on(Platform::LinuxX86_64, false), &nothing()).unwrap(), ASK);
    let server = Facts { platform: Some(Platform::LinuxSbsa), ..nothing() };
    let tegra = First::Ask(Platform::LinuxAarch64);
    assert_eq!(decide(&on(Platform::LinuxAarch64, false), &server).unwrap(), tegra);
}

#[test]
fn what_is_there_needs_no_network() {
    assert_eq!(decide(&order("13.0"), &nothing()).unwrap(), ASK);
    assert_eq!(decide(&order("13.0"), &minimal()).unwrap(), First::Present(toolkit(Kind::Managed)));
    let system = Facts { present: Some(toolkit(Kind::System)), ..nothing() };
    assert_eq!(decide(&order("13.0"), &system).unwrap(), First::Present(toolkit(Kind::System)));
    assert_eq!(decide(&Order { upgrade: true, ..order("13.0") }, &minimal()).unwrap(), ASK);
}

#[test]
fn a_component_in_anothers_archive_is_there() {
    let mut facts = minimal();
    let wish = Wish::read(None, &["cuobjdump"]).unwrap();
    let order = Order { wish, amount_given: true, ..order("13.0") };
    assert!(matches!(decide(&order, &facts).unwrap(), First::Grow(..)));
    facts.receipt.as_mut().unwrap().parts[0].files = vec!["bin/cuobjdump".into()];
    assert_eq!(decide(&order, &facts).unwrap(), First::Present(toolkit(Kind::Managed)));
}

#[test]
fn an_amount_that_was_asked_for_is_held_against_what_is_there() {
    let with = |wish: Wish| Order { wish, amount_given: true, ..order("13.0") };
    assert!(matches!(decide(&with(Wish::of(Profile::Minimal)), &minimal()), Ok(First::Present(_))));
    assert!(matches!(decide(&with(Wish::read(None, &["nvcc"]).unwrap()), &minimal()), Ok(First::Present(_))));
    let grown = |wish: Wish| match decide(&with(wish), &minimal()).unwrap() {
        First::Grow(Platform::LinuxX86_64, wish, source) => {
            (wish.profile, wish.components.iter().map(|c| c.name).collect::<Vec<_>>(), source)
        }
        other => panic!("{other:?}"),
    };
    let there = ["cuda_nvcc", "cuda_crt", "libnvvm", "cuda_cudart", "cuda_cccl"];
    assert_eq!(grown(Wish::of(Profile::Full)), (Profile::Full, there.to_vec(), Some("pypi")));
    let (profile, components, _) = grown(Wish::read(None, &["cublas"]).unwrap());
    assert_eq!((profile, components), (Profile::Minimal, [&["libcublas"][..], &there].concat()));
    let mut piece = minimal();
    piece.receipt.as_mut().unwrap().parts[0].name = WHOLE.into();
    let refused = decide(&with(Wish::of(Profile::Full)), &piece).unwrap_err();
    assert!(refused.message.contains("in one piece from pypi, without the full profile"), "{refused}");
    let system = Facts { present: Some(toolkit(Kind::System)), ..nothing() };
    assert_eq!(decide(&with(Wish::of(Profile::Full)), &system).unwrap(), ASK);
}

#[test]
fn a_home_of_another_machine_is_refused() {
    let facts = Facts { recorded: Some("aarch64".into()), ..nothing() };
    let refused = decide(&order("13.0"), &facts).unwrap_err();
    assert_eq!(refused.message, "/home/u/.cudaup holds toolkits for aarch64, and this machine is x86_64");
    assert!(decide(&order("13.0"), &Facts { recorded: Some("x86_64".into()), ..nothing() }).is_ok());
    assert!(decide(&order("13.0"), &Facts { platform: None, ..nothing() }).is_err());
}

fn plan() -> Plan {
    let part = Part {
        name: "cuda_nvcc".into(),
        version: "13.0.88".into(),
        url: "https://files.example/x.whl".into(),
        local: None,
        file: "x.whl".into(),
        sha256: "00".repeat(32),
        size: 104_000_000,
        unpacked: Some(279_000_000),
        placement: Placement::default(),
    };
    Plan {
        version: Version::exact(13, 0, 3),
        platform: Platform::LinuxX86_64,
        source: "pypi",
        profile: Profile::Minimal,
        parts: vec![part],
        missing: Vec::new(),
        notes: Vec::new(),
        passed: Vec::new(),
    }
}

fn store(path: &str, free: u64, archives: bool, tree: bool) -> Store {
    Store { path: path.into(), free, archives, tree }
}

fn room(free: u64, loaded: u64) -> Room {
    Room { loaded, stores: vec![store("/h", free, true, true)] }
}

#[test]
fn each_disk_needs_room_for_what_it_takes() {
    let check = |staging, toolkits, cache| {
        let stores = vec![
            store("/scratch", staging, false, true),
            store("/h/toolkits", toolkits, false, true),
            store("/h", cache, true, false),
        ];
        let room = Room { loaded: 4_000_000, stores };
        fits(&plan(), &room).map_err(|f| f.message.split(" for 13").next().unwrap_or_default().to_owned())
    };
    assert_eq!(check(279_000_000, 279_000_000, 100_000_000), Ok(()));
    assert_eq!(check(278_999_999, u64::MAX, u64::MAX), Err("not enough room in /scratch".to_owned()));
    assert_eq!(check(u64::MAX, 278_999_999, u64::MAX), Err("not enough room in /h/toolkits".to_owned()));
    assert_eq!(check(u64::MAX, u64::MAX, 99_000_000), Err("not enough room in /h".to_owned()));
}

#[test]
fn room_is_counted_with_what_is_loaded_already() {
    let check = |free, loaded| fits(&plan(), &room(free, loaded));
    assert!(check(383_000_000, 0).is_ok());
    let refused = check(382_999_999, 0).unwrap_err();
    assert_eq!(
        refused.message,
        "not enough room in /h for 13.0.3: 383 MB are needed (104 MB to load and 279 MB on disk), 382 MB are free"
    );
    assert!(check(300_000_000, 100_000_000).is_ok());
}

#[test]
fn sizes_gaps_and_the_driver_are_said_first() {
    let room = room(31_000_000_000, 0);
    assert_eq!(
        announcement(&plan(), &room, &nothing()),
        ["13.0.3, minimal profile, from pypi: 1 part, 104 MB to load, about 279 MB on disk (31.0 GB free)"]
    );
    let plan = Plan { missing: vec!["cuda_gdb".into(), "cuda_nvprune".into()], ..plan() };
    let facts = Facts { driver: Some("535.183.01".into()), other_owner: Some(1000), ..nothing() };
    let lines = announcement(&plan, &room, &facts);
    assert_eq!(lines[1], "pypi does not have cuda_gdb, cuda_nvprune");
    assert!(lines[2].starts_with("driver 535.183.01 does not run its programs"), "{lines:?}");
    assert!(lines[3].contains("user 1000"), "{lines:?}");
}
