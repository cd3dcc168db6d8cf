# shellcheck shell=bash
# nvcc with the shared runtime: what is linked and what the loader finds can differ.
export title='nvcc, shared runtime'
lacks() { :; }
take() {
    program >a.cu
    top_of nvcc
    nvcc -arch=sm_80 -c -MD -MF a.d a.cu -o a.o
    header_in a.d
    nvcc --cudart shared a.o -o a -Xlinker --trace >trace
    library_in trace
    runs ./a
}
