# shellcheck shell=bash
# cuda-pathfinder, with which NVIDIA's own Python packages find libraries, headers and tools. It never reads PATH.
export title='cuda-pathfinder'
lacks() { [ -e "$VENV/has-cuda-pathfinder" ] || echo 'the package cannot be had'; }
take() {
    local seen
    [ "$PROJECT" != 11.8 ] || skip 'it knows CUDA 12 and newer'
    seen=$("$VENV/bin/python" - <<'TEXT'
from cuda import pathfinder

def loaded():
    return pathfinder.load_nvidia_dynamic_lib("cudart").abs_path

def header():
    return pathfinder.find_nvidia_header_directory("cudart")

def nvcc():
    return pathfinder.find_nvidia_binary_utility("nvcc")

for find in loaded, header, nvcc:
    try:
        path = find()
    except pathfinder.DynamicLibNotFoundError:
        path = None
    if path:
        print(find.__name__, path)
TEXT
)
    [ -n "$seen" ] || nothing 'no CUDA is found'
    printf '%s\n' "$seen" >>"$EVIDENCE"
}
