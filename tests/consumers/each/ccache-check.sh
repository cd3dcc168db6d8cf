# shellcheck shell=bash
# The setting that mends ccache behind shims: the compiler says itself which it is.
export title="the same, \`compiler_check = %compiler% --version\`"
lacks() { has ccache || echo 'ccache is not installed'; }
# shellcheck source=tests/consumers/parts/caches.sh
. "$CONSUMERS/parts/caches.sh"
export CCACHE_DIR=$PWD/cache CCACHE_COMPILERCHECK='%compiler% --version'
earlier() { old_source && through ccache nvcc; }
take() { through ccache nvcc && object; }
