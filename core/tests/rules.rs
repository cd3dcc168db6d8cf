//! The laws of entering and leaving, over generated environments and over those that real start files give; and which
//! toolkit is chosen where.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bashrc;
mod explained;
mod generated;
mod laws;
mod map_disk;
mod places;
mod resolution;

use cudaup_core::activate::{Entered, Scope, activate};
use cudaup_core::environment::{LISTS, Vars, leave};
use cudaup_core::home::Home;
use cudaup_core::list::split;
use cudaup_core::request::Request;
use cudaup_core::resolve::World;
use map_disk::MapDisk;
use proptest::prelude::*;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::LazyLock;

const HOME: &str = "/home/u/.cudaup";

fn disk() -> MapDisk {
    MapDisk::default()
        .toolkit("/home/u/.cudaup/toolkits/12.4.1", "12.4.1")
        .toolkit("/home/u/.cudaup/toolkits/13.0.2", "13.0.2")
        .toolkit("/usr/local/cuda-11.8", "11.8.0")
        .with("/home/u/p/.cuda-version", "12.4\n")
        .with(
            "/home/u/off/.cuda-version",
            "13.0\nld_library_path = off\ncpath = off\nhost_compiler = g++-12\n",
        )
        .with("/home/u/sys/.cuda-version", "11.8\nhost_compiler = g++-11\n")
        .addon("/home/u/.cudaup/addons/cudnn/9.8.0.87-cuda12")
        .addon("/home/u/.cudaup/addons/cudnn/9.9.0.52-cuda11")
        .addon("/home/u/.cudaup/addons/nccl/2.21.5-cuda12")
        .with("/home/u/.cudaup/addons/nccl/2.21.5-cuda12/lib/pkgconfig/nccl.pc", "")
        .with("/home/u/with/.cuda-version", "12.4\ncudnn = 9\nnccl = 2.21\n")
        .with("/home/u/with-off/.cuda-version", "12.4\ncudnn = 9.8\nld_library_path = off\ncpath = off\n")
        .with("/home/u/without/.cuda-version", "13.0\ncudnn = 9.8\n")
        .with("/home/u/missing/.cuda-version", "12.9\n")
        .with("/home/u/odd/.cuda-version", "$(touch x)\n")
}

fn entered_at(vars: &Vars, cwd: &str) -> (Vars, Entered) {
    let (home, disk) = (Home::new(HOME), disk());
    let world = World { vars, cwd: Some(Path::new(cwd)), home: &home, disk: &disk };
    let activation = activate(&world, None, Scope::Asked);
    (activation.vars, activation.entered)
}

const PLACES: [&str; 8] = [
    "/home/u/p",
    "/home/u/off",
    "/home/u/sys",
    "/home/u/with",
    "/home/u/with-off",
    "/home/u/without",
    "/home/u/missing",
    "/home/u/odd",
];

fn element() -> impl Strategy<Value = Vec<u8>> {
    let known: Vec<&[u8]> = vec![
        b"",
        b"/usr/bin",
        b"/usr/local/cuda/bin",
        b"/usr/local/cuda-11.8/bin",
        b"/usr/local/cuda-11.8/lib64",
        b"/usr/local/cuda/lib64/stubs",
        b"/usr/local/cuda/compat",
        b"/home/u/.cudaup/toolkits/12.4.1/bin",
        b"/home/u/.cudaup/toolkits/12.4.1/lib64",
        b"/home/u/.cudaup/toolkits/9.9.9/include",
        b"/home/u/.cudaup/addons/cudnn/9.8.0.87-cuda12/lib",
        b"/home/u/.cudaup/addons/cudnn/8.9.7.29-cuda11/include",
        b"/home/u/.cudaup/shims",
        b"/opt/my tools/bin",
        b"/apps/CUDA/11.7/lib64",
        b"/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/12.3/bin",
        b"/usr/lib/nvidia-cuda-toolkit/bin",
        b"/opt/conda/envs/cuda-ml/bin",
        b"/usr/lib/wsl/lib",
        b"/\xff\xfe/bin",
        b".",
    ];
    let any_bytes = proptest::collection::vec(
        any::<u8>().prop_filter("neither NUL nor colon", |b| *b != 0 && *b != b':'),
        0..8,
    );
    prop_oneof![4 => proptest::sample::select(known).prop_map(<[u8]>::to_vec), 1 => any_bytes]
}

fn list() -> impl Strategy<Value = Option<OsString>> {
    proptest::option::of(
        proptest::collection::vec(element(), 0..7).prop_map(|e| OsString::from_vec(e.join(&b':'))),
    )
}

fn scalar() -> impl Strategy<Value = Option<OsString>> {
    proptest::option::of(prop_oneof![
        Just(OsString::new()),
        Just(OsString::from("/usr/local/cuda-11.8")),
        Just(OsString::from("/usr/local/cuda-11.8/bin/nvcc")),
        Just(OsString::from("/apps/CUDA/11.7")),
        Just(OsString::from("/usr/local/cuda:")),
        Just(OsString::from_vec(b"/with blank\xff;'\"$(x)\n".to_vec())),
    ])
}

const SCALARS: [&str; 12] = [
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_ROOT",
    "CUDAToolkit_ROOT",
    "CUDA_TOOLKIT_ROOT_DIR",
    "CUDACXX",
    "CUDAHOSTCXX",
    "NVCC_PREPEND_FLAGS",
    "EBROOTCUDA",
    "CUDNN_HOME",
    "NCCL_ROOT",
    "NVSHMEM_HOME",
];

fn environment() -> impl Strategy<Value = Vars> {
    (proptest::collection::vec(list(), LISTS.len()), proptest::collection::vec(scalar(), SCALARS.len()))
        .prop_map(|(lists, scalars)| {
            let mut vars: Vars = [("HOME", "/home/u"), ("TERM", "dumb")].into_iter().collect();
            LISTS.iter().zip(lists).for_each(|(n, v)| vars.put(n, v));
            SCALARS.iter().zip(scalars).for_each(|(n, v)| vars.put(n, v));
            vars
        })
}

/// How many elements of a list are not a toolkit's and not ours, in order.
fn bystanders(vars: &Vars, name: &str) -> Vec<OsString> {
    let toolkit = |e: &OsString| {
        let text = e.to_string_lossy();
        text.contains("cuda") && !text.ends_with("compat") && !text.ends_with("shims")
            || text.contains("/apps/CUDA")
    };
    vars.get(name).map(split).unwrap_or_default().into_iter().filter(|e| !toolkit(e)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn leaving_brings_back_what_was(e in environment(), place in proptest::sample::select(PLACES.to_vec())) {
        let (inside, _) = entered_at(&e, place);
        prop_assert_eq!(leave(&inside).vars, e);
    }

    #[test]
    fn the_second_place_does_not_see_the_first(
        e in environment(),
        a in proptest::sample::select(PLACES.to_vec()),
        b in proptest::sample::select(PLACES.to_vec()),
    ) {
        let (inside_a, _) = entered_at(&e, a);
        prop_assert_eq!(entered_at(&inside_a, b).0, entered_at(&e, b).0);
    }

    #[test]
    fn entering_twice_changes_nothing(e in environment(), place in proptest::sample::select(PLACES.to_vec())) {
        let (inside, _) = entered_at(&e, place);
        prop_assert_eq!(&entered_at(&inside, place).0, &inside);
    }

    #[test]
    fn what_is_not_ours_keeps_its_order(e in environment(), place in proptest::sample::select(PLACES.to_vec())) {
        let (inside, entered) = entered_at(&e, place);
        for name in LISTS {
            let (before, mut after) = (bystanders(&e, name), bystanders(&inside, name));
            let refused = matches!(entered, Entered::Refused(_));
            if refused && name == "PATH" && after.len() > before.len() {
                after.remove(0);
            }
            let lone_empty_one_went = before == [OsString::new()] && after.is_empty();
            prop_assert!(before == after || lone_empty_one_went, "{}: {:?} {:?}", name, before, after);
        }
    }

    #[test]
    fn no_empty_element_is_made(e in environment(), place in proptest::sample::select(PLACES.to_vec())) {
        let (inside, _) = entered_at(&e, place);
        let empty = |v: &Vars, n| v.get(n).map(split).unwrap_or_default().iter().filter(|x| x.is_empty()).count();
        for name in LISTS {
            prop_assert!(empty(&inside, name) <= empty(&e, name), "{}", name);
            prop_assert!(inside.get(name) != Some(OsStr::new("")) || e.get(name) == Some(OsStr::new("")));
        }
    }

    #[test]
    fn what_the_user_changed_since_stays(
        e in environment(),
        place in proptest::sample::select(PLACES.to_vec()),
        prepended in "/my/[a-z]{1,5}",
        set in proptest::option::of("/mine/[a-z]{1,3}"),
    ) {
        let (mut inside, _) = entered_at(&e, place);
        for name in LISTS {
            let value = [vec![OsString::from(&prepended)], inside.get(name).map(split).unwrap_or_default()].concat();
            inside.put(name, Some(cudaup_core::list::join(&value)));
        }
        inside.put("CUDA_HOME", set.as_ref().map(OsString::from));
        let after = leave(&inside).vars;
        for name in LISTS {
            let mut expected = e.get(name).map(split).unwrap_or_default();
            expected.insert(0, OsString::from(&prepended));
            let mut now = after.get(name).map(split).unwrap_or_default();
            let first = now.first().cloned();
            prop_assert!(now.contains(&OsString::from(&prepended)), "{}: {:?}", name, first);
            // All that was there is there again, whatever its place; nothing of ours is left.
            now.sort();
            expected.sort();
            prop_assert_eq!(now, expected, "{}", name);
        }
        let ours_was_unset = matches!(place, "/home/u/missing" | "/home/u/odd" | "/home/u/without");
        if set.is_none() && ours_was_unset {
            prop_assert_eq!(after.get("CUDA_HOME"), e.get("CUDA_HOME"));
        } else {
            prop_assert_eq!(after.get("CUDA_HOME").map(OsStr::to_os_string), set.map(OsString::from));
        }
    }

    #[test]
    fn everything_names_one_toolkit(e in environment(), place in proptest::sample::select(PLACES[..5].to_vec())) {
        let (inside, entered) = entered_at(&e, place);
        let Entered::Toolkit(choice) = entered else { return Err(TestCaseError::fail("a toolkit is there")) };
        let root = choice.toolkit.root.as_os_str();
        for name in &SCALARS[..5] {
            prop_assert_eq!(inside.get(name), Some(root), "{}", name);
        }
        for name in LISTS {
            for entry in inside.get(name).map(split).unwrap_or_default() {
                let text = entry.as_bytes();
                let of_a_toolkit = text.starts_with(b"/usr/local/cuda")
                    || text.starts_with(b"/home/u/.cudaup/toolkits")
                    || text.starts_with(b"/home/u/.cudaup/addons");
                let of_addon = choice.addons.iter().any(|a| Path::new(&entry).starts_with(&a.root));
                let ours = Path::new(&entry).starts_with(root) || of_addon || text.ends_with(b"/compat");
                prop_assert!(!of_a_toolkit || ours, "{}: {:?}", name, entry);
            }
        }
        for addon in &choice.addons {
            for name in addon.library.variables {
                prop_assert_eq!(inside.get(name), Some(addon.root.as_os_str()), "{}", name);
            }
        }
        prop_assert_eq!(inside.get("NVSHMEM_HOME"), e.get("NVSHMEM_HOME"), "nobody asks for it");
        let first = split(inside.get("PATH").unwrap()).into_iter().next();
        prop_assert_eq!(first, Some(choice.toolkit.root.join("bin").into_os_string()));
    }
}

const REQUESTS: [&str; 8] = ["12.4", "11.5", "12.6", "12.3", "11.7", "12.1", "12.2", "9.9"];

/// Environments that also bring a toolkit: conda's, a module's, Spack's.
fn with_toolkits() -> impl Strategy<Value = Vars> {
    let brought = [
        ("CONDA_PREFIX", "/opt/conda/envs/cuda-ml"),
        ("EBROOTCUDA", "/apps/CUDA/11.7"),
        ("LOADEDMODULES", "gcc/12:cuda/12.1"),
        ("CUDA_ROOT", "/sw/spack/linux-zen2/cuda-12.1.1-4kjh3x7"),
    ];
    (environment(), proptest::sample::subsequence(brought.to_vec(), 0..=4)).prop_map(|(mut vars, brought)| {
        for (name, value) in brought {
            vars.put(name, Some(value.into()));
        }
        vars
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn toolkits_of_other_layouts_hold_the_laws(
        e in with_toolkits(),
        a in proptest::sample::select(REQUESTS.to_vec()),
        b in proptest::sample::select(REQUESTS.to_vec()),
        is_jetson in any::<bool>(),
    ) {
        static DISKS: LazyLock<[MapDisk; 2]> = LazyLock::new(|| {
            let plain = places::disk();
            [plain.clone(), plain.with("/etc/nv_tegra_release", "# R36")]
        });
        let disk = &DISKS[usize::from(is_jetson)];
        let (inside, _) = places::entered(disk, &e, a);
        prop_assert_eq!(&leave(&inside).vars, &e);
        prop_assert_eq!(&places::entered(disk, &inside, a).0, &inside);
        prop_assert_eq!(places::entered(disk, &inside, b).0, places::entered(disk, &e, b).0);
        if is_jetson {
            prop_assert_eq!(inside.get("LD_LIBRARY_PATH"), e.get("LD_LIBRARY_PATH"));
        }
        let empty = |v: &Vars, n| v.get(n).map(split).unwrap_or_default().iter().filter(|x| x.is_empty()).count();
        for name in LISTS {
            prop_assert!(empty(&inside, name) <= empty(&e, name), "{}", name);
        }
        explained::explanation_holds(disk, &e, a).map_err(TestCaseError::fail)?;
        explained::explanation_holds(disk, &inside, b).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn start_files_of_real_users_are_left_byte_for_byte() {
    assert!(bashrc::ENVIRONMENTS.len() >= 20);
    for (name, pairs) in bashrc::ENVIRONMENTS {
        let e: Vars = pairs.iter().copied().collect();
        for place in PLACES {
            let (inside, _) = entered_at(&e, place);
            assert_eq!(leave(&inside).vars, e, "{name} at {place}");
            for list in ["PATH", "LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH"] {
                for entry in inside.get(list).map(split).unwrap_or_default() {
                    let text = entry.to_string_lossy().into_owned();
                    let foreign =
                        ["/usr/local/cuda", "/opt/cuda", "/apps/CUDA/", "/home/u/cuda-", "/sw/cuda/"];
                    let ours = place == "/home/u/sys" && text.starts_with("/usr/local/cuda-11.8/");
                    let stays = text.ends_with("/compat") || text.contains("samples");
                    assert!(
                        ours || stays || !foreign.iter().any(|f| text.starts_with(f)),
                        "{name}: {list} keeps {text}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_state_that_would_not_fit_is_refused_and_nothing_changes() {
    let long = format!("/usr/local/cuda-11.8/bin:{}", vec!["/usr/local/cuda-11.8/lib64"; 2000].join(":"));
    let e: Vars =
        [("HOME", "/home/u"), ("PATH", "/bin"), ("LD_LIBRARY_PATH", long.as_str())].into_iter().collect();
    let (inside, entered) = entered_at(&e, "/home/u/p");
    assert_eq!(inside, e);
    let Entered::Refused(refusal) = entered else { panic!("{entered:?}") };
    assert!(refusal.to_string().contains("32768"), "{refusal}");
}

#[test]
fn what_an_old_list_brought_back_of_ours_can_be_taken_out() {
    let e: Vars = [
        ("PATH", "/home/u/.cudaup/toolkits/13.0.2/bin:/home/u/.cudaup/shims:/usr/bin"),
        ("LD_LIBRARY_PATH", "/home/u/.cudaup/toolkits/13.0.2/lib64"),
        ("CPATH", "/mine:"),
        ("CUDA_HOME", "/home/u/.cudaup/toolkits/13.0.2"),
        ("CUDA_PATH", "/usr/local/cuda"),
    ]
    .into_iter()
    .collect();
    let clean: Vars =
        [("PATH", "/home/u/.cudaup/shims:/usr/bin"), ("CPATH", "/mine:"), ("CUDA_PATH", "/usr/local/cuda")]
            .into_iter()
            .collect();
    assert_eq!(cudaup_core::environment::without_stale(&e, &Home::new(HOME)), clean);
}

#[test]
fn a_state_that_cannot_be_read_is_as_if_absent_and_said() {
    let mut e: Vars = [("HOME", "/home/u"), ("PATH", "/bin")].into_iter().collect();
    e.put("CUDAUP_STATE", Some("1;pin;nonsense%".into()));
    let (home, disk) = (Home::new(HOME), disk());
    let world = World { vars: &e, cwd: Some(Path::new("/home/u/p")), home: &home, disk: &disk };
    let activation = activate(&world, Some(&Request::parse("12.4").unwrap()), Scope::All);
    assert_eq!(activation.notes.len(), 1, "{:?}", activation.notes);
    assert_eq!(activation.vars.get("CUDA_HOME"), Some(OsStr::new("/home/u/.cudaup/toolkits/12.4.1")));
}
