#!/bin/sh
# Builds the release shim and prints its path. It is linked statically, since a loader and a libc that LD_LIBRARY_PATH can
# replace have no place between a user and nvcc, and since that halves its start. It has a target directory of its own, so
# that the next build of the program does not put a dynamic one in its place.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

# Named even though it is this machine's own: only then do the flags stay away from build scripts and macros.
target=$(rustc -vV | sed -n 's/^host: //p')
unset CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_DIR CARGO_BUILD_TARGET
RUSTFLAGS='-C target-feature=+crt-static -C relocation-model=static'
export RUSTFLAGS
cargo build --profile shim --locked --package cudaup-shim --target "$target" --target-dir target-shim >&2

shim=$root/target-shim/$target/shim/cudaup-shim
# Flags that did not arrive would be noticed by nobody: it would start all the same, only later.
if command -v readelf >/dev/null; then
    headers=$(LC_ALL=C readelf --program-headers --wide "$shim")
    case $headers in
        *INTERP*) echo "shims/build.sh: $shim asks for a loader: it is not static" >&2; exit 1 ;;
        *LOAD*) ;;
        *) echo "shims/build.sh: $shim has no program headers" >&2; exit 1 ;;
    esac
fi
printf '%s\n' "$shim"
