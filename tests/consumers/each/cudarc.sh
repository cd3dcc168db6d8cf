# shellcheck shell=bash
# cudarc, from crates.io: the version by `nvcc --version`, the libraries by variables. Cargo runs its build script in the
# directory of cudarc's own source.
export title='cudarc'
lacks() { [ -n "$CARGO" ] || echo 'cargo is not on PATH'; }
# shellcheck source=tests/consumers/parts/crates.sh
. "$CONSUMERS/parts/crates.sh"
take() {
    local output
    crate 'cudarc = { version = "0.19", default-features = false, features = ["std", "runtime", "dynamic-linking", "cuda-version-from-build-system"] }'
    "$CARGO" clean -q -p cudarc || true
    if ! "$CARGO" check -q 2>said; then
        cat said
        if grep -q 'Unsupported cuda toolkit version' said; then skip 'cudarc 0.19 does not know this release'; fi
        exit 1
    fi
    output=$(compgen -G "$CARGO_TARGET_DIR/debug/build/cudarc-*/output" | head -n 1)
    sed -n 's/^cargo:rustc-link-search=native=//p' "$output" | while read -r path; do
        [ ! -e "$path/libcudart.so" ] || saw library "$path"
    done
    sed -n 's/.*feature="cuda-\([0-9]*\)".*/nvcc \1/p' "$output" | head -n 1 >>"$EVIDENCE"
    grep -q '^library ' "$EVIDENCE" || note 'no library is found'
}
