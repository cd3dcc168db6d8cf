# shellcheck shell=bash
# C++ alone, with header and library from find_package(CUDAToolkit), in a new build directory.
export title="CMake, \`find_package(CUDAToolkit)\`"
lacks() { has cmake || echo 'cmake is not installed'; }
# shellcheck source=tests/consumers/parts/cmake.sh
. "$CONSUMERS/parts/cmake.sh"
take() { find_project && { configured || nothing 'CUDAToolkit is not found'; } && built; }
