# shellcheck shell=bash
# g++ that is told of no directory: header and library come from CPATH and LIBRARY_PATH alone.
export title='g++ -lcudart'
lacks() { has g++ || echo 'g++ is not installed'; }
take() {
    program >a.cpp
    g++ -MD -MF a.d -c a.cpp -o a.o || nothing 'cuda_runtime.h is not found'
    header_in a.d
    g++ a.o -o a -lcudart -Wl,--trace >trace
    library_in trace
    runs ./a
}
