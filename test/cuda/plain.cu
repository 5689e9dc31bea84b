// A program as 'nvcc plain.cu' makes it: the CUDA runtime is linked into it. It finds its own mistakes.
#include <cstdio>
#include <cstdlib>

__constant__ int factors[4];
__managed__ int offset = 3;

__global__ void scale(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i * factors[i & 3] + offset;
}

/* Its constructor uses the GPU before main() begins. */
struct buffer {
    int *p;
    explicit buffer(size_t bytes) { cudaMalloc(&p, bytes); }
};
static buffer device(1000 * sizeof(int));

int main() {
    enum { N = 1000 };
    int host[N], f[4] = {1, 2, 3, 5}, mistakes = 0;
    cudaDeviceProp about;
    mistakes += cudaGetDeviceProperties(&about, 0) != cudaSuccess || about.warpSize != 32;
    mistakes += cudaMemcpyToSymbol(factors, f, sizeof f) != cudaSuccess;
    offset += 7;
    scale<<<(N + 127) / 128, 128>>>(device.p, N);
    mistakes += cudaDeviceSynchronize() != cudaSuccess;
    mistakes += cudaMemcpy(host, device.p, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess;
    for (int i = 0; i < N; i++)
        mistakes += host[i] != i * f[i & 3] + 10;
    float ms = -1;
    cudaEvent_t a, b;
    mistakes += cudaEventCreate(&a) != cudaSuccess || cudaEventCreate(&b) != cudaSuccess;
    mistakes += cudaEventRecord(a) != cudaSuccess || cudaEventRecord(b) != cudaSuccess;
    mistakes += cudaEventElapsedTime(&ms, a, b) != cudaSuccess || ms < 0;
    mistakes += cudaFree(device.p) != cudaSuccess;
    std::printf("%d mistakes, capability %d.%d, %zu bytes of shared memory\n", mistakes, about.major, about.minor,
                about.sharedMemPerBlockOptin);
    return mistakes != 0;
}
