#!/usr/bin/env bash
# Fetching and unpacking a toolkit, cold, beside `uv pip install --no-deps --no-cache` of the same wheels from the same index
# on the loopback. The proof is left out: it is compiling, not fetching. A run that fails ends the measurement.
# install.sh [VERSION] [PROFILE] [ROUNDS]. CUDAUP_BIN and UV_BIN name programs that are not on PATH. The first time the
# wheels are loaded from the index that pip is set to, and kept.
# A virtual machine's host takes free memory back, and whoever touches it next waits for it: by chance the one or the other. So
# as much memory as a run needs for its files is touched before each, and what the last run left is removed before the clock starts.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=benches/parts/setting.sh
. "$here/parts/setting.sh"
version=${1:-13.0.3} profile=${2:-minimal} rounds=${3:-5}
uv=${UV_BIN:-$(command -v uv || true)}
[ -n "$uv" ] || die 'uv is not on PATH, and there is nothing else to compare with (UV_BIN)'
command -v python3 >/dev/null || die 'the index needs python3'

wheels=$work/wheels/$version-$profile
place=$work/install
server=
shared=/dev/shm/cudaup-bench.$$
trap '[ -z "$server" ] || kill "$server"; rm -rf -- "$place" "$shared"' EXIT

# fresh [BYTES]: nothing is left of an earlier run, and that much memory was touched.
fresh() {
    rm -rf -- "$place"
    mkdir -p "$place/tmp"
    head -c "${1:-0}" /dev/zero >"$shared" || die '/dev/shm is too small'
    rm -f -- "$shared"
    sync
}

# cudaup_install LOG: into a home of its own that did not exist.
cudaup_install() {
    env -u CUDAUP_VERSION -u CUDAUP_STATE CUDAUP_HOME="$place/home" TMPDIR="$place/tmp" "$cudaup" \
        install "$version" --profile "$profile" --source pypi --no-verify >"$1" 2>&1 || die "cudaup install failed: $(cat "$1")"
}

uv_install() {
    TMPDIR="$place/tmp" "$uv" pip install --no-config --no-deps --no-cache --index-url "$address/simple" \
        --target "$place/target" "${requirements[@]}" >"$1" 2>&1 || die "uv pip install failed: $(cat "$1")"
}

# Which wheels they are, cudaup itself says: by its receipt.
if [ ! -f "$wheels/complete" ]; then
    printf 'loading the wheels of %s, %s profile\n' "$version" "$profile"
    rm -rf -- "$wheels"
    mkdir -p "$wheels"
    fresh
    cudaup_install "$work/install.log"
    grep -oE '[A-Za-z0-9_.]+-[^/"]+\.whl' "$place"/home/toolkits/*/receipt.json | sort -u |
        awk -F- '{ print $1 "==" $2 }' >"$work/wanted"
    [ -s "$work/wanted" ] || die 'the receipt names no wheels'
    printf 'cuda-toolkit==%s\n' "$version" >>"$work/wanted"
    python3 -m pip --quiet download --no-deps --only-binary :all: --dest "$wheels" --requirement "$work/wanted"
    touch "$wheels/complete"
fi

serve index.py "$wheels"
export PIP_INDEX_URL=$address/simple UV_DEFAULT_INDEX=$address/simple NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
unset PIP_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL UV_EXTRA_INDEX_URL

# uv installs exactly what cudaup loads here.
fresh
cudaup_install "$work/install.log"
readarray -t requirements < <(sort -u "$work/asked" | grep -v '^cuda_toolkit-' | awk -F- '{ print $1 "==" $2 }')
[ "${#requirements[@]}" -gt 0 ] || die 'cudaup loaded nothing from the index on the loopback'
loaded=$(sort -u "$work/asked" | grep -v '^cuda_toolkit-' | sed "s|^|$wheels/|" | xargs -d '\n' du -cbL | tail -n 1 | cut -f 1)
printf '%s, %s profile: %s wheels, %s MB\n' "$version" "$profile" "${#requirements[@]}" "$((loaded / 1000000))"

: >"$work/times"
for ((round = 0; round < rounds; round++)); do
    for subject in $(printf 'uv\ncudaup\n' | shuf); do
        # Archives, what they unpack to, and the same once more on its way.
        fresh "$((loaded * 3))"
        start=$EPOCHREALTIME
        "${subject}_install" "$work/install.log"
        end=$EPOCHREALTIME
        printf '%s %s\n' "$subject" "$((${end/[.,]/} - ${start/[.,]/}))" >>"$work/times"
    done
done
sort -k1,1 -k2,2n "$work/times" | awk -v middle=$(((rounds + 1) / 2)) '
    { n[$1]++; if (n[$1] == 1) least[$1] = $2; if (n[$1] == middle) median[$1] = $2 }
    END {
        printf "%-8s %8s %8s\n", "", "least s", "median s"
        for (name in n) printf "%-8s %8.2f %8.2f\n", name, least[name] / 1e6, median[name] / 1e6
        printf "cudaup / uv: least %.2f, median %.2f\n", least["cudaup"] / least["uv"], median["cudaup"] / median["uv"]
    }'

if [ -x /usr/bin/time ]; then
    fresh
    CUDAUP_HOME="$place/home" /usr/bin/time -f 'memory of cudaup: %M kB' "$cudaup" install "$version" --profile "$profile" \
        --no-verify 2>&1 >/dev/null | tail -n 1
else
    skip 'memory: no /usr/bin/time'
fi
