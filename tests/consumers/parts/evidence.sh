# shellcheck shell=bash
# What a consumer has at hand: the program that it builds, and the words for what was seen.
# Each piece of evidence is a line in $EVIDENCE: a kind (nvcc, header, library, loaded, root, ...) and a path or a release.

saw() { printf '%s %s\n' "$1" "$2" >>"$EVIDENCE"; }
# What belongs to the outcome and is no toolkit.
note() { saw note "$*"; }
# What the consumer cannot do with this toolkit, whoever chose it.
remark() { saw remark "$*"; }
# Nothing of CUDA was found, and the consumer goes on or ends without: no failure of the consumer itself.
nothing() { saw nothing "$*"; exit 0; }
# This cannot be had in this project, for a cause outside the toolkit.
skip() { saw skip "$*"; exit 0; }

# A program that says which nvcc compiled it, and whose header and library it has. For g++: without a kernel.
program() {
    cat <<'TEXT'
#include <cstdio>
#include <cuda_runtime.h>
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#ifdef __CUDACC_VER_MAJOR__
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
#define COMPILER "nvcc " TEXT(__CUDACC_VER_MAJOR__) "." TEXT(__CUDACC_VER_MINOR__) "\n"
#else
#define COMPILER ""
#endif
int main() {
    int library = 0;
    std::printf("%s", COMPILER "header " TEXT(CUDART_VERSION) "\n");
    // Without a driver a runtime of 11 does not say its version.
    if (cudaRuntimeGetVersion(&library) == cudaSuccess && library) std::printf("library %d\n", library);
    return 0;
}
TEXT
}

# Which libcudart a program or library loads here, if it loads one.
loads() {
    local line
    line=$(LC_ALL=C ldd "$1" | grep libcudart) || return 0
    case $line in
        *'not found'*) saw loaded absent; return 1 ;;
        *) line=${line#*=> }; saw loaded "${line%% (*}" ;;
    esac
}

# Runs what was built: it says itself what it was built of. Where its library is not found, that is the evidence.
runs() {
    loads "$1" || return 0
    says "$@"
}

# Runs a program that says what it is built of. Of a shared library it can only know which one was loaded, not which one it
# was linked with.
says() {
    "$@" >.said
    if grep -q '^loaded ' "$EVIDENCE"; then sed -i 's/^library /loaded /' .said; fi
    cat .said >>"$EVIDENCE"
}

# The header that a dependency file or a compiler's list names.
header_in() {
    local path
    path=$(grep -oE '[^ ]*/cuda_runtime\.h' "$1" | head -n 1)
    [ -z "$path" ] || saw header "$path"
}

# The toolkit that an nvcc says it is in: a shim's own path says nothing.
top_of() {
    local top
    top=$("$@" -v --dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')
    saw nvcc "${top:-$(command -v "$1")}"
}

# A library that the linker's trace names.
library_in() {
    local path
    path=$(grep -o '/[^ ()]*libcudart[^ ():]*' "$1" | head -n 1)
    [ -z "$path" ] || saw library "$path"
}
