# shellcheck shell=bash
# cudarc, from crates.io: the version by `nvcc --version`, the libraries by variables.
export title='cudarc'
lacks() { [ -n "$CARGO" ] || echo 'cargo is not on PATH'; }
# shellcheck source=tests/consumers/parts/crates.sh
. "$CONSUMERS/parts/crates.sh"
take() {
    local output
    crate 'cudarc = { version = "0.19", default-features = false, features = ["std", "runtime", "dynamic-linking", "cuda-version-from-build-system"] }'
    "$CARGO" clean -q -p cudarc || true
    "$CARGO" check -q || nothing 'its build script ends with an error'
    output=$(compgen -G "$CARGO_TARGET_DIR/debug/build/cudarc-*/output" | head -n 1)
    sed -n 's/^cargo:rustc-link-search=native=/library /p' "$output" | while read -r _ path; do
        [ ! -e "$path/libcudart.so" ] || saw library "$path"
    done
    sed -n 's/.*feature="cuda-\([0-9]*\)".*/nvcc \1/p' "$output" | head -n 1 >>"$EVIDENCE"
}
