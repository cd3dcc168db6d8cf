# shellcheck shell=bash
# bindgen_cuda, from crates.io, with which candle compiles its kernels.
export title='bindgen_cuda'
lacks() { [ -n "$CARGO" ] || echo 'cargo is not on PATH'; }
# shellcheck source=tests/consumers/parts/crates.sh
. "$CONSUMERS/parts/crates.sh"
take() {
    crate '' 'bindgen_cuda = "0.1"'
    mkdir -p src
    printf '#include <cuda_runtime.h>\nextern "C" __global__ void twice(float *x) { x[0] = CUDART_VERSION; }\n' >src/k.cu
    cat >build.rs <<'TEXT'
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    println!("cargo:rerun-if-changed=build.rs");
    let builder = bindgen_cuda::Builder::default().kernel_paths_glob("src/*.cu").out_dir(&out);
    if let Some(path) = bindgen_cuda::cuda_include_dir() {
        std::fs::write("include", path.display().to_string()).unwrap();
    }
    builder.build_ptx().unwrap();
    std::fs::copy(format!("{out}/k.ptx"), "k.ptx").unwrap();
}
TEXT
    CUDA_COMPUTE_CAP=80 "$CARGO" check -q || nothing 'its build script ends with an error'
    [ ! -s include ] || saw header "$(cat include)"
    sed -n 's/.*release \([0-9.]*\),.*/nvcc \1/p' k.ptx >>"$EVIDENCE"
}
