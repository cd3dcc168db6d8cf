# shellcheck shell=bash
# Meson with CUDA as a language and as a dependency.
export title="Meson, language and \`dependency('cuda')\`"
lacks() { has meson || echo 'meson is not installed'; }
take() {
    program >a.cu
    cat >meson.build <<'TEXT'
project('a', 'cpp', 'cuda')
cuda = dependency('cuda', modules: ['cudart'])
executable('a', 'a.cu', dependencies: cuda)
TEXT
    meson setup build || { grep -q "Dependency \"cuda\" not found" build/meson-logs/meson-log.txt && nothing "dependency('cuda') is not found"; exit 1; }
    meson compile -v -C build
    runs build/a
}
