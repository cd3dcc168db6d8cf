# shellcheck shell=bash
# g++ with what pkg-config says of cudart.
export title='pkg-config cudart'
lacks() { has pkg-config || echo 'pkg-config is not installed'; }
take() {
    local cflags libs
    program >a.cpp
    pkg-config --exists cudart || nothing 'no cudart.pc is found'
    read -ra cflags < <(pkg-config --cflags cudart)
    read -ra libs < <(pkg-config --libs cudart)
    saw root "$(pkg-config --variable=libdir cudart)"
    g++ "${cflags[@]}" -MD -MF a.d -c a.cpp -o a.o
    header_in a.d
    g++ a.o -o a "${libs[@]}" -Wl,--trace >trace
    library_in trace
    runs ./a
}
