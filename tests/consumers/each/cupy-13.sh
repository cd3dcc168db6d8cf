# shellcheck shell=bash
# The search of CuPy 13, out of its wheel.
export title='CuPy 13, its search'
lacks() { [ -e "$WHEELS/cupy-cuda11x.py" ] || echo "CuPy's wheel cannot be read"; }
take() {
    local seen
    seen=$("$VENV/bin/python" - "$WHEELS/cupy-cuda11x.py" <<'TEXT'
import importlib.util, sys
spec = importlib.util.spec_from_file_location("environment", sys.argv[1])
cupy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cupy)
for kind, path in ("root", cupy.get_cuda_path()), ("nvcc", cupy.get_nvcc_path()):
    if path:
        print(kind, path)
TEXT
)
    [ -n "$seen" ] || nothing 'no CUDA is found'
    printf '%s\n' "$seen" >>"$EVIDENCE"
}
