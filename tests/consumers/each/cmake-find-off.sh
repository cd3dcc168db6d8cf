# shellcheck shell=bash
# C++ alone in a new build directory, in a project that keeps the toolkit out of LD_LIBRARY_PATH: the program must find its
# library by itself.
export title="the same, with \`ld_library_path = off\`"
export settings='ld_library_path = off'
lacks() { has cmake || echo 'cmake is not installed'; }
# shellcheck source=tests/consumers/parts/cmake.sh
. "$CONSUMERS/parts/cmake.sh"
take() { find_project && { configured || nothing 'CUDAToolkit is not found'; } && built; }
