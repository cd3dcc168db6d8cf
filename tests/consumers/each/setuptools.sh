# shellcheck shell=bash
# An extension for Python whose setup.py looks for CUDA in the order of PyTorch's: CUDA_HOME, CUDA_PATH, the directory
# above `which nvcc`.
export title='setuptools extension'
lacks() {
    [ -e "$VENV/has-setuptools" ] || { echo 'there is no Python environment with setuptools' && return; }
    "$VENV/bin/python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
        echo "Python's headers are not installed"
}
take() {
    program >a.cu
    cat >setup.py <<'TEXT'
import os, shutil, subprocess
from setuptools import Extension, setup

root = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
if not root:
    nvcc = shutil.which("nvcc")
    root = os.path.dirname(os.path.dirname(nvcc)) if nvcc else "/usr/local/cuda"
with open("root", "w") as out:
    out.write(root)
subprocess.run(
    [f"{root}/bin/nvcc", "-arch=sm_80", "-Xcompiler", "-fPIC", "-Dmain=report", "-c", "a.cu", "-o", "a.o"], check=True
)
setup(
    name="ext",
    ext_modules=[
        Extension(
            "ext",
            ["ext.c"],
            include_dirs=[f"{root}/include"],
            extra_objects=["a.o"],
            library_dirs=[f"{root}/lib64"],
            libraries=["cudart", "stdc++"],
        )
    ],
)
TEXT
    cat >ext.c <<'TEXT'
#include <Python.h>
#include <stdio.h>
int _Z6reportv(void);
static PyObject *report(PyObject *self, PyObject *none) {
    _Z6reportv();
    fflush(stdout);
    Py_RETURN_NONE;
}
static PyMethodDef methods[] = {{"report", report, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "ext", "", -1, methods};
PyMODINIT_FUNC PyInit_ext(void) { return PyModule_Create(&module); }
TEXT
    "$VENV/bin/python" setup.py build_ext --inplace || nothing "takes $(cat root)"
    saw root "$(cat root)"
    loads ext.*.so || return 0
    says "$VENV/bin/python" -c 'import ext; ext.report()'
}
