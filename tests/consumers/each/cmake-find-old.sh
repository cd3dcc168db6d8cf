# shellcheck shell=bash
# The same in a build directory that was configured and built while the project was pinned to another toolkit.
export title='the same, build directory of another toolkit'
export stays=1
lacks() { has cmake || echo 'cmake is not installed'; }
# shellcheck source=tests/consumers/parts/cmake.sh
. "$CONSUMERS/parts/cmake.sh"
earlier() { find_project && configured && cmake --build build; }
take() { touch a.cpp && { configured || nothing 'CUDAToolkit is not found'; } && built; }
