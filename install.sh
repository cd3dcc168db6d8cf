#!/bin/sh
# install.sh [VERSION] [--no-modify-rc]
# Builds cudaup, installs it below ~/.cudaup (or CUDAUP_HOME), sets the shell up, and installs toolkit VERSION.
# Run again, it upgrades. Until the new programs are whole and answer, the old ones stay.
set -eu

say() { printf '%s\n' "$*" >&2; }
refuse() { say "error: $1"; shift; for line; do say "$line"; done; exit 2; }
fail() { say "error: $1"; shift; for line; do say "$line"; done; exit 1; }

usage='usage: install.sh [VERSION] [--no-modify-rc]

  VERSION          a CUDA toolkit to install with it: 13, 13.0, 13.0.2 or latest (minimal profile: the compiler,
                   the runtime and what linking needs)
  --no-modify-rc   do not set the shell up; the line to add is printed

CUDAUP_HOME names another place than ~/.cudaup.'

version='' modify_rc=yes
for arg; do
    case $arg in
        -h | --help) printf '%s\n' "$usage"; exit 0 ;;
        --no-modify-rc) modify_rc=no ;;
        -*) refuse "there is no option $arg" 'try: ./install.sh --help' ;;
        *)
            [ -z "$version" ] || refuse "one version at a time: $version or $arg" \
                "try: ./install.sh $version" "then: cudaup install $arg"
            # Said now, not after minutes of building.
            case .$arg. in
                .latest.) ;;
                *[!0-9.]* | *..* | .*.*.*.*. | *.0[0-9]*)
                    refuse "\"$arg\" is not a version" 'try: ./install.sh 13.0' ;;
            esac
            version=$arg
            ;;
    esac
done

home=${CUDAUP_HOME:-${HOME:+$HOME/.cudaup}}
case $home in
    /*) ;;
    '') fail 'neither HOME nor CUDAUP_HOME is set, so there is no place to install into' \
        'try: CUDAUP_HOME=/some/directory ./install.sh' ;;
    *) refuse "\"$home\" is not an absolute path" "try: CUDAUP_HOME=$PWD/$home ./install.sh" ;;
esac
bin=$home/bin

root=$(dirname -- "$(readlink -f -- "$0")")
[ -f "$root/shims/build.sh" ] ||
    fail 'this script builds cudaup from its source, and that is not beside it' 'try: git clone, then ./install.sh inside'
for tool in cargo rustc; do
    command -v "$tool" >/dev/null || fail "building needs $tool, which is not on PATH" \
        'try: install Rust, which needs no root: https://rustup.rs'
done
command -v cc >/dev/null || fail 'building needs a C compiler, and there is no cc on PATH' \
    "try: install gcc with the system's package manager"

say "building cudaup (some minutes at first, seconds later)"
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET
build() {
    # A program at a fixed address starts a fifth sooner: the shells start this one at each switch.
    (cd -- "$root" && cargo rustc --release --locked --package cudaup --bin cudaup --target-dir target -- \
        -C relocation-model=static >&2) || return
    shim=$(sh "$root/shims/build.sh")
}
build || fail 'cudaup could not be built: see above; nothing was changed'

new=$bin/.new.$$
trap 'rm -rf -- "$new"' EXIT
trap 'exit 130' HUP INT TERM
# Both are complete beside their places before either is put there.
stage() {
    mkdir -p -- "$new" && cp -- "$root/target/release/cudaup" "$new/cudaup" && cp -- "$shim" "$new/cudaup-shim" &&
        chmod 755 "$new/cudaup" "$new/cudaup-shim"
}
stage || fail "could not write to $bin: what was there is unchanged"
built=$("$new/cudaup" --version) || fail 'the new cudaup does not run here: what was there is unchanged'
place() { mv -f -- "$new/cudaup-shim" "$bin/cudaup-shim" && mv -f -- "$new/cudaup" "$bin/cudaup"; }
place || fail "could not put the new programs into $bin"
say "installed $built: $bin/cudaup"

# Shims are links to the program that was just replaced.
if [ -d "$home/shims" ] && ! "$bin/cudaup" rehash; then say 'the shims are still the old ones: see above'; fi

# A word as a POSIX shell, zsh and fish read it.
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

shell=${SHELL:-}
shell=${shell##*/}
# Without it the line would serve ~/.cudaup.
at='' at_fish=''
if [ -n "${CUDAUP_HOME:-}" ]; then
    at="export CUDAUP_HOME=$(quoted "$home"); " at_fish="set -gx CUDAUP_HOME $(quoted "$home"); "
fi
case $shell in
    bash | zsh) line="${at}eval \"\$($(quoted "$bin/cudaup") init $shell)\"" ;;
    fish) line="$at_fish$(quoted "$bin/cudaup") init fish | source" ;;
    tcsh) line='' ;;
    *) shell='' line='' ;;
esac
ready=no
if [ "$modify_rc" = yes ] && [ -n "$shell" ]; then
    if "$bin/cudaup" init "$shell" --write; then ready=yes; else say "the shell could not be set up: see above"; fi
fi

if [ -n "$version" ]; then
    code=0
    "$bin/cudaup" install "$version" --profile minimal || code=$?
    if [ "$code" != 0 ]; then
        say "cudaup itself is installed; toolkit $version is not"
        [ "$code" = 3 ] || say "try: $(quoted "$bin/cudaup") install $version --profile minimal"
        exit "$code"
    fi
fi

if [ "$ready" = yes ]; then
    say "next: exec $shell      (or open a new terminal)"
elif [ -n "$line" ]; then
    say "next: add this line to the start file of $shell, and open a new terminal: $line"
else
    say "next: $(quoted "$bin/cudaup") init ${shell:-bash} --write      (or zsh, fish, tcsh), and open a new terminal"
fi
if [ -n "$version" ]; then
    say "then: cudaup use $version      (in a project), nvcc --version"
elif [ -z "$(ls -- "$home/toolkits" 2>/dev/null)" ]; then
    say "then: cudaup install 13.0"
fi
