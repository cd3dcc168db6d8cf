# shellcheck shell=bash
# Projects for CMake, and what its cache remembers.

language_project() {
    program >a.cu
    cat >CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(a LANGUAGES CXX)
set(CMAKE_CUDA_ARCHITECTURES 80)
enable_language(CUDA)
set(CMAKE_EXE_LINKER_FLAGS -Wl,--trace)
add_executable(a a.cu)
TEXT
}

find_project() {
    program >a.cpp
    cat >CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(a LANGUAGES CXX)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_EXE_LINKER_FLAGS -Wl,--trace)
add_executable(a a.cpp)
target_link_libraries(a CUDA::cudart)
file(WRITE ${CMAKE_BINARY_DIR}/found "cached ${CUDAToolkit_INCLUDE_DIRS}\nlibrary ${CUDA_CUDART}\n")
TEXT
}

both_project() {
    program >a.cu
    cat >CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(a LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 80)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_EXE_LINKER_FLAGS -Wl,--trace)
add_executable(a a.cu)
target_link_libraries(a CUDA::cudart)
file(WRITE ${CMAKE_BINARY_DIR}/found "cached ${CUDAToolkit_INCLUDE_DIRS}\nlibrary ${CUDA_CUDART}\n")
TEXT
}

configured() { cmake -S . -B build; }

# Builds, and says what the cache, the dependency files and the program say.
built() {
    local compiler depends
    compiler=$(sed -n 's/^CMAKE_CUDA_COMPILER:[A-Z]*=//p' build/CMakeCache.txt)
    case $compiler in
        '') ;;
        */shims/nvcc) note 'the cache remembers the shim' ;;
        *) saw nvcc "$compiler" ;;
    esac
    [ ! -e build/found ] || cat build/found >>"$EVIDENCE"
    cmake --build build >trace 2>&1 || { cat trace; note 'the build fails'; exit 0; }
    cat trace
    library_in <(grep -v -e -Wl, trace)
    for depends in build/CMakeFiles/a.dir/*.d; do
        [ ! -e "$depends" ] || header_in "$depends"
    done
    runs build/a
}
