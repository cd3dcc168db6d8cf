#!/usr/bin/env bash
# What a shim costs over calling the tool itself, beside the least that a shim can do, rustup's proxy and fnm.
# shim.sh [ROUNDS]. CUDAUP_BIN, RUSTUP_BIN and FNM_BIN name programs that are not on PATH. Compare within one run only.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=benches/parts/setting.sh
. "$here/parts/setting.sh"
rounds=${1:-200}
rustup=${RUSTUP_BIN:-$(command -v rustup || true)}
fnm=${FNM_BIN:-$(command -v fnm || true)}

build_tool
make_once "$work/bin/turns" "$here/parts/turns.rs" rustc --edition 2024 -O -o "$work/bin/turns" "$here/parts/turns.rs"
make_once "$work/bin/floor/nvcc" "$here/parts/floor.rs" sh -c "mkdir -p '$work/bin/floor' && rustc --edition 2024 -O \
    -C panic=abort -C target-feature=+crt-static -C relocation-model=static -o '$work/bin/floor/nvcc' '$here/parts/floor.rs'"

# An environment of its own: RUST_BACKTRACE alone makes some of these ten times slower.
clean() { env -i HOME="$work" PATH="$PATH" "$@"; }

measure() {
    local toolkits=$1 directory=$2
    lay_home "$toolkits"
    mkdir -p "$work/project/$directory"
    cd "$work/project/$directory"
    printf '12.4\n' >"$work/project/.cuda-version"
    mkdir -p "$work/exact"
    ln -sfn "$home/toolkits/12.4.1" "$work/exact/12.4"
    local subjects=(+++ direct "$home/toolkits/12.4.1/bin/nvcc" +++ floor "$work/bin/floor/nvcc" +++ cudaup "$home/shims/nvcc")
    subjects+=(+++ 'cudaup exec' "$home/bin/cudaup" exec -- nvcc)
    local variables=(CUDAUP_HOME="$home" BENCH_TOOLKITS="$work/exact")
    if [ -n "$rustup" ]; then
        mkdir -p "$work/toolchain/bin" "$work/toolchain/lib" "$work/bin/proxy"
        cp "$work/bin/tool" "$work/toolchain/bin/rustc"
        ln -sf "$(readlink -f "$rustup")" "$work/bin/proxy/rustc"
        clean RUSTUP_HOME="$work/rustup" "$rustup" --quiet toolchain link bench "$work/toolchain"
        printf 'bench\n' >"$work/project/rust-toolchain"
        subjects+=(+++ rustup "$work/bin/proxy/rustc")
        variables+=(RUSTUP_HOME="$work/rustup")
    fi
    if [ -n "$fnm" ]; then
        mkdir -p "$work/fnm/node-versions/v20.1.0/installation/bin"
        cp "$work/bin/tool" "$work/fnm/node-versions/v20.1.0/installation/bin/node"
        printf '20.1.0\n' >"$work/project/$directory/.node-version"
        subjects+=(+++ fnm "$fnm" exec -- node)
        variables+=(FNM_DIR="$work/fnm")
    fi
    printf '\n%s toolkits, %s\n' "$toolkits" "$directory"
    clean "${variables[@]}" "$work/bin/turns" "$rounds" "${subjects[@]}" | tee "$work/shim.last"
    awk '$1 != "" && NR > 1 { over[$1 == "cudaup" && $2 == "exec" ? "exec" : $1] = $NF }
        END {
            if (over["rustup"] > 0) printf "cudaup / rustup %.3f   floor / rustup %.3f\n", over["cudaup"] / over["rustup"], over["floor"] / over["rustup"]
            if (over["fnm"] > 0) printf "cudaup / fnm    %.3f   floor / fnm    %.3f\n", over["cudaup"] / over["fnm"], over["floor"] / over["fnm"]
        }' "$work/shim.last"
}

[ -n "$rustup" ] || skip 'rustup: not on PATH (RUSTUP_BIN)'
[ -n "$fnm" ] || skip 'fnm: not on PATH (FNM_BIN)'
deep=$(printf 'd%.0s/' {1..30})
measure 1 sub
measure 20 sub
measure 200 sub
measure 1 "$deep"

if command -v strace >/dev/null; then
    cd "$work/project/sub"
    lay_home 20
    clean CUDAUP_HOME="$home" strace -f -qq -o "$work/calls" "$home/shims/nvcc"
    printf '\nsystem calls %s, execve %s, fork and clone %s\n' "$(wc -l <"$work/calls")" \
        "$(grep -c 'execve(' "$work/calls" || true)" "$(grep -cE '(fork|clone3?)\(' "$work/calls" || true)"
else
    skip 'system calls: no strace'
fi
