# shellcheck shell=bash
# A Makefile as NVIDIA's samples have it: CUDA_PATH from the environment, else a fixed place.
export title="make, \`CUDA_PATH ?=\`"
lacks() { has make || echo 'make is not installed'; }
take() {
    program >a.cu
    cat >Makefile <<'TEXT'
CUDA_PATH ?= /usr/local/cuda
NVCC := $(CUDA_PATH)/bin/nvcc

a: a.o
	$(CXX) $< -o $@ -L$(CUDA_PATH)/lib64 -lcudart
a.o: a.cu
	$(NVCC) -arch=sm_80 -I$(CUDA_PATH)/include -c $< -o $@
where:
	@echo $(CUDA_PATH)
TEXT
    make || nothing "takes $(make -s where)"
    saw root "$(make -s where)"
    runs ./a
}
