# shellcheck shell=bash
# clang compiling CUDA: it looks for ptxas on PATH and follows links.
export title='clang -x cuda'
lacks() { has clang++-19 || echo 'clang-19 is not installed'; }
take() {
    local found
    program >a.cu
    clang++-19 -x cuda --cuda-gpu-arch=sm_80 -v -E /dev/null >/dev/null 2>verbose || true
    found=$(sed -n 's/^Found CUDA installation: \(.*\), version.*/\1/p' verbose)
    [ -n "$found" ] || nothing 'no CUDA is found'
    saw root "$found"
    if clang++-19 --cuda-gpu-arch=sm_80 a.cu -o a -lcudart; then
        runs ./a
    else
        remark 'clang 19 cannot compile with it'
    fi
}
