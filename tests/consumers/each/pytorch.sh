# shellcheck shell=bash
# The very function with which PyTorch's cpp_extension finds CUDA, out of its newest wheel; the rest of torch is not loaded.
export title="PyTorch's own \`_find_cuda_home\`"
lacks() { [ -e "$WHEELS/torch.py" ] || echo "torch's wheel cannot be read"; }
take() {
    local root
    root=$("$VENV/bin/python" - "$WHEELS/torch.py" <<'TEXT'
import ast, glob, logging, os, shutil, sys, types
tree = ast.parse(open(sys.argv[1]).read())
wanted = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "_find_cuda_home"]
torch = types.SimpleNamespace(cuda=types.SimpleNamespace(is_available=lambda: True))
names = dict(os=os, shutil=shutil, glob=glob, torch=torch, IS_WINDOWS=False, logger=logging.getLogger())
exec(compile(ast.Module(wanted, []), sys.argv[1], "exec"), names)
print(names["_find_cuda_home"]() or "")
TEXT
)
    [ -n "$root" ] || nothing 'no CUDA is found'
    saw root "$root"
}
