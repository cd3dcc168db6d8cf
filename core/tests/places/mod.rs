//! Where a machine's toolkits are found, what is broken in them, and the environments of those that lie otherwise than
//! NVIDIA's installers put them.

use crate::map_disk::{MapDisk, Node};
use cudaup_core::activate::{Entered, Scope, activate};
use cudaup_core::discovery::{Search, machine};
use cudaup_core::environment::{Vars, leave};
use cudaup_core::home::Home;
use cudaup_core::identity::Tree;
use cudaup_core::inventory::Kind;
use cudaup_core::request::Request;
use cudaup_core::resolve::World;
use std::path::{Path, PathBuf};

const HOME: &str = "/home/u/.cudaup";
const SDK: &str = "/opt/nvidia/hpc_sdk/Linux_x86_64/24.3";
const SPACK: &str = "/sw/spack/linux-zen2/cuda-12.1.1-4kjh3x7";
const NIX: &str = "/nix/store/q4v4mkqx0k9ds5pjs8cx4gkwwm0rmjrz-cuda-merged-12.2";

/// What each of the places has.
pub fn disk() -> MapDisk {
    let sdk = |disk: MapDisk| {
        let machine = format!("/opt/nvidia/hpc_sdk/Linux_{}", cudaup_core::inventory::MACHINE);
        let at = format!("{machine}/24.3");
        disk.toolkit(&format!("{at}/cuda/12.3"), "12.3.1")
            .with(&format!("{at}/math_libs/12.3/lib64/libcublas.so.12"), "")
            .with(&format!("{at}/math_libs/12.3/include/cublas_v2.h"), "")
            .with(
                &format!("{at}/cuda/11.0/bin/nvcc"),
                "#!/bin/sh\necho \"nvcc-Error-CUDA version 11.0\"\nexit 1\n",
            )
            .with(&format!("{at}/cuda/11.0/include/cuda.h"), "#define CUDA_VERSION 11000\n")
    };
    let conda = "/opt/conda/envs/cuda-ml";
    sdk(MapDisk::default().debian())
        .toolkit("/home/u/.cudaup/toolkits/12.4.1", "12.4.1")
        .with(&format!("{conda}/conda-meta/history"), "")
        .with(&format!("{conda}/bin/nvcc"), "#!/bin/sh\n# release 12.6, V12.6.85")
        .with(&format!("{conda}/bin/python3"), "")
        .with(&format!("{conda}/lib/libcudart.so.12.6.77"), "")
        .with(&format!("{conda}/lib/libssl.so"), "")
        .with(&format!("{conda}/targets/x86_64-linux/lib/libcudart.so"), "")
        .with(&format!("{conda}/targets/x86_64-linux/lib/stubs/libcuda.so"), "")
        .with(&format!("{conda}/targets/sbsa-linux/lib/stubs/libcuda.so"), "")
        .with(&format!("{conda}/targets/sbsa-linux/include/cuda.h"), "")
        .with(&format!("{conda}/targets/x86_64-linux/include/cuda.h"), "")
        .toolkit("/apps/CUDA/11.7", "11.7.1")
        .toolkit(SPACK, "12.1.1")
        .toolkit(NIX, "12.2.2")
}

fn found(disk: &MapDisk, roots: &[&str], vars: &[(&str, &str)]) -> Vec<String> {
    let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    let vars: Vars = vars.iter().copied().collect();
    let home = Home::new(HOME);
    let rows = machine(Search { home: &home, roots: &roots, vars: &vars }, disk).into_iter();
    let row = |f: cudaup_core::inventory::Found| {
        let what = match (&f.tree, &f.broken) {
            (_, Some(broken)) => format!("broken: {broken}"),
            (Some(Tree::Toolkit(identity)), None) => identity.to_string(),
            (Some(Tree::OtherMachine(machine)), None) => format!("for {machine}"),
            (tree, None) => format!("{tree:?}"),
        };
        format!("{} {} {} {what}", f.root.display(), f.kind.word(), f.origin.key())
    };
    rows.map(row).collect()
}

#[test]
fn each_place_is_looked_at_and_named() {
    let machine = format!("/opt/nvidia/hpc_sdk/Linux_{}", cudaup_core::inventory::MACHINE);
    let everywhere = [
        "/usr system debian 11.5.1 or 11.5.2".to_owned(),
        format!(
            "{machine}/24.3/cuda/11.0 system hpc-sdk broken: its nvcc says: nvcc-Error-CUDA version 11.0"
        ),
        format!("{machine}/24.3/cuda/12.3 system hpc-sdk 12.3.1"),
    ];
    assert_eq!(found(&disk(), &[], &[]), everywhere);
    let brought = |vars: &[(&str, &str)]| found(&disk(), &[], vars).split_off(everywhere.len());
    assert_eq!(brought(&[("EBROOTCUDA", "/apps/CUDA/11.7")]), ["/apps/CUDA/11.7 system module 11.7.1"]);
    assert_eq!(
        brought(&[("LOADEDMODULES", "gcc/9:cuda/11.7"), ("CUDA_ROOT", "/apps//CUDA/11.7/")]),
        ["/apps/CUDA/11.7 system module 11.7.1"]
    );
    assert_eq!(
        brought(&[("LOADEDMODULES", "cuda/11.7"), ("EBROOTCUDA", "/apps/CUDA/11.7"), ("CUDA_HOME", SPACK)]),
        ["/apps/CUDA/11.7 system module 11.7.1".to_owned(), format!("{SPACK} system spack 12.1.1")]
    );
    // A CUDA_HOME of somebody's own, and a module that says its place by another variable.
    assert_eq!(
        brought(&[
            ("LOADEDMODULES", "cuda/11.7"),
            ("CUDA_HOME", SPACK),
            ("CUDA_ROOT", "/apps/CUDA/11.7"),
            ("PATH", &format!("/apps/CUDA/11.7/bin/:{SPACK}/bin:/usr/bin")),
        ]),
        [format!("{SPACK} system spack 12.1.1"), "/apps/CUDA/11.7 system module 11.7.1".to_owned()]
    );
    assert_eq!(brought(&[("CUDA_HOME", SPACK)]), [format!("{SPACK} system spack 12.1.1")]);
    assert_eq!(brought(&[("CUDAToolkit_ROOT", NIX)]), [format!("{NIX} system nix 12.2.2")]);
    assert_eq!(
        brought(&[("CUDA_PATH", "/apps/CUDA/11.7"), ("CUDA_HOME", "/apps/CUDA/11.7")]),
        ["/apps/CUDA/11.7 system variable 11.7.1"]
    );
    assert_eq!(
        brought(&[("CONDA_PREFIX", "/opt/conda/envs/cuda-ml")]),
        ["/opt/conda/envs/cuda-ml system conda 12.6.2 or 12.6.3"]
    );
    for (name, value) in [
        ("CUDA_HOME", "/usr"),
        ("CUDA_HOME", "/apps/CUDA/11.7:"),
        ("CUDA_HOME", "/apps/CUDA/11.7/bin"),
        ("CUDA_HOME", "/home/u/.cudaup/toolkits/12.4.1"),
        ("CUDA_HOME", "relative"),
        ("CUDA_HOME", "/nowhere"),
        ("CUDA_HOME", "/usr/lib/cuda"),
        ("CONDA_PREFIX", "/opt/conda"),
    ] {
        assert_eq!(brought(&[(name, value), ("HOME", "/home/u")]), [""; 0], "{name}={value}");
    }
}

#[test]
fn what_is_broken_is_said() {
    let elf = |machine: u8| {
        let mut head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0".to_vec();
        head.extend([machine, 0]);
        Node::File(head)
    };
    let disk = MapDisk::default()
        .with("/usr/local/cuda-9.0/README", "no toolkit")
        .with("/usr/local/cuda-11.1/lib64/libcudart.so.11.1.74", "")
        .toolkit("/usr/local/cuda-11.2", "11.2.2")
        .node("/usr/local/cuda-11.2/bin/nvcc", Node::NoProgram)
        .toolkit("/usr/local/cuda-11.3", "11.3.1")
        .node("/usr/local/cuda-11.3/bin/nvcc", elf(if cfg!(target_arch = "aarch64") { 0x3e } else { 0xb7 }))
        .with("/usr/local/cuda-11.4/bin/nvcc", "#!/bin/sh\n# release 11.4, V11.4.120")
        .toolkit("/usr/local/cuda-11.5", "11.5.1")
        .with("/usr/local/cuda-11.5/bin/nvcc", "#!/bin/sh\necho gone >&2\nexit 3\n")
        .node("/usr/local/cuda-11.6", Node::Link("/usr/local/cuda-11.6.2".into()))
        .node("/usr/local/cuda", Node::Link("/etc/alternatives/cuda".into()))
        .node("/etc/alternatives/cuda", Node::Link("/usr/local/cuda-10.0".into()))
        .node("/usr/local/cuda-11.7", Node::Locked)
        .toolkit("/usr/local/cuda-11.9", "11.8.0")
        .node("/usr/local/cuda-11.9/bin/nvcc", Node::Link("/opt/gone/nvcc".into()))
        .toolkit("/usr/local/cuda-12.0", "12.0.1")
        .with("/usr/local/cuda-12.0/bin/nvcc", "")
        .toolkit("/usr/local/cuda-12.1", "12.1.1")
        .with("/usr/local/cuda-12.1/bin/nvcc", "#!/bin/bash\nexec /opt/gone/ccache nvcc.real \"$@\"\n")
        .toolkit("/usr/local/cuda-12.2", "12.2.2")
        .node("/usr/local/cuda-12.2/bin/nvcc", Node::Fifo)
        .node("/usr/local/cuda-12.3", Node::Link("/usr/local/other".into()))
        .node("/usr/local/other", Node::Link("/usr/local/cuda-12.3".into()))
        .toolkit("/usr/local/cuda-12.4", "12.4.1")
        .with("/usr/local/cuda-12.4/bin/nvcc", "#!/bin/sh\nexec \"$(dirname \"$0\")\"/nvcc.real \"$@\"\n")
        .with("/usr/bin/nvcc", "#!/bin/sh\nexec /usr/lib/nvidia-cuda-toolkit/bin/nvcc \"$@\"\n");
    let other = if cfg!(target_arch = "aarch64") { "x86_64" } else { "aarch64" };
    assert_eq!(
        found(&disk, &[], &[]),
        [
            "/usr/local/cuda system usr-local broken: it leads to /usr/local/cuda-10.0, which is not there".to_owned(),
            "/usr/local/cuda-11.1 system usr-local broken: it has no nvcc".to_owned(),
            "/usr/local/cuda-11.2 system usr-local broken: its nvcc may not be executed".to_owned(),
            format!("/usr/local/cuda-11.3 system usr-local for {other}"),
            "/usr/local/cuda-11.4 system usr-local broken: it has no headers".to_owned(),
            "/usr/local/cuda-11.5 system usr-local broken: its nvcc says: gone".to_owned(),
            "/usr/local/cuda-11.6 system usr-local broken: it leads to /usr/local/cuda-11.6.2, which is not there".to_owned(),
            "/usr/local/cuda-11.7 system usr-local broken: its directory cannot be read".to_owned(),
            "/usr/local/cuda-11.9 system usr-local broken: its nvcc leads to /opt/gone/nvcc, which is not there".to_owned(),
            "/usr/local/cuda-12.0 system usr-local broken: its nvcc is no program".to_owned(),
            "/usr/local/cuda-12.1 system usr-local broken: its nvcc leads to /opt/gone/ccache, which is not there".to_owned(),
            "/usr/local/cuda-12.2 system usr-local broken: its nvcc is no program".to_owned(),
            "/usr/local/cuda-12.3 system usr-local broken: it is a link that leads back to itself".to_owned(),
            "/usr/local/cuda-12.4 system usr-local 12.4.1".to_owned(),
            "/usr system usr broken: its nvcc leads to /usr/lib/nvidia-cuda-toolkit/bin/nvcc, which is not there".to_owned(),
        ]
    );
    let home = Home::new(HOME);
    let vars = Vars::default();
    let world = World { vars: &vars, cwd: None, home: &home, disk: &disk };
    for request in ["11", "12.0", "12.3", "11.2"] {
        let refusal =
            cudaup_core::resolve::resolve(&world, Some(&Request::parse(request).unwrap())).unwrap_err();
        let said = refusal.to_string();
        assert!(said.contains("/usr/local/cuda-11.2 (broken: its nvcc may not be executed)"), "{said}");
    }
    let machines = cudaup_core::resolve::resolve(&world, None).unwrap().unwrap();
    assert_eq!(machines.toolkit.root, Path::new("/usr/local/cuda-12.4"), "the only one that serves");
}

#[test]
fn debians_package_is_told_from_other_programs_of_the_system() {
    let whole = MapDisk::default().debian();
    assert_eq!(found(&whole, &[], &[]), ["/usr system debian 11.5.1 or 11.5.2"]);
    let without = |path: &str| {
        let mut disk = whole.clone();
        disk.0.remove(Path::new(path));
        found(&disk, &[], &[])
    };
    assert_eq!(without("/usr/include/cuda.h"), ["/usr system debian broken: it has no headers"]);
    assert_eq!(without("/usr/bin/nvcc"), ["/usr system debian broken: it has no nvcc"]);
    assert_eq!(without("/usr/lib/x86_64-linux-gnu/libcudart.so.11.5.117"), ["/usr system debian 11.5"]);
    let fedoras = MapDisk::default()
        .with("/usr/bin/nvcc", "#!/bin/sh\n# release 12.4, V12.4.131")
        .with("/usr/lib64/libcudart.so.12.4.127", "")
        .with("/usr/include/cuda/cuda.h", "");
    assert_eq!(found(&fedoras, &[], &[]), ["/usr system usr 12.4.1"]);
    let linked = MapDisk::default()
        .toolkit("/opt/x", "12.4.1")
        .node("/usr/bin/nvcc", Node::Link("/opt/x/bin/nvcc".into()));
    assert_eq!(found(&linked, &[], &[]), [""; 0], "another tree's, and no toolkit of the system's");
    let own = MapDisk::default().with("/usr/bin/nvcc", "#!/bin/sh\n# release 11.5, V11.5.119\n");
    assert_eq!(found(&own, &[], &[]), ["/usr system usr broken: it has no headers"]);
}

#[test]
fn another_home_gives_its_toolkits_and_not_what_is_in_the_making() {
    let shared = |disk: MapDisk| {
        disk.toolkit("/shared/toolkits/12.4.1", "12.4.1")
            .with("/shared/toolkits/12.10.0/lib64/libcublas.so", "")
            .with("/shared/toolkits/12.10.0/receipt.json", "{}")
            .with("/shared/toolkits/12.9.0/thesis", "junk")
            .with("/shared/toolkits/9.2/bin/nvcc", "no exact version")
            .with("/shared/staging/installing-13.0.2/bin/nvcc", "")
            .node("/shared/toolkits/11.8.0", Node::Locked)
            .toolkit("/data/x", "11.6.2")
            .node("/shared/toolkits/best", Node::Link("/shared/toolkits/12.4.1".into()))
            .node("/shared/toolkits/lab", Node::Link("/data/x".into()))
            .node("/shared/toolkits/lost", Node::Link("/data/lost".into()))
    };
    let disk = shared(MapDisk::default());
    let rows = found(&disk, &["/shared", "/not/there", HOME], &[]);
    assert_eq!(
        rows,
        [
            "/shared/toolkits/11.8.0 shared cudaup-home broken: its directory cannot be read",
            "/shared/toolkits/12.4.1 shared cudaup-home 12.4.1",
            "/shared/toolkits/12.9.0 shared cudaup-home broken: it has no nvcc",
            "/shared/toolkits/12.10.0 shared cudaup-home 12.10.0",
            "/data/x shared cudaup-home 11.6.2",
            "/shared/toolkits/lost shared cudaup-home broken: it leads to /data/lost, which is not there",
            "/not/there shared root None",
        ]
    );
    let other = if cfg!(target_arch = "aarch64") { "x86_64" } else { "aarch64" };
    let elsewhere = shared(MapDisk::default().with("/shared/machine", &format!("{other}\n")));
    let rows = found(&elsewhere, &["/shared"], &[]);
    assert!(rows.contains(&format!("/shared/toolkits/12.4.1 shared cudaup-home for {other}")), "{rows:?}");
    let locked = MapDisk::default().node("/closed", Node::Locked);
    assert_eq!(
        found(&locked, &["/closed"], &[]),
        ["/closed shared root broken: its directory cannot be read"]
    );
    let a_file = MapDisk::default().with("/apps/cuda.tar", "");
    assert_eq!(
        found(&a_file, &["/apps/cuda.tar"], &[]),
        ["/apps/cuda.tar shared root broken: it is no directory"]
    );
}

/// Enters a request, from an environment.
pub fn entered(disk: &MapDisk, vars: &Vars, request: &str) -> (Vars, Entered) {
    let home = Home::new(HOME);
    let world = World { vars, cwd: Some(Path::new("/p")), home: &home, disk };
    let activation = activate(&world, Some(&Request::parse(request).unwrap()), Scope::All);
    (activation.vars, activation.entered)
}

/// The environment of somebody who has tried much.
pub fn environment() -> Vars {
    [
        ("HOME", "/home/u"),
        ("PATH", "/usr/local/cuda-11.1/bin:/opt/conda/envs/cuda-ml/bin:/usr/lib/nvidia-cuda-toolkit/bin:/usr/bin:/bin"),
        ("LD_LIBRARY_PATH", "/usr/lib/wsl/lib:/usr/local/cuda/lib64:"),
        ("CPATH", "/usr/lib/cuda/include:/mine"),
        ("CONDA_PREFIX", "/opt/conda/envs/cuda-ml"),
        ("CUDA_HOME", "/apps/CUDA/11.7"),
    ]
    .into_iter()
    .collect()
}

fn value(vars: &Vars, name: &str) -> String {
    vars.get(name).map_or_else(|| "unset".into(), |v| v.to_string_lossy().into_owned())
}

#[test]
fn debians_environment_adds_nothing_to_any_list() {
    let before = environment();
    let (inside, _) = entered(&disk(), &before, "11.5");
    assert_eq!(
        (value(&inside, "CUDA_HOME"), value(&inside, "CUDACXX")),
        ("/usr".into(), "/usr/bin/nvcc".into())
    );
    assert_eq!(value(&inside, "PATH"), "/opt/conda/envs/cuda-ml/bin:/usr/bin:/bin");
    assert_eq!(value(&inside, "LD_LIBRARY_PATH"), "/usr/lib/wsl/lib:");
    assert_eq!(value(&inside, "CPATH"), "/mine");
    assert_eq!(
        (value(&inside, "LIBRARY_PATH"), value(&inside, "PKG_CONFIG_PATH")),
        ("unset".into(), "unset".into())
    );
    assert_eq!(leave(&inside).vars, before);
}

#[test]
fn of_conda_only_what_holds_nothing_else_comes_into_lists() {
    let (inside, _) = entered(&disk(), &environment(), "12.6");
    let (root, target) =
        ("/opt/conda/envs/cuda-ml", if cfg!(target_arch = "aarch64") { "sbsa" } else { "x86_64" });
    let at = format!("{root}/targets/{target}-linux");
    assert_eq!(value(&inside, "CUDA_HOME"), root);
    assert_eq!(value(&inside, "PATH"), format!("{root}/bin:{root}/bin:/usr/bin:/bin"));
    assert_eq!(value(&inside, "LD_LIBRARY_PATH"), format!("{at}/lib:/usr/lib/wsl/lib:"));
    assert_eq!(value(&inside, "CPATH"), format!("{at}/include:/mine"));
    assert_eq!(value(&inside, "LIBRARY_PATH"), format!("{at}/lib:{at}/lib/stubs"));
}

#[test]
fn the_hpc_sdks_math_libraries_come_with_its_toolkit() {
    let before = environment();
    let (inside, _) = entered(&disk(), &before, "12.3");
    let sdk = SDK.replace("x86_64", cudaup_core::inventory::MACHINE);
    let (cuda, math) = (format!("{sdk}/cuda/12.3"), format!("{sdk}/math_libs/12.3"));
    let lists = format!("{cuda}/lib64:{math}/lib64:{cuda}/extras/CUPTI/lib64:/usr/lib/wsl/lib:");
    assert_eq!(value(&inside, "LD_LIBRARY_PATH"), lists);
    assert_eq!(value(&inside, "CPATH"), format!("{cuda}/include:{math}/include:/mine"));
    // Where another toolkit comes next, both go.
    let mut by_module = before.clone();
    by_module.put("CPATH", Some(format!("{math}/include:/mine:{cuda}/include").into()));
    let (next, _) = entered(&disk(), &by_module, "12.4");
    assert_eq!(value(&next, "CPATH"), "/home/u/.cudaup/toolkits/12.4.1/include:/mine");
    assert_eq!(entered(&disk(), &inside, "12.4").0, entered(&disk(), &before, "12.4").0);
}

#[test]
fn a_loaded_module_goes_before_the_machines_own() {
    let disk = disk().toolkit("/usr/local/cuda", "12.9.1");
    let home = Home::new(HOME);
    let chosen = |vars: &[(&str, &str)]| {
        let vars: Vars = vars.iter().copied().collect();
        let world = World { vars: &vars, cwd: None, home: &home, disk: &disk };
        cudaup_core::resolve::resolve(&world, None).unwrap().unwrap().toolkit
    };
    assert_eq!(chosen(&[]).root, Path::new("/usr/local/cuda"));
    assert_eq!(chosen(&[("CUDA_HOME", "/apps/CUDA/11.7")]).root, Path::new("/usr/local/cuda"));
    let of_module = chosen(&[("EBROOTCUDA", "/apps/CUDA/11.7")]);
    assert_eq!((of_module.root.as_path(), of_module.kind), (Path::new("/apps/CUDA/11.7"), Kind::System));
}

#[test]
fn what_unloading_a_module_took_out_does_not_come_back() {
    let before: Vars =
        [("PATH", "/apps/CUDA/11.7/bin:/usr/bin"), ("EBROOTCUDA", "/apps/CUDA/11.7")].into_iter().collect();
    let (mut inside, _) = entered(&disk(), &before, "11.7");
    assert_eq!(value(&inside, "PATH"), value(&before, "PATH"));
    inside.put("PATH", Some("/usr/bin".into()));
    assert_eq!(value(&leave(&inside).vars, "PATH"), "/usr/bin");
}

#[test]
fn a_jetson_keeps_its_library_path() {
    let board = disk().with("/etc/nv_tegra_release", "# R36 (release), REVISION: 4.3\n");
    let before = environment();
    for request in ["12.4", "12.3", "11.5", "9.9"] {
        let (inside, _) = entered(&board, &before, request);
        assert_eq!(value(&inside, "LD_LIBRARY_PATH"), value(&before, "LD_LIBRARY_PATH"), "{request}");
        assert!(!value(&inside, "PATH").contains("cuda-11.1"), "{request}");
        assert_eq!(leave(&inside).vars, before, "{request}");
    }
}
