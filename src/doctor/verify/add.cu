// Adds two vectors on the GPU and on the CPU, and compares.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

static int failed(const char *what, cudaError_t error) {
    std::printf("failed: %s: %d %s\n", what, (int)error, cudaGetErrorString(error));
    return 1;
}
#define TRY(call) if (cudaError_t error = (call)) return failed(#call, error)

__global__ void add(const float *a, const float *b, float *sum, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + sqrtf(b[i]);
}

int main() {
    const int count = 1 << 22;
    const size_t bytes = count * sizeof(float);
    std::vector<float> a(count), b(count), sum(count), expected(count);
    for (int i = 0; i < count; i++) { a[i] = i % 1000; b[i] = i % 777; }
    float *da, *db, *dsum;
    TRY(cudaMalloc(&da, bytes));
    TRY(cudaMalloc(&db, bytes));
    TRY(cudaMalloc(&dsum, bytes));
    TRY(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
    add<<<(count + 255) / 256, 256>>>(da, db, dsum, count);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    auto start = std::chrono::steady_clock::now();
    add<<<(count + 255) / 256, 256>>>(da, db, dsum, count);
    TRY(cudaDeviceSynchronize());
    auto middle = std::chrono::steady_clock::now();
    for (int i = 0; i < count; i++) expected[i] = a[i] + std::sqrt(b[i]);
    auto end = std::chrono::steady_clock::now();
    TRY(cudaMemcpy(sum.data(), dsum, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        if (std::fabs(sum[i] - expected[i]) > 1e-3f) {
            std::printf("failed: element %d is %f on the GPU and %f on the CPU\n", i, sum[i], expected[i]);
            return 1;
        }
    std::chrono::duration<double, std::milli> gpu = middle - start, cpu = end - middle;
    std::printf("gpu %.3f cpu %.3f\n", gpu.count(), cpu.count());
    return 0;
}
