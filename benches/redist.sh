#!/usr/bin/env bash
# Fetching and unpacking NVIDIA's redistributable archives (nvcc, cudart, cccl, nvrtc and the math libraries, as tar.xz),
# cold, from the loopback, beside what a person would type and beside what no program can do faster:
#   one by one   curl, then tar xJ, file after file
#   load         all files with one curl, at once
#   unpack       all files with tar xJ, as many at a time as there are processors, the largest first
# The proof is left out: it is compiling. A run that fails ends the measurement.
# redist.sh MIRROR [VERSION] [ROUNDS]: MIRROR is a directory in the form of NVIDIA's server, as `cudaup mirror` makes it.
# CUDAUP_BIN names a program that is not on PATH.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=benches/parts/setting.sh
. "$here/parts/setting.sh"
[ $# -ge 1 ] || die 'usage: redist.sh MIRROR [VERSION] [ROUNDS]'
mirror=$(cd -- "$1" && pwd) version=${2:-12.4} rounds=${3:-5}
components=nvcc,cudart,cccl,nvrtc,cublas,cufft,curand,cusolver,cusparse,npp
command -v python3 >/dev/null || die 'the server needs python3'
command -v xz >/dev/null || die 'tar needs xz'

place=$work/redist
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf -- "$place"' EXIT
mkdir -p "$place"

serve files.py "$mirror"
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

# cudaup_install [COMMAND...]: into a home of its own that did not exist, under a command that measures.
cudaup_install() {
    env -u CUDAUP_VERSION -u CUDAUP_STATE CUDAUP_HOME="$place/home" CUDAUP_DIST_SERVER="$address" TMPDIR="$place/tmp" \
        "$@" "$cudaup" install "$version" --source nvidia --components "$components" --no-verify >"$work/install.log" 2>&1 ||
        die "cudaup install failed: $(cat "$work/install.log")"
}

one_by_one() {
    mkdir -p "$place/files" "$place/tree"
    while read -r file; do
        curl -sSf -o "$place/files/archive.tar.xz" "$address/$file"
        tar -xJf "$place/files/archive.tar.xz" -C "$place/tree"
    done <"$work/files"
}

load() {
    mkdir -p "$place/files"
    (cd "$place/files" && sed "s|^|$address/|" "$work/files" | xargs curl -sSf --no-progress-meter --parallel --remote-name-all)
}

unpack() {
    mkdir -p "$place/tree"
    sed "s|^|$mirror/|" "$work/files" | xargs -d '\n' ls -S | xargs -d '\n' -n 1 -P "$(nproc)" tar -C "$place/tree" -xJf
}

fresh() {
    rm -rf -- "$place"
    mkdir -p "$place/tmp"
    sync
}

# Which files they are, cudaup itself says: by what it asks for.
fresh
cudaup_install
grep '\.tar\.xz$' "$work/asked" | sort -u >"$work/files"
[ -s "$work/files" ] || die 'cudaup asked for no archives'
bytes=$(sed "s|^|$mirror/|" "$work/files" | xargs -d '\n' du -cbL | tail -n 1 | cut -f 1)
printf '%s: %s archives, %s MB, %s processors\n' "$version" "$(wc -l <"$work/files")" "$((bytes / 1000000))" "$(nproc)"

: >"$work/times"
for ((round = 0; round < rounds; round++)); do
    for subject in $(printf 'cudaup_install\none_by_one\nload\nunpack\n' | shuf); do
        fresh
        start=$EPOCHREALTIME
        "$subject"
        end=$EPOCHREALTIME
        printf '%s %s\n' "$subject" "$((${end/[.,]/} - ${start/[.,]/}))" >>"$work/times"
    done
done
sort -k1,1 -k2,2n "$work/times" | awk -v middle=$(((rounds + 1) / 2)) '
    { n[$1]++; if (n[$1] == 1) least[$1] = $2; if (n[$1] == middle) median[$1] = $2 }
    function line(name, of) { printf "%-24s %8.2f %8.2f\n", name, least[of] / 1e6, median[of] / 1e6 }
    function larger(a, b) { return a > b ? a : b }
    END {
        printf "%-24s %8s %8s\n", "", "least s", "median s"
        line("cudaup install", "cudaup_install"); line("curl, tar, one by one", "one_by_one")
        line("load alone", "load"); line("unpack alone", "unpack")
        printf "cudaup / one by one: least %.2f, median %.2f (at most 0.60)\n",
            least["cudaup_install"] / least["one_by_one"], median["cudaup_install"] / median["one_by_one"]
        printf "cudaup / the larger of load and unpack: least %.2f, median %.2f (at most 1.15)\n",
            least["cudaup_install"] / larger(least["load"], least["unpack"]),
            median["cudaup_install"] / larger(median["load"], median["unpack"])
    }'

if [ -x /usr/bin/time ]; then
    fresh
    cudaup_install /usr/bin/time -f 'memory of cudaup: %M kB (at most 200000)'
    tail -n 1 "$work/install.log"
else
    skip 'memory: no /usr/bin/time'
fi
