//! The least that a shim can do: find `.cuda-version` upwards, read it, set two variables, become the tool. It checks
//! nothing and knows one toolkit directory, BENCH_TOOLKITS/<what the file says>; a bar to measure against, not a model.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;

fn main() {
    let toolkits = PathBuf::from(std::env::var_os("BENCH_TOOLKITS").expect("BENCH_TOOLKITS"));
    let here = std::env::current_dir().expect("a directory");
    let pin = here.ancestors().find_map(|d| std::fs::read_to_string(d.join(".cuda-version")).ok()).expect("a version file");
    let root = toolkits.join(pin.trim());
    let mut path = root.join("bin").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut args = std::env::args_os();
    let name = PathBuf::from(args.next().expect("a name"));
    let tool = root.join("bin").join(name.file_name().expect("a name"));
    let error = std::process::Command::new(tool).args(args).env("CUDA_HOME", &root).env("PATH", path).exec();
    panic!("{error}");
}
