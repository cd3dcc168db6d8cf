// Asks cuDNN for its version, and compares it with that of the header.
#include <cstdio>
#include <cudnn.h>

int main() {
    size_t library = cudnnGetVersion();
    std::printf("cudnn library %zu header %d\n", library, (int)CUDNN_VERSION);
    if (library / 1000 != CUDNN_VERSION / 1000) {
        std::printf("failed: the library is of another version than the header\n");
        return 1;
    }
    cudnnHandle_t handle;
    cudnnStatus_t status = cudnnCreate(&handle);
    if (status != CUDNN_STATUS_SUCCESS) {
        std::printf("failed: cudnnCreate: %d %s\n", (int)status, cudnnGetErrorString(status));
        return 1;
    }
    return 0;
}
