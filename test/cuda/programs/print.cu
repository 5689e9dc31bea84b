// printf and assert in kernels, memory that kernels allocate, recursion and virtual functions.
#include "mistakes.h"
#include <cassert>
#include <cstring>

__global__ void speak(const char *unused) {
    if (threadIdx.x == 1)
        printf("%d %5u|%-6x|%c %s %lld %llu %p\n", -5, 7u, 255, 'q', "text", -(1ll << 40), 1ull << 63, (void *)0);
    else if (threadIdx.x == 0)
        printf("%8.3f|%e|%g|%+d|%05d|%%|%.2s|%*d\n", 3.14159, 1e10, 0.5f, 3, 42, "abc", 4, 9);
    if (threadIdx.x < 2 && blockIdx.x == 0)
        printf("nothing to fill in\n");
}

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape() {}
};
struct square : shape {
    float side;
    __device__ square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct circle : shape {
    float radius;
    __device__ circle(float r) : radius(r) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};
__global__ void areas(float *out) {
    shape *s = threadIdx.x % 2 ? (shape *)new square(threadIdx.x) : (shape *)new circle(threadIdx.x);
    out[threadIdx.x] = s->area();
    delete s;
    char *p = (char *)malloc(64 + threadIdx.x), copy[16];
    memset(p, threadIdx.x, 64);
    memcpy(copy, p + 48, 16);
    out[threadIdx.x] += copy[15];
    free(p);
}

__device__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__global__ void deep(int *out) { out[threadIdx.x] = ackermann(2, threadIdx.x); }

__global__ void claims(int n) { assert(threadIdx.x < n && "too many"); }

int main(int argc, char **) {
    size_t bytes = 0;
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    OK(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    WANT(bytes >= 1 << 20);
    speak<<<1, 32>>>("");
    OK(cudaDeviceSynchronize());
    float here[32], *d;
    int *e, numbers[4];
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20));
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10));
    OK(cudaMalloc(&d, sizeof here));
    areas<<<1, 32>>>(d);
    OK(cudaMemcpy(here, d, sizeof here, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        WANT(here[i] == (i % 2 ? i * i : 3.0f * i * i) + i);
    OK(cudaMalloc(&e, sizeof numbers));
    deep<<<1, 4>>>(e);
    OK(cudaMemcpy(numbers, e, sizeof numbers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++)
        WANT(numbers[i] == 2 * i + 3); // of 2 and i
    claims<<<1, 64>>>(64);
    OK(cudaDeviceSynchronize());
    if (argc > 1) { // after an assertion that does not hold, later calls fail
        claims<<<2, 64>>>(63);
        WANT(cudaDeviceSynchronize() == cudaErrorAssert);
        WANT(cudaMalloc(&e, 4) == cudaErrorAssert);
        WANT(strcmp(cudaGetErrorName(cudaGetLastError()), "cudaErrorAssert") == 0);
    }
    return done();
}
