# shellcheck shell=bash
# CMake with Ninja, the language and find_package(CUDAToolkit) in one project, linked with the shared runtime.
export title='CMake with Ninja, both in one project'
lacks() { { has cmake && has ninja; } || echo 'cmake and ninja are not installed'; }
# shellcheck source=tests/consumers/parts/cmake.sh
. "$CONSUMERS/parts/cmake.sh"
take() { both_project && CMAKE_GENERATOR=Ninja configured && built; }
