#!/usr/bin/env bash
# What the prompt costs while nothing changes: cudaup's hook beside the least that one can do (compare the directory and the
# version file with what was seen last), in bash, zsh and fish, and whether it starts processes.
# hook.sh [PROMPTS]. CUDAUP_BIN names the program. Compare within one run only.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=benches/parts/setting.sh
. "$here/parts/setting.sh"
prompts=${1:-1000}
rounds=9

build_tool
lay_home 20
project=$work/project/sub
printf '12.4\n' >"$work/project/.cuda-version"
tracer=()

run() {
    local shell=$1 flags=(--norc --noprofile)
    shift
    case $shell in
        zsh) flags=(-f) ;;
        fish) flags=(--no-config) ;;
    esac
    env -i HOME="$work" PATH="$PATH" TERM=dumb CUDAUP_HOME="$home" BENCH_PROJECT="$project" \
        "${tracer[@]}" "$shell" "${flags[@]}" "$here/parts/prompt.$shell" "$@"
}

# How many processes a shell starts from its beginning to its end.
started() {
    local tracer=(strace -f -qq -e 'trace=fork,vfork,clone,clone3' -o "$work/forks")
    run "$@" >/dev/null
    grep -cE '(fork|clone3?)\(' "$work/forks" | grep . || true
}

for shell in bash zsh fish; do
    command -v "$shell" >/dev/null || { skip "$shell: not on PATH"; continue; }
    nvcc=$(run "$shell" cudaup 1 | awk '{ print $2 }')
    # A hook that does nothing is quick, and would win.
    [ "$nvcc" = "$home/toolkits/12.4.1/bin/nvcc" ] || { skip "$shell: the hook leads to ${nvcc:-no nvcc}"; continue; }
    : >"$work/prompts"
    for ((round = 0; round < rounds; round++)); do
        for subject in $(printf 'nothing\nfloor\ncudaup\n' | shuf); do
            printf '%s %s\n' "$subject" "$(run "$shell" "$subject" "$prompts" | awk '{ print $1 }')" >>"$work/prompts"
        done
    done
    sort -k1,1 -k2,2n "$work/prompts" | awk -v shell="$shell" -v middle=$(((rounds + 1) / 2)) '
        { n[$1]++; if (n[$1] == 1) least[$1] = $2; if (n[$1] == middle) median[$1] = $2 }
        END {
            printf "\n%s: nanoseconds for a prompt\n%-10s %9s %9s\n", shell, "", "least", "median"
            split("nothing floor cudaup", names, " ")
            for (i = 1; i <= 3; i++) printf "%-10s %9d %9d\n", names[i], least[names[i]], median[names[i]]
            printf "over nothing, cudaup / floor: %.2f\n", (median["cudaup"] - median["nothing"]) / (median["floor"] - median["nothing"])
        }'
    if command -v strace >/dev/null; then
        printf 'processes started by 100 prompts: %d\n' $(($(started "$shell" cudaup 100) - $(started "$shell" cudaup 0)))
    else
        skip 'processes: no strace'
    fi
done
