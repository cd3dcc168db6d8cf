# shellcheck shell=bash
# What mends that: the build directory is configured anew.
export title="the same, \`cmake --fresh\`"
lacks() { has cmake || echo 'cmake is not installed'; }
# shellcheck source=tests/consumers/parts/cmake.sh
. "$CONSUMERS/parts/cmake.sh"
earlier() { language_project && configured && cmake --build build; }
take() { touch a.cu && cmake --fresh -S . -B build && built; }
