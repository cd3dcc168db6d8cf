# shellcheck shell=bash
# bindgen_cuda, from crates.io, with which candle compiles its kernels.
export title='bindgen_cuda'
lacks() { [ -n "$CARGO" ] || echo 'cargo is not on PATH'; }
# shellcheck source=tests/consumers/parts/crates.sh
. "$CONSUMERS/parts/crates.sh"
take() {
    local output
    crate '' 'bindgen_cuda = "0.1"'
    mkdir -p src
    printf '#include <cuda_runtime.h>\nextern "C" __device__ int header = CUDART_VERSION;\n' >src/k.cu
    cat >build.rs <<'TEXT'
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    println!("cargo:rerun-if-changed=build.rs");
    let builder = bindgen_cuda::Builder::default().kernel_paths_glob("src/*.cu").out_dir(&out);
    builder.build_ptx().unwrap();
    std::fs::copy(format!("{out}/k.ptx"), "k.ptx").unwrap();
}
TEXT
    "$CARGO" clean -q -p consumer || true
    if ! CUDA_COMPUTE_CAP=80 "$CARGO" check -q 2>said; then
        cat said
        if grep -q 'bindgen_cuda.*src/lib.rs' said; then nothing 'it knows no root'; fi
        exit 1
    fi
    output=$(compgen -G "$CARGO_TARGET_DIR/debug/build/consumer-*/output" | head -n 1)
    sed -n 's/^cargo:rustc-env=CUDA_INCLUDE_DIR=/header /p' "$output" >>"$EVIDENCE"
    sed -n 's/.*release \([0-9.]*\),.*/nvcc \1/p; s/.* header = \([0-9]*\);/header \1/p' k.ptx >>"$EVIDENCE"
}
