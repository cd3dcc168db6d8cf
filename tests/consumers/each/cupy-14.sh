# shellcheck shell=bash
# The search of CuPy 14, out of its wheel: it asks cuda-pathfinder for NVRTC.
export title='CuPy 14, its search'
lacks() {
    [ -e "$WHEELS/cupy-cuda12x.py" ] || echo "CuPy's wheel cannot be read"
    [ -e "$VENV/has-cuda-pathfinder" ] || echo 'the package cuda-pathfinder cannot be had'
}
take() {
    local seen
    [ "$PROJECT" != 11.8 ] || skip 'cuda-pathfinder knows CUDA 12 and newer'
    seen=$("$VENV/bin/python" - "$WHEELS/cupy-cuda12x.py" <<'TEXT'
import importlib.util, sys
spec = importlib.util.spec_from_file_location("environment", sys.argv[1])
cupy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cupy)
cupy.get_preload_config = lambda: None
for kind, path in ("root", cupy.get_cuda_path()), ("nvcc", cupy.get_nvcc_path()):
    if path:
        print(kind, path)
TEXT
)
    [ -n "$seen" ] || nothing 'no CUDA is found'
    printf '%s\n' "$seen" >>"$EVIDENCE"
}
