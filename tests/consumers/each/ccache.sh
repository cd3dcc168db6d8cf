# shellcheck shell=bash
# ccache in front of nvcc: the same source was compiled with another toolkit before, into the same cache.
export title='ccache, cache filled by another toolkit'
lacks() { has ccache || echo 'ccache is not installed'; }
# shellcheck source=tests/consumers/parts/caches.sh
. "$CONSUMERS/parts/caches.sh"
export CCACHE_DIR=$PWD/cache
earlier() { old_source && through ccache nvcc; }
take() { through ccache nvcc && object; }
