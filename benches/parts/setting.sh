# shellcheck shell=bash
# What the measurements share: where cudaup is, a place to work in, and a home with toolkits that are only names.
# Read by the others with `.`; not to be run.

work=${BENCH_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/cudaup-benches}
mkdir -p "$work/bin" "$work/project/sub"
cudaup=${CUDAUP_BIN:-$(command -v cudaup || printf '%s' "$HOME/.cudaup/bin/cudaup")}

skip() { printf 'skipped: %s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

[ -x "$cudaup" ] || die "no cudaup on PATH or in ~/.cudaup/bin: run ./install.sh, or name it with CUDAUP_BIN"

# serve PROGRAM DIRECTORY: starts a server of parts/ on the loopback; $address is where, $server what to end, and
# $work/asked gets the path of each file that is asked for.
serve() {
    : >"$work/asked"
    : >"$work/address"
    # shellcheck disable=SC2154 # set by whoever reads this file
    python3 -B "$here/parts/$1" "$2" "$work/asked" >"$work/address" &
    server=$!
    until [ -s "$work/address" ]; do
        kill -0 "$server" 2>/dev/null || die "$1 did not start"
        sleep 0.1
    done
    # shellcheck disable=SC2034 # for whoever reads this file
    address=$(cat "$work/address")
}

# make TARGET SOURCE COMMAND...: unless it is newer than its source
make_once() {
    local target=$1 source=$2
    shift 2
    [ "$target" -nt "$source" ] || "$@"
}

# A program that only ends, so that what is measured is the way to it. With --mark it shows that it was reached.
build_tool() {
    printf '%s\n' '#include <string.h>' \
        'int main(int n, char **a) { return n > 1 && strcmp(a[1], "--mark") == 0 ? 42 : 0; }' >"$work/tool.c.new"
    cmp -s "$work/tool.c.new" "$work/tool.c" || mv "$work/tool.c.new" "$work/tool.c"
    make_once "$work/bin/tool" "$work/tool.c" cc -O2 -static -o "$work/bin/tool" "$work/tool.c"
}

# lay_home NUMBER: NUMBER toolkits in a home of their own, 12.4.1 among them, and its shims.
lay_home() {
    local n version root
    home=$work/home-$1
    export CUDAUP_HOME=$home
    unset CUDAUP_VERSION CUDAUP_STATE CUDAUP_CEILING CUDAUP_SYSROOT
    for ((n = 0; n < $1; n++)); do
        version=12.$((n + 4)).1
        root=$home/toolkits/$version
        [ "$root/bin/nvcc" -ot "$work/bin/tool" ] || continue
        mkdir -p "$root/bin" "$root/include" "$root/lib64"
        cp "$work/bin/tool" "$root/bin/nvcc"
        printf '{"cuda":{"name":"CUDA SDK","version":"%s"},"cuda_nvcc":{"name":"CUDA NVCC","version":"%s"}}\n' \
            "$version" "$version" >"$root/version.json"
    done
    mkdir -p "$home/bin"
    cp "$cudaup" "$(dirname "$cudaup")/cudaup-shim" "$home/bin/"
    # A home of this form may be refused one day: better here than in the figures.
    "$home/bin/cudaup" rehash >/dev/null || die 'cudaup rehash failed: the home laid out here is not what it takes'
    [ -x "$home/shims/nvcc" ] || die 'cudaup rehash made no shim for nvcc'
}
