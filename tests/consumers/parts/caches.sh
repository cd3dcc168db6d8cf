# shellcheck shell=bash
# One source, compiled through a compiler cache.

# ccache does not trust a source as young as the compilation: the clock must have gone on.
old_source() {
    program >a.cu
    until [ "$(date +%s)" -gt "$(stat -c %Z a.cu)" ]; do sleep 0.1; done
}

through() { "$@" -arch=sm_80 -c a.cu -o a.o; }

# What the object says of itself beside the toolkit that is in force, whether or not it can be linked.
object() {
    top_of nvcc
    grep -aoE '(nvcc|header) [0-9]+(\.[0-9]+)?' a.o | sed 's/^nvcc/object/' >>"$EVIDENCE"
}
