# shellcheck shell=bash
# The same in a project that keeps the toolkit out of CPATH and LD_LIBRARY_PATH.
export title="the same, with \`cpath = off\` and \`ld_library_path = off\`"
export settings=$'cpath = off\nld_library_path = off'
export stays=1
lacks() { has cmake || echo 'cmake is not installed'; }
# shellcheck source=tests/consumers/parts/cmake.sh
. "$CONSUMERS/parts/cmake.sh"
earlier() { find_project && configured && cmake --build build; }
take() { touch a.cpp && { configured || nothing 'CUDAToolkit is not found'; } && built; }
