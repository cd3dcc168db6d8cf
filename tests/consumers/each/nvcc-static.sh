# shellcheck shell=bash
# nvcc with what it links unless told otherwise: the static runtime.
export title='nvcc, static runtime'
lacks() { :; }
take() {
    program >a.cu
    top_of nvcc
    nvcc -arch=sm_80 -c -MD -MF a.d a.cu -o a.o
    header_in a.d
    nvcc a.o -o a -Xlinker --trace >trace
    library_in trace
    runs ./a
}
