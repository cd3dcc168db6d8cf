# shellcheck shell=bash
# numba-cuda: where it finds NVVM, libdevice and the runtime.
export title='numba-cuda'
lacks() { [ -e "$VENV/has-numba-cuda" ] || echo 'the package cannot be had'; }
take() {
    local seen
    [ "$PROJECT" != 11.8 ] || skip 'it takes CUDA 12 and newer'
    seen=$("$VENV/bin/python" - <<'TEXT'
import sys
try:
    from numba.cuda.cuda_paths import get_cuda_paths
except Exception as error:
    if type(error).__name__ != "DynamicLibNotFoundError":
        raise
    sys.exit()
for name, found in get_cuda_paths().items():
    path = found.info
    if isinstance(path, (list, tuple)):
        path = path[0] if path else None
    print(f"{name}: {found}", file=sys.stderr)
    if path:
        print("root", path)
TEXT
)
    [ -n "$seen" ] || nothing 'no CUDA is found'
    printf '%s\n' "$seen" >>"$EVIDENCE"
}
