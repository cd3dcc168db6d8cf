//! Every generation of nvidia-smi, and what is none of its answers.

use super::*;
use std::fs;

fn said(text: &str) -> (Option<String>, Option<String>, Option<String>) {
    match banner(text) {
        Some(Smi::Said { program, driver, cuda, .. }) => (program, driver, cuda.map(|v| v.to_string())),
        _ => (None, None, None),
    }
}

fn three(program: &str, driver: &str, cuda: &str) -> (Option<String>, Option<String>, Option<String>) {
    let some = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
    (some(program), some(driver), some(cuda))
}

#[test]
fn banners_of_all_generations() {
    for (line, expected) in [
        (
            "| NVIDIA-SMI 384.66                 Driver Version: 384.66                    |",
            three("384.66", "384.66", ""),
        ),
        (
            "| NVIDIA-SMI 450.36.06    Driver Version: 450.36.06    CUDA Version: N/A      |",
            three("450.36.06", "450.36.06", ""),
        ),
        (
            "| NVIDIA-SMI 535.54.03   Driver Version: 535.54.03   CUDA Version: ERR!     |",
            three("535.54.03", "535.54.03", ""),
        ),
        (
            "| NVIDIA-SMI 595.71.01    Driver Version: 596.36    CUDA Version: 13.2     |",
            three("595.71.01", "596.36", "13.2"),
        ),
        (
            "| NVIDIA-SMI 610.57.04   KMD Version: 610.57.04     CUDA UMD Version: 13.3     |",
            three("610.57.04", "610.57.04", "13.3"),
        ),
        (
            "NVIDIA-SMI 700.1       KMD Version: 700.1  CUDA XYZ Version: 15.0\r",
            three("700.1", "700.1", "15.0"),
        ),
        (
            "NVIDIA-SMI version  : 580.82.07\nNVML version        : 580.95\nDRIVER version      : 581.42\nCUDA Version        : 13.0\n",
            three("580.82.07", "581.42", "13.0"),
        ),
    ] {
        assert_eq!(said(line), expected, "{line}");
    }
}

#[test]
fn what_is_not_understood_is_kept() {
    let text = "| NVIDIA-SMI 700.10   KMD Version: 700.10   CUDA Version: pending  |";
    let Some(Smi::Said { driver, cuda, odd, .. }) = banner(text) else { panic!("no banner") };
    assert_eq!((driver.as_deref(), cuda), (Some("700.10"), None));
    assert_eq!(odd.as_deref(), Some("NVIDIA-SMI 700.10   KMD Version: 700.10   CUDA Version: pending"));
}

#[test]
fn failures_are_no_versions() {
    for text in [
        "No devices were found\n",
        "",
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.90\n",
        "\u{0}\u{1}x",
    ] {
        assert_eq!(banner(text), None, "{text}");
        let (smi, gpus) = understood(text, Vec::new());
        assert!(matches!(&smi, Smi::Failed(words) if !words.is_empty()), "{smi:?}");
        assert!(gpus.is_empty());
    }
}

const TABLE: &str = "\
| NVIDIA-SMI 580.159.04             Driver Version: 580.159.04     CUDA Version: 13.0     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|   0  NVIDIA H200                    On  |   00000000:00:06.0 Off |                    0 |
| N/A   34C    P0             78W /  700W |   21000MiB / 143771MiB |     97%      Default |
|                                         |                        |             Disabled |
|   1  NVIDIA GeForce RTX 2080 ...    Off |   0000000F:01:00.0 Off |                  N/A |
| N/A   N/A  N/A             N/A  /  N/A  | Not Supported          |      0%      Default |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|    0   N/A  N/A            4711      C   /opt/my env/bin/python3              20990MiB |
|    1   N/A  N/A              12      G   /usr/lib/xorg/Xorg                       N/A |
";

#[test]
fn tables_of_gpus_and_processes() {
    let twice = format!("{TABLE}{TABLE}");
    let (smi, gpus) = understood(
        &twice,
        queried("0, NVIDIA H200, 9.0, 580.159.04, 143771 MiB, 21000 MiB, 97 %, 00000000:00:06.0, Enabled\n"),
    );
    assert!(matches!(smi, Smi::Said { .. }));
    assert_eq!(gpus.len(), 2);
    let first = &gpus[0];
    assert_eq!((first.name.as_str(), first.capability, first.mig), ("H200", Capability::parse("9.0"), true));
    assert_eq!((first.memory, first.used, first.busy), (Some(143_771 << 20), Some(21_000 << 20), Some(97)));
    assert_eq!(first.bus.as_deref(), Some("0000:00:06.0"));
    assert_eq!(
        first.processes,
        [Process { pid: 4711, name: "/opt/my env/bin/python3".into(), memory: Some(20_990 << 20) }]
    );
    let second = &gpus[1];
    assert_eq!((second.name.as_str(), second.memory, second.busy), ("GeForce RTX 2080 ...", None, Some(0)));
    assert_eq!(second.bus.as_deref(), Some("000f:01:00.0"));
    assert_eq!(second.processes[0].memory, None);
}

#[test]
fn queries_in_any_order_and_with_gaps() {
    let names = |text: &str| {
        queried(text)
            .into_iter()
            .filter_map(|row| row.gpu)
            .map(|g| (g.name, g.capability.map(Capability::number)))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names("driver_version, name, compute_cap\n610.57.04, NVIDIA B300 SXM6 AC, 10.3\n"),
        [("B300 SXM6 AC".to_owned(), Some(103))]
    );
    assert_eq!(
        names("0, NVIDIA GB10, 0000000F:01:00.0, 580.142, 12.1, [N/A]\r\n"),
        [("GB10".to_owned(), Some(121))]
    );
    assert_eq!(names("No devices were found\n[N/A]\n\n"), []);
    let drivers: Vec<_> = queried("572.60\r\n572.60\r\n").into_iter().filter_map(|row| row.driver).collect();
    assert_eq!(drivers, ["572.60", "572.60"]);
}

#[test]
fn a_program_that_hangs_fails_or_answers() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let at = |script: &str| {
        let program = root.path().join("usr/bin/nvidia-smi");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        ask(&Host { sysroot: Some(root.path().to_path_buf()), ..Host::bare() })
    };
    assert_eq!(at("echo 'No devices were found'; exit 6").0, Smi::Failed("No devices were found".into()));
    let (smi, gpus) = at(
        "case \"$*\" in *compute_cap*) echo 'Field \"compute_cap\" is not a valid field'; exit 2;; *query*) echo '0, Tesla V100-PCIE-32GB, 450.57, 32510 MiB, 0 MiB, 0 %, 00000000:01:00.0';; *) echo '| NVIDIA-SMI 450.57  Driver Version: 450.57  CUDA Version: 11.0 |';; esac",
    );
    assert!(matches!(smi, Smi::Said { cuda: Some(_), .. }), "{smi:?}");
    assert_eq!(gpus.first().map(|g| g.name.as_str()), Some("Tesla V100-PCIE-32GB"));
    assert_eq!(ask(&Host { sysroot: Some("/nonexistent".into()), ..Host::bare() }).0, Smi::Absent);
}

/// The real samples, where they are at hand, with what must be read out of each.
#[test]
fn the_real_samples() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/cases");
    let Ok(expected) = fs::read_to_string(samples.join("EXPECTED-SHARED.json")) else {
        eprintln!("skipped: no samples of real answers here");
        return;
    };
    let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
    let mut read = 0;
    for (name, value) in expected.as_object().unwrap() {
        if !name.starts_with("nvidia-smi/") || value.get("driver").is_none_or(serde_json::Value::is_null) {
            continue;
        }
        let text = fs::read_to_string(samples.join("samples").join(name)).unwrap();
        if name.contains("/query/") {
            let asked = queried(&text).into_iter().find_map(|row| row.driver);
            assert_eq!(asked.as_deref(), value["driver"].as_str(), "{name}");
            continue;
        }
        let (_, driver, cuda) = said(&text);
        assert_eq!(driver.as_deref(), value["driver"].as_str(), "{name}");
        let wanted = value["cuda"].as_str().filter(|cuda| *cuda != "N/A" && *cuda != "ERR!");
        assert_eq!(cuda.as_deref(), wanted, "{name}");
        if let Some(gpus) = value.get("gpus").and_then(serde_json::Value::as_u64) {
            assert_eq!(tables(&text).len() as u64, gpus, "{name}");
        }
        read += 1;
    }
    assert!(read > 15, "{read}");
}
