# shellcheck shell=bash
# CMake compiling CUDA itself, in a new build directory.
export title="CMake, \`enable_language(CUDA)\`"
lacks() { has cmake || echo 'cmake is not installed'; }
# shellcheck source=tests/consumers/parts/cmake.sh
. "$CONSUMERS/parts/cmake.sh"
take() { language_project && configured && built; }
