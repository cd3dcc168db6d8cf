//! Which toolkit is chosen where, and what is said when none can be.

use crate::map_disk::{MapDisk, Node};
use cudaup_core::activate::{Scope, activate, newcomer, shims_last};
use cudaup_core::environment::Vars;
use cudaup_core::home::Home;
use cudaup_core::inventory::Kind;
use cudaup_core::refusal::Refusal;
use cudaup_core::request::Request;
use cudaup_core::resolve::{Choice, World, resolve};
use std::ffi::OsStr;
use std::path::Path;

const HOME: &str = "/home/u/.cudaup";

fn disk() -> MapDisk {
    let head = |machine: u8| {
        let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0".to_vec();
        head.extend([machine, 0]);
        Node::File(head)
    };
    MapDisk::default()
        .toolkit("/home/u/.cudaup/toolkits/12.4.1", "12.4.1")
        .toolkit("/home/u/.cudaup/toolkits/12.4.0", "12.4.0")
        .toolkit("/data/cuda 12.6", "12.6.3")
        .node("/home/u/.cudaup/toolkits/mine", Node::Link("/data/cuda 12.6".into()))
        .node("/home/u/.cudaup/toolkits/gone", Node::Link("/data/gone".into()))
        .toolkit("/usr/local/cuda-11.8", "11.8.0")
        .toolkit("/usr/local/cuda-12.9", "12.9.1")
        .node("/usr/local/cuda-12", Node::Link("/usr/local/cuda-12.9".into()))
        .node("/usr/local/cuda", Node::Link("/usr/local/cuda-11.8".into()))
        .toolkit("/usr/local/cuda-13.0", "13.0.2")
        .node("/usr/local/cuda-13.0/bin/nvcc", head(if cfg!(target_arch = "aarch64") { 0x3e } else { 0xb7 }))
        .with("/usr/local/cuda-9.9/README", "neither nvcc nor libraries")
        .toolkit("/shared/nvidia/11.6", "11.6.2")
}

fn at(
    disk: &MapDisk,
    cwd: &str,
    vars: &[(&str, &str)],
    argument: Option<&str>,
) -> Result<Option<Choice>, Refusal> {
    let vars: Vars = vars.iter().copied().collect();
    let home = Home::new(HOME);
    let world = World { vars: &vars, cwd: Some(Path::new(cwd)), home: &home, disk };
    resolve(&world, argument.map(|a| Request::parse(a).unwrap()).as_ref())
}

fn root(disk: &MapDisk, request: &str) -> String {
    at(disk, "/", &[], Some(request)).unwrap().unwrap().toolkit.root.display().to_string()
}

fn said(disk: &MapDisk, cwd: &str, vars: &[(&str, &str)]) -> String {
    at(disk, cwd, vars, None).unwrap_err().to_string()
}

#[test]
fn candidates_in_their_order() {
    let disk = disk();
    assert_eq!(
        root(&disk, "12"),
        "/home/u/.cudaup/toolkits/12.4.1",
        "a managed one that fits, although newer ones exist"
    );
    assert_eq!(root(&disk, "12.6"), "/data/cuda 12.6");
    assert_eq!(root(&disk, "mine"), "/data/cuda 12.6");
    assert_eq!(root(&disk, "12.9"), "/usr/local/cuda-12.9");
    assert_eq!(root(&disk, "system"), "/usr/local/cuda-11.8", "what /usr/local/cuda points to");
    assert_eq!(root(&disk, "latest"), "/usr/local/cuda-12.9", "never the one for another machine");
}

#[test]
fn equal_versions_managed_then_linked_then_the_machines() {
    let mut disk = disk().toolkit("/usr/local/cuda-12.6", "12.6.3").toolkit("/usr/local/cuda-12.4", "12.4.1");
    assert_eq!(root(&disk, "12.6.3"), "/data/cuda 12.6");
    assert_eq!(root(&disk, "12.4.1"), "/home/u/.cudaup/toolkits/12.4.1");
    disk.0.retain(|path, _| !path.starts_with("/home/u/.cudaup/toolkits/mine"));
    assert_eq!(root(&disk, "12.6.3"), "/usr/local/cuda-12.6");
}

#[test]
fn the_first_rule_that_says_something() {
    let disk = disk()
        .with("/p/.cuda-version", "12.4.0\n")
        .with("/p/a/b/.cuda-version", "# nearest\n12.9\n")
        .with("/home/u/.cudaup/default", "12.6\nroots = /shared/nvidia\n")
        .with("/etc/cudaup/default", "11.8\nld_library_path = off\n");
    let version = |cwd, vars| at(&disk, cwd, vars, None).unwrap().unwrap().toolkit.identity.to_string();
    assert_eq!(version("/p/a/b/c", &[]), "12.9.1");
    assert_eq!(version("/p/a", &[]), "12.4.0");
    assert_eq!(version("/p/a", &[("CUDAUP_VERSION", "11.8")]), "11.8.0");
    assert_eq!(version("/p/a", &[("CUDAUP_VERSION", "")]), "12.4.0");
    assert_eq!(version("/elsewhere", &[]), "12.6.3");
    assert_eq!(version("/p/a", &[("CUDAUP_CEILING", "/p")]), "12.6.3", "the walk ends below the ceiling");
    let choice = at(&disk, "/elsewhere", &[], Some("11.6")).unwrap().unwrap();
    assert_eq!(choice.toolkit.kind, Kind::Shared);
    assert_eq!(
        choice.settings.ld_library_path,
        Some(false),
        "the machine's default holds where nobody says otherwise"
    );
}

#[test]
fn a_pin_that_cannot_be_met_never_falls_through() {
    let disk = disk()
        .with("/home/u/.cudaup/default", "12.4\n")
        .with("/absent/.cuda-version", "\n12.7\n")
        .with("/spelled/.cuda-version", "cu124\n")
        .with("/evil/.cuda-version", "$(touch x)\n")
        .with("/name/.cuda-version", "unknown\n")
        .with("/gone/.cuda-version", "gone\n")
        .with("/addon/.cuda-version", "12.4\ncudnn = 9.8\n")
        .with("/dir/.cuda-version/x", "")
        .node("/fifo/.cuda-version", Node::Fifo)
        .node("/closed/.cuda-version", Node::Closed)
        .with("/large/.cuda-version", &"x".repeat(70_000));
    for (cwd, text) in [
        (
            "/absent",
            "CUDA 12.7 is not installed (/absent/.cuda-version:2 asks for it); at hand: 12.9.1, mine (12.6.3), 12.4.1",
        ),
        ("/spelled", "/spelled/.cuda-version:1: `cu124` is no CUDA version; did you mean 12.4?"),
        ("/evil", "/evil/.cuda-version:1: `$(touch x)` is no CUDA version"),
        ("/name", "there is no toolkit named unknown (/name/.cuda-version:1 asks for it)"),
        ("/gone", "the directory of the linked toolkit gone was removed: /data/gone"),
        ("/addon", "cudnn 9.8 for CUDA 12 is not installed (/addon/.cuda-version:2 asks for it)"),
        ("/dir", "could not read /dir/.cuda-version: it is a directory, not a file"),
        ("/fifo", "could not read /fifo/.cuda-version: it is a FIFO, not a file"),
        ("/closed", "could not read /closed/.cuda-version: permission denied"),
        ("/large", "could not read /large/.cuda-version: it is larger than 64 KiB"),
    ] {
        let refusal = said(&disk, cwd, &[]);
        assert!(refusal.starts_with(text), "{cwd}: {refusal}");
    }
    assert!(said(&disk, "/", &[("CUDAUP_VERSION", "12.8")]).contains("(CUDAUP_VERSION asks for it)"));
    let refusal = at(&disk, "/absent", &[], None).unwrap_err();
    assert!(
        refusal.tries()[0].starts_with("cudaup link NAME DIRECTORY"),
        "there is no 12.7 that could be installed"
    );
    let newer = at(&disk, "/", &[("CUDAUP_VERSION", "13.4")], None).unwrap_err();
    assert_eq!(newer.tries(), ["cudaup install 13.4"]);
}

#[test]
fn an_add_on_is_paired_with_the_toolkits_major() {
    let addons = "/home/u/.cudaup/addons";
    let disk = disk()
        .addon(&format!("{addons}/cudnn/9.8.0.87-cuda12"))
        .addon(&format!("{addons}/cudnn/9.10.2.21-cuda12"))
        .addon(&format!("{addons}/cudnn/9.11.0.98-cuda13"))
        .addon(&format!("{addons}/cudnn/8.9.7.29-cuda11"))
        .addon(&format!("{addons}/cudnn/9.12-cuda12.lock"))
        .with(&format!("{addons}/cudnn/9.99.0.1-cuda12"), "a file")
        .addon("/shared/cudaup/addons/cudnn/9.12.0.46-cuda12")
        .addon("/shared/cudaup/addons/nccl/2.21.5-cuda12")
        .with("/home/u/.cudaup/default", "nccl = 2.21\nroots = /shared/cudaup\n")
        .with("/nine/.cuda-version", "12.4\ncudnn = 9\n")
        .with("/exact/.cuda-version", "12.4.1\ncudnn = 9.8.0.87\n")
        .with("/shared-one/.cuda-version", "12.4\ncudnn = 9.12\n")
        .with("/old/.cuda-version", "11.8\ncudnn = 8.9\nnccl = off\n")
        .with("/none/.cuda-version", "11.8\nnccl = off\n\ncudnn = 9.8\n")
        .with("/default/.cuda-version", "11.8\n");
    let found = |cwd: &str| {
        let choice = at(&disk, cwd, &[], None).unwrap().unwrap();
        choice.addons.iter().map(|a| format!("{} {}", a.library.name, a.root.display())).collect::<Vec<_>>()
    };
    let nccl = "nccl /shared/cudaup/addons/nccl/2.21.5-cuda12";
    assert_eq!(found("/nine"), [&format!("cudnn {addons}/cudnn/9.10.2.21-cuda12"), nccl]);
    assert_eq!(found("/exact"), [&format!("cudnn {addons}/cudnn/9.8.0.87-cuda12"), nccl]);
    assert_eq!(found("/shared-one"), ["cudnn /shared/cudaup/addons/cudnn/9.12.0.46-cuda12", nccl]);
    assert_eq!(found("/old"), [format!("cudnn {addons}/cudnn/8.9.7.29-cuda11")]);
    let refusal = at(&disk, "/none", &[], None).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "cudnn 9.8 for CUDA 11 is not installed (/none/.cuda-version:4 asks for it); installed: 9.11.0.98 for CUDA 13, \
         9.10.2.21 for CUDA 12, 9.8.0.87 for CUDA 12, 8.9.7.29 for CUDA 11, 9.12.0.46 for CUDA 12"
    );
    assert_eq!(refusal.tries(), ["cudaup add cudnn@9.8"]);
    let by_default = at(&disk, "/default", &[], None).unwrap_err();
    assert!(
        by_default.to_string().starts_with(
            "nccl 2.21 for CUDA 11 is not installed (/home/u/.cudaup/default:1 asks for it); installed: 2.21.5 for CUDA 12"
        ),
        "{by_default}"
    );
    let elsewhere = at(&disk, "/nine", &[], Some("11.8")).unwrap_err();
    assert_eq!(elsewhere.tries(), ["cudaup add nccl@2.21 --cuda 11"]);
}

#[test]
fn children_of_a_pinned_place_keep_the_keys_of_its_pin() {
    let addon = "/home/u/.cudaup/addons/cudnn/9.8.0.87-cuda12";
    let disk = disk()
        .addon(addon)
        .with("/p/.cuda-version", "12.4\ncudnn = 9\nhost_compiler = g++-12\n")
        .with("/l/.cuda-version", "mine\ncudnn = 9\n")
        .with("/odd/.cuda-version", "$(touch x)\n");
    let keys = |cwd: &str, version: &str| {
        let choice = at(&disk, cwd, &[("CUDAUP_VERSION", version)], None).unwrap().unwrap();
        (choice.addons.len(), choice.settings.host_compiler.is_some())
    };
    assert_eq!(keys("/p", "12.4.1"), (1, true), "what exec and shims hand on");
    assert_eq!(keys("/l", "mine"), (1, false));
    assert_eq!(keys("/p", "12.4.0"), (1, true), "another update of what the pin means");
    assert_eq!(keys("/p", "12.6.3"), (0, false), "another request");
    assert_eq!(keys("/p", "12"), (0, false), "not exact: somebody's own wish");
    assert_eq!(keys("/odd", "12.4.1"), (0, false), "a version that is given does not depend on the file");
}

#[test]
fn the_one_that_was_asked_for_goes_before_a_copy_inside_the_toolkit() {
    let addon = "/home/u/.cudaup/addons/cudnn/8.9.7.29-cuda11";
    let list = |disk: &MapDisk, name: &str| {
        let home = Home::new(HOME);
        let vars: Vars = [("CPATH", "/mine"), ("LD_LIBRARY_PATH", "")].into_iter().collect();
        let world = World { vars: &vars, cwd: Some(Path::new("/p")), home: &home, disk };
        activate(&world, None, Scope::Asked).vars.get(name).unwrap().to_str().unwrap().to_owned()
    };
    let clean = disk().addon(addon).with("/p/.cuda-version", "11.8\ncudnn = 8.9\n");
    let toolkit = "/usr/local/cuda-11.8";
    assert_eq!(list(&clean, "CPATH"), format!("{toolkit}/include:{addon}/include:/mine"));
    let lists = format!("{toolkit}/lib64:{toolkit}/extras/CUPTI/lib64:{addon}/lib");
    assert_eq!(list(&clean, "LD_LIBRARY_PATH"), lists);
    assert_eq!(list(&clean, "LIBRARY_PATH"), format!("{toolkit}/lib64:{addon}/lib:{toolkit}/lib64/stubs"));
    let copied = clean.with("/usr/local/cuda-11.8/include/cudnn.h", "");
    assert_eq!(list(&copied, "CPATH"), format!("{addon}/include:{toolkit}/include:/mine"));
}

#[test]
fn a_broken_default_does_not_stop_a_pinned_project() {
    let disk =
        disk().with("/home/u/.cudaup/default", "twelve point four\n").with("/p/.cuda-version", "12.4\n");
    assert_eq!(at(&disk, "/p", &[], None).unwrap().unwrap().toolkit.identity.to_string(), "12.4.1");
    assert!(said(&disk, "/", &[]).starts_with("/home/u/.cudaup/default:1: "));
}

#[test]
fn a_root_that_no_list_can_name_is_refused() {
    let disk = disk()
        .toolkit("/odd:place", "12.8.1")
        .node("/home/u/.cudaup/toolkits/odd", Node::Link("/odd:place".into()))
        .with("/p/.cuda-version", "odd\n");
    assert!(said(&disk, "/p", &[]).contains("cannot be used"));
    // One that nobody named is passed over, by whatever rule.
    let disk = MapDisk::default()
        .toolkit("/srv/a:b", "13.0.2")
        .toolkit("/srv/new\nline", "12.8.1")
        .toolkit("/srv/plain", "12.4.1")
        .with("/home/u/.cudaup/default", "roots = /srv\n");
    let (home, vars) = (Home::new(HOME), Vars::default());
    let world = World { vars: &vars, cwd: Some(Path::new("/absent")), home: &home, disk: &disk };
    let of = |request: Option<&str>| {
        let request = request.map(|r| Request::parse(r).unwrap());
        resolve(&world, request.as_ref()).map(|choice| choice.unwrap().toolkit.root)
    };
    for request in [None, Some("latest"), Some("12"), Some("system")] {
        assert_eq!(of(request), Ok("/srv/plain".into()), "{request:?}");
    }
    let why = of(Some("13")).unwrap_err().to_string();
    assert!(why.contains("/srv/a:b (broken: its path has `:`"), "{why}");
}

#[test]
fn a_toolkit_that_came_later_is_told_from_one_that_was_there() {
    let disk = disk()
        .with("/p/.cuda-version", "12.4\n")
        .with("/opt/conda/bin/nvcc", "")
        .with("/apps/cuda-11.7/bin/nvcc", "");
    let home = Home::new(HOME);
    let before: Vars =
        [("HOME", "/home/u"), ("PATH", "/usr/local/cuda/bin:/usr/bin"), ("CUDA_HOME", "/usr/local/cuda")]
            .into_iter()
            .collect();
    let here = |vars: &Vars| {
        let world = World { vars, cwd: Some(Path::new("/p")), home: &home, disk: &disk };
        let a = activate(&world, None, Scope::Asked);
        (a.vars, newcomer(&world, &a.before.unwrap_or_default()))
    };
    let (inside, _) = here(&before);
    let changed = |name: &str, value: &str| {
        let mut vars = inside.clone();
        vars.put(name, Some(value.into()));
        here(&vars).1
    };
    let ours = inside.get("PATH").unwrap().to_str().unwrap();
    assert_eq!(changed("CUDA_HOME", "/apps/cuda-9.9"), None, "it leads nowhere");
    assert_eq!(changed("CUDA_HOME", "/apps/cuda-11.7"), Some("/apps/cuda-11.7".into()));
    assert_eq!(changed("PATH", &format!("/apps/cuda-11.7/bin:{ours}")), Some("/apps/cuda-11.7/bin".into()));
    assert_eq!(
        changed("PATH", &format!("/opt/conda/bin:{ours}")),
        Some("/opt/conda/bin".into()),
        "it brings an nvcc"
    );
    assert_eq!(changed("PATH", &format!("/venv/bin:{ours}")), None, "nothing of CUDA came");
    assert_eq!(changed("PATH", "/usr/local/cuda/bin:/usr/bin"), None, "an old PATH was put back");
    assert_eq!(
        changed("PATH", &format!("/usr/local/cuda/bin:{ours}")),
        Some("/usr/local/cuda/bin".into()),
        "what was taken out was put before ours anew"
    );
    assert_eq!(changed("CUDA_HOME", "/usr/local/cuda"), None, "an old value was put back");
    assert_eq!(
        changed("PATH", &format!("{ours}:/apps/cuda-11.7/bin")),
        None,
        "behind ours it changes nothing"
    );
}

#[test]
fn shims_go_to_the_end() {
    let home = Home::new(HOME);
    let disk = disk();
    let last = |path: &str| {
        let vars: Vars = [("PATH", path)].into_iter().collect();
        shims_last(&World { vars: &vars, cwd: None, home: &home, disk: &disk }, &vars)
    };
    let shims = "/home/u/.cudaup/shims";
    assert_eq!(
        last(&format!("{shims}:/bin:{shims}:/x")).as_deref(),
        Some(OsStr::new("/bin:/x:/home/u/.cudaup/shims"))
    );
    assert_eq!(last("/bin").as_deref(), Some(OsStr::new("/bin:/home/u/.cudaup/shims")));
    assert_eq!(last(&format!("/bin:{shims}")), None);
}
