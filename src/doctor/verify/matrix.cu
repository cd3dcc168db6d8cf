// Multiplies two matrices by cuBLAS and on the CPU, and compares.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cublas_v2.h>
#include <vector>

static int failed(const char *what, int error, const char *words) {
    std::printf("failed: %s: %d %s\n", what, error, words);
    return 1;
}
#define TRY(call) if (cudaError_t error = (call)) return failed(#call, (int)error, cudaGetErrorString(error))
#define TRY_BLAS(call) if (cublasStatus_t status = (call)) return failed(#call, (int)status, "cuBLAS")

int main() {
    const int n = 256;
    const size_t bytes = n * n * sizeof(float);
    std::vector<float> a(n * n), b(n * n), product(n * n), expected(n * n, 0.0f);
    for (int i = 0; i < n * n; i++) { a[i] = (i * 7 % 11) / 11.0f; b[i] = (i * 5 % 13) / 13.0f; }
    float *da, *db, *dproduct;
    TRY(cudaMalloc(&da, bytes));
    TRY(cudaMalloc(&db, bytes));
    TRY(cudaMalloc(&dproduct, bytes));
    TRY(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
    cublasHandle_t handle;
    TRY_BLAS(cublasCreate(&handle));
    const float one = 1.0f, zero = 0.0f;
    // The first call loads what cuBLAS needs; the second is measured.
    double took = 0;
    for (int turn = 0; turn < 2; turn++) {
        auto start = std::chrono::steady_clock::now();
        TRY_BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da, n, db, n, &zero, dproduct, n));
        TRY(cudaDeviceSynchronize());
        took = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    TRY(cudaMemcpy(product.data(), dproduct, bytes, cudaMemcpyDeviceToHost));
    auto start = std::chrono::steady_clock::now();
    for (int column = 0; column < n; column++)
        for (int k = 0; k < n; k++)
            for (int row = 0; row < n; row++) expected[column * n + row] += a[k * n + row] * b[column * n + k];
    double cpu = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    for (int i = 0; i < n * n; i++)
        // Matrix units of newer GPUs may round their input.
        if (std::fabs(product[i] - expected[i]) > 1e-2f * (1 + std::fabs(expected[i]))) {
            std::printf("failed: element %d is %f on the GPU and %f on the CPU\n", i, product[i], expected[i]);
            return 1;
        }
    std::printf("gpu %.3f cpu %.3f\n", took, cpu);
    return 0;
}
